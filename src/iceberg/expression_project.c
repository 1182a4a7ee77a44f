/*
 * Inclusive projections (specification, "Scan Planning"): if a predicate matches a row, the test made from it here passes the partition value of
 * that row, as any writer may have computed it. Where no such test is known there is none, and every partition value passes.
 */
#include "iceberg/expression_project.h"

#include "base/vector.h"
#include "iceberg/calendar.h"

typedef FIRN_VECTOR(firn_partition_test) test_vector;

typedef struct projection {
    const firn_expression *expression;
    const firn_partition_field *field;
    firn_arena *arena;
    firn_partition_test *out;
    firn_error *error;
} projection;

/* Literals in the partition's type; *done false where one of them has no such value. */
static firn_status project_literals(const projection *project, bool *done) {
    const firn_predicate *from = &project->expression->predicate;
    firn_value *values = firn_arena_alloc(project->arena, 2 * from->literal_count, sizeof *values);
    if (values == NULL) return firn_fail_memory(project->error);
    for (size_t i = 0; i < from->literal_count; i++) {
        firn_error ignored;
        *done = firn_transform_apply(&project->field->transform, project->field->source_type,
                                     &from->literals[i], &values[i], &ignored) == FIRN_OK;
        if (!*done) return FIRN_OK;
    }
    project->out->predicate.literals = values;
    project->out->predicate.literal_count = from->literal_count;
    return FIRN_OK;
}

static firn_value *literals_of(const projection *project) {
    /* Made by project_literals, and nobody else's yet. */
    return (firn_value *)project->out->predicate.literals;
}

static void sort_literals(const projection *project) {
    firn_predicate *predicate = &project->out->predicate;
    predicate->literal_count =
        firn_filter_sort_values(literals_of(project), predicate->literal_count);
    if (predicate->literal_count > 1) predicate->op = FIRN_OPERATOR_IN;
}

/* --- bucket ------------------------------------------------------------------------------------ */

static firn_status project_bucket(const projection *project, bool *done) {
    firn_operator op = project->expression->predicate.op;
    *done = op == FIRN_OPERATOR_EQUAL || op == FIRN_OPERATOR_IN;
    if (!*done) return FIRN_OK;
    FIRN_TRY(project_literals(project, done));
    if (*done) sort_literals(project);
    return FIRN_OK;
}

/* --- truncate ---------------------------------------------------------------------------------- */

/* The highest partition values may be those of the lowest ints, whose truncation wrapped around. */
static void accept_wrapped_truncation(const projection *project) {
    int32_t width = project->field->transform.parameter;
    firn_value up = {.kind = project->field->source_type->kind};
    if (width < 2) return;
    if (up.kind == FIRN_TYPE_INT) {
        up.as.int32 = INT32_MAX - width + 2;
    } else if (up.kind == FIRN_TYPE_LONG) {
        up.as.int64 = INT64_MAX - width + 2;
    } else {
        return;
    }
    project->out->has_wrapped_up = true;
    project->out->wrapped_up = up;
}

/* Whether a text, of a predicate on texts, is no longer than the width. */
static bool is_whole(const projection *project) {
    return firn_value_equal(&project->expression->predicate.literals[0], &literals_of(project)[0]);
}

static firn_status project_truncate(const projection *project, bool *done) {
    const firn_predicate *from = &project->expression->predicate;
    firn_predicate *to = &project->out->predicate;
    *done = from->op != FIRN_OPERATOR_NOT_EQUAL && from->op != FIRN_OPERATOR_NOT_IN;
    if (!*done) return FIRN_OK;
    /* A literal that can't be cut is below what writers let wrap around: nothing is known of those. */
    FIRN_TRY(project_literals(project, done));
    if (!*done) return FIRN_OK;
    switch (from->op) {
    /* What is below the literal may be cut to just what the literal is cut to. */
    case FIRN_OPERATOR_LESS: to->op = FIRN_OPERATOR_LESS_EQUAL; break;
    case FIRN_OPERATOR_GREATER: to->op = FIRN_OPERATOR_GREATER_EQUAL; break;
    case FIRN_OPERATOR_LESS_EQUAL: accept_wrapped_truncation(project); break;
    case FIRN_OPERATOR_IN: sort_literals(project); break;
    /* A prefix longer than the width is cut like what begins with it. */
    case FIRN_OPERATOR_STARTS_WITH:
        if (!is_whole(project)) to->op = FIRN_OPERATOR_EQUAL;
        break;
    case FIRN_OPERATOR_NOT_STARTS_WITH: *done = is_whole(project); break;
    default: break;
    }
    return FIRN_OK;
}

/* --- year, month, day, hour -------------------------------------------------------------------- */

#define MICROSECONDS_PER_HOUR (INT64_C(3600) * FIRN_MICROSECONDS_PER_SECOND)

/* Hours of timestamps some 200,000 years away don't fit an int; writers let them wrap around. */
static void accept_wrapped_hours(const projection *project, bool up) {
    firn_type_kind source = project->field->source_type->kind;
    bool microseconds = source == FIRN_TYPE_TIMESTAMP || source == FIRN_TYPE_TIMESTAMPTZ;
    if (project->field->transform.kind != FIRN_TRANSFORM_HOUR || !microseconds) return;
    const int64_t range = INT64_C(1) << 32;
    firn_value value = {.kind = FIRN_TYPE_INT};
    if (up) {
        value.as.int32 = (int32_t)(range + firn_floor_divide(INT64_MIN, MICROSECONDS_PER_HOUR));
        project->out->has_wrapped_up = true;
        project->out->wrapped_up = value;
    } else {
        value.as.int32 = (int32_t)(INT64_MAX / MICROSECONDS_PER_HOUR - range);
        project->out->has_wrapped_down = true;
        project->out->wrapped_down = value;
    }
}

/* Before 1970 old writers rounded towards zero, and so to the next higher value. */
static bool may_be_rounded_up(const projection *project, const firn_value *value) {
    bool itself = project->field->transform.kind == FIRN_TRANSFORM_DAY &&
                  project->field->source_type->kind == FIRN_TYPE_DATE;
    return !itself && value->as.int32 < 0;
}

static void accept_rounded_up(const projection *project) {
    firn_value *values = literals_of(project);
    firn_predicate *to = &project->out->predicate;
    size_t count = to->literal_count;
    for (size_t i = 0; i < count; i++) {
        if (!may_be_rounded_up(project, &values[i])) continue;
        values[to->literal_count] = values[i];
        values[to->literal_count++].as.int32++;
    }
    sort_literals(project);
}

static firn_status project_time(const projection *project, bool *done) {
    firn_operator op = project->expression->predicate.op;
    *done = op == FIRN_OPERATOR_EQUAL || op == FIRN_OPERATOR_IN || op == FIRN_OPERATOR_LESS_EQUAL ||
            op == FIRN_OPERATOR_GREATER_EQUAL;
    if (!*done) return FIRN_OK;
    FIRN_TRY(project_literals(project, done));
    if (!*done) return FIRN_OK;
    firn_value *values = literals_of(project);
    if (op == FIRN_OPERATOR_EQUAL || op == FIRN_OPERATOR_IN) {
        accept_rounded_up(project);
    } else if (op == FIRN_OPERATOR_LESS_EQUAL) {
        if (may_be_rounded_up(project, &values[0])) values[0].as.int32++;
        accept_wrapped_hours(project, true);
    } else {
        accept_wrapped_hours(project, false);
    }
    return FIRN_OK;
}

/* --- fields and trees -------------------------------------------------------------------------- */

/* Whether the tuple's values are those of the column under today's type. */
static bool says_something(const firn_expression *expression, const firn_partition_field *field) {
    return field->source_id == expression->field_id && field->source_type != NULL &&
           field->result_type != NULL && firn_type_equal(field->source_type, expression->type) &&
           field->transform.kind != FIRN_TRANSFORM_VOID &&
           field->transform.kind != FIRN_TRANSFORM_UNKNOWN;
}

static firn_status project_predicate(const projection *project, bool *done) {
    *done = true;
    const firn_predicate *from = &project->expression->predicate;
    project->out->predicate = *from;
    /* Transforms keep nulls and make none. NaN has no transform but identity. */
    if (from->op == FIRN_OPERATOR_IS_NULL || from->op == FIRN_OPERATOR_NOT_NULL) return FIRN_OK;
    switch (project->field->transform.kind) {
    case FIRN_TRANSFORM_IDENTITY: return FIRN_OK;
    case FIRN_TRANSFORM_BUCKET: return project_bucket(project, done);
    case FIRN_TRANSFORM_TRUNCATE: return project_truncate(project, done);
    case FIRN_TRANSFORM_YEAR:
    case FIRN_TRANSFORM_MONTH:
    case FIRN_TRANSFORM_DAY:
    case FIRN_TRANSFORM_HOUR: return project_time(project, done);
    case FIRN_TRANSFORM_VOID:
    case FIRN_TRANSFORM_UNKNOWN: break;
    }
    *done = false;
    return FIRN_OK;
}

static firn_status project_fields(const firn_expression *expression,
                                  const firn_partition_spec *spec, firn_arena *arena,
                                  firn_file_filter *out, firn_error *error) {
    firn_status status = FIRN_OK;
    test_vector tests = {0};
    for (size_t i = 0; i < spec->field_count; i++) {
        if (!says_something(expression, &spec->fields[i])) continue;
        firn_partition_test test = {.position = i};
        projection project = {expression, &spec->fields[i], arena, &test, error};
        bool done = false;
        FIRN_CHECK(project_predicate(&project, &done));
        if (done) FIRN_CHECK(firn_vector_push(&tests, error, test));
    }
    out->tests = firn_arena_memdup(arena, tests.items, tests.count * sizeof *tests.items);
    out->test_count = tests.count;
    if (out->tests == NULL) status = firn_fail_memory(error);
out:
    firn_vector_release(&tests);
    return status;
}

/* Recursion is bounded by the parser's depth. */
static firn_status fill(const firn_expression *expression, const firn_partition_spec *spec,
                        firn_arena *arena, firn_file_filter *out, firn_error *error) {
    *out = (firn_file_filter){.expression = expression, .spec = spec};
    firn_operator op = expression->predicate.op;
    if (op == FIRN_OPERATOR_TRUE || op == FIRN_OPERATOR_FALSE) return FIRN_OK;
    if (!firn_operator_is_junction(op)) {
        return project_fields(expression, spec, arena, out, error);
    }
    firn_file_filter *children = firn_arena_alloc(arena, expression->child_count, sizeof *children);
    if (children == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < expression->child_count; i++) {
        FIRN_TRY(fill(&expression->children[i], spec, arena, &children[i], error));
    }
    out->children = children;
    return FIRN_OK;
}

firn_status firn_file_filter_new(const firn_expression *expression, const firn_partition_spec *spec,
                                 firn_arena *arena, const firn_file_filter **out,
                                 firn_error *error) {
    firn_file_filter *filter = firn_arena_alloc(arena, 1, sizeof *filter);
    if (filter == NULL) return firn_fail_memory(error);
    FIRN_TRY(fill(expression, spec, arena, filter, error));
    *out = filter;
    return FIRN_OK;
}
