#include "data/row_cursor.h"

#include "base/bytes.h"
#include "data/plain_value.h"
#include "iceberg/decimal.h"

#define MICROSECONDS_PER_DAY INT64_C(86400000000)
/* Julian day number of 1970-01-01 (INT96 counts from noon 4713 BC; the fraction is its own part). */
#define JULIAN_EPOCH INT64_C(2440588)

static firn_status corrupt(const firn_row_cursor *cursor, firn_error *error, const char *problem) {
    return firn_fail(error, FIRN_CORRUPT, "%s: column \"%s\": %s", cursor->location,
                     cursor->output->dotted_path, problem);
}

void firn_row_cursor_init(firn_row_cursor *cursor, const char *location, const firn_type *type,
                          const firn_parquet_leaf *output, const firn_parquet_file *file,
                          const firn_parquet_leaf_mapping *mapping) {
    *cursor =
        (firn_row_cursor){.location = location, .type = type, .output = output, .mapping = mapping};
    if (mapping->input_leaf >= 0) cursor->input = &file->schema->leaves[mapping->input_leaf];
}

void firn_row_cursor_release(firn_row_cursor *cursor) {
    if (cursor->reader != NULL) firn_parquet_chunk_reader_close(cursor->reader);
    cursor->reader = NULL;
}

firn_status firn_row_cursor_start(firn_row_cursor *cursor, const firn_parquet_file *file,
                                  size_t row_group, firn_error *error) {
    cursor->batch = (firn_parquet_batch){0};
    cursor->level = 0;
    cursor->value = 0;
    cursor->absent_rows = 0;
    if (cursor->input == NULL) {
        cursor->absent_rows = file->metadata->row_groups[row_group].num_rows;
    } else if (cursor->reader == NULL) {
        FIRN_TRY(firn_parquet_chunk_reader_open(file, row_group, (size_t)cursor->input->index,
                                                &cursor->reader, error));
    } else {
        FIRN_TRY(firn_parquet_chunk_reader_reset(cursor->reader, file, row_group,
                                                 (size_t)cursor->input->index, error));
    }
    return firn_row_cursor_next(cursor, error);
}

/* The next page that has entries; an empty batch at the end. */
static firn_status next_batch(firn_row_cursor *cursor, firn_error *error) {
    cursor->level = 0;
    cursor->value = 0;
    do {
        const firn_parquet_page *page = NULL;
        cursor->batch = (firn_parquet_batch){0};
        FIRN_TRY(firn_parquet_chunk_reader_next(cursor->reader, &page, error));
        if (page == NULL) return FIRN_OK;
        FIRN_TRY(
            cursor->mapping->levels_only
                ? firn_parquet_chunk_reader_decode_levels(cursor->reader, &cursor->batch, error)
                : firn_parquet_chunk_reader_decode(cursor->reader, &cursor->batch, error));
    } while (cursor->batch.level_count == 0);
    return FIRN_OK;
}

static void next_absent(firn_row_cursor *cursor) {
    cursor->has_entry = cursor->absent_rows > 0;
    cursor->absent_rows--;
    cursor->repetition_level = 0;
    cursor->definition_level = cursor->mapping->absent_definition_level;
}

firn_status firn_row_cursor_next(firn_row_cursor *cursor, firn_error *error) {
    if (cursor->input == NULL) {
        next_absent(cursor);
        return FIRN_OK;
    }
    const firn_parquet_leaf_mapping *mapping = cursor->mapping;
    uint8_t maximum = cursor->input->maximum_definition_level;
    do {
        if (cursor->level == cursor->batch.level_count) {
            FIRN_TRY(next_batch(cursor, error));
            cursor->has_entry = cursor->batch.level_count > 0;
            if (!cursor->has_entry) return FIRN_OK;
        }
        const firn_parquet_batch *batch = &cursor->batch;
        size_t at = cursor->level++;
        cursor->repetition_level =
            batch->repetition_levels == NULL ? 0 : batch->repetition_levels[at];
        cursor->definition_level =
            batch->definition_levels == NULL ? maximum : batch->definition_levels[at];
        if (cursor->definition_level == maximum) cursor->value_index = cursor->value++;
        /* A sibling's entries within its own lists are none of this leaf. */
    } while (mapping->levels_only && cursor->repetition_level > mapping->kept_repetition_level);
    if (cursor->definition_level > maximum) return corrupt(cursor, error, "a level is too high");
    cursor->definition_level = mapping->definition_level_map[cursor->definition_level];
    if (cursor->definition_level == FIRN_PARQUET_FORBIDDEN_LEVEL) {
        return corrupt(cursor, error, "a null where the table's column is required");
    }
    return FIRN_OK;
}

static firn_status raw_value(const firn_row_cursor *cursor, firn_slice *out, firn_error *error) {
    const firn_parquet_values *values = &cursor->batch.values;
    size_t index = cursor->value_index;
    if (index >= cursor->batch.value_count) return corrupt(cursor, error, "a value is missing");
    if (cursor->batch.indices != NULL) index = cursor->batch.indices[index];
    if (index >= values->count) return corrupt(cursor, error, "a value is missing");
    *out = values->slices != NULL
               ? values->slices[index]
               : firn_slice_of(values->fixed + index * values->width, values->width);
    return FIRN_OK;
}

static firn_status decimal_value(const firn_row_cursor *cursor, firn_slice raw, firn_value *out,
                                 firn_error *error) {
    switch (cursor->input->node->element->type) {
    case FIRN_PARQUET_INT32: out->as.decimal = (int32_t)firn_load_le32(raw.data); break;
    case FIRN_PARQUET_INT64: out->as.decimal = (int64_t)firn_load_le64(raw.data); break;
    default:
        if (!firn_decimal_from_bytes(raw, &out->as.decimal)) {
            return corrupt(cursor, error, "a decimal of no or too many bytes");
        }
    }
    if (!firn_decimal_fits(out->as.decimal, cursor->type->precision)) {
        return corrupt(cursor, error, "a decimal with more digits than the column's type has");
    }
    return FIRN_OK;
}

static int64_t floor_divide(int64_t number, int64_t factor) {
    return number / factor - (number % factor < 0 ? 1 : 0);
}

static firn_status int96_value(const firn_row_cursor *cursor, firn_slice raw, firn_value *out,
                               firn_error *error) {
    int64_t within_day = floor_divide((int64_t)firn_load_le64(raw.data), 1000);
    int64_t days = (int64_t)(int32_t)firn_load_le32(raw.data + 8) - JULIAN_EPOCH;
    int64_t micros = 0;
    if (__builtin_mul_overflow(days, MICROSECONDS_PER_DAY, &micros) ||
        __builtin_add_overflow(micros, within_day, &out->as.int64)) {
        return corrupt(cursor, error, "an INT96 timestamp outside the column's range");
    }
    return FIRN_OK;
}

static int64_t widened(const firn_row_cursor *cursor, uint32_t bits) {
    const firn_parquet_logical_type *logical = &cursor->input->node->element->logical;
    bool is_unsigned = logical->kind == FIRN_PARQUET_LOGICAL_INTEGER && !logical->is_signed;
    return is_unsigned ? (int64_t)bits : (int64_t)(int32_t)bits;
}

static firn_status converted(const firn_row_cursor *cursor, firn_slice raw, firn_value *out,
                             firn_error *error) {
    *out = (firn_value){.kind = cursor->type->kind};
    switch (cursor->mapping->conversion) {
    case FIRN_PARQUET_CONVERT_NONE: return firn_plain_to_value(cursor->type, raw, out, error);
    case FIRN_PARQUET_CONVERT_INT32_TO_INT64:
        out->as.int64 = widened(cursor, firn_load_le32(raw.data));
        return FIRN_OK;
    case FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE:
        out->as.float64 = (double)firn_float_of_bits(firn_load_le32(raw.data));
        return FIRN_OK;
    case FIRN_PARQUET_CONVERT_DECIMAL: return decimal_value(cursor, raw, out, error);
    case FIRN_PARQUET_CONVERT_INT96_TO_MICROS: return int96_value(cursor, raw, out, error);
    case FIRN_PARQUET_CONVERT_SCALE_UP:
        if (__builtin_mul_overflow((int64_t)firn_load_le64(raw.data), cursor->mapping->factor,
                                   &out->as.int64)) {
            return corrupt(cursor, error, "a time outside the column's range");
        }
        return FIRN_OK;
    case FIRN_PARQUET_CONVERT_SCALE_DOWN:
        out->as.int64 = floor_divide((int64_t)firn_load_le64(raw.data), cursor->mapping->factor);
        return FIRN_OK;
    case FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP:
        if (__builtin_mul_overflow((int64_t)(int32_t)firn_load_le32(raw.data),
                                   cursor->mapping->factor, &out->as.int64)) {
            return corrupt(cursor, error, "a date outside the column's range");
        }
        return FIRN_OK;
    case FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS:
        out->as.int64 = (int64_t)(int32_t)firn_load_le32(raw.data) * 1000;
        return FIRN_OK;
    }
    return corrupt(cursor, error, "an unknown conversion");
}

firn_status firn_row_cursor_value(const firn_row_cursor *cursor, firn_value *out,
                                  firn_error *error) {
    if (cursor->mapping->constant.data != NULL) {
        return firn_plain_to_value(cursor->type, cursor->mapping->constant, out, error);
    }
    firn_slice raw = {NULL, 0};
    FIRN_TRY(raw_value(cursor, &raw, error));
    firn_status status = converted(cursor, raw, out, error);
    return firn_error_wrap(error, status, "%s", cursor->location);
}
