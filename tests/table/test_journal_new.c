/** The journal of a table that is not there yet: what a killed run wrote goes, what the table refers to stays. */
#include "table/journal.h"
#include "table/table_fixture.h"

static const firn_table_name absent = {"db", "absent"};

static bool is_there(table_fixture *f, const char *location) {
    firn_storage_stat stat = {0};
    return firn_storage_stat_file(f->storage, location, &stat, NULL) == FIRN_OK;
}

static firn_journal *open_new(table_fixture *f, bool must_exist) {
    firn_journal *journal = NULL;
    check_ok(firn_journal_open_new(f->real, absent, "db.absent", f->location, must_exist, 0,
                                   &journal, &f->error),
             &f->error);
    return journal;
}

/* A run that recorded a file, made it and was killed. */
static void leave(table_fixture *f, const char *location) {
    firn_journal *journal = open_new(f, false);
    check_ok(firn_journal_settle_new(journal, NULL, f->storage, &f->error), &f->error);
    check_ok(firn_journal_add(journal, location, &f->error), &f->error);
    if (!is_there(f, location)) {
        check_ok(firn_storage_put(f->storage, location, firn_slice_text("{"), &f->error),
                 &f->error);
    }
    firn_journal_close(journal);
}

static void test_leftovers_go(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    char *orphan = firn_format("%s/metadata/00000-x.metadata.json", f->location);
    assert_null(open_new(f, true));
    leave(f, orphan);
    firn_journal *journal = open_new(f, true);
    assert_non_null(journal);
    assert_true(is_there(f, orphan));
    check_ok(firn_journal_settle_new(journal, NULL, f->storage, &f->error), &f->error);
    assert_false(is_there(f, orphan));
    assert_false(firn_journal_has(journal, orphan));
    firn_journal_close(journal);
    firn_free(orphan);
    fixture_free(f);
}

static void test_what_the_table_has_stays(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    const char *live = f->table->pointer.metadata_location;
    leave(f, live);
    firn_journal *journal = open_new(f, true);
    check_ok(firn_journal_settle_new(journal, f->table, f->storage, &f->error), &f->error);
    assert_true(is_there(f, live));
    firn_journal_close(journal);
    fixture_free(f);
}

static void test_two_can_not_make_it_at_once(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    firn_journal *first = open_new(f, false);
    check_ok(firn_journal_settle_new(first, NULL, f->storage, &f->error), &f->error);
    firn_journal *second = NULL;
    check_fails(firn_journal_open_new(f->real, absent, "db.absent", f->location, false, 0, &second,
                                      &f->error),
                FIRN_CONFLICT, &f->error, "db.absent: process");
    assert_null(second);
    firn_journal_close(first);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leftovers_go),
        cmocka_unit_test(test_what_the_table_has_stays),
        cmocka_unit_test(test_two_can_not_make_it_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
