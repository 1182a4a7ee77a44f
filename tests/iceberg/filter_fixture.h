/** A schema of every comparable type, and rows of it as JSON with single quotes: {'long': 5}; what is missing is null, 'NaN' and '-0' are floats. */
#ifndef FIRN_TESTS_ICEBERG_FILTER_FIXTURE_H
#define FIRN_TESTS_ICEBERG_FILTER_FIXTURE_H

#include "fixture.h"

#include <math.h>

#include "iceberg/expression.h"

#define FX_FILTER_SCHEMA                                                                           \
    "{'type':'struct','schema-id':0,'fields':["                                                    \
    "{'id':1,'name':'bool','required':false,'type':'boolean'},"                                    \
    "{'id':2,'name':'int','required':false,'type':'int'},"                                         \
    "{'id':3,'name':'long','required':false,'type':'long'},"                                       \
    "{'id':4,'name':'float','required':false,'type':'float'},"                                     \
    "{'id':5,'name':'double','required':false,'type':'double'},"                                   \
    "{'id':6,'name':'dec','required':false,'type':'decimal(9,2)'},"                                \
    "{'id':7,'name':'date','required':false,'type':'date'},"                                       \
    "{'id':8,'name':'time','required':false,'type':'time'},"                                       \
    "{'id':9,'name':'ts','required':false,'type':'timestamp'},"                                    \
    "{'id':10,'name':'tz','required':false,'type':'timestamptz'},"                                 \
    "{'id':11,'name':'ns','required':false,'type':'timestamp_ns'},"                                \
    "{'id':12,'name':'text','required':false,'type':'string'},"                                    \
    "{'id':13,'name':'uuid','required':false,'type':'uuid'},"                                      \
    "{'id':14,'name':'fixed','required':false,'type':'fixed[3]'},"                                 \
    "{'id':15,'name':'bin','required':false,'type':'binary'},"                                     \
    "{'id':16,'name':'place','required':false,'type':{'type':'struct','fields':["                  \
    "{'id':17,'name':'lat','required':true,'type':'double'},"                                      \
    "{'id':18,'name':'post code','required':false,'type':'string'}]}},"                            \
    "{'id':19,'name':'tags','required':false,'type':{'type':'list','element-id':20,"               \
    "'element-required':true,'element':'string'}},"                                                \
    "{'id':21,'name':'anything','required':false,'type':'variant'},"                               \
    "{'id':22,'name':'nothing','required':false,'type':'unknown'}]}"

typedef struct fx_filter {
    firn_arena *arena;
    json_t *json;
    const firn_schema *schema;
} fx_filter;

static inline fx_filter fx_filter_new(void) {
    fx_filter fixture = {.arena = firn_arena_new(), .json = fx_json(FX_FILTER_SCHEMA)};
    firn_error error = {0};
    check_ok(firn_schema_parse(fixture.json, "fixture", fixture.arena, &fixture.schema, &error),
             &error);
    return fixture;
}

static inline void fx_filter_release(fx_filter *fixture) {
    firn_arena_free(fixture->arena);
    json_decref(fixture->json);
}

static inline const firn_expression *fx_filter_parse(const fx_filter *fixture, const char *text) {
    const firn_expression *expression = NULL;
    firn_error error = {0};
    firn_status status =
        firn_expression_parse(text, fixture->schema, fixture->arena, &expression, &error);
    if (status != FIRN_OK) print_message("%s\n", text);
    check_ok(status, &error);
    return expression;
}

static inline firn_value fx_filter_value(const fx_filter *fixture, const firn_type *type,
                                         const json_t *json) {
    firn_value value = {0};
    firn_error error = {0};
    const char *text = json_string_value(json);
    bool floating = type->kind == FIRN_TYPE_FLOAT || type->kind == FIRN_TYPE_DOUBLE;
    if (floating && text != NULL) {
        double number = strcmp(text, "NaN") == 0 ? (double)NAN : -0.0;
        value.kind = type->kind;
        if (type->kind == FIRN_TYPE_FLOAT) value.as.float32 = (float)number;
        if (type->kind == FIRN_TYPE_DOUBLE) value.as.float64 = number;
        return value;
    }
    check_ok(firn_value_from_json(type, json, fixture->arena, &value, &error), &error);
    return value;
}

typedef struct fx_filter_row {
    const fx_filter *fixture;
    const json_t *json;
} fx_filter_row;

static inline firn_status fx_filter_row_value(void *context, int32_t field_id, firn_value *out,
                                              firn_error *error) {
    (void)error;
    const fx_filter_row *row = context;
    const firn_field *field = firn_schema_find(row->fixture->schema, field_id);
    const char *name = firn_schema_full_name(row->fixture->schema, field_id, row->fixture->arena);
    *out = fx_filter_value(row->fixture, field->type, json_object_get(row->json, name));
    return FIRN_OK;
}

static inline bool fx_filter_matches(const fx_filter *fixture, const char *text, const char *row) {
    json_t *json = fx_json(row);
    fx_filter_row context = {fixture, json};
    bool matches = false;
    firn_error error = {0};
    check_ok(firn_expression_matches_row(fx_filter_parse(fixture, text), fx_filter_row_value,
                                         &context, &matches, &error),
             &error);
    json_decref(json);
    return matches;
}

#endif
