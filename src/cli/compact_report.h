/** What a compaction would do, and what it did, as parts of a report. Everything is copied. */
#ifndef FIRN_CLI_COMPACT_REPORT_H
#define FIRN_CLI_COMPACT_REPORT_H

#include "report/report.h"
#include "upkeep/compact.h"

/** The object `plan`: groups with the reason for each, sums, and, `explain` in text too, how a sample's pages went over. */
void firn_report_compact_plan(firn_section *root, const firn_compact_plan *plan, bool explain);
/** The object `result`; `nanoseconds` is how long it took. */
void firn_report_compact_result(firn_section *root, const firn_compact_result *result,
                                int64_t nanoseconds);

#endif
