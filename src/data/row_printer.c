#include "data/row_printer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/vector.h"
#include "data/csv.h"
#include "data/row_shredded.h"
#include "data/variant_text.h"
#include "iceberg/primitive.h"

/* A row longer than this is refused rather than held. */
#define LONGEST_ROW ((size_t)2 << 30)
#define ROWS_BETWEEN_CHECKS 4096

/* What is printed where: the schema's tree beside the output's, made once. */
typedef struct print_node {
    const firn_field *field;
    firn_slice key; /* of a struct's member: ,"name": or without the comma for the first */
    const firn_parquet_node *node; /* NULL: of type unknown, always null */
    struct print_node *members;
    size_t member_count;
} print_node;

/* A column that the filter looks at. */
typedef struct filter_column {
    int32_t id;
    const print_node *node; /* its own, or NULL: of type unknown */
} filter_column;

/* What is printed of a row, with its key before it. */
typedef struct shown_node {
    const print_node *node;
    firn_slice key;
} shown_node;

struct firn_row_printer {
    const firn_row_selection *selection;
    const firn_row_file *source;
    firn_arena *arena; /* owns the print nodes */
    print_node root;
    shown_node *shown;        /* as many as the selection says */
    bool *is_shown;           /* of each leaf */
    firn_row_cursor *cursors; /* one per output leaf */
    size_t cursor_count;      /* that are initialised */
    filter_column *filter_columns;
    size_t filter_column_count;
    int64_t position; /* of the present row in the file */
    firn_buffer text, scratch;
    firn_buffer line; /* CSV */
};

static firn_status make_members(firn_row_printer *printer, const firn_type *type,
                                print_node *parent, firn_error *error);

static firn_status make_key(firn_row_printer *printer, const char *name, bool first,
                            firn_slice *out, firn_error *error) {
    static const firn_type string = {.kind = FIRN_TYPE_STRING, .text = "string"};
    firn_value value = {.kind = FIRN_TYPE_STRING, .as.bytes = firn_slice_text(name)};
    firn_buffer *text = &printer->scratch;
    firn_buffer_clear(text);
    if (!first) FIRN_TRY(firn_buffer_append_byte(text, ',', error));
    FIRN_TRY(firn_value_print(&string, &value, true, text, error));
    FIRN_TRY(firn_buffer_append_byte(text, ':', error));
    const void *copy = firn_arena_memdup(printer->arena, text->data, text->size);
    if (copy == NULL) return firn_fail_memory(error);
    *out = firn_slice_of(copy, text->size);
    return FIRN_OK;
}

/* `parent->node` is the struct's own node, or the repeated one of a list or map. */
static firn_status make_member(firn_row_printer *printer, const firn_field *field,
                               const firn_parquet_node *node, print_node *out, firn_error *error) {
    out->field = field;
    out->node = node;
    if (!firn_type_is_nested(field->type->kind)) return FIRN_OK;
    return make_members(printer, field->type, out, error);
}

static firn_status make_members(firn_row_printer *printer, const firn_type *type,
                                print_node *parent, firn_error *error) {
    parent->members =
        firn_arena_alloc(printer->arena, type->field_count + 1, sizeof *parent->members);
    if (parent->members == NULL) return firn_fail_memory(error);
    parent->member_count = type->field_count;
    const firn_parquet_node *node = parent->node;
    if (type->kind != FIRN_TYPE_STRUCT) node = node->children[0];
    size_t child = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        print_node *member = &parent->members[i];
        const firn_field *field = &type->fields[i];
        bool stored = field->type->kind != FIRN_TYPE_UNKNOWN;
        FIRN_TRY(make_key(printer, field->name, i == 0, &member->key, error));
        FIRN_TRY(make_member(printer, field, stored ? node->children[child] : NULL, member, error));
        if (stored) child++;
    }
    return FIRN_OK;
}

/* Of every leaf. Those that make up a variant are read as bytes, or as what they were shredded into. */
static firn_status init_cursors(firn_row_printer *printer, const print_node *node,
                                firn_error *error) {
    const firn_row_file *source = printer->source;
    for (size_t i = 0; i < node->member_count; i++) {
        const print_node *member = &node->members[i];
        if (member->node == NULL) continue;
        if (member->member_count > 0) {
            FIRN_TRY(init_cursors(printer, member, error));
            continue;
        }
        int32_t end = member->node->first_leaf + member->node->leaf_count;
        for (int32_t leaf = member->node->first_leaf; leaf < end; leaf++) {
            const firn_parquet_leaf *output = &source->output->leaves[leaf];
            const firn_type *type = member->field->type;
            if (type->kind == FIRN_TYPE_VARIANT) {
                firn_status status = firn_shredded_leaf_type(output, printer->arena, &type, error);
                FIRN_TRY(firn_error_wrap(error, status, "%s", source->location));
            }
            firn_row_cursor_init(&printer->cursors[leaf], source->location, type, output,
                                 source->file, &source->projection->mappings[leaf]);
            printer->cursor_count++;
        }
    }
    return FIRN_OK;
}

static const print_node *find_node(const print_node *parent, int32_t id) {
    for (size_t i = 0; i < parent->member_count; i++) {
        const print_node *member = &parent->members[i];
        if (member->field->id == id) return member;
        const print_node *below = find_node(member, id);
        if (below != NULL) return below;
    }
    return NULL;
}

static firn_status find_filter_columns(firn_row_printer *printer, firn_error *error) {
    const int32_t *ids = NULL;
    size_t count = 0;
    if (printer->selection->filter == NULL) return FIRN_OK;
    FIRN_TRY(
        firn_expression_columns(printer->selection->filter, printer->arena, &ids, &count, error));
    printer->filter_columns =
        firn_arena_alloc(printer->arena, count + 1, sizeof *printer->filter_columns);
    if (printer->filter_columns == NULL) return firn_fail_memory(error);
    printer->filter_column_count = count;
    for (size_t i = 0; i < count; i++) {
        const print_node *node = find_node(&printer->root, ids[i]);
        if (node == NULL) {
            return firn_fail(error, FIRN_INVALID, "the filter's column with id %d is not read",
                             ids[i]);
        }
        printer->filter_columns[i] = (filter_column){ids[i], node->node == NULL ? NULL : node};
    }
    return FIRN_OK;
}

static firn_status make_shown(firn_row_printer *printer, firn_error *error) {
    const firn_row_selection *selection = printer->selection;
    printer->shown =
        firn_arena_alloc(printer->arena, selection->shown_count, sizeof *printer->shown);
    printer->is_shown = firn_arena_alloc(printer->arena, printer->source->projection->leaf_count,
                                         sizeof *printer->is_shown);
    if (printer->shown == NULL || printer->is_shown == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < selection->shown_count; i++) {
        shown_node *shown = &printer->shown[i];
        *shown = (shown_node){&printer->root.members[i], printer->root.members[i].key};
        if (selection->shown != NULL) {
            shown->node = find_node(&printer->root, selection->shown[i].id);
            FIRN_TRY(make_key(printer, selection->shown[i].name, i == 0, &shown->key, error));
        }
        const firn_parquet_node *node = shown->node->node;
        for (int32_t j = 0; node != NULL && j < node->leaf_count; j++) {
            printer->is_shown[node->first_leaf + j] = true;
        }
    }
    return FIRN_OK;
}

static firn_status set_up(firn_row_printer *printer, firn_error *error) {
    const firn_row_file *source = printer->source;
    printer->arena = firn_arena_new();
    printer->cursors = firn_alloc_zeroed(source->projection->leaf_count, sizeof *printer->cursors);
    if (printer->arena == NULL || printer->cursors == NULL) return firn_fail_memory(error);
    printer->root.node = source->output->root;
    FIRN_TRY(make_members(printer, &printer->selection->schema->root, &printer->root, error));
    FIRN_TRY(make_shown(printer, error));
    FIRN_TRY(init_cursors(printer, &printer->root, error));
    return find_filter_columns(printer, error);
}

firn_status firn_row_printer_new(const firn_row_selection *selection, const firn_row_file *file,
                                 firn_row_printer **out, firn_error *error) {
    firn_row_printer *printer = firn_alloc_zeroed(1, sizeof *printer);
    if (printer == NULL) return firn_fail_memory(error);
    printer->selection = selection;
    printer->source = file;
    printer->text = firn_buffer_with_maximum(LONGEST_ROW);
    printer->scratch = firn_buffer_with_maximum(LONGEST_ROW);
    printer->line = firn_buffer_with_maximum(LONGEST_ROW);
    firn_status status = set_up(printer, error);
    if (status != FIRN_OK) {
        firn_row_printer_free(printer);
        return status;
    }
    *out = printer;
    return FIRN_OK;
}

void firn_row_printer_free(firn_row_printer *printer) {
    if (printer == NULL) return;
    for (size_t i = 0; i < printer->cursor_count; i++)
        firn_row_cursor_release(&printer->cursors[i]);
    firn_free(printer->cursors);
    firn_buffer_release(&printer->text);
    firn_buffer_release(&printer->scratch);
    firn_buffer_release(&printer->line);
    firn_arena_free(printer->arena);
    firn_free(printer);
}

static firn_status uneven(const firn_row_printer *printer, const firn_row_cursor *cursor,
                          firn_error *error) {
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: column \"%s\": its levels do not agree with those of its neighbours",
                     printer->source->location, cursor->output->dotted_path);
}

/* Steps over one entry of each leaf below `node`, which is not defined: every entry must say so, by a level below `level`. */
static firn_status skip_undefined(firn_row_printer *printer, const firn_parquet_node *node,
                                  uint8_t level, firn_error *error) {
    for (int32_t i = node->first_leaf; i < node->first_leaf + node->leaf_count; i++) {
        firn_row_cursor *cursor = &printer->cursors[i];
        if (!cursor->has_entry || cursor->definition_level >= level) {
            return uneven(printer, cursor, error);
        }
        FIRN_TRY(firn_row_cursor_next(cursor, error));
    }
    return FIRN_OK;
}

/* Whether every leaf below `node` stands at repetition level `level` of a row that goes on; they must agree. */
static firn_status repeats(firn_row_printer *printer, const firn_parquet_node *node, uint8_t level,
                           bool *out, firn_error *error) {
    for (int32_t i = node->first_leaf; i < node->first_leaf + node->leaf_count; i++) {
        const firn_row_cursor *cursor = &printer->cursors[i];
        bool again = cursor->has_entry && cursor->repetition_level == level;
        if (i == node->first_leaf) *out = again;
        if (again != *out) return uneven(printer, cursor, error);
    }
    return FIRN_OK;
}

static firn_status print_member(firn_row_printer *printer, const print_node *member,
                                firn_error *error);

static firn_status print_members(firn_row_printer *printer, const print_node *node,
                                 firn_error *error) {
    firn_buffer *text = &printer->text;
    FIRN_TRY(firn_buffer_append_byte(text, '{', error));
    for (size_t i = 0; i < node->member_count; i++) {
        firn_slice key = node->members[i].key;
        FIRN_TRY(firn_buffer_append(text, key.data, key.size, error));
        FIRN_TRY(print_member(printer, &node->members[i], error));
    }
    return firn_buffer_append_byte(text, '}', error);
}

static firn_status print_list(firn_row_printer *printer, const print_node *node,
                              firn_error *error) {
    const firn_parquet_node *repeated = node->node->children[0];
    firn_buffer *text = &printer->text;
    for (bool first = true, again = true; again; first = false) {
        FIRN_TRY(firn_buffer_append_byte(text, first ? '[' : ',', error));
        FIRN_TRY(print_member(printer, &node->members[0], error));
        FIRN_TRY(repeats(printer, repeated, repeated->repetition_level, &again, error));
    }
    return firn_buffer_append_byte(text, ']', error);
}

static int compare_pairs(const void *a, const void *b) {
    return firn_slice_compare(*(const firn_slice *)a, *(const firn_slice *)b);
}

typedef FIRN_VECTOR(size_t) offset_list;

/* Puts the map's pairs, which lie in `text` between the offsets without separators, in the order of their text. */
static firn_status sort_pairs(firn_row_printer *printer, const offset_list *offsets,
                              firn_error *error) {
    firn_buffer *text = &printer->text;
    firn_buffer *scratch = &printer->scratch;
    size_t start = offsets->items[0];
    size_t count = offsets->count - 1;
    firn_buffer_clear(scratch);
    FIRN_TRY(firn_buffer_append(scratch, text->data + start, text->size - start, error));
    firn_slice *pairs = firn_alloc_array(count, sizeof *pairs);
    if (pairs == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        pairs[i] = firn_slice_of(scratch->data + offsets->items[i] - start,
                                 offsets->items[i + 1] - offsets->items[i]);
    }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    text->size = start;
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < count && status == FIRN_OK; i++) {
        if (i > 0) status = firn_buffer_append_byte(text, ',', error);
        if (status == FIRN_OK) {
            status = firn_buffer_append(text, pairs[i].data, pairs[i].size, error);
        }
    }
    firn_free(pairs);
    return status;
}

static firn_status print_pair(firn_row_printer *printer, const print_node *node,
                              firn_error *error) {
    FIRN_TRY(firn_buffer_append_byte(&printer->text, '[', error));
    FIRN_TRY(print_member(printer, &node->members[0], error));
    FIRN_TRY(firn_buffer_append_byte(&printer->text, ',', error));
    FIRN_TRY(print_member(printer, &node->members[1], error));
    return firn_buffer_append_byte(&printer->text, ']', error);
}

static firn_status print_map(firn_row_printer *printer, const print_node *node, firn_error *error) {
    const firn_parquet_node *repeated = node->node->children[0];
    firn_buffer *text = &printer->text;
    offset_list offsets = {0};
    firn_status status;
    bool again = true;
    FIRN_CHECK(firn_buffer_append_byte(text, '[', error));
    FIRN_CHECK(firn_vector_push(&offsets, error, text->size));
    while (again) {
        FIRN_CHECK(print_pair(printer, node, error));
        FIRN_CHECK(firn_vector_push(&offsets, error, text->size));
        FIRN_CHECK(repeats(printer, repeated, repeated->repetition_level, &again, error));
    }
    FIRN_CHECK(sort_pairs(printer, &offsets, error));
    FIRN_CHECK(firn_buffer_append_byte(text, ']', error));
out:
    firn_vector_release(&offsets);
    return status;
}

/* Texts of strings are quoted but in CSV, which has quotes of its own. */
static firn_status print_leaf(firn_row_printer *printer, firn_row_cursor *cursor, bool quoted,
                              firn_error *error) {
    firn_value value = {0};
    FIRN_TRY(firn_row_cursor_value(cursor, &value, error));
    FIRN_TRY(firn_value_print(cursor->type, &value, quoted, &printer->text, error));
    return firn_row_cursor_next(cursor, error);
}

/* In one piece, as firn and most writers store it. */
static firn_status print_whole_variant(firn_row_printer *printer, const print_node *member,
                                       firn_error *error) {
    const firn_parquet_node *const *leaves = member->node->children;
    size_t value_index = strcmp(leaves[0]->element->name, "value") == 0 ? 0 : 1;
    firn_row_cursor *metadata = &printer->cursors[leaves[1 - value_index]->first_leaf];
    firn_row_cursor *value = &printer->cursors[leaves[value_index]->first_leaf];
    firn_value parts[2] = {0};
    if (value->definition_level != value->output->maximum_definition_level) {
        return uneven(printer, value, error);
    }
    FIRN_TRY(firn_row_cursor_value(metadata, &parts[0], error));
    FIRN_TRY(firn_row_cursor_value(value, &parts[1], error));
    FIRN_TRY(firn_variant_print(parts[0].as.bytes, parts[1].as.bytes, &printer->scratch, error));
    FIRN_TRY(firn_row_cursor_next(metadata, error));
    return firn_row_cursor_next(value, error);
}

static bool is_shredded(const firn_parquet_node *node) {
    for (size_t i = 0; i < node->child_count; i++) {
        if (strcmp(node->children[i]->element->name, "typed_value") == 0) return true;
    }
    return false;
}

/* JSON text as a text: which of JSON's types a variant has is not for the reader of a column to meet. */
static firn_status print_variant(firn_row_printer *printer, const print_node *member, bool quoted,
                                 firn_error *error) {
    firn_buffer_clear(&printer->scratch);
    firn_status status =
        is_shredded(member->node)
            ? firn_shredded_print(printer->cursors, member->node, &printer->scratch, error)
            : print_whole_variant(printer, member, error);
    if (status != FIRN_OK) {
        return firn_error_wrap(error, status, "%s: column \"%s\"", printer->source->location,
                               member->field->name);
    }
    firn_value text = {.kind = FIRN_TYPE_STRING, .as.bytes = firn_buffer_slice(&printer->scratch)};
    return firn_value_print(firn_primitive_type(FIRN_TYPE_STRING), &text, quoted, &printer->text,
                            error);
}

/* What a null under a column of row lineage stands for (specification, "Row lineage assignment"); -1: null. */
static firn_status inherited(const firn_row_printer *printer, const firn_row_cursor *cursor,
                             int64_t *out, firn_error *error) {
    const firn_row_file *source = printer->source;
    *out = -1;
    if (cursor->mapping->fill == FIRN_PARQUET_FILL_VALUE) *out = source->sequence_number;
    if (cursor->mapping->fill != FIRN_PARQUET_FILL_ROW_NUMBER || source->first_row_id < 0) {
        return FIRN_OK;
    }
    if (!__builtin_add_overflow(source->first_row_id, printer->position, out)) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "%s: the first row id %lld leaves no ids for all rows",
                     source->location, (long long)source->first_row_id);
}

static firn_status print_inherited(firn_row_printer *printer, firn_row_cursor *cursor,
                                   firn_error *error) {
    int64_t number = -1;
    FIRN_TRY(inherited(printer, cursor, &number, error));
    FIRN_TRY(number < 0 ? firn_buffer_append_text(&printer->text, "null", error)
                        : firn_buffer_printf(&printer->text, error, "%lld", (long long)number));
    return firn_row_cursor_next(cursor, error);
}

/* The first leaf below a node decides whether it is defined; the others must not contradict. */
static firn_status print_member(firn_row_printer *printer, const print_node *member,
                                firn_error *error) {
    const firn_parquet_node *node = member->node;
    if (node == NULL) return firn_buffer_append_text(&printer->text, "null", error);
    firn_row_cursor *cursor = &printer->cursors[node->first_leaf];
    if (!cursor->has_entry || cursor->definition_level < node->parent->definition_level) {
        return uneven(printer, cursor, error);
    }
    if (cursor->definition_level < node->definition_level) {
        if (cursor->mapping->fill != FIRN_PARQUET_FILL_NONE) {
            return print_inherited(printer, cursor, error);
        }
        FIRN_TRY(skip_undefined(printer, node, node->definition_level, error));
        return firn_buffer_append_text(&printer->text, "null", error);
    }
    firn_type_kind kind = member->field->type->kind;
    if (kind == FIRN_TYPE_STRUCT) return print_members(printer, member, error);
    if (kind == FIRN_TYPE_VARIANT) return print_variant(printer, member, true, error);
    if (kind != FIRN_TYPE_LIST && kind != FIRN_TYPE_MAP)
        return print_leaf(printer, cursor, true, error);
    uint8_t present = node->children[0]->definition_level;
    if (cursor->definition_level < present) {
        FIRN_TRY(skip_undefined(printer, node, present, error));
        return firn_buffer_append_text(&printer->text, "[]", error);
    }
    return kind == FIRN_TYPE_LIST ? print_list(printer, member, error)
                                  : print_map(printer, member, error);
}

static firn_status check_row_start(const firn_row_printer *printer, bool at_end,
                                   firn_error *error) {
    for (size_t i = 0; i < printer->cursor_count; i++) {
        const firn_row_cursor *cursor = &printer->cursors[i];
        if (cursor->has_entry == !at_end && (at_end || cursor->repetition_level == 0)) continue;
        return firn_fail(error, FIRN_CORRUPT, "%s: column \"%s\" has %s rows than its row group",
                         printer->source->location, cursor->output->dotted_path,
                         at_end ? "more" : "fewer");
    }
    return FIRN_OK;
}

/* Steps leaves over the rest of the present row: all, or those that are not shown. */
static firn_status skip_leaves(firn_row_printer *printer, bool all, firn_error *error) {
    for (size_t i = 0; i < printer->cursor_count; i++) {
        firn_row_cursor *cursor = &printer->cursors[i];
        if (!all && printer->is_shown[i]) continue;
        do {
            FIRN_TRY(firn_row_cursor_next(cursor, error));
        } while (cursor->has_entry && cursor->repetition_level > 0);
    }
    return FIRN_OK;
}

/* The present row's value of a column outside of lists and maps; its cursor stands on it. */
static firn_status filter_value(void *context, int32_t id, firn_value *out, firn_error *error) {
    const firn_row_printer *printer = context;
    *out = firn_value_null(FIRN_TYPE_UNKNOWN);
    for (size_t i = 0; i < printer->filter_column_count; i++) {
        const filter_column *column = &printer->filter_columns[i];
        if (column->id != id) continue;
        if (column->node == NULL) return FIRN_OK;
        const firn_parquet_node *node = column->node->node;
        const firn_row_cursor *cursor = &printer->cursors[node->first_leaf];
        firn_type_kind kind = column->node->field->type->kind;
        *out = firn_value_null(kind);
        if (cursor->definition_level < node->definition_level) {
            FIRN_TRY(inherited(printer, cursor, &out->as.int64, error));
            out->is_null = out->as.int64 < 0;
            return FIRN_OK;
        }
        out->is_null = false;
        /* Of these the filter asks no more than whether they are null. */
        if (kind == FIRN_TYPE_VARIANT || kind == FIRN_TYPE_GEOMETRY ||
            kind == FIRN_TYPE_GEOGRAPHY) {
            return FIRN_OK;
        }
        return firn_row_cursor_value(cursor, out, error);
    }
    return firn_fail(error, FIRN_INVALID, "the filter asks for a column that is not read (id %d)",
                     id);
}

static firn_status is_wanted(firn_row_printer *printer, bool *out, firn_error *error) {
    const firn_roaring *deleted = printer->source->deleted;
    *out = false;
    if (deleted != NULL && firn_roaring_contains(deleted, (uint64_t)printer->position)) {
        return FIRN_OK;
    }
    *out = true;
    if (printer->selection->filter == NULL) return FIRN_OK;
    return firn_expression_matches_row(printer->selection->filter, filter_value, printer, out,
                                       error);
}

/* A struct that a shown member lies in may be null, and the member with it. */
static bool is_below_null(const firn_row_printer *printer, const print_node *shown) {
    const firn_parquet_node *node = shown->node;
    if (node == NULL || printer->selection->shown == NULL) return false;
    const firn_row_cursor *cursor = &printer->cursors[node->first_leaf];
    return cursor->has_entry && cursor->definition_level < node->parent->definition_level;
}

static firn_status print_shown(firn_row_printer *printer, const print_node *shown,
                               firn_error *error) {
    if (!is_below_null(printer, shown)) return print_member(printer, shown, error);
    FIRN_TRY(skip_undefined(printer, shown->node, shown->node->parent->definition_level, error));
    return firn_buffer_append_text(&printer->text, "null", error);
}

/* A leaf's text without JSON's quotes; null is an empty field, so an empty text is quoted. */
static firn_status print_csv_field(firn_row_printer *printer, const print_node *member,
                                   firn_error *error) {
    const firn_parquet_node *node = member->node;
    if (node == NULL) return FIRN_OK;
    firn_row_cursor *cursor = &printer->cursors[node->first_leaf];
    bool defined = cursor->definition_level >= node->definition_level;
    bool is_variant = member->field->type->kind == FIRN_TYPE_VARIANT;
    int64_t number = -1;
    if (!defined) FIRN_TRY(inherited(printer, cursor, &number, error));
    firn_buffer_clear(&printer->text);
    if (defined && is_variant) {
        FIRN_TRY(print_variant(printer, member, false, error));
    } else {
        FIRN_TRY(defined && node->element->has_type ? print_leaf(printer, cursor, false, error)
                                                    : print_shown(printer, member, error));
    }
    if (!defined && number < 0) return FIRN_OK;
    return firn_csv_append(&printer->line, firn_buffer_slice(&printer->text), error);
}

static firn_status print_json(firn_row_printer *printer, firn_error *error) {
    FIRN_TRY(firn_buffer_append_byte(&printer->text, '{', error));
    for (size_t i = 0; i < printer->selection->shown_count; i++) {
        firn_slice key = printer->shown[i].key;
        FIRN_TRY(firn_buffer_append(&printer->text, key.data, key.size, error));
        FIRN_TRY(print_shown(printer, printer->shown[i].node, error));
    }
    return firn_buffer_append_byte(&printer->text, '}', error);
}

static firn_status print_csv(firn_row_printer *printer, firn_error *error) {
    for (size_t i = 0; i < printer->selection->shown_count; i++) {
        if (i > 0) FIRN_TRY(firn_buffer_append_byte(&printer->line, ',', error));
        FIRN_TRY(print_csv_field(printer, printer->shown[i].node, error));
    }
    return FIRN_OK;
}

static firn_status print_row(firn_row_printer *printer, firn_row_visitor visit, void *context,
                             firn_error *error) {
    bool csv = printer->selection->format == FIRN_ROWS_CSV;
    firn_buffer_clear(&printer->text);
    firn_buffer_clear(&printer->line);
    FIRN_TRY(csv ? print_csv(printer, error) : print_json(printer, error));
    FIRN_TRY(skip_leaves(printer, false, error));
    return visit(context, firn_buffer_slice(csv ? &printer->line : &printer->text), error);
}

static firn_status do_row(firn_row_printer *printer, int64_t *left, firn_row_visitor visit,
                          void *context, firn_error *error) {
    bool wanted = false;
    FIRN_TRY(check_row_start(printer, false, error));
    FIRN_TRY(is_wanted(printer, &wanted, error));
    if (!wanted) return skip_leaves(printer, true, error);
    FIRN_TRY(print_row(printer, visit, context, error));
    if (left != NULL) --*left;
    return FIRN_OK;
}

firn_status firn_row_printer_row_group(firn_row_printer *printer, size_t row_group,
                                       int64_t first_position, int64_t *left,
                                       firn_row_visitor visit, void *context, firn_error *error) {
    const firn_parquet_file *file = printer->source->file;
    int64_t rows = file->metadata->row_groups[row_group].num_rows;
    uint64_t first = (uint64_t)first_position;
    if (rows > 0 && firn_roaring_count_range(printer->source->deleted, first,
                                             first + (uint64_t)rows) == (uint64_t)rows) {
        return FIRN_OK;
    }
    for (size_t i = 0; i < printer->cursor_count; i++) {
        FIRN_TRY(firn_row_cursor_start(&printer->cursors[i], file, row_group, error));
    }
    for (int64_t row = 0; row < rows; row++) {
        if (left != NULL && *left <= 0) return FIRN_OK;
        if (row % ROWS_BETWEEN_CHECKS == 0) FIRN_TRY(firn_cancel_check(error));
        printer->position = first_position + row;
        FIRN_TRY(do_row(printer, left, visit, context, error));
    }
    return check_row_start(printer, true, error);
}
