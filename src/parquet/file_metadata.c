#include "parquet/metadata_internal.h"

static firn_status read_schema(firn_thrift_reader *reader, const firn_thrift_field *field,
                               firn_parquet_file_metadata *out, firn_error *error) {
    firn_thrift_field item = {0};
    size_t count = 0;
    FIRN_TRY(firn_thrift_list(reader, field, "schema", FIRN_THRIFT_STRUCT, &count, &item, error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, count, sizeof *out->schema, &memory, error));
    firn_parquet_schema_element *elements = memory;
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_parquet_read_schema_element(reader, &elements[i], error));
    }
    out->schema = elements;
    out->schema_count = count;
    return FIRN_OK;
}

/* A schema's list of elements, with its tree, in an arena of its own. */
static firn_status read_own_schema(firn_thrift_reader *reader, const firn_thrift_field *field,
                                   firn_parquet_known_schema *out, firn_error *error) {
    firn_parquet_file_metadata metadata = {0};
    firn_thrift_reader inner = *reader;
    out->arena = inner.arena = firn_arena_new();
    if (inner.arena == NULL) return firn_fail_memory(error);
    FIRN_TRY(read_schema(&inner, field, &metadata, error));
    out->bytes =
        firn_slice_of(reader->bytes.data + reader->position, inner.position - reader->position);
    out->elements = metadata.schema;
    out->count = metadata.schema_count;
    reader->position = inner.position;
    reader->budget = inner.budget;
    return firn_parquet_schema_build(out->elements, out->count, reader->name, out->arena,
                                     &out->schema, error);
}

/* *shared stays NULL where there is no room for another one: then nothing was read. */
static firn_status read_new_schema(firn_thrift_reader *reader, const firn_thrift_field *field,
                                   firn_parquet_known_schemas *known,
                                   const firn_parquet_known_schema **shared, firn_error *error) {
    firn_parquet_known_schema own = {0};
    firn_thrift_reader before = *reader;
    firn_status status = read_own_schema(reader, field, &own, error);
    if (status == FIRN_OK) status = firn_parquet_add_known_schema(known, &own, shared, error);
    if (*shared == NULL || (*shared)->arena != own.arena) firn_arena_free(own.arena);
    if (*shared == NULL) *reader = before;
    return status;
}

static firn_status read_shared_schema(firn_thrift_reader *reader, const firn_thrift_field *field,
                                      firn_parquet_known_schemas *known,
                                      const firn_parquet_known_schema **shared,
                                      firn_parquet_file_metadata *out, firn_error *error) {
    bool is_list = field->type == FIRN_THRIFT_LIST || field->type == FIRN_THRIFT_SET;
    *shared = NULL;
    if (known == NULL || !is_list) return read_schema(reader, field, out, error);
    firn_slice rest =
        firn_slice_of(reader->bytes.data + reader->position, reader->bytes.size - reader->position);
    *shared = firn_parquet_find_known_schema(known, rest);
    if (*shared != NULL) {
        reader->position += (*shared)->bytes.size;
    } else if (!firn_parquet_known_schemas_full(known)) {
        FIRN_TRY(read_new_schema(reader, field, known, shared, error));
    }
    if (*shared == NULL) return read_schema(reader, field, out, error);
    out->schema = (*shared)->elements;
    out->schema_count = (*shared)->count;
    return FIRN_OK;
}

static firn_status read_columns(firn_thrift_reader *reader, const firn_thrift_field *field,
                                firn_parquet_row_group *out, firn_error *error) {
    firn_thrift_field item = {0};
    size_t count = 0;
    FIRN_TRY(firn_thrift_list(reader, field, "columns", FIRN_THRIFT_STRUCT, &count, &item, error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, count, sizeof *out->columns, &memory, error));
    firn_parquet_column_chunk *columns = memory;
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_parquet_read_column_chunk(reader, &columns[i], error));
    }
    out->columns = columns;
    out->column_count = count;
    return FIRN_OK;
}

static firn_status read_sorting_column(firn_thrift_reader *reader, firn_parquet_sorting_column *out,
                                       firn_error *error) {
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) return FIRN_OK;
        switch (field.id) {
        case 1:
            FIRN_TRY(firn_thrift_i32(reader, &field, "column_idx", &out->column_index, error));
            break;
        case 2:
            FIRN_TRY(firn_thrift_bool(reader, &field, "descending", &out->descending, error));
            break;
        case 3:
            FIRN_TRY(firn_thrift_bool(reader, &field, "nulls_first", &out->nulls_first, error));
            break;
        default: FIRN_TRY(firn_thrift_skip(reader, field.type, error));
        }
    }
}

static firn_status read_sorting_columns(firn_thrift_reader *reader, const firn_thrift_field *field,
                                        firn_parquet_row_group *out, firn_error *error) {
    firn_thrift_field item = {0};
    size_t count = 0;
    FIRN_TRY(firn_thrift_list(reader, field, "sorting_columns", FIRN_THRIFT_STRUCT, &count, &item,
                              error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, count, sizeof *out->sorting_columns, &memory, error));
    firn_parquet_sorting_column *columns = memory;
    for (size_t i = 0; i < count; i++) FIRN_TRY(read_sorting_column(reader, &columns[i], error));
    out->sorting_columns = columns;
    out->sorting_column_count = count;
    return FIRN_OK;
}

static firn_status read_row_group_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                                        firn_parquet_row_group *out, firn_error *error) {
    switch (field->id) {
    case 1: return read_columns(reader, field, out, error);
    case 2: return firn_thrift_i64(reader, field, "total_byte_size", &out->total_byte_size, error);
    case 3: return firn_thrift_i64(reader, field, "RowGroup.num_rows", &out->num_rows, error);
    case 4: return read_sorting_columns(reader, field, out, error);
    case 6:
        out->has_total_compressed_size = true;
        return firn_thrift_i64(reader, field, "total_compressed_size", &out->total_compressed_size,
                               error);
    /* file_offset (5) is skipped: where a group lies follows from its chunks. */
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

static firn_status read_row_group(firn_thrift_reader *reader, firn_parquet_row_group *out,
                                  firn_error *error) {
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read_row_group_field(reader, &field, out, error));
    }
    FIRN_TRY(firn_thrift_require(reader, &field, 1, "RowGroup.columns", error));
    FIRN_TRY(firn_thrift_require(reader, &field, 2, "RowGroup.total_byte_size", error));
    FIRN_TRY(firn_thrift_require(reader, &field, 3, "RowGroup.num_rows", error));
    if (out->num_rows >= 0) return FIRN_OK;
    return firn_thrift_fail(reader, "RowGroup.num_rows", error, "%lld is negative",
                            (long long)out->num_rows);
}

static firn_status read_row_groups(firn_thrift_reader *reader, const firn_thrift_field *field,
                                   firn_parquet_file_metadata *out, firn_error *error) {
    firn_thrift_field item = {0};
    size_t count = 0;
    FIRN_TRY(
        firn_thrift_list(reader, field, "row_groups", FIRN_THRIFT_STRUCT, &count, &item, error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, count, sizeof *out->row_groups, &memory, error));
    firn_parquet_row_group *groups = memory;
    for (size_t i = 0; i < count; i++) FIRN_TRY(read_row_group(reader, &groups[i], error));
    out->row_groups = groups;
    out->row_group_count = count;
    return FIRN_OK;
}

static firn_status read_key_value(firn_thrift_reader *reader, firn_parquet_key_value *out,
                                  firn_error *error) {
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        switch (field.id) {
        case 1: FIRN_TRY(firn_thrift_text(reader, &field, "key", &out->key, error)); break;
        case 2:
            FIRN_TRY(firn_thrift_binary(reader, &field, "value", &out->value, error));
            FIRN_TRY(firn_thrift_copy(reader, &out->value, error));
            break;
        default: FIRN_TRY(firn_thrift_skip(reader, field.type, error));
        }
    }
    return firn_thrift_require(reader, &field, 1, "KeyValue.key", error);
}

static firn_status read_key_values(firn_thrift_reader *reader, const firn_thrift_field *field,
                                   firn_parquet_file_metadata *out, firn_error *error) {
    firn_thrift_field item = {0};
    size_t count = 0;
    FIRN_TRY(firn_thrift_list(reader, field, "key_value_metadata", FIRN_THRIFT_STRUCT, &count,
                              &item, error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, count, sizeof *out->key_values, &memory, error));
    firn_parquet_key_value *values = memory;
    for (size_t i = 0; i < count; i++) FIRN_TRY(read_key_value(reader, &values[i], error));
    out->key_values = values;
    out->key_value_count = count;
    return FIRN_OK;
}

/* Member 1 of the ColumnOrder union is TypeDefinedOrder. */
static firn_status read_column_order(firn_thrift_reader *reader, uint8_t *out, firn_error *error) {
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) return FIRN_OK;
        *out = field.id == 1;
        FIRN_TRY(firn_thrift_skip(reader, field.type, error));
    }
}

static firn_status read_column_orders(firn_thrift_reader *reader, const firn_thrift_field *field,
                                      firn_parquet_file_metadata *out, firn_error *error) {
    firn_thrift_field item = {0};
    size_t count = 0;
    FIRN_TRY(
        firn_thrift_list(reader, field, "column_orders", FIRN_THRIFT_STRUCT, &count, &item, error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, count, 1, &memory, error));
    uint8_t *orders = memory;
    for (size_t i = 0; i < count; i++) FIRN_TRY(read_column_order(reader, &orders[i], error));
    out->column_orders = orders;
    out->column_order_count = count;
    return FIRN_OK;
}

static firn_status read_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                              firn_parquet_known_schemas *known,
                              const firn_parquet_known_schema **shared,
                              firn_parquet_file_metadata *out, firn_error *error) {
    switch (field->id) {
    case 1: return firn_thrift_i32(reader, field, "version", &out->version, error);
    case 2: return read_shared_schema(reader, field, known, shared, out, error);
    case 3: return firn_thrift_i64(reader, field, "num_rows", &out->num_rows, error);
    case 4: return read_row_groups(reader, field, out, error);
    case 5: return read_key_values(reader, field, out, error);
    case 6: return firn_thrift_text(reader, field, "created_by", &out->created_by, error);
    case 7: return read_column_orders(reader, field, out, error);
    case 8: out->encrypted = true; return firn_thrift_skip(reader, field->type, error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

firn_status firn_parquet_read_file_metadata(firn_thrift_reader *reader,
                                            firn_parquet_known_schemas *known,
                                            const firn_parquet_known_schema **shared,
                                            const firn_parquet_file_metadata **out,
                                            firn_error *error) {
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, 1, sizeof(firn_parquet_file_metadata), &memory, error));
    firn_parquet_file_metadata *metadata = memory;
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read_field(reader, &field, known, shared, metadata, error));
    }
    FIRN_TRY(firn_thrift_require(reader, &field, 1, "FileMetaData.version", error));
    FIRN_TRY(firn_thrift_require(reader, &field, 2, "FileMetaData.schema", error));
    FIRN_TRY(firn_thrift_require(reader, &field, 3, "FileMetaData.num_rows", error));
    FIRN_TRY(firn_thrift_require(reader, &field, 4, "FileMetaData.row_groups", error));
    *out = metadata;
    return FIRN_OK;
}

firn_status firn_parquet_parse_file_metadata(firn_slice thrift, const char *name, firn_arena *arena,
                                             const firn_parquet_file_metadata **out,
                                             firn_error *error) {
    firn_thrift_reader reader = firn_thrift_reader_of(thrift, 0, name, arena);
    const firn_parquet_known_schema *none = NULL;
    return firn_parquet_read_file_metadata(&reader, NULL, &none, out, error);
}

static void write_row_group(firn_thrift_writer *writer, const firn_parquet_row_group *group,
                            size_t ordinal) {
    firn_thrift_write_item_struct(writer);
    firn_thrift_write_list(writer, 1, FIRN_THRIFT_STRUCT, group->column_count);
    for (size_t i = 0; i < group->column_count; i++) {
        firn_parquet_write_column_chunk(writer, &group->columns[i]);
    }
    firn_thrift_write_i64(writer, 2, group->total_byte_size);
    firn_thrift_write_i64(writer, 3, group->num_rows);
    if (group->sorting_column_count > 0) {
        firn_thrift_write_list(writer, 4, FIRN_THRIFT_STRUCT, group->sorting_column_count);
        for (size_t i = 0; i < group->sorting_column_count; i++) {
            firn_thrift_write_item_struct(writer);
            firn_thrift_write_i32(writer, 1, group->sorting_columns[i].column_index);
            firn_thrift_write_bool(writer, 2, group->sorting_columns[i].descending);
            firn_thrift_write_bool(writer, 3, group->sorting_columns[i].nulls_first);
            firn_thrift_write_end(writer);
        }
    }
    if (group->column_count > 0) {
        const firn_parquet_column_chunk *first = &group->columns[0];
        bool dictionary = first->has_dictionary_page_offset && first->dictionary_page_offset > 0;
        firn_thrift_write_i64(writer, 5,
                              dictionary ? first->dictionary_page_offset : first->data_page_offset);
    }
    if (group->has_total_compressed_size) {
        firn_thrift_write_i64(writer, 6, group->total_compressed_size);
    }
    if (ordinal <= INT16_MAX) firn_thrift_write_i16(writer, 7, (int16_t)ordinal);
    firn_thrift_write_end(writer);
}

static void write_key_values(firn_thrift_writer *writer,
                             const firn_parquet_file_metadata *metadata) {
    if (metadata->key_value_count == 0) return;
    firn_thrift_write_list(writer, 5, FIRN_THRIFT_STRUCT, metadata->key_value_count);
    for (size_t i = 0; i < metadata->key_value_count; i++) {
        firn_thrift_write_item_struct(writer);
        firn_thrift_write_text(writer, 1, metadata->key_values[i].key);
        if (metadata->key_values[i].value.data != NULL) {
            firn_thrift_write_binary(writer, 2, metadata->key_values[i].value);
        }
        firn_thrift_write_end(writer);
    }
}

static void write_column_orders(firn_thrift_writer *writer,
                                const firn_parquet_file_metadata *metadata) {
    if (metadata->column_orders == NULL) return;
    firn_thrift_write_list(writer, 7, FIRN_THRIFT_STRUCT, metadata->column_order_count);
    for (size_t i = 0; i < metadata->column_order_count; i++) {
        firn_thrift_write_item_struct(writer);
        if (metadata->column_orders[i] == 1) firn_thrift_write_empty(writer, 1);
        firn_thrift_write_end(writer);
    }
}

firn_status firn_parquet_write_file_metadata(const firn_parquet_file_metadata *metadata,
                                             firn_buffer *out, firn_error *error) {
    firn_thrift_writer writer = firn_thrift_writer_of(out, error);
    firn_thrift_write_i32(&writer, 1, metadata->version);
    firn_thrift_write_list(&writer, 2, FIRN_THRIFT_STRUCT, metadata->schema_count);
    for (size_t i = 0; i < metadata->schema_count; i++) {
        firn_parquet_write_schema_element(&writer, &metadata->schema[i]);
    }
    firn_thrift_write_i64(&writer, 3, metadata->num_rows);
    firn_thrift_write_list(&writer, 4, FIRN_THRIFT_STRUCT, metadata->row_group_count);
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        write_row_group(&writer, &metadata->row_groups[i], i);
    }
    write_key_values(&writer, metadata);
    if (metadata->created_by != NULL) firn_thrift_write_text(&writer, 6, metadata->created_by);
    write_column_orders(&writer, metadata);
    firn_thrift_write_end(&writer);
    return writer.status;
}
