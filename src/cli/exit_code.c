#include "cli/exit_code.h"

#include "base/cancel.h"

int firn_exit_code(firn_status status) {
    switch (status) {
    case FIRN_OK: return 0;
    case FIRN_INVALID: return FIRN_EXIT_USAGE;
    case FIRN_UNSUPPORTED:
    case FIRN_BLOCKED: return 3;
    case FIRN_UNSAFE: return 4;
    case FIRN_CONFLICT: return 5;
    case FIRN_COMMIT_UNKNOWN: return 7;
    case FIRN_CANCELLED: {
        int signal_number = firn_cancel_requested();
        return signal_number == 0 ? FIRN_EXIT_FAILURE : 128 + signal_number;
    }
    case FIRN_CORRUPT:
    case FIRN_NOT_FOUND:
    case FIRN_EXISTS:
    case FIRN_IO:
    case FIRN_AUTH:
    case FIRN_TIMEOUT:
    case FIRN_THROTTLED:
    case FIRN_NO_MEMORY:
    case FIRN_LIMIT: return FIRN_EXIT_FAILURE;
    }
    return FIRN_EXIT_FAILURE;
}
