/** A machine of its own for a test of the configuration: home, working folder, system file, environment. */
#ifndef FIRN_TESTS_CONFIG_WORLD_H
#define FIRN_TESTS_CONFIG_WORLD_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config_internal.h"
#include "support/check.h"

typedef struct world {
    char *folder;
    char before[PATH_MAX]; /* the working folder to go back to */
    char system_file[PATH_MAX];
} world;

static const char *const world_variables[] = {
    "FIRN_CONFIG",
    "XDG_CONFIG_HOME",
    "PYICEBERG_HOME",
    "FIRN_CATALOG__DEFAULT__URI",
    "FIRN_CATALOG__DEFAULT__S3__ACCESS_KEY_ID",
    "FIRN_CATALOG__DEFAULT__WAREHOSE",
    "FIRN_CATALOG__MY_CAT__URI",
    "PYICEBERG_CATALOG__DEFAULT__URI",
    "PYICEBERG_CATALOG__DEFAULT__POOL_PRE_PING",
    "PYICEBERG_CATALOG__DEFAULT__MADE_UP",
};

static inline int world_setup(void **state) {
    world *here = calloc(1, sizeof *here);
    for (size_t i = 0; i < sizeof world_variables / sizeof *world_variables; i++) {
        unsetenv(world_variables[i]);
    }
    here->folder = test_folder_new();
    assert_non_null(getcwd(here->before, sizeof here->before));
    assert_int_equal(chdir(here->folder), 0);
    assert_int_equal(mkdir("home", 0700), 0);
    assert_int_equal(mkdir("home/.config", 0700), 0);
    assert_int_equal(mkdir("home/.config/firn", 0700), 0);
    assert_int_equal(mkdir("work", 0700), 0);
    assert_int_equal(mkdir("pyiceberg", 0700), 0);
    assert_int_equal(chdir("work"), 0);
    char home[PATH_MAX];
    snprintf(home, sizeof home, "%s/home", here->folder);
    setenv("HOME", home, 1);
    snprintf(here->system_file, sizeof here->system_file, "%s/system.yaml", here->folder);
    firn_config_system_file = here->system_file;
    *state = here;
    return 0;
}

static inline int world_teardown(void **state) {
    world *here = *state;
    assert_int_equal(chdir(here->before), 0);
    test_folder_remove(here->folder);
    free(here);
    return 0;
}

/* A file relative to the working folder. */
static inline void world_write(const char *path, const char *text) {
    test_write_file(path, firn_slice_text(text));
    assert_int_equal(chmod(path, 0644), 0);
}

static inline firn_config *world_load(const char *path) {
    firn_config *config = NULL;
    firn_error error;
    firn_error_clear(&error);
    check_ok(firn_config_load(path, &config, &error), &error);
    return config;
}

static inline void world_load_fails(const char *path, const char *part) {
    firn_config *config = NULL;
    firn_error error;
    firn_error_clear(&error);
    check_fails(firn_config_load(path, &config, &error), FIRN_INVALID, &error, part);
    assert_null(config);
}

#endif
