/** The object `error` of a JSON document, the same in every verb's. */
#ifndef FIRN_CLI_ERROR_REPORT_H
#define FIRN_CLI_ERROR_REPORT_H

#include "report/report.h"

/** Adds `error` (code, exit_code, message, retryable, and where they are known byte_offset and system_errno), which text leaves out. */
void firn_report_add_error(firn_section *section, firn_status status, const firn_error *error);

/** "option catalog", as the folders below the program say, becomes "option --catalog". */
void firn_error_spell_options(firn_error *error);

#endif
