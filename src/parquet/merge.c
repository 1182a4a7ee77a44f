#include "parquet/merge.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/vector.h"
#include "codec/codec.h"
#include "parquet/file_writer.h"
#include "parquet/merge_schema.h"
#include "parquet/page_codec.h"
#include "parquet/rewrite.h"

/* Column chunks that are made at a time: each is held until its turn to be written comes. */
#define CHUNKS_AT_ONCE 8
/* Smaller parts of a row group are not worth the pages that have to be taken apart. */
#define FEWEST_ROWS_OF_PART ((int64_t)50000)
/* A footer can claim any number of rows. */
#define MOST_PARTS 1024

/* A row group of an input, or a part of one. */
typedef struct merge_unit {
    size_t input, row_group;
    int64_t first_row, rows, of_group; /* of_group: rows of the whole row group */
    int64_t bytes;                     /* uncompressed */
    int64_t compressed;
} merge_unit;

typedef struct open_input {
    bool open;
    firn_read_at source;
    void *handle;
    firn_parquet_file *file;
} open_input;

typedef struct merge_job {
    const firn_parquet_merge_inputs *inputs;
    const firn_parquet_merge_options *options;
    firn_parquet_write_options write;
    firn_arena *arena;
    size_t *schema_of; /* per input: which of the distinct schemas it has */
    FIRN_VECTOR(firn_parquet_merge_source) schemas;
    FIRN_VECTOR(merge_unit) units;
    firn_parquet_merged_schema merged;
    open_input *open;
    int64_t by_compression[FIRN_PARQUET_LZ4_RAW + 1];
    int64_t pages_v1, pages_v2; /* compressed bytes */
    /* What every input has noted; count 0: nothing. */
    firn_parquet_key_value *notes;
    size_t note_count;
    const firn_parquet_merge_outputs *outputs;
    firn_parquet_file_writer *writer; /* of the output that is being written; NULL: none is */
    int64_t output_rows, output_goal; /* of it; bytes that it should have */
    /* Compressed bytes of units that have been written, and of outputs up to now, without footers. */
    int64_t taken, written, left;
    firn_parquet_merge_result *result;
} merge_job;

void firn_parquet_merge_options_init(firn_parquet_merge_options *options) {
    *options = (firn_parquet_merge_options){.keep_compression = true,
                                            .keep_page_version = true,
                                            .row_group_size_bytes = (int64_t)128 << 20,
                                            .row_group_row_limit = 1048576,
                                            .copy_pages = true};
    firn_parquet_write_options_init(&options->write);
    options->write.index_page_row_limit = 131072;
}

static firn_status begin_one(void *context, size_t index, firn_write_to *out, firn_error *error) {
    if (index > 0) return firn_fail(error, FIRN_INVALID, "there is one output only");
    *out = *(const firn_write_to *)context;
    return FIRN_OK;
}

static firn_status finish_one(void *context, size_t index, int64_t rows, int64_t bytes,
                              firn_error *error) {
    (void)context;
    (void)index;
    (void)rows;
    (void)bytes;
    (void)error;
    return FIRN_OK;
}

firn_parquet_merge_outputs firn_parquet_merge_to_one(firn_write_to *destination) {
    return (firn_parquet_merge_outputs){begin_one, finish_one, destination};
}

static void close_input(merge_job *job, size_t index) {
    open_input *input = &job->open[index];
    if (!input->open) return;
    firn_parquet_file_close(input->file);
    job->inputs->close(job->inputs->context, input->handle);
    *input = (open_input){0};
}

static firn_status open_one(merge_job *job, size_t index, firn_error *error) {
    open_input *input = &job->open[index];
    if (input->open) return FIRN_OK;
    FIRN_TRY(job->inputs->open(job->inputs->context, index, &input->source, &input->handle, error));
    input->open = true;
    return firn_parquet_file_open(&input->source, &input->file, error);
}

static bool same_element(const firn_parquet_schema_element *a,
                         const firn_parquet_schema_element *b) {
    const firn_parquet_logical_type *x = &a->logical, *y = &b->logical;
    bool crs =
        x->crs == y->crs || (x->crs != NULL && y->crs != NULL && strcmp(x->crs, y->crs) == 0);
    return a->has_type == b->has_type && (!a->has_type || a->type == b->type) &&
           a->type_length == b->type_length && a->has_repetition == b->has_repetition &&
           a->repetition == b->repetition && a->num_children == b->num_children &&
           a->has_field_id == b->has_field_id && a->field_id == b->field_id &&
           strcmp(a->name, b->name) == 0 && x->kind == y->kind && x->scale == y->scale &&
           x->precision == y->precision && x->unit == y->unit &&
           x->adjusted_to_utc == y->adjusted_to_utc && x->bit_width == y->bit_width &&
           x->is_signed == y->is_signed && x->specification_version == y->specification_version &&
           x->edge_algorithm == y->edge_algorithm && crs;
}

static bool same_node(const firn_parquet_node *a, const firn_parquet_node *b, bool root) {
    if (a->child_count != b->child_count || (!root && !same_element(a->element, b->element))) {
        return false;
    }
    for (size_t i = 0; i < a->child_count; i++) {
        if (!same_node(a->children[i], b->children[i], false)) return false;
    }
    return true;
}

/* A copy of the schema that outlives its file. */
static firn_status keep_schema(merge_job *job, const firn_parquet_file *file, firn_error *error) {
    const firn_parquet_file_metadata *metadata = file->metadata;
    firn_parquet_merge_source source = {.name = firn_arena_strdup(job->arena, file->source.name)};
    firn_parquet_schema_element *elements =
        firn_arena_memdup(job->arena, metadata->schema, metadata->schema_count * sizeof *elements);
    if (source.name == NULL || elements == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < metadata->schema_count; i++) {
        elements[i].name = firn_arena_strdup(job->arena, elements[i].name);
        if (elements[i].name == NULL) return firn_fail_memory(error);
        if (elements[i].logical.crs == NULL) continue;
        elements[i].logical.crs = firn_arena_strdup(job->arena, elements[i].logical.crs);
        if (elements[i].logical.crs == NULL) return firn_fail_memory(error);
    }
    FIRN_TRY(firn_parquet_schema_build(elements, metadata->schema_count, source.name, job->arena,
                                       &source.schema, error));
    return firn_vector_push(&job->schemas, error, source);
}

static firn_status find_schema(merge_job *job, size_t index, firn_error *error) {
    const firn_parquet_file *file = job->open[index].file;
    /* The last one first: neighbours are mostly alike. */
    for (size_t i = job->schemas.count; i > 0; i--) {
        if (!same_node(job->schemas.items[i - 1].schema->root, file->schema->root, true)) continue;
        job->schema_of[index] = i - 1;
        return FIRN_OK;
    }
    job->schema_of[index] = job->schemas.count;
    return keep_schema(job, file, error);
}

/* Notes that hold for the whole only when it has one schema; these two describe other things as well: types, and rows by number. */
static bool may_be_kept(const char *key) {
    return strcmp(key, "ARROW:schema") != 0 && strcmp(key, "pandas") != 0;
}

static firn_status keep_notes(merge_job *job, const firn_parquet_file_metadata *metadata,
                              firn_error *error) {
    job->notes = firn_arena_alloc(job->arena, metadata->key_value_count, sizeof *job->notes);
    if (job->notes == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < metadata->key_value_count; i++) {
        const firn_parquet_key_value *pair = &metadata->key_values[i];
        bool text =
            pair->value.data != NULL && memchr(pair->value.data, 0, pair->value.size) == NULL;
        if (!text || !may_be_kept(pair->key)) continue;
        char *value =
            firn_arena_strndup(job->arena, (const char *)pair->value.data, pair->value.size);
        char *key = firn_arena_strdup(job->arena, pair->key);
        if (key == NULL || value == NULL) return firn_fail_memory(error);
        job->notes[job->note_count++] = (firn_parquet_key_value){key, firn_slice_text(value)};
    }
    return FIRN_OK;
}

/* Keeps those notes that this file has too. */
static void compare_notes(merge_job *job, const firn_parquet_file_metadata *metadata) {
    size_t kept = 0;
    for (size_t i = 0; i < job->note_count; i++) {
        for (size_t j = 0; j < metadata->key_value_count; j++) {
            if (strcmp(job->notes[i].key, metadata->key_values[j].key) != 0 ||
                !firn_slice_equal(job->notes[i].value, metadata->key_values[j].value)) {
                continue;
            }
            job->notes[kept++] = job->notes[i];
            break;
        }
    }
    job->note_count = kept;
}

static void note_habits(merge_job *job, const firn_parquet_column_chunk *chunk, int page_version) {
    firn_codec codec = FIRN_CODEC_UNCOMPRESSED;
    int64_t bytes = chunk->total_compressed_size / 4 + 1; /* sums can't overflow */
    if (firn_parquet_codec_of(chunk->compression, &codec) && firn_codec_can_write(codec) &&
        chunk->compression != FIRN_PARQUET_LZ4) {
        job->by_compression[chunk->compression] += bytes;
    }
    *(page_version == 2 ? &job->pages_v2 : &job->pages_v1) += bytes;
}

/* The row group as one unit, or as several of about equal rows where it is far above what row groups should be. */
static firn_status add_units(merge_job *job, const merge_unit *whole, firn_error *error) {
    const firn_parquet_merge_options *options = job->options;
    if (options->row_group_row_limit <= 0 || options->row_group_size_bytes <= 0) {
        return firn_fail(error, FIRN_INVALID, "row groups need a size above 0");
    }
    int64_t by_rows = whole->rows / options->row_group_row_limit;
    int64_t by_bytes = whole->bytes / options->row_group_size_bytes;
    int64_t parts = by_rows > by_bytes ? by_rows : by_bytes;
    if (options->target_file_size_bytes > 0) {
        /* Half of the target, so that an output can be filled up to it. */
        int64_t by_target = whole->compressed / (options->target_file_size_bytes / 2 + 1);
        if (by_target > parts) parts = by_target;
    }
    if (parts > whole->rows / FEWEST_ROWS_OF_PART) parts = whole->rows / FEWEST_ROWS_OF_PART;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    if (parts < 2) return firn_vector_push(&job->units, error, *whole);
    merge_unit unit = *whole;
    for (int64_t i = 0; i < parts; i++) {
        int64_t left = parts - i;
        unit.rows = (whole->rows - unit.first_row) / left;
        unit.bytes = whole->bytes / parts;
        unit.compressed = whole->compressed / parts;
        FIRN_TRY(firn_vector_push(&job->units, error, unit));
        unit.first_row += unit.rows;
    }
    return FIRN_OK;
}

static firn_status take_units(merge_job *job, size_t index, firn_error *error) {
    const firn_parquet_file *file = job->open[index].file;
    int page_version = firn_parquet_file_page_version(file);
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        const firn_parquet_row_group *group = &file->metadata->row_groups[i];
        merge_unit unit = {
            .input = index, .row_group = i, .rows = group->num_rows, .of_group = group->num_rows};
        for (size_t j = 0; j < group->column_count; j++) {
            FIRN_TRY(firn_parquet_chunk_supported(file, i, j, error));
            const firn_parquet_column_chunk *chunk = &group->columns[j];
            if (__builtin_add_overflow(unit.bytes, chunk->total_uncompressed_size, &unit.bytes) ||
                __builtin_add_overflow(unit.compressed, chunk->total_compressed_size,
                                       &unit.compressed)) {
                return firn_fail(error, FIRN_CORRUPT, "%s: row group %zu: its sizes can't be right",
                                 file->source.name, i);
            }
            note_habits(job, chunk, page_version);
        }
        job->result->input_row_groups++;
        if (unit.rows == 0) continue;
        if (__builtin_add_overflow(job->left, unit.compressed, &job->left)) {
            return firn_fail(error, FIRN_LIMIT, "the inputs are too large together");
        }
        FIRN_TRY(add_units(job, &unit, error));
    }
    return FIRN_OK;
}

static firn_status look_at(merge_job *job, size_t index, firn_error *error) {
    FIRN_TRY(firn_cancel_check(error));
    FIRN_TRY(open_one(job, index, error));
    const firn_parquet_file *file = job->open[index].file;
    if (__builtin_add_overflow(job->result->rows, file->metadata->num_rows, &job->result->rows)) {
        return firn_fail(error, FIRN_LIMIT, "the inputs have too many rows for one file");
    }
    job->result->input_bytes += (int64_t)file->source.size;
    FIRN_TRY(find_schema(job, index, error));
    FIRN_TRY(take_units(job, index, error));
    if (index == 0) {
        FIRN_TRY(keep_notes(job, file->metadata, error));
    } else {
        compare_notes(job, file->metadata);
    }
    close_input(job, index);
    return FIRN_OK;
}

static void choose_habits(merge_job *job) {
    int64_t most = 0;
    for (int i = 0; i <= FIRN_PARQUET_LZ4_RAW && job->options->keep_compression; i++) {
        if (job->by_compression[i] <= most) continue;
        most = job->by_compression[i];
        job->write.compression = (firn_parquet_compression)i;
    }
    job->result->compression = job->write.compression;
    if (job->options->keep_page_version) {
        job->write.page_version = job->pages_v2 > job->pages_v1 ? 2 : 1;
    }
}

/* One output row group, a slice of its leaves at a time. */
typedef struct group_job {
    merge_job *job;
    firn_parquet_piece *pieces;
    size_t piece_count;
    int64_t rows;
    size_t first_leaf;
    firn_parquet_chunk chunks[CHUNKS_AT_ONCE];
    firn_parquet_rewrite_counts counts[CHUNKS_AT_ONCE];
} group_job;

/* What went in must have come out: counted apart from each other. */
static firn_status check_counts(const group_job *group, const firn_parquet_leaf *leaf,
                                const firn_parquet_rewrite_counts *in,
                                const firn_parquet_chunk_counts *out, firn_error *error) {
    if (in->rows == group->rows && out->row_count == group->rows &&
        in->levels == out->level_count && in->nulls == out->null_count) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_CORRUPT,
                     "column %s: of %lld rows, %lld were read and %lld written; the output is not "
                     "used",
                     leaf->dotted_path, (long long)group->rows, (long long)in->rows,
                     (long long)out->row_count);
}

static firn_status rewrite_one(void *context, size_t index, firn_error *error) {
    group_job *group = context;
    merge_job *job = group->job;
    size_t leaf = group->first_leaf + index;
    firn_parquet_rewrite_options how = {.copy_pages = job->options->copy_pages,
                                        .no_joined_pages = job->options->no_joined_pages,
                                        .smallest_joined_bytes =
                                            FIRN_PARQUET_SMALLEST_JOINED_BYTES};
    FIRN_TRY(firn_cancel_check(error));
    FIRN_TRY(firn_parquet_rewrite_leaf(group->pieces, group->piece_count, job->merged.schema, leaf,
                                       &job->write, &how, &group->chunks[index],
                                       &group->counts[index], error));
    return check_counts(group, &job->merged.schema->leaves[leaf], &group->counts[index],
                        &group->chunks[index].counts, error);
}

static firn_status write_leaves(group_job *group, size_t count, firn_error *error) {
    merge_job *job = group->job;
    memset(group->chunks, 0, sizeof group->chunks);
    memset(group->counts, 0, sizeof group->counts);
    firn_status status = firn_pool_each(job->options->pool, count, rewrite_one, group, error);
    for (size_t i = 0; i < count; i++) {
        if (status == FIRN_OK) {
            firn_parquet_rewrite_counts_add(&job->result->counts, &group->counts[i]);
            status = firn_parquet_file_writer_add_chunk(job->writer, &group->chunks[i], error);
        } else {
            firn_parquet_chunk_release(&group->chunks[i]);
        }
    }
    return status;
}

static firn_status open_pieces(group_job *group, const merge_unit *units, firn_error *error) {
    merge_job *job = group->job;
    for (size_t i = 0; i < group->piece_count; i++) {
        size_t input = units[i].input;
        FIRN_TRY(open_one(job, input, error));
        const firn_parquet_file *file = job->open[input].file;
        const firn_parquet_schema *schema = job->schemas.items[job->schema_of[input]].schema;
        if (units[i].row_group >= file->metadata->row_group_count ||
            file->metadata->row_groups[units[i].row_group].num_rows != units[i].of_group ||
            !same_node(schema->root, file->schema->root, true)) {
            return firn_fail(error, FIRN_CORRUPT, "%s: the file changed while it was being read",
                             file->source.name);
        }
        group->pieces[i] =
            (firn_parquet_piece){.file = file,
                                 .row_group = units[i].row_group,
                                 .first_row = units[i].first_row,
                                 .row_count = units[i].rows,
                                 .mappings = job->merged.mappings[job->schema_of[input]]};
        group->rows += units[i].rows;
    }
    return FIRN_OK;
}

static firn_status write_row_group(merge_job *job, const merge_unit *units, size_t count,
                                   firn_error *error) {
    group_job *group = firn_alloc_zeroed(1, sizeof *group);
    firn_parquet_piece *pieces = firn_alloc_zeroed(count, sizeof *pieces);
    firn_status status = FIRN_OK;
    if (group == NULL || pieces == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    *group = (group_job){.job = job, .pieces = pieces, .piece_count = count};
    FIRN_CHECK(open_pieces(group, units, error));
    FIRN_CHECK(firn_parquet_file_writer_begin_row_group(job->writer, group->rows, error));
    size_t leaves = job->merged.schema->leaf_count;
    for (size_t leaf = 0; leaf < leaves; leaf += CHUNKS_AT_ONCE) {
        group->first_leaf = leaf;
        size_t left = leaves - leaf;
        FIRN_CHECK(write_leaves(group, left < CHUNKS_AT_ONCE ? left : CHUNKS_AT_ONCE, error));
    }
    FIRN_CHECK(firn_parquet_file_writer_end_row_group(job->writer, error));
    job->result->row_groups++;
out:
    firn_free(pieces);
    firn_free(group);
    return status;
}

/* What so many compressed bytes of input become, by what became of those before. */
static int64_t expected_bytes(const merge_job *job, int64_t compressed) {
    if (job->taken <= 0) return compressed;
    return (int64_t)((double)compressed * ((double)job->written / (double)job->taken));
}

/* Bytes that the output at hand may still take; all where there is no target. */
static int64_t room_of_output(const merge_job *job) {
    if (job->options->target_file_size_bytes <= 0) return INT64_MAX;
    return job->output_goal - (int64_t)firn_parquet_file_writer_position(job->writer);
}

/* How many units from `first` on make one row group: as many as stay within the limits, at least one. */
static size_t units_of_group(const merge_job *job, size_t first) {
    int64_t rows = 0, bytes = 0, compressed = 0;
    int64_t room = room_of_output(job);
    size_t count = 0;
    while (first + count < job->units.count) {
        const merge_unit *unit = &job->units.items[first + count];
        if (__builtin_add_overflow(rows, unit->rows, &rows) ||
            __builtin_add_overflow(bytes, unit->bytes, &bytes)) {
            break;
        }
        compressed += unit->compressed; /* their sum over all units fits */
        bool fits = rows <= job->options->row_group_row_limit &&
                    bytes <= job->options->row_group_size_bytes &&
                    expected_bytes(job, compressed - unit->compressed / 2) <= room;
        if (count > 0 && !fits) break;
        count++;
    }
    return count == 0 ? 1 : count;
}

static firn_status begin_output(merge_job *job, firn_error *error) {
    firn_write_to destination;
    int64_t target = job->options->target_file_size_bytes;
    if (target > 0) {
        /* What is left goes to files of equal size; to one, where less than half of it would be left for another. */
        int64_t left = expected_bytes(job, job->left);
        int64_t files = left / target + (left % target > target / 2);
        int64_t most = target > INT64_MAX / 2 ? INT64_MAX : target + target / 2;
        job->output_goal = files > 1 ? left / files : most;
    }
    job->output_rows = 0;
    FIRN_TRY(job->outputs->begin(job->outputs->context, (size_t)job->result->outputs, &destination,
                                 error));
    FIRN_TRY(firn_parquet_file_writer_new(job->merged.elements, job->merged.element_count,
                                          &job->write, &destination, &job->writer, error));
    for (size_t i = 0; i < job->note_count && job->schemas.count == 1; i++) {
        FIRN_TRY(firn_parquet_file_writer_set_key_value(
            job->writer, job->notes[i].key, (const char *)job->notes[i].value.data, error));
    }
    return FIRN_OK;
}

static firn_status finish_output(merge_job *job, firn_error *error) {
    uint64_t size = 0;
    FIRN_TRY(firn_parquet_file_writer_finish(job->writer, &size, NULL, error));
    firn_parquet_file_writer_free(job->writer);
    job->writer = NULL;
    job->result->bytes += (int64_t)size;
    size_t index = (size_t)job->result->outputs++;
    return job->outputs->finish(job->outputs->context, index, job->output_rows, (int64_t)size,
                                error);
}

/* Whether the next unit would take the output further from its goal than it is without. */
static bool output_is_full(const merge_job *job, size_t next) {
    int64_t unit = expected_bytes(job, job->units.items[next].compressed);
    return job->output_rows > 0 && room_of_output(job) < unit - unit / 2;
}

static firn_status write_units(merge_job *job, size_t first, size_t count, firn_error *error) {
    uint64_t before = firn_parquet_file_writer_position(job->writer);
    firn_status status = write_row_group(job, &job->units.items[first], count, error);
    size_t last = job->units.items[first + count - 1].input;
    bool goes_on =
        first + count < job->units.count && job->units.items[first + count].input == last;
    for (size_t i = 0; i < count; i++) {
        const merge_unit *unit = &job->units.items[first + i];
        if (status != FIRN_OK || !goes_on || unit->input != last) close_input(job, unit->input);
        job->output_rows += unit->rows;
        job->taken += unit->compressed;
        job->left -= unit->compressed;
    }
    job->written += (int64_t)(firn_parquet_file_writer_position(job->writer) - before);
    return status;
}

static firn_status write_outputs(merge_job *job, firn_error *error) {
    choose_habits(job);
    FIRN_TRY(begin_output(job, error));
    for (size_t first = 0; first < job->units.count;) {
        if (output_is_full(job, first)) {
            FIRN_TRY(finish_output(job, error));
            FIRN_TRY(begin_output(job, error));
        }
        size_t count = units_of_group(job, first);
        FIRN_TRY(write_units(job, first, count, error));
        first += count;
    }
    return finish_output(job, error);
}

static firn_status run(merge_job *job, firn_error *error) {
    size_t count = job->inputs->count;
    if (count == 0) return firn_fail(error, FIRN_INVALID, "there is nothing to merge");
    job->arena = firn_arena_new();
    job->schema_of = firn_alloc_zeroed(count, sizeof *job->schema_of);
    job->open = firn_alloc_zeroed(count, sizeof *job->open);
    if (job->arena == NULL || job->schema_of == NULL || job->open == NULL) {
        return firn_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) FIRN_TRY(look_at(job, i, error));
    FIRN_TRY(firn_parquet_merge_schemas(job->schemas.items, job->schemas.count, job->arena,
                                        &job->merged, error));
    job->result->schemas = (int64_t)job->schemas.count;
    job->result->column_count = (int64_t)job->merged.schema->leaf_count;
    return write_outputs(job, error);
}

firn_status firn_parquet_merge(const firn_parquet_merge_inputs *inputs,
                               const firn_parquet_merge_options *options,
                               const firn_parquet_merge_outputs *outputs,
                               firn_parquet_merge_result *out, firn_error *error) {
    *out = (firn_parquet_merge_result){0};
    merge_job job = {.inputs = inputs,
                     .options = options,
                     .write = options->write,
                     .outputs = outputs,
                     .result = out};
    firn_status status = run(&job, error);
    for (size_t i = 0; job.open != NULL && i < inputs->count; i++) close_input(&job, i);
    firn_parquet_file_writer_free(job.writer);
    firn_vector_release(&job.schemas);
    firn_vector_release(&job.units);
    firn_free(job.schema_of);
    firn_free(job.open);
    firn_arena_free(job.arena);
    return status;
}
