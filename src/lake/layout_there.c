/* Rules, held against the spec of a table that is there: what they ask for is there already, or is refused. */
#include <string.h>

#include "lake/layout_internal.h"

typedef struct spec_check {
    firn_lake_layout *layout;
    const firn_schema *schema;
    const firn_partition_spec *spec;
    firn_error *error;
} spec_check;

/* As a rule has it: COLUMN, or TRANSFORM(COLUMN). In the layout's arena. */
static const char *field_text(const spec_check *check, const char *column,
                              const firn_transform *transform) {
    firn_arena *arena = check->layout->arena;
    bool identity = transform->kind == FIRN_TRANSFORM_IDENTITY;
    return identity ? firn_arena_strdup(arena, column)
                    : firn_arena_format(arena, "%s(%s)", transform->text, column);
}

/* "year(date), month(date)" */
static firn_status describe_spec(const spec_check *check, const char **out) {
    firn_arena *arena = check->layout->arena;
    *out = "";
    for (size_t i = 0; i < check->spec->field_count; i++) {
        const firn_partition_field *field = &check->spec->fields[i];
        bool gone = field->transform.kind == FIRN_TRANSFORM_VOID ||
                    firn_schema_find(check->schema, field->source_id) == NULL;
        if (gone) continue;
        const char *column = firn_schema_full_name(check->schema, field->source_id, arena);
        const char *text = column == NULL ? NULL : field_text(check, column, &field->transform);
        const char *separator = **out == '\0' ? "" : ", ";
        *out = text == NULL ? NULL : firn_arena_format(arena, "%s%s%.100s", *out, separator, text);
        if (*out == NULL) return firn_fail_memory(check->error);
    }
    if (**out == '\0') *out = "none";
    return FIRN_OK;
}

static firn_status no_such_field(const spec_check *check, const firn_layout_rule *rule,
                                 const firn_layout_field *field) {
    const char *fields = NULL;
    const char *text = field_text(check, field->column, &field->transform);
    if (text == NULL) return firn_fail_memory(check->error);
    FIRN_TRY(describe_spec(check, &fields));
    return firn_fail(check->error, FIRN_INVALID,
                     "rule \"%s\": the table is not partitioned by %s; its fields are: %s. A rule "
                     "makes the fields of a new table; of one that is there it says where their "
                     "values stand in paths. Leave this --partition out, or change the table's "
                     "spec by another program first",
                     rule->text, text, fields);
}

static firn_status check_name(const spec_check *check, const firn_layout_rule *rule,
                              const firn_layout_field *field, const char *present) {
    if (field->name == NULL || strcmp(field->name, present) == 0) return FIRN_OK;
    return firn_fail(check->error, FIRN_INVALID,
                     "rule \"%s\": the table calls this partition field \"%s\", not \"%s\": leave "
                     "\"as %s\" out",
                     rule->text, present, field->name, field->name);
}

/* A column may have been promoted since the table was made. */
static firn_status check_type(const spec_check *check, const firn_layout_rule *rule,
                              const firn_layout_field *field, const firn_type *present) {
    const firn_type *type = NULL;
    if (field->type == NULL) return FIRN_OK;
    FIRN_TRY(firn_layout_field_type(check->layout, rule, field, &type, check->error));
    if (firn_type_can_promote(type, present, 3)) return FIRN_OK;
    return firn_fail(check->error, FIRN_INVALID,
                     "rule \"%s\": column \"%s\" of the table is of type %s: leave the type out",
                     rule->text, field->column, present->text == NULL ? "struct" : present->text);
}

/* A day "31" takes its month and year from the keys beside it, which may have rules of their own. */
static bool completes_finer(const spec_check *check, const firn_field *source,
                            const firn_layout_field *field) {
    firn_time_unit unit = firn_time_unit_of(field->transform.kind);
    for (size_t i = 0; i < check->spec->field_count && unit != FIRN_UNIT_COUNT; i++) {
        const firn_partition_field *other = &check->spec->fields[i];
        firn_time_unit finer = firn_time_unit_of(other->transform.kind);
        if (other->source_id == source->id && finer != FIRN_UNIT_COUNT && finer > unit) return true;
    }
    return false;
}

static firn_status check_field(const spec_check *check, const firn_layout_rule *rule,
                               const firn_layout_field *field) {
    const firn_field *source = firn_layout_column_named(check->schema, field->column);
    const firn_partition_field *found = NULL;
    if (source == NULL) {
        return firn_layout_no_such_column(check->layout, check->schema, rule->text, field->column,
                                          check->error);
    }
    for (size_t i = 0; i < check->spec->field_count; i++) {
        const firn_partition_field *other = &check->spec->fields[i];
        bool fits = other->source_id == source->id &&
                    firn_layout_same_transform(&other->transform, &field->transform);
        if (fits) found = other;
    }
    if (found == NULL && completes_finer(check, source, field)) return FIRN_OK;
    if (found == NULL) return no_such_field(check, rule, field);
    FIRN_TRY(check_name(check, rule, field, found->name));
    return check_type(check, rule, field, source->type);
}

firn_status firn_lake_layout_check_spec(firn_lake_layout *layout, const firn_schema *schema,
                                        const firn_partition_spec *spec, firn_error *error) {
    const spec_check check = {layout, schema, spec, error};
    for (size_t i = 0; i < layout->rule_count; i++) {
        const firn_layout_rule *rule = &layout->rules[i];
        for (size_t j = 0; j < rule->field_count; j++) {
            FIRN_TRY(check_field(&check, rule, &rule->fields[j]));
        }
    }
    return FIRN_OK;
}
