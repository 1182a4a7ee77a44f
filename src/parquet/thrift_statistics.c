#include "parquet/metadata_internal.h"

static firn_status read_count(firn_thrift_reader *reader, const firn_thrift_field *field,
                              const char *what, bool *has, int64_t *out, firn_error *error) {
    *has = true;
    return firn_thrift_i64(reader, field, what, out, error);
}

static firn_status read_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                              firn_parquet_statistics *out, firn_error *error) {
    switch (field->id) {
    case 1: return firn_thrift_binary(reader, field, "max", &out->deprecated_max, error);
    case 2: return firn_thrift_binary(reader, field, "min", &out->deprecated_min, error);
    case 3:
        return read_count(reader, field, "null_count", &out->has_null_count, &out->null_count,
                          error);
    case 4:
        return read_count(reader, field, "distinct_count", &out->has_distinct_count,
                          &out->distinct_count, error);
    case 5: return firn_thrift_binary(reader, field, "max_value", &out->max_value, error);
    case 6: return firn_thrift_binary(reader, field, "min_value", &out->min_value, error);
    case 7:
        out->has_max_exact = true;
        return firn_thrift_bool(reader, field, "is_max_value_exact", &out->max_exact, error);
    case 8:
        out->has_min_exact = true;
        return firn_thrift_bool(reader, field, "is_min_value_exact", &out->min_exact, error);
    case 9:
        return read_count(reader, field, "nan_count", &out->has_nan_count, &out->nan_count, error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

firn_status firn_parquet_read_statistics(firn_thrift_reader *reader, const firn_thrift_field *field,
                                         firn_parquet_statistics *out, firn_error *error) {
    FIRN_TRY(firn_thrift_struct(reader, field, "statistics", error));
    *out = (firn_parquet_statistics){0};
    firn_thrift_field inner = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &inner, error));
        if (inner.type == FIRN_THRIFT_STOP) return FIRN_OK;
        FIRN_TRY(read_field(reader, &inner, out, error));
    }
}

firn_status firn_parquet_copy_statistics(firn_thrift_reader *reader,
                                         firn_parquet_statistics *statistics, firn_error *error) {
    firn_slice *slices[] = {&statistics->min_value, &statistics->max_value,
                            &statistics->deprecated_min, &statistics->deprecated_max};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        if (slices[i]->data != NULL) FIRN_TRY(firn_thrift_copy(reader, slices[i], error));
    }
    return FIRN_OK;
}

static void write_slice(firn_thrift_writer *writer, int id, firn_slice slice) {
    if (slice.data != NULL) firn_thrift_write_binary(writer, id, slice);
}

void firn_parquet_write_statistics(firn_thrift_writer *writer, int id,
                                   const firn_parquet_statistics *statistics) {
    const firn_parquet_statistics *s = statistics;
    bool any = s->has_null_count || s->has_distinct_count || s->has_nan_count ||
               s->min_value.data != NULL || s->max_value.data != NULL ||
               s->deprecated_min.data != NULL || s->deprecated_max.data != NULL;
    if (!any) return;
    firn_thrift_write_struct(writer, id);
    write_slice(writer, 1, s->deprecated_max);
    write_slice(writer, 2, s->deprecated_min);
    if (s->has_null_count) firn_thrift_write_i64(writer, 3, s->null_count);
    if (s->has_distinct_count) firn_thrift_write_i64(writer, 4, s->distinct_count);
    write_slice(writer, 5, s->max_value);
    write_slice(writer, 6, s->min_value);
    if (s->has_max_exact) firn_thrift_write_bool(writer, 7, s->max_exact);
    if (s->has_min_exact) firn_thrift_write_bool(writer, 8, s->min_exact);
    if (s->has_nan_count) firn_thrift_write_i64(writer, 9, s->nan_count);
    firn_thrift_write_end(writer);
}
