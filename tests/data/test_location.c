/* Where new data files go: the default layout, the object-store layout, and what is refused. */
#include "data/fixture.h"
#include "data/location.h"

static char *location_of(const fixture *pieces, const char *partition_value, const char *name) {
    firn_error error = {0};
    firn_table_metadata *metadata = fixture_metadata(pieces);
    firn_value value = {.kind = FIRN_TYPE_STRING};
    if (partition_value == NULL) {
        value.is_null = true;
    } else {
        value.as.bytes = firn_slice_text(partition_value);
    }
    char *location = NULL;
    check_ok(firn_location_new_data_file(metadata, metadata->default_spec, &value, name, &location,
                                         &error),
             &error);
    firn_table_metadata_free(metadata);
    return location;
}

#define STRING_SCHEMA "[{\"id\": 1, \"name\": \"a\", \"required\": false, \"type\": \"string\"}]"
#define BY_A                                                                                       \
    "[{\"source-id\": 1, \"field-id\": 1000, \"name\": \"a\", \"transform\": \"identity\"}]"
#define VOID_A "[{\"source-id\": 1, \"field-id\": 1000, \"name\": \"a\", \"transform\": \"void\"}]"

static void check_location(const fixture *pieces, const char *value, const char *name,
                           const char *expected) {
    char *location = location_of(pieces, value, name);
    assert_string_equal(location, expected);
    firn_free(location);
}

static void default_layout(void **state) {
    (void)state;
    fixture plain = {.location = "s3://bucket/db/t/"};
    check_location(&plain, "x", "f.parquet", "s3://bucket/db/t/data/f.parquet");
    fixture partitioned = {.schema = STRING_SCHEMA, .spec = BY_A};
    check_location(&partitioned, "x y", "f.parquet", "/wh/db/t/data/a=x+y/f.parquet");
    check_location(&partitioned, NULL, "f.parquet", "/wh/db/t/data/a=null/f.parquet");
    fixture only_void = {.schema = STRING_SCHEMA, .spec = VOID_A};
    check_location(&only_void, NULL, "f.parquet", "/wh/db/t/data/f.parquet");
}

static void data_path(void **state) {
    (void)state;
    fixture absolute = {.properties = "{\"write.data.path\": \"s3://other/place//\"}"};
    check_location(&absolute, NULL, "f", "s3://other/place/f");
    fixture relative = {.properties = "{\"write.data.path\": \"rows/new\"}"};
    check_location(&relative, NULL, "f", "/wh/db/t/rows/new/f");
    fixture old = {.properties = "{\"write.folder-storage.path\": \"/elsewhere\"}"};
    check_location(&old, NULL, "f", "/elsewhere/f");
    /* Of object stores only: ignored here. */
    fixture unused = {.properties = "{\"write.object-storage.path\": \"/elsewhere\"}"};
    check_location(&unused, NULL, "f", "/wh/db/t/data/f");
}

/* Hashes of "a" to "d" as Iceberg's own tests have them. */
static void hashed_folders(void **state) {
    (void)state;
    fixture pieces = {.properties = "{\"write.object-storage.enabled\": \"true\"}"};
    check_location(&pieces, NULL, "a", "/wh/db/t/data/0101/0110/1001/10110010/a");
    check_location(&pieces, NULL, "b", "/wh/db/t/data/1110/0111/1110/00000011/b");
    check_location(&pieces, NULL, "c", "/wh/db/t/data/0010/1101/0110/01011111/c");
    check_location(&pieces, NULL, "d", "/wh/db/t/data/1001/0001/0100/01110011/d");
    fixture elsewhere = {.location = "s3://bucket/db/t",
                         .properties = "{\"write.object-storage.enabled\": \"true\","
                                       "\"write.object-storage.path\": \"s3://other/x/\"}"};
    check_location(&elsewhere, NULL, "a", "s3://other/x/0101/0110/1001/10110010/db/t/a");
    fixture shallow = {.location = "s3://bucket/t",
                       .properties = "{\"write.object-storage.enabled\": \"true\","
                                     "\"write.data.path\": \"s3://other/x\"}"};
    check_location(&shallow, NULL, "a", "s3://other/x/0101/0110/1001/10110010/t/a");
}

static void hashed_partitions(void **state) {
    (void)state;
    fixture with_paths = {.schema = STRING_SCHEMA,
                          .spec = BY_A,
                          .properties = "{\"write.object-storage.enabled\": \"true\"}"};
    char *location = location_of(&with_paths, "x", "a");
    assert_memory_equal(location, "/wh/db/t/data/", 14);
    assert_string_equal(location + strlen(location) - 6, "/a=x/a");
    firn_free(location);
    fixture without = {.schema = STRING_SCHEMA,
                       .spec = BY_A,
                       .properties = "{\"write.object-storage.enabled\": \"true\","
                                     "\"write.object-storage.partitioned-paths\": \"false\"}"};
    check_location(&without, "x", "a", "/wh/db/t/data/0101/0110/1001/10110010-a");
}

static void foreign_provider(void **state) {
    (void)state;
    firn_error error = {0};
    fixture pieces = {.properties = "{\"write.location-provider.impl\": \"com.example.Mine\"}"};
    firn_table_metadata *metadata = fixture_metadata(&pieces);
    check_fails(firn_location_check(metadata, &error), FIRN_UNSUPPORTED, &error,
                "com.example.Mine");
    firn_table_metadata_free(metadata);
    fixture own = {.properties =
                       "{\"write.location-provider.impl\":"
                       " \"org.apache.iceberg.LocationProviders$DefaultLocationProvider\"}"};
    metadata = fixture_metadata(&own);
    check_ok(firn_location_check(metadata, &error), &error);
    firn_table_metadata_free(metadata);
}

static firn_status make_one(void *context, firn_error *error) {
    const firn_table_metadata *metadata = context;
    firn_value value = {.kind = FIRN_TYPE_STRING, .as.bytes = firn_slice_text("x")};
    char *location = NULL;
    firn_status status = firn_location_new_data_file(metadata, metadata->default_spec, &value, "f",
                                                     &location, error);
    if (status == FIRN_OK) firn_free(location);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    fixture pieces = {.schema = STRING_SCHEMA,
                      .spec = BY_A,
                      .properties = "{\"write.object-storage.enabled\": \"true\"}"};
    firn_table_metadata *metadata = fixture_metadata(&pieces);
    check_each_allocation(make_one, metadata);
    firn_table_metadata_free(metadata);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_layout),   cmocka_unit_test(data_path),
        cmocka_unit_test(hashed_folders),   cmocka_unit_test(hashed_partitions),
        cmocka_unit_test(foreign_provider), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
