/** One flag for "stop": set by a signal handler, looked at between units of work. Async-signal-safe and thread-safe. */
#ifndef FIRN_BASE_CANCEL_H
#define FIRN_BASE_CANCEL_H

#include <stdbool.h>

#include "base/error.h"
#include "firn/session.h"

/* firn_cancel_request is public: firn/session.h. */
/** The signal number that asked, or 0. */
int firn_cancel_requested(void);
/** CANCELLED with a message when a stop was asked for. */
firn_status firn_cancel_check(firn_error *error);

#endif
