/**
 * Locations of files as tables record them: opaque bytes, "file:/x", "file:///x" and bare paths name local files, literally. Text
 * only; what reads them is storage.
 */
#ifndef FIRN_BASE_LOCATION_H
#define FIRN_BASE_LOCATION_H

#include <stddef.h>

/**
 * Key for comparing locations only, never used to rewrite a recorded path: s3 = s3a = s3n;
 * "file:/x", "file:///x" and "/x" are equal; relative local paths are made absolute. On the local
 * disk runs of slashes, "." segments and trailing slashes don't matter, as they don't to the file
 * system; object-store keys stay as they are. Owned (firn_free); NULL when memory is out.
 */
char *firn_location_key(const char *location);

/**
 * The key where it is the end of `location` itself, so that nothing has to be made; NULL: firn_location_key has to make it. For
 * looking up many locations.
 */
const char *firn_location_key_within(const char *location);

/** The local path inside a location, or NULL when it isn't local. Borrowed from `location`. */
const char *firn_location_local_path(const char *location);

/**
 * A relative local path against the working folder; anything else unchanged. What is recorded in a
 * catalog must not depend on where firn was started. Owned (firn_free); NULL when memory is out.
 */
char *firn_location_absolute(const char *location);

/** The scheme before "://", as a length at the start of `location`; 0 for none. */
size_t firn_location_scheme(const char *location);

#endif
