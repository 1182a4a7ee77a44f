/* Any bytes as JSON: what parses is written and parses again to the same, and Jansson thinks alike. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Jansson takes a zero byte for the end, and nests deeper. */
static bool differs_from_jansson(const uint8_t *data, size_t size) {
    size_t opened = 0;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == 0) return true;
        if (data[i] == '[' || data[i] == '{') opened++;
    }
    return opened > 1000;
}

static void compare(const uint8_t *data, size_t size, const json_t *value) {
    if (size == 0 || differs_from_jansson(data, size)) return;
    json_error_t reason;
    json_t *theirs =
        json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &reason);
    if ((theirs == NULL) != (value == NULL)) abort();
    if (theirs != NULL && !json_equal(theirs, value)) abort();
    json_decref(theirs);
}

static void write_and_parse(const json_t *value, int indent) {
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 30);
    if (firn_json_write(value, indent, &text, NULL) != FIRN_OK) abort();
    json_t *again = NULL;
    if (firn_json_parse(firn_buffer_slice(&text), "text", &again, NULL) != FIRN_OK) abort();
    if (!json_equal(value, again)) abort();
    json_decref(again);
    size_t flags = JSON_ENCODE_ANY | (indent == 0 ? JSON_COMPACT : JSON_INDENT(2));
    char *theirs = json_dumps(value, flags);
    if (theirs == NULL || strlen(theirs) != text.size) abort();
    if (memcmp(theirs, text.data, text.size) != 0) abort();
    firn_free(theirs);
    firn_buffer_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *value = NULL;
    firn_status status = firn_json_parse(firn_slice_of(data, size), "input", &value, NULL);
    if ((status == FIRN_OK) != (value != NULL)) abort();
    compare(data, size, value);
    if (value == NULL) return 0;
    write_and_parse(value, 0);
    write_and_parse(value, 2);
    json_decref(value);
    return 0;
}
