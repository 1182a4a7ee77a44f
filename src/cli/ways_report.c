#include "cli/ways_report.h"

static const char *text_of_way(firn_parquet_way way) {
    switch (way) {
    case FIRN_PARQUET_WAY_COPIED: return "copied as they were";
    case FIRN_PARQUET_WAY_MOVED: return "dictionaries moved, as plain pages";
    case FIRN_PARQUET_WAY_JOINED: return "compressed values kept, on new pages";
    case FIRN_PARQUET_WAY_RECOMPRESSED: return "compressed anew";
    case FIRN_PARQUET_WAY_REMAPPED: return "dictionary indices renumbered";
    case FIRN_PARQUET_WAY_ENCODED: return "decoded and encoded";
    case FIRN_PARQUET_WAY_LEFT_OUT: return "left out: no row of them stays";
    default: return firn_parquet_way_name(way);
    }
}

static const char *text_of_reason(firn_parquet_reason reason) {
    switch (reason) {
    case FIRN_PARQUET_REASON_OFF: return "copying is switched off";
    case FIRN_PARQUET_REASON_ROWS: return "some of the rows go, or go elsewhere";
    case FIRN_PARQUET_REASON_TYPE: return "the type changes, or values are filled in";
    case FIRN_PARQUET_REASON_LEVELS: return "levels change that are compressed with the values";
    case FIRN_PARQUET_REASON_CODEC: return "the codec changes";
    case FIRN_PARQUET_REASON_VERSION: return "the page version changes";
    case FIRN_PARQUET_REASON_SMALL: return "pages too small to keep, that can't be joined";
    case FIRN_PARQUET_REASON_ENCODING: return "an encoding that can't be copied";
    case FIRN_PARQUET_REASON_DICTIONARY: return "a dictionary that does not pay, or is full";
    case FIRN_PARQUET_REASON_NEW_DICTIONARY: return "plain values that may get a dictionary";
    case FIRN_PARQUET_REASON_ROW_START: return "pages that may begin within a row";
    case FIRN_PARQUET_REASON_HEADER: return "page headers that contradict themselves";
    default: return firn_parquet_reason_name(reason);
    }
}

static void add_tally(firn_rows *rows, const char *name, const char *text,
                      const firn_parquet_tally *tally) {
    if (tally->pages == 0 && tally->bytes == 0) return;
    const firn_cell cells[] = {
        firn_cell_text(name),
        firn_cell_count(tally->pages),
        firn_cell_bytes(tally->bytes),
        firn_cell_text(text),
    };
    firn_rows_add(rows, cells);
}

void firn_report_ways(firn_section *section, const firn_parquet_rewrite_counts *counts,
                      const char *heading) {
    static const firn_column ways[] = {
        {"way", NULL}, {"pages", "pages"}, {"bytes", "size"}, {NULL, "how"}};
    static const firn_column reasons[] = {
        {"reason", NULL}, {"pages", "pages"}, {"bytes", "size"}, {NULL, "because"}};
    static const firn_column quiet_ways[] = {{"way", NULL}, {"pages", NULL}, {"bytes", NULL}};
    static const firn_column quiet_reasons[] = {{"reason", NULL}, {"pages", NULL}, {"bytes", NULL}};
    bool shown = heading != NULL;
    size_t columns = shown ? 4 : 3;
    firn_rows *rows = firn_section_rows(section, "ways", shown ? heading : "",
                                        shown ? ways : quiet_ways, columns, NULL);
    for (int i = 0; i < FIRN_PARQUET_WAY_COUNT; i++) {
        firn_parquet_way way = (firn_parquet_way)i;
        add_tally(rows, firn_parquet_way_name(way), text_of_way(way), &counts->ways[i]);
    }
    rows = firn_section_rows(section, "reasons", shown ? "Why pages are decoded" : "",
                             shown ? reasons : quiet_reasons, columns, NULL);
    for (int i = 0; i < FIRN_PARQUET_REASON_COUNT; i++) {
        firn_parquet_reason reason = (firn_parquet_reason)i;
        add_tally(rows, firn_parquet_reason_name(reason), text_of_reason(reason),
                  &counts->reasons[i]);
    }
}
