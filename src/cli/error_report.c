#include "cli/error_report.h"

#include "cli/exit_code.h"

void firn_report_add_error(firn_section *section, firn_status status, const firn_error *error) {
    firn_report *report = firn_section_report(section);
    firn_section *added = firn_section_child(section, "error", NULL);
    const char *message = firn_report_copy(report, error->message);
    firn_section_add(added, "code", NULL, firn_cell_text(firn_status_name(status)));
    firn_section_add(added, "exit_code", NULL, firn_cell_integer(firn_exit_code(status)));
    firn_section_add(added, "message", NULL, firn_cell_text(message));
    firn_section_add(added, "retryable", NULL, firn_cell_boolean(error->retryable));
    if (error->byte_offset >= 0) {
        firn_section_add(added, "byte_offset", NULL, firn_cell_integer(error->byte_offset));
    }
    if (error->system_errno != 0) {
        firn_section_add(added, "system_errno", NULL, firn_cell_integer(error->system_errno));
    }
}
