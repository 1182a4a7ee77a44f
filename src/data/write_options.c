#include "data/write_options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "codec/codec.h"

#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)

/* Rows of a row group where the table does not say: what PyIceberg and Arrow write. */
#define ROW_GROUP_ROW_LIMIT ((int64_t)1048576)

/* Where the table names none. What PyArrow writes; level 3 takes more than twice the time for some percent of the size. */
#define ZSTD_LEVEL 1

static firn_status check_format(const firn_table_metadata *metadata, firn_error *error) {
    const char *format = firn_table_metadata_property(metadata, "write.format.default");
    if (format == NULL || strcasecmp(format, "parquet") == 0) return FIRN_OK;
    bool known = strcasecmp(format, "avro") == 0 || strcasecmp(format, "orc") == 0;
    return firn_fail(error, known ? FIRN_UNSUPPORTED : FIRN_INVALID,
                     "table property write.format.default is \"%s\"; only parquet can be written",
                     format);
}

typedef struct codec_name {
    const char *name;
    firn_parquet_compression compression;
    firn_codec codec;
} codec_name;

static const codec_name codec_names[] = {
    {"zstd", FIRN_PARQUET_ZSTD, FIRN_CODEC_ZSTD},
    {"snappy", FIRN_PARQUET_SNAPPY, FIRN_CODEC_SNAPPY},
    {"gzip", FIRN_PARQUET_GZIP, FIRN_CODEC_GZIP},
    {"uncompressed", FIRN_PARQUET_UNCOMPRESSED, FIRN_CODEC_UNCOMPRESSED},
    {"none", FIRN_PARQUET_UNCOMPRESSED, FIRN_CODEC_UNCOMPRESSED},
    {"brotli", FIRN_PARQUET_BROTLI, FIRN_CODEC_BROTLI},
    {"lz4_raw", FIRN_PARQUET_LZ4_RAW, FIRN_CODEC_LZ4_RAW},
    /* Parquet's own LZ4 is deprecated in favour of LZ4_RAW (parquet-format, "Compression"). */
    {"lz4", FIRN_PARQUET_LZ4_RAW, FIRN_CODEC_LZ4_RAW},
};

bool firn_data_can_write_compression(firn_parquet_compression compression) {
    for (size_t i = 0; i < sizeof codec_names / sizeof *codec_names; i++) {
        if (codec_names[i].compression == compression)
            return firn_codec_can_write(codec_names[i].codec);
    }
    return false;
}

static firn_status read_codec(const firn_table_metadata *metadata, firn_data_write_options *out,
                              firn_codec *codec, firn_error *error) {
    static const char key[] = "write.parquet.compression-codec";
    const char *name = firn_table_metadata_property(metadata, key);
    out->compression_is_set = name != NULL;
    if (name == NULL) name = "zstd";
    for (size_t i = 0; i < sizeof codec_names / sizeof *codec_names; i++) {
        if (strcasecmp(codec_names[i].name, name) != 0) continue;
        if (!firn_codec_can_write(codec_names[i].codec)) {
            return firn_fail(error, FIRN_UNSUPPORTED,
                             "table property %s is \"%s\", which this build can't write", key,
                             name);
        }
        out->parquet.compression = codec_names[i].compression;
        *codec = codec_names[i].codec;
        return FIRN_OK;
    }
    bool known = strcasecmp(name, "lzo") == 0;
    return firn_fail(error, known ? FIRN_UNSUPPORTED : FIRN_INVALID,
                     "table property %s is \"%s\", which is no codec that firn writes", key, name);
}

/* A level is tried out on no bytes, so that a wrong one is told before anything is written. */
static firn_status read_level(const firn_table_metadata *metadata, firn_data_write_options *out,
                              firn_codec codec, firn_error *error) {
    static const char key[] = "write.parquet.compression-level";
    const char *text = firn_table_metadata_property(metadata, key);
    if (codec == FIRN_CODEC_ZSTD) out->parquet.compression_level = ZSTD_LEVEL;
    bool has_levels =
        codec == FIRN_CODEC_ZSTD || codec == FIRN_CODEC_GZIP || codec == FIRN_CODEC_BROTLI;
    if (text == NULL || strcmp(text, "null") == 0 || !has_levels) return FIRN_OK;
    int64_t level = 0;
    FIRN_TRY(firn_table_metadata_property_int(metadata, key, 0, &level, error));
    if (level < -131072 || level > 100) {
        return firn_fail(error, FIRN_INVALID, "table property %s is \"%s\", which is out of range",
                         key, text);
    }
    firn_buffer scratch = firn_buffer_with_maximum((size_t)MIB);
    firn_status status =
        firn_codec_compress(codec, (int)level, firn_slice_text(""), &scratch, error);
    firn_buffer_release(&scratch);
    if (status != FIRN_OK) return firn_error_wrap(error, status, "table property %s", key);
    out->parquet.compression_level = (int)level;
    return FIRN_OK;
}

typedef struct number_property {
    const char *key;
    int64_t least, most, otherwise;
} number_property;

/* Above `most` the value is taken as `most`: writers may ask for more than a file can have. */
static firn_status read_number(const firn_table_metadata *metadata, const number_property *property,
                               int64_t *out, firn_error *error) {
    FIRN_TRY(
        firn_table_metadata_property_int(metadata, property->key, property->otherwise, out, error));
    if (*out < property->least) {
        return firn_fail(error, FIRN_INVALID, "table property %s is %lld; the least is %lld",
                         property->key, (long long)*out, (long long)property->least);
    }
    if (*out > property->most) *out = property->most;
    return FIRN_OK;
}

static firn_status read_page_version(const firn_table_metadata *metadata,
                                     firn_data_write_options *out, firn_error *error) {
    static const char key[] = "write.parquet.page-version";
    const char *text = firn_table_metadata_property(metadata, key);
    out->page_version_is_set = text != NULL;
    if (text == NULL || strcasecmp(text, "v1") == 0) {
        out->parquet.page_version = 1;
    } else if (strcasecmp(text, "v2") == 0) {
        out->parquet.page_version = 2;
        /* The same switch turns them on in parquet-java, by which Iceberg writes. */
        out->parquet.delta_encodings = true;
    } else {
        return firn_fail(error, FIRN_INVALID, "table property %s is \"%s\", neither v1 nor v2", key,
                         text);
    }
    return FIRN_OK;
}

static firn_status read_sizes(const firn_table_metadata *metadata, firn_data_write_options *out,
                              firn_error *error) {
    const number_property page_size = {"write.parquet.page-size-bytes", 1, 64 * MIB, MIB};
    const number_property page_rows = {"write.parquet.page-row-limit", 1, INT32_MAX, 20000};
    const number_property dictionary = {"write.parquet.dict-size-bytes", 0, 256 * MIB, 2 * MIB};
    const number_property row_group = {"write.parquet.row-group-size-bytes", 1, 2 * GIB, 128 * MIB};
    /* The second name is PyIceberg's. */
    number_property row_limit = {"write.parquet.row-group-row-limit", 1, INT32_MAX,
                                 ROW_GROUP_ROW_LIMIT};
    if (firn_table_metadata_property(metadata, row_limit.key) == NULL) {
        row_limit.key = "write.parquet.row-group-limit";
    }
    const number_property target = {"write.target-file-size-bytes", 1, INT64_MAX, 512 * MIB};
    int64_t value = 0;
    FIRN_TRY(read_number(metadata, &page_size, &value, error));
    out->parquet.page_size_bytes = (int32_t)value;
    out->page_row_limit_is_set = firn_table_metadata_property(metadata, page_rows.key) != NULL;
    FIRN_TRY(read_number(metadata, &page_rows, &value, error));
    out->parquet.page_row_limit = (int32_t)value;
    FIRN_TRY(read_number(metadata, &dictionary, &value, error));
    out->parquet.dictionary_size_bytes = (int32_t)value;
    FIRN_TRY(read_number(metadata, &row_group, &out->row_group_size_bytes, error));
    FIRN_TRY(read_number(metadata, &row_limit, &out->row_group_row_limit, error));
    return read_number(metadata, &target, &out->target_file_size_bytes, error);
}

firn_status firn_data_write_options_read(const firn_table_metadata *metadata,
                                         firn_data_write_options *out, firn_error *error) {
    firn_data_write_options options = {0};
    firn_parquet_write_options_init(&options.parquet);
    options.parquet.compression_level = FIRN_CODEC_LEVEL_DEFAULT;
    options.parquet.write_page_index = true;
    options.parquet.write_crc = true;
    firn_codec codec = FIRN_CODEC_ZSTD;
    FIRN_TRY(check_format(metadata, error));
    FIRN_TRY(read_codec(metadata, &options, &codec, error));
    FIRN_TRY(read_level(metadata, &options, codec, error));
    FIRN_TRY(read_page_version(metadata, &options, error));
    FIRN_TRY(read_sizes(metadata, &options, error));
    *out = options;
    return FIRN_OK;
}
