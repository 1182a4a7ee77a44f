/*
 * Avro files of other writers; corpus_counts.txt has the numbers of records that PyIceberg reads,
 * or "bad" for two files that hold a snapshot id above 2^63 (which Python takes).
 */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "avro/reader.h"
#include "base/alloc.h"

static const firn_avro_target anything = {
    .id = FIRN_AVRO_NO_ID, .into = FIRN_AVRO_INTO_VALUE, .present = FIRN_AVRO_NO_FLAG};
static const firn_avro_target absent = {
    .id = 999999, .name = "absent", .into = FIRN_AVRO_INTO_INT32, .present = FIRN_AVRO_NO_FLAG};
static const firn_avro_target nothing = {.id = FIRN_AVRO_NO_ID,
                                         .into = FIRN_AVRO_INTO_RECORD,
                                         .present = FIRN_AVRO_NO_FLAG,
                                         .children = &absent,
                                         .child_count = 1};

static void check_file(const char *path, int64_t expected, const firn_avro_target *target) {
    firn_error error;
    firn_buffer bytes = test_read_file(path);
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, path);
    firn_avro_reader *reader = NULL;
    firn_arena *arena = firn_arena_new();
    const firn_avro_plan *plan;
    check_ok(firn_avro_reader_open(&file, 0, &reader, &error), &error);
    check_ok(
        firn_avro_plan_new(firn_avro_reader_schema(reader), target, path, arena, &plan, &error),
        &error);
    int64_t count = -1;
    check_ok(firn_avro_reader_count(reader, &count, &error), &error);
    firn_status status = FIRN_OK;
    for (bool more = true; more && status == FIRN_OK;) {
        firn_avro_value value = {0};
        status = firn_avro_reader_next(reader, plan, arena, true, &value, &more, &error);
    }
    if (expected < 0) {
        check_fails(status, FIRN_CORRUPT, &error, "more than 64 bits");
    } else {
        check_ok(status, &error);
        assert_int_equal(count, expected);
        assert_int_equal(firn_avro_reader_position(reader), expected);
    }
    firn_avro_reader_free(reader);
    firn_arena_free(arena);
    firn_buffer_release(&bytes);
}

static void test_counts(void **state) {
    (void)state;
    const char *corpus = test_corpus();
    FILE *list = fopen(FIRN_SOURCE_DIR "/tests/avro/corpus_counts.txt", "r");
    assert_non_null(list);
    char expected[20];
    char name[400];
    size_t files = 0;
    while (fscanf(list, "%19s %399s", expected, name) == 2) {
        char *path = firn_format("%s/%s", corpus, name);
        assert_non_null(path);
        int64_t count = strcmp(expected, "bad") == 0 ? -1 : (int64_t)strtoll(expected, NULL, 10);
        check_file(path, count, &anything);
        check_file(path, count, &nothing);
        firn_free(path);
        files++;
    }
    fclose(list);
    assert_true(files > 90);
}

static void test_encrypted(void **state) {
    (void)state;
    firn_error error;
    char *path = firn_format("%s/manifest-lists/manifest-list-v3-encrypted.avro", test_corpus());
    firn_buffer bytes = test_read_file(path);
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, "list.avro");
    firn_avro_reader *reader = NULL;
    check_fails(firn_avro_reader_open(&file, 0, &reader, &error), FIRN_CORRUPT, &error,
                "not an Avro file");
    firn_buffer_release(&bytes);
    firn_free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_encrypted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
