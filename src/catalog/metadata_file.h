/** Metadata files as catalogs read, name and write them. */
#ifndef FIRN_CATALOG_METADATA_FILE_H
#define FIRN_CATALOG_METADATA_FILE_H

#include "catalog/catalog.h"

/** Largest metadata file that is read or written. */
#define FIRN_METADATA_FILE_MAXIMUM ((size_t)1 << 30)

/**
 * Reads and parses a metadata file. A missing one is NOT_FOUND with the newest metadata files of
 * its folder as candidates.
 */
firn_status firn_metadata_file_read(firn_storage *storage, const char *location,
                                    firn_table_metadata **out, firn_error *error);

/** Whether write.metadata.compression-codec asks for gzip. INVALID for a codec that isn't known. */
firn_status firn_metadata_file_is_gzip(const firn_table_metadata *metadata, bool *gzip,
                                       firn_error *error);

/**
 * Serialises, and reads the bytes back as another program would: what does not come out as it went
 * in must never become a table's metadata. Appends.
 */
firn_status firn_metadata_file_serialize(const firn_table_metadata *metadata, const char *name,
                                         bool gzip, firn_buffer *out, firn_error *error);

/**
 * Writes "<metadata folder>/<NNNNN>-<uuid>[.gz].metadata.json", complete and durable; the ending
 * says whether it is compressed, since other readers go by it. *location is owned. After a failure
 * no file is left behind. The file is announced to `update` (nullable) first.
 */
firn_status firn_metadata_file_write(firn_storage *storage, const firn_table_metadata *metadata,
                                     int64_t version, const firn_table_update *update,
                                     char **location, firn_error *error);

/** Tells who made `update` that a file will be made, see firn_table_update.announce. */
firn_status firn_announce_file(const firn_table_update *update, const char *location,
                               firn_error *error);

/** Length of the folder part of a location, without its last slash; 0 when it has none. */
size_t firn_location_folder_length(const char *location);
/** The last segment. */
const char *firn_location_file_name(const char *location);
/** Whether a file name has the ending of a metadata file. */
bool firn_is_metadata_file_name(const char *name);

#endif
