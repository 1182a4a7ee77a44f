/** From Parquet's codec numbers to codec/codec.h, and what bounds a page's sizes. */
#ifndef FIRN_PARQUET_PAGE_CODEC_H
#define FIRN_PARQUET_PAGE_CODEC_H

#include "codec/codec.h"
#include "parquet/file_reader.h"

/** False for codecs that firn does not have (LZO, unknown numbers). */
bool firn_parquet_codec_of(firn_parquet_compression compression, firn_codec *codec);

/** Whether `compressed_size` bytes can hold `size` bytes at all, so that a lie in a header allocates nothing. */
bool firn_parquet_size_plausible(firn_codec codec, size_t compressed_size, size_t size);

/** Refuses by name what can't be read at all, decoded or raw: encrypted columns, data in another file. */
firn_status firn_parquet_chunk_readable(const firn_parquet_file *file, size_t row_group,
                                        size_t leaf, firn_error *error);

#endif
