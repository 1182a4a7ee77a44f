/* An Avro container file: header, schema, plan, blocks, records. */
#include <stdint.h>

#include "avro/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const firn_avro_target anything = {
    .id = FIRN_AVRO_NO_ID, .into = FIRN_AVRO_INTO_VALUE, .present = FIRN_AVRO_NO_FLAG};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_memory_file memory = {data, size};
    firn_read_at file = firn_read_at_memory(&memory, "input.avro");
    firn_avro_reader *reader = NULL;
    if (firn_avro_reader_open(&file, (size_t)1 << 22, &reader, NULL) != FIRN_OK) return 0;
    firn_arena *arena = firn_arena_new();
    const firn_avro_plan *plan = NULL;
    firn_status status = arena == NULL ? FIRN_NO_MEMORY : FIRN_OK;
    if (status == FIRN_OK) {
        status = firn_avro_plan_new(firn_avro_reader_schema(reader), &anything, "input.avro", arena,
                                    &plan, NULL);
    }
    for (bool more = true; status == FIRN_OK && more;) {
        firn_avro_value value = {0};
        status = firn_avro_reader_next(reader, plan, arena, false, &value, &more, NULL);
        if (firn_arena_bytes(arena) > (size_t)1 << 28) break;
    }
    firn_avro_reader_free(reader);
    firn_arena_free(arena);
    return 0;
}
