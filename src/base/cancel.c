#include "base/cancel.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int requested;

void firn_cancel_request(int signal_number) {
    if (signal_number == 0) {
        atomic_store(&requested, 0);
        return;
    }
    int none = 0;
    atomic_compare_exchange_strong(&requested, &none, signal_number);
}

int firn_cancel_requested(void) {
    return atomic_load_explicit(&requested, memory_order_relaxed);
}

firn_status firn_cancel_check(firn_error *error) {
    int number = firn_cancel_requested();
    if (number == 0) return FIRN_OK;
    const char *name = sigabbrev_np(number);
    if (name == NULL) return firn_fail(error, FIRN_CANCELLED, "stopped by signal %d", number);
    return firn_fail(error, FIRN_CANCELLED, "stopped by SIG%s", name);
}
