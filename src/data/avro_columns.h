/**
 * The columns of an Avro data file (specification, appendix A "Avro") and their Parquet form: the writer's schema as a tree of what is to be read, in the writer's
 * order, beside flat Parquet elements that carry names and field ids over. Internal to data.
 */
#ifndef FIRN_DATA_AVRO_COLUMNS_H
#define FIRN_DATA_AVRO_COLUMNS_H

#include "avro/schema.h"
#include "parquet/metadata.h"

typedef enum firn_avro_shape {
    FIRN_AVRO_SHAPE_RECORD,
    FIRN_AVRO_SHAPE_LIST,  /**< one child: the element */
    FIRN_AVRO_SHAPE_PAIRS, /**< an array of records of key and value: two children */
    FIRN_AVRO_SHAPE_MAP,   /**< a map with text keys: two children, key and value */
    FIRN_AVRO_SHAPE_LEAF
} firn_avro_shape;

/** No branch of a union. */
#define FIRN_AVRO_NO_BRANCH SIZE_MAX

/** Whether a value is preceded by the number of a union's branch. */
typedef struct firn_avro_option {
    const firn_avro_schema *schema; /**< the union; NULL: none */
    size_t null_branch;             /**< FIRN_AVRO_NO_BRANCH: the union has no null */
} firn_avro_option;

typedef struct firn_avro_column {
    firn_avro_shape shape;
    const firn_avro_schema *schema; /**< never a union */
    firn_avro_option option;
    firn_avro_option item_option; /**< PAIRS: of the records */
    const struct firn_avro_column *const *children;
    size_t child_count;
    size_t first_leaf, leaf_count;
    uint8_t repetition_level; /**< LIST, PAIRS, MAP: of their items */
} firn_avro_column;

typedef struct firn_avro_columns {
    const firn_avro_column *root; /**< RECORD */
    const firn_parquet_schema_element *elements;
    size_t element_count;
} firn_avro_columns;

/**
 * UNSUPPORTED names file and column: what Iceberg's types have no place for (unions of more than null and one type, recursive types, records without fields). LIMIT: too many columns or levels.
 * In `arena`; `schema` is borrowed.
 */
firn_status firn_avro_columns_of(const firn_avro_schema *schema, const char *location,
                                 firn_arena *arena, firn_avro_columns *out, firn_error *error);

#endif
