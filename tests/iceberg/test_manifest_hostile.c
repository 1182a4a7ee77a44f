/*
 * Manifests and lists with every node of their schemas changed, cut off at every byte, with bits
 * flipped.
 */
#include "iceberg/manifest_fixture.h"

#include "avro/reader.h"
#include "support/fx_avro.h"

static firn_status ignore(void *context, const firn_manifest_entry *entry, firn_error *error) {
    (void)context;
    (void)error;
    /* All that an entry points to can be read. */
    firn_arena *arena = firn_arena_new();
    firn_data_file copy;
    check_ok(firn_data_file_copy(&entry->file, arena, &copy, error), error);
    firn_arena_free(arena);
    return FIRN_OK;
}

typedef struct sample {
    firn_table_metadata *metadata;
    firn_manifest_file file;
    firn_buffer manifest, list;
    firn_arena *arena;
} sample;

static sample make_sample(void) {
    firn_error error;
    sample s = {.metadata = fx_every_type(3),
                .manifest = firn_buffer_with_maximum(1 << 20),
                .list = firn_buffer_with_maximum(1 << 20),
                .arena = firn_arena_new()};
    firn_value values[2][FX_TYPE_COUNT];
    firn_manifest_writer *writer = NULL;
    check_ok(
        firn_manifest_writer_new(s.metadata, s.metadata->default_spec, true, 88, &writer, &error),
        &error);
    for (int i = 0; i < 2; i++) {
        fx_values(values[i], i == 1);
        firn_manifest_entry entry = fx_entry(FIRN_CONTENT_EQUALITY_DELETES, values[i]);
        check_ok(firn_manifest_writer_add(writer, &entry, &error), &error);
    }
    check_ok(firn_manifest_writer_finish(writer, &s.manifest, s.arena, &s.file, &error), &error);
    firn_manifest_writer_free(writer);
    s.file.path = "m.avro";
    s.file.sequence_number = 9;
    check_ok(
        firn_manifest_list_write(s.metadata, 88, false, 0, 9, &s.file, 1, 0, NULL, &s.list, &error),
        &error);
    return s;
}

static void free_sample(sample *s) {
    firn_buffer_release(&s->manifest);
    firn_buffer_release(&s->list);
    firn_arena_free(s->arena);
    firn_table_metadata_free(s->metadata);
}

static firn_status read_one(const sample *s, firn_slice bytes, bool list, firn_error *error) {
    /* An exact copy, so that the sanitizer sees a read behind the end. */
    uint8_t *copy = malloc(bytes.size + (bytes.size == 0));
    if (bytes.size > 0) memcpy(copy, bytes.data, bytes.size);
    firn_slice exact = firn_slice_of(copy, bytes.size);
    firn_arena *arena = firn_arena_new();
    const firn_manifest_file *files;
    size_t count;
    firn_status status =
        list ? firn_manifest_list_read(exact, "m.avro", arena, &files, &count, error)
             : firn_manifest_read(exact, &s->file, s->metadata->default_spec, arena, ignore, NULL,
                                  error);
    firn_arena_free(arena);
    free(copy);
    return status;
}

static void check_outcome(firn_status status, const firn_error *error) {
    if (status == FIRN_OK) return;
    if (status != FIRN_CORRUPT && status != FIRN_LIMIT && status != FIRN_UNSUPPORTED) {
        fail_msg("%s: %s", firn_status_name(status), error->message);
    }
    assert_non_null(strstr(error->message, "m.avro"));
}

static void test_truncation(void **state) {
    (void)state;
    firn_error error;
    sample s = make_sample();
    for (int list = 0; list < 2; list++) {
        const firn_buffer *whole = list ? &s.list : &s.manifest;
        check_ok(read_one(&s, firn_buffer_slice(whole), list, &error), &error);
        for (size_t size = 0; size < whole->size; size++) {
            firn_status status = read_one(&s, firn_slice_of(whole->data, size), list, &error);
            check_outcome(status, &error);
        }
    }
    free_sample(&s);
}

static void test_bit_flips(void **state) {
    (void)state;
    firn_error error;
    test_generator random = test_generator_new();
    sample s = make_sample();
    for (int round = 0; round < 3000; round++) {
        int list = round & 1;
        const firn_buffer *whole = list ? &s.list : &s.manifest;
        uint64_t bit = test_generator_below(&random, whole->size * 8);
        whole->data[bit / 8] ^= (uint8_t)(1U << (bit % 8));
        check_outcome(read_one(&s, firn_buffer_slice(whole), list, &error), &error);
        whole->data[bit / 8] ^= (uint8_t)(1U << (bit % 8));
    }
    free_sample(&s);
}

/* Replacements for a node of a schema: other types, other kinds of JSON. */
static const char *const replacements[] = {"null",
                                           "17",
                                           "\"long\"",
                                           "\"string\"",
                                           "\"null\"",
                                           "[]",
                                           "{}",
                                           "[\"null\"]",
                                           "[\"null\",\"boolean\",\"double\"]",
                                           "\"nosuch\"",
                                           "{\"type\":\"fixed\",\"name\":\"x\",\"size\":1}",
                                           "{\"type\":\"map\",\"values\":\"int\"}"};

/** Walks the schema; node number `target` is replaced. Returns the number of nodes seen so far. */
static size_t replace(json_t *node, size_t seen, size_t target, const char *with) {
    json_error_t reason;
    if (json_is_object(node)) {
        const char *key;
        json_t *child;
        void *next;
        json_object_foreach_safe(node, next, key, child) {
            if (seen++ == target) {
                json_object_set_new(node, key, json_loads(with, JSON_DECODE_ANY, &reason));
                return seen;
            }
            seen = replace(child, seen, target, with);
            if (seen > target) return seen;
        }
    }
    for (size_t i = 0; json_is_array(node) && i < json_array_size(node); i++) {
        if (seen++ == target) {
            json_array_set_new(node, i, json_loads(with, JSON_DECODE_ANY, &reason));
            return seen;
        }
        seen = replace(json_array_get(node, i), seen, target, with);
        if (seen > target) return seen;
    }
    return seen;
}

/** The file with another schema in its header and its blocks as they are. */
static void read_with_schema(const sample *s, const firn_buffer *whole, bool list,
                             const char *schema) {
    firn_error error;
    firn_memory_file memory = {whole->data, whole->size};
    firn_read_at file = firn_read_at_memory(&memory, "m.avro");
    firn_avro_reader *reader = NULL;
    check_ok(firn_avro_reader_open(&file, 0, &reader, &error), &error);
    fx_bytes head = fx_avro_file(&(fx_avro){.schema = schema,
                                            .encode_schema = "\"int\"",
                                            .codec = firn_avro_reader_codec(reader)},
                                 "[]");
    firn_avro_reader_free(reader);
    /* The sync marker stands behind the header, and at the end. */
    const uint8_t *sync = whole->data + whole->size - 16;
    const uint8_t *blocks = memmem(whole->data, whole->size, sync, 16);
    firn_buffer changed = firn_buffer_with_maximum(1 << 20);
    check_ok(firn_buffer_append(&changed, head.data, head.size - 16, &error), &error);
    check_ok(
        firn_buffer_append(&changed, blocks, (size_t)(whole->data + whole->size - blocks), &error),
        &error);
    check_outcome(read_one(s, firn_buffer_slice(&changed), list, &error), &error);
    firn_buffer_release(&changed);
    free(head.data);
}

static void mutate(const sample *s, const firn_buffer *whole, bool list) {
    firn_error error;
    firn_memory_file memory = {whole->data, whole->size};
    firn_read_at file = firn_read_at_memory(&memory, "m.avro");
    firn_avro_reader *reader = NULL;
    firn_slice text;
    check_ok(firn_avro_reader_open(&file, 0, &reader, &error), &error);
    assert_true(firn_avro_reader_metadata(reader, "avro.schema", &text));
    for (size_t r = 0; r < sizeof replacements / sizeof *replacements; r++) {
        for (size_t target = 0;; target++) {
            json_t *schema = NULL;
            check_ok(firn_json_parse(text, "schema", &schema, &error), &error);
            size_t seen = replace(schema, 0, target, replacements[r]);
            char *changed = json_dumps(schema, JSON_COMPACT);
            assert_non_null(changed);
            read_with_schema(s, whole, list, changed);
            firn_free(changed);
            json_decref(schema);
            if (seen <= target) break;
        }
    }
    firn_avro_reader_free(reader);
}

static void test_schema_nodes(void **state) {
    (void)state;
    sample s = make_sample();
    mutate(&s, &s.manifest, false);
    mutate(&s, &s.list, true);
    free_sample(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_schema_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
