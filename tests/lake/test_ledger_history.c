/* Which entries count after rollbacks, with branches, published snapshots, expired history and dropped properties: by hand, then at random against a model that knows everything. */
#include "lake/ledger_world.h"

/* --- by hand ------------------------------------------------------------------------------------ */

/** The ledger of a branch has the files whose bits are set, of the first 64. */
static void check_files(ledger_world *w, const char *ref, uint64_t files, size_t rolled_back) {
    firn_ledger *ledger = ledger_world_load(w, ref);
    uint64_t found = 0;
    for (int i = 0; i < 64; i++) found |= (uint64_t)ledger_world_has(ledger, i) << i;
    assert_int_equal(found, files);
    assert_int_equal(firn_ledger_rolled_back(ledger), rolled_back);
    firn_ledger_free(ledger);
}

static void plain_snapshot(ledger_world *w, int64_t id, int64_t parent) {
    ledger_world_add_snapshot(w, id, parent, NULL, NULL);
    ledger_world_set_ref(w, "main", id);
}

static void rollback_to_an_ancestor(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 2);
    plain_snapshot(w, 2, 1);
    (void)ledger_world_commit(w, "main", 3, "b", 2, 2);
    check_files(w, "main", 0xF, 0);
    ledger_world_set_ref(w, "main", 2);
    check_files(w, "main", 0x3, 2);
    /* The files of the lost snapshot may go, too; only then nothing tells how many there were. */
    (void)ledger_world_commit(w, "main", 4, "c", 4, 1);
    check_files(w, "main", 0x13, 0);
    ledger_world_expire(w, 3);
    check_files(w, "main", 0x13, 0);
    ledger_world_free(w);
}

static void rollback_behind_the_first(void **state) {
    (void)state;
    for (int version = 1; version <= 2; version++) {
        ledger_world *w = ledger_world_new(version);
        plain_snapshot(w, 1, FIRN_NO_SNAPSHOT);
        (void)ledger_world_commit(w, "main", 2, "a", 0, 2);
        ledger_world_set_ref(w, "main", 1);
        check_files(w, "main", 0, 2);
        ledger_world_expire(w, 2);
        check_files(w, "main", 0, 2);
        firn_ledger *ledger = ledger_world_load(w, "main");
        assert_false(firn_ledger_has_unit(ledger, "a"));
        firn_ledger_free(ledger);
        /* What does not count is in no segment that the next commit names. */
        (void)ledger_world_commit(w, "main", 3, "b", 2, 1);
        check_files(w, "main", 0x4, 0);
        ledger_world_free(w);
    }
}

/** The chain ends at an expired parent: whoever is younger than its oldest snapshot is no ancestor; others stay. */
static void rollback_in_expired_history(void **state) {
    (void)state;
    for (int version = 1; version <= 2; version++) {
        ledger_world *w = ledger_world_new(version);
        (void)ledger_world_commit(w, "main", 1, "a", 0, 2);
        plain_snapshot(w, 2, 1);
        (void)ledger_world_commit(w, "main", 3, "b", 2, 2);
        ledger_world_set_ref(w, "main", 2);
        ledger_world_expire(w, 1);
        check_files(w, "main", 0x3, 2);
        ledger_world_expire(w, 3);
        check_files(w, "main", 0x3, 2);
        ledger_world_free(w);
    }
}

static void expired_history(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 2);
    (void)ledger_world_commit(w, "main", 2, "b", 2, 2);
    plain_snapshot(w, 3, 2);
    ledger_world_expire(w, 1);
    check_files(w, "main", 0xF, 0);
    ledger_world_expire(w, 2);
    check_files(w, "main", 0xF, 0);
    ledger_world_free(w);
}

static void a_dropped_property(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 2);
    plain_snapshot(w, 2, 1);
    plain_snapshot(w, 3, 2);
    ledger_world_set_property(w, FIRN_LEDGER_PROPERTY, NULL);
    check_files(w, "main", 0x3, 0);
    /* The snapshot that told is a branch's only. */
    ledger_world_set_ref(w, "kept", 1);
    ledger_world_expire(w, 2);
    firn_ledger *ledger = NULL;
    check_fails(firn_ledger_load(ledger_world_table(w, "main"), &ledger, &w->error), FIRN_UNSAFE,
                &w->error, "--rebuild-ledger");
    check_files(w, "kept", 0x3, 0);
    ledger_world_free(w);
}

static void a_property_of_its_own_commit(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 2);
    char *first = firn_strdup(ledger_world_property(w));
    /* A program that wrote properties alone: same head, other text. */
    firn_ledger_property property;
    const char *text = NULL;
    check_ok(firn_ledger_property_parse(first, w->arena, &property, &w->error), &w->error);
    property.segment_count = 0;
    property.entries = 0;
    check_ok(firn_ledger_property_write(&property, w->arena, &text, &w->error), &w->error);
    ledger_world_set_property(w, FIRN_LEDGER_PROPERTY, text);
    check_files(w, "main", 0, 0);
    firn_free(first);
    ledger_world_free(w);
}

/** Somebody else made the property shorter: the snapshot's own text counts. */
static void a_property_changed_by_others(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 2);
    ledger_world_set_property(w, FIRN_LEDGER_PROPERTY,
                              "{\"version\":1,\"segments\":[],\"head\":1,\"entries\":0}");
    check_files(w, "main", 0x3, 0);
    plain_snapshot(w, 2, 1);
    check_files(w, "main", 0x3, 0);
    ledger_world_expire(w, 1);
    firn_ledger *ledger = NULL;
    check_fails(firn_ledger_load(ledger_world_table(w, "main"), &ledger, &w->error), FIRN_UNSAFE,
                &w->error, "crc32");
    ledger_world_free(w);
}

/** Programs that expire may drop the name of a parent that is gone: that makes no first snapshot. */
static void a_parent_that_is_named_no_more(void **state) {
    (void)state;
    for (int version = 1; version <= 2; version++) {
        ledger_world *w = ledger_world_new(version);
        (void)ledger_world_commit(w, "main", 1, "a", 0, 2);
        plain_snapshot(w, 2, FIRN_NO_SNAPSHOT);
        ledger_world_expire(w, 1);
        check_files(w, "main", 0x3, 0);
        (void)ledger_world_commit(w, "main", 3, "b", 2, 1);
        check_files(w, "main", 0x7, 0);
        ledger_world_free(w);
    }
}

static void branches_have_their_own(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 1);
    ledger_world_set_ref(w, "b", 1);
    (void)ledger_world_commit(w, "b", 2, "b", 1, 1);
    (void)ledger_world_commit(w, "main", 3, "c", 2, 1);
    check_files(w, "main", 0x5, 0);
    check_files(w, "b", 0x3, 0);
    plain_snapshot(w, 4, 3);
    ledger_world_expire(w, 1);
    ledger_world_expire(w, 3);
    check_files(w, "main", 0x5, 0);
    check_files(w, "b", 0x3, 0);
    ledger_world_free(w);
}

static void publish(ledger_world *w, int64_t id, int64_t parent, int64_t source) {
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)source);
    ledger_world_add_snapshot(w, id, parent, "source-snapshot-id", text);
    ledger_world_set_ref(w, "main", id);
}

static void a_published_snapshot(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 1);
    ledger_world_set_ref(w, "staging", 1);
    (void)ledger_world_commit(w, "staging", 2, "b", 1, 1);
    (void)ledger_world_commit(w, "staging", 3, "c", 2, 1);
    plain_snapshot(w, 4, 1);
    publish(w, 5, 4, 3);
    check_files(w, "main", 0x5, 0);
    (void)ledger_world_commit(w, "main", 6, "d", 3, 1);
    check_files(w, "main", 0xD, 0);
    (void)json_object_del(json_object_get(w->document, "refs"), "staging");
    ledger_world_expire(w, 2);
    ledger_world_expire(w, 3);
    check_files(w, "main", 0xD, 0);
    ledger_world_free(w);
}

static void a_replaced_table(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 2);
    plain_snapshot(w, 2, FIRN_NO_SNAPSHOT);
    check_files(w, "main", 0, 2);
    ledger_world_free(w);
}

static void a_replaced_file_that_is_rolled_back(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 1);
    plain_snapshot(w, 2, 1);
    (void)ledger_world_commit(w, "main", 3, "a", 0, 1); /* merged into one segment */
    ledger_world_set_ref(w, "main", 2);
    ledger_world_expire(w, 1);
    firn_ledger *ledger = ledger_world_load(w, "main");
    const firn_ledger_entry *entry = firn_ledger_find(ledger, "/lake/f0.parquet");
    assert_non_null(entry);
    assert_int_equal(entry->snapshot_id, 1);
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

/* --- at random ---------------------------------------------------------------------------------- */

#define MOST 64

typedef struct model_snapshot {
    int parent; /* -1: none */
    bool retained, sync;
    uint64_t files;    /* that it added */
    int source;        /* that it publishes; -1: none */
    bool is_source;    /* somebody publishes it: never expired here */
    uint64_t believed; /* sync: what its ledger has */
    bool lost;         /* it, or one before it, could not know all that its history was given */
} model_snapshot;

/** Snapshot `i` has id i + 1. */
typedef struct model {
    ledger_world *w;
    test_generator *random;
    model_snapshot snapshots[MOST];
    int count, head;
    int property; /* the snapshot whose text the property is; -1: none */
    bool over;    /* the history has come to where nothing can be told */
} model;

static uint64_t below(model *m, uint64_t limit) {
    return test_generator_below(m->random, limit);
}

static uint64_t truth(const model *m, int at) {
    uint64_t files = 0;
    for (; at >= 0; at = m->snapshots[at].parent) {
        files |= m->snapshots[at].files;
        if (m->snapshots[at].source >= 0) files |= m->snapshots[m->snapshots[at].source].files;
    }
    return files;
}

static bool descends(const model *m, int at, int ancestor) {
    for (; at >= 0; at = m->snapshots[at].parent) {
        if (at == ancestor) return true;
    }
    return false;
}

/** What the retained chain of the head tells. */
typedef struct evidence {
    int told_by; /* the newest retained ancestor with a text; -1: none */
    int oldest;  /* of the chain; -1: the table is empty */
    bool complete;
    uint64_t published; /* since then */
} evidence;

/** Nothing that was before it is missing, by sequence numbers; in v1 nothing tells. */
static bool is_first(const model *m, int at) {
    if (m->snapshots[at].parent >= 0 || m->w->format_version == 1) return false;
    for (int i = 0; i < at; i++) {
        if (!m->snapshots[i].retained) return false;
    }
    return true;
}

static evidence look(const model *m) {
    evidence e = {-1, -1, m->head < 0, 0};
    for (int at = m->head; at >= 0 && m->snapshots[at].retained; at = m->snapshots[at].parent) {
        const model_snapshot *s = &m->snapshots[at];
        if (s->sync) {
            e.told_by = at;
            return e;
        }
        e.oldest = at;
        e.complete = is_first(m, at);
        if (s->source >= 0) e.published |= m->snapshots[s->source].files;
    }
    return e;
}

static uint64_t files_of(const firn_ledger *ledger) {
    uint64_t files = 0;
    for (int i = 0; i < 64; i++) files |= (uint64_t)ledger_world_has(ledger, i) << i;
    return files;
}

/** Nothing in the chain tells: the property does, as far as it can be trusted. */
static void check_by_property(const model *m, const evidence *e, uint64_t files) {
    uint64_t true_files = truth(m, m->head);
    if (e->complete) {
        assert_int_equal(files, true_files);
        return;
    }
    bool told = m->property >= 0 && !m->snapshots[m->property].lost;
    if (told && descends(m, m->property, e->oldest)) assert_int_equal(true_files & ~files, 0);
    for (int i = 0; i < m->count; i++) {
        const model_snapshot *s = &m->snapshots[i];
        if (i > e->oldest && /* ids grow with sequence numbers */
            !descends(m, m->head, i) && !s->is_source) {
            uint64_t others = 0; /* a file may have been added by several */
            for (int j = 0; j < m->count; j++) others |= j == i ? 0 : m->snapshots[j].files;
            assert_int_equal(files & s->files & ~others & ~true_files, 0);
        }
    }
}

static bool any_text(const model *m) {
    for (int i = 0; i < m->count; i++) {
        if (m->snapshots[i].retained && m->snapshots[i].sync) return true;
    }
    return false;
}

/** The ledger as loaded, or NULL where it rightly can't be. */
static firn_ledger *load_checked(model *m) {
    ledger_world *w = m->w;
    evidence e = look(m);
    firn_ledger *ledger = NULL;
    firn_status status = firn_ledger_load(ledger_world_table(w, "main"), &ledger, &w->error);
    if (e.told_by < 0 && m->property < 0 && !e.complete) {
        m->over = true;
        if (any_text(m)) {
            check_fails(status, FIRN_UNSAFE, &w->error, "--rebuild-ledger");
            return NULL;
        }
        check_ok(status, &w->error);
        return ledger;
    }
    check_ok(status, &w->error);
    uint64_t files = files_of(ledger);
    if (e.told_by >= 0) {
        assert_int_equal(files, m->snapshots[e.told_by].believed | e.published);
        if (!m->snapshots[e.told_by].lost) assert_int_equal(truth(m, m->head) & ~files, 0);
    } else {
        check_by_property(m, &e, files);
    }
    return ledger;
}

static int new_snapshot(model *m, int parent) {
    int at = m->count++;
    m->snapshots[at] = (model_snapshot){.parent = parent, .retained = true, .source = -1};
    m->snapshots[at].lost = parent >= 0 && m->snapshots[parent].lost;
    m->head = at;
    return at;
}

static void do_sync(model *m) {
    firn_ledger *ledger = load_checked(m);
    if (ledger == NULL) return;
    uint64_t files = files_of(ledger), added = 0;
    firn_ledger_entry entries[4];
    size_t count = 0;
    for (size_t i = below(m, 5); i > 0; i--) {
        int file = (int)below(m, 64);
        if (((files | added) >> file & 1) != 0) continue;
        added |= (uint64_t)1 << file;
        entries[count++] = (firn_ledger_entry){
            .location = firn_arena_format(m->w->arena, "/lake/f%d.parquet", file), .rows = 1};
    }
    int at = new_snapshot(m, m->head);
    m->snapshots[at].sync = true;
    m->snapshots[at].files = added;
    m->snapshots[at].believed = files | added;
    if ((truth(m, at) & ~(files | added)) != 0) m->snapshots[at].lost = true;
    (void)ledger_world_commit_with(m->w, ledger, "main", at + 1, entries, count);
    m->property = at;
    firn_ledger_free(ledger);
}

static void do_other(model *m, bool replaces, int source) {
    int parent = replaces ? -1 : m->head;
    int at = new_snapshot(m, parent);
    int64_t parent_id = parent < 0 ? FIRN_NO_SNAPSHOT : parent + 1;
    m->snapshots[at].source = source;
    if (source >= 0) {
        m->snapshots[source].is_source = true;
        publish(m->w, at + 1, parent_id, source + 1);
    } else {
        plain_snapshot(m->w, at + 1, parent_id);
    }
}

static void set_head(model *m, int at) {
    m->head = at;
    ledger_world_set_ref(m->w, "main", at + 1);
}

static void do_rollback(model *m) {
    int steps = (int)below(m, 4);
    int at = m->head;
    while (steps-- > 0 && at >= 0 && m->snapshots[at].parent >= 0 &&
           m->snapshots[m->snapshots[at].parent].retained) {
        at = m->snapshots[at].parent;
    }
    if (at >= 0) set_head(m, at);
}

static void do_switch(model *m) {
    int at = (int)below(m, (uint64_t)m->count);
    if (m->snapshots[at].retained) set_head(m, at);
}

static void do_publish(model *m) {
    int at = (int)below(m, (uint64_t)m->count);
    const model_snapshot *s = &m->snapshots[at];
    bool fits = s->retained && s->sync && m->head >= 0 && !descends(m, m->head, at) &&
                (s->files & truth(m, m->head)) == 0;
    if (fits) do_other(m, false, at);
}

/** Of the head's ancestors some stay; of the others any may go. */
static void do_expire(model *m) {
    int keep = 1 + (int)below(m, 4);
    bool others = below(m, 2) == 0;
    for (int i = 0; i < m->count; i++) {
        int distance = 0;
        int at = m->head;
        while (at >= 0 && at != i) {
            at = m->snapshots[at].parent;
            distance++;
        }
        bool goes = at == i ? distance >= keep : others && below(m, 2) == 0;
        if (!goes || !m->snapshots[i].retained || m->snapshots[i].is_source) continue;
        m->snapshots[i].retained = false;
        ledger_world_expire(m->w, i + 1);
    }
}

static void step(model *m) {
    switch (below(m, 16)) {
    case 0:
    case 1: do_other(m, false, -1); break;
    case 2:
    case 3: do_rollback(m); break;
    case 4: do_switch(m); break;
    case 5:
    case 6: do_expire(m); break;
    case 7:
    case 8: do_publish(m); break;
    case 9:
        if (below(m, 3) == 0) do_other(m, true, -1);
        break;
    case 10:
        m->property = -1;
        ledger_world_set_property(m->w, FIRN_LEDGER_PROPERTY, NULL);
        break;
    default: do_sync(m);
    }
}

static void random_histories(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int i = 0; i < 60; i++) {
        model m = {.random = &random, .head = -1, .property = -1};
        m.w = ledger_world_new(i % 4 == 0 ? 1 : 2);
        do_sync(&m);
        while (m.count < MOST && !m.over) {
            step(&m);
            firn_ledger_free(load_checked(&m));
            if (below(&m, 60) == 0) break;
        }
        ledger_world_free(m.w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rollback_to_an_ancestor),
        cmocka_unit_test(rollback_behind_the_first),
        cmocka_unit_test(rollback_in_expired_history),
        cmocka_unit_test(expired_history),
        cmocka_unit_test(a_dropped_property),
        cmocka_unit_test(a_property_of_its_own_commit),
        cmocka_unit_test(a_property_changed_by_others),
        cmocka_unit_test(a_parent_that_is_named_no_more),
        cmocka_unit_test(branches_have_their_own),
        cmocka_unit_test(a_published_snapshot),
        cmocka_unit_test(a_replaced_table),
        cmocka_unit_test(a_replaced_file_that_is_rolled_back),
        cmocka_unit_test(random_histories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
