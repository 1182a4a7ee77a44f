/** What all parts of one rewrite share. Immutable once the inputs were looked at, but for what the mutex guards. Internal to rewrite. */
#ifndef FIRN_REWRITE_CONTEXT_H
#define FIRN_REWRITE_CONTEXT_H

#include <pthread.h>

#include "base/map.h"
#include "data/data_source.h"
#include "data/projection.h"
#include "rewrite/plan.h"
#include "rewrite/rewrite.h"

/** Files up to this size are read whole, once for each output row group that they feed. */
#define FIRN_REWRITE_SMALL_FILE ((uint64_t)8 << 20)

/** Where nobody says how much memory there is. */
#define FIRN_REWRITE_DEFAULT_MEMORY ((int64_t)512 << 20)

/** Compressed bytes by what they are written with. */
typedef struct firn_rewrite_habits {
    int64_t by_compression[FIRN_PARQUET_LZ4_RAW + 1];
    int page_version; /**< of an input's data pages; 0: not looked at */
    int64_t pages_v1, pages_v2;
} firn_rewrite_habits;

/** What the footer of an input told. */
typedef struct firn_input_summary {
    const firn_live_file *file;
    uint64_t size;         /**< of the file as it is read: of its Parquet form where it is Avro */
    size_t footer_memory;  /**< that the parsed footer takes */
    firn_plan_unit *units; /**< owned (firn_free) */
    size_t unit_count;
    firn_rewrite_habits habits;
} firn_input_summary;

struct firn_rewrite_looked {
    int32_t schema_id; /**< outputs' */
    bool lineage;
    firn_input_summary *inputs; /**< owned; only what footers told is of use */
    size_t count;
};

typedef struct firn_rewrite_context {
    const firn_rewrite_settings *settings;
    const firn_rewrite_group *group;
    const firn_table_metadata *metadata;
    const firn_schema *
        schema; /**< current, with row lineage where the group has it: what outputs are written under */
    firn_arena *arena;
    const firn_parquet_schema_element *elements; /**< the outputs' */
    size_t element_count;
    const firn_parquet_schema *output;
    const int32_t *leaf_ids; /**< field id of each output leaf; -1 within a variant */
    const firn_name_mapping *name_mapping;
    firn_input_summary *inputs; /**< one per input of the group */
    firn_parquet_write_options options;

    /* Files with equal schemas share one projection: thousands of files have few. */
    pthread_mutex_t mutex; /**< guards the rest, and `arena` while projections are made */
    firn_map *projections; /**< schema as bytes → firn_projection in `arena` */
} firn_rewrite_context;

firn_status firn_rewrite_context_init(firn_rewrite_context *context,
                                      const firn_rewrite_settings *settings,
                                      const firn_rewrite_group *group, firn_error *error);
void firn_rewrite_context_release(firn_rewrite_context *context);

/** Reads the footers of all inputs, in parallel, and fills `inputs`, unless the group brings what was found before. Refuses by name what can't be rewritten. */
firn_status firn_rewrite_look_at_inputs(firn_rewrite_context *context, firn_error *error);
/** Takes what was found out of the context. */
firn_status firn_rewrite_keep_looked(firn_rewrite_context *context, firn_rewrite_looked **out,
                                     firn_error *error);

/** Takes compression and page version from the inputs where the table does not say. */
void firn_rewrite_choose_options(firn_rewrite_context *context);

/** An input whose rows are due. */
typedef struct firn_open_input {
    size_t index;                    /**< in the group */
    firn_data_source *turned;        /**< Avro: its Parquet form */
    firn_storage_file *storage_file; /**< large files */
    firn_buffer whole;               /**< small files: all bytes */
    firn_memory_file memory;
    firn_read_at source;
    firn_parquet_file *own_parquet; /**< NULL: `turned` has it */
    const firn_parquet_file *parquet;
    const firn_projection *projection;
    const int64_t *
        nan_counts; /**< one per output leaf, from the manifest, for every row group; NULL: none known */
    int64_t *nan_room;    /**< owns them */
    int64_t *fill_values; /**< one per output leaf, for row lineage; NULL: none; owned */
} firn_open_input;

/** Opens input open->index. Release also on failure. CORRUPT when it is not what it was when it was looked at. Thread-safe for different ones. */
firn_status firn_open_input_open(firn_rewrite_context *context, firn_open_input *open,
                                 firn_error *error);
void firn_open_input_release(firn_open_input *open);

#endif
