/** Numbers as people read them. Independent of the locale. */
#ifndef FIRN_REPORT_FORMAT_H
#define FIRN_REPORT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/** Room for any text that is made here. */
#define FIRN_FORMAT_SIZE 48

/** "512 B", "1.2 MB": units are 1024 of the one before. */
void firn_format_bytes(int64_t bytes, char text[FIRN_FORMAT_SIZE]);
/** "1,234,567". */
void firn_format_count(int64_t count, char text[FIRN_FORMAT_SIZE]);
/** "0.4 s", "3 min 12 s". */
void firn_format_duration(int64_t nanoseconds, char text[FIRN_FORMAT_SIZE]);

/** A whole number of `length` digits, nothing around it. 0, EINVAL when it is none, ERANGE when it is too large. */
int firn_parse_whole(const char *text, size_t length, int64_t *out);
/**
 * Bytes from text: a whole number, alone or with B, KB, MB, GB or TB behind it (in any case; also K, KiB …);
 * units are 1024 of the one before. 0, EINVAL when it is none, ERANGE when it is too large.
 */
int firn_parse_bytes(const char *text, int64_t *out);

#endif
