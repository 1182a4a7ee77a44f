#include <string.h>

#include "iceberg/primitive.h"
#include "lake/schema_union_internal.h"

/* What a leaf is read as (specification, appendix A "Parquet", read backwards; LogicalTypes.md). */

#define PROBLEM_NANOS                                                                              \
    "timestamps in nanoseconds are there from format version 3 on; make the table with "           \
    "--format-version 3"
#define PROBLEM_ODD "an annotation that does not go with its physical type"

static const char *plain(firn_union_column *out, firn_type_kind kind) {
    out->type = firn_primitive_type(kind);
    return NULL;
}

static const char *unannotated(const firn_parquet_schema_element *element, firn_arena *arena,
                               firn_union_column *out) {
    out->bare = true;
    switch (element->type) {
    case FIRN_PARQUET_BOOLEAN: return plain(out, FIRN_TYPE_BOOLEAN);
    case FIRN_PARQUET_INT32: return plain(out, FIRN_TYPE_INT);
    case FIRN_PARQUET_INT64: return plain(out, FIRN_TYPE_LONG);
    case FIRN_PARQUET_FLOAT: return plain(out, FIRN_TYPE_FLOAT);
    case FIRN_PARQUET_DOUBLE: return plain(out, FIRN_TYPE_DOUBLE);
    case FIRN_PARQUET_BYTE_ARRAY: return plain(out, FIRN_TYPE_BINARY);
    case FIRN_PARQUET_INT96:
        /* Its writers take it for an instant. */
        out->note = "read from INT96";
        return plain(out, FIRN_TYPE_TIMESTAMPTZ);
    case FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY: break;
    }
    firn_type type = {.kind = FIRN_TYPE_FIXED, .length = element->type_length};
    type.text = firn_arena_format(arena, "fixed[%d]", type.length);
    out->type = type.text == NULL ? NULL : firn_arena_memdup(arena, &type, sizeof type);
    return NULL;
}

static const char *integer(const firn_parquet_schema_element *element, firn_union_column *out) {
    const firn_parquet_logical_type *logical = &element->logical;
    bool wide = element->type == FIRN_PARQUET_INT64;
    if (element->type != FIRN_PARQUET_INT32 && !wide) return PROBLEM_ODD;
    if (logical->bit_width < 1 || logical->bit_width > (wide ? 64 : 32)) return PROBLEM_ODD;
    if (!logical->is_signed && logical->bit_width == 64) {
        return "unsigned 64-bit integers have no type in Iceberg; the file must be written anew, "
               "as decimal(20,0) or as long";
    }
    if (!logical->is_signed) out->note = "unsigned in files: not all readers can read it";
    bool is_long = wide || (!logical->is_signed && logical->bit_width == 32);
    return plain(out, is_long ? FIRN_TYPE_LONG : FIRN_TYPE_INT);
}

static const char *decimal(const firn_parquet_schema_element *element, firn_arena *arena,
                           firn_union_column *out) {
    firn_type type = {.kind = FIRN_TYPE_DECIMAL,
                      .precision = element->logical.precision,
                      .scale = element->logical.scale};
    switch (element->type) {
    case FIRN_PARQUET_INT32:
    case FIRN_PARQUET_INT64:
    case FIRN_PARQUET_BYTE_ARRAY:
    case FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY: break;
    default: return PROBLEM_ODD;
    }
    if (type.precision < 1 || type.precision > 38) {
        return "decimals have from 1 to 38 digits in Iceberg";
    }
    if (type.scale < 0 || type.scale > type.precision) {
        return "a decimal whose scale is negative or above its precision";
    }
    type.text = firn_arena_format(arena, "decimal(%d,%d)", type.precision, type.scale);
    out->type = type.text == NULL ? NULL : firn_arena_memdup(arena, &type, sizeof type);
    return NULL;
}

static const char *time_of_day(const firn_parquet_schema_element *element, firn_union_column *out) {
    switch (element->logical.unit) {
    case FIRN_PARQUET_MILLIS:
        if (element->type != FIRN_PARQUET_INT32) return PROBLEM_ODD;
        break;
    case FIRN_PARQUET_MICROS:
        if (element->type != FIRN_PARQUET_INT64) return PROBLEM_ODD;
        break;
    case FIRN_PARQUET_NANOS:
        return "times of day in nanoseconds have no type in Iceberg; the file must be written "
               "anew, with microseconds";
    }
    return plain(out, FIRN_TYPE_TIME);
}

static const char *timestamp(const firn_parquet_schema_element *element, int format_version,
                             firn_union_column *out) {
    bool zoned = element->logical.adjusted_to_utc;
    if (element->type != FIRN_PARQUET_INT64) return PROBLEM_ODD;
    if (element->logical.unit != FIRN_PARQUET_NANOS) {
        return plain(out, zoned ? FIRN_TYPE_TIMESTAMPTZ : FIRN_TYPE_TIMESTAMP);
    }
    if (format_version < 3) return PROBLEM_NANOS;
    return plain(out, zoned ? FIRN_TYPE_TIMESTAMPTZ_NS : FIRN_TYPE_TIMESTAMP_NS);
}

static const char *bytes(const firn_parquet_schema_element *element, firn_type_kind kind,
                         firn_union_column *out) {
    return element->type == FIRN_PARQUET_BYTE_ARRAY ? plain(out, kind) : PROBLEM_ODD;
}

/* parquet.thrift EdgeInterpolationAlgorithm, as the specification spells it. */
static const char *const edges[] = {"spherical", "vincenty", "thomas", "andoyer", "karney"};

static const char *geospatial(const firn_parquet_schema_element *element, int format_version,
                              firn_arena *arena, firn_union_column *out) {
    const firn_parquet_logical_type *logical = &element->logical;
    bool geography = logical->kind == FIRN_PARQUET_LOGICAL_GEOGRAPHY;
    if (element->type != FIRN_PARQUET_BYTE_ARRAY) return PROBLEM_ODD;
    if (format_version < 3) {
        return "geometries and geographies are there from format version 3 on; make the table with "
               "--format-version 3";
    }
    size_t edge = geography ? (size_t)(uint32_t)logical->edge_algorithm : 0;
    if (edge >= sizeof edges / sizeof *edges) return "an edge algorithm that Iceberg has not got";
    const char *crs = logical->crs == NULL ? "OGC:CRS84" : logical->crs;
    if (*crs == '\0' || strpbrk(crs, "(),") != NULL) {
        return "a coordinate reference system whose name can't be written as a type's parameter";
    }
    const char *text = geography ? firn_arena_format(arena, "geography(%s, %s)", crs, edges[edge])
                                 : firn_arena_format(arena, "geometry(%s)", crs);
    bool is_default = strcmp(crs, "OGC:CRS84") == 0 && edge == 0;
    if (is_default) text = geography ? "geography" : "geometry";
    out->type = NULL;
    if (text == NULL) return NULL;
    firn_status status = firn_primitive_parse(text, element->name, arena, &out->type, NULL);
    if (status == FIRN_OK || status == FIRN_NO_MEMORY) return NULL;
    return "a coordinate reference system whose name can't be written as a type's parameter";
}

static const char *annotated(const firn_parquet_schema_element *element, int format_version,
                             firn_arena *arena, firn_union_column *out) {
    switch (element->logical.kind) {
    case FIRN_PARQUET_LOGICAL_STRING:
    case FIRN_PARQUET_LOGICAL_ENUM:
    case FIRN_PARQUET_LOGICAL_JSON: return bytes(element, FIRN_TYPE_STRING, out);
    case FIRN_PARQUET_LOGICAL_BSON: return bytes(element, FIRN_TYPE_BINARY, out);
    case FIRN_PARQUET_LOGICAL_DECIMAL: return decimal(element, arena, out);
    case FIRN_PARQUET_LOGICAL_DATE:
        return element->type == FIRN_PARQUET_INT32 ? plain(out, FIRN_TYPE_DATE) : PROBLEM_ODD;
    case FIRN_PARQUET_LOGICAL_TIME: return time_of_day(element, out);
    case FIRN_PARQUET_LOGICAL_TIMESTAMP: return timestamp(element, format_version, out);
    case FIRN_PARQUET_LOGICAL_INTEGER: return integer(element, out);
    case FIRN_PARQUET_LOGICAL_UUID:
        return element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY && element->type_length == 16
                   ? plain(out, FIRN_TYPE_UUID)
                   : PROBLEM_ODD;
    case FIRN_PARQUET_LOGICAL_NULL:
        /* Iceberg's "unknown" has no place in files ("Primitive Types"). PyIceberg can't read tables of v1 and v2 with such a file, nor one of v3 where a list, map or struct holds nothing else. */
        return "nothing but nulls, of no type; not all readers can read a table with such a file. "
               "It must be written anew, with a type for the column or without the column";
    case FIRN_PARQUET_LOGICAL_GEOMETRY:
    case FIRN_PARQUET_LOGICAL_GEOGRAPHY: return geospatial(element, format_version, arena, out);
    case FIRN_PARQUET_LOGICAL_FLOAT16:
        return "16-bit floating point has no type in Iceberg; the file must be written anew, as "
               "float";
    case FIRN_PARQUET_LOGICAL_INTERVAL:
        return "intervals have no type in Iceberg; the file must be written anew without them";
    case FIRN_PARQUET_LOGICAL_UNKNOWN:
        return "an annotation that this version of firn does not know";
    default: return PROBLEM_ODD;
    }
}

const char *firn_union_leaf(const firn_parquet_schema_element *element, int format_version,
                            firn_arena *arena, firn_union_column *out) {
    const char *problem = element->logical.kind == FIRN_PARQUET_LOGICAL_NONE
                              ? unannotated(element, arena, out)
                              : annotated(element, format_version, arena, out);
    if (problem == NULL && out->type != NULL) out->kind = out->type->kind;
    return problem;
}

static const char *copy_text(const char *text, firn_arena *arena, bool *failed) {
    if (text == NULL) return NULL;
    const char *copy = firn_arena_strdup(arena, text);
    *failed = *failed || copy == NULL;
    return copy;
}

const firn_type *firn_union_copy_type(const firn_type *type, firn_arena *arena) {
    bool failed = false;
    firn_type copy = *type;
    copy.text = copy_text(type->text, arena, &failed);
    copy.crs = copy_text(type->crs, arena, &failed);
    copy.edge_algorithm = copy_text(type->edge_algorithm, arena, &failed);
    return failed ? NULL : firn_arena_memdup(arena, &copy, sizeof copy);
}

const char *firn_union_type_text(const firn_union_column *column) {
    switch (column->kind) {
    case FIRN_TYPE_STRUCT: return "a struct";
    case FIRN_TYPE_LIST: return "a list";
    case FIRN_TYPE_MAP: return "a map";
    default: return column->type->text;
    }
}
