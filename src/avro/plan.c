/* Resolving what a caller wants against what a writer wrote. */
#include "avro/plan.h"

#include <inttypes.h>

#include "avro/plan_node.h"

typedef struct compiler {
    const char *what;
    firn_arena *arena;
    firn_avro_plan *plan;
    firn_error *error;
} compiler;

static firn_status compile(compiler *c, const firn_avro_schema *writer,
                           const firn_avro_target *target, const firn_avro_node **out);

static const char *label(const firn_avro_target *target) {
    return target->name != NULL ? target->name : "item";
}

static firn_status wrong_type(const compiler *c, const firn_avro_schema *writer,
                              const firn_avro_target *target) {
    return firn_fail(c->error, FIRN_CORRUPT,
                     "%s: Avro schema: field %s (id %" PRId32 ") has type %s, which does not fit",
                     c->what, label(target), target->id, firn_avro_kind_name(writer->kind));
}

/**
 * Whether a value of this kind can be put where the target wants it; what lies within is checked
 * later.
 */
static bool fits(firn_avro_kind kind, firn_avro_into into) {
    switch (into) {
    case FIRN_AVRO_INTO_BOOL: return kind == FIRN_AVRO_BOOLEAN;
    case FIRN_AVRO_INTO_INT32:
    case FIRN_AVRO_INTO_INT64:
        return kind == FIRN_AVRO_INT || kind == FIRN_AVRO_LONG || kind == FIRN_AVRO_ENUM;
    case FIRN_AVRO_INTO_FLOAT: return kind == FIRN_AVRO_FLOAT;
    case FIRN_AVRO_INTO_DOUBLE: return kind == FIRN_AVRO_FLOAT || kind == FIRN_AVRO_DOUBLE;
    case FIRN_AVRO_INTO_BYTES:
        return kind == FIRN_AVRO_BYTES || kind == FIRN_AVRO_STRING || kind == FIRN_AVRO_FIXED;
    case FIRN_AVRO_INTO_TEXT: return kind == FIRN_AVRO_STRING || kind == FIRN_AVRO_BYTES;
    case FIRN_AVRO_INTO_RECORD: return kind == FIRN_AVRO_RECORD;
    case FIRN_AVRO_INTO_LIST: return kind == FIRN_AVRO_ARRAY;
    case FIRN_AVRO_INTO_PAIRS: return kind == FIRN_AVRO_ARRAY || kind == FIRN_AVRO_MAP;
    case FIRN_AVRO_INTO_VALUE: return true;
    }
    return false;
}

static bool has_name(const firn_avro_target *target, const char *name) {
    if (name == NULL) return false;
    if (target->name != NULL && strcmp(target->name, name) == 0) return true;
    if (target->other_names == NULL) return false;
    for (const char *const *other = target->other_names; *other != NULL; other++) {
        if (strcmp(*other, name) == 0) return true;
    }
    return false;
}

/**
 * The index of the field that a target means, or record->count. A field that has an id is never
 * taken by its name, unless the target itself has none.
 */
static firn_status find_field(compiler *c, const firn_avro_schema *record,
                              const firn_avro_target *target, size_t *out) {
    size_t found = record->count;
    bool by_name = false;
    for (int pass = 0; pass < 2 && found == record->count; pass++) {
        by_name = pass == 1;
        if (!by_name && target->id == FIRN_AVRO_NO_ID) continue;
        for (size_t i = 0; i < record->count; i++) {
            const firn_avro_field *field = &record->fields[i];
            bool open = field->id == FIRN_AVRO_NO_ID || target->id == FIRN_AVRO_NO_ID;
            bool match = by_name ? open && (has_name(target, field->iceberg_name) ||
                                            has_name(target, field->name))
                                 : field->id == target->id;
            if (!match) continue;
            if (found != record->count) {
                return firn_fail(c->error, FIRN_CORRUPT,
                                 "%s: Avro schema: field %s (id %" PRId32 ") occurs twice", c->what,
                                 label(target), target->id);
            }
            found = i;
        }
    }
    if (found < record->count && by_name && target->id != FIRN_AVRO_NO_ID) {
        c->plan->named_count++;
        c->plan->named_example = target->name;
    }
    *out = found;
    return FIRN_OK;
}

static firn_status compile_steps(compiler *c, const firn_avro_schema *record,
                                 const firn_avro_target *targets, size_t target_count, bool pairs,
                                 firn_avro_node *node) {
    firn_avro_step *steps = firn_arena_alloc(c->arena, record->count, sizeof *steps);
    if (steps == NULL) return firn_fail_memory(c->error);
    for (size_t i = 0; i < record->count; i++) steps[i].skip = record->fields[i].schema;
    for (size_t i = 0; i < target_count; i++) {
        size_t index = record->count;
        FIRN_TRY(find_field(c, record, &targets[i], &index));
        if (index == record->count) {
            if (!targets[i].required) continue;
            return firn_fail(c->error, FIRN_CORRUPT,
                             "%s: Avro schema: field %s (id %" PRId32 ") is missing", c->what,
                             label(&targets[i]), targets[i].id);
        }
        if (steps[index].node != NULL) {
            return firn_fail(c->error, FIRN_CORRUPT,
                             "%s: Avro schema: field %s can't be told from another", c->what,
                             label(&targets[i]));
        }
        FIRN_TRY(compile(c, record->fields[index].schema, &targets[i], &steps[index].node));
        steps[index].to_values = pairs && i == 1;
    }
    node->steps = steps;
    node->step_count = record->count;
    return FIRN_OK;
}

static bool is_plain(const firn_avro_step *step, bool to_values, firn_avro_kind kind,
                     firn_avro_into into) {
    const firn_avro_node *node = step->node;
    return node != NULL && step->to_values == to_values && node->writer->kind == kind &&
           node->target->into == into && node->target->offset == 0 &&
           node->target->present == FIRN_AVRO_NO_FLAG;
}

static bool are_plain_pairs(const firn_avro_schema *items, const firn_avro_node *node) {
    if (items->kind != FIRN_AVRO_RECORD || node->step_count != 2) return false;
    const firn_avro_step *value = &node->steps[1];
    return is_plain(&node->steps[0], false, FIRN_AVRO_INT, FIRN_AVRO_INTO_INT32) &&
           (is_plain(value, true, FIRN_AVRO_LONG, FIRN_AVRO_INTO_INT64) ||
            is_plain(value, true, FIRN_AVRO_BYTES, FIRN_AVRO_INTO_BYTES));
}

static firn_status compile_pairs(compiler *c, const firn_avro_schema *writer,
                                 const firn_avro_target *target, firn_avro_node *node) {
    if (writer->kind == FIRN_AVRO_MAP) {
        if (target->children[0].into != FIRN_AVRO_INTO_BYTES) return wrong_type(c, writer, target);
        return compile(c, writer->items, &target->children[1], &node->item);
    }
    /* Some writers wrap the items of every array into a union with null. */
    const firn_avro_schema *record = firn_avro_schema_non_null(writer->items);
    if (record->kind != FIRN_AVRO_RECORD) return wrong_type(c, writer->items, target);
    node->pair_record = record;
    FIRN_TRY(compile_steps(c, record, target->children, 2, true, node));
    node->plain_pairs = are_plain_pairs(writer->items, node);
    return FIRN_OK;
}

static firn_status compile_union(compiler *c, const firn_avro_schema *writer,
                                 const firn_avro_target *target, firn_avro_node *node) {
    const firn_avro_node **branches = firn_arena_alloc(c->arena, writer->count, sizeof *branches);
    if (branches == NULL) return firn_fail_memory(c->error);
    const firn_avro_schema *misfit = NULL;
    bool any = false;
    for (size_t i = 0; i < writer->count; i++) {
        const firn_avro_schema *branch = writer->branches[i];
        if (branch->kind == FIRN_AVRO_NULL) continue;
        if (!fits(branch->kind, target->into)) {
            misfit = branch;
            continue;
        }
        any = true;
        FIRN_TRY(compile(c, branch, target, &branches[i]));
    }
    /* A union of nothing but null is a column of nulls. */
    if (!any && misfit != NULL) return wrong_type(c, misfit, target);
    node->branches = branches;
    return FIRN_OK;
}

static firn_status compile(compiler *c, const firn_avro_schema *writer,
                           const firn_avro_target *target, const firn_avro_node **out) {
    firn_avro_node *node = firn_arena_alloc(c->arena, 1, sizeof *node);
    if (node == NULL) return firn_fail_memory(c->error);
    node->writer = writer;
    node->target = target;
    *out = node;
    if (target->into == FIRN_AVRO_INTO_VALUE || writer->kind == FIRN_AVRO_NULL) return FIRN_OK;
    if (writer->kind == FIRN_AVRO_UNION) return compile_union(c, writer, target, node);
    if (!fits(writer->kind, target->into)) return wrong_type(c, writer, target);
    if (target->into == FIRN_AVRO_INTO_RECORD) {
        return compile_steps(c, writer, target->children, target->child_count, false, node);
    }
    if (target->into == FIRN_AVRO_INTO_LIST) {
        return compile(c, writer->items, &target->children[0], &node->item);
    }
    if (target->into == FIRN_AVRO_INTO_PAIRS) return compile_pairs(c, writer, target, node);
    return FIRN_OK;
}

firn_status firn_avro_plan_new(const firn_avro_schema *writer, const firn_avro_target *target,
                               const char *what, firn_arena *arena, const firn_avro_plan **out,
                               firn_error *error) {
    firn_avro_plan *plan = firn_arena_alloc(arena, 1, sizeof *plan);
    if (plan == NULL) return firn_fail_memory(error);
    compiler c = {what, arena, plan, error};
    FIRN_TRY(compile(&c, writer, target, &plan->root));
    *out = plan;
    return FIRN_OK;
}

size_t firn_avro_plan_named_count(const firn_avro_plan *plan, const char **example) {
    if (example != NULL) *example = plan->named_example;
    return plan->named_count;
}
