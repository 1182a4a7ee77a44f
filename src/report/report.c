#include "report/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/report_internal.h"

#define SINK_FLUSH_SIZE ((size_t)1 << 16)

static void release_section(void *context) {
    firn_section *section = context;
    firn_vector_release(&section->items);
}

static void release_rows(void *context) {
    firn_rows *rows = context;
    firn_vector_release(&rows->cells);
}

static firn_section *new_section(firn_report *report) {
    firn_section *section = firn_arena_alloc(report->arena, 1, sizeof *section);
    if (section == NULL || firn_arena_on_free(report->arena, release_section, section) != 0) {
        report->out_of_memory = true;
        return NULL;
    }
    section->report = report;
    return section;
}

firn_status firn_report_new(const char *command, firn_report **out, firn_error *error) {
    *out = NULL;
    firn_report *report = firn_alloc_zeroed(1, sizeof *report);
    if (report == NULL) return firn_fail_memory(error);
    report->arena = firn_arena_new();
    if (report->arena != NULL) report->root = new_section(report);
    if (report->root == NULL) {
        firn_report_free(report);
        return firn_fail_memory(error);
    }
    firn_section_add(report->root, "schema_version", NULL,
                     firn_cell_integer(FIRN_REPORT_SCHEMA_VERSION));
    if (command != NULL) {
        firn_section_add(report->root, "command", NULL, firn_cell_text(command));
    }
    *out = report;
    return FIRN_OK;
}

void firn_report_free(firn_report *report) {
    if (report == NULL) return;
    firn_arena_free(report->arena);
    firn_free(report);
}

firn_section *firn_report_root(firn_report *report) {
    return report->root;
}

firn_report *firn_section_report(const firn_section *section) {
    return section == NULL ? NULL : section->report;
}

static void add_item(firn_section *section, const firn_item *item) {
    if (section == NULL || section->report->out_of_memory) return;
    if (firn_vector_push(&section->items, NULL, *item) != FIRN_OK) {
        section->report->out_of_memory = true;
    }
}

void firn_section_add(firn_section *section, const char *key, const char *label, firn_cell cell) {
    firn_item item = {.kind = FIRN_ITEM_FACT, .key = key, .label = label, .cell = cell};
    add_item(section, &item);
}

firn_section *firn_section_child(firn_section *section, const char *key, const char *heading) {
    if (section == NULL) return NULL;
    firn_section *child = new_section(section->report);
    if (child == NULL) return NULL;
    firn_item item = {.kind = FIRN_ITEM_SECTION, .key = key, .label = heading, .section = child};
    add_item(section, &item);
    return child;
}

firn_section *firn_section_quiet(firn_section *section, const char *key) {
    firn_section *child = firn_section_child(section, key, NULL);
    if (child != NULL) child->quiet = true;
    return child;
}

firn_rows *firn_section_rows(firn_section *section, const char *key, const char *heading,
                             const firn_column *columns, size_t column_count, const char *empty) {
    if (section == NULL) return NULL;
    firn_report *report = section->report;
    firn_rows *rows = firn_arena_alloc(report->arena, 1, sizeof *rows);
    if (rows == NULL || firn_arena_on_free(report->arena, release_rows, rows) != 0) {
        report->out_of_memory = true;
        return NULL;
    }
    rows->report = report;
    rows->columns = columns;
    rows->column_count = column_count;
    rows->empty = empty;
    firn_item item = {.kind = FIRN_ITEM_ROWS, .key = key, .label = heading, .rows = rows};
    add_item(section, &item);
    return rows;
}

void firn_rows_add(firn_rows *rows, const firn_cell *cells) {
    if (rows == NULL || rows->report->out_of_memory) return;
    if (firn_vector_reserve(&rows->cells, NULL, rows->cells.count + rows->column_count) !=
        FIRN_OK) {
        rows->report->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < rows->column_count; i++) {
        rows->cells.items[rows->cells.count++] = cells[i];
    }
}

static const char *format_list(firn_report *report, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : firn_arena_alloc(report->arena, (size_t)length + 1, 1);
    if (text == NULL) {
        report->out_of_memory = true;
        return "";
    }
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

void firn_section_line(firn_section *section, const char *format, ...) {
    if (section == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    const char *text = format_list(section->report, format, arguments);
    va_end(arguments);
    firn_item item = {.kind = FIRN_ITEM_LINE, .cell = firn_cell_text(text)};
    add_item(section, &item);
}

const char *firn_report_format(firn_report *report, const char *format, ...) {
    if (report == NULL) return "";
    va_list arguments;
    va_start(arguments, format);
    const char *text = format_list(report, format, arguments);
    va_end(arguments);
    return text;
}

const char *firn_report_copy(firn_report *report, const char *text) {
    if (report == NULL || text == NULL) return text;
    return firn_report_format(report, "%s", text);
}

const char *firn_report_json(firn_report *report, json_t *value) {
    if (report == NULL) {
        json_decref(value);
        return "null";
    }
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX / 2);
    const char *result = NULL;
    if (value != NULL && firn_json_write(value, 0, &text, NULL) == FIRN_OK) {
        result = firn_arena_strndup(report->arena, (const char *)text.data, text.size);
    }
    firn_buffer_release(&text);
    json_decref(value);
    if (result != NULL) return result;
    report->out_of_memory = true;
    return "null";
}

firn_status firn_report_status(const firn_report *report, firn_error *error) {
    return report->out_of_memory ? firn_fail_memory(error) : FIRN_OK;
}

firn_report_sink firn_report_sink_to(const firn_write_to *out, firn_error *error) {
    return (firn_report_sink){firn_buffer_with_maximum(SIZE_MAX / 2), out, error, 0};
}

firn_status firn_report_sink_flush(firn_report_sink *sink, bool all) {
    if (sink->buffer.size == 0 || (!all && sink->buffer.size < SINK_FLUSH_SIZE)) return FIRN_OK;
    firn_status status =
        sink->out->write(sink->out->context, sink->buffer.data, sink->buffer.size, sink->error);
    firn_buffer_clear(&sink->buffer);
    return status;
}
