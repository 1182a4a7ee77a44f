#include <string.h>

#include "iceberg/primitive.h"
#include "iceberg/types.h"

/* Deeper nesting than this is refused, so that recursion over a type is bounded. */
#define DEEPEST_TYPE 100

typedef struct type_parser {
    const char *what;
    firn_arena *arena;
    firn_error *error;
} type_parser;

static firn_status parse_type(type_parser *parser, const json_t *json, int depth,
                              const firn_type **out);

/* An id: not negative (0 occurs in the wild and is fine). */
static firn_status parse_id(type_parser *parser, const json_t *object, const char *key,
                            int32_t *out) {
    FIRN_TRY(firn_json_int32(object, parser->what, key, out, parser->error));
    if (*out < 0) {
        return firn_fail(parser->error, FIRN_CORRUPT, "%s: field %s: %d is no field id",
                         parser->what, key, *out);
    }
    return FIRN_OK;
}

static firn_status parse_struct_field(type_parser *parser, const json_t *json, int depth,
                                      firn_field *out) {
    if (!json_is_object(json)) {
        return firn_fail(parser->error, FIRN_CORRUPT, "%s: field fields: not a list of objects",
                         parser->what);
    }
    const char *name = NULL;
    FIRN_TRY(parse_id(parser, json, "id", &out->id));
    FIRN_TRY(firn_json_text(json, parser->what, "name", &name, parser->error));
    FIRN_TRY(firn_json_bool(json, parser->what, "required", &out->required, parser->error));
    out->name = firn_arena_strdup(parser->arena, name);
    if (out->name == NULL) return firn_fail_memory(parser->error);
    const char *doc = NULL;
    FIRN_TRY(firn_json_text_optional(json, parser->what, "doc", &doc, NULL, parser->error));
    if (doc != NULL) {
        out->doc = firn_arena_strdup(parser->arena, doc);
        if (out->doc == NULL) return firn_fail_memory(parser->error);
    }
    /* An absent default and a null one differ: both mean null, but a rewrite keeps what was there. */
    out->initial_default = json_object_get(json, "initial-default");
    out->write_default = json_object_get(json, "write-default");
    return firn_error_wrap(parser->error,
                           parse_type(parser, json_object_get(json, "type"), depth, &out->type),
                           "field %d (\"%.100s\")", out->id, out->name);
}

static firn_status parse_struct(type_parser *parser, const json_t *json, int depth,
                                firn_type *out) {
    json_t *list = NULL;
    FIRN_TRY(firn_json_array(json, parser->what, "fields", &list, parser->error));
    size_t count = json_array_size(list);
    firn_field *fields = firn_arena_alloc(parser->arena, count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(parser->error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(parse_struct_field(parser, json_array_get(list, i), depth, &fields[i]));
    }
    out->kind = FIRN_TYPE_STRUCT;
    out->fields = fields;
    out->field_count = count;
    return FIRN_OK;
}

static firn_status parse_list(type_parser *parser, const json_t *json, int depth, firn_type *out) {
    firn_field *element = firn_arena_alloc(parser->arena, 1, sizeof *element);
    if (element == NULL) return firn_fail_memory(parser->error);
    element->name = "element";
    FIRN_TRY(parse_id(parser, json, "element-id", &element->id));
    FIRN_TRY(
        firn_json_bool(json, parser->what, "element-required", &element->required, parser->error));
    FIRN_TRY(parse_type(parser, json_object_get(json, "element"), depth, &element->type));
    out->kind = FIRN_TYPE_LIST;
    out->fields = element;
    out->field_count = 1;
    return FIRN_OK;
}

static firn_status parse_map(type_parser *parser, const json_t *json, int depth, firn_type *out) {
    firn_field *pair = firn_arena_alloc(parser->arena, 2, sizeof *pair);
    if (pair == NULL) return firn_fail_memory(parser->error);
    pair[0].name = "key";
    pair[0].required = true;
    pair[1].name = "value";
    FIRN_TRY(parse_id(parser, json, "key-id", &pair[0].id));
    FIRN_TRY(parse_id(parser, json, "value-id", &pair[1].id));
    FIRN_TRY(
        firn_json_bool(json, parser->what, "value-required", &pair[1].required, parser->error));
    FIRN_TRY(parse_type(parser, json_object_get(json, "key"), depth, &pair[0].type));
    FIRN_TRY(parse_type(parser, json_object_get(json, "value"), depth, &pair[1].type));
    out->kind = FIRN_TYPE_MAP;
    out->fields = pair;
    out->field_count = 2;
    return FIRN_OK;
}

static firn_status parse_nested(type_parser *parser, const json_t *json, int depth,
                                firn_type *out) {
    const char *kind = NULL;
    FIRN_TRY(firn_json_text(json, parser->what, "type", &kind, parser->error));
    if (depth >= DEEPEST_TYPE) {
        return firn_fail(parser->error, FIRN_LIMIT, "%s: types nest deeper than %d levels",
                         parser->what, DEEPEST_TYPE);
    }
    if (strcmp(kind, "struct") == 0) return parse_struct(parser, json, depth + 1, out);
    if (strcmp(kind, "list") == 0) return parse_list(parser, json, depth + 1, out);
    if (strcmp(kind, "map") == 0) return parse_map(parser, json, depth + 1, out);
    return firn_fail(parser->error, FIRN_UNSUPPORTED,
                     "%s: the nested type \"%.100s\" is not known to firn", parser->what, kind);
}

static firn_status parse_type(type_parser *parser, const json_t *json, int depth,
                              const firn_type **out) {
    if (json_is_string(json)) {
        return firn_primitive_parse(json_string_value(json), parser->what, parser->arena, out,
                                    parser->error);
    }
    if (!json_is_object(json)) {
        return firn_fail(parser->error, FIRN_CORRUPT,
                         "%s: field type: %s, neither the name of a type nor an object",
                         parser->what, json == NULL ? "missing" : "of another kind");
    }
    firn_type *type = firn_arena_alloc(parser->arena, 1, sizeof *type);
    if (type == NULL) return firn_fail_memory(parser->error);
    *out = type;
    return parse_nested(parser, json, depth, type);
}

firn_status firn_type_parse(const json_t *json, const char *what, firn_arena *arena,
                            const firn_type **out, firn_error *error) {
    type_parser parser = {what, arena, error};
    return parse_type(&parser, json, 0, out);
}
