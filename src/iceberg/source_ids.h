/** source-id and source-ids of partition and sort fields (specification, appendix C). Internal to iceberg. */
#ifndef FIRN_ICEBERG_SOURCE_IDS_H
#define FIRN_ICEBERG_SOURCE_IDS_H

#include "base/json.h"

/** The source column, or the first one of several, and their number (at least 1). */
firn_status firn_source_ids_parse(const json_t *json, const char *what, int32_t *first,
                                  size_t *count, firn_error *error);

#endif
