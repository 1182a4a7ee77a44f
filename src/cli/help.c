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

static firn_status append_option(const firn_option *option, firn_buffer *out, firn_error *error) {
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
    return append_wrapped(option->help, (size_t)length, 32, out, error);
}

static firn_status append_options(unsigned groups, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < firn_option_count; i++) {
        if ((firn_option_table[i].group & groups) == 0) continue;
        FIRN_TRY(append_option(&firn_option_table[i], out, error));
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
    return firn_buffer_append_text(out,
                                   "\nOptions stand before or after the verb, as --option value or "
                                   "--option=value.\nSizes are in bytes, or have KB, MB or GB "
                                   "behind them (units of 1024).\n\"firn help VERB\" says more; so "
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

/* "demo" names every verb whose first word it is. *found tells whether there was one. */
static firn_status append_family(const char *word, firn_buffer *out, bool *found,
                                 firn_error *error) {
    size_t length = strlen(word);
    *found = false;
    for (size_t i = 0; i < firn_verb_count; i++) {
        const firn_verb *verb = &firn_verb_table[i];
        if (strncmp(verb->name, word, length) != 0 || verb->name[length] != ' ') continue;
        if (*found) FIRN_TRY(firn_buffer_append_byte(out, '\n', error));
        FIRN_TRY(firn_help_append(verb, out, error));
        *found = true;
    }
    return FIRN_OK;
}

static firn_status append_topic(const firn_options *options, firn_buffer *out, firn_error *error) {
    if (options->argument_count == 0) return firn_help_append(NULL, out, error);
    char topic[64];
    bool two = options->argument_count > 1;
    bool found = false;
    snprintf(topic, sizeof topic, "%.30s%s%.30s", options->arguments[0], two ? " " : "",
             two ? options->arguments[1] : "");
    const firn_verb *verb = firn_verb_find(topic);
    if (verb != NULL) return firn_help_append(verb, out, error);
    FIRN_TRY(append_family(topic, out, &found, error));
    return found ? FIRN_OK : fail_topic(topic, error);
}

firn_status firn_command_help(firn_invocation *invocation, firn_error *error) {
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 20);
    firn_status status = append_topic(invocation->options, &text, error);
    firn_write_to out = firn_standard_output();
    if (status == FIRN_OK) status = out.write(out.context, text.data, text.size, error);
    firn_buffer_release(&text);
    return status;
}
