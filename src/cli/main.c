/* The program. Built with FIRN_FAULT_BUILD it is the one that tests use to play faults. */
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

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

/*
 * Buffers of some megabytes come and go with every column. Kept for the next one they save the kernel's work of clearing them anew,
 * kept by each thread for itself they would add up: hence one heap for several cores.
 */
#define KEPT_FREE (16 << 20)
#define RETURNED_AT_ONCE (4 << 20)
#define CORES_PER_HEAP 4

static void set_up_heap(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    mallopt(M_ARENA_MAX, cores > CORES_PER_HEAP ? (int)(cores / CORES_PER_HEAP) : 1);
    mallopt(M_TRIM_THRESHOLD, KEPT_FREE);
    mallopt(M_MMAP_THRESHOLD, RETURNED_AT_ONCE);
}

int main(int argc, char **argv) {
    set_up_heap();
#ifndef FIRN_FAULT_BUILD
    unsetenv("FIRN_FAIL_ALLOC");
#endif
    return firn_cli_main(argc, argv, open_storage);
}
