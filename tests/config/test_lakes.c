/** The section `lakes` of firn.yaml. */
#include "config/world.h"

static void refuse(const char *text, const char *part) {
    world_write("firn.yaml", text);
    world_load_fails(NULL, part);
}

static void test_settings(void **state) {
    (void)state;
    world_write("firn.yaml", "lakes:\n"
                             "  climate.daily:\n"
                             "    catalog: lake\n"
                             "    source:\n"
                             "      manifest: s3://x/manifest.parquet\n"
                             "      unit-column: tile\n"
                             "      unit-folder: daily/tile={unit}\n"
                             "    partition:\n"
                             "      - 'tile={#}_{#}: truncate[12](a), truncate[12](b)'\n"
                             "      - 'run: -'\n"
                             "    properties:\n"
                             "      write.metadata.delete-after-commit.enabled: true\n"
                             "    batch: 7\n"
                             "    retries: 0\n"
                             "    skip-bad: true\n"
                             "    on-replaced: overwrite\n"
                             "  other:\n"
                             "    source: {folder: [a, b]}\n");
    firn_config *config = world_load(NULL);
    assert_int_equal(firn_config_lake_count(config), 2);
    const firn_lake_config *lake = firn_config_lake(config, "climate.daily");
    assert_non_null(lake);
    assert_string_equal(firn_lake_config_setting(lake, "catalog"), "lake");
    assert_string_equal(firn_lake_config_setting(lake, "source.manifest"),
                        "s3://x/manifest.parquet");
    assert_string_equal(firn_lake_config_setting(lake, "source.unit-column"), "tile");
    assert_string_equal(
        firn_lake_config_setting(lake, "properties.write.metadata.delete-after-commit.enabled"),
        "true");
    assert_string_equal(firn_lake_config_setting(lake, "retries"), "0");
    assert_null(firn_lake_config_setting(lake, "limit"));
    size_t rules = 0;
    for (size_t i = 0; i < lake->setting_count; i++) {
        rules += strcmp(lake->settings[i].key, "partition") == 0 ? 1 : 0;
    }
    assert_int_equal(rules, 2);
    assert_non_null(strstr(lake->source, "firn.yaml line 2"));
    lake = firn_config_lake_at(config, 1);
    assert_string_equal(lake->table, "other");
    assert_int_equal(lake->setting_count, 2);
    assert_string_equal(lake->settings[1].value, "b");
    assert_null(firn_config_lake(config, "absent"));
    assert_null(firn_lake_config_setting(NULL, "catalog"));
    firn_config_free(config);
}

static void test_mistakes(void **state) {
    (void)state;
    refuse("lakes:\n  t:\n    sorce: {}\n", "has no key \"sorce\"; the nearest one is \"source\"");
    refuse("lakes:\n  t:\n    source: {globe: x}\n", "the nearest one is \"glob\"");
    refuse("lakes:\n  t:\n    source: {glob: x, list: y}\n", "has both glob and list");
    refuse("lakes:\n  t:\n    source: x\n", "must be a mapping");
    refuse("lakes:\n  t:\n    batch: 0\n", "lakes.t.batch must be a whole number above 0");
    refuse("lakes:\n  t:\n    format-version: 4\n",
           "firn.yaml line 3: lakes.t.format-version must be 1, 2 or 3");
    refuse("lakes:\n  t:\n    retries: -1\n", "lakes.t.retries must be a whole number");
    refuse("lakes:\n  t:\n    skip-bad: maybe\n", "must be true or false");
    refuse("lakes:\n  t:\n    on-missing: overwrite\n", "error, report or delete");
    refuse("lakes:\n  t:\n    on-replaced: x\n", "error, report, overwrite or delete");
    refuse("lakes:\n  t:\n    partition: [{a: b}]\n", "lakes.t.partition must be text");
    refuse("lakes:\n  t:\n    location: [a]\n", "lakes.t.location must be text");
    refuse("lakes:\n  t:\n    batch: 1\n    batch: 2\n", "stands here twice");
    refuse("lakes:\n  t:\n    source: {folder: a}\n    batch: 1\n",
           "lakes.t.batch is for a source that is a manifest, and this one is a folder");
    refuse(
        "lakes:\n  t:\n    source: {glob: a, base: b}\n",
        "lakes.t.source.base is for a source that is a manifest or a list, and this one is a glob");
    refuse("lakes:\n  t:\n    source: {list: a, unit-column: b}\n",
           "lakes.t.source.unit-column is for a source that is a manifest, and this one is a list");
}

static void test_precedence(void **state) {
    (void)state;
    world_write("firn.yaml", "lakes:\n  t:\n    batch: 1\n");
    world_write("mine.yaml", "lakes:\n  t:\n    limit: 2\n  u: {}\n");
    firn_config *config = world_load("mine.yaml");
    const firn_lake_config *lake = firn_config_lake(config, "t");
    assert_string_equal(firn_lake_config_setting(lake, "limit"), "2");
    assert_null(firn_lake_config_setting(lake, "batch"));
    assert_int_equal(firn_config_lake_count(config), 2);
    firn_config_free(config);
}

static firn_status load_once(void *context, firn_error *error) {
    (void)context;
    firn_config *config = NULL;
    FIRN_TRY(firn_config_load(NULL, &config, error));
    firn_config_free(config);
    return FIRN_OK;
}

static void test_each_allocation(void **state) {
    (void)state;
    world_write("firn.yaml", "lakes:\n  t:\n    source: {manifest: a, base: b}\n    batch: 1\n");
    world_write("../system.yaml", "lakes:\n  t:\n    limit: 2\n    properties: {a: b}\n");
    check_each_allocation(load_once, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_settings),
        TEST(test_mistakes),
        TEST(test_precedence),
        TEST(test_each_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
