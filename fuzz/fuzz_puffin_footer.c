/* A Puffin file: its ends, the footer's text, and where the blobs lie. */
#include <stdint.h>
#include <stdlib.h>

#include "puffin/puffin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_json_setup();
    firn_memory_file memory = {data, size};
    firn_read_at file = firn_read_at_memory(&memory, "input.puffin");
    firn_puffin_footer footer = {0};
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return 0;
    if (firn_puffin_footer_read(&file, arena, &footer, NULL) == FIRN_OK) {
        for (size_t i = 0; i < footer.blob_count; i++) {
            const firn_puffin_blob *blob = &footer.blobs[i];
            if (blob->type == NULL || blob->offset < 4 || blob->length < 0 ||
                (uint64_t)blob->offset + (uint64_t)blob->length > size) {
                abort();
            }
        }
    }
    firn_arena_free(arena);
    return 0;
}
