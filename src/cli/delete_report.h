/** What rewriting deletes and removing dangling ones would do, and did, as parts of a report. Everything is copied. */
#ifndef FIRN_CLI_DELETE_REPORT_H
#define FIRN_CLI_DELETE_REPORT_H

#include "report/report.h"
#include "upkeep/dangling_deletes.h"
#include "upkeep/rewrite_deletes.h"

void firn_report_rewrite_deletes_plan(firn_section *root, const firn_rewrite_deletes_plan *plan,
                                      bool vectors);
void firn_report_rewrite_deletes_result(firn_section *root,
                                        const firn_rewrite_deletes_result *result);
void firn_report_dangling_deletes_plan(firn_section *root, const firn_dangling_deletes_plan *plan);
void firn_report_dangling_deletes_result(firn_section *root,
                                         const firn_dangling_deletes_result *result);

#endif
