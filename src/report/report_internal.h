/** How a report is kept. */
#ifndef FIRN_REPORT_REPORT_INTERNAL_H
#define FIRN_REPORT_REPORT_INTERNAL_H

#include "base/arena.h"
#include "base/vector.h"
#include "report/report.h"

typedef enum firn_item_kind {
    FIRN_ITEM_FACT,
    FIRN_ITEM_SECTION,
    FIRN_ITEM_ROWS,
    FIRN_ITEM_LINE
} firn_item_kind;

typedef struct firn_item {
    firn_item_kind kind;
    const char *key, *label; /* label: of a fact, or the heading */
    firn_cell cell;          /* FACT, LINE */
    firn_section *section;
    firn_rows *rows;
} firn_item;

struct firn_section {
    firn_report *report;
    bool quiet; /* only in JSON */
    FIRN_VECTOR(firn_item) items;
};

struct firn_rows {
    firn_report *report;
    const firn_column *columns;
    size_t column_count;
    const char *empty;
    FIRN_VECTOR(firn_cell) cells; /* row after row */
};

struct firn_report {
    firn_arena *arena; /* owns sections, rows and text; their vectors are registered with it */
    firn_section *root;
    bool out_of_memory;
};

/** Gathers small writes. */
typedef struct firn_report_sink {
    firn_buffer buffer;
    const firn_write_to *out;
    firn_error *error;
    size_t lines; /* of text, so far */
} firn_report_sink;

firn_report_sink firn_report_sink_to(const firn_write_to *out, firn_error *error);
/** Passes on what was gathered once it is much, or always with `all`. */
firn_status firn_report_sink_flush(firn_report_sink *sink, bool all);

#endif
