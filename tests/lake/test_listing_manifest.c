/* Manifests of units: CSV and JSON lines by hand, Parquet by firn's own writer and, as an independent one, by PyArrow. */
#include "lake/listing_fixture.h"

#include "base/json.h"
#include "parquet/file_writer.h"

typedef struct how {
    const char *unit_column, *rows_column, *path_column, *unit_folder;
} how;

static firn_status list_manifest(fixture *f, const char *manifest, how given) {
    char *location = firn_strdup(in(f, manifest));
    const char *locations[] = {location};
    firn_lake_source source = {.kind = FIRN_LAKE_MANIFEST,
                               .locations = locations,
                               .location_count = 1,
                               .base = f->folder,
                               .unit_column = given.unit_column,
                               .rows_column = given.rows_column,
                               .path_column = given.path_column,
                               .unit_folder = given.unit_folder};
    firn_status status = firn_lake_list(f->storage, f->pool, &source, &f->listing, &f->error);
    firn_free(location);
    return status;
}

static void write_manifest(fixture *f, const char *content) {
    test_write_file(in(f, "manifest"), firn_slice_text(content));
}

static const how folders = {.unit_folder = "daily/tile={unit}/"};

static firn_status list_text(fixture *f, const char *content, how given) {
    write_manifest(f, content);
    return list_manifest(f, "manifest", given);
}

static void add_tiles(fixture *f) {
    add(f, "daily/tile=3_4/year=2024/a.parquet", "1");
    add(f, "daily/tile=3_4/year=2024/b.parquet", "1");
    add(f, "daily/tile=3_4/_tmp/c.parquet", "1");
    add(f, "daily/tile=1_2/year=2024/a.parquet", "1");
    add(f, "daily/tile=9_9/year=2024/a.parquet", "1");
}

static void check_unit(fixture *f, size_t i, const char *name, int64_t rows, size_t first,
                       size_t count) {
    assert_true(i < f->listing.unit_count);
    const firn_lake_unit *unit = &f->listing.units[i];
    assert_string_equal(unit->name, name);
    assert_int_equal(unit->rows, rows);
    assert_int_equal(unit->first_file, first);
    assert_int_equal(unit->file_count, count);
    for (size_t j = first; j < first + count; j++) assert_int_equal(f->listing.files[j].unit, i);
}

static void check_tiles(fixture *f) {
    assert_true(f->listing.has_units);
    assert_true(f->listing.complete);
    assert_int_equal(f->listing.unit_count, 3);
    check_unit(f, 0, "3_4", 30, 0, 2);
    check_unit(f, 1, "1_2", 5, 2, 1);
    check_unit(f, 2, "0_0", 0, 3, 0);
    CHECK_FILES("daily/tile=3_4/year=2024/a.parquet", "daily/tile=3_4/year=2024/b.parquet",
                "daily/tile=1_2/year=2024/a.parquet");
    CHECK_IGNORED("daily/tile=3_4/_tmp/c.parquet", "hidden");
    const firn_lake_file *file = &f->listing.files[0];
    assert_string_equal(file->location + file->root_length, "tile=3_4/year=2024/a.parquet");
    release(f);
}

static void test_csv(void **state) {
    fixture *f = *state;
    add_tiles(f);
    check_ok(list_text(f,
                       "\xEF\xBB\xBFother,\"unit\",rows\r\n\"a,\"\"\r\nb\",3_4,10\r\n,1_2,5.0\r\n"
                       "\r\nx,\"3_4\",\"20\"\r\nx,0_0,0",
                       folders),
             &f->error);
    check_tiles(f);
    check_ok(list_text(f, "unit,rows\r3_4,30\r1_2,5\r0_0,0\r", folders), &f->error);
    check_tiles(f);
    how named = folders;
    named.unit_column = "t";
    named.rows_column = "n";
    check_ok(list_text(f, "n,t\n30,3_4\n5,1_2\n0,0_0\n", named), &f->error);
    check_tiles(f);
    /* Counts are unknown without their column: units without files are let be. */
    check_ok(list_text(f, "unit\n3_4\n7_7\n", folders), &f->error);
    check_unit(f, 0, "3_4", -1, 0, 2);
    check_unit(f, 1, "7_7", -1, 2, 0);
    release(f);
    check_ok(list_text(f, "unit,rows\n", folders), &f->error);
    assert_int_equal(f->listing.unit_count, 0);
    assert_true(f->listing.has_units);
    release(f);
}

static void test_json(void **state) {
    fixture *f = *state;
    add_tiles(f);
    check_ok(list_text(f,
                       "{\"unit\":\"3_4\",\"rows\":10,\"more\":{\"x\":[1]}}\r\n\n"
                       "{\"rows\":\"5\",\"unit\":\"1_2\"}\n{\"unit\":\"3_4\",\"rows\":20.0}\n"
                       " {\"unit\":\"0_0\",\"rows\":0}",
                       folders),
             &f->error);
    check_tiles(f);
    check_ok(list_text(f, "{\"unit\":17}\n{\"unit\":true}\n{\"unit\":-0.5}\n", folders), &f->error);
    check_unit(f, 0, "17", -1, 0, 0);
    check_unit(f, 1, "true", -1, 0, 0);
    check_unit(f, 2, "-0.5", -1, 0, 0);
    release(f);
}

static void test_refused(void **state) {
    fixture *f = *state;
    add_tiles(f);
    static const struct {
        const char *content, *message;
        firn_status status;
    } cases[] = {
        {"", "empty", FIRN_BLOCKED},
        {"\n\n", "no line of column names", FIRN_BLOCKED},
        {"tile,rows\n1,2\n", "no column \"unit\" for the units; there are: tile, rows",
         FIRN_INVALID},
        {"unit,rows\n3_4,-1\n", "row 1: a negative row count", FIRN_BLOCKED},
        {"unit,rows\n1_2,1\n3_4,\n", "row 2: column \"rows\" is null", FIRN_BLOCKED},
        {"unit,rows\n,1\n", "row 1: column \"unit\" is null", FIRN_BLOCKED},
        {"unit,rows\n\"\",1\n", "row 1: column \"unit\" is empty", FIRN_BLOCKED},
        {"unit,rows\n3_4,1.5\n", "\"1.5\" is no row count", FIRN_BLOCKED},
        {"unit,rows\n3_4, 1\n", "is no row count", FIRN_BLOCKED},
        {"unit,rows\n3_4,9223372036854775808\n", "row 1: a row count that is too large",
         FIRN_BLOCKED},
        {"unit,rows\n3_4,9223372036854775807\n3_4,1\n", "row 2: the row counts of unit \"3_4\"",
         FIRN_BLOCKED},
        {"unit,rows\n3_4,1,2\n", "row 1 has 3 fields, and the header 2", FIRN_BLOCKED},
        {"unit,rows\n3_4\n", "row 1 has 1 field", FIRN_BLOCKED},
        {"unit,rows\n\"3_4,1\n", "row 1: a quote is not closed", FIRN_BLOCKED},
        {"unit,rows\n\"3_4\"x,1\n", "behind the closing quote", FIRN_BLOCKED},
        {"unit,unit\n3_4,1\n", "two columns have the name \"unit\"", FIRN_BLOCKED},
        {"[{\"unit\":1}]", "an array of JSON", FIRN_BLOCKED},
        {"{\"unit\":1}\n[1]\n", "line 2: no JSON object", FIRN_BLOCKED},
        {"{\"unit\":1}\n{\"unit\":2,\"rows\":1}\n", "line 2: \"rows\" is not in all rows",
         FIRN_BLOCKED},
        {"{\"unit\":1,\"rows\":1}\n{\"unit\":2}\n", "not in all rows", FIRN_BLOCKED},
        {"{\"tile\":1}\n", "no column \"unit\"", FIRN_INVALID},
        {"{\"unit\":[1]}\n", "\"unit\" is no single value", FIRN_BLOCKED},
        {"{\"unit\":null}\n", "column \"unit\" is null", FIRN_BLOCKED},
        {"{\"unit\":1", "line 1", FIRN_BLOCKED},
        {"PAR1", "manifest", FIRN_BLOCKED},
        {"PAR1xxxxxxxxxxxxxxxxxxxxPAR1", "manifest", FIRN_BLOCKED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_fails(list_text(f, cases[i].content, folders), cases[i].status, &f->error,
                    cases[i].message);
    }
    check_fails(
        list_text(f, "unit,rows\n3_4,1\n", (how){.rows_column = "n", .unit_folder = "{unit}"}),
        FIRN_INVALID, &f->error, "no column \"n\" for the row counts");
    check_fails(list_text(f, "unit,rows\n3_4,1\n", (how){0}), FIRN_INVALID, &f->error,
                "no column \"path\" for the files");
    check_fails(list_text(f, "unit\n1\n", (how){.unit_folder = "daily"}), FIRN_INVALID, &f->error,
                "lacks {unit}");
    check_fails(list_text(f, "unit\n1\n", (how){.unit_folder = "{unit}", .path_column = "path"}),
                FIRN_INVALID, &f->error, "exclude each other");
    check_fails(list_manifest(f, "no", folders), FIRN_NOT_FOUND, &f->error, "/no");
}

static void test_bad_units(void **state) {
    fixture *f = *state;
    add_tiles(f);
    check_ok(list_text(f, "unit,rows\n3_4,2\n7_7,1\n1_2,1\n", folders), &f->error);
    check_unit(f, 0, "3_4", 2, 0, 2);
    check_unit(f, 1, "7_7", 1, 2, 0);
    check_unit(f, 2, "1_2", 1, 2, 1);
    assert_int_equal(f->listing.bad[0].unit, 1);
    check_bad(f, "daily/tile=7_7", "unit \"7_7\" has 1 row by the manifest, and no data files");
    add(f, "daily/tile=0_0", "1");
    check_ok(list_text(f, "unit,rows\n0_0,1\n3_4,2\n", folders), &f->error);
    check_unit(f, 1, "3_4", 2, 0, 2);
    check_bad(f, "daily/tile=0_0", "Not a directory");
    add(f, "daily/tile=3_4/x\xFE.parquet", "1");
    check_ok(list_text(f, "unit,rows\n1_2,1\n3_4,2\n", folders), &f->error);
    assert_int_equal(f->listing.bad[0].unit, 1);
    check_bad(f, "daily/tile=3_4/x\\xfe.parquet", "no UTF-8");
}

static void test_units_stay_inside(void **state) {
    fixture *f = *state;
    add_tiles(f);
    add(f, "secret/a.parquet", "1");
    static const char *const names[][2] = {
        {"..", "daily/{unit}/"},   {"../secret", "daily/{unit}"},
        {".", "daily/{unit}"},     {"/etc", "{unit}/"},
        {"a//b", "daily/{unit}/"}, {"x/../../secret", "daily/t={unit}"},
        {".", "daily/.{unit}/x"},  {"a/", "daily/{unit}/"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "unit\n%s\n", names[i][0]);
        check_fails(list_text(f, text, (how){.unit_folder = names[i][1]}), FIRN_BLOCKED, &f->error,
                    "leads out");
    }
    /* Nothing in a name is taken for a scheme, a pattern or an escape. */
    add(f, "file:x/a.parquet", "1");
    add(f, "*{a}/b%20.parquet", "1");
    check_ok(list_text(f, "unit\nfile:x\n*{a}\n", (how){.unit_folder = "{unit}/"}), &f->error);
    CHECK_FILES("file:x/a.parquet", "*{a}/b%20.parquet");
    release(f);
    check_fails(list_text(f, "unit\ndaily\ndaily/tile=3_4\n", (how){.unit_folder = "{unit}"}),
                FIRN_BLOCKED, &f->error, "belongs to two units, \"daily\" and \"daily/tile=3_4\"");
    how absolute = {.unit_folder = f->text};
    snprintf(f->text, sizeof f->text, "file:%s/daily/tile={unit}", f->folder);
    char *template = firn_strdup(f->text);
    absolute.unit_folder = template;
    check_ok(list_text(f, "unit\n1_2\n", absolute), &f->error);
    assert_int_equal(strncmp(f->listing.files[0].location, "file:/", 6), 0);
    release(f);
    firn_free(template);
}

static void test_paths(void **state) {
    fixture *f = *state;
    add_tiles(f);
    check_ok(list_text(f,
                       "unit,rows,path\nb,1,daily/tile=3_4/year=2024/b.parquet\n"
                       "a,2,daily/tile=1_2/year=2024/a.parquet\n"
                       "b,3,daily/tile=3_4/year=2024/a.parquet\n"
                       "b,4,daily/tile=3_4/./year=2024/a.parquet\nc,0,\n",
                       (how){0}),
             &f->error);
    check_unit(f, 0, "b", 8, 0, 2);
    check_unit(f, 1, "a", 2, 2, 1);
    check_unit(f, 2, "c", 0, 3, 0);
    const firn_lake_file *file = &f->listing.files[0];
    assert_string_equal(file->location + file->root_length, "tile=3_4/year=2024/a.parquet");
    assert_int_equal(file->size, 1);
    release(f);
    check_ok(list_text(f, "unit,path\nu,daily/tile=1_2/year=2024/a.parquet\nv,daily/no.parquet\n",
                       (how){0}),
             &f->error);
    assert_int_equal(f->listing.file_count, 1);
    assert_int_equal(f->listing.bad[0].unit, 1);
    check_bad(f, "daily/no.parquet", "row 2: unit \"v\"");
    check_ok(list_text(f, "unit,rows,path\nu,1,daily/\xFF\n", (how){0}), &f->error);
    check_bad(f, "daily/\\xff", "row 1: unit \"u\": a name that is no UTF-8");
    /* Its file is not looked at, another unit's is, and what is gone can't be told. */
    check_ok(list_text(f,
                       "unit,rows,path\nu,1,daily/tile=1_2/year=2024/a.parquet\n"
                       "\xFF,1,daily/no.parquet\n\xFF,1,daily/tile=3_4/year=2024/a.parquet\n",
                       (how){0}),
             &f->error);
    check_unit(f, 0, "u", 1, 0, 1);
    check_unit(f, 1, "\\xff", 2, 1, 0);
    assert_false(f->listing.complete);
    check_bad(f, "manifest", "row 2: the unit's name \"\\xff\" is no UTF-8");
    check_fails(list_text(f,
                          "unit,path\nu,daily/tile=1_2/year=2024/a.parquet\n"
                          "v,daily/tile=1_2//year=2024/a.parquet\n",
                          (how){0}),
                FIRN_BLOCKED, &f->error, "two units, \"u\" and \"v\"");
    check_fails(list_text(f, "unit,path\nu,\n", (how){0}), FIRN_BLOCKED, &f->error,
                "row 1: column \"path\" is null");
    add(f, "m/_SUCCESS", "");
    check_ok(list_text(f, "unit,rows,path\nu,1,m/_SUCCESS\n", (how){0}), &f->error);
    check_bad(f, "manifest", "no data files");
}

static void test_wide(void **state) {
    fixture *f = *state;
    add_tiles(f);
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 24);
    for (int line = 0; line < 3; line++) {
        for (int i = 0; i < 100000; i++) {
            check_ok(firn_buffer_printf(&text, &f->error, "%s%d,", line == 0 ? "c" : "", i),
                     &f->error);
        }
        const char *last = line == 0 ? "unit\n" : line == 1 ? "3_4\n" : "1_2\n";
        check_ok(firn_buffer_append_text(&text, last, &f->error), &f->error);
    }
    test_write_file(in(f, "manifest"), firn_buffer_slice(&text));
    firn_buffer_release(&text);
    check_ok(list_manifest(f, "manifest", folders), &f->error);
    assert_int_equal(f->listing.unit_count, 2);
    release(f);
    how wrong = folders;
    wrong.unit_column = "no";
    check_fails(list_manifest(f, "manifest", wrong), FIRN_INVALID, &f->error, "c18, c19, …");
    text = firn_buffer_with_maximum((size_t)1 << 24);
    check_ok(firn_buffer_append_text(&text, "unit\n", &f->error), &f->error);
    for (int i = 0; i < 2000000; i++) {
        check_ok(firn_buffer_append_byte(&text, 'x', &f->error), &f->error);
    }
    test_write_file(in(f, "manifest"), firn_buffer_slice(&text));
    firn_buffer_release(&text);
    check_fails(list_manifest(f, "manifest", folders), FIRN_BLOCKED, &f->error, "row 1");
}

/* Parquet. */

static firn_status write_bytes(void *context, const void *data, size_t size, firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

static void add_column(firn_parquet_file_writer *writer, int leaf,
                       const firn_parquet_write_options *options, firn_parquet_values values,
                       const uint8_t *levels, size_t level_count) {
    firn_error error = {0};
    firn_parquet_chunk_writer *chunk_writer = NULL;
    firn_parquet_chunk chunk = {0};
    const firn_parquet_schema *schema = firn_parquet_file_writer_schema(writer);
    firn_parquet_batch batch = {.level_count = level_count,
                                .definition_levels = levels,
                                .values = values,
                                .value_count = values.count};
    check_ok(firn_parquet_chunk_writer_new(&schema->leaves[leaf], options, &chunk_writer, &error),
             &error);
    check_ok(firn_parquet_chunk_writer_append(chunk_writer, &batch, &error), &error);
    check_ok(firn_parquet_chunk_writer_finish(chunk_writer, &chunk, &error), &error);
    firn_parquet_chunk_writer_free(chunk_writer);
    check_ok(firn_parquet_file_writer_add_chunk(writer, &chunk, &error), &error);
}

/* Units 3_4, 1_2, 3_4, 0_0 with 10, 5, 20, 0 rows in two row groups; with `null_unit` the third unit is null. */
static void write_parquet(fixture *f, bool null_unit) {
    firn_parquet_schema_element elements[] = {
        {.name = "root", .num_children = 2},
        {.name = "unit",
         .has_type = true,
         .type = FIRN_PARQUET_BYTE_ARRAY,
         .has_repetition = true,
         .repetition = FIRN_PARQUET_OPTIONAL,
         .logical.kind = FIRN_PARQUET_LOGICAL_STRING},
        {.name = "rows",
         .has_type = true,
         .type = FIRN_PARQUET_INT64,
         .has_repetition = true,
         .repetition = FIRN_PARQUET_REQUIRED},
    };
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_write_to destination = {.write = write_bytes, .context = &out};
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    firn_parquet_file_writer *writer = NULL;
    check_ok(firn_parquet_file_writer_new(elements, 3, &options, &destination, &writer, &f->error),
             &f->error);
    static const char *const units[] = {"3_4", "1_2", "3_4", "0_0"};
    static const uint8_t rows[] = {10, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0,
                                   20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (size_t group = 0; group < 2; group++) {
        firn_slice slices[2];
        uint8_t levels[2] = {1, 1};
        size_t count = 0;
        for (size_t i = 0; i < 2; i++) {
            if (null_unit && group == 1 && i == 0) {
                levels[i] = 0;
            } else {
                slices[count++] = firn_slice_text(units[group * 2 + i]);
            }
        }
        check_ok(firn_parquet_file_writer_begin_row_group(writer, 2, &f->error), &f->error);
        add_column(writer, 0, &options,
                   (firn_parquet_values){
                       .type = FIRN_PARQUET_BYTE_ARRAY, .count = count, .slices = slices},
                   levels, 2);
        add_column(
            writer, 1, &options,
            (firn_parquet_values){
                .type = FIRN_PARQUET_INT64, .width = 8, .count = 2, .fixed = rows + 16 * group},
            NULL, 2);
        check_ok(firn_parquet_file_writer_end_row_group(writer, &f->error), &f->error);
    }
    check_ok(firn_parquet_file_writer_finish(writer, NULL, NULL, &f->error), &f->error);
    firn_parquet_file_writer_free(writer);
    test_write_file(in(f, "manifest"), firn_buffer_slice(&out));
    firn_buffer_release(&out);
}

static void test_parquet(void **state) {
    fixture *f = *state;
    add_tiles(f);
    write_parquet(f, false);
    check_ok(list_manifest(f, "manifest", folders), &f->error);
    check_tiles(f);
    how wrong = folders;
    wrong.unit_column = "tile";
    check_fails(list_manifest(f, "manifest", wrong), FIRN_INVALID, &f->error,
                "no column \"tile\" for the units; there are: unit, rows");
    /* Cut anywhere, or with any byte changed, it fails or says something: it never crashes. */
    firn_buffer whole = test_read_file(in(f, "manifest"));
    for (size_t size = 0; size < whole.size; size++) {
        test_write_file(in(f, "cut"), firn_slice_of(whole.data, size));
        assert_int_not_equal(list_manifest(f, "cut", folders), FIRN_OK);
    }
    for (size_t i = 0; i < whole.size; i++) {
        whole.data[i] ^= 0xFF;
        test_write_file(in(f, "cut"), firn_buffer_slice(&whole));
        whole.data[i] ^= 0xFF;
        if (list_manifest(f, "cut", folders) == FIRN_OK) release(f);
    }
    firn_buffer_release(&whole);
    write_parquet(f, true);
    check_fails(list_manifest(f, "manifest", folders), FIRN_BLOCKED, &f->error,
                "row 3: column \"unit\" is null");
}

/* PyArrow's files, of other types. */

static const char *python(void) {
    const char *path = getenv("FIRN_PYTHON");
    if (path != NULL && path[0] != '\0') {
        char *command = firn_format("%s -c 'import pyarrow' 2>/dev/null", path);
        int status = system(command);
        firn_free(command);
        if (status == 0) return path;
    }
    if (getenv("FIRN_CI") != NULL) fail_msg("FIRN_PYTHON names no Python with PyArrow");
    print_message("skipped: FIRN_PYTHON names no Python with PyArrow\n");
    skip();
    return NULL;
}

static void test_pyarrow(void **state) {
    fixture *f = *state;
    static const char script[] =
        "import sys, csv, json, datetime, decimal, uuid, pyarrow as pa, pyarrow.parquet as pq\n"
        "utc = datetime.timezone.utc\n"
        "day = datetime.datetime(2024, 2, 29, 12, 0, 0, 500000)\n"
        "columns = {\n"
        " 'int': (pa.array([1, -2]), ['1', '-2']),\n"
        " 'uint64': (pa.array([1, 2**64 - 1], pa.uint64()), ['1', str(2**64 - 1)]),\n"
        " 'text': (pa.array(['x' * 200, 'caf\\u00e9']), ['x' * 200, 'caf\\u00e9']),\n"
        " 'words': (pa.array(['a', 'b']).dictionary_encode(), ['a', 'b']),\n"
        " 'binary': (pa.array([b'raw', b'w'], pa.binary()), ['raw', 'w']),\n"
        " 'fixed': (pa.array([b'ab', b'cd'], pa.binary(2)), ['ab', 'cd']),\n"
        " 'date': (pa.array([day.date(), datetime.date(1969, 12, 31)]), ['2024-02-29', "
        "'1969-12-31']),\n"
        " 'us': (pa.array([day, day.replace(day=1)], pa.timestamp('us')),\n"
        "        ['2024-02-29T12:00:00.500000', '2024-02-01T12:00:00.500000']),\n"
        " 'ms': (pa.array([day, day.replace(day=1)], pa.timestamp('ms', 'UTC')),\n"
        "        ['2024-02-29T12:00:00.500Z', '2024-02-01T12:00:00.500Z']),\n"
        " 'flag': (pa.array([True, False]), ['true', 'false']),\n"
        " 'real': (pa.array([0.5, 1e300]), ['0.5', '1e+300']),\n"
        " 'decimal': (pa.array([decimal.Decimal('1.50'), decimal.Decimal('-0.05')]), ['1.50', "
        "'-0.05']),\n"
        "}\n"
        "counts = [pa.array([3, 4]), pa.array([3, 4], pa.uint8()), pa.array([3.0, 4.0]), "
        "pa.array(['3', '4'])]\n"
        "for i, (name, (column, wanted)) in enumerate(columns.items()):\n"
        "  pq.write_table(pa.table({'skip': [[1], []], 'unit': column, 'rows': counts[i % 4]}),\n"
        "    f'{sys.argv[1]}/{i}.parquet', data_page_version=['1.0', '2.0'][i % 2],\n"
        "    compression=['snappy', 'zstd', 'none'][i % 3], row_group_size=1 + i % 2)\n"
        "  print(wanted[0]); print(wanted[1])\n"
        "with open(sys.argv[1] + '/csv', 'w', newline='') as out:\n"
        "  w = csv.writer(out)\n"
        "  w.writerows([['note', 'unit', 'rows'], ['a\"b,\\r\\n', 'tile \"1\", x', 3], ['', 'y', "
        "4]])\n"
        "with open(sys.argv[1] + '/json', 'w') as out:\n"
        "  for u, n in (('tile \"1\", x', 3), ('y', 4)): print(json.dumps({'unit': u, 'rows': n}), "
        "file=out)\n";
    test_write_file(in(f, "make.py"), firn_slice_text(script));
    char *command = firn_format("%s %s %s", python(), in(f, "make.py"), f->folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char first[512];
    char second[512];
    size_t made = 0;
    while (fgets(first, sizeof first, pipe) != NULL) {
        assert_non_null(fgets(second, sizeof second, pipe));
        first[strcspn(first, "\n")] = '\0';
        second[strcspn(second, "\n")] = '\0';
        char name[32];
        snprintf(name, sizeof name, "%zu.parquet", made++);
        for (const char *const *unit = (const char *const[]){first, second, NULL}; *unit; unit++) {
            char file[1024];
            snprintf(file, sizeof file, "u/unit=%s/a.parquet", *unit);
            if (access(in(f, file), F_OK) != 0) add(f, file, "1");
        }
        check_ok(list_manifest(f, name, (how){.unit_folder = "u/unit={unit}"}), &f->error);
        assert_int_equal(f->listing.unit_count, 2);
        check_unit(f, 0, first, 3, 0, 1);
        check_unit(f, 1, second, 4, 1, 1);
        release(f);
    }
    assert_int_equal(pclose(pipe), 0);
    firn_free(command);
    assert_int_equal(made, 12);
    add(f, "u/unit=tile \"1\", x/a.parquet", "1");
    add(f, "u/unit=y/a.parquet", "1");
    for (const char *const *name = (const char *const[]){"csv", "json", NULL}; *name; name++) {
        check_ok(list_manifest(f, *name, (how){.unit_folder = "u/unit={unit}"}), &f->error);
        check_unit(f, 0, "tile \"1\", x", 3, 0, 1);
        check_unit(f, 1, "y", 4, 1, 1);
        release(f);
    }
    check_fails(
        list_manifest(f, "0.parquet", (how){.unit_column = "skip", .unit_folder = "{unit}"}),
        FIRN_INVALID, &f->error, "\"skip\" holds no single values");
}

/* What Python's csv and json write, of any text, comes back. */
static void test_random_texts(void **state) {
    fixture *f = *state;
    static const char script[] =
        "import sys, csv, json, random\n"
        "folder, seed = sys.argv[1], int(sys.argv[2])\n"
        "r = random.Random(seed)\n"
        "texts = ['', 'a', ' ', ',', '\"', '\"\"', '\\r', '\\n', '\\r\\n', '\\ufeff', "
        "'\\U0001f600', '\\\\', '\\x7f', '\\t', '{', '#']\n"
        "def text(): return ''.join(r.choice(texts) for _ in range(r.randint(0, 6)))\n"
        "units = list(dict.fromkeys(u for u in (text() for _ in range(3000)) if u))\n"
        "for name, end, quoting in (('1', '\\r\\n', csv.QUOTE_MINIMAL), ('2', '\\n', "
        "csv.QUOTE_ALL), ('3', '\\r', csv.QUOTE_ALL)):\n"
        "  with open(f'{folder}/{name}', 'w', newline='', encoding='utf-8') as out:\n"
        "    w = csv.writer(out, lineterminator=end, quoting=quoting)\n"
        "    w.writerow(['x\"\\n', 'unit', ''])\n"
        "    for u in units: w.writerow([text(), u, text()])\n"
        "for name, ascii in (('4', True), ('5', False)):\n"
        "  with open(f'{folder}/{name}', 'w', newline='', encoding='utf-8') as out:\n"
        "    for u in units: out.write(json.dumps({'x': text(), 'unit': u}, ensure_ascii=ascii) + "
        "'\\n')\n"
        "for u in units: print(u.encode().hex())\n";
    test_generator random = test_generator_new();
    test_write_file(in(f, "make.py"), firn_slice_text(script));
    char *command = firn_format("%s %s %s %llu", python(), in(f, "make.py"), f->folder,
                                (unsigned long long)random.state);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    firn_buffer expected = firn_buffer_with_maximum(1 << 24);
    char line[512];
    while (fgets(line, sizeof line, pipe) != NULL) {
        check_ok(firn_buffer_append_text(&expected, line, &f->error), &f->error);
    }
    assert_int_equal(pclose(pipe), 0);
    firn_free(command);
    for (const char *const *name = (const char *const[]){"1", "2", "3", "4", "5", NULL}; *name;
         name++) {
        firn_buffer got = firn_buffer_with_maximum(1 << 24);
        check_ok(list_manifest(f, *name, (how){.unit_folder = "u/t={unit}"}), &f->error);
        assert_true(f->listing.unit_count > 1000);
        for (size_t i = 0; i < f->listing.unit_count; i++) {
            for (const char *c = f->listing.units[i].name; *c != '\0'; c++) {
                check_ok(firn_buffer_printf(&got, &f->error, "%02x", (uint8_t)*c), &f->error);
            }
            check_ok(firn_buffer_append_byte(&got, '\n', &f->error), &f->error);
        }
        assert_int_equal(got.size, expected.size);
        assert_memory_equal(got.data, expected.data, got.size);
        firn_buffer_release(&got);
        release(f);
    }
    firn_buffer_release(&expected);
}

static firn_status list_each(void *context, firn_error *error) {
    fixture *f = context;
    static const char *const names[] = {"manifest", "csv", "json", "paths"};
    for (int i = 0; i < 4; i++) {
        const char *location = in(f, names[i]);
        firn_lake_source source = {.kind = FIRN_LAKE_MANIFEST,
                                   .locations = &location,
                                   .location_count = 1,
                                   .base = f->folder,
                                   .unit_folder = i < 3 ? folders.unit_folder : NULL};
        firn_lake_listing listing = {0};
        FIRN_TRY(firn_lake_list(f->storage, NULL, &source, &listing, error));
        firn_lake_listing_release(&listing);
    }
    return FIRN_OK;
}

static void test_memory(void **state) {
    fixture *f = *state;
    add_tiles(f);
    write_parquet(f, false);
    add(f, "csv", "unit,\"rows\",x\n3_4,1,\"\"\"\"\n1_2,2,\n");
    add(f, "json", "{\"unit\":\"3_4\"}\n{\"unit\":1}\n");
    add(f, "paths", "unit,path\n1,daily/tile=3_4/../tile=3_4/year=2024/a.parquet\n");
    check_each_allocation(list_each, f);
}

static int start(void **state) {
    (void)state;
    firn_json_setup();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_units_stay_inside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wide, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parquet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pyarrow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
