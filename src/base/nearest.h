/** The known word that is most like an unknown one, for messages. */
#ifndef FIRN_BASE_NEAREST_H
#define FIRN_BASE_NEAREST_H

#include <stddef.h>

/** The candidate with the fewest edits, to it or to its beginning; the first of several; NULL when there is no candidate. */
const char *firn_nearest(const char *word, const char *const *candidates, size_t count);

#endif
