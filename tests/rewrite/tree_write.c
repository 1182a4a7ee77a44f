/* Rows as Parquet: a shape is chosen for every field, then each row is cut into the leaves' levels and values. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/vector.h"
#include "data/plain_value.h"
#include "parquet/file_writer.h"
#include "rewrite/tree.h"

typedef struct leaf_stream {
    const firn_type *type;
    firn_buffer repetition, definition;
    FIRN_VECTOR(firn_slice) values;
} leaf_stream;

typedef struct shape {
    bool optional;
    const firn_type *type;
    struct shape *members; /* as type->fields */
    size_t first_leaf, leaf_count;
} shape;

typedef FIRN_VECTOR(tree *) tree_list;

typedef struct file_maker {
    tree_maker *maker;
    FIRN_VECTOR(firn_parquet_schema_element) elements;
    leaf_stream leaves[400];
    size_t leaf_count;
} file_maker;

static void *make(file_maker *file, size_t count, size_t size) {
    void *memory = firn_arena_alloc(file->maker->arena, count == 0 ? 1 : count, size);
    assert_non_null(memory);
    return memory;
}

static firn_parquet_schema_element *add_element(file_maker *file, const char *name,
                                                firn_parquet_repetition repetition, int32_t id,
                                                size_t children) {
    firn_error error = {0};
    firn_parquet_schema_element element = {.name = name,
                                           .has_repetition = true,
                                           .repetition = repetition,
                                           .has_field_id = id >= 0,
                                           .field_id = id,
                                           .num_children = (int32_t)children};
    check_ok(firn_vector_push(&file->elements, &error, element), &error);
    return &file->elements.items[file->elements.count - 1];
}

/* The values of one member of all values in the list that are there. */
static tree_list members_of(const firn_type *type, const tree_list *values, size_t member) {
    firn_error error = {0};
    tree_list out = {0};
    for (size_t i = 0; i < values->count; i++) {
        const tree *value = values->items[i];
        for (size_t j = member; !value->null && j < value->count; j += type->field_count) {
            check_ok(firn_vector_push(&out, &error, value->items[j]), &error);
            if (type->kind == FIRN_TYPE_STRUCT) break;
        }
    }
    return out;
}

static bool any_null(const tree_list *values) {
    for (size_t i = 0; i < values->count; i++) {
        if (values->items[i]->null) return true;
    }
    return false;
}

static void shape_field(file_maker *file, const firn_field *field, const char *name, bool with_id,
                        const tree_list *values, int forced, shape *out);

static void shape_members(file_maker *file, const firn_type *type, const tree_list *values,
                          shape *out) {
    out->members = make(file, type->field_count, sizeof *out->members);
    for (size_t i = 0; i < type->field_count; i++) {
        tree_list members = members_of(type, values, i);
        shape_field(file, &type->fields[i], type->fields[i].name, true, &members, -1,
                    &out->members[i]);
        firn_vector_release(&members);
    }
}

/* Three levels by the book or with old names, or two where no element is null. */
static void shape_list(file_maker *file, const firn_field *field, const tree_list *values,
                       shape *out) {
    const firn_field *element = &field->type->fields[0];
    out->members = make(file, 1, sizeof *out->members);
    tree_list members = members_of(field->type, values, 0);
    uint64_t choice = pick(file->maker, 3);
    if (choice == 0 && !any_null(&members)) {
        bool lone = element->type->kind == FIRN_TYPE_STRUCT && element->type->field_count == 1;
        shape_field(file, element, lone ? "array" : "item", pick(file->maker, 2) == 0, &members,
                    FIRN_PARQUET_REPEATED, &out->members[0]);
    } else {
        bool old = choice == 1;
        add_element(file, old ? "bag" : "list", FIRN_PARQUET_REPEATED, -1, 1);
        shape_field(file, element, old ? "array_element" : "element", !old, &members, -1,
                    &out->members[0]);
    }
    firn_vector_release(&members);
}

static void shape_map(file_maker *file, const firn_field *field, const tree_list *values,
                      shape *out) {
    bool old = pick(file->maker, 2) == 0;
    add_element(file, old ? "map" : "key_value", FIRN_PARQUET_REPEATED, -1, 2);
    out->members = make(file, 2, sizeof *out->members);
    for (size_t i = 0; i < 2; i++) {
        tree_list members = members_of(field->type, values, i);
        shape_field(file, &field->type->fields[i], i == 0 ? "key" : "value", !old, &members, -1,
                    &out->members[i]);
        firn_vector_release(&members);
    }
}

/* `forced`: a repetition, or -1. Writers say required wherever there is no null, or optional though the table says required. */
static void shape_field(file_maker *file, const firn_field *field, const char *name, bool with_id,
                        const tree_list *values, int forced, shape *out) {
    firn_error error = {0};
    firn_parquet_repetition repetition = FIRN_PARQUET_OPTIONAL;
    if (!any_null(values) && pick(file->maker, 2) == 0) repetition = FIRN_PARQUET_REQUIRED;
    if (forced >= 0) repetition = (firn_parquet_repetition)forced;
    firn_type_kind kind = field->type->kind;
    size_t children =
        kind == FIRN_TYPE_STRUCT ? field->type->field_count : firn_type_is_nested(kind);
    firn_parquet_schema_element *element =
        add_element(file, name, repetition, with_id ? field->id : -1, children);
    out->optional = repetition == FIRN_PARQUET_OPTIONAL;
    out->type = field->type;
    out->first_leaf = file->leaf_count;
    if (kind == FIRN_TYPE_STRUCT) {
        shape_members(file, field->type, values, out);
    } else if (kind == FIRN_TYPE_LIST) {
        element->logical.kind = FIRN_PARQUET_LOGICAL_LIST;
        shape_list(file, field, values, out);
    } else if (kind == FIRN_TYPE_MAP) {
        element->logical.kind = FIRN_PARQUET_LOGICAL_MAP;
        shape_map(file, field, values, out);
    } else {
        check_ok(firn_plain_form_of_type(field->type, element, &error), &error);
        assert_true(file->leaf_count < sizeof file->leaves / sizeof *file->leaves);
        leaf_stream *leaf = &file->leaves[file->leaf_count++];
        *leaf = (leaf_stream){.type = field->type,
                              .repetition = firn_buffer_with_maximum(1 << 24),
                              .definition = firn_buffer_with_maximum(1 << 24)};
    }
    out->leaf_count = file->leaf_count - out->first_leaf;
}

typedef struct levels {
    uint8_t repetition, definition; /* of what comes next */
    uint8_t depth;                  /* lists above */
} levels;

static void emit(leaf_stream *leaf, levels at) {
    firn_error error = {0};
    check_ok(firn_buffer_append_byte(&leaf->repetition, at.repetition, &error), &error);
    check_ok(firn_buffer_append_byte(&leaf->definition, at.definition, &error), &error);
}

static void emit_nothing(file_maker *file, const shape *form, levels at) {
    for (size_t i = 0; i < form->leaf_count; i++) emit(&file->leaves[form->first_leaf + i], at);
}

static void shred(file_maker *file, const shape *form, const tree *value, levels at) {
    firn_error error = {0};
    if (form->optional && value->null) {
        emit_nothing(file, form, at);
        return;
    }
    assert_false(value->null);
    if (form->optional) at.definition++;
    size_t members = form->type->field_count;
    if (form->type->kind == FIRN_TYPE_STRUCT) {
        for (size_t i = 0; i < members; i++) shred(file, &form->members[i], value->items[i], at);
    } else if (members == 0) {
        leaf_stream *leaf = &file->leaves[form->first_leaf];
        firn_slice plain;
        emit(leaf, at);
        check_ok(
            firn_plain_from_value(form->type, &value->value, file->maker->arena, &plain, &error),
            &error);
        check_ok(firn_vector_push(&leaf->values, &error, plain), &error);
    } else if (value->count == 0) {
        emit_nothing(file, form, at);
    } else {
        at.definition++;
        at.depth++;
        for (size_t i = 0; i < value->count; i++) {
            levels item = at;
            if (i >= members) item.repetition = at.depth;
            shred(file, &form->members[i % members], value->items[i], item);
        }
    }
}

static void add_chunk(file_maker *file, size_t index, const firn_parquet_leaf *leaf,
                      const firn_parquet_write_options *options, firn_parquet_file_writer *writer) {
    firn_error error = {0};
    leaf_stream *stream = &file->leaves[index];
    firn_parquet_chunk_writer *chunk_writer = NULL;
    firn_parquet_chunk chunk = {0};
    uint32_t width =
        firn_parquet_value_width(leaf->node->element->type, leaf->node->element->type_length);
    uint8_t *fixed = make(file, stream->values.count * 16 + 1, 1);
    for (size_t i = 0; i < stream->values.count && width > 0; i++) {
        memcpy(fixed + i * width, stream->values.items[i].data, width);
    }
    firn_parquet_batch batch = {
        .level_count = stream->definition.size,
        .definition_levels = leaf->maximum_definition_level > 0 ? stream->definition.data : NULL,
        .repetition_levels = leaf->maximum_repetition_level > 0 ? stream->repetition.data : NULL,
        .values = {.type = leaf->node->element->type,
                   .width = width,
                   .count = stream->values.count,
                   .fixed = width > 0 ? fixed : NULL,
                   .slices = width > 0 ? NULL : stream->values.items},
        .value_count = stream->values.count};
    check_ok(firn_parquet_chunk_writer_new(leaf, options, &chunk_writer, &error), &error);
    check_ok(firn_parquet_chunk_writer_append(chunk_writer, &batch, &error), &error);
    check_ok(firn_parquet_chunk_writer_finish(chunk_writer, &chunk, &error), &error);
    check_ok(firn_parquet_file_writer_add_chunk(writer, &chunk, &error), &error);
    firn_parquet_chunk_writer_free(chunk_writer);
    firn_buffer_clear(&stream->repetition);
    firn_buffer_clear(&stream->definition);
    stream->values.count = 0;
}

static firn_status to_buffer(void *context, const void *data, size_t size, firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

static firn_parquet_write_options random_options(tree_maker *maker) {
    static const firn_parquet_compression codecs[] = {FIRN_PARQUET_UNCOMPRESSED,
                                                      FIRN_PARQUET_SNAPPY, FIRN_PARQUET_ZSTD};
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    options.compression = codecs[pick(maker, 3)];
    options.page_version = 1 + (int)pick(maker, 2);
    options.page_row_limit = 1 + (int32_t)pick(maker, 20);
    if (pick(maker, 2) == 0) options.dictionary_size_bytes = 0;
    options.value_encoding =
        (firn_parquet_encoding)(pick(maker, FIRN_PARQUET_BYTE_STREAM_SPLIT + 1));
    options.delta_encodings = pick(maker, 3) == 0;
    return options;
}

void tree_write_file(tree_maker *maker, const firn_type *type, tree *const *rows, size_t count,
                     firn_buffer *out) {
    firn_error error = {0};
    file_maker *file = calloc(1, sizeof *file);
    file->maker = maker;
    shape root = {.type = type};
    tree_list all = {0};
    for (size_t i = 0; i < count; i++) {
        check_ok(firn_vector_push(&all, &error, rows[i]), &error);
    }
    add_element(file, "root", FIRN_PARQUET_REQUIRED, -1, type->field_count)->has_repetition = false;
    shape_members(file, type, &all, &root);
    root.leaf_count = file->leaf_count;
    firn_parquet_write_options options = random_options(maker);
    firn_write_to destination = {to_buffer, out};
    firn_parquet_file_writer *writer = NULL;
    check_ok(firn_parquet_file_writer_new(file->elements.items, file->elements.count, &options,
                                          &destination, &writer, &error),
             &error);
    const firn_parquet_schema *schema = firn_parquet_file_writer_schema(writer);
    for (size_t row = 0; row < count;) {
        size_t end = row + 1 + (size_t)pick(maker, count - row);
        check_ok(firn_parquet_file_writer_begin_row_group(writer, (int64_t)(end - row), &error),
                 &error);
        for (; row < end; row++) shred(file, &root, rows[row], (levels){0});
        for (size_t i = 0; i < schema->leaf_count; i++) {
            add_chunk(file, i, &schema->leaves[i], &options, writer);
        }
        check_ok(firn_parquet_file_writer_end_row_group(writer, &error), &error);
    }
    check_ok(firn_parquet_file_writer_finish(writer, NULL, NULL, &error), &error);
    firn_parquet_file_writer_free(writer);
    for (size_t i = 0; i < file->leaf_count; i++) {
        firn_buffer_release(&file->leaves[i].repetition);
        firn_buffer_release(&file->leaves[i].definition);
        firn_vector_release(&file->leaves[i].values);
    }
    firn_vector_release(&file->elements);
    firn_vector_release(&all);
    free(file);
}
