/** Parts of the doctor. */
#ifndef FIRN_CLI_DOCTOR_H
#define FIRN_CLI_DOCTOR_H

#include "report/report.h"

/** The list `libraries`, with the versions that the running process uses. */
void firn_doctor_add_libraries(firn_section *root);

#endif
