/** Numbers of RoaringFormatSpec. Within puffin only. */
#ifndef FIRN_PUFFIN_ROARING_FORMAT_H
#define FIRN_PUFFIN_ROARING_FORMAT_H

#define FIRN_ROARING_COOKIE_WITHOUT_RUNS 12346U
/** In the lower 16 bits; the upper ones hold the number of containers less one. */
#define FIRN_ROARING_COOKIE_WITH_RUNS 12347U
#define FIRN_ROARING_CONTAINERS_MOST 65536U
/** A bitmap with runs of fewer containers has no offset header. */
#define FIRN_ROARING_NO_OFFSETS_BELOW 4U

#endif
