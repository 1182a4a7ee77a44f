/**
 * What a verb has to say, as one document: facts, lists of rows, sections. It is filled once and written as
 * text for people or as JSON for programs, so that both say the same. Not thread-safe.
 *
 * Filling never fails on the spot: when memory is out the report remembers it, further calls do nothing
 * (sections and rows may then be NULL, and NULL is allowed wherever one is taken), and writing fails.
 */
#ifndef FIRN_REPORT_REPORT_H
#define FIRN_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/read_at.h"

/** Version of the JSON documents: raised when a key changes its meaning or goes. */
#define FIRN_REPORT_SCHEMA_VERSION 1

typedef enum firn_cell_kind {
    FIRN_CELL_NULL,
    FIRN_CELL_TEXT,
    FIRN_CELL_INTEGER, /**< plain digits: ids, versions */
    FIRN_CELL_COUNT,   /**< text: with commas */
    FIRN_CELL_BYTES,   /**< text: "1.2 MB"; JSON: the integer */
    FIRN_CELL_TIME,    /**< milliseconds since the epoch; ISO 8601 UTC in both */
    FIRN_CELL_BOOLEAN, /**< text: yes, no */
    FIRN_CELL_JSON     /**< `json` in JSON, `text` in text */
} firn_cell_kind;

/** One value. Text is borrowed and must live as long as the report (see firn_report_format). */
typedef struct firn_cell {
    firn_cell_kind kind;
    int64_t integer;
    const char *text;
    const char *json; /**< a JSON value */
} firn_cell;

static inline firn_cell firn_cell_null(void) {
    return (firn_cell){FIRN_CELL_NULL, 0, NULL, NULL};
}

/** NULL text gives null. */
static inline firn_cell firn_cell_text(const char *text) {
    return (firn_cell){text == NULL ? FIRN_CELL_NULL : FIRN_CELL_TEXT, 0, text, NULL};
}

static inline firn_cell firn_cell_integer(int64_t value) {
    return (firn_cell){FIRN_CELL_INTEGER, value, NULL, NULL};
}

static inline firn_cell firn_cell_count(int64_t value) {
    return (firn_cell){FIRN_CELL_COUNT, value, NULL, NULL};
}

static inline firn_cell firn_cell_bytes(int64_t value) {
    return (firn_cell){FIRN_CELL_BYTES, value, NULL, NULL};
}

static inline firn_cell firn_cell_time(int64_t milliseconds) {
    return (firn_cell){FIRN_CELL_TIME, milliseconds, NULL, NULL};
}

static inline firn_cell firn_cell_boolean(bool value) {
    return (firn_cell){FIRN_CELL_BOOLEAN, value, NULL, NULL};
}

/** NULL `json` gives null in JSON; NULL `text` shows as "-". */
static inline firn_cell firn_cell_json(const char *json, const char *text) {
    return (firn_cell){FIRN_CELL_JSON, 0, text, json};
}

typedef struct firn_report firn_report;
typedef struct firn_section firn_section;
typedef struct firn_rows firn_rows;

/** A column of rows. `key` NULL: only in text; `header` NULL: only in JSON. */
typedef struct firn_column {
    const char *key, *header;
} firn_column;

/** An empty document whose JSON begins with schema_version and `command`. */
firn_status firn_report_new(const char *command, firn_report **out, firn_error *error);
void firn_report_free(firn_report *report);

/** The outermost section. */
firn_section *firn_report_root(firn_report *report);

/** Adds a fact. `key` NULL: only in text; `label` NULL: only in JSON. Both are constants. */
void firn_section_add(firn_section *section, const char *key, const char *label, firn_cell cell);
/** Adds a section: an object in JSON; in text a block under `heading` (NULL: no heading, no indent). */
firn_section *firn_section_child(firn_section *section, const char *key, const char *heading);
/** Adds a section that only JSON has. */
firn_section *firn_section_quiet(firn_section *section, const char *key);
/**
 * Adds a list: an array of objects in JSON; in text an aligned table under `heading`, or the line `empty`
 * (nullable) when it gets no rows. `columns` is borrowed. `key` NULL: only in text; a heading "" and no
 * header in any column: only in JSON.
 */
firn_rows *firn_section_rows(firn_section *section, const char *key, const char *heading,
                             const firn_column *columns, size_t column_count, const char *empty);
/** Adds a row: one cell for each column, copied. */
void firn_rows_add(firn_rows *rows, const firn_cell *cells);
/** Adds a line of text that JSON leaves out. */
void firn_section_line(firn_section *section, const char *format, ...) FIRN_PRINTF(2, 3);

/** Text that lives as long as the report; "" when memory is out. */
const char *firn_report_format(firn_report *report, const char *format, ...) FIRN_PRINTF(2, 3);
const char *firn_report_copy(firn_report *report, const char *text);
/** The JSON text of a value; the reference is given up. NULL value or no memory: "null", remembered. */
const char *firn_report_json(firn_report *report, json_t *value);
/** The report that a section belongs to; NULL for NULL. */
firn_report *firn_section_report(const firn_section *section);

/** NO_MEMORY when something could not be added. */
firn_status firn_report_status(const firn_report *report, firn_error *error);

firn_status firn_report_write_text(const firn_report *report, const firn_write_to *out,
                                   firn_error *error);
/** The document and a line feed. */
firn_status firn_report_write_json(const firn_report *report, const firn_write_to *out,
                                   firn_error *error);
/** The same on one line, for a stream of JSON lines. */
firn_status firn_report_write_json_line(const firn_report *report, const firn_write_to *out,
                                        firn_error *error);

/**
 * Appends text as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD: paths are opaque
 * bytes, a JSON document is not.
 */
firn_status firn_json_text_append(const char *text, firn_buffer *out, firn_error *error);

#endif
