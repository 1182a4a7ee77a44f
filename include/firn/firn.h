/** All of firn's public interface. */
#ifndef FIRN_FIRN_H
#define FIRN_FIRN_H

#include "firn/compaction.h"
#include "firn/error.h"
#include "firn/session.h"
#include "firn/version.h"

#endif
