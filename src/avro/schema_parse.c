/* From a schema's JSON text to its tree (Avro specification, "Schema Declaration" and "Names"). */
#include "avro/schema.h"
#include "base/json.h"
#include "base/map.h"

typedef struct parser {
    const char *what;
    firn_arena *arena;
    firn_map *names; /**< full name to its schema, or to `ambiguous` */
    firn_error *error;
} parser;

/**
 * Stands in the name map for a full name that was defined more than once: no reference to it is
 * followed.
 */
static firn_avro_schema ambiguous;

static const firn_avro_schema primitives[] = {
    {.kind = FIRN_AVRO_NULL, .may_be_empty = true},
    {.kind = FIRN_AVRO_BOOLEAN},
    {.kind = FIRN_AVRO_INT},
    {.kind = FIRN_AVRO_LONG},
    {.kind = FIRN_AVRO_FLOAT},
    {.kind = FIRN_AVRO_DOUBLE},
    {.kind = FIRN_AVRO_BYTES},
    {.kind = FIRN_AVRO_STRING},
};

static const struct {
    const char *name;
    firn_avro_logical logical;
    firn_avro_kind on;
} logical_types[] = {
    {"decimal", FIRN_AVRO_LOGICAL_DECIMAL, FIRN_AVRO_BYTES},
    {"decimal", FIRN_AVRO_LOGICAL_DECIMAL, FIRN_AVRO_FIXED},
    {"uuid", FIRN_AVRO_LOGICAL_UUID, FIRN_AVRO_FIXED},
    {"uuid", FIRN_AVRO_LOGICAL_UUID, FIRN_AVRO_STRING},
    {"date", FIRN_AVRO_LOGICAL_DATE, FIRN_AVRO_INT},
    {"time-millis", FIRN_AVRO_LOGICAL_TIME_MILLIS, FIRN_AVRO_INT},
    {"time-micros", FIRN_AVRO_LOGICAL_TIME_MICROS, FIRN_AVRO_LONG},
    {"timestamp-millis", FIRN_AVRO_LOGICAL_TIMESTAMP_MILLIS, FIRN_AVRO_LONG},
    {"timestamp-micros", FIRN_AVRO_LOGICAL_TIMESTAMP_MICROS, FIRN_AVRO_LONG},
    {"timestamp-nanos", FIRN_AVRO_LOGICAL_TIMESTAMP_NANOS, FIRN_AVRO_LONG},
    {"local-timestamp-millis", FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_MILLIS, FIRN_AVRO_LONG},
    {"local-timestamp-micros", FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_MICROS, FIRN_AVRO_LONG},
    {"local-timestamp-nanos", FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_NANOS, FIRN_AVRO_LONG},
    {"map", FIRN_AVRO_LOGICAL_MAP, FIRN_AVRO_ARRAY},
};

static firn_status parse_schema(parser *p, const json_t *json, const char *space, int depth,
                                const firn_avro_schema **out);

static firn_status bad(const parser *p, const char *message) {
    return firn_fail(p->error, FIRN_CORRUPT, "%s: Avro schema: %s", p->what, message);
}

/** An id attribute: a JSON integer or its decimal text. A negative one counts as absent. */
static firn_status parse_id(const parser *p, const json_t *object, const char *key, int32_t *out) {
    *out = FIRN_AVRO_NO_ID;
    const json_t *value = json_object_get(object, key);
    if (value == NULL || json_is_null(value)) return FIRN_OK;
    json_int_t id = -1;
    bool valid = false;
    if (json_is_integer(value)) {
        id = json_integer_value(value);
        valid = true;
    } else if (json_is_string(value)) {
        const char *text = json_string_value(value);
        id = 0;
        valid = *text != '\0';
        for (; valid && *text != '\0'; text++) {
            valid = *text >= '0' && *text <= '9' && id <= INT32_MAX;
            if (valid) id = id * 10 + (*text - '0');
        }
    }
    if (!valid || id > INT32_MAX) {
        return firn_fail(p->error, FIRN_CORRUPT,
                         "%s: Avro schema: attribute %s is not a 32-bit integer", p->what, key);
    }
    if (id >= 0) *out = (int32_t)id;
    return FIRN_OK;
}

/** Text attribute, NULL where it is absent or of another kind. */
static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static firn_avro_schema *new_schema(const parser *p, firn_avro_kind kind) {
    firn_avro_schema *schema = firn_arena_alloc(p->arena, 1, sizeof *schema);
    if (schema == NULL) return NULL;
    schema->kind = kind;
    schema->element_id = schema->key_id = schema->value_id = FIRN_AVRO_NO_ID;
    return schema;
}

static const firn_avro_schema *primitive_named(const char *name) {
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++) {
        if (strcmp(name, firn_avro_kind_name(primitives[i].kind)) == 0) return &primitives[i];
    }
    return NULL;
}

/** A dot makes a name a full name; otherwise the enclosing namespace goes in front of it. */
static firn_status full_name(const parser *p, const char *name, const char *space,
                             const char **out) {
    *out = strchr(name, '.') != NULL || *space == '\0'
               ? firn_arena_strdup(p->arena, name)
               : firn_arena_format(p->arena, "%s.%s", space, name);
    return *out == NULL ? firn_fail_memory(p->error) : FIRN_OK;
}

/** Names a new type, registers it and gives the namespace that holds within it. */
static firn_status define_name(parser *p, const json_t *json, const char *space,
                               firn_avro_schema *schema, const char **inner_space) {
    const char *name = text_of(json, "name");
    if (name == NULL) return bad(p, "a record, enum or fixed has no name");
    const char *own_space = text_of(json, "namespace");
    FIRN_TRY(full_name(p, name, own_space != NULL ? own_space : space, &schema->name));
    const char *dot = strrchr(schema->name, '.');
    *inner_space =
        dot == NULL ? "" : firn_arena_strndup(p->arena, schema->name, (size_t)(dot - schema->name));
    if (*inner_space == NULL) return firn_fail_memory(p->error);
    bool seen = firn_map_has_text(p->names, schema->name);
    return firn_map_set_text(p->names, schema->name, seen ? &ambiguous : schema, p->error);
}

static firn_status parse_reference(parser *p, const char *name, const char *space,
                                   const firn_avro_schema **out) {
    *out = primitive_named(name);
    if (*out != NULL) return FIRN_OK;
    const char *full;
    FIRN_TRY(full_name(p, name, space, &full));
    const firn_avro_schema *found = firn_map_get_text(p->names, full);
    if (found == NULL) found = firn_map_get_text(p->names, name);
    if (found == NULL) {
        return firn_fail(p->error, FIRN_CORRUPT, "%s: Avro schema: unknown type \"%.200s\"",
                         p->what, name);
    }
    if (found == &ambiguous) {
        return firn_fail(p->error, FIRN_CORRUPT,
                         "%s: Avro schema: type \"%.200s\" is defined more than once", p->what,
                         name);
    }
    *out = found;
    return FIRN_OK;
}

static firn_status parse_field(parser *p, const json_t *json, const char *space, int depth,
                               firn_avro_field *field) {
    const char *name = text_of(json, "name");
    if (name == NULL) return bad(p, "a field of a record has no name");
    field->name = firn_arena_strdup(p->arena, name);
    if (field->name == NULL) return firn_fail_memory(p->error);
    const char *original = text_of(json, "iceberg-field-name");
    if (original != NULL) {
        field->iceberg_name = firn_arena_strdup(p->arena, original);
        if (field->iceberg_name == NULL) return firn_fail_memory(p->error);
    }
    FIRN_TRY(parse_id(p, json, "field-id", &field->id));
    const json_t *type = json_object_get(json, "type");
    if (type == NULL) {
        return firn_fail(p->error, FIRN_CORRUPT, "%s: Avro schema: field \"%.200s\" has no type",
                         p->what, name);
    }
    return parse_schema(p, type, space, depth, &field->schema);
}

static firn_status parse_record(parser *p, const json_t *json, const char *space, int depth,
                                const firn_avro_schema **out) {
    const json_t *list = json_object_get(json, "fields");
    if (!json_is_array(list)) return bad(p, "the fields of a record are not a list");
    firn_avro_schema *schema = new_schema(p, FIRN_AVRO_RECORD);
    if (schema == NULL) return firn_fail_memory(p->error);
    const char *inner_space;
    FIRN_TRY(define_name(p, json, space, schema, &inner_space));
    size_t count = json_array_size(list);
    firn_avro_field *fields = firn_arena_alloc(p->arena, count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(p->error);
    /*
     * A record that is still open is reached again only below a union or an array, or never ends.
     */
    bool may_be_empty = true;
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(parse_field(p, json_array_get(list, i), inner_space, depth, &fields[i]));
        may_be_empty = may_be_empty && fields[i].schema->may_be_empty;
    }
    schema->may_be_empty = may_be_empty;
    schema->fields = fields;
    schema->count = count;
    *out = schema;
    return FIRN_OK;
}

static firn_status parse_enum(parser *p, const json_t *json, const char *space,
                              const firn_avro_schema **out) {
    const json_t *list = json_object_get(json, "symbols");
    if (!json_is_array(list)) return bad(p, "the symbols of an enum are not a list");
    firn_avro_schema *schema = new_schema(p, FIRN_AVRO_ENUM);
    if (schema == NULL) return firn_fail_memory(p->error);
    const char *ignored;
    FIRN_TRY(define_name(p, json, space, schema, &ignored));
    size_t count = json_array_size(list);
    const char **symbols = firn_arena_alloc(p->arena, count, sizeof *symbols);
    if (symbols == NULL) return firn_fail_memory(p->error);
    for (size_t i = 0; i < count; i++) {
        const char *symbol = json_string_value(json_array_get(list, i));
        if (symbol == NULL) return bad(p, "a symbol of an enum is not a string");
        symbols[i] = firn_arena_strdup(p->arena, symbol);
        if (symbols[i] == NULL) return firn_fail_memory(p->error);
    }
    schema->symbols = symbols;
    schema->count = count;
    *out = schema;
    return FIRN_OK;
}

static firn_status parse_fixed(parser *p, const json_t *json, const char *space,
                               firn_avro_schema **out) {
    const json_t *size = json_object_get(json, "size");
    if (!json_is_integer(size) || json_integer_value(size) < 0 ||
        json_integer_value(size) > INT32_MAX) {
        return bad(p, "the size of a fixed is not a 31-bit number");
    }
    firn_avro_schema *schema = new_schema(p, FIRN_AVRO_FIXED);
    if (schema == NULL) return firn_fail_memory(p->error);
    const char *ignored;
    FIRN_TRY(define_name(p, json, space, schema, &ignored));
    schema->fixed_size = (size_t)json_integer_value(size);
    schema->may_be_empty = schema->fixed_size == 0;
    *out = schema;
    return FIRN_OK;
}

static firn_status parse_collection(parser *p, const json_t *json, bool is_map, const char *space,
                                    int depth, firn_avro_schema **out) {
    const json_t *items = json_object_get(json, is_map ? "values" : "items");
    if (items == NULL) return bad(p, is_map ? "a map has no values" : "an array has no items");
    firn_avro_schema *schema = new_schema(p, is_map ? FIRN_AVRO_MAP : FIRN_AVRO_ARRAY);
    if (schema == NULL) return firn_fail_memory(p->error);
    if (is_map) {
        FIRN_TRY(parse_id(p, json, "key-id", &schema->key_id));
        FIRN_TRY(parse_id(p, json, "value-id", &schema->value_id));
    } else {
        FIRN_TRY(parse_id(p, json, "element-id", &schema->element_id));
    }
    *out = schema;
    return parse_schema(p, items, space, depth, &schema->items);
}

static firn_status parse_union(parser *p, const json_t *json, const char *space, int depth,
                               const firn_avro_schema **out) {
    size_t count = json_array_size(json);
    firn_avro_schema *schema = new_schema(p, FIRN_AVRO_UNION);
    const firn_avro_schema **branches = firn_arena_alloc(p->arena, count, sizeof *branches);
    if (schema == NULL || branches == NULL) return firn_fail_memory(p->error);
    for (size_t i = 0; i < count; i++) {
        const json_t *branch = json_array_get(json, i);
        if (json_is_array(branch)) return bad(p, "a union lies directly in a union");
        FIRN_TRY(parse_schema(p, branch, space, depth, &branches[i]));
    }
    schema->branches = branches;
    schema->count = count;
    *out = schema;
    return FIRN_OK;
}

/** A decimal without sense is, as the Avro specification asks, no logical type at all. */
static void set_decimal(const json_t *json, firn_avro_schema *schema) {
    const json_t *precision = json_object_get(json, "precision");
    const json_t *scale = json_object_get(json, "scale");
    json_int_t p = json_is_integer(precision) ? json_integer_value(precision) : 0;
    json_int_t s = scale == NULL ? 0 : json_is_integer(scale) ? json_integer_value(scale) : -1;
    if (p < 1 || p > INT32_MAX || s < 0 || s > p) {
        schema->logical = FIRN_AVRO_LOGICAL_NONE;
        return;
    }
    schema->precision = (int32_t)p;
    schema->scale = (int32_t)s;
}

static void set_logical(const json_t *json, firn_avro_schema *schema) {
    const json_t *utc = json_object_get(json, "adjust-to-utc");
    if (json_is_boolean(utc)) {
        schema->has_adjust_to_utc = true;
        schema->adjust_to_utc = json_is_true(utc);
    }
    const char *name = text_of(json, "logicalType");
    if (name == NULL) return;
    for (size_t i = 0; i < sizeof logical_types / sizeof *logical_types; i++) {
        if (logical_types[i].on != schema->kind || strcmp(logical_types[i].name, name) != 0) {
            continue;
        }
        schema->logical = logical_types[i].logical;
    }
    if (schema->logical == FIRN_AVRO_LOGICAL_DECIMAL) set_decimal(json, schema);
    if (schema->logical == FIRN_AVRO_LOGICAL_UUID && schema->kind == FIRN_AVRO_FIXED &&
        schema->fixed_size != 16) {
        schema->logical = FIRN_AVRO_LOGICAL_NONE;
    }
}

static firn_status parse_object(parser *p, const json_t *json, const char *space, int depth,
                                const firn_avro_schema **out) {
    const json_t *inner = json_object_get(json, "type");
    if (inner == NULL) return bad(p, "a type has no attribute type");
    if (!json_is_string(inner)) return parse_schema(p, inner, space, depth, out);
    const char *type = json_string_value(inner);
    if (strcmp(type, "record") == 0 || strcmp(type, "error") == 0) {
        return parse_record(p, json, space, depth, out);
    }
    if (strcmp(type, "enum") == 0) return parse_enum(p, json, space, out);
    firn_avro_schema *schema = NULL;
    const firn_avro_schema *primitive = primitive_named(type);
    if (primitive != NULL) {
        schema = new_schema(p, primitive->kind);
        if (schema == NULL) return firn_fail_memory(p->error);
        schema->may_be_empty = primitive->may_be_empty;
    } else if (strcmp(type, "fixed") == 0) {
        FIRN_TRY(parse_fixed(p, json, space, &schema));
    } else if (strcmp(type, "array") == 0) {
        FIRN_TRY(parse_collection(p, json, false, space, depth, &schema));
    } else if (strcmp(type, "map") == 0) {
        FIRN_TRY(parse_collection(p, json, true, space, depth, &schema));
    } else {
        return parse_reference(p, type, space, out);
    }
    set_logical(json, schema);
    *out = schema;
    return FIRN_OK;
}

static firn_status parse_schema(parser *p, const json_t *json, const char *space, int depth,
                                const firn_avro_schema **out) {
    if (depth >= FIRN_AVRO_MAX_DEPTH) {
        return firn_fail(p->error, FIRN_LIMIT, "%s: Avro schema: nested deeper than %d levels",
                         p->what, FIRN_AVRO_MAX_DEPTH);
    }
    if (json_is_string(json)) return parse_reference(p, json_string_value(json), space, out);
    if (json_is_array(json)) return parse_union(p, json, space, depth + 1, out);
    if (json_is_object(json)) return parse_object(p, json, space, depth + 1, out);
    return bad(p, "a type is neither a name, nor a list, nor an object");
}

firn_status firn_avro_schema_parse(firn_slice json, const char *what, firn_arena *arena,
                                   const firn_avro_schema **out, firn_error *error) {
    parser p = {what, arena, firn_map_new(), error};
    json_t *document = NULL;
    firn_status status = FIRN_OK;
    *out = NULL;
    if (p.names == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    char label[512];
    snprintf(label, sizeof label, "%s: Avro schema", what);
    FIRN_CHECK(firn_json_parse(json, label, &document, error));
    FIRN_CHECK(parse_schema(&p, document, "", 0, out));
out:
    if (status != FIRN_OK) *out = NULL;
    json_decref(document);
    firn_map_free(p.names);
    return status;
}
