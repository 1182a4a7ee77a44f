/* Which of several sources counts, level by level (design, section 12). */
#include "config/world.h"

static const char with_uri[] = "catalogs:\n  default:\n    type: sql\n    uri: %s\n";

static void write_level(const char *path, const char *uri) {
    char text[256];
    snprintf(text, sizeof text, with_uri, uri);
    world_write(path, text);
}

static void expect(const char *flag, const char *uri, const char *source) {
    firn_config *config = world_load(flag);
    const firn_catalog_config *catalog = firn_config_catalog(config, "default");
    assert_non_null(catalog);
    assert_string_equal(firn_catalog_config_property(catalog, "uri"), uri);
    for (size_t i = 0; i < catalog->property_count; i++) {
        if (strcmp(catalog->properties[i].key, "uri") != 0) continue;
        assert_non_null(strstr(catalog->properties[i].source, source));
    }
    firn_config_free(config);
}

static void test_each_level(void **state) {
    (void)state;
    world_write("../pyiceberg/.pyiceberg.yaml",
                "catalog:\n  default:\n    uri: sqlite:///py-home\n");
    world_write("../home/.pyiceberg.yaml", "catalog:\n  default:\n    uri: sqlite:///py-user\n");
    world_write(".pyiceberg.yaml", "catalog:\n  default:\n    uri: sqlite:///py-work\n");
    setenv("PYICEBERG_HOME", "../pyiceberg", 1);
    write_level("../system.yaml", "sqlite:///system");
    write_level("../home/.config/firn/firn.yaml", "sqlite:///user");
    write_level("firn.yaml", "sqlite:///work");
    write_level("variable.yaml", "sqlite:///variable");
    write_level("flag.yaml", "sqlite:///flag");
    setenv("FIRN_CONFIG", "variable.yaml", 1);
    setenv("PYICEBERG_CATALOG__DEFAULT__URI", "sqlite:///py-environment", 1);
    setenv("FIRN_CATALOG__DEFAULT__URI", "sqlite:///environment", 1);

    expect("flag.yaml", "sqlite:///environment", "environment FIRN_CATALOG__DEFAULT__URI");
    unsetenv("FIRN_CATALOG__DEFAULT__URI");
    expect("flag.yaml", "sqlite:///py-environment", "environment PYICEBERG_CATALOG__DEFAULT__URI");
    unsetenv("PYICEBERG_CATALOG__DEFAULT__URI");
    expect("flag.yaml", "sqlite:///flag", "/work/flag.yaml line 4");
    expect(NULL, "sqlite:///variable", "/work/variable.yaml line 4");
    unsetenv("FIRN_CONFIG");
    expect(NULL, "sqlite:///work", "/work/firn.yaml line 4");
    unlink("firn.yaml");
    expect(NULL, "sqlite:///user", "/home/.config/firn/firn.yaml line 4");
    unlink("../home/.config/firn/firn.yaml");
    expect(NULL, "sqlite:///system", "/system.yaml line 4");
    unlink("../system.yaml");
    expect(NULL, "sqlite:///py-home", "/pyiceberg/.pyiceberg.yaml line 3");
    unsetenv("PYICEBERG_HOME");
    expect(NULL, "sqlite:///py-user", "/home/.pyiceberg.yaml line 3");
    unlink("../home/.pyiceberg.yaml");
    expect(NULL, "sqlite:///py-work", "/work/.pyiceberg.yaml line 3");
    unlink(".pyiceberg.yaml");
    firn_config *config = world_load(NULL);
    assert_int_equal(firn_config_catalog_count(config), 0);
    assert_int_equal(firn_config_file_count(config), 0);
    firn_config_free(config);
}

static void test_pyiceberg_is_read_only_where_no_firn_yaml_names_a_catalog(void **state) {
    (void)state;
    world_write(".pyiceberg.yaml", "catalog:\n  Lake:\n    uri: sqlite:///py\n");
    world_write("firn.yaml", "upkeep:\n  min-input-files: 9\n");
    firn_config *config = world_load(NULL);
    assert_non_null(firn_config_catalog(config, "lake"));
    firn_config_free(config);
    write_level("../home/.config/firn/firn.yaml", "sqlite:///user");
    config = world_load(NULL);
    assert_null(firn_config_catalog(config, "lake"));
    assert_non_null(firn_config_catalog(config, "default"));
    firn_config_free(config);
}

static void test_an_empty_pyiceberg_file_is_passed_over(void **state) {
    (void)state;
    world_write("../home/.pyiceberg.yaml", "# nothing\n");
    world_write(".pyiceberg.yaml", "catalog:\n  default:\n    uri: sqlite:///py\n");
    expect(NULL, "sqlite:///py", "/work/.pyiceberg.yaml");
}

static void test_catalogs_of_several_files_come_together(void **state) {
    (void)state;
    world_write("firn.yaml", "catalogs:\n  near:\n    type: sql\n    uri: sqlite:///near\n");
    world_write("../system.yaml", "catalogs:\n  near:\n    warehouse: /far\n"
                                  "  far:\n    type: sql\n    uri: sqlite:///far\n");
    firn_config *config = world_load(NULL);
    assert_int_equal(firn_config_catalog_count(config), 2);
    assert_int_equal(firn_config_file_count(config), 2);
    const firn_catalog_config *near = firn_config_catalog(config, "near");
    assert_null(firn_catalog_config_property(near, "warehouse"));
    assert_non_null(firn_config_catalog(config, "far"));
    firn_config_free(config);
}

static void test_xdg_config_home(void **state) {
    world *here = *state;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/xdg", here->folder);
    assert_int_equal(mkdir("../xdg", 0700), 0);
    assert_int_equal(mkdir("../xdg/firn", 0700), 0);
    setenv("XDG_CONFIG_HOME", folder, 1);
    write_level("../xdg/firn/firn.yaml", "sqlite:///xdg");
    write_level("../home/.config/firn/firn.yaml", "sqlite:///user");
    expect(NULL, "sqlite:///xdg", "/xdg/firn/firn.yaml");
}

static void test_environment_spells_as_pyiceberg_does(void **state) {
    (void)state;
    world_write("firn.yaml", "catalogs:\n  my_cat:\n    type: sql\n    uri: sqlite:///file\n");
    setenv("FIRN_CATALOG__MY_CAT__URI", "sqlite:///environment", 1);
    setenv("FIRN_CATALOG__DEFAULT__S3__ACCESS_KEY_ID", "key", 1);
    setenv("PYICEBERG_CATALOG__DEFAULT__POOL_PRE_PING", "true", 1);
    setenv("PYICEBERG_CATALOG__DEFAULT__MADE_UP", "x", 1);
    firn_config *config = world_load(NULL);
    const firn_catalog_config *catalog = firn_config_catalog(config, "my_cat");
    assert_string_equal(firn_catalog_config_property(catalog, "uri"), "sqlite:///environment");
    assert_string_equal(firn_catalog_config_property(catalog, "type"), "sql");
    catalog = firn_config_catalog(config, "default");
    assert_string_equal(firn_catalog_config_property(catalog, "s3.access-key-id"), "key");
    assert_string_equal(firn_catalog_config_property(catalog, "pool_pre_ping"), "true");
    assert_string_equal(firn_catalog_config_property(catalog, "made-up"), "x");
    firn_config_free(config);
    setenv("FIRN_CATALOG__DEFAULT__WAREHOSE", "/x", 1);
    world_load_fails(NULL, "environment FIRN_CATALOG__DEFAULT__WAREHOSE: a catalog has no setting "
                           "\"warehose\"; the nearest one is \"warehouse\"");
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
    world_write("firn.yaml", "catalogs:\n  a:\n    uri: sqlite:///a\n  b:\n    uri: sqlite:///b\n");
    world_write("../system.yaml", "catalogs:\n  a:\n    uri: sqlite:///c\n");
    setenv("FIRN_CATALOG__DEFAULT__URI", "sqlite:///environment", 1);
    check_each_allocation(load_once, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_each_level),
        TEST(test_pyiceberg_is_read_only_where_no_firn_yaml_names_a_catalog),
        TEST(test_an_empty_pyiceberg_file_is_passed_over),
        TEST(test_catalogs_of_several_files_come_together),
        TEST(test_xdg_config_home),
        TEST(test_environment_spells_as_pyiceberg_does),
        TEST(test_each_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
