#include <inttypes.h>

#include "base/clock.h"
#include "report/report_internal.h"

/* Bytes of a well-formed UTF-8 character at `text` (Unicode, table 3-7), or 0. `text` ends with a zero. */
static size_t character_length(const unsigned char *text) {
    unsigned char lead = text[0];
    if (lead < 0x80) return 1;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    size_t length = 0;
    if (lead >= 0xC2 && lead <= 0xDF) length = 2;
    if (lead >= 0xE0 && lead <= 0xEF) length = 3;
    if (lead >= 0xF0 && lead <= 0xF4) length = 4;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    if (length == 0 || text[1] < low || text[1] > high) return 0;
    for (size_t i = 2; i < length; i++) {
        if (text[i] < 0x80 || text[i] > 0xBF) return 0;
    }
    return length;
}

static firn_status append_escape(unsigned char byte, firn_buffer *out, firn_error *error) {
    switch (byte) {
    case '"': return firn_buffer_append_text(out, "\\\"", error);
    case '\\': return firn_buffer_append_text(out, "\\\\", error);
    case '\n': return firn_buffer_append_text(out, "\\n", error);
    case '\r': return firn_buffer_append_text(out, "\\r", error);
    case '\t': return firn_buffer_append_text(out, "\\t", error);
    default: return firn_buffer_printf(out, error, "\\u%04x", byte);
    }
}

firn_status firn_json_text_append(const char *text, firn_buffer *out, firn_error *error) {
    FIRN_TRY(firn_buffer_append_byte(out, '"', error));
    const unsigned char *c = (const unsigned char *)text;
    while (*c != '\0') {
        size_t length = character_length(c);
        if (length == 0) {
            FIRN_TRY(firn_buffer_append_text(out, "\xEF\xBF\xBD", error));
            length = 1;
        } else if (*c < 0x20 || *c == '"' || *c == '\\' || *c == 0x7F) {
            FIRN_TRY(append_escape(*c, out, error));
        } else {
            FIRN_TRY(firn_buffer_append(out, c, length, error));
        }
        c += length;
    }
    return firn_buffer_append_byte(out, '"', error);
}

static firn_status append_cell(const firn_cell *cell, firn_buffer *out, firn_error *error) {
    char time[64];
    switch (cell->kind) {
    case FIRN_CELL_NULL: return firn_buffer_append_text(out, "null", error);
    case FIRN_CELL_TEXT: return firn_json_text_append(cell->text, out, error);
    case FIRN_CELL_INTEGER:
    case FIRN_CELL_COUNT:
    case FIRN_CELL_BYTES: return firn_buffer_printf(out, error, "%" PRId64, cell->integer);
    case FIRN_CELL_TIME:
        firn_clock_format_ms(cell->integer, time, sizeof time);
        return firn_json_text_append(time, out, error);
    case FIRN_CELL_BOOLEAN:
        return firn_buffer_append_text(out, cell->integer != 0 ? "true" : "false", error);
    case FIRN_CELL_JSON:
        return firn_buffer_append_text(out, cell->json == NULL ? "null" : cell->json, error);
    }
    return FIRN_OK;
}

/* Indent of what stands on one line. */
#define ON_ONE_LINE (-1)

/* A new line, or a space where all is on one. */
static firn_status break_line(int indent, firn_buffer *out, firn_error *error) {
    if (indent == ON_ONE_LINE) return firn_buffer_append_byte(out, ' ', error);
    return firn_buffer_printf(out, error, "\n%*s", indent, "");
}

static int deeper(int indent) {
    return indent == ON_ONE_LINE ? ON_ONE_LINE : indent + 2;
}

static firn_status append_row(const firn_rows *rows, size_t row, firn_buffer *out,
                              firn_error *error) {
    const firn_cell *cells = rows->cells.items + row * rows->column_count;
    bool first = true;
    FIRN_TRY(firn_buffer_append_byte(out, '{', error));
    for (size_t i = 0; i < rows->column_count; i++) {
        if (rows->columns[i].key == NULL) continue;
        if (!first) FIRN_TRY(firn_buffer_append_text(out, ", ", error));
        first = false;
        FIRN_TRY(firn_json_text_append(rows->columns[i].key, out, error));
        FIRN_TRY(firn_buffer_append_text(out, ": ", error));
        FIRN_TRY(append_cell(&cells[i], out, error));
    }
    return firn_buffer_append_byte(out, '}', error);
}

/* One row a line, so that a long list can be searched by line. */
static firn_status write_rows(firn_report_sink *sink, const firn_rows *rows, int indent) {
    firn_buffer *out = &sink->buffer;
    size_t count = rows->column_count == 0 ? 0 : rows->cells.count / rows->column_count;
    if (count == 0) return firn_buffer_append_text(out, "[]", sink->error);
    FIRN_TRY(firn_buffer_append_byte(out, '[', sink->error));
    for (size_t row = 0; row < count; row++) {
        if (row > 0) FIRN_TRY(firn_buffer_append_byte(out, ',', sink->error));
        FIRN_TRY(break_line(deeper(indent), out, sink->error));
        FIRN_TRY(append_row(rows, row, out, sink->error));
        FIRN_TRY(firn_report_sink_flush(sink, false));
    }
    FIRN_TRY(break_line(indent, out, sink->error));
    return firn_buffer_append_byte(out, ']', sink->error);
}

static firn_status write_section(firn_report_sink *sink, const firn_section *section, int indent) {
    firn_buffer *out = &sink->buffer;
    bool first = true;
    FIRN_TRY(firn_buffer_append_byte(out, '{', sink->error));
    for (size_t i = 0; i < section->items.count; i++) {
        const firn_item *item = &section->items.items[i];
        if (item->key == NULL) continue;
        if (!first) FIRN_TRY(firn_buffer_append_byte(out, ',', sink->error));
        first = false;
        FIRN_TRY(break_line(deeper(indent), out, sink->error));
        FIRN_TRY(firn_json_text_append(item->key, out, sink->error));
        FIRN_TRY(firn_buffer_append_text(out, ": ", sink->error));
        if (item->kind == FIRN_ITEM_SECTION) {
            FIRN_TRY(write_section(sink, item->section, deeper(indent)));
        } else if (item->kind == FIRN_ITEM_ROWS) {
            FIRN_TRY(write_rows(sink, item->rows, deeper(indent)));
        } else {
            FIRN_TRY(append_cell(&item->cell, out, sink->error));
        }
    }
    if (!first) FIRN_TRY(break_line(indent, out, sink->error));
    return firn_buffer_append_byte(out, '}', sink->error);
}

static firn_status write_document(const firn_report *report, int indent, const firn_write_to *out,
                                  firn_error *error) {
    FIRN_TRY(firn_report_status(report, error));
    firn_report_sink sink = firn_report_sink_to(out, error);
    firn_status status = write_section(&sink, report->root, indent);
    if (status == FIRN_OK) status = firn_buffer_append_byte(&sink.buffer, '\n', error);
    if (status == FIRN_OK) status = firn_report_sink_flush(&sink, true);
    firn_buffer_release(&sink.buffer);
    return status;
}

firn_status firn_report_write_json(const firn_report *report, const firn_write_to *out,
                                   firn_error *error) {
    return write_document(report, 0, out, error);
}

firn_status firn_report_write_json_line(const firn_report *report, const firn_write_to *out,
                                        firn_error *error) {
    return write_document(report, ON_ONE_LINE, out, error);
}
