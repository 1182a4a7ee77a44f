#include <brotli/decode.h>
#include <jansson.h>
#include <lz4.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <yaml.h>
#include <zlib.h>
#include <zstd.h>

#include "cli/doctor.h"

static const char *brotli_version(firn_report *report) {
    uint32_t version = BrotliDecoderVersion();
    return firn_report_format(report, "%u.%u.%u", version >> 24, version >> 12 & 0xFFF,
                              version & 0xFFF);
}

void firn_doctor_add_libraries(firn_section *root) {
    static const firn_column columns[] = {
        {"library", "library"}, {"version", "version"}, {"used_for", "used for"}};
    firn_report *report = firn_section_report(root);
    firn_rows *rows = firn_section_rows(root, "libraries", "Libraries", columns, 3, NULL);
    const struct {
        const char *name, *version, *use;
    } libraries[] = {
        {"Jansson", jansson_version_str(), "JSON"},
        {"libyaml", yaml_get_version_string(), "configuration"},
        {"SQLite", sqlite3_libversion(), "catalogs"},
        {"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING), "hashes"},
        {"zstd", ZSTD_versionString(), "compression"},
        {"zlib", zlibVersion(), "compression: gzip, deflate"},
        {"snappy", NULL, "compression; does not tell its version"},
        {"lz4", LZ4_versionString(), "compression"},
        {"brotli", brotli_version(report), "compression"},
    };
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const firn_cell cells[] = {
            firn_cell_text(libraries[i].name),
            firn_cell_text(libraries[i].version),
            firn_cell_text(libraries[i].use),
        };
        firn_rows_add(rows, cells);
    }
}
