#include "catalog/near_names.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* Names that are compared. */
#define SHOWN_NAMES 256

firn_status firn_near_names_add(void *context, firn_table_name name, const char *metadata_location,
                                firn_error *error) {
    (void)metadata_location;
    firn_near_names *names = context;
    bool has_namespace = name.namespace_name[0] != '\0';
    char *copy = firn_format("%s%s%s", name.namespace_name, has_namespace ? "." : "", name.name);
    if (copy == NULL) return firn_fail_memory(error);
    firn_status status = firn_vector_push(&names->items, error, copy);
    if (status != FIRN_OK) firn_free(copy);
    return status;
}

static const char *last_part(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot == NULL ? name : dot + 1;
}

const char *firn_near_names_note(const firn_near_names *names, const char *name,
                                 char note[FIRN_NEAREST_NOTE_SIZE]) {
    const char *last = last_part(name);
    const char *found = NULL;
    const char *mates[SHOWN_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < names->items.count && count < SHOWN_NAMES; i++) {
        const char *other = names->items.items[i];
        const char *part = last_part(other);
        bool mate = part - other == last - name && strncmp(other, name, (size_t)(last - name)) == 0;
        if (mate) mates[count++] = part;
        if (strcmp(part, last) == 0) found = other;
    }
    const char *nearest = firn_nearest(last, mates, count);
    note[0] = '\0';
    if (nearest != NULL) {
        snprintf(note, FIRN_NEAREST_NOTE_SIZE, "; the nearest one is %.*s%.100s",
                 (int)(last - name), name, nearest);
    } else if (found != NULL) {
        snprintf(note, FIRN_NEAREST_NOTE_SIZE, "; there is %.100s", found);
    }
    return note;
}

void firn_near_names_release(firn_near_names *names) {
    for (size_t i = 0; i < names->items.count; i++) firn_free(names->items.items[i]);
    firn_vector_release(&names->items);
}
