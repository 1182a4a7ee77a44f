/** How a Puffin file begins and ends (Puffin specification, "Format specification"). Within puffin only. */
#ifndef FIRN_PUFFIN_FORMAT_H
#define FIRN_PUFFIN_FORMAT_H

#include <stddef.h>

#define FIRN_PUFFIN_MAGIC "PFA1"
#define FIRN_PUFFIN_MAGIC_SIZE ((size_t)4)
/** FooterPayloadSize, Flags, Magic. */
#define FIRN_PUFFIN_END_SIZE ((size_t)12)
/** A magic at the front, one before the payload, an empty payload and the end. */
#define FIRN_PUFFIN_SMALLEST (2 * FIRN_PUFFIN_MAGIC_SIZE + FIRN_PUFFIN_END_SIZE)
#define FIRN_PUFFIN_FLAG_COMPRESSED 1U

#endif
