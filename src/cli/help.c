#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/output.h"

#define LINE_WIDTH 80

/* Appends text broken into lines that begin at column `indent`; the first line begins at `column`. */
static firn_status append_wrapped(const char *text, size_t column, size_t indent, firn_buffer *out,
                                  firn_error *error) {
    bool fresh = true;
    while (*text != '\0') {
        if (*text == '\n') {
            FIRN_TRY(firn_buffer_append_byte(out, '\n', error));
            text++;
            column = 0;
            fresh = true;
            continue;
        }
        size_t length = strcspn(text, " \n");
        if (!fresh && column + 1 + length > LINE_WIDTH) {
            FIRN_TRY(firn_buffer_append_byte(out, '\n', error));
            column = 0;
            fresh = true;
        }
        int padding = column < indent ? (int)(indent - column) : 0;
        if (!fresh) padding = 1;
        FIRN_TRY(firn_buffer_printf(out, error, "%*s%.*s", padding, "", (int)length, text));
        column += (size_t)padding + length;
        fresh = false;
        text += length;
        while (*text == ' ') text++;
    }
    return firn_buffer_append_byte(out, '\n', error);
}

static firn_status append_option(const firn_option *option, unsigned groups, firn_buffer *out,
                                 firn_error *error) {
    char name[64];
    char letter[8] = "    ";
    if (option->letter != 0) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int length =
        snprintf(name, sizeof name, "  %s--%s%s%s", letter, option->name,
                 option->value == NULL ? "" : " ", option->value == NULL ? "" : option->value);
    FIRN_TRY(firn_buffer_append_text(out, name, error));
    if (length > 30) {
        FIRN_TRY(firn_buffer_append_byte(out, '\n', error));
        length = 0;
    }
    return append_wrapped(firn_option_help(option, groups), (size_t)length, 32, out, error);
}

static firn_status append_options(unsigned groups, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < firn_option_count; i++) {
        if ((firn_option_table[i].group & groups) == 0) continue;
        FIRN_TRY(append_option(&firn_option_table[i], groups, out, error));
    }
    return FIRN_OK;
}

static firn_status append_general(firn_buffer *out, firn_error *error) {
    FIRN_TRY(firn_buffer_append_text(
        out,
        "firn compacts and looks after Apache Iceberg tables.\n\n"
        "Usage: firn VERB [TABLE] [options]\n\n"
        "TABLE is namespace.table in a catalog, or a path: a folder, or a metadata file\n"
        "(with a \"/\" in it, or ending in .metadata.json).\n\nVerbs:\n",
        error));
    for (size_t i = 0; i < firn_verb_count; i++) {
        const firn_verb *verb = &firn_verb_table[i];
        char usage[64];
        int length = snprintf(usage, sizeof usage, "  %s %s", verb->name, verb->arguments);
        FIRN_TRY(firn_buffer_append_text(out, usage, error));
        if (length > 30) {
            FIRN_TRY(firn_buffer_append_byte(out, '\n', error));
            length = 0;
        }
        FIRN_TRY(append_wrapped(verb->summary, (size_t)length, 32, out, error));
    }
    FIRN_TRY(firn_buffer_append_text(out, "\nOptions of every verb:\n", error));
    FIRN_TRY(append_options(FIRN_OPTIONS_COMMON, out, error));
    return firn_buffer_append_text(
        out,
        "\nOptions stand before or after the verb, as --option value or "
        "--option=value.\nSizes are in bytes, or have KB, MB, GB or "
        "TB behind them (KiB … too), in\nunits of 1024.\n\"firn help VERB\" says more; so "
        "does the manual page firn(1).\n",
        error);
}

firn_status firn_help_append(const firn_verb *verb, firn_buffer *out, firn_error *error) {
    if (verb == NULL) return append_general(out, error);
    FIRN_TRY(firn_buffer_printf(out, error, "Usage: firn %s %s%s[options]\n\n", verb->name,
                                verb->arguments, verb->arguments[0] == '\0' ? "" : " "));
    FIRN_TRY(append_wrapped(verb->help, 0, 0, out, error));
    FIRN_TRY(firn_buffer_append_text(out, "\nOptions:\n", error));
    return append_options(verb->options, out, error);
}

static firn_status fail_topic(const char *topic, firn_error *error) {
    const char *names[64];
    for (size_t i = 0; i < firn_verb_count; i++) names[i] = firn_verb_table[i].name;
    char note[FIRN_NEAREST_NOTE_SIZE];
    return firn_fail(error, FIRN_INVALID, "there is no verb \"%s\"%s", topic,
                     firn_nearest_note(note, topic, names, firn_verb_count, "", ""));
}

/* What a topic names: a verb, or with one word every verb that begins with it; none where there is no such topic. */
typedef struct topic {
    const firn_verb *verbs[64];
    size_t count;
} topic;

static firn_status find_topic(const firn_options *options, topic *out, firn_error *error) {
    char name[64];
    bool two = options->argument_count > 1;
    snprintf(name, sizeof name, "%.30s%s%.30s", options->arguments[0], two ? " " : "",
             two ? options->arguments[1] : "");
    out->verbs[0] = firn_verb_find(name);
    out->count = out->verbs[0] == NULL ? 0 : 1;
    if (out->count > 0) return FIRN_OK;
    for (size_t i = 0; i < firn_verb_count; i++) {
        const firn_verb *verb = &firn_verb_table[i];
        if (firn_verb_in_family(verb, name)) out->verbs[out->count++] = verb;
    }
    return out->count > 0 ? FIRN_OK : fail_topic(name, error);
}

static firn_status print_text(const topic *found, firn_error *error) {
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 20);
    firn_write_to out = firn_standard_output();
    firn_status status = found->count == 0 ? firn_help_append(NULL, &text, error) : FIRN_OK;
    for (size_t i = 0; i < found->count && status == FIRN_OK; i++) {
        if (i > 0) status = firn_buffer_append_byte(&text, '\n', error);
        if (status == FIRN_OK) status = firn_help_append(found->verbs[i], &text, error);
    }
    if (status == FIRN_OK) status = out.write(out.context, text.data, text.size, error);
    firn_buffer_release(&text);
    return status;
}

static void add_options(firn_report *report, firn_rows *rows, unsigned groups, const char *verb) {
    for (size_t i = 0; i < firn_option_count; i++) {
        const firn_option *option = &firn_option_table[i];
        if ((option->group & groups) == 0) continue;
        const char *letter =
            option->letter == 0 ? NULL : firn_report_format(report, "-%c", option->letter);
        const firn_cell cells[] = {
            firn_cell_text(verb),
            firn_cell_text(firn_report_format(report, "--%s", option->name)),
            firn_cell_text(letter),
            firn_cell_text(option->value),
            firn_cell_text(firn_option_help(option, groups)),
        };
        firn_rows_add(rows, cells);
    }
}

/* Of firn itself: every verb, and the options that all of them take. */
static void fill_document(firn_report *report, const topic *found) {
    static const firn_column verb_columns[] = {
        {"name", NULL}, {"synopsis", NULL}, {"summary", NULL}, {"help", NULL}};
    static const firn_column option_columns[] = {
        {"verb", NULL}, {"name", NULL}, {"letter", NULL}, {"value", NULL}, {"help", NULL}};
    firn_section *root = firn_report_root(report);
    firn_rows *verbs = firn_section_rows(root, "verbs", "", verb_columns, 4, NULL);
    firn_rows *options = firn_section_rows(root, "options", "", option_columns, 5, NULL);
    bool all = found->count == 0;
    size_t count = all ? firn_verb_count : found->count;
    for (size_t i = 0; i < count; i++) {
        const firn_verb *verb = all ? &firn_verb_table[i] : found->verbs[i];
        const char *space = verb->arguments[0] == '\0' ? "" : " ";
        const firn_cell cells[] = {
            firn_cell_text(verb->name),
            firn_cell_text(firn_report_format(report, "firn %s %s%s[options]", verb->name,
                                              verb->arguments, space)),
            firn_cell_text(verb->summary),
            firn_cell_text(verb->help),
        };
        firn_rows_add(verbs, cells);
        if (!all) add_options(report, options, verb->options, verb->name);
    }
    if (all) add_options(report, options, FIRN_OPTIONS_COMMON, NULL);
}

static firn_status print_json(const topic *found, firn_error *error) {
    firn_report *report = NULL;
    FIRN_TRY(firn_report_new("help", &report, error));
    fill_document(report, found);
    firn_write_to out = firn_standard_output();
    firn_status status = firn_report_write_json(report, &out, error);
    firn_report_free(report);
    return status;
}

firn_status firn_help_print(const firn_verb *verb, const firn_options *options, firn_error *error) {
    topic found = {.verbs = {verb}, .count = verb == NULL ? 0 : 1};
    if (verb == NULL && options->argument_count > 0) FIRN_TRY(find_topic(options, &found, error));
    return options->json ? print_json(&found, error) : print_text(&found, error);
}

firn_status firn_command_help(firn_invocation *invocation, firn_error *error) {
    return firn_help_print(NULL, invocation->options, error);
}
