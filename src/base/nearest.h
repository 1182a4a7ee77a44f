/** The known word that is most like an unknown one, for messages. */
#ifndef FIRN_BASE_NEAREST_H
#define FIRN_BASE_NEAREST_H

#include <stddef.h>

/**
 * The candidate with the fewest edits, to it, its beginning or its last word; the first of several. NULL when it takes more than an edit for
 * every three letters of the word (rounded to the nearest): a word that has little to do with it misleads.
 */
const char *firn_nearest(const char *word, const char *const *candidates, size_t count);

#define FIRN_NEAREST_NOTE_SIZE 160
/** "; the nearest one is " and the candidate between the two marks, written to `room`; "" where none is near. */
const char *firn_nearest_note(char room[FIRN_NEAREST_NOTE_SIZE], const char *word,
                              const char *const *candidates, size_t count, const char *before,
                              const char *after);

#endif
