#include "lake/layout.h"

#include <string.h>

#include "lake/layout_internal.h"

static firn_status parse_rules(firn_lake_layout *layout, const char *const *rules, size_t count,
                               firn_error *error) {
    firn_layout_rule *parsed = firn_arena_alloc(layout->arena, count + 1, sizeof *parsed);
    if (parsed == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_layout_rule_parse(rules[i], layout->arena, &parsed[i], error));
        for (size_t j = 0; j < i; j++) {
            if (strcmp(parsed[i].key, parsed[j].key) != 0) continue;
            return firn_fail(error, FIRN_INVALID, "the rules \"%s\" and \"%s\" are for one key",
                             parsed[j].text, parsed[i].text);
        }
    }
    layout->rules = parsed;
    layout->rule_count = count;
    return FIRN_OK;
}

firn_status firn_lake_layout_new(const char *const *rules, size_t rule_count,
                                 firn_lake_layout **out, firn_error *error) {
    *out = NULL;
    firn_lake_layout *layout = firn_alloc_zeroed(1, sizeof *layout);
    if (layout == NULL) return firn_fail_memory(error);
    layout->arena = firn_arena_new();
    firn_status status = layout->arena == NULL ? firn_fail_memory(error)
                                               : parse_rules(layout, rules, rule_count, error);
    if (status != FIRN_OK) {
        firn_lake_layout_free(layout);
        return status;
    }
    *out = layout;
    return FIRN_OK;
}

void firn_lake_layout_free(firn_lake_layout *layout) {
    if (layout == NULL) return;
    firn_vector_release(&layout->candidates);
    firn_vector_release(&layout->path_columns);
    firn_arena_free(layout->arena);
    firn_free(layout);
}

/* Columns that only paths have. */

static bool has_column(const firn_schema *schema, const char *name) {
    return firn_layout_column_of_key(schema, name) != NULL;
}

static firn_status add_path_column(firn_lake_layout *layout, const char *name,
                                   const firn_type *type, firn_error *error) {
    for (size_t i = 0; i < layout->path_columns.count; i++) {
        if (strcmp(layout->path_columns.items[i].name, name) == 0) return FIRN_OK;
    }
    firn_lake_path_column column = {name, type};
    return firn_vector_push(&layout->path_columns, error, column);
}

firn_status firn_layout_field_type(const firn_lake_layout *layout, const firn_layout_rule *rule,
                                   const firn_layout_field *field, const firn_type **out,
                                   firn_error *error) {
    const char *text = field->type == NULL ? "string" : field->type;
    json_t *json = json_string(text);
    /* Jansson tells no lack of memory from a text that is not UTF-8. */
    for (const char *c = text; *c != '\0'; c++) {
        if (*c > 0) continue;
        json_decref(json);
        return firn_fail(error, FIRN_INVALID, "rule \"%s\": \"%s\" is no type", rule->text, text);
    }
    if (json == NULL) return firn_fail_memory(error);
    firn_status status = firn_type_parse(json, "type", layout->arena, out, error);
    json_decref(json);
    if (status == FIRN_OK || status == FIRN_NO_MEMORY) return status;
    return firn_fail(error, FIRN_INVALID, "rule \"%s\": \"%s\" is no type", rule->text, text);
}

static firn_status add_rule_columns(firn_lake_layout *layout, const firn_layout_rule *rule,
                                    const firn_schema *schema, firn_error *error) {
    for (size_t i = 0; i < rule->field_count; i++) {
        const firn_layout_field *field = &rule->fields[i];
        const firn_type *type = NULL;
        if (field->transform.kind != FIRN_TRANSFORM_IDENTITY ||
            firn_layout_column_named(schema, field->column) != NULL) {
            continue;
        }
        firn_status status = firn_layout_field_type(layout, rule, field, &type, error);
        layout->rules_at_fault = status == FIRN_INVALID;
        FIRN_TRY(status);
        FIRN_TRY(add_path_column(layout, field->column, type, error));
    }
    return FIRN_OK;
}

firn_status firn_lake_layout_path_columns(firn_lake_layout *layout, const firn_schema *schema,
                                          const firn_lake_path_column **out, size_t *count,
                                          firn_error *error) {
    static const firn_type string = {.kind = FIRN_TYPE_STRING, .text = "string"};
    layout->path_columns.count = 0;
    for (size_t i = 0; i < layout->key_count; i++) {
        const char *key = layout->keys[i].key;
        const firn_layout_rule *rule = firn_layout_rule_of(layout, key);
        if (rule != NULL) {
            FIRN_TRY(add_rule_columns(layout, rule, schema, error));
        } else if (firn_time_unit_named(key) == FIRN_UNIT_COUNT && !has_column(schema, key)) {
            FIRN_TRY(add_path_column(layout, key, &string, error));
        }
    }
    *out = layout->path_columns.items;
    *count = layout->path_columns.count;
    return FIRN_OK;
}
