#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/format.h"
#include "report/report_internal.h"

/* Stands for a null. */
#define ABSENT "-"

/* A cell's text; `room` holds it where it is made here. Text from outside may still need disarming. */
static const char *cell_text(const firn_cell *cell, char room[FIRN_FORMAT_SIZE]) {
    switch (cell->kind) {
    case FIRN_CELL_NULL: return ABSENT;
    case FIRN_CELL_TEXT: return cell->text;
    case FIRN_CELL_INTEGER: snprintf(room, FIRN_FORMAT_SIZE, "%" PRId64, cell->integer); break;
    case FIRN_CELL_COUNT: firn_format_count(cell->integer, room); break;
    case FIRN_CELL_BYTES: firn_format_bytes(cell->integer, room); break;
    case FIRN_CELL_TIME: firn_clock_format_ms(cell->integer, room, FIRN_FORMAT_SIZE); break;
    case FIRN_CELL_BOOLEAN: return cell->integer != 0 ? "yes" : "no";
    case FIRN_CELL_JSON: return cell->text == NULL ? ABSENT : cell->text;
    }
    return room;
}

static bool is_number(const firn_cell *cell) {
    return cell->kind == FIRN_CELL_INTEGER || cell->kind == FIRN_CELL_COUNT ||
           cell->kind == FIRN_CELL_BYTES;
}

/* Columns that a text takes: its characters, not its bytes. */
static size_t text_width(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0xC0) != 0x80) width++;
    }
    return width;
}

static firn_status append_spaces(size_t count, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < count; i++) FIRN_TRY(firn_buffer_append_byte(out, ' ', error));
    return FIRN_OK;
}

static firn_status end_line(firn_report_sink *sink) {
    sink->lines++;
    return firn_buffer_append_byte(&sink->buffer, '\n', sink->error);
}

/* Names in tables come from anyone: control characters (C0, DEL, C1) must not reach a terminal. */
static firn_status append_disarmed(const char *text, firn_buffer *out, firn_error *error) {
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        unsigned char byte = *c;
        if (byte == 0xC2 && c[1] >= 0x80 && c[1] <= 0x9F) {
            byte = '?';
            c++;
        } else if (byte < 0x20 || byte == 0x7F) {
            byte = '?';
        }
        FIRN_TRY(firn_buffer_append_byte(out, byte, error));
    }
    return FIRN_OK;
}

typedef struct table_layout {
    size_t *widths;
    bool *right; /* a column of numbers: set to the right */
    size_t last; /* the last column that is shown; nothing is padded behind it */
    bool any;
} table_layout;

static size_t row_count(const firn_rows *rows) {
    return rows->column_count == 0 ? 0 : rows->cells.count / rows->column_count;
}

static void measure(const firn_rows *rows, table_layout *layout) {
    char room[FIRN_FORMAT_SIZE];
    for (size_t i = 0; i < rows->column_count; i++) {
        if (rows->columns[i].header == NULL) continue;
        layout->last = i;
        layout->any = true;
        layout->widths[i] = text_width(rows->columns[i].header);
        bool some_number = false;
        bool all_numbers = true;
        for (size_t row = 0; row < row_count(rows); row++) {
            const firn_cell *cell = &rows->cells.items[row * rows->column_count + i];
            size_t width = text_width(cell_text(cell, room));
            if (width > layout->widths[i]) layout->widths[i] = width;
            if (cell->kind == FIRN_CELL_NULL) continue;
            some_number = true;
            all_numbers = all_numbers && is_number(cell);
        }
        layout->right[i] = some_number && all_numbers;
    }
}

static firn_status append_padded(const char *text, size_t width, bool right, bool last,
                                 firn_buffer *out, firn_error *error) {
    size_t used = text_width(text);
    size_t padding = width > used ? width - used : 0;
    if (right) FIRN_TRY(append_spaces(padding, out, error));
    FIRN_TRY(append_disarmed(text, out, error));
    if (last) return FIRN_OK;
    return append_spaces((right ? 0 : padding) + 2, out, error);
}

static firn_status append_table_line(const firn_rows *rows, const table_layout *layout,
                                     const firn_cell *cells, size_t indent,
                                     firn_report_sink *sink) {
    char room[FIRN_FORMAT_SIZE];
    FIRN_TRY(append_spaces(indent, &sink->buffer, sink->error));
    for (size_t i = 0; i < rows->column_count; i++) {
        const char *header = rows->columns[i].header;
        if (header == NULL) continue;
        const char *text = cells == NULL ? header : cell_text(&cells[i], room);
        FIRN_TRY(append_padded(text, layout->widths[i], layout->right[i], i == layout->last,
                               &sink->buffer, sink->error));
    }
    FIRN_TRY(end_line(sink));
    return firn_report_sink_flush(sink, false);
}

static firn_status write_table(firn_report_sink *sink, const firn_rows *rows, size_t indent) {
    firn_status status = FIRN_OK;
    table_layout layout = {0};
    layout.widths = firn_alloc_zeroed(rows->column_count + 1, sizeof *layout.widths);
    layout.right = firn_alloc_zeroed(rows->column_count + 1, sizeof *layout.right);
    if (layout.widths == NULL || layout.right == NULL) {
        status = firn_fail_memory(sink->error);
        goto out;
    }
    measure(rows, &layout);
    if (!layout.any) goto out;
    FIRN_CHECK(append_table_line(rows, &layout, NULL, indent, sink));
    for (size_t row = 0; row < row_count(rows); row++) {
        const firn_cell *cells = rows->cells.items + row * rows->column_count;
        FIRN_CHECK(append_table_line(rows, &layout, cells, indent, sink));
    }
out:
    firn_free(layout.widths);
    firn_free(layout.right);
    return status;
}

static bool shows_text(const firn_rows *rows) {
    for (size_t i = 0; i < rows->column_count; i++) {
        if (rows->columns[i].header != NULL) return true;
    }
    return false;
}

static firn_status append_line(firn_report_sink *sink, const char *text, size_t indent) {
    FIRN_TRY(append_spaces(text[0] == '\0' ? 0 : indent, &sink->buffer, sink->error));
    FIRN_TRY(append_disarmed(text, &sink->buffer, sink->error));
    return end_line(sink);
}

/* Blocks are set apart by an empty line. */
static firn_status append_heading(firn_report_sink *sink, const char *heading, size_t indent,
                                  bool first) {
    if (!first) FIRN_TRY(append_line(sink, "", 0));
    return append_line(sink, heading, indent);
}

static firn_status write_rows(firn_report_sink *sink, const firn_item *item, size_t indent,
                              bool first) {
    const firn_rows *rows = item->rows;
    if (!shows_text(rows)) return FIRN_OK;
    bool headed = item->label != NULL && item->label[0] != '\0';
    bool empty = row_count(rows) == 0;
    if (empty && rows->empty == NULL) return FIRN_OK;
    if (headed) {
        FIRN_TRY(append_heading(sink, item->label, indent, first));
    } else if (!first) {
        FIRN_TRY(append_line(sink, "", 0));
    }
    size_t inner = headed ? indent + 2 : indent;
    if (empty) return append_line(sink, rows->empty, inner);
    return write_table(sink, rows, inner);
}

/* Width of the labels of the run of facts that begins at `at`. */
static size_t label_width(const firn_section *section, size_t at) {
    size_t width = 0;
    for (size_t i = at; i < section->items.count; i++) {
        const firn_item *item = &section->items.items[i];
        if (item->kind != FIRN_ITEM_FACT) break;
        size_t used = item->label == NULL ? 0 : text_width(item->label);
        if (used > width) width = used;
    }
    return width;
}

static firn_status write_fact(firn_report_sink *sink, const firn_item *item, size_t width,
                              size_t indent) {
    char room[FIRN_FORMAT_SIZE];
    firn_buffer *out = &sink->buffer;
    FIRN_TRY(append_spaces(indent, out, sink->error));
    FIRN_TRY(append_padded(item->label, width, false, false, out, sink->error));
    FIRN_TRY(append_disarmed(cell_text(&item->cell, room), out, sink->error));
    return end_line(sink);
}

static firn_status write_section(firn_report_sink *sink, const firn_section *section, size_t indent,
                                 bool first) {
    size_t width = 0;
    bool in_facts = false;
    for (size_t i = 0; i < section->items.count; i++) {
        const firn_item *item = &section->items.items[i];
        size_t before = sink->lines;
        if (item->kind == FIRN_ITEM_FACT) {
            if (!in_facts) width = label_width(section, i);
            if (item->label != NULL) FIRN_TRY(write_fact(sink, item, width, indent));
        } else if (item->kind == FIRN_ITEM_LINE) {
            FIRN_TRY(append_line(sink, item->cell.text, indent));
        } else if (item->kind == FIRN_ITEM_ROWS) {
            FIRN_TRY(write_rows(sink, item, indent, first));
        } else if (item->section->quiet) {
            /* Not for people. */
        } else if (item->label == NULL) {
            FIRN_TRY(write_section(sink, item->section, indent, first));
        } else {
            FIRN_TRY(append_heading(sink, item->label, indent, first));
            FIRN_TRY(write_section(sink, item->section, indent + 2, true));
        }
        in_facts = item->kind == FIRN_ITEM_FACT;
        if (sink->lines != before) first = false;
    }
    return FIRN_OK;
}

firn_status firn_report_write_text(const firn_report *report, const firn_write_to *out,
                                   firn_error *error) {
    FIRN_TRY(firn_report_status(report, error));
    firn_report_sink sink = firn_report_sink_to(out, error);
    firn_status status = write_section(&sink, report->root, 0, true);
    if (status == FIRN_OK) status = firn_report_sink_flush(&sink, true);
    firn_buffer_release(&sink.buffer);
    return status;
}
