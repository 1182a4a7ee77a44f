/* Any bytes as JSON: what parses is written and parses again to the same. */
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *value = NULL;
    if (firn_json_parse(firn_slice_of(data, size), "input", &value, NULL) != FIRN_OK) return 0;
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 30);
    if (firn_json_write(value, 0, &text, NULL) != FIRN_OK) abort();
    json_t *again = NULL;
    if (firn_json_parse(firn_buffer_slice(&text), "text", &again, NULL) != FIRN_OK) abort();
    if (!json_equal(value, again)) abort();
    json_decref(again);
    json_decref(value);
    firn_buffer_release(&text);
    return 0;
}
