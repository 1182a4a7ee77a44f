#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "lake/listing_internal.h"

#define PIECE_SIZE ((size_t)65536)

static firn_status read_piece(firn_lake_text *text, size_t from, firn_error *error) {
    FIRN_TRY(firn_cancel_check(error));
    text->at = 0;
    text->size = from;
    if (text->source != NULL) {
        uint64_t left = text->source->size - text->offset;
        size_t size = left > PIECE_SIZE - from ? PIECE_SIZE - from : (size_t)left;
        if (size == 0) return FIRN_OK;
        FIRN_TRY(firn_read_at_exact(text->source, text->offset, text->piece + from, size, error));
        text->size += size;
        text->offset += size;
        return FIRN_OK;
    }
    for (;;) {
        ssize_t got = read(STDIN_FILENO, text->piece + from, PIECE_SIZE - from);
        if (got >= 0) {
            text->size += (size_t)got;
            text->offset += (uint64_t)got;
            return FIRN_OK;
        }
        if (errno != EINTR) {
            return firn_fail_errno(error, FIRN_IO, errno, "%s can't be read", text->name);
        }
        FIRN_TRY(firn_cancel_check(error));
    }
}

/* A pipe may give the three bytes of a mark one by one. */
static firn_status skip_mark(firn_lake_text *text, firn_error *error) {
    static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};
    for (size_t before = SIZE_MAX; text->size < sizeof mark && text->size != before;) {
        before = text->size;
        FIRN_TRY(read_piece(text, text->size, error));
    }
    if (text->size >= sizeof mark && memcmp(text->piece, mark, sizeof mark) == 0) {
        text->at = sizeof mark;
    }
    return FIRN_OK;
}

firn_status firn_lake_text_open(firn_lake_text *text, const firn_read_at *source, const char *name,
                                firn_error *error) {
    *text = (firn_lake_text){.source = source, .name = name};
    text->piece = firn_alloc(PIECE_SIZE);
    if (text->piece == NULL) return firn_fail_memory(error);
    firn_status status = skip_mark(text, error);
    if (status != FIRN_OK) firn_lake_text_release(text);
    return status;
}

void firn_lake_text_release(firn_lake_text *text) {
    firn_free(text->piece);
    text->piece = NULL;
}

firn_status firn_lake_text_fill(firn_lake_text *text, firn_error *error) {
    return text->at < text->size ? FIRN_OK : read_piece(text, 0, error);
}

static firn_status append_part(firn_lake_text *text, size_t size, firn_buffer *line,
                               firn_error *error) {
    const uint8_t *part = text->piece + text->at;
    if (memchr(part, 0, size) != NULL) {
        return firn_fail(error, FIRN_INVALID, "%s: line %zu holds a zero byte: this is no text",
                         text->name, text->line);
    }
    if (size >= line->maximum - line->size) {
        return firn_fail(error, FIRN_LIMIT, "%s: line %zu has more than %zu bytes", text->name,
                         text->line, line->maximum - 1);
    }
    text->at += size;
    return firn_buffer_append(line, part, size, error);
}

firn_status firn_lake_text_line(firn_lake_text *text, firn_buffer *line, bool *found,
                                firn_error *error) {
    firn_buffer_clear(line);
    *found = false;
    text->line++;
    for (bool ended = false; !ended;) {
        FIRN_TRY(firn_lake_text_fill(text, error));
        size_t left = text->size - text->at;
        if (left == 0) break;
        *found = true;
        const uint8_t *end = memchr(text->piece + text->at, '\n', left);
        ended = end != NULL;
        FIRN_TRY(
            append_part(text, ended ? (size_t)(end - text->piece) - text->at : left, line, error));
        if (ended) text->at++;
    }
    if (!*found) return FIRN_OK;
    if (line->size > 0 && line->data[line->size - 1] == '\r') line->size--;
    FIRN_TRY(firn_buffer_append_byte(line, '\0', error));
    line->size--;
    return FIRN_OK;
}
