/** What the parts of manifest reading and writing share. Internal to iceberg. */
#ifndef FIRN_ICEBERG_MANIFEST_INTERNAL_H
#define FIRN_ICEBERG_MANIFEST_INTERNAL_H

#include "avro/plan.h"
#include "iceberg/manifest.h"

/** Refuses an encrypted file by name (its first bytes are "AGS1"). */
firn_status firn_manifest_check_magic(firn_slice bytes, const char *name, firn_error *error);

/** Warns when fields of a file carry no ids and were read by their names. */
void firn_manifest_warn_named(const firn_avro_plan *plan, const char *name);

/**
 * An Avro value as a partition value. The type is that of the spec's field; NULL: as the file has
 * it.
 */
firn_status firn_partition_value_from_avro(const firn_avro_value *in, const firn_type *type,
                                           firn_arena *arena, firn_value *out, firn_error *error);

/** The type that partition values of a field are stored as; NULL where only the files know it. */
const firn_type *firn_partition_stored_type(const firn_partition_field *field);

/**
 * The Avro schema of manifest entries: JSON text. Partition fields are named as Avro can have them.
 */
firn_status firn_manifest_entry_schema(int format_version, const firn_partition_spec *spec,
                                       firn_buffer *out, firn_error *error);

/**
 * Appends an entry, encoded by that schema. Sequence numbers and snapshot id are written as they
 * stand.
 */
firn_status firn_manifest_entry_encode(int format_version, const firn_partition_spec *spec,
                                       const firn_manifest_entry *entry, firn_buffer *out,
                                       firn_error *error);

/** Room for an Avro name made from a partition field's name of `length` bytes. */
#define FIRN_AVRO_NAME_SIZE(length) ((length)*8 + 16)
/**
 * An ASCII name that every Avro library takes: other characters become _x and their UTF-16 code in
 * upper case hexadecimal, a leading digit gets a _ in front, as Iceberg's Java library does (which
 * leaves non-ASCII letters alone). `name` is UTF-8; broken bytes are taken one by one.
 */
void firn_avro_safe_name(const char *name, char *out);

/** Summary of the partition values of one field, filled in entry by entry. */
typedef struct firn_summary {
    bool contains_null, contains_nan, has_bounds;
    firn_value lower, upper; /**< bytes are in the arena given to add */
} firn_summary;

firn_status firn_summary_add(firn_summary *summary, const firn_value *value, firn_arena *arena,
                             firn_error *error);
firn_status firn_summary_finish(const firn_summary *summary, firn_arena *arena,
                                firn_partition_summary *out, firn_error *error);

#endif
