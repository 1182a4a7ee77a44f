/* What a ledger holds: entries, segments, merging; hostile and missing segments; memory that runs out. */
#include "avro/encode.h"
#include "avro/writer.h"
#include "base/clock.h"
#include "codec/codec.h"
#include "lake/ledger_world.h"
#include "table/reachable.h"

static firn_ledger_property parsed(ledger_world *w, const char *text) {
    firn_ledger_property property;
    check_ok(firn_ledger_property_parse(text, w->arena, &property, &w->error), &w->error);
    return property;
}

static void an_empty_table(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    firn_ledger *ledger = ledger_world_load(w, "main");
    assert_int_equal(firn_ledger_count(ledger), 0);
    assert_null(firn_ledger_find(ledger, "/lake/f1.parquet"));
    assert_false(firn_ledger_has_unit(ledger, "a"));
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

static void everything_comes_back(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    static const firn_ledger_entry added[] = {
        {.location = "s3://b/k=1/x.parquet",
         .unit = "u1",
         .etag = "\"e\"",
         .size = 7,
         .modified_ns = -1,
         .rows = 3},
        {.location = "/lake/y.parquet", .unit = "u2", .size = -1, .modified_ns = -5, .rows = 0},
        {.location = "file:///lake/gone.parquet",
         .unit = "u3",
         .size = 1,
         .modified_ns = 9,
         .rows = 1,
         .removed = true},
        {.location = "/lake/none.parquet", .etag = "", .size = 0, .modified_ns = 0, .rows = 2},
    };
    firn_ledger *ledger = ledger_world_load(w, "main");
    (void)ledger_world_commit_with(w, ledger, "main", 77, added, 4);
    firn_ledger_free(ledger);
    ledger = ledger_world_load(w, "main");
    assert_int_equal(firn_ledger_count(ledger), 4);
    for (size_t i = 0; i < 4; i++) {
        const firn_ledger_entry *entry = firn_ledger_find(ledger, added[i].location);
        assert_non_null(entry);
        assert_ptr_equal(entry, firn_ledger_at(ledger, firn_ledger_position(ledger, entry)));
        assert_string_equal(entry->location, added[i].location);
        assert_int_equal(entry->size, added[i].size);
        assert_int_equal(entry->modified_ns, added[i].modified_ns);
        assert_int_equal(entry->rows, added[i].rows);
        assert_int_equal(entry->removed, added[i].removed);
        assert_int_equal(entry->snapshot_id, 77);
        assert_int_equal(entry->sequence_number, 1);
        assert_true(entry->added_ms > 1700000000000);
        assert_int_equal(entry->unit == NULL, added[i].unit == NULL);
        assert_int_equal(entry->etag == NULL, added[i].etag == NULL);
    }
    assert_string_equal(firn_ledger_find(ledger, "s3a://b/k=1/x.parquet")->etag, "\"e\"");
    assert_non_null(firn_ledger_find(ledger, "file:/lake//y.parquet"));
    assert_non_null(firn_ledger_find(ledger, "/lake/./gone.parquet"));
    assert_true(firn_ledger_has_unit(ledger, "u1"));
    assert_false(firn_ledger_has_unit(ledger, "u3")); /* removed */
    static const char *const adopted[] = {"u3", "u4"};
    check_ok(firn_ledger_adopt_units(ledger, adopted, 2, &w->error), &w->error);
    assert_true(firn_ledger_has_unit(ledger, "u3"));
    assert_true(firn_ledger_has_unit(ledger, "u4"));
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

static void segments_grow_with_the_logarithm(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    size_t most = 0;
    for (int i = 0; i < 200; i++) {
        firn_ledger_property property =
            parsed(w, ledger_world_commit(w, "main", 1000 + i, i % 2 == 0 ? "a" : NULL, i * 3, 3));
        assert_int_equal(property.entries, (i + 1) * 3);
        assert_int_equal(property.head, 1000 + i);
        if (property.segment_count > most) most = property.segment_count;
    }
    assert_true(most <= 8);
    firn_ledger *ledger = ledger_world_load(w, "main");
    assert_int_equal(firn_ledger_count(ledger), 600);
    for (int i = 0; i < 600; i++) assert_true(ledger_world_has(ledger, i));
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

static void the_newest_entry_counts(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 5);
    (void)ledger_world_commit(w, "main", 2, "a", 2, 1);
    firn_ledger_entry gone = {.location = "/lake/f4.parquet",
                              .unit = "a",
                              .size = -1,
                              .modified_ns = -1,
                              .removed = true};
    firn_ledger *ledger = ledger_world_load(w, "main");
    (void)ledger_world_commit_with(w, ledger, "main", 3, &gone, 1);
    firn_ledger_free(ledger);
    ledger = ledger_world_load(w, "main");
    assert_int_equal(firn_ledger_count(ledger), 5);
    assert_int_equal(firn_ledger_find(ledger, "/lake/f2.parquet")->snapshot_id, 2);
    assert_true(firn_ledger_find(ledger, "/lake/f4.parquet")->removed);
    assert_true(firn_ledger_has_unit(ledger, "a"));
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

static void a_commit_without_files_names_the_same_segments(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    firn_ledger_property before = parsed(w, ledger_world_commit(w, "main", 1, "a", 0, 5));
    firn_ledger_property after = parsed(w, ledger_world_commit(w, "main", 2, "a", 0, 0));
    assert_int_equal(after.segment_count, 1);
    assert_string_equal(after.segments[0], before.segments[0]);
    assert_int_equal(after.head, 2);
    ledger_world_free(w);
}

static void what_is_refused(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    const char *text = NULL;
    firn_ledger *ledger = ledger_world_load(w, "main");
    firn_ledger_entry twice[] = {{.location = "/a", .size = 1, .rows = 1},
                                 {.location = "file:/a", .size = 1, .rows = 1}};
    check_fails(firn_ledger_write(ledger, &w->table, w->journal, firn_ledger_entries_of(twice, 2),
                                  1, 1, w->arena, &text, &w->error),
                FIRN_INVALID, &w->error, "twice");
    twice[1] = (firn_ledger_entry){.location = "/b", .size = -2};
    check_fails(firn_ledger_write(ledger, &w->table, w->journal, firn_ledger_entries_of(twice, 2),
                                  1, 1, w->arena, &text, &w->error),
                FIRN_INVALID, &w->error, "/b");
    /* Somebody else's commit comes first. */
    (void)ledger_world_commit(w, "main", 1, "a", 0, 1);
    (void)ledger_world_table(w, "main");
    bool current = true;
    check_ok(firn_ledger_is_current(ledger, &w->table, &current, &w->error), &w->error);
    assert_false(current);
    check_fails(firn_ledger_write(ledger, &w->table, w->journal, firn_ledger_entries_of(twice, 1),
                                  2, 2, w->arena, &text, &w->error),
                FIRN_CONFLICT, &w->error, "another run");
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

static void entries_that_are_adopted(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    firn_ledger_entry old[] = {{.location = "/lake/f1.parquet",
                                .unit = "a",
                                .size = 1,
                                .modified_ns = -1,
                                .rows = 1,
                                .snapshot_id = 40,
                                .sequence_number = 3},
                               {.location = "/lake/f2.parquet",
                                .unit = "a",
                                .size = 1,
                                .modified_ns = -1,
                                .rows = 1,
                                .snapshot_id = 40,
                                .sequence_number = 3}};
    firn_ledger *ledger = ledger_world_load(w, "main");
    check_ok(firn_ledger_adopt(ledger, old, 2, &w->error), &w->error);
    check_ok(firn_ledger_adopt(ledger, old, 1, &w->error), &w->error); /* again: the same */
    assert_int_equal(firn_ledger_count(ledger), 2);
    (void)ledger_world_commit_with(w, ledger, "main", 41, NULL, 0);
    firn_ledger_free(ledger);
    ledger = ledger_world_load(w, "main");
    assert_int_equal(firn_ledger_count(ledger), 2);
    assert_int_equal(firn_ledger_find(ledger, "/lake/f1.parquet")->snapshot_id, 40);
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

/* --- damaged segments --------------------------------------------------------------------------- */

static void fails_to_load(ledger_world *w, firn_status code, const char *part) {
    firn_ledger *ledger = NULL;
    check_fails(firn_ledger_load(ledger_world_table(w, "main"), &ledger, &w->error), code,
                &w->error, part);
    if (code == FIRN_UNSAFE) {
        assert_non_null(strstr(w->error.message, "--rebuild-ledger"));
    }
}

static firn_buffer segment_bytes(ledger_world *w, const char *location) {
    firn_buffer bytes = firn_buffer_with_maximum(1 << 20);
    check_ok(firn_storage_read_all(w->storage, location, &bytes, &w->error), &w->error);
    return bytes;
}

static void put_bytes(ledger_world *w, const char *location, firn_slice bytes) {
    check_ok(firn_storage_delete(w->storage, location, &w->error), &w->error);
    check_ok(firn_storage_put(w->storage, location, bytes, &w->error), &w->error);
}

/** Cut anywhere, and with any byte changed: it is told, or what is read is what was written; it never crashes. */
static void damaged_bytes(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    firn_ledger_property property = parsed(w, ledger_world_commit(w, "main", 1, "a", 0, 20));
    const char *location = property.segments[0];
    firn_buffer bytes = segment_bytes(w, location);
    for (size_t size = 0; size < bytes.size; size++) {
        put_bytes(w, location, firn_slice_of(bytes.data, size));
        fails_to_load(w, FIRN_UNSAFE, location);
    }
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] ^= (uint8_t)(1 << i % 8);
        put_bytes(w, location, firn_buffer_slice(&bytes));
        fails_to_load(w, FIRN_UNSAFE, location);
        bytes.data[i] ^= (uint8_t)(1 << i % 8);
    }
    firn_buffer_release(&bytes);
    check_ok(firn_storage_delete(w->storage, location, &w->error), &w->error);
    fails_to_load(w, FIRN_UNSAFE, "is missing");
    ledger_world_free(w);
}

typedef struct hostile {
    const char *location, *version, *count;
    int64_t size, rows, sequence;
    int repeat;
    const char *part;
} hostile;

static const char hostile_schema[] =
    "{\"type\":\"record\",\"name\":\"e\",\"fields\":["
    "{\"name\":\"location\",\"type\":\"string\",\"field-id\":1},"
    "{\"name\":\"size\",\"type\":\"long\",\"field-id\":4},"
    "{\"name\":\"rows\",\"type\":\"long\",\"field-id\":6},"
    "{\"name\":\"snapshot_id\",\"type\":\"long\",\"field-id\":7},"
    "{\"name\":\"sequence_number\",\"type\":\"long\",\"field-id\":8},"
    "{\"name\":\"removed\",\"type\":\"boolean\",\"field-id\":9},"
    "{\"name\":\"added_ms\",\"type\":\"long\",\"field-id\":10}]}";

static void write_hostile(ledger_world *w, const hostile *h, const char *location) {
    firn_buffer file = firn_buffer_with_maximum(1 << 20),
                record = firn_buffer_with_maximum(1 << 20);
    firn_write_to to = firn_avro_to_buffer(&file);
    firn_avro_writer *writer = NULL;
    firn_error *error = &w->error;
    check_ok(firn_avro_writer_new(firn_slice_text(hostile_schema), NULL, &to, &writer, error),
             error);
    if (h->version != NULL) {
        check_ok(firn_avro_writer_set_metadata(writer, "firn.ledger.version",
                                               firn_slice_text(h->version), error),
                 error);
    }
    if (h->count != NULL) {
        check_ok(firn_avro_writer_set_metadata(writer, "firn.ledger.entries",
                                               firn_slice_text(h->count), error),
                 error);
    }
    check_ok(firn_avro_put_text(&record, h->location, error), error);
    const int64_t numbers[] = {h->size, h->rows, 1, h->sequence};
    for (size_t i = 0; i < 4; i++) check_ok(firn_avro_put_long(&record, numbers[i], error), error);
    check_ok(firn_avro_put_boolean(&record, false, error), error);
    check_ok(firn_avro_put_long(&record, 0, error), error);
    for (int i = 0; i < h->repeat; i++) {
        check_ok(firn_avro_writer_add(writer, firn_buffer_slice(&record), error), error);
    }
    check_ok(firn_avro_writer_finish(writer, NULL, error), error);
    put_bytes(w, location, firn_buffer_slice(&file));
    firn_avro_writer_free(writer);
    firn_buffer_release(&file);
    firn_buffer_release(&record);
}

/** The property names it with its right checksum, and as many entries as it says. */
static void set_hostile(ledger_world *w, const hostile *h) {
    static const char *const location = "/t/metadata/segment.avro";
    const char *text = NULL;
    write_hostile(w, h, location);
    firn_buffer bytes = segment_bytes(w, location);
    uint64_t checksum = firn_xxhash64(firn_buffer_slice(&bytes));
    firn_buffer_release(&bytes);
    firn_ledger_property property = {.segments = &location,
                                     .checksums = &checksum,
                                     .segment_count = 1,
                                     .head = 1,
                                     .entries = h->count != NULL && h->count[0] == '2' ? 2 : 1};
    check_ok(firn_ledger_property_write(&property, w->arena, &text, &w->error), &w->error);
    ledger_world_set_property(w, FIRN_LEDGER_PROPERTY, text);
}

static void hostile_segments(void **state) {
    (void)state;
    static const hostile all[] = {
        {"/a", "1", "1", 1, 1, 1, 1, NULL},
        {"/a", "1", "2", 1, 1, 1, 2, "twice"},
        {"/a", "1", "1", 1, 1, 1, 2, "more entries"},
        {"/a", "1", "2", 1, 1, 1, 1, "fewer entries"},
        {"/a", "1", "99999999999999999999999", 1, 1, 1, 1, "entries"},
        {"/a", "1", "4000000000", 1, 1, 1, 1, "out of range"},
        {"/a", "1", "-1", 1, 1, 1, 1, "no number"},
        {"/a", "1", NULL, 1, 1, 1, 1, "missing"},
        {"/a", NULL, "1", 1, 1, 1, 1, "missing"},
        {"", "1", "1", 1, 1, 1, 1, "location"},
        {"/a", "1", "1", -2, 1, 1, 1, "size"},
        {"/a", "1", "1", 1, -2, 1, 1, "rows"},
        {"/a", "1", "1", 1, -1, 1, 1, NULL},
        {"/a", "1", "1", 1, 1, -1, 1, "sequence_number"},
    };
    ledger_world *w = ledger_world_new(2);
    ledger_world_add_snapshot(w, 1, FIRN_NO_SNAPSHOT, NULL, NULL);
    ledger_world_set_ref(w, "main", 1);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        set_hostile(w, &all[i]);
        if (all[i].part == NULL) {
            firn_ledger_free(ledger_world_load(w, "main"));
        } else {
            fails_to_load(w, FIRN_UNSAFE, all[i].part);
        }
    }
    static const hostile newer = {"/a", "2", "1", 1, 1, 1, 1, NULL};
    set_hostile(w, &newer);
    fails_to_load(w, FIRN_UNSUPPORTED, "newer firn");
    ledger_world_free(w);
}

static void damaged_properties(void **state) {
    (void)state;
    static const struct {
        const char *text;
        firn_status code;
        const char *part;
    } all[] = {
        {"", FIRN_UNSAFE, "firn.sync.ledger"},
        {"[]", FIRN_UNSAFE, "object"},
        {"{\"version\":2}", FIRN_UNSUPPORTED, "version 2"},
        {"{\"version\":1,\"head\":1,\"entries\":0}", FIRN_UNSAFE, "segments"},
        {"{\"version\":1,\"head\":1,\"entries\":-1,\"segments\":[]}", FIRN_UNSAFE, "negative"},
        {"{\"version\":1,\"head\":1,\"entries\":0,\"segments\":[1]}", FIRN_UNSAFE, "item 0"},
        {"{\"version\":1,\"head\":1,\"entries\":0,\"segments\":[\"\"]}", FIRN_UNSAFE, "item 0"},
        {"{\"version\":1,\"head\":1,\"entries\":0,\"segments\":[{\"location\":\"/a\"}]}",
         FIRN_UNSAFE, "xxh64"},
        {"{\"version\":1,\"head\":1,\"entries\":0,\"segments\":[{\"location\":\"/a\",\"xxh64\":"
         "\"0123456789ABCDEF\"}]}",
         FIRN_UNSAFE, "xxh64"},
        {"{\"version\":1,\"head\":1,\"entries\":5,\"segments\":[]}", FIRN_UNSAFE, "crc32"},
        {"{\"version\":1,\"head\":1,\"entries\":5,\"segments\":[],\"crc32\":\"00000000\"}",
         FIRN_UNSAFE, "crc32"},
    };
    ledger_world *w = ledger_world_new(2);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        ledger_world_set_property(w, FIRN_LEDGER_PROPERTY, all[i].text);
        fails_to_load(w, all[i].code, all[i].part);
    }
    const char *text = NULL;
    firn_ledger_property wrong = {.head = 1, .entries = 5};
    check_ok(firn_ledger_property_write(&wrong, w->arena, &text, &w->error), &w->error);
    ledger_world_set_property(w, FIRN_LEDGER_PROPERTY, text);
    fails_to_load(w, FIRN_UNSAFE, "counts 5");
    ledger_world_free(w);
}

/* --- what is reachable -------------------------------------------------------------------------- */

static void check_reached(ledger_world *w, firn_map *candidates, const char *location, bool is) {
    (void)w;
    char *key = firn_location_key(location);
    assert_int_equal(firn_map_get_text(candidates, key) != NULL, is);
    firn_free(key);
}

static void candidate(ledger_world *w, firn_map *candidates, const char *location) {
    char *key = firn_location_key(location);
    check_ok(firn_map_set_text(candidates, key, NULL, &w->error), &w->error);
    firn_free(key);
}

static void segments_are_reachable(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    firn_ledger_property first = parsed(w, ledger_world_commit(w, "main", 1, "a", 0, 5));
    (void)ledger_world_commit(w, "main", 2, "a", 5, 5);
    ledger_world_expire(w, 1);
    firn_ledger_property branch = parsed(w, ledger_world_commit(w, "b", 3, "a", 10, 5));
    ledger_world_expire(w, 3);
    (void)json_object_del(json_object_get(w->document, "refs"), "b");
    firn_ledger_property last = parsed(w, ledger_world_property(w));
    /* Snapshots need manifest lists to be looked through: only the properties are left here. */
    (void)json_object_del(w->document, "refs");
    (void)json_object_set_new(w->document, "refs", json_object());
    (void)json_object_set_new(w->document, "current-snapshot-id", json_integer(-1));
    ledger_world_expire(w, 2);
    firn_map *candidates = firn_map_new();
    candidate(w, candidates, first.segments[0]);
    candidate(w, candidates, last.segments[0]);
    candidate(w, candidates, branch.segments[branch.segment_count - 1]);
    firn_table *table = ledger_world_table(w, "main");
    check_ok(firn_table_mark_reachable(table, candidates, &w->error), &w->error);
    check_reached(w, candidates, first.segments[0], false);
    check_reached(w, candidates, last.segments[0], true);
    check_reached(w, candidates, branch.segments[branch.segment_count - 1], true);
    /* Of a text that can't be understood every segment may be named. */
    candidate(w, candidates, "/t/metadata/other.avro");
    ledger_world_set_property(w, FIRN_LEDGER_PROPERTY, "{\"version\":9}");
    table = ledger_world_table(w, "main");
    check_ok(firn_table_mark_reachable(table, candidates, &w->error), &w->error);
    check_reached(w, candidates, first.segments[0], true);
    check_reached(w, candidates, "/t/metadata/other.avro", false);
    firn_map_free(candidates);
    ledger_world_free(w);
}

/* --- memory and time ---------------------------------------------------------------------------- */

static firn_status load_and_write(void *context, firn_error *error) {
    ledger_world *w = context;
    firn_ledger *ledger = NULL;
    const char *text = NULL;
    static const firn_ledger_entry added[] = {
        {.location = "/lake/new.parquet", .unit = "new", .size = 1, .modified_ns = 1, .rows = 1},
        {.location = "file:/lake//f1.parquet",
         .unit = "a",
         .size = 1,
         .modified_ns = 1,
         .rows = 1}};
    static const char *const units[] = {"x"};
    firn_status status = FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_ledger_load(&w->table, &ledger, error));
    FIRN_CHECK(firn_ledger_adopt(ledger, added, 1, error));
    FIRN_CHECK(firn_ledger_adopt_units(ledger, units, 1, error));
    const firn_ledger_entry *found = firn_ledger_find(ledger, "s3a://not/there");
    assert_null(found);
    FIRN_CHECK(firn_ledger_write(ledger, &w->table, w->journal, firn_ledger_entries_of(added, 2),
                                 99, 99, arena, &text, error));
    assert_non_null(text);
out:
    firn_ledger_free(ledger);
    firn_arena_free(arena);
    return status;
}

static void memory_runs_out(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)ledger_world_commit(w, "main", 1, "a", 0, 8);
    (void)ledger_world_commit(w, "main", 2, "b", 8, 2);
    (void)ledger_world_commit(w, "main", 3, NULL, 1, 1);
    ledger_world_set_ref(w, "main", 2);
    (void)ledger_world_table(w, "main");
    check_each_allocation(load_and_write, w);
    ledger_world_free(w);
}

static void many_entries(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    ledger_world *w = ledger_world_new(2);
    firn_ledger_entry *added = firn_arena_alloc(w->arena, COUNT, sizeof *added);
    for (int i = 0; i < COUNT; i++) {
        added[i] = (firn_ledger_entry){
            .location = firn_arena_format(
                w->arena, "/data/lake/year=%d/month=%02d/tile=%d_%d/part-%06d.parquet",
                2000 + i % 20, i % 12 + 1, i % 36, i % 18, i),
            .unit = firn_arena_format(w->arena, "unit-%05d", i / 20),
            .size = 1000000 + i,
            .modified_ns = 1700000000000000000 + i,
            .rows = 1000};
    }
    firn_ledger *ledger = ledger_world_load(w, "main");
    int64_t begin = firn_clock_monotonic_ns();
    (void)ledger_world_commit_with(w, ledger, "main", 1, added, COUNT);
    int64_t written = firn_clock_monotonic_ns();
    firn_ledger_free(ledger);
    (void)ledger_world_table(w, "main");
    int64_t start = firn_clock_monotonic_ns();
    check_ok(firn_ledger_load(&w->table, &ledger, &w->error), &w->error);
    int64_t loaded = firn_clock_monotonic_ns();
    size_t found = 0;
    for (int i = 0; i < COUNT; i++) found += firn_ledger_find(ledger, added[i].location) != NULL;
    int64_t end = firn_clock_monotonic_ns();
    print_message("%d entries: written in %lld us, loaded in %lld us, looked up in %lld us\n",
                  COUNT, (long long)((written - begin) / 1000),
                  (long long)((loaded - start) / 1000), (long long)((end - loaded) / 1000));
    assert_int_equal(found, COUNT);
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table),
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(segments_grow_with_the_logarithm),
        cmocka_unit_test(the_newest_entry_counts),
        cmocka_unit_test(a_commit_without_files_names_the_same_segments),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(entries_that_are_adopted),
        cmocka_unit_test(damaged_bytes),
        cmocka_unit_test(hostile_segments),
        cmocka_unit_test(damaged_properties),
        cmocka_unit_test(segments_are_reachable),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(many_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
