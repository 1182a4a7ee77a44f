/* Patterns, against expanding braces and asking the C library's fnmatch segment by segment. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lake/listing_internal.h"
#include "support/check.h"

static bool match(const char *pattern, const char *text, bool spares_hidden) {
    firn_error error = {0};
    firn_lake_glob *glob = NULL;
    check_ok(firn_lake_glob_new(pattern, true, &glob, &error), &error);
    bool matched = firn_lake_glob_match(glob, text, spares_hidden);
    firn_lake_glob_free(glob);
    return matched;
}

static void test_examples(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches, spares;
    } cases[] = {
        {"*.parquet", "a.parquet", true, false},
        {"*.parquet", "a/b.parquet", false, false},
        {"**/*.parquet", "b.parquet", true, false},
        {"**/*.parquet", "x/y/b.parquet", true, false},
        {"x/**/b", "x/b", true, false},
        {"x/**/b", "x/1/2/b", true, false},
        {"x/**/b", "xy/b", false, false},
        {"x/**", "x/1/2", true, false},
        {"x/**", "x", false, false},
        {"x/", "x/1/2", true, false},
        {"", "anything/at/all", true, false},
        {"a**b", "axxb", true, false},
        {"a**b", "ax/xb", false, false},
        {"?.p", "\xC3\xA9.p", true, false},
        {"?.p", "\xFF.p", true, false},
        {"?.p", "\xC3.p", true, false},
        {"[\xC3\xA0-\xC3\xBF]", "\xC3\xA9", true, false},
        {"[!a]", "a", false, false},
        {"[^a]", "b", true, false},
        {"[]]", "]", true, false},
        {"[a-]", "-", true, false},
        {"[*]", "*", true, false},
        {"[*]", "x", false, false},
        {"[[]a", "[a", true, false},
        {"[{]a,b}", "{a,b}", true, false},
        {"{a,b{c,d}}/x", "bd/x", true, false},
        {"{a,b{c,d}}/x", "b/x", false, false},
        {"{a/b,c}/*.p", "a/b/x.p", true, false},
        {"{,x}a", "a", true, false},
        {"a//./b", "a/b", true, false},
        {"./a", "a", true, false},
        {"a\nb*", "a\nbc", true, false},
        {"*", "_x", true, false},
        {"*", "_x", false, true},
        {"_*", "_x", true, true},
        {"**/x", ".git/x", false, true},
        {"**/x", ".git/x", true, false},
        {".git/*", ".git/x", true, true},
        {"*/x", "_k=1/x", true, true},
        {"*/x", "_k/x", false, true},
        {"*", "_k=1", false, true},
        {"*.*", ".x", false, true},
        {"{_,a}*", "_x", true, true},
        {"\\*", "\\x", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (match(cases[i].pattern, cases[i].text, cases[i].spares) != cases[i].matches) {
            fail_msg("\"%s\" on \"%s\"", cases[i].pattern, cases[i].text);
        }
    }
}

static void test_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[a", "not closed"},     {"[a/]", "not closed"},    {"{a,b", "not closed"},
        {"[z-a]", "backwards"},   {"a*/../b", "\"..\""},     {"a*/.//..", "\"..\""},
        {"{**,x}/y", "beside a"}, {"x/**{a,b}", "beside a"}, {"[a-", "not closed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        firn_error error = {0};
        firn_lake_glob *glob = NULL;
        check_fails(firn_lake_glob_new(cases[i][0], true, &glob, &error), FIRN_INVALID, &error,
                    cases[i][1]);
    }
    char deep[64];
    memset(deep, '{', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    firn_error error = {0};
    firn_lake_glob *glob = NULL;
    check_fails(firn_lake_glob_new(deep, true, &glob, &error), FIRN_INVALID, &error, "braces");
    static char longest[5000];
    memset(longest, 'a', sizeof longest - 1);
    check_fails(firn_lake_glob_new(longest, true, &glob, &error), FIRN_LIMIT, &error, "4096");
}

/* Patterns that make matchers which go back take for ever. */
static void test_no_blow_up(void **state) {
    (void)state;
    char text[3001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    char stars[401];
    for (size_t i = 0; i < 400; i++) stars[i] = i % 2 == 0 ? '*' : 'a';
    stars[399] = 'b';
    stars[400] = '\0';
    char braces[1001] = "";
    for (size_t i = 0; i < 1000; i++) braces[i] = "{a,aa}**/*"[i % 6];
    braces[996] = '\0';
    clock_t begin = clock();
    assert_false(match(stars, text, false));
    assert_false(match(braces, text, true));
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
}

/* The oracle, which has one character for "**", since braces can put two stars beside each other. */

#define ANY_SEGMENTS '\1'

static bool segments_match(const char *pattern, const char *text, bool spares) {
    size_t wanted = strcspn(pattern, "/");
    size_t length = strcspn(text, "/");
    bool last_pattern = pattern[wanted] == '\0';
    bool last = text[length] == '\0';
    bool hidden = (text[0] == '_' || text[0] == '.') && (last || memchr(text, '=', length) == NULL);
    if (pattern[0] == ANY_SEGMENTS) {
        if (last_pattern) {
            if (spares && hidden) return false;
            return last || segments_match(pattern, text + length + 1, spares);
        }
        if (segments_match(pattern + 2, text, spares)) return true;
        if (last || (spares && hidden)) return false;
        return segments_match(pattern, text + length + 1, spares);
    }
    if (last != last_pattern) return false;
    if (spares && hidden && pattern[0] != text[0]) return false;
    char one[256];
    char segment[256];
    snprintf(one, sizeof one, "%.*s", (int)wanted, pattern);
    snprintf(segment, sizeof segment, "%.*s", (int)length, text);
    if (fnmatch(one, segment, FNM_NOESCAPE) != 0) return false;
    return last || segments_match(pattern + wanted + 1, text + length + 1, spares);
}

/* Expands the first pair of braces that holds no other one. */
static bool expanded_match(const char *pattern, const char *text, bool spares) {
    const char *close = strchr(pattern, '}');
    if (close == NULL) return segments_match(pattern, text, spares);
    const char *open = close;
    while (*open != '{') open--;
    for (const char *from = open + 1;;) {
        size_t length = strcspn(from, ",}");
        char whole[1024];
        snprintf(whole, sizeof whole, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)length,
                 from, close + 1);
        if (expanded_match(whole, text, spares)) return true;
        if (from + length == close) return false;
        from += length + 1;
    }
}

static void draw_segment(test_generator *random, char *out, int depth) {
    static const char *const parts[] = {"a", "b", "ab", "_",    ".",    "=",     "*",
                                        "?", "*", "a",  "[ab]", "[!a]", "[a-b]", "[_.]"};
    size_t count = 1 + test_generator_below(random, 3);
    for (size_t i = 0; i < count; i++) {
        if (depth < 2 && test_generator_below(random, 6) == 0) {
            strcat(out, "{");
            for (size_t j = 1 + test_generator_below(random, 3); j > 0; j--) {
                draw_segment(random, out, depth + 1);
                if (j > 1) strcat(out, ",");
            }
            strcat(out, "}");
        } else {
            strcat(out, parts[test_generator_below(random, sizeof parts / sizeof parts[0])]);
        }
    }
}

static void draw_pattern(test_generator *random, char *out) {
    size_t count = 1 + test_generator_below(random, 4);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (i > 0) strcat(out, "/");
        if (test_generator_below(random, 4) == 0) {
            strcat(out, "\1");
        } else {
            draw_segment(random, out, 0);
        }
    }
}

static void draw_text(test_generator *random, char *out) {
    size_t count = 1 + test_generator_below(random, 4);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (i > 0) strcat(out, "/");
        size_t length = 1 + test_generator_below(random, 4);
        for (size_t j = 0; j < length; j++) {
            char one[2] = {"aaabbb_.="[test_generator_below(random, 9)], '\0'};
            strcat(out, one);
        }
    }
}

static void check_below(firn_lake_glob *glob, const char *pattern, const char *text) {
    char folder[256];
    snprintf(folder, sizeof folder, "%s", text);
    for (char *slash = strrchr(folder, '/'); slash != NULL; slash = strrchr(folder, '/')) {
        *slash = '\0';
        if (!firn_lake_glob_may_match_below(glob, folder)) {
            fail_msg("\"%s\" matches \"%s\", and nothing below \"%s\"", pattern, text, folder);
        }
    }
}

static void test_against_fnmatch(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    size_t matched = 0;
    for (int i = 0; i < 20000; i++) {
        char pattern[512];
        firn_error error = {0};
        firn_lake_glob *glob = NULL;
        char stars[600] = "";
        do {
            draw_pattern(&random, pattern);
        } while (strstr(pattern, "**") != NULL);
        for (const char *c = pattern; *c != '\0'; c++) {
            char one[2] = {*c, '\0'};
            strcat(stars, *c == ANY_SEGMENTS ? "**" : one);
        }
        check_ok(firn_lake_glob_new(stars, false, &glob, &error), &error);
        for (int j = 0; j < 20; j++) {
            char text[64];
            draw_text(&random, text);
            for (int spares = 0; spares < 2; spares++) {
                bool expected = expanded_match(pattern, text, spares != 0);
                if (firn_lake_glob_match(glob, text, spares != 0) != expected) {
                    fail_msg("\"%s\" on \"%s\" (%d): not %d", pattern, text, spares, expected);
                }
                matched += expected;
                if (expected) check_below(glob, pattern, text);
            }
        }
        firn_lake_glob_free(glob);
    }
    assert_true(matched > 1000);
}

static firn_status compile_and_match(void *context, firn_error *error) {
    (void)context;
    firn_lake_glob *glob = NULL;
    FIRN_TRY(firn_lake_glob_new("a/{b,[c-d]*}/**/x?", true, &glob, error));
    assert_true(firn_lake_glob_match(glob, "a/dd/1/2/xx", true));
    firn_lake_glob_free(glob);
    return FIRN_OK;
}

static void test_memory(void **state) {
    (void)state;
    check_each_allocation(compile_and_match, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_blow_up), cmocka_unit_test(test_against_fnmatch),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
