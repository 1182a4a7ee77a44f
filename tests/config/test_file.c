/* What a firn.yaml may say, and how its mistakes are named. */
#include "base/nearest.h"
#include "config/world.h"

static void refuse(const char *text, const char *part) {
    world_write("firn.yaml", text);
    world_load_fails(NULL, part);
}

static void test_mistakes_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } mistakes[] = {
        {"catalog:\n  a: {}\n",
         "firn.yaml line 1: there is no section \"catalog\"; the nearest one "
         "is \"catalogs\""},
        {"upkeep: 3\n", "firn.yaml line 1: upkeep must be a mapping"},
        {"views:\n- a\n", "line 2: views must be a mapping"},
        {"catalogs:\n  a: sqlite:///x\n", "line 2: catalog \"a\" must be a mapping"},
        {"catalogs:\n  a:\n    ury: x\n", "firn.yaml line 3: a catalog has no setting \"ury\"; the "
                                          "nearest one is \"uri\""},
        {"catalogs:\n  a:\n    s3.endpont: x\n", "nearest one is \"s3.endpoint\""},
        {"catalogs:\n  a:\n    uri: [x]\n", "line 3: catalogs.a.uri must be text or a number"},
        {"catalogs:\n  a:\n    uri:\n", "catalogs.a.uri must be text or a number"},
        {"catalogs:\n  a:\n    uri: x\n    uri: y\n", "line 4: \"uri\" stands here twice"},
        {"catalogs:\n  a: {}\n  a: {}\n", "line 3: \"a\" stands here twice"},
        {"catalogs:\n  \"\":\n    uri: x\n", "a key of catalogs must be a name"},
        {"catalogs: {a: {uri: x}}\n---\ncatalogs: {}\n", "line 3: a second document begins"},
        {"catalogs: [\n", "line 2: not valid YAML"},
        {"catalogs:\n\t- x\n", "line 2: not valid YAML"},
        {"- a\n", "line 1: the file must be a mapping"},
        {"catalogs:\n  a:\n    token: x\n", "line 3: catalogs.a.token is a secret, and other users "
                                            "may read the file; chmod 600"},
        {"catalogs:\n  a:\n    uri: postgresql://me:word@host/db\n", "catalogs.a.uri is a secret"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        refuse(mistakes[i].text, mistakes[i].part);
    }
}

static void test_what_is_fine(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "# a comment\n",
        "---\n",
        "catalogs:\n",
        "{}",
        "upkeep: {}\nlakes: {}\nviews: {}\nserve: {}\n",
        "upkeep:\n  a.b:\n    - any\n    - {thing: &x [1, *x]}\n",
        "catalogs:\n  a:\n    uri: sqlite:///x\n    echo: true\n    table-default.k: 3\n",
        "base: &b\n",
    };
    size_t count = sizeof texts / sizeof *texts - 1;
    for (size_t i = 0; i < count; i++) {
        world_write("firn.yaml", texts[i]);
        firn_config_free(world_load(NULL));
    }
    refuse(texts[count], "no section \"base\"");
}

static void test_a_private_file_may_hold_secrets(void **state) {
    (void)state;
    world_write("firn.yaml", "catalogs:\n  a:\n    uri: http://x\n    credential: a:b\n");
    assert_int_equal(chmod("firn.yaml", 0600), 0);
    firn_config *config = world_load(NULL);
    const firn_catalog_config *catalog = firn_config_catalog(config, "a");
    assert_string_equal(firn_catalog_config_property(catalog, "credential"), "a:b");
    firn_config_free(config);
}

static void test_files_that_can_not_be_read(void **state) {
    (void)state;
    world_load_fails("absent.yaml", "absent.yaml: there is no such file");
    setenv("FIRN_CONFIG", "gone.yaml", 1);
    world_load_fails(NULL, "FIRN_CONFIG: gone.yaml: there is no such file");
    unsetenv("FIRN_CONFIG");
    world_load_fails("..", "is no regular file");
    assert_int_equal(mkfifo("firn.yaml", 0600), 0);
    world_load_fails(NULL, "is no regular file");
}

static void test_a_large_file_is_refused(void **state) {
    (void)state;
    FILE *file = fopen("firn.yaml", "w");
    assert_non_null(file);
    for (size_t i = 0; i < 200000; i++) fputs("# much\n", file);
    assert_int_equal(fclose(file), 0);
    firn_config *config = NULL;
    firn_error error;
    firn_error_clear(&error);
    check_fails(firn_config_load(NULL, &config, &error), FIRN_LIMIT, &error, "firn.yaml");
}

static void test_secrets(void **state) {
    (void)state;
    assert_true(firn_config_is_secret("s3.secret-access-key", "x"));
    assert_true(firn_config_is_secret("token", "x"));
    assert_true(firn_config_is_secret("header.Authorization", "x"));
    assert_true(firn_config_is_secret("uri", "postgresql://u:p@h/d"));
    assert_false(firn_config_is_secret("uri", "postgresql://u@h/d"));
    assert_false(firn_config_is_secret("uri", "sqlite:////a:b@c"));
    assert_false(firn_config_is_secret("warehouse", "/x"));
}

static void test_sqlite_uris(void **state) {
    (void)state;
    firn_error error;
    firn_error_clear(&error);
    const char *path = NULL;
    check_ok(firn_config_sqlite_path("sqlite:///rel/x.db", &path, &error), &error);
    assert_string_equal(path, "rel/x.db");
    check_ok(firn_config_sqlite_path("sqlite:////abs/x.db", &path, &error), &error);
    assert_string_equal(path, "/abs/x.db");
    static const char *const wrong[] = {
        "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:x", "sqlite://host/x", "file:x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_fails(firn_config_sqlite_path(wrong[i], &path, &error), FIRN_INVALID, &error,
                    wrong[i]);
    }
    check_fails(firn_config_sqlite_path("sqlite:///x?mode=ro", &path, &error), FIRN_UNSUPPORTED,
                &error, "?mode=ro");
}

static void test_nearest(void **state) {
    (void)state;
    static const char *const words[] = {"compact", "describe", "tables"};
    assert_string_equal(firn_nearest("compct", words, 3), "compact");
    assert_string_equal(firn_nearest("ocmpact", words, 3), "compact");
    assert_string_equal(firn_nearest("TABLE", words, 3), "tables");
    /* What has little to do with any of them. */
    static const char *const far[] = {"", "x", "optimize", "list", "repack", "cat"};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        assert_null(firn_nearest(far[i], words, 3));
    }
    static const char *const options[] = {"ref", "target-file-size-bytes", "yes"};
    assert_string_equal(firn_nearest("targt", options, 3), "target-file-size-bytes");
    assert_null(firn_nearest("x", words, 0));
    char longest[1000];
    memset(longest, 'd', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(firn_nearest(longest, words, 3));
    char note[FIRN_NEAREST_NOTE_SIZE];
    assert_string_equal(firn_nearest_note(note, "tabels", words, 3, "\"", "\""),
                        "; the nearest one is \"tables\"");
    assert_string_equal(firn_nearest_note(note, "optimize", words, 3, "\"", "\""), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_mistakes_are_named),
        TEST(test_what_is_fine),
        TEST(test_a_private_file_may_hold_secrets),
        TEST(test_files_that_can_not_be_read),
        TEST(test_a_large_file_is_refused),
        TEST(test_secrets),
        TEST(test_sqlite_uris),
        TEST(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
