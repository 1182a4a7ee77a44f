/*
 * Dictionaries that measuring merged, on their way to the rewrite of the same pieces, or of the first ones of them: entries come in the
 * pieces' order, so that the dictionary of the first pieces is the beginning of that of all.
 */
#include "base/alloc.h"
#include "parquet/rewrite_internal.h"

struct firn_parquet_merged {
    bool fails;                         /* all pieces together get no dictionary */
    firn_parquet_dictionary dictionary; /* of the first `merged_count` */
    firn_parquet_translation
        *translations; /* NULL where there are none, and once they were taken */
    size_t piece_count, merged_count;
};

static void free_translations(firn_parquet_translation *translations, size_t count) {
    for (size_t i = 0; translations != NULL && i < count; i++) firn_free(translations[i].entries);
    firn_free(translations);
}

void firn_parquet_release_translations(firn_parquet_rewriter *rewriter) {
    free_translations(rewriter->translations, rewriter->translation_count);
    rewriter->translations = NULL;
    rewriter->translation = NULL;
}

void firn_parquet_merged_free(firn_parquet_merged *merged) {
    if (merged == NULL) return;
    free_translations(merged->translations, merged->piece_count);
    firn_parquet_dictionary_release(&merged->dictionary);
    firn_free(merged);
}

size_t firn_parquet_merged_size(const firn_parquet_merged *merged) {
    const firn_parquet_dictionary *dictionary = &merged->dictionary;
    size_t size = sizeof *merged + dictionary->bytes.capacity +
                  dictionary->offsets.capacity * sizeof *dictionary->offsets.items;
    for (size_t i = 0; merged->translations != NULL && i < merged->piece_count; i++) {
        size += sizeof *merged->translations +
                merged->translations[i].count * sizeof *merged->translations->entries;
    }
    return size;
}

firn_status firn_parquet_keep_merged(firn_parquet_rewriter *rewriter, size_t merged_count,
                                     bool fails, firn_parquet_dictionary *dictionary,
                                     firn_parquet_merged **out, firn_error *error) {
    firn_parquet_merged *merged = firn_alloc_zeroed(1, sizeof *merged);
    if (merged == NULL) return firn_fail_memory(error);
    *out = merged;
    merged->fails = fails;
    merged->piece_count = rewriter->piece_count;
    if (merged_count == 0) return FIRN_OK;
    merged->merged_count = merged_count;
    merged->dictionary = *dictionary;
    merged->translations = rewriter->translations;
    *dictionary = (firn_parquet_dictionary){0};
    rewriter->translations = NULL;
    firn_parquet_dictionary_cut(&merged->dictionary,
                                merged->translations[merged_count - 1].reached);
    return FIRN_OK;
}

bool firn_parquet_merged_is_known(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_merged *merged = rewriter->merged;
    if (merged == NULL) return false;
    return merged->merged_count >= rewriter->piece_count ||
           (merged->fails && merged->piece_count == rewriter->piece_count);
}

bool firn_parquet_take_merged(firn_parquet_rewriter *rewriter, firn_parquet_dictionary *dictionary,
                              int64_t *values) {
    firn_parquet_merged *merged = rewriter->merged;
    size_t count = rewriter->piece_count;
    rewriter->merged = NULL;
    if (merged->translations == NULL || merged->merged_count < count || count == 0) return false;
    *dictionary = merged->dictionary;
    rewriter->translations = merged->translations;
    rewriter->translation_count = merged->piece_count;
    merged->dictionary = (firn_parquet_dictionary){0};
    merged->translations = NULL;
    const firn_parquet_translation *last = &rewriter->translations[count - 1];
    firn_parquet_dictionary_cut(dictionary, last->reached);
    *values = last->values;
    return true;
}
