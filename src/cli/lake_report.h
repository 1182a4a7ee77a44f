/** What register and sync found and did, as parts of a report. Everything is copied. */
#ifndef FIRN_CLI_LAKE_REPORT_H
#define FIRN_CLI_LAKE_REPORT_H

#include "lake/sync.h"
#include "report/report.h"

/** `status` and `failure` say how the run ended (nullable when it is OK). */
void firn_report_sync(firn_section *root, const char *table, const firn_sync_result *result,
                      bool preview, firn_status status, const firn_error *failure);

#endif
