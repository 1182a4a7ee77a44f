/*
 * Levels of a page on their way to the output. A row begins at repetition level 0, so that a run of rows is a run of levels; what
 * changes between two schemas of the same leaf is only which definition level stands for what.
 */
#include "parquet/rewrite_internal.h"

firn_status firn_parquet_check_mapping(const firn_parquet_rewriter *rewriter, firn_error *error) {
    const firn_parquet_leaf_mapping *mapping = rewriter->mapping;
    uint8_t output_maximum = rewriter->output->maximum_definition_level;
    if (rewriter->input == NULL) {
        if (mapping->absent_definition_level == FIRN_PARQUET_FORBIDDEN_LEVEL ||
            mapping->absent_definition_level <= output_maximum) {
            return FIRN_OK;
        }
        return firn_fail(error, FIRN_INVALID, "level of absent values above the maximum");
    }
    uint8_t input_maximum = rewriter->input->maximum_definition_level;
    for (uint32_t level = 0; level <= input_maximum; level++) {
        uint8_t mapped = mapping->definition_level_map[level];
        if (mapped == FIRN_PARQUET_FORBIDDEN_LEVEL) continue;
        bool valued = !mapping->levels_only && level == input_maximum;
        bool bad = mapped > output_maximum ||
                   (!mapping->levels_only && valued != (mapped == output_maximum));
        if (bad) {
            return firn_fail(error, FIRN_INVALID, "definition level %u is mapped to %u of %u",
                             level, mapped, output_maximum);
        }
    }
    if (!mapping->levels_only &&
        rewriter->input->maximum_repetition_level != rewriter->output->maximum_repetition_level) {
        return firn_fail(error, FIRN_INVALID, "repetition levels differ");
    }
    return FIRN_OK;
}

static firn_status null_under_required(const firn_parquet_rewriter *rewriter, firn_error *error) {
    return firn_fail(
        error, FIRN_CORRUPT,
        "%s: column %s: a null, or nothing, where the table's schema requires a value; "
        "make the field optional in the table, or repair the file",
        rewriter->piece->file->source.name, rewriter->output->dotted_path);
}

/* One level for all: pages without nulls, and inputs without levels. */
static firn_status fill_levels(firn_parquet_rewriter *rewriter, uint8_t level, size_t count,
                               const uint8_t **out, firn_error *error) {
    if (level == FIRN_PARQUET_FORBIDDEN_LEVEL) return null_under_required(rewriter, error);
    *out = NULL;
    if (rewriter->output->maximum_definition_level == 0) return FIRN_OK;
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->definition_levels, count, 1, error));
    memset(rewriter->definition_levels.data, level, count);
    *out = rewriter->definition_levels.data;
    return FIRN_OK;
}

static firn_status map_definition_levels(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                         firn_error *error) {
    const firn_parquet_leaf_mapping *mapping = rewriter->mapping;
    uint8_t maximum = rewriter->input->maximum_definition_level;
    const uint8_t *levels = batch->definition_levels;
    size_t count = batch->level_count;
    if (count == 0) {
        batch->definition_levels = NULL;
        return FIRN_OK;
    }
    if (levels == NULL || batch->value_count == count) {
        return fill_levels(rewriter, mapping->definition_level_map[maximum], count,
                           &batch->definition_levels, error);
    }
    if (mapping->levels_identical && !mapping->levels_only) return FIRN_OK;
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->definition_levels, count, 1, error));
    uint8_t *mapped = rewriter->definition_levels.data;
    bool forbidden = false;
    for (size_t i = 0; i < count; i++) {
        mapped[i] = mapping->definition_level_map[levels[i]];
        forbidden |= mapped[i] == FIRN_PARQUET_FORBIDDEN_LEVEL;
    }
    if (forbidden) return null_under_required(rewriter, error);
    batch->definition_levels = rewriter->output->maximum_definition_level == 0 ? NULL : mapped;
    return FIRN_OK;
}

/* A sibling's levels without those of repetitions that the leaf does not take part in, with constants for values. */
static firn_status keep_sibling_levels(firn_parquet_rewriter *rewriter, firn_parquet_batch *out,
                                       firn_error *error) {
    const uint8_t *repetition = out->repetition_levels;
    uint8_t kept = rewriter->mapping->kept_repetition_level;
    uint8_t output_maximum = rewriter->output->maximum_definition_level;
    size_t count = 0;
    if (repetition == NULL) {
        count = out->level_count;
        /* The sibling has no lists above it, the leaf one below: each entry is a row's only one. */
        if (rewriter->output->maximum_repetition_level > 0) {
            FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->repetition_levels, count, 1, error));
            memset(rewriter->repetition_levels.data, 0, count);
            out->repetition_levels = rewriter->repetition_levels.data;
        }
    } else {
        FIRN_TRY(
            firn_parquet_scratch_ensure(&rewriter->repetition_levels, out->level_count, 1, error));
        uint8_t *repetition_out = rewriter->repetition_levels.data;
        uint8_t *definition_out = rewriter->definition_levels.data;
        for (size_t i = 0; i < out->level_count; i++) {
            if (repetition[i] > kept) continue;
            repetition_out[count] = repetition[i];
            if (out->definition_levels != NULL) definition_out[count] = out->definition_levels[i];
            count++;
        }
        out->repetition_levels =
            rewriter->output->maximum_repetition_level == 0 ? NULL : repetition_out;
    }
    out->level_count = count;
    size_t values = out->definition_levels == NULL
                        ? count
                        : firn_parquet_count_level(out->definition_levels, count, output_maximum);
    *out = (firn_parquet_batch){.level_count = count,
                                .definition_levels = out->definition_levels,
                                .repetition_levels = out->repetition_levels};
    return firn_parquet_set_constant(rewriter, out, values, rewriter->mapping->constant, error);
}

firn_status firn_parquet_set_constant(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                      size_t count, firn_slice constant, firn_error *error) {
    const firn_parquet_schema_element *element = rewriter->output->node->element;
    batch->value_count = count;
    if (count == 0) return FIRN_OK;
    if (constant.data == NULL) return null_under_required(rewriter, error);
    uint32_t width = firn_parquet_value_width(element->type, element->type_length);
    if (element->type != FIRN_PARQUET_BYTE_ARRAY && constant.size != width) {
        return firn_fail(error, FIRN_INVALID, "a default value of %zu bytes for column %s",
                         constant.size, rewriter->output->dotted_path);
    }
    size_t capacity = rewriter->zeros.capacity;
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->zeros, count, sizeof(uint32_t), error));
    if (rewriter->zeros.capacity != capacity || capacity == 0) {
        memset(rewriter->zeros.data, 0, rewriter->zeros.capacity);
    }
    rewriter->constant_slice = constant;
    batch->values = (firn_parquet_values){.type = element->type,
                                          .width = width,
                                          .count = 1,
                                          .fixed = constant.data,
                                          .slices = &rewriter->constant_slice};
    batch->indices = (const uint32_t *)(const void *)rewriter->zeros.data;
    batch->dictionary_id = rewriter->next_constant_id;
    return FIRN_OK;
}

firn_status firn_parquet_map_batch(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                                   firn_parquet_batch *out, int64_t *rows, bool *past,
                                   firn_error *error) {
    if (rewriter->rows_begun == 0 && batch->repetition_levels != NULL && batch->level_count > 0 &&
        batch->repetition_levels[0] != 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: column %s: the first level continues a row",
                         rewriter->piece->file->source.name, rewriter->output->dotted_path);
    }
    FIRN_TRY(firn_parquet_keep_rows(rewriter, batch, out, rows, past, error));
    FIRN_TRY(map_definition_levels(rewriter, out, error));
    if (rewriter->mapping->levels_only) return keep_sibling_levels(rewriter, out, error);
    return FIRN_OK;
}
