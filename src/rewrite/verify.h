/** Comparing what the inputs hold with what the outputs hold. Internal to rewrite. */
#ifndef FIRN_REWRITE_VERIFY_H
#define FIRN_REWRITE_VERIFY_H

#include "rewrite/context.h"

/**
 * Decodes both sides, the rows that go left aside, and compares their content hashes, row lineage included; CORRUPT when they differ. Columns with shredded variants or
 * geospatial values, of which firn knows no text, are not compared: their bytes were moved and counted.
 */
firn_status firn_rewrite_verify(firn_rewrite_context *context, const firn_rewrite_result *result,
                                firn_error *error);

#endif
