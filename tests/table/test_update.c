/* Changes without data that meet other writers and lost replies. */
#include "table/table_fixture.h"
#include "table/update.h"

/** Sets a property, unless it is set. */
typedef struct owner_change {
    table_fixture *f;
    void (*meanwhile)(table_fixture *f);
    int builds;
} owner_change;

static firn_status build(void *context, const firn_table *table, firn_table_update *update,
                         firn_error *error) {
    owner_change *change = context;
    change->builds++;
    if (firn_table_metadata_property(table->metadata, "owner") != NULL) return FIRN_OK;
    FIRN_TRY(firn_update_set_properties(update, json_pack("{s:s}", "owner", "me"), error));
    void (*meanwhile)(table_fixture *) = change->meanwhile;
    change->meanwhile = NULL;
    if (meanwhile != NULL) meanwhile(change->f);
    return FIRN_OK;
}

static firn_status run(owner_change *change, bool *changed) {
    table_fixture *f = change->f;
    firn_update_source source = {build, change};
    return firn_table_commit_update(f->table, f->journal, &source, changed, &f->error);
}

static void append_x(table_fixture *f) {
    static const char *const x[] = {"x", NULL};
    fixture_append(f, x);
}

static firn_status set_owner(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)f;
    return firn_update_set_properties(update, json_pack("{s:s}", "owner", "somebody"), error);
}

static void set_it_too(table_fixture *f) {
    fixture_update(f, set_owner);
}

static void check_owner(table_fixture *f, const char *expected) {
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    const char *owner = firn_table_metadata_property(f->other->metadata, "owner");
    if (expected == NULL) {
        assert_null(owner);
    } else {
        assert_string_equal(owner, expected);
    }
}

static void another_commit_in_between(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    owner_change change = {.f = f, .meanwhile = append_x};
    bool changed = false;
    check_ok(run(&change, &changed), &f->error);
    assert_true(changed);
    assert_int_equal(change.builds, 2);
    check_owner(f, "me");
    char *live = fixture_live(f);
    assert_string_equal(live, "x");
    firn_free(live);
    fixture_free(f);
}

static void somebody_else_did_it(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    owner_change change = {.f = f, .meanwhile = set_it_too};
    bool changed = true;
    check_ok(run(&change, &changed), &f->error);
    assert_false(changed);
    check_owner(f, "somebody");
    fixture_free(f);
}

static void lost_reply(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    owner_change change = {.f = f};
    bool changed = false;
    f->liar.lie = LIE_LOST_REPLY;
    check_ok(run(&change, &changed), &f->error);
    check_owner(f, "me");
    fixture_free(f);
}

static void lost_request(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    owner_change change = {.f = f};
    bool changed = false;
    f->liar.lie = LIE_LOST_REQUEST;
    check_fails(run(&change, &changed), FIRN_COMMIT_UNKNOWN, &f->error, "can't be told");
    check_owner(f, NULL);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_commit_in_between), cmocka_unit_test(somebody_else_did_it),
        cmocka_unit_test(lost_reply), cmocka_unit_test(lost_request)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
