/** The tables of a catalog that may be meant by a name that it does not have, for messages. */
#ifndef FIRN_CATALOG_NEAR_NAMES_H
#define FIRN_CATALOG_NEAR_NAMES_H

#include "base/nearest.h"
#include "base/vector.h"
#include "catalog/catalog.h"

/** Begins zeroed. */
typedef struct firn_near_names {
    FIRN_VECTOR(char *) items; /**< "namespace.name", owned */
} firn_near_names;

/** For firn_catalog_list; `context`: a firn_near_names. */
firn_status firn_near_names_add(void *context, firn_table_name name, const char *metadata_location,
                                firn_error *error);
/** "; the nearest one is …" of the same namespace, else "; there is …" with this name in another one, else "". `name`: as the items. */
const char *firn_near_names_note(const firn_near_names *names, const char *name,
                                 char note[FIRN_NEAREST_NOTE_SIZE]);
void firn_near_names_release(firn_near_names *names);

#endif
