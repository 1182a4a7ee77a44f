#include "data/csv.h"

static bool needs_quotes(firn_slice text) {
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c == '"' || c == ',' || c == '\n' || c == '\r') return true;
    }
    return text.size == 0;
}

firn_status firn_csv_append(firn_buffer *line, firn_slice text, firn_error *error) {
    if (!needs_quotes(text)) return firn_buffer_append(line, text.data, text.size, error);
    FIRN_TRY(firn_buffer_append_byte(line, '"', error));
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"') FIRN_TRY(firn_buffer_append_byte(line, '"', error));
        FIRN_TRY(firn_buffer_append_byte(line, text.data[i], error));
    }
    return firn_buffer_append_byte(line, '"', error);
}
