/** Avro's binary encoding, appended to a buffer (Avro specification, "Binary Encoding"). */
#ifndef FIRN_AVRO_ENCODE_H
#define FIRN_AVRO_ENCODE_H

#include "base/buffer.h"

/** int, long, enum position, union branch, count of a block. */
firn_status firn_avro_put_long(firn_buffer *out, int64_t value, firn_error *error);
firn_status firn_avro_put_boolean(firn_buffer *out, bool value, firn_error *error);
firn_status firn_avro_put_float(firn_buffer *out, float value, firn_error *error);
firn_status firn_avro_put_double(firn_buffer *out, double value, firn_error *error);
/** bytes or string: length, then the bytes. */
firn_status firn_avro_put_bytes(firn_buffer *out, firn_slice value, firn_error *error);
firn_status firn_avro_put_text(firn_buffer *out, const char *value, firn_error *error);
/** fixed: the bytes alone; their number is the schema's. */
firn_status firn_avro_put_fixed(firn_buffer *out, firn_slice value, firn_error *error);

#endif
