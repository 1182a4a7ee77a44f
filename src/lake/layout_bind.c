/* Where the values of a spec's fields stand in paths, and reading them there. */
#include <string.h>
#include <strings.h>

#include "lake/layout_internal.h"

static firn_status no_source(const firn_partition_field *field, firn_error *error) {
    return firn_fail(error, FIRN_INVALID,
                     "partition field \"%s\": its source column (id %d) is not in the table's "
                     "schema any more: no file can be proved to belong to a partition",
                     field->name, field->source_id);
}

/* From the root down to the source: no lists, no maps. */
static firn_status find_source(const firn_schema *schema, const firn_partition_field *field,
                               firn_layout_binding_field *out, firn_error *error) {
    const firn_type *type = &schema->root;
    out->all_required = true;
    while (out->source == NULL) {
        const firn_field *next = NULL;
        for (size_t i = 0; i < type->field_count && next == NULL; i++) {
            const firn_field *child = &type->fields[i];
            firn_schema below = {.root = *child->type};
            bool holds =
                child->id == field->source_id || firn_schema_find(&below, field->source_id) != NULL;
            if (holds) next = child;
        }
        if (next == NULL) return no_source(field, error);
        out->all_required = out->all_required && next->required;
        if (next->id == field->source_id) {
            out->source = next;
        } else if (next->type->kind != FIRN_TYPE_STRUCT) {
            return firn_fail(error, FIRN_INVALID,
                             "partition field \"%s\": its source column lies in the list or map "
                             "\"%s\", and can't tell a partition",
                             field->name, next->name);
        } else {
            out->nested = true;
        }
        type = next->type;
    }
    return firn_transform_check_source(&field->transform, out->source->type, error);
}

bool firn_layout_same_transform(const firn_transform *a, const firn_transform *b) {
    return a->kind == b->kind && a->parameter == b->parameter;
}

/* The place of a rule's field with this column and transform; one named like the partition field goes before others. */
static bool rule_place(const firn_lake_layout *layout, const char *column,
                       const firn_transform *transform, const char *name, firn_layout_place *out) {
    bool found = false;
    for (size_t i = 0; layout != NULL && i < layout->rule_count; i++) {
        const firn_layout_rule *rule = &layout->rules[i];
        for (size_t j = 0; j < rule->field_count; j++) {
            const firn_layout_field *field = &rule->fields[j];
            bool fits = strcmp(field->column, column) == 0 &&
                        firn_layout_same_transform(&field->transform, transform);
            bool named = name != NULL && field->name != NULL && strcmp(field->name, name) == 0;
            if (!fits || (found && !named)) continue;
            *out = (firn_layout_place){.key = rule->key, .rule = rule, .slot = j};
            found = true;
        }
    }
    return found;
}

const firn_layout_rule *firn_layout_rule_of(const firn_lake_layout *layout, const char *key) {
    size_t count = layout == NULL ? 0 : layout->rule_count;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(layout->rules[i].key, key) == 0) return &layout->rules[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(layout->rules[i].key, key) == 0) return &layout->rules[i];
    }
    return NULL;
}

static void add_place(const firn_lake_layout *layout, const char *key,
                      firn_layout_binding_field *out) {
    if (firn_layout_rule_of(layout, key) != NULL) return;
    for (size_t i = 0; i < out->place_count; i++) {
        if (strcmp(out->places[i].key, key) == 0) return;
    }
    out->places[out->place_count++] = (firn_layout_place){.key = key};
}

#define NO_COLUMN INT32_MIN

/* The one source of time fields that have no rule or, `ruled`, of any; NO_COLUMN for none, INT32_MAX (no field's id) for several. */
static int32_t one_time_source(const firn_lake_layout *layout, const firn_partition_spec *spec,
                               const firn_layout_binding_field *bindings, bool ruled) {
    int32_t found = NO_COLUMN;
    for (size_t i = 0; i < spec->field_count; i++) {
        const firn_partition_field *field = &spec->fields[i];
        firn_layout_place place;
        if (firn_time_unit_of(field->transform.kind) == FIRN_UNIT_COUNT) continue;
        bool has_rule =
            rule_place(layout, bindings[i].source_name, &field->transform, field->name, &place);
        if ((has_rule && !ruled) || found == field->source_id) continue;
        if (found != NO_COLUMN) return INT32_MAX;
        found = field->source_id;
    }
    return found;
}

/* The column that keys named year, month, day and hour belong to; no field's id where that can't be told. */
static int32_t named_time_source(const firn_lake_layout *layout, const firn_partition_spec *spec,
                                 const firn_layout_binding_field *bindings) {
    int32_t source = one_time_source(layout, spec, bindings, false);
    return source != NO_COLUMN ? source : one_time_source(layout, spec, bindings, true);
}

/* Month "01" needs its year: another key of the same column. */
static void bind_units(const firn_lake_layout *layout, firn_time_unit unit, bool named_units,
                       firn_layout_binding_field *out) {
    for (size_t i = 0; i < unit; i++) {
        firn_transform transform = firn_time_unit_transform((firn_time_unit)i);
        if (rule_place(layout, out->source_name, &transform, NULL, &out->units[i])) continue;
        const char *name = firn_time_unit_names[i];
        if (!named_units || firn_layout_rule_of(layout, name) != NULL) continue;
        out->units[i] = (firn_layout_place){.key = name};
    }
}

static void bind_places(const firn_lake_layout *layout, const firn_partition_field *field,
                        bool named_units, firn_layout_binding_field *out) {
    firn_time_unit unit = firn_time_unit_of(field->transform.kind);
    out->source_place = SIZE_MAX;
    if (unit != FIRN_UNIT_COUNT) bind_units(layout, unit, named_units, out);
    if (rule_place(layout, out->source_name, &field->transform, field->name, &out->places[0])) {
        out->place_count = 1;
        out->expected = true;
        return;
    }
    add_place(layout, field->name, out);
    size_t before = out->place_count;
    add_place(layout, out->source_name, out);
    if (out->place_count > before && field->transform.kind != FIRN_TRANSFORM_IDENTITY) {
        out->source_place = before;
    }
    if (unit != FIRN_UNIT_COUNT && named_units) add_place(layout, firn_time_unit_names[unit], out);
}

static firn_status check_counting(const firn_partition_field *field,
                                  const firn_layout_binding_field *binding, firn_error *error) {
    if (binding->place_count == 0) return FIRN_OK;
    const firn_layout_place *place = &binding->places[0];
    bool counts = place->rule != NULL && place->rule->slots[place->slot].counts;
    firn_type_kind kind = binding->source->type->kind;
    if (!counts || kind == FIRN_TYPE_INT || kind == FIRN_TYPE_LONG) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "rule \"%s\": {#} counts the widths of whole numbers, but column \"%s\" of "
                     "partition field \"%s\" is of type %s",
                     place->rule->text, binding->source_name, field->name,
                     binding->source->type->text);
}

static firn_status resolve(const firn_schema *schema, const firn_partition_field *field,
                           firn_arena *arena, firn_layout_binding_field *out, firn_error *error) {
    if (field->transform.kind == FIRN_TRANSFORM_VOID) return FIRN_OK;
    if (field->transform.kind == FIRN_TRANSFORM_UNKNOWN) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "partition field \"%s\": the transform %.100s is not known to firn",
                         field->name, field->transform.text);
    }
    FIRN_TRY(find_source(schema, field, out, error));
    out->source_name = firn_schema_full_name(schema, field->source_id, arena);
    return out->source_name == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status bind_fields(const firn_lake_layout *layout, const firn_partition_spec *spec,
                               const firn_lake_path_key *keys, size_t key_count,
                               firn_layout_binding_field *fields, firn_error *error) {
    int32_t time_source = named_time_source(layout, spec, fields);
    for (size_t i = 0; i < spec->field_count; i++) {
        const firn_partition_field *field = &spec->fields[i];
        firn_layout_binding_field *binding = &fields[i];
        if (binding->source == NULL) continue;
        bind_places(layout, field, field->source_id == time_source, binding);
        FIRN_TRY(check_counting(field, binding, error));
        for (size_t j = 0; j < binding->place_count; j++) {
            const char *key = binding->places[j].key;
            if (firn_layout_find_key(keys, key_count, key) != NULL) binding->expected = true;
        }
    }
    return FIRN_OK;
}

firn_status firn_lake_layout_bind(const firn_lake_layout *layout, const firn_schema *schema,
                                  const firn_partition_spec *spec, const firn_lake_path_key *keys,
                                  size_t key_count, firn_arena *arena,
                                  const firn_lake_binding **out, firn_error *error) {
    *out = NULL;
    firn_lake_binding *binding = firn_arena_alloc(arena, 1, sizeof *binding);
    firn_layout_binding_field *fields =
        firn_arena_alloc(arena, spec->field_count + 1, sizeof *fields);
    if (binding == NULL || fields == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < spec->field_count; i++) {
        FIRN_TRY(resolve(schema, &spec->fields[i], arena, &fields[i], error));
    }
    FIRN_TRY(bind_fields(layout, spec, keys, key_count, fields, error));
    *binding = (firn_lake_binding){.schema = schema, .spec = spec, .fields = fields};
    *out = binding;
    return FIRN_OK;
}

/* Reading. */

static firn_status read_bucket(const firn_transform *transform, const char *text, firn_value *out,
                               firn_error *error) {
    int64_t bucket = 0;
    if (!firn_layout_parse_integer(text, &bucket) || bucket < 0 || bucket >= transform->parameter) {
        return firn_fail(error, FIRN_INVALID, "\"%.200s\" is none of the buckets 0 to %d", text,
                         transform->parameter - 1);
    }
    *out = (firn_value){.kind = FIRN_TYPE_INT, .as.int32 = (int32_t)bucket};
    return FIRN_OK;
}

/* {#}: a number of widths. */
static firn_status read_count(const firn_transform *transform, const firn_type *type,
                              const char *text, firn_value *out, firn_error *error) {
    int64_t value = 0;
    bool is_int = type->kind == FIRN_TYPE_INT;
    if (!firn_layout_parse_integer(text, &value) ||
        __builtin_mul_overflow(value, (int64_t)transform->parameter, &value) ||
        (is_int && (value < INT32_MIN || value > INT32_MAX))) {
        return firn_fail(error, FIRN_INVALID, "\"%.200s\" widths of %d are no value of type %s",
                         text, transform->parameter, type->text);
    }
    *out = (firn_value){.kind = type->kind};
    if (is_int)
        out->as.int32 = (int32_t)value;
    else
        out->as.int64 = value;
    return FIRN_OK;
}

static firn_status read_truncated(const firn_transform *transform, const firn_type *type,
                                  const char *text, const firn_value *known, firn_arena *arena,
                                  firn_value *out, firn_error *error) {
    firn_value again;
    FIRN_TRY(firn_layout_parse_value(type, text, known, arena, out, error));
    FIRN_TRY(firn_transform_apply(transform, type, out, &again, error));
    if (firn_value_equal(&again, out)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "\"%.200s\" is no value that %s gives", text,
                     transform->text);
}

static firn_status read_time(const firn_layout_binding_field *field, firn_time_unit unit,
                             const char *text, const firn_lake_path_key *keys, size_t count,
                             firn_arena *arena, firn_value *out, firn_error *error) {
    const char *texts[FIRN_UNIT_COUNT] = {0};
    texts[unit] = text;
    for (size_t i = 0; i < unit; i++) {
        firn_layout_text found;
        if (field->units[i].key == NULL) continue;
        FIRN_TRY(firn_layout_text_at(&field->units[i], keys, count, arena, &found, error));
        texts[i] = found.text;
    }
    return firn_layout_parse_time(unit, texts, out, error);
}

typedef struct path_text {
    const firn_lake_path_key *keys;
    size_t count;
    const firn_layout_place *place;
    const char *text;
    const firn_value *known;
} path_text;

/* The text as a partition value. */
static firn_status read_result(const firn_layout_binding_field *field,
                               const firn_transform *transform, const path_text *path,
                               firn_arena *arena, firn_value *out, firn_error *error) {
    const firn_type *type = field->source->type;
    const char *text = path->text;
    firn_time_unit unit = firn_time_unit_of(transform->kind);
    if (transform->kind == FIRN_TRANSFORM_IDENTITY) {
        return firn_layout_parse_value(type, text, path->known, arena, out, error);
    }
    if (path->place->rule != NULL && path->place->rule->slots[path->place->slot].counts) {
        return read_count(transform, type, text, out, error);
    }
    if (transform->kind == FIRN_TRANSFORM_TRUNCATE) {
        return read_truncated(transform, type, text, path->known, arena, out, error);
    }
    if (strcmp(text, "null") == 0) {
        *out = firn_value_null(firn_transform_natural_result(transform, type)->kind);
        return FIRN_OK;
    }
    if (transform->kind == FIRN_TRANSFORM_BUCKET) return read_bucket(transform, text, out, error);
    return read_time(field, unit, text, path->keys, path->count, arena, out, error);
}

/* The text as a value of the source column, as Hive has it in paths. */
static firn_status read_source(const firn_layout_binding_field *field,
                               const firn_transform *transform, const path_text *path,
                               firn_arena *arena, firn_value *out, firn_error *error) {
    firn_value value;
    FIRN_TRY(firn_layout_parse_value(field->source->type, path->text, NULL, arena, &value, error));
    return firn_transform_apply(transform, field->source->type, &value, out, error);
}

static firn_status read_text(const firn_layout_binding_field *field,
                             const firn_transform *transform, const path_text *path,
                             firn_arena *arena, firn_value *out, firn_error *error) {
    firn_status status = read_result(field, transform, path, arena, out, error);
    bool may_be_source =
        field->source_place != SIZE_MAX && path->place == &field->places[field->source_place];
    if (!may_be_source || status == FIRN_NO_MEMORY) return status;
    if (status == FIRN_OK && (path->known == NULL || firn_value_equal(out, path->known))) {
        return FIRN_OK;
    }
    firn_value other;
    firn_error inner;
    firn_error_clear(&inner);
    firn_status second = read_source(field, transform, path, arena, &other, &inner);
    if (second == FIRN_NO_MEMORY) return firn_fail_memory(error);
    if (second != FIRN_OK) return status;
    if (status != FIRN_OK || (path->known != NULL && firn_value_equal(&other, path->known))) {
        *out = other;
    }
    return FIRN_OK;
}

firn_status firn_layout_read(const firn_layout_binding_field *field,
                             const firn_partition_field *spec_field, const firn_lake_path_key *keys,
                             size_t count, const firn_value *known, firn_arena *arena,
                             firn_layout_reading *out, firn_error *error) {
    *out = (firn_layout_reading){0};
    for (size_t i = 0; i < field->place_count && !out->present; i++) {
        const firn_layout_place *place = &field->places[i];
        firn_layout_text text;
        FIRN_TRY(firn_layout_text_at(place, keys, count, arena, &text, error));
        if (!text.present) continue;
        const firn_lake_path_key *key = firn_layout_find_key(keys, count, place->key);
        *out = (firn_layout_reading){.present = true, .key = key->key, .text = key->value};
        const firn_type *type = field->source->type;
        out->value =
            firn_value_null(firn_transform_natural_result(&spec_field->transform, type)->kind);
        if (text.is_null) return FIRN_OK;
        path_text path = {keys, count, place, text.text, known};
        firn_status status =
            read_text(field, &spec_field->transform, &path, arena, &out->value, error);
        return firn_error_wrap(error, status, "the path's %s=%s", key->key, key->value);
    }
    return FIRN_OK;
}
