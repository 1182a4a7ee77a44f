/* From a filter as written to one on the columns of a schema: names to ids, literals to values, NOT pushed down to the predicates. */
#include <stdlib.h>

#include "base/nearest.h"
#include "base/vector.h"
#include "iceberg/expression_literal.h"

typedef struct binder {
    const firn_schema *schema;
    firn_arena *arena;
    firn_error *error;
} binder;

/* --- columns ----------------------------------------------------------------------------------- */

typedef FIRN_VECTOR(const char *) name_vector;

/* Names of all columns that a filter can name. */
static firn_status collect_names(binder *bind, const firn_type *type, const char *prefix,
                                 name_vector *out) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        const char *name = firn_arena_format(bind->arena, "%s%s%s", prefix,
                                             *prefix == '\0' ? "" : ".", field->name);
        if (name == NULL) return firn_fail_memory(bind->error);
        if (field->type->kind == FIRN_TYPE_STRUCT) {
            FIRN_TRY(collect_names(bind, field->type, name, out));
        } else if (!firn_type_is_nested(field->type->kind)) {
            FIRN_TRY(firn_vector_push(out, bind->error, name));
        }
    }
    return FIRN_OK;
}

#define SHOWN_COLUMNS 8

static firn_status name_some(binder *bind, const name_vector *names, firn_status status) {
    const char *text = "";
    for (size_t i = 0; i < names->count && i < SHOWN_COLUMNS; i++) {
        text =
            firn_arena_format(bind->arena, "%s%s%.80s", text, i == 0 ? "" : ", ", names->items[i]);
        if (text == NULL) return firn_fail_memory(bind->error);
    }
    if (names->count == 0) return status;
    return firn_error_hint(bind->error, status, "there %s: %s%s", names->count == 1 ? "is" : "are",
                           text, names->count > SHOWN_COLUMNS ? " …" : "");
}

static firn_status unknown_column(binder *bind, const firn_parsed_filter *parsed) {
    name_vector names = {0};
    firn_status status = collect_names(bind, &bind->schema->root, "", &names);
    if (status == FIRN_OK) {
        const char *nearest = firn_nearest(parsed->column, names.items, names.count);
        status = firn_fail(bind->error, FIRN_INVALID, FIRN_FILTER_AT "there is no column %s",
                           parsed->position, parsed->column);
        status = nearest != NULL
                     ? firn_error_hint(bind->error, status, "the nearest one is %s", nearest)
                     : name_some(bind, &names, status);
    }
    firn_vector_release(&names);
    return status;
}

/* Whether the id lies in structs only: a row then has one value of it at most. */
static bool is_single(const firn_type *type, int32_t field_id, bool *nested) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        if (field->id == field_id) return true;
        if (field->type->kind == FIRN_TYPE_STRUCT && is_single(field->type, field_id, nested)) {
            *nested = true;
            return true;
        }
    }
    return false;
}

static firn_status find_column(binder *bind, const firn_parsed_filter *parsed,
                               firn_expression *out) {
    const firn_field *field = firn_schema_find_name(bind->schema, parsed->column);
    if (field == NULL) return unknown_column(bind, parsed);
    if (!is_single(&bind->schema->root, field->id, &out->nested)) {
        return firn_fail(bind->error, FIRN_INVALID,
                         FIRN_FILTER_AT "column %s lies in a list or map: a row may have several",
                         parsed->position, parsed->column);
    }
    if (firn_type_is_nested(field->type->kind)) {
        return firn_fail(bind->error, FIRN_INVALID,
                         FIRN_FILTER_AT "column %s is a struct, list or map; %s", parsed->position,
                         parsed->column,
                         field->type->kind == FIRN_TYPE_STRUCT ? "name one of its fields"
                                                               : "filters can't look into it");
    }
    out->field_id = field->id;
    out->type = field->type;
    return FIRN_OK;
}

/* --- predicates -------------------------------------------------------------------------------- */

/* Of three-valued logic: a null stays unknown on both sides. */
static firn_operator negation(firn_operator op) {
    switch (op) {
    case FIRN_OPERATOR_TRUE: return FIRN_OPERATOR_FALSE;
    case FIRN_OPERATOR_FALSE: return FIRN_OPERATOR_TRUE;
    case FIRN_OPERATOR_AND: return FIRN_OPERATOR_OR;
    case FIRN_OPERATOR_OR: return FIRN_OPERATOR_AND;
    case FIRN_OPERATOR_IS_NULL: return FIRN_OPERATOR_NOT_NULL;
    case FIRN_OPERATOR_NOT_NULL: return FIRN_OPERATOR_IS_NULL;
    case FIRN_OPERATOR_IS_NAN: return FIRN_OPERATOR_NOT_NAN;
    case FIRN_OPERATOR_NOT_NAN: return FIRN_OPERATOR_IS_NAN;
    case FIRN_OPERATOR_EQUAL: return FIRN_OPERATOR_NOT_EQUAL;
    case FIRN_OPERATOR_NOT_EQUAL: return FIRN_OPERATOR_EQUAL;
    case FIRN_OPERATOR_LESS: return FIRN_OPERATOR_GREATER_EQUAL;
    case FIRN_OPERATOR_LESS_EQUAL: return FIRN_OPERATOR_GREATER;
    case FIRN_OPERATOR_GREATER: return FIRN_OPERATOR_LESS_EQUAL;
    case FIRN_OPERATOR_GREATER_EQUAL: return FIRN_OPERATOR_LESS;
    case FIRN_OPERATOR_IN: return FIRN_OPERATOR_NOT_IN;
    case FIRN_OPERATOR_NOT_IN: return FIRN_OPERATOR_IN;
    case FIRN_OPERATOR_STARTS_WITH: return FIRN_OPERATOR_NOT_STARTS_WITH;
    case FIRN_OPERATOR_NOT_STARTS_WITH: return FIRN_OPERATOR_STARTS_WITH;
    case FIRN_OPERATOR_NOT: break;
    }
    return op;
}

static bool keeps_what_differs(firn_operator op) {
    return op == FIRN_OPERATOR_NOT_EQUAL || op == FIRN_OPERATOR_NOT_IN ||
           op == FIRN_OPERATOR_NOT_STARTS_WITH;
}

/* Becomes a predicate without literals; NOT_NULL: every value passes. */
static void without_literals(firn_expression *out, firn_operator op) {
    out->predicate = (firn_predicate){.op = op};
}

/*
 * Of a discrete type: < and > become <= and >=, since the neighbour is known. Where the literal lies between two values, `value` is the
 * lower of them.
 */
static void bind_discrete_range(const firn_converted_literal *literal, firn_operator op,
                                firn_expression *out, firn_value *value) {
    bool less = op == FIRN_OPERATOR_LESS || op == FIRN_OPERATOR_LESS_EQUAL;
    if (literal->beyond != 0) {
        bool all = less == (literal->beyond > 0);
        without_literals(out, all ? FIRN_OPERATOR_NOT_NULL : FIRN_OPERATOR_FALSE);
        return;
    }
    bool exclusive = op == FIRN_OPERATOR_LESS || op == FIRN_OPERATOR_GREATER;
    int step =
        less ? (literal->exact && exclusive ? -1 : 0) : (!literal->exact || exclusive ? 1 : 0);
    *value = literal->value;
    if (step != 0 && !firn_value_step(&literal->value, step, value)) {
        without_literals(out, FIRN_OPERATOR_FALSE);
        return;
    }
    out->predicate.op = less ? FIRN_OPERATOR_LESS_EQUAL : FIRN_OPERATOR_GREATER_EQUAL;
}

static bool is_range(firn_operator op) {
    return op == FIRN_OPERATOR_LESS || op == FIRN_OPERATOR_LESS_EQUAL ||
           op == FIRN_OPERATOR_GREATER || op == FIRN_OPERATOR_GREATER_EQUAL;
}

static firn_status check_predicate(binder *bind, const firn_parsed_filter *parsed,
                                   const firn_expression *column) {
    firn_type_kind kind = column->type->kind;
    bool asks_nan = parsed->op == FIRN_OPERATOR_IS_NAN || parsed->op == FIRN_OPERATOR_NOT_NAN;
    if (asks_nan && kind != FIRN_TYPE_FLOAT && kind != FIRN_TYPE_DOUBLE) {
        return firn_fail(bind->error, FIRN_INVALID,
                         FIRN_FILTER_AT "IS NAN takes a float or double, and column %s is of type "
                                        "%s",
                         parsed->position, parsed->column, column->type->text);
    }
    if (parsed->op == FIRN_OPERATOR_STARTS_WITH && kind != FIRN_TYPE_STRING) {
        return firn_fail(bind->error, FIRN_INVALID,
                         FIRN_FILTER_AT "LIKE takes a string, and column %s is of type %s",
                         parsed->position, parsed->column, column->type->text);
    }
    return FIRN_OK;
}

/* `op` is the parsed one, or its negation. */
static firn_status bind_predicate(binder *bind, const firn_parsed_filter *parsed, firn_operator op,
                                  firn_expression *out) {
    FIRN_TRY(find_column(bind, parsed, out));
    FIRN_TRY(check_predicate(bind, parsed, out));
    out->predicate.op = op;
    if (parsed->literal_count == 0) return FIRN_OK;
    firn_value *values = firn_arena_alloc(bind->arena, parsed->literal_count, sizeof *values);
    if (values == NULL) return firn_fail_memory(bind->error);
    size_t count = 0;
    bool discrete_range = is_range(op) && firn_type_is_discrete(out->type->kind);
    for (size_t i = 0; i < parsed->literal_count; i++) {
        firn_converted_literal literal;
        FIRN_TRY(firn_literal_convert(&parsed->literals[i], parsed->column, out->type, bind->arena,
                                      &literal, bind->error));
        if (discrete_range) {
            bind_discrete_range(&literal, op, out, &values[count++]);
        } else if (literal.exact && literal.beyond == 0) {
            values[count++] = literal.value;
        }
        /* Any other literal equals no value of the type. */
    }
    count = firn_filter_sort_values(values, count);
    if (count == 0) {
        without_literals(out,
                         keeps_what_differs(op) ? FIRN_OPERATOR_NOT_NULL : FIRN_OPERATOR_FALSE);
    } else if (out->predicate.op != FIRN_OPERATOR_FALSE &&
               out->predicate.op != FIRN_OPERATOR_NOT_NULL) {
        out->predicate.literals = values;
        out->predicate.literal_count = count;
    }
    return FIRN_OK;
}

/* Recursion is bounded by the parser's depth. */
static firn_status bind_node(binder *bind, const firn_parsed_filter *parsed, bool negated,
                             firn_expression *out) {
    if (parsed->op == FIRN_OPERATOR_NOT) {
        return bind_node(bind, &parsed->children[0], !negated, out);
    }
    firn_operator op = negated ? negation(parsed->op) : parsed->op;
    out->predicate.op = op;
    if (op == FIRN_OPERATOR_TRUE || op == FIRN_OPERATOR_FALSE) return FIRN_OK;
    if (!firn_operator_is_junction(op)) return bind_predicate(bind, parsed, op, out);
    firn_expression *children =
        firn_arena_alloc(bind->arena, parsed->child_count, sizeof *children);
    if (children == NULL) return firn_fail_memory(bind->error);
    for (size_t i = 0; i < parsed->child_count; i++) {
        FIRN_TRY(bind_node(bind, &parsed->children[i], negated, &children[i]));
    }
    out->children = children;
    out->child_count = parsed->child_count;
    return FIRN_OK;
}

firn_status firn_expression_parse(const char *text, const firn_schema *schema, firn_arena *arena,
                                  const firn_expression **out, firn_error *error) {
    const firn_parsed_filter *parsed = NULL;
    FIRN_TRY(firn_filter_parse_text(text, arena, &parsed, error));
    binder bind = {schema, arena, error};
    firn_expression *expression = firn_arena_alloc(arena, 1, sizeof *expression);
    if (expression == NULL) return firn_fail_memory(error);
    FIRN_TRY(bind_node(&bind, parsed, false, expression));
    *out = expression;
    return FIRN_OK;
}

/* --- which columns ----------------------------------------------------------------------------- */

typedef FIRN_VECTOR(int32_t) id_vector;

static bool looks_at_column(firn_operator op) {
    return !firn_operator_is_junction(op) && op != FIRN_OPERATOR_TRUE && op != FIRN_OPERATOR_FALSE;
}

static firn_status collect_ids(const firn_expression *expression, id_vector *ids,
                               firn_error *error) {
    if (looks_at_column(expression->predicate.op)) {
        return firn_vector_push(ids, error, expression->field_id);
    }
    for (size_t i = 0; i < expression->child_count; i++) {
        FIRN_TRY(collect_ids(&expression->children[i], ids, error));
    }
    return FIRN_OK;
}

static int order_ids(const void *left, const void *right) {
    int32_t a = *(const int32_t *)left;
    int32_t b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

firn_status firn_expression_columns(const firn_expression *expression, firn_arena *arena,
                                    const int32_t **ids, size_t *count, firn_error *error) {
    firn_status status = FIRN_OK;
    id_vector found = {0};
    *ids = NULL;
    *count = 0;
    FIRN_CHECK(collect_ids(expression, &found, error));
    if (found.count == 0) goto out;
    qsort(found.items, found.count, sizeof *found.items, order_ids);
    size_t kept = 1;
    for (size_t i = 1; i < found.count; i++) {
        if (found.items[i] != found.items[kept - 1]) found.items[kept++] = found.items[i];
    }
    *ids = firn_arena_memdup(arena, found.items, kept * sizeof *found.items);
    if (*ids == NULL) status = firn_fail_memory(error);
    *count = kept;
out:
    firn_vector_release(&found);
    return status;
}
