/* The first byte chooses the codec, the second scales the stated size; the rest is decompressed both ways. */
#include <stdlib.h>

#include "base/alloc.h"
#include "codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST_OUTPUT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    firn_codec codec = (firn_codec)(data[0] % ((int)FIRN_CODEC_LZ4_FRAME + 1));
    firn_slice input = firn_slice_of(data + 2, size - 2);
    firn_buffer out = firn_buffer_with_maximum(LARGEST_OUTPUT);
    firn_status status = firn_codec_decompress_growing(codec, input, &out, NULL);
    size_t stated = status == FIRN_OK ? out.size : (size_t)data[1] * 64;
    uint8_t *exact = firn_alloc(stated);
    if (exact == NULL) return 0;
    firn_status known = firn_codec_decompress(codec, input, exact, stated, NULL);
    /* lz4's decoder looks less closely at the end of wrong data where there is room behind its output. */
    bool lz4 = codec == FIRN_CODEC_LZ4_RAW || codec == FIRN_CODEC_LZ4_HADOOP;
    if (status == FIRN_OK && known != FIRN_OK && !lz4) abort();
    if (status == FIRN_OK && known == FIRN_OK &&
        !firn_slice_equal(firn_buffer_slice(&out), firn_slice_of(exact, stated))) {
        abort();
    }
    firn_free(exact);
    firn_buffer_release(&out);
    return 0;
}
