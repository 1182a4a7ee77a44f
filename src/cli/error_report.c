#include "cli/error_report.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"

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

static bool is_option(const char *word, size_t length) {
    for (size_t i = 0; i < firn_option_count; i++) {
        const char *name = firn_option_table[i].name;
        if (strlen(name) == length && memcmp(name, word, length) == 0) return true;
    }
    return false;
}

void firn_error_spell_options(firn_error *error) {
    static const char word[] = "option ";
    char before[FIRN_ERROR_MESSAGE_SIZE];
    char *at = error->message;
    while ((at = strstr(at, word)) != NULL) {
        at += sizeof word - 1;
        if (!is_option(at, strspn(at, "abcdefghijklmnopqrstuvwxyz-"))) continue;
        memcpy(before, error->message, sizeof before);
        size_t offset = (size_t)(at - error->message);
        snprintf(at, sizeof error->message - offset, "--%s", before + offset);
    }
}
