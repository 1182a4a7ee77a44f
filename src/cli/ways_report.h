/** How Parquet pages went over, and why some had to be decoded, as parts of a report. */
#ifndef FIRN_CLI_WAYS_REPORT_H
#define FIRN_CLI_WAYS_REPORT_H

#include "parquet/rewrite.h"
#include "report/report.h"

/** The lists `ways`, under `heading`, and `reasons`: what there was none of is left out. `heading` NULL: only in JSON. */
void firn_report_ways(firn_section *section, const firn_parquet_rewrite_counts *counts,
                      const char *heading);

#endif
