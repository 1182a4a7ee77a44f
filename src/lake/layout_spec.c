/* The partition spec of a table that is to be made. */
#include <string.h>
#include <strings.h>

#include "lake/layout_internal.h"

#define FIRST_FIELD_ID 1000

typedef struct spec_maker {
    firn_lake_layout *layout;
    const firn_schema *schema;
    firn_arena *arena;
    json_t *fields; /**< owned */
    firn_error *error;
} spec_maker;

const firn_field *firn_layout_column_of_key(const firn_schema *schema, const char *key) {
    const firn_type *root = &schema->root;
    for (size_t i = 0; i < root->field_count; i++) {
        if (strcmp(root->fields[i].name, key) == 0) return &root->fields[i];
    }
    for (size_t i = 0; i < root->field_count; i++) {
        if (strcasecmp(root->fields[i].name, key) == 0) return &root->fields[i];
    }
    return NULL;
}

const firn_field *firn_layout_column_named(const firn_schema *schema, const char *name) {
    for (size_t i = 0; i < schema->root.field_count; i++) {
        if (strcmp(schema->root.fields[i].name, name) == 0) return &schema->root.fields[i];
    }
    return firn_schema_find_name(schema, name);
}

/* Whether no list or map lies around the field. */
static bool is_plain(const firn_type *type, int32_t field_id) {
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].id == field_id) return true;
        if (type->fields[i].type->kind != FIRN_TYPE_STRUCT) continue;
        if (is_plain(type->fields[i].type, field_id)) return true;
    }
    return false;
}

/* As Iceberg's own writers name fields. */
static const char *default_name(const char *column, const firn_transform *transform,
                                firn_arena *arena) {
    const char *suffix = "";
    firn_time_unit unit = firn_time_unit_of(transform->kind);
    if (unit != FIRN_UNIT_COUNT) {
        return firn_arena_format(arena, "%s_%s", column, firn_time_unit_names[unit]);
    }
    if (transform->kind == FIRN_TRANSFORM_BUCKET) suffix = "_bucket";
    if (transform->kind == FIRN_TRANSFORM_TRUNCATE) suffix = "_trunc";
    return firn_arena_format(arena, "%s%s", column, suffix);
}

static firn_status check_name(const spec_maker *maker, const char *name, const firn_field *source,
                              const firn_transform *transform, const char *whose) {
    const firn_field *column = firn_schema_find_name(maker->schema, name);
    bool own = column == source && transform->kind == FIRN_TRANSFORM_IDENTITY;
    if (column != NULL && !own) {
        return firn_fail(maker->error, FIRN_INVALID,
                         "%s: a partition field can't be called \"%s\", which is a column: give "
                         "it another name with \"as NAME\"",
                         whose, name);
    }
    for (size_t i = 0; i < json_array_size(maker->fields); i++) {
        const json_t *field = json_array_get(maker->fields, i);
        const char *taken = json_string_value(json_object_get(field, "name"));
        const char *text = json_string_value(json_object_get(field, "transform"));
        bool same_source = json_integer_value(json_object_get(field, "source-id")) == source->id;
        if (taken != NULL && strcmp(taken, name) == 0) {
            return firn_fail(maker->error, FIRN_INVALID,
                             "%s: two partition fields would be called \"%s\": give one another "
                             "name with \"as NAME\"",
                             whose, name);
        }
        if (same_source && text != NULL && strcmp(text, transform->text) == 0) {
            return firn_fail(maker->error, FIRN_INVALID,
                             "%s: the partition fields \"%s\" and \"%s\" are the same", whose,
                             taken, name);
        }
    }
    return FIRN_OK;
}

/* `whose` is the rule or key, for messages; `name` NULL: the usual one. */
static firn_status add_field(spec_maker *maker, const firn_field *source,
                             const firn_transform *transform, const char *name, const char *whose) {
    firn_error *error = maker->error;
    if (!is_plain(&maker->schema->root, source->id)) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: column \"%s\" lies in a list or map, and can't tell a partition",
                         whose, source->name);
    }
    firn_status status = firn_transform_check_source(transform, source->type, error);
    if (status != FIRN_OK) return firn_error_wrap(error, status, "%s", whose);
    const char *column = firn_schema_full_name(maker->schema, source->id, maker->arena);
    if (column == NULL) return firn_fail_memory(error);
    if (name == NULL) name = default_name(column, transform, maker->arena);
    if (name == NULL) return firn_fail_memory(error);
    FIRN_TRY(check_name(maker, name, source, transform, whose));
    json_t *field = json_object();
    if (field == NULL) return firn_fail_memory(error);
    size_t position = json_array_size(maker->fields);
    status = firn_json_set_text(field, "name", name, error);
    if (status == FIRN_OK) status = firn_json_set_text(field, "transform", transform->text, error);
    if (status == FIRN_OK) status = firn_json_set_int(field, "source-id", source->id, error);
    if (status == FIRN_OK) {
        status = firn_json_set_int(field, "field-id", FIRST_FIELD_ID + (int64_t)position, error);
    }
    if (status == FIRN_OK) return firn_json_append(maker->fields, field, error);
    json_decref(field);
    return status;
}

#define MOST_NAMES 20

static const char *next_name(const char *names, size_t index, const char *name, firn_arena *arena) {
    if (names == NULL || index > MOST_NAMES) return names;
    if (index == MOST_NAMES) return firn_arena_format(arena, "%s, …", names);
    return firn_arena_format(arena, "%s%s%.60s", names, index == 0 ? "" : ", ", name);
}

firn_status firn_layout_no_such_column(firn_lake_layout *layout, const firn_schema *schema,
                                       const char *rule, const char *column, firn_error *error) {
    const char *names = "";
    for (size_t i = 0; i < schema->root.field_count; i++) {
        names = next_name(names, i, schema->root.fields[i].name, layout->arena);
    }
    if (names == NULL) return firn_fail_memory(error);
    return firn_fail(error, FIRN_INVALID,
                     "rule \"%s\": there is no column \"%s\"; there are: %s. --partition takes "
                     "one of them",
                     rule, column, names);
}

bool firn_lake_layout_blames_rules(const firn_lake_layout *layout) {
    return layout != NULL && layout->rules_at_fault;
}

static firn_status add_rule_fields(spec_maker *maker, const firn_layout_rule *rule) {
    firn_error *error = maker->error;
    const char *whose = firn_arena_format(maker->arena, "rule \"%s\"", rule->text);
    if (whose == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < rule->field_count; i++) {
        const firn_layout_field *field = &rule->fields[i];
        const firn_field *source = firn_layout_column_named(maker->schema, field->column);
        if (source == NULL) {
            return firn_layout_no_such_column(maker->layout, maker->schema, rule->text,
                                              field->column, error);
        }
        const firn_type *type = source->type;
        if (field->type != NULL) {
            FIRN_TRY(firn_layout_field_type(maker->layout, rule, field, &type, error));
        }
        if (!firn_type_equal(type, source->type)) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: column \"%s\" is of type %s in the files: leave the type out",
                             whose, field->column,
                             source->type->text == NULL ? "struct, list or map"
                                                        : source->type->text);
        }
        bool counts = rule->slots[i].counts;
        if (counts && type->kind != FIRN_TYPE_INT && type->kind != FIRN_TYPE_LONG) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: {#} counts the widths of whole numbers, but column \"%s\" is of "
                             "type %s",
                             whose, field->column, type->text == NULL ? "struct" : type->text);
        }
        FIRN_TRY(add_field(maker, source, &field->transform, field->name, whose));
    }
    return FIRN_OK;
}

static firn_status add_rule(spec_maker *maker, const firn_layout_rule *rule) {
    firn_status status = add_rule_fields(maker, rule);
    maker->layout->rules_at_fault = status == FIRN_INVALID;
    return status;
}

static bool is_time_key(const spec_maker *maker, const char *key) {
    return firn_time_unit_named(key) != FIRN_UNIT_COUNT &&
           firn_layout_rule_of(maker->layout, key) == NULL;
}

/* "year, month" */
static firn_status time_keys(const spec_maker *maker, const char **out) {
    *out = "";
    for (size_t i = 0; i < maker->layout->key_count; i++) {
        const char *key = maker->layout->keys[i].key;
        if (!is_time_key(maker, key)) continue;
        *out = firn_arena_format(maker->arena, "%s%s%s", *out, **out == '\0' ? "" : ", ", key);
        if (*out == NULL) return firn_fail_memory(maker->error);
    }
    return FIRN_OK;
}

static firn_status several_columns(const spec_maker *maker) {
    const char *keys = NULL;
    const char *names = "";
    const char *first = NULL;
    FIRN_TRY(time_keys(maker, &keys));
    for (size_t i = 0; i < maker->layout->candidates.count; i++) {
        const firn_layout_candidate *candidate = &maker->layout->candidates.items[i];
        if (candidate->against != NULL) continue;
        names = firn_arena_format(maker->arena, "%s%s\"%s\"", names, *names == '\0' ? "" : ", ",
                                  candidate->name);
        if (names == NULL) return firn_fail_memory(maker->error);
        if (first == NULL) first = candidate->name;
    }
    size_t length = strcspn(keys, ",");
    return firn_fail(maker->error, FIRN_INVALID,
                     "the paths' %s could be of each of the columns %s: say which with "
                     "--partition, as in --partition \"%.*s: %.*s(%s)\"",
                     keys, names, (int)length, keys, (int)length, keys, first);
}

/* Whether the text alone tells the unit, as "2024-01-31" does a day and "05" no hour. */
static bool tells_unit(firn_time_unit unit, const char *text) {
    const char *texts[FIRN_UNIT_COUNT] = {0};
    firn_value value;
    firn_error ignored;
    if (text == NULL) return false;
    texts[unit] = text;
    return firn_layout_parse_time(unit, texts, &value, &ignored) == FIRN_OK;
}

/* The coarsest of the paths' units that needs a coarser one beside it, in its key; NULL: none does. */
static const char *lone_key(const spec_maker *maker, firn_time_unit *unit) {
    const char *found = NULL;
    *unit = FIRN_UNIT_COUNT;
    for (size_t i = 0; i < maker->layout->key_count; i++) {
        const firn_lake_path_key *key = &maker->layout->keys[i];
        firn_time_unit own = firn_time_unit_named(key->key);
        if (!is_time_key(maker, key->key) || own >= *unit) continue;
        *unit = own;
        found = own > FIRN_UNIT_YEAR && !tells_unit(own, key->value) ? key->key : NULL;
    }
    return found;
}

/* Of "dt=2024-01-31/hour=05": "dt". A key without a rule whose text is one of the unit; NULL: none. */
static const char *key_of_unit(const spec_maker *maker, firn_time_unit unit) {
    for (size_t i = 0; i < maker->layout->key_count; i++) {
        const firn_lake_path_key *key = &maker->layout->keys[i];
        bool is_free = firn_time_unit_named(key->key) == FIRN_UNIT_COUNT &&
                       firn_layout_rule_of(maker->layout, key->key) == NULL;
        if (is_free && tells_unit(unit, key->value)) return key->key;
    }
    return NULL;
}

/* A column that has the unit; NULL: none. */
static const char *column_with_unit(const spec_maker *maker, firn_time_unit unit) {
    firn_transform transform = firn_time_unit_transform(unit);
    for (size_t i = 0; i < maker->layout->candidates.count; i++) {
        const firn_layout_candidate *candidate = &maker->layout->candidates.items[i];
        const firn_field *field = firn_schema_find(maker->schema, candidate->field_id);
        if (field == NULL) continue;
        if (firn_transform_check_source(&transform, field->type, NULL) == FIRN_OK) {
            return candidate->name;
        }
    }
    return NULL;
}

/* An hour without a day (a day without a month, …): which rules give it one, or do without. */
static firn_status lone_unit(const spec_maker *maker, const char *key, firn_time_unit unit) {
    const char *coarser = firn_time_unit_names[unit - 1];
    const char *beside = key_of_unit(maker, (firn_time_unit)(unit - 1));
    const char *column = column_with_unit(maker, unit);
    const char *name = firn_time_unit_names[unit];
    const char *both = "";
    if (beside != NULL && column != NULL) {
        both = firn_arena_format(maker->arena,
                                 "--partition \"%s: %s(%s)\" --partition \"%s: %s(%s)\" takes both "
                                 "for those of the column \"%s\", ",
                                 beside, coarser, column, key, name, column, column);
        if (both == NULL) return firn_fail_memory(maker->error);
    }
    return firn_fail(
        maker->error, FIRN_INVALID,
        "%s: the paths' \"%s\" tells no %s without a %s beside it, so that no column can prove "
        "it: %s--partition \"%s: %s int\" makes it a column of its own, and "
        "--partition \"%s: -\" leaves it aside",
        maker->layout->first_location, key, name, coarser, both, key, key, key);
}

static firn_status no_column(const spec_maker *maker) {
    firn_time_unit unit = FIRN_UNIT_COUNT;
    const char *lone = lone_key(maker, &unit);
    if (lone != NULL) return lone_unit(maker, lone, unit);

    const firn_lake_layout *layout = maker->layout;
    const char *keys = NULL;
    const char *names = "";
    FIRN_TRY(time_keys(maker, &keys));
    for (size_t i = 0; i < layout->candidates.count; i++) {
        const firn_layout_candidate *candidate = &layout->candidates.items[i];
        names = firn_arena_format(maker->arena, "%s; \"%s\": %s (%s)", names, candidate->name,
                                  candidate->reason, candidate->against);
        if (names == NULL) return firn_fail_memory(maker->error);
    }
    size_t length = strcspn(keys, ",");
    return firn_fail(maker->error, FIRN_INVALID,
                     "no date or timestamp column proves the paths' %s, and %s is the first path "
                     "that none does%s; --partition says what they mean: \"%.*s: %.*s(COLUMN)\", "
                     "or \"%.*s: -\" for nothing",
                     keys, layout->unproved == NULL ? layout->first_location : layout->unproved,
                     names, (int)length, keys, (int)length, keys, (int)length, keys);
}

/* Files that hold the keys as columns of their own, beside no column of time. */
static bool all_are_columns(const spec_maker *maker) {
    for (size_t i = 0; i < maker->layout->key_count; i++) {
        const char *key = maker->layout->keys[i].key;
        if (!is_time_key(maker, key)) continue;
        if (firn_layout_column_of_key(maker->schema, key) == NULL) return false;
    }
    return true;
}

/* *out NULL: each key is a column of its own. */
static firn_status find_time_column(const spec_maker *maker, const firn_field **out) {
    const firn_lake_layout *layout = maker->layout;
    const firn_layout_candidate *found = NULL;
    *out = NULL;
    for (size_t i = 0; i < layout->candidates.count; i++) {
        const firn_layout_candidate *candidate = &layout->candidates.items[i];
        if (candidate->against != NULL) continue;
        if (found != NULL) return several_columns(maker);
        found = candidate;
    }
    if (found != NULL) *out = firn_schema_find(maker->schema, found->field_id);
    if (*out != NULL || all_are_columns(maker)) return FIRN_OK;
    return no_column(maker);
}

static firn_status add_key(spec_maker *maker, const char *key, const firn_field *time_column) {
    static const firn_transform identity = {.kind = FIRN_TRANSFORM_IDENTITY, .text = "identity"};
    const firn_layout_rule *rule = firn_layout_rule_of(maker->layout, key);
    if (rule != NULL) return rule->means_nothing ? FIRN_OK : add_rule(maker, rule);
    const char *whose = firn_arena_format(maker->arena, "key \"%s\"", key);
    if (whose == NULL) return firn_fail_memory(maker->error);
    firn_time_unit unit = firn_time_unit_named(key);
    if (unit != FIRN_UNIT_COUNT && time_column != NULL) {
        firn_transform transform = firn_time_unit_transform(unit);
        return add_field(maker, time_column, &transform, NULL, whose);
    }
    const firn_field *source = firn_layout_column_of_key(maker->schema, key);
    if (source != NULL) return add_field(maker, source, &identity, NULL, whose);
    return firn_fail(maker->error, FIRN_INVALID, "%s: the schema has no column of that name",
                     whose);
}

static firn_status no_such_key(const spec_maker *maker, const firn_layout_rule *rule) {
    firn_lake_layout *layout = maker->layout;
    const char *names = "";
    for (size_t i = 0; i < layout->key_count; i++) {
        names = next_name(names, i, layout->keys[i].key, maker->arena);
    }
    if (names == NULL) return firn_fail_memory(maker->error);
    layout->rules_at_fault = true;
    if (layout->key_count == 0) {
        return firn_fail(maker->error, FIRN_INVALID,
                         "rule \"%s\": the paths have no key \"%s\", and no other below the "
                         "source (folders named KEY=VALUE): leave this --partition out",
                         rule->text, rule->key);
    }
    return firn_fail(maker->error, FIRN_INVALID,
                     "rule \"%s\": the paths have no key \"%s\"; they have: %s. --partition "
                     "takes one of them",
                     rule->text, rule->key, names);
}

/* A rule for a key that no path has is a mistake, of one or the other. */
static firn_status check_rule_keys(const spec_maker *maker) {
    const firn_lake_layout *layout = maker->layout;
    for (size_t i = 0; i < layout->rule_count && layout->first_location != NULL; i++) {
        const firn_layout_rule *rule = &layout->rules[i];
        bool found = rule->means_nothing;
        for (size_t j = 0; j < layout->key_count && !found; j++) {
            found = strcasecmp(layout->keys[j].key, rule->key) == 0;
        }
        if (found) continue;
        return no_such_key(maker, rule);
    }
    return FIRN_OK;
}

static firn_status add_keys(spec_maker *maker) {
    const firn_lake_layout *layout = maker->layout;
    const firn_field *time_column = NULL;
    bool any = false;
    FIRN_TRY(check_rule_keys(maker));
    for (size_t i = 0; i < layout->key_count; i++) {
        any = any || is_time_key(maker, layout->keys[i].key);
    }
    if (any) FIRN_TRY(find_time_column(maker, &time_column));
    for (size_t i = 0; i < layout->key_count; i++) {
        FIRN_TRY(add_key(maker, layout->keys[i].key, time_column));
    }
    return FIRN_OK;
}

firn_status firn_lake_layout_spec(firn_lake_layout *layout, const firn_schema *schema, json_t **out,
                                  firn_error *error) {
    *out = NULL;
    spec_maker maker = {.layout = layout, .schema = schema, .error = error};
    firn_status status = FIRN_OK;
    json_t *spec = json_object();
    maker.fields = json_array();
    maker.arena = firn_arena_new();
    if (maker.arena == NULL || maker.fields == NULL || spec == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(add_keys(&maker));
    FIRN_CHECK(firn_json_set_int(spec, "spec-id", 0, error));
    FIRN_CHECK(firn_json_set(spec, "fields", json_incref(maker.fields), error));
    *out = json_incref(spec);
out:
    json_decref(maker.fields);
    json_decref(spec);
    firn_arena_free(maker.arena);
    return status;
}
