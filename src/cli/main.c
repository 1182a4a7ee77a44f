/* The program. Built with FIRN_FAULT_BUILD it is the one that tests use to play faults. */
#include <malloc.h>
#include <stdlib.h>

#include "cli/cli.h"
#ifdef FIRN_FAULT_BUILD
#include "storage/fault.h"

/* "run:9" of FIRN_FAULT: a test's other writer goes between. */
static void run_command(void) {
    const char *command = getenv("FIRN_FAULT_COMMAND");
    if (command == NULL || system(command) != 0) abort();
}
#endif

static firn_status open_storage(firn_storage **out, firn_error *error) {
    FIRN_TRY(firn_storage_local(out, error));
#ifdef FIRN_FAULT_BUILD
    firn_fault_plan plan = {0};
    bool present = false;
    firn_status status = firn_fault_plan_from_environment(&plan, &present, error);
    firn_storage *inner = *out;
    plan.run = run_command;
    if (status == FIRN_OK && present) {
        *out = NULL;
        return firn_storage_with_faults(inner, &plan, out, error);
    }
    if (status != FIRN_OK) {
        firn_storage_free(inner);
        *out = NULL;
    }
    return status;
#else
    return FIRN_OK;
#endif
}

/* Large buffers come and go with every column; given back at once, they don't add up to holes between small ones. */
#define RETURNED_AT_ONCE (1 << 20)

int main(int argc, char **argv) {
    mallopt(M_MMAP_THRESHOLD, RETURNED_AT_ONCE);
#ifndef FIRN_FAULT_BUILD
    unsetenv("FIRN_FAIL_ALLOC");
#endif
    return firn_cli_main(argc, argv, open_storage);
}
