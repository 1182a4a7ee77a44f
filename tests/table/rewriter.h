/** A rewrite of some files to one, made anew for whatever the table has become, while somebody else goes between. */
#ifndef FIRN_TESTS_TABLE_REWRITER_H
#define FIRN_TESTS_TABLE_REWRITER_H

#include "table/table_fixture.h"

typedef struct rewriter {
    table_fixture *f;
    const char *const *inputs;
    const char *output;
    void (*meanwhile[3])(table_fixture *f); /**< after each build */
    int builds;
    firn_live_files files;
    firn_manifest_entry added;
    const firn_live_file *removed[8];
} rewriter;

static inline firn_status rewriter_build(void *context, firn_table *table, bool moved,
                                         firn_file_change *change, firn_error *error) {
    rewriter *r = context;
    assert_int_equal(moved, r->builds > 0);
    if (moved) {
        FIRN_TRY(firn_table_live_files_move(table, table->snapshot, &r->files, error));
    } else {
        FIRN_TRY(firn_table_live_files(table, table->snapshot, &r->files, error));
    }
    size_t count = 0;
    for (; r->inputs[count] != NULL; count++) {
        r->removed[count] = fixture_find(&r->files, r->inputs[count]);
        if (r->removed[count] == NULL) {
            return firn_fail(error, FIRN_CONFLICT, "%s is gone", r->inputs[count]);
        }
    }
    r->added = fixture_file(r->f, r->output, FIRN_CONTENT_DATA, 10 * (int64_t)count);
    *change = (firn_file_change){.operation = "replace",
                                 .added = &r->added,
                                 .added_count = 1,
                                 .removed = r->removed,
                                 .removed_count = count,
                                 .files = &r->files};
    if (r->meanwhile[r->builds] != NULL) r->meanwhile[r->builds](r->f);
    r->builds++;
    return FIRN_OK;
}

static inline firn_status rewriter_run(rewriter *r, firn_commit_result *out) {
    firn_change_source source = {rewriter_build, r};
    check_ok(firn_table_reload(r->f->table, &r->f->error), &r->f->error);
    firn_status status =
        firn_table_commit_changes(r->f->table, r->f->journal, &source, out, &r->f->error);
    firn_live_files_release(&r->files);
    return status;
}

#endif
