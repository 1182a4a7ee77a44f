#include "rewrite/tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "iceberg/decimal.h"

static void *make(tree_maker *maker, size_t count, size_t size) {
    void *memory = firn_arena_alloc(maker->arena, count == 0 ? 1 : count, size);
    assert_non_null(memory);
    return memory;
}

/* --- types --- */

static const firn_type *primitive(tree_maker *maker) {
    static const struct {
        firn_type_kind kind;
        const char *text;
    } kinds[] = {
        {FIRN_TYPE_BOOLEAN, "boolean"},
        {FIRN_TYPE_INT, "int"},
        {FIRN_TYPE_LONG, "long"},
        {FIRN_TYPE_FLOAT, "float"},
        {FIRN_TYPE_DOUBLE, "double"},
        {FIRN_TYPE_DATE, "date"},
        {FIRN_TYPE_TIME, "time"},
        {FIRN_TYPE_TIMESTAMP, "timestamp"},
        {FIRN_TYPE_TIMESTAMPTZ, "timestamptz"},
        {FIRN_TYPE_STRING, "string"},
        {FIRN_TYPE_UUID, "uuid"},
        {FIRN_TYPE_BINARY, "binary"},
        {FIRN_TYPE_FIXED, "fixed[5]"},
        {FIRN_TYPE_DECIMAL, NULL},
    };
    size_t i = (size_t)pick(maker, sizeof kinds / sizeof *kinds);
    firn_type *type = make(maker, 1, sizeof *type);
    type->kind = kinds[i].kind;
    type->text = kinds[i].text;
    if (type->kind == FIRN_TYPE_FIXED) type->length = 5;
    if (type->kind == FIRN_TYPE_DECIMAL) {
        type->precision = 4 + (int32_t)pick(maker, 30);
        type->scale = (int32_t)pick(maker, 4);
        type->text =
            firn_arena_format(maker->arena, "decimal(%d,%d)", type->precision, type->scale);
    }
    return type;
}

static const firn_type *random_type(tree_maker *maker, int depth);

static firn_field field_of(tree_maker *maker, const char *name, bool required,
                           const firn_type *type) {
    firn_field field = {.id = maker->next_id++, .name = name, .required = required, .type = type};
    if (name == NULL) {
        field.name = firn_arena_format(maker->arena, "f%d", field.id);
        assert_non_null(field.name);
    }
    return field;
}

const firn_type *tree_random_struct(tree_maker *maker, size_t most, int depth) {
    firn_type *type = make(maker, 1, sizeof *type);
    size_t count = 1 + (size_t)pick(maker, most);
    firn_field *fields = make(maker, count, sizeof *fields);
    for (size_t i = 0; i < count; i++) {
        fields[i] = field_of(maker, NULL, pick(maker, 4) == 0, random_type(maker, depth));
    }
    *type = (firn_type){.kind = FIRN_TYPE_STRUCT, .fields = fields, .field_count = count};
    return type;
}

static const firn_type *random_type(tree_maker *maker, int depth) {
    uint64_t choice = depth <= 0 ? 0 : pick(maker, 10);
    if (choice < 6) return primitive(maker);
    if (choice == 6 || choice == 7) return tree_random_struct(maker, 3, depth - 1);
    firn_type *type = make(maker, 1, sizeof *type);
    firn_field *fields = make(maker, 2, sizeof *fields);
    if (choice == 8) {
        fields[0] = field_of(maker, "element", pick(maker, 3) == 0, random_type(maker, depth - 1));
        *type = (firn_type){.kind = FIRN_TYPE_LIST, .fields = fields, .field_count = 1};
    } else {
        fields[0] = field_of(maker, "key", true, random_type(maker, 0));
        fields[1] = field_of(maker, "value", pick(maker, 3) == 0, random_type(maker, depth - 1));
        *type = (firn_type){.kind = FIRN_TYPE_MAP, .fields = fields, .field_count = 2};
    }
    return type;
}

static const firn_type *promoted(tree_maker *maker, const firn_type *type) {
    firn_type *wider = make(maker, 1, sizeof *wider);
    *wider = *type;
    if (type->kind == FIRN_TYPE_INT) {
        *wider = (firn_type){.kind = FIRN_TYPE_LONG, .text = "long"};
    } else if (type->kind == FIRN_TYPE_FLOAT) {
        *wider = (firn_type){.kind = FIRN_TYPE_DOUBLE, .text = "double"};
    } else if (type->kind == FIRN_TYPE_DECIMAL) {
        wider->precision += (int32_t)pick(maker, (uint64_t)(39 - type->precision));
        wider->text =
            firn_arena_format(maker->arena, "decimal(%d,%d)", wider->precision, wider->scale);
    }
    return wider;
}

static const firn_type *evolve_type(tree_maker *maker, const firn_type *type) {
    if (type->kind == FIRN_TYPE_STRUCT) return tree_evolve(maker, type);
    if (type->kind != FIRN_TYPE_LIST && type->kind != FIRN_TYPE_MAP) {
        return pick(maker, 2) == 0 ? type : promoted(maker, type);
    }
    firn_type *copy = make(maker, 1, sizeof *copy);
    firn_field *fields = make(maker, type->field_count, sizeof *fields);
    *copy = *type;
    copy->fields = fields;
    for (size_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        fields[i].type = evolve_type(maker, type->fields[i].type);
        bool key = type->kind == FIRN_TYPE_MAP && i == 0;
        if (!key && pick(maker, 3) == 0) fields[i].required = false;
    }
    return copy;
}

static firn_field new_field(tree_maker *maker) {
    firn_field field = field_of(maker, NULL, false, random_type(maker, 2));
    bool number = field.type->kind == FIRN_TYPE_INT || field.type->kind == FIRN_TYPE_LONG;
    bool text = field.type->kind == FIRN_TYPE_STRING;
    if (maker->with_defaults && (number || text) && pick(maker, 2) == 0) {
        json_t *value = number ? json_integer(42)
                               : json_string("d\xc3\xa9"
                                             "f");
        assert_non_null(value);
        /* Lives as long as the arena. */
        firn_arena_on_free(maker->arena, (void (*)(void *))json_decref, value);
        field.initial_default = value;
        field.write_default = value;
        field.required = pick(maker, 2) == 0;
    }
    return field;
}

const firn_type *tree_evolve(tree_maker *maker, const firn_type *type) {
    firn_field *fields = make(maker, type->field_count + 3, sizeof *fields);
    size_t count = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->field_count > 1 && pick(maker, 6) == 0) continue;
        fields[count] = type->fields[i];
        fields[count].type = evolve_type(maker, type->fields[i].type);
        if (pick(maker, 3) == 0) fields[count].required = false;
        if (pick(maker, 4) == 0) {
            fields[count].name = firn_arena_format(maker->arena, "n%d", fields[count].id);
        }
        count++;
    }
    for (uint64_t more = pick(maker, 3); more > 0 || count == 0; more -= more > 0 ? 1 : 0) {
        fields[count++] = new_field(maker);
    }
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)pick(maker, i);
        firn_field field = fields[i - 1];
        fields[i - 1] = fields[other];
        fields[other] = field;
    }
    firn_type *evolved = make(maker, 1, sizeof *evolved);
    *evolved = (firn_type){.kind = FIRN_TYPE_STRUCT, .fields = fields, .field_count = count};
    return evolved;
}

/* --- values --- */

static firn_slice random_bytes(tree_maker *maker, size_t size, bool text) {
    uint8_t *bytes = make(maker, size + 1, 1);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = text ? (uint8_t)('a' + pick(maker, 4)) : (uint8_t)pick(maker, 256);
    }
    return firn_slice_of(bytes, size);
}

static firn_int128 power_of_ten(int32_t exponent) {
    firn_int128 power = 1;
    for (int32_t i = 0; i < exponent; i++) power *= 10;
    return power;
}

static firn_value random_value(tree_maker *maker, const firn_type *type) {
    firn_value value = {.kind = type->kind};
    int64_t number = (int64_t)test_generator_next(&maker->random) >> pick(maker, 60);
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN: value.as.boolean = pick(maker, 2) == 0; break;
    case FIRN_TYPE_INT: value.as.int32 = (int32_t)number; break;
    case FIRN_TYPE_DATE: value.as.int32 = (int32_t)(number % 100000); break;
    case FIRN_TYPE_LONG: value.as.int64 = number; break;
    case FIRN_TYPE_TIME: value.as.int64 = (int64_t)pick(maker, UINT64_C(86400000000)); break;
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ: value.as.int64 = number % INT64_C(10000000000000000); break;
    case FIRN_TYPE_FLOAT: value.as.float32 = (float)number / 16; break;
    case FIRN_TYPE_DOUBLE:
        value.as.float64 = pick(maker, 20) == 0 ? (double)NAN : (double)number / 1024;
        break;
    case FIRN_TYPE_DECIMAL: value.as.decimal = number % power_of_ten(type->precision); break;
    case FIRN_TYPE_UUID: value.as.bytes = random_bytes(maker, 16, false); break;
    case FIRN_TYPE_FIXED: value.as.bytes = random_bytes(maker, 5, false); break;
    case FIRN_TYPE_STRING:
        value.as.bytes = random_bytes(maker, (size_t)pick(maker, 6), true);
        break;
    default: value.as.bytes = random_bytes(maker, (size_t)pick(maker, 6), false); break;
    }
    return value;
}

tree *tree_random(tree_maker *maker, const firn_type *type, bool required) {
    tree *value = make(maker, 1, sizeof *value);
    if (!required && pick(maker, 4) == 0) {
        value->null = true;
        return value;
    }
    if (!firn_type_is_nested(type->kind)) {
        value->value = random_value(maker, type);
        return value;
    }
    value->count = type->kind == FIRN_TYPE_STRUCT ? type->field_count
                                                  : (size_t)pick(maker, 4) * type->field_count;
    value->items = make(maker, value->count, sizeof *value->items);
    for (size_t i = 0; i < value->count; i++) {
        const firn_field *field = &type->fields[i % type->field_count];
        value->items[i] = tree_random(maker, field->type, field->required);
    }
    return value;
}

static const firn_field *find_field(const firn_type *type, int32_t id, size_t *index) {
    for (size_t i = 0; i < type->field_count; i++) {
        *index = i;
        if (type->fields[i].id == id) return &type->fields[i];
    }
    return NULL;
}

static tree *missing_value(tree_maker *maker, const firn_field *field) {
    tree *value = make(maker, 1, sizeof *value);
    value->null = field->initial_default == NULL;
    firn_error error = {0};
    if (!value->null) {
        check_ok(firn_value_from_json(field->type, field->initial_default, maker->arena,
                                      &value->value, &error),
                 &error);
    }
    return value;
}

static firn_value widened(const firn_type *to, firn_value value) {
    if (to->kind == FIRN_TYPE_LONG && value.kind == FIRN_TYPE_INT) value.as.int64 = value.as.int32;
    if (to->kind == FIRN_TYPE_DOUBLE && value.kind == FIRN_TYPE_FLOAT) {
        value.as.float64 = (double)value.as.float32;
    }
    value.kind = to->kind;
    return value;
}

tree *tree_project(tree_maker *maker, const firn_type *from, const firn_type *to,
                   const tree *value) {
    tree *out = make(maker, 1, sizeof *out);
    out->null = value->null;
    if (value->null) return out;
    if (!firn_type_is_nested(to->kind)) {
        out->value = widened(to, value->value);
        return out;
    }
    out->count = to->kind == FIRN_TYPE_STRUCT ? to->field_count : value->count;
    out->items = make(maker, out->count, sizeof *out->items);
    for (size_t i = 0; i < out->count; i++) {
        size_t at = i % to->field_count;
        const firn_field *field = &to->fields[at];
        const firn_field *old = &from->fields[i % from->field_count];
        if (to->kind == FIRN_TYPE_STRUCT) old = find_field(from, field->id, &at);
        if (old == NULL) {
            out->items[i] = missing_value(maker, field);
        } else {
            const tree *item = value->items[to->kind == FIRN_TYPE_STRUCT ? at : i];
            out->items[i] = tree_project(maker, old->type, field->type, item);
        }
    }
    return out;
}

/* --- text --- */

static void append(firn_buffer *out, const char *text) {
    firn_error error = {0};
    check_ok(firn_buffer_append_text(out, text, &error), &error);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_map(const firn_type *type, const tree *value, firn_buffer *out) {
    size_t pairs = value->count / 2;
    char **texts = calloc(pairs + 1, sizeof *texts);
    for (size_t i = 0; i < pairs; i++) {
        firn_buffer pair = firn_buffer_with_maximum(1 << 20);
        append(&pair, "[");
        tree_print(type->fields[0].type, value->items[2 * i], &pair);
        append(&pair, ",");
        tree_print(type->fields[1].type, value->items[2 * i + 1], &pair);
        append(&pair, "]");
        texts[i] = firn_buffer_take_text(&pair);
    }
    qsort(texts, pairs, sizeof *texts, compare_texts);
    append(out, "[");
    for (size_t i = 0; i < pairs; i++) {
        if (i > 0) append(out, ",");
        append(out, texts[i]);
        firn_free(texts[i]);
    }
    append(out, "]");
    free(texts);
}

void tree_print(const firn_type *type, const tree *value, firn_buffer *out) {
    firn_error error = {0};
    if (value->null) {
        append(out, "null");
    } else if (type->kind == FIRN_TYPE_MAP) {
        print_map(type, value, out);
    } else if (firn_type_is_nested(type->kind)) {
        bool is_struct = type->kind == FIRN_TYPE_STRUCT;
        append(out, is_struct ? "{" : "[");
        for (size_t i = 0; i < value->count; i++) {
            if (i > 0) append(out, ",");
            const firn_field *field = &type->fields[is_struct ? i : 0];
            if (is_struct) {
                append(out, "\"");
                append(out, field->name);
                append(out, "\":");
            }
            tree_print(field->type, value->items[i], out);
        }
        append(out, is_struct ? "}" : "]");
    } else {
        check_ok(firn_value_print(type, &value->value, true, out, &error), &error);
    }
}
