/**
 * The inside of rewriting one leaf: rewrite.c walks pieces and pages, rewrite_judge.c says which way a page may go,
 * rewrite_copy.c moves compressed bytes, rewrite_dictionary.c merges dictionaries, rewrite_merged.c keeps what was merged, rewrite_encoding.c says which encoding the inputs
 * have, rewrite_rows.c says which rows stay and takes the others out, rewrite_levels.c maps levels, rewrite_fill.c fills nulls,
 * rewrite_bounds.c says which bounds go on.
 */
#ifndef FIRN_PARQUET_REWRITE_INTERNAL_H
#define FIRN_PARQUET_REWRITE_INTERNAL_H

#include "parquet/chunk_part.h"
#include "parquet/convert.h"
#include "parquet/rewrite.h"
#include "parquet/scratch.h"
#include "parquet/statistics.h"

/** Pages below this many values are not worth a page of the output. */
#define FIRN_PARQUET_SMALLEST_COPIED_PAGE 4096
/** … and index pages below this many are put together: they are small, and few of them are read faster (design, section 14, 3). */
#define FIRN_PARQUET_SMALLEST_COPIED_INDEX_PAGE 65536

/** An input's dictionary in terms of the merged one. */
typedef struct firn_parquet_translation {
    uint32_t *entries; /**< owned; NULL: the piece has no dictionary */
    size_t count;
    bool identical; /**< each entry is where it was */
    /* Where measuring merged it: the dictionary's entries, and the values that they stand for, with those of all pieces before. */
    uint32_t reached;
    int64_t values;
} firn_parquet_translation;

/** Which rows of a row group stay: first … end - 1 without the dropped ones. */
typedef struct firn_parquet_rows {
    int64_t first, end;
    int64_t of_group;       /**< rows of the row group */
    const int64_t *dropped; /**< within first … end - 1, ascending */
    size_t dropped_count;
    int64_t count;  /**< that stay */
    bool whole_run; /**< the run is the row group */
    bool all;       /**< and nothing is dropped */
} firn_parquet_rows;

typedef struct firn_parquet_level_run {
    size_t first, count;
} firn_parquet_level_run;

typedef struct firn_parquet_rewriter {
    const firn_parquet_schema *output_schema;
    const firn_parquet_leaf *output;
    size_t leaf_index;
    const firn_parquet_write_options *options;
    bool copy_pages, may_join;
    int64_t smallest_joined; /**< raw bytes of a frame */
    firn_parquet_chunk_writer *writer;
    firn_parquet_chunk_reader *reader; /**< NULL until a piece needs one */
    firn_parquet_converter converter;
    firn_parquet_scratch definition_levels, repetition_levels,
        zeros; /**< of the batch on its way */
    firn_parquet_scratch translated;
    firn_parquet_scratch kept_definitions, kept_repetitions, kept_values; /**< of rows that stay */
    firn_parquet_scratch filled;
    FIRN_VECTOR(firn_parquet_level_run) runs;       /**< of the page at hand, levels that stay */
    firn_buffer part_definitions, part_repetitions; /**< levels of a dictionary that moves */
    firn_buffer compressed;
    firn_parquet_bounds bounds; /**< of a page that is compressed anew */
    firn_slice constant_slice;
    uint64_t next_constant_id; /**< counts down, away from the readers' dictionary ids */
    /* A converted dictionary, kept while the input's stays the same. */
    bool dictionary_converted;
    uint64_t converted_id;
    firn_parquet_values converted_dictionary;
    firn_parquet_translation *translations; /**< one per piece; NULL: no dictionaries are merged */
    size_t translation_count; /**< piece_count, or more: those that are behind are not looked at */
    size_t piece_count;
    firn_parquet_merged *merged; /**< what measuring found, or NULL; borrowed */
    bool makes_dictionary;       /**< PLAIN integers get one */
    firn_parquet_rewrite_counts counts;

    /* The piece at hand. */
    const firn_parquet_piece *piece;
    const firn_parquet_translation *translation; /**< NULL: its dictionary is not merged */
    const firn_parquet_leaf_mapping *mapping;
    const firn_parquet_leaf *input; /**< NULL where there is none */
    firn_parquet_rows rows;
    firn_parquet_fill fill; /**< NONE also where the piece has no value for it */
    int64_t fill_base; /**< of the row group's first row, where rows are numbered; -1 for none */
    /* Rows of a file before a row group: pieces come in order, so that few row groups are summed up. */
    const firn_parquet_file *numbered_file;
    size_t numbered_group;
    int64_t numbered_rows;
    bool may_copy;         /**< compressed values may stay */
    int64_t rows_begun;    /**< in the input chunk, before the page at hand */
    int64_t copied_values; /**< of the piece, in pages without bounds of their own */
    bool index_loaded;
    firn_parquet_column_index column_index; /**< in `index_arena`; empty where there is none */
    firn_arena *index_arena;
    bool page_encoded; /**< a page of the piece went another way */
    bool
        dictionary_uncounted; /**< the piece's dictionary page, if there is one, is to be counted with a data page */
} firn_parquet_rewriter;

/* rewrite.c */

void firn_parquet_rewriter_init(firn_parquet_rewriter *rewriter, const firn_parquet_schema *output,
                                size_t leaf_index, const firn_parquet_write_options *options,
                                const firn_parquet_rewrite_options *rewrite_options);
void firn_parquet_rewriter_release(firn_parquet_rewriter *rewriter);

/* rewrite_judge.c */

/** Whether encoded values of the piece's chunk may stay as they are: type and meaning don't change. */
bool firn_parquet_values_may_stay(const firn_parquet_rewriter *rewriter);
/** Whether compressed values of so many raw bytes are worth keeping as a part of a page. */
bool firn_parquet_frame_is_large_enough(const firn_parquet_rewriter *rewriter, int64_t raw_size);
bool firn_parquet_is_dictionary_encoding(firn_parquet_encoding encoding);
/** … and their compressed form too. */
bool firn_parquet_piece_may_be_copied(const firn_parquet_rewriter *rewriter);
/** Of a piece's compressed bytes, those in PLAIN pages as far as the footer tells. */
int64_t firn_parquet_piece_plain_bytes(const firn_parquet_rewriter *rewriter, int64_t *total);
/** Whether the entry counts data pages, at least one. */
bool firn_parquet_counts_data_pages(const firn_parquet_page_encoding_stats *stats);
/** Whether the footer names data pages of dictionary indices. */
bool firn_parquet_piece_has_dictionary(const firn_parquet_rewriter *rewriter);

typedef struct firn_parquet_verdict {
    firn_parquet_way way;       /**< COPIED, JOINED, RECOMPRESSED; ENCODED for all the rest */
    firn_parquet_reason reason; /**< of ENCODED, and what it would be where bounds forbid copying */
} firn_parquet_verdict;

/** `cut`: rows of the page go, or may go. */
firn_parquet_verdict firn_parquet_judge_page(const firn_parquet_rewriter *rewriter,
                                             const firn_parquet_page *page, bool cut);

/* rewrite_encoding.c */

/** The encoding of most bytes that lie in no dictionary, of those that the output's type can have. PLAIN where the inputs have none. */
firn_parquet_encoding firn_parquet_encoding_of_inputs(const firn_parquet_rewriter *rewriter,
                                                      const firn_parquet_piece *pieces,
                                                      size_t piece_count);

/* rewrite_rows.c */

/** INVALID where dropped rows don't ascend. */
firn_status firn_parquet_check_rows(const firn_parquet_piece *pieces, size_t piece_count,
                                    firn_error *error);
void firn_parquet_set_rows(firn_parquet_rows *rows, const firn_parquet_piece *piece,
                           int64_t group_rows);

typedef enum firn_parquet_page_fate {
    FIRN_PARQUET_PAGE_STAYS,  /**< all of its rows */
    FIRN_PARQUET_PAGE_CUT,    /**< some of them, as far as is known */
    FIRN_PARQUET_PAGE_GOES,   /**< none */
    FIRN_PARQUET_PAGE_BEFORE, /**< it ends before the piece's run begins */
    FIRN_PARQUET_PAGE_BEHIND  /**< it begins behind it */
} firn_parquet_page_fate;

/** Without decompressing. *page_rows is set unless the page stays; -1 where only its levels tell. */
firn_status firn_parquet_page_fate_of(firn_parquet_rewriter *rewriter,
                                      const firn_parquet_page *page, firn_parquet_page_fate *fate,
                                      int64_t *page_rows, firn_error *error);
/**
 * Takes rows that go out of a decoded page. *past when a row behind the piece's run was met. *out lies in the batch, or in the
 * rewriter until the next call.
 */
firn_status firn_parquet_keep_rows(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                                   firn_parquet_batch *out, int64_t *row_count, bool *past,
                                   firn_error *error);

/* rewrite_fill.c */

/** What the piece's nulls become. INVALID where the leaf is of another kind, or the values pass 63 bits. */
firn_status firn_parquet_set_fill(firn_parquet_rewriter *rewriter, firn_error *error);
/** Whether nulls of the piece are filled, or the leaf is made whole, as far as the footer tells. */
bool firn_parquet_is_filled(const firn_parquet_rewriter *rewriter);
bool firn_parquet_page_is_filled(const firn_parquet_rewriter *rewriter,
                                 const firn_parquet_page_header *header);
/** Whether the chunk is known to be null alone, or is not there. */
bool firn_parquet_has_no_values(const firn_parquet_rewriter *rewriter);
/** What to say where nulls come that are to be filled, but nobody expected any. */
firn_status firn_parquet_null_uncounted(const firn_parquet_rewriter *rewriter, firn_error *error);
/** Puts values in the place of the nulls of a decoded page, before any of its rows goes. */
firn_status firn_parquet_fill_nulls(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                    firn_error *error);
/** All rows of a piece whose file lacks the leaf. */
firn_status firn_parquet_append_filled(firn_parquet_rewriter *rewriter, firn_error *error);

/* rewrite_copy.c */

firn_status firn_parquet_copy_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                                   firn_error *error);
/** Whether copying the page would lose no bounds and no NaN count. */
bool firn_parquet_is_bounded(firn_parquet_rewriter *rewriter, const firn_parquet_page *page);
/** Puts the page's compressed values on a page with others, or with other levels. */
firn_status firn_parquet_join_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                                   firn_error *error);
/** Compresses the page's encoded values anew. */
firn_status firn_parquet_recompress_page(firn_parquet_rewriter *rewriter,
                                         const firn_parquet_page *page, firn_error *error);
/**
 * With the reader at the chunk's start: where the chunk's indices are 0 … n - 1, its dictionary's body goes over as a PLAIN page and *moved is
 * set; *next is then the first page behind, or NULL. Otherwise the reader has to start over.
 */
firn_status firn_parquet_move_dictionary(firn_parquet_rewriter *rewriter, bool *moved,
                                         const firn_parquet_page **next, firn_error *error);
/** Notes what went which way. */
void firn_parquet_count_page(firn_parquet_rewriter *rewriter, firn_parquet_way way, int64_t bytes);

/* rewrite_dictionary.c */

/**
 * Merges the dictionaries of all pieces and gives the result to the writer, or, where that does not pay, makes the writer's pages PLAIN by
 * *options. The writer does not exist yet; what it gets is left in *dictionary with *merged set.
 */
firn_status firn_parquet_merge_dictionaries(firn_parquet_rewriter *rewriter,
                                            const firn_parquet_piece *pieces, size_t piece_count,
                                            firn_parquet_write_options *options,
                                            firn_parquet_dictionary *dictionary, bool *merged,
                                            firn_error *error);
/** Values of the piece that stay; nulls are among them where nobody counts them. */
int64_t firn_parquet_values_of_piece(const firn_parquet_rewriter *rewriter);
/** After this many values, of two pieces at least, a dictionary with hardly an entry twice is given up. */
#define FIRN_PARQUET_HOPELESS_VALUES 50000
/** `entries`: of the dictionaries that were put together to one of `distinct` entries. */
bool firn_parquet_is_hopeless(uint64_t distinct, uint64_t entries, int64_t values);
/* rewrite_merged.c */

void firn_parquet_release_translations(firn_parquet_rewriter *rewriter);
/**
 * For the rewrite: what was merged of the first `merged_count` pieces, none or more, taking *dictionary and the rewriter's translations
 * over; and whether all pieces together get no dictionary.
 */
firn_status firn_parquet_keep_merged(firn_parquet_rewriter *rewriter, size_t merged_count,
                                     bool fails, firn_parquet_dictionary *dictionary,
                                     firn_parquet_merged **out, firn_error *error);
/** Whether rewriter->merged tells anything of the rewriter's pieces. */
bool firn_parquet_merged_is_known(const firn_parquet_rewriter *rewriter);
/** Takes dictionary and translations of the rewriter's pieces, and how many values they stand for. False where they get no dictionary. */
bool firn_parquet_take_merged(firn_parquet_rewriter *rewriter, firn_parquet_dictionary *dictionary,
                              int64_t *values);

/* rewrite_sample.c */
/** Whether merging need not be begun. */
firn_status firn_parquet_sample_dictionaries(firn_parquet_rewriter *rewriter,
                                             const firn_parquet_piece *pieces, bool *hopeless,
                                             firn_error *error);
/** The batch's indices in terms of the merged dictionary. */
firn_status firn_parquet_translate(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                   firn_error *error);
firn_status firn_parquet_set_piece(firn_parquet_rewriter *rewriter,
                                   const firn_parquet_piece *pieces, size_t index,
                                   firn_error *error);
/** Puts the reader at the start of the piece's chunk and prepares the conversion. */
firn_status firn_parquet_open_chunk(firn_parquet_rewriter *rewriter, firn_error *error);

/* rewrite_bounds.c */

const firn_parquet_column_chunk *firn_parquet_chunk_of(const firn_parquet_rewriter *rewriter);
/**
 * Bounds of the piece's chunk, where they can be trusted to be bounds of the output leaf's values. Of *out only minimum, maximum and
 * inexact are set.
 */
bool firn_parquet_trusted_bounds(const firn_parquet_rewriter *rewriter,
                                 firn_parquet_given_bounds *out);
/** The same of a page, by its header. */
bool firn_parquet_trusted_page_bounds(const firn_parquet_rewriter *rewriter,
                                      const firn_parquet_statistics *statistics,
                                      firn_parquet_given_bounds *out);
/** … by the file's column index, read only where the file lies in memory. */
bool firn_parquet_indexed_bounds(firn_parquet_rewriter *rewriter, size_t page_number,
                                 firn_parquet_given_bounds *out);
/** NaN in the chunk; -1 unknown. */
int64_t firn_parquet_known_nan_count(const firn_parquet_rewriter *rewriter);
/** After the piece's last page: the chunk's statistics for what went over without bounds. */
firn_status firn_parquet_merge_piece_statistics(firn_parquet_rewriter *rewriter, firn_error *error);

/* rewrite_levels.c */

/** Checks the mapping of the piece against both leaves: INVALID. */
firn_status firn_parquet_check_mapping(const firn_parquet_rewriter *rewriter, firn_error *error);
/**
 * Cuts a decoded page down to the piece's rows (firn_parquet_keep_rows) and maps its levels to the output's. Values come along, but
 * for a sibling's, whose place constants take.
 */
firn_status firn_parquet_map_batch(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                                   firn_parquet_batch *out, int64_t *rows, bool *past,
                                   firn_error *error);
/** Gives the batch `count` times the constant, in PLAIN form without a length. CORRUPT where it is NULL. */
firn_status firn_parquet_set_constant(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                      size_t count, firn_slice constant, firn_error *error);

#endif
