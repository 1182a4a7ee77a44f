/**
 * A storage that wraps another one and plays faults, for tests: the Nth call that changes or reads
 * something fails, is cut short, or ends the process as a power cut would; every call is traced, so
 * that the order of syncs can be checked. The plan is one for the process: the latest storage made
 * here owns it, and freeing that storage ends it.
 */
#ifndef FIRN_STORAGE_FAULT_H
#define FIRN_STORAGE_FAULT_H

#include "storage/storage.h"

typedef enum firn_fault_kind {
    FIRN_FAULT_NONE,
    FIRN_FAULT_FAIL,       /**< the call fails with IO and has no effect */
    FIRN_FAULT_FAIL_AFTER, /**< the call takes effect, then fails (an ambiguous write) */
    FIRN_FAULT_SHORT, /**< a write puts down half of its bytes, then fails as a full disk would;
                                any other call fails so, without effect */
    FIRN_FAULT_KILL,  /**< _exit(137) before the call */
    FIRN_FAULT_KILL_AFTER, /**< _exit(137) after it */
    FIRN_FAULT_RUN         /**< the plan's `run` is called before the call, which then goes on */
} firn_fault_kind;

typedef struct firn_fault_plan {
    firn_fault_kind kind;
    uint64_t at;           /**< 1: the first call that counts */
    const char *operation; /**< NULL: every call counts; else only "read", "create", "write",
                                "finish", "create_exclusive", "replace", "delete", "list", "open",
                                "stat", "catalog" or "publish" */
    bool and_following;
    void (*run)(void);      /**< for FIRN_FAULT_RUN: somebody else goes between */
    const char *trace_path; /**< NULL, or a file that gets a line "operation location" per call */
} firn_fault_plan;

/** Takes `inner` over, also on failure. INVALID for an operation of another name. */
firn_status firn_storage_with_faults(firn_storage *inner, const firn_fault_plan *plan,
                                     firn_storage **out, firn_error *error);

/**
 * Reads a plan from FIRN_FAULT ("kill:7", "kill-after:7", "fail:3:write", "fail-after:2:catalog",
 * "short:2:write", "run:9", whose `run` the caller sets; a "+" at the end for and-following) and FIRN_FAULT_TRACE; only the test build of
 * the program calls it. *present is false when neither is set. Borrows from the environment.
 */
firn_status firn_fault_plan_from_environment(firn_fault_plan *plan, bool *present,
                                             firn_error *error);

/**
 * A point outside storage that counts as one call: called before the step (`after` false) and, when
 * that gave OK and the step worked, after it. Does what the plan says; no effect without a plan.
 * The SQL catalog names its two steps "catalog": first the UPDATE (or INSERT), then the COMMIT. The local disk
 * names "publish" what gives a filled temporary file its name.
 */
firn_status firn_fault_point(const char *operation, const char *what, bool after,
                             firn_error *error);

#endif
