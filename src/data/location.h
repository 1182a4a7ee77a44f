/** Where new data files go: write.data.path, write.object-storage.*, write.folder-storage.path, partition paths (design 6.1). */
#ifndef FIRN_DATA_LOCATION_H
#define FIRN_DATA_LOCATION_H

#include "iceberg/metadata.h"

/** UNSUPPORTED for a foreign write.location-provider.impl. */
firn_status firn_location_check(const firn_table_metadata *metadata, firn_error *error);

/** Full location of a data file with this name; owned (firn_free). Never a "//" from an empty partition path. */
firn_status firn_location_new_data_file(const firn_table_metadata *metadata,
                                        const firn_partition_spec *spec,
                                        const firn_value *partition, const char *file_name,
                                        char **out, firn_error *error);

#endif
