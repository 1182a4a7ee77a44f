#include "base/nearest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Longer words are compared by their first characters only. */
#define LONGEST 64

static size_t shorter(size_t a, size_t b) {
    return a < b ? a : b;
}

static int same_letter(char a, char b) {
    return strncasecmp(&a, &b, 1) == 0;
}

/*
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours each
 * count one. `rows` are the last two rows of the matrix and the one being made.
 */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t cost = same_letter(a[i - 1], b[j - 1]) ? 0 : 1;
            row[j] = shorter(shorter(above[j], row[j - 1]) + 1, above[j - 1] + cost);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1])) {
                row[j] = shorter(row[j], rows[(i - 2) % 3][j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

/* A word that begins like a candidate, or is like its last word, is nearly as good as one that is spelled like it. */
static size_t score(const char *word, const char *candidate) {
    size_t length = strnlen(word, LONGEST);
    size_t whole = strnlen(candidate, LONGEST);
    size_t best = distance(word, length, candidate, whole) * 2;
    const char *last = strrchr(candidate, ' ');
    if (last != NULL) {
        best = shorter(best, distance(word, length, last + 1, strnlen(last + 1, LONGEST)) * 2 + 1);
    }
    if (length < 3 || !same_letter(word[0], candidate[0])) return best;
    for (size_t begin = length - 1; begin <= length + 1 && begin < whole; begin++) {
        best = shorter(best, distance(word, length, candidate, begin) * 2 + 1);
    }
    return best;
}

const char *firn_nearest(const char *word, const char *const *candidates, size_t count) {
    const char *nearest = NULL;
    size_t lowest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t found = score(word, candidates[i]);
        if (nearest != NULL && found >= lowest) continue;
        nearest = candidates[i];
        lowest = found;
    }
    size_t edits = (strnlen(word, LONGEST) + 1) / 3;
    return lowest / 2 <= edits ? nearest : NULL;
}

const char *firn_nearest_note(char room[FIRN_NEAREST_NOTE_SIZE], const char *word,
                              const char *const *candidates, size_t count, const char *before,
                              const char *after) {
    const char *nearest = firn_nearest(word, candidates, count);
    room[0] = '\0';
    if (nearest == NULL) return room;
    snprintf(room, FIRN_NEAREST_NOTE_SIZE, "; the nearest one is %s%.100s%s", before, nearest,
             after);
    return room;
}
