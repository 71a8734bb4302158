/* Reads options from the configuration file, the environment and the command line: see
 * option_sources.h. */
#include "cli/option_sources.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_rows.h"
#include "server/credentials.h"

#define ENVIRONMENT_PREFIX "LAGRA_"

static size_t index_of(const struct option_row *row)
{
    return (size_t)(row - option_rows);
}

/* ---- the command line ---- */

/* Value that getopt_long() returns for the first row. Each row has its own value, because
 * getopt_long() accepts an ambiguous prefix if all matching options have the same value. row_of()
 * also maps short options to rows. */
#define ROW_FIRST 256

static void fill_getopt(struct option longs[OPTION_ROWS_MAX + 1],
                        char shorts[2 * OPTION_ROWS_MAX + 3])
{
    size_t n = 0;

    shorts[n++] = ':'; /* makes getopt_long() report missing values separately */
    for (size_t i = 0; i < option_row_count; i++) {
        longs[i] =
            (struct option){ .name = option_rows[i].name,
                             .has_arg = option_rows[i].value ? required_argument : no_argument,
                             .val = ROW_FIRST + (int)i };
        if (!option_rows[i].letter)
            continue;
        shorts[n++] = option_rows[i].letter;
        if (option_rows[i].value)
            shorts[n++] = ':';
    }
    longs[option_row_count] = (struct option){ .name = NULL };
    shorts[n] = '\0';
}

/* Returns the row for a value returned by getopt_long(), or NULL. */
static const struct option_row *row_of(int got)
{
    if (got >= ROW_FIRST)
        return &option_rows[got - ROW_FIRST];
    for (size_t i = 0; i < option_row_count; i++) {
        if (option_rows[i].letter && option_rows[i].letter == got)
            return &option_rows[i];
    }
    return NULL;
}

/* Returns the most similar name of an option; ptr NULL if none is similar. */
static struct bytes nearest_option(struct bytes word)
{
    struct suggestion nearest = suggestion_begin(word);

    for (size_t i = 0; i < option_row_count; i++)
        suggestion_try(&nearest, bytes_from_string(option_rows[i].name));
    return nearest.name;
}

static enum options_result refuse_name(const char *word, const char *kind, const char *before,
                                       struct bytes nearest)
{
    fprintf(stderr, "lagra: \"%s\" is not %s", word, kind);
    if (nearest.ptr)
        fprintf(stderr, "; did you mean %s%.*s?", before, BYTES_ARG(nearest));
    fprintf(stderr, "%s See lagra --help\n", nearest.ptr ? "" : ".");
    return OPTIONS_WRONG;
}

/* Refuses an argument that is neither an option nor, if it is the first one, a command.
 *
 * program  the preceding argument: the program's name, or that of a command */
static enum options_result refuse_word(const char *program, const char *word)
{
    struct bytes name, value;

    if (strncmp(word, "--", 2) != 0)
        return command_begins(program) ? refuse_name(word, "an option", "", bytes_of(NULL, 0))
                                       : refuse_name(word, "a command", "lagra ",
                                                     command_nearest(bytes_from_string(word)));
    bytes_cut(bytes_from_string(word + 2), '=', &name, &value);
    return refuse_name(word, "an option", "--", nearest_option(name));
}

/* Refuses an option that getopt_long() rejected, with optopt as set by it. */
static enum options_result refuse_option(const char *program, const char *word)
{
    const struct option_row *row = row_of(optopt);
    struct bytes name, value;
    size_t begun = 0;

    if (row)
        fprintf(stderr, "lagra: --%s takes %s. See lagra --help\n", row->name,
                row->value ? row->value : "no value");
    else if (optopt)
        fprintf(stderr, "lagra: \"-%c\" is not an option. See lagra --help\n", optopt);
    if (optopt)
        return OPTIONS_WRONG;
    bytes_cut(bytes_from_string(word + 2), '=', &name, &value);
    for (size_t i = 0; i < option_row_count; i++)
        begun += bytes_has_prefix(bytes_from_string(option_rows[i].name), name);
    if (begun == 0)
        return refuse_word(program, word);
    fprintf(stderr, "lagra: \"--%.*s\" is an ambiguous option. See lagra --help\n",
            BYTES_ARG(name));
    return OPTIONS_WRONG;
}

/* Refuses a repeated list. For other options the last value wins, as scripts expect, but repeating
 * a list would be ambiguous. */
static enum options_result refuse_repeated(const struct option_row *row)
{
    fprintf(stderr, "lagra: --%s is given twice; separate its values with commas\n", row->name);
    return OPTIONS_WRONG;
}

enum options_result settings_read_words(struct option_settings *settings, int argc, char **argv)
{
    struct option longs[OPTION_ROWS_MAX + 1];
    char shorts[2 * OPTION_ROWS_MAX + 3];
    int got;

    fill_getopt(longs, shorts);
    opterr = 0; /* we print better messages */
    while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct option_row *row = row_of(got);

        if (!row)
            return refuse_option(argv[0], argv[optind - 1]);
        if (row->action == HELP) {
            command_print_all_help();
            return OPTIONS_DONE;
        }
        if (row->action == VERSION) {
            printf(LAGRA_VERSION "\n");
            return OPTIONS_DONE;
        }
        if (row->action == SET_ADDRESSES && settings->of[index_of(row)].origin)
            return refuse_repeated(row);
        settings->of[index_of(row)] =
            (struct option_setting){ .origin = ORIGIN_COMMAND_LINE, .value = optarg };
    }
    return optind < argc ? refuse_word(argv[0], argv[optind]) : OPTIONS_RUN;
}

/* ---- the environment ---- */

void option_variable(const struct option_row *row, char ret_name[OPTION_VARIABLE_MAX])
{
    size_t n = strlen(ENVIRONMENT_PREFIX);

    ret_name[0] = '\0';
    if (!option_row_is_setting(row))
        return;
    memcpy(ret_name, ENVIRONMENT_PREFIX, n);
    for (const char *c = row->name; *c; c++) {
        bool is_upper = *c >= 'A' && *c <= 'Z';

        if (is_upper && c[1] >= 'a' && c[1] <= 'z')
            ret_name[n++] = '_';
        ret_name[n++] = *c >= 'a' && *c <= 'z' ? (char)(*c & ~0x20) : *c;
    }
    ret_name[n] = '\0';
}

/* Returns true if at most a fifth of the letters differ. Less similar variables are ignored,
 * because Kubernetes sets LAGRA_PORT and others for a service named lagra. */
static bool is_nearly(struct bytes variable, struct bytes name)
{
    return suggestion_distance(variable, name) <= (name.len - strlen(ENVIRONMENT_PREFIX)) / 5;
}

static enum options_result check_variable(struct bytes variable)
{
    char nearest[OPTION_VARIABLE_MAX] = "";

    for (size_t i = 0; i < option_row_count; i++) {
        char name[OPTION_VARIABLE_MAX];

        if (!option_row_is_setting(&option_rows[i]))
            continue;
        option_variable(&option_rows[i], name);
        if (bytes_is(variable, name))
            return OPTIONS_RUN;
        if (is_nearly(variable, bytes_from_string(name)))
            memcpy(nearest, name, sizeof nearest);
    }
    if (!nearest[0])
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: the variable %.*s is not an option; did you mean %s?\n",
            BYTES_ARG(variable), nearest);
    return OPTIONS_WRONG;
}

static enum options_result check_variables(void)
{
    for (char **variable = environ; *variable; variable++) {
        enum options_result result;
        struct bytes name, value;

        if (strncmp(*variable, ENVIRONMENT_PREFIX, strlen(ENVIRONMENT_PREFIX)) != 0)
            continue;
        bytes_cut(bytes_from_string(*variable), '=', &name, &value);
        result = check_variable(name);
        if (result)
            return result;
    }
    return OPTIONS_RUN;
}

static enum options_result read_environment(struct option_settings *settings)
{
    for (size_t i = 0; i < option_row_count; i++) {
        char name[OPTION_VARIABLE_MAX];
        const char *value;

        option_variable(&option_rows[i], name);
        value = option_row_is_setting(&option_rows[i]) ? getenv(name) : NULL;
        if (value && settings->of[i].origin < ORIGIN_ENVIRONMENT)
            settings->of[i] =
                (struct option_setting){ .origin = ORIGIN_ENVIRONMENT, .value = value };
    }
    return check_variables();
}

/* ---- the file ---- */

static const char *config_path(const struct option_settings *settings)
{
    return settings->of[index_of(option_row_find(bytes_from_string("config")))].value;
}

static enum options_result refuse_line(const char *path, unsigned line, struct bytes name,
                                       const char *problem)
{
    fprintf(stderr, "lagra: %s:%u: \"%.*s\" %s\n", path, line, BYTES_ARG(name), problem);
    return OPTIONS_WRONG;
}

static enum options_result refuse_key(const char *path, unsigned line, struct bytes name)
{
    struct bytes nearest = nearest_option(name);
    char problem[OPTION_VARIABLE_MAX];

    snprintf(problem, sizeof problem,
             nearest.ptr ? "is not an option; did you mean %.*s?"
                         : "is not an option. See lagra --help",
             BYTES_ARG(nearest));
    return refuse_line(path, line, name, problem);
}

/* Reads a line of the form NAME = VALUE. seen: rows set by earlier lines */
static enum options_result read_setting(struct option_settings *settings, const char *path,
                                        unsigned line, struct bytes text,
                                        bool seen[OPTION_ROWS_MAX])
{
    const struct option_row *row;
    struct option_setting *setting;
    struct bytes name, value;

    if (!memchr(text.ptr, '=', text.len))
        return refuse_line(path, line, text, "has no \"=\" (NAME = VALUE)");
    bytes_cut(text, '=', &name, &value);
    name = bytes_trim(name);
    value = bytes_trim(value);
    row = option_row_find(name);
    if (!row)
        return refuse_key(path, line, name);
    if (!option_row_is_setting(row) || row->action == CONFIG)
        return refuse_line(path, line, name, "is allowed only on the command line");
    if (value.len == 0)
        return refuse_line(path, line, name, "has no value");
    if (seen[index_of(row)])
        return refuse_line(path, line, name, "is set twice");
    seen[index_of(row)] = true;
    setting = &settings->of[index_of(row)];
    if (setting->origin >= ORIGIN_FILE)
        return OPTIONS_RUN;
    /* overwrites the space or newline that follows, in our copy of the file */
    ((char *)value.ptr)[value.len] = '\0';
    *setting = (struct option_setting){ .origin = ORIGIN_FILE, .value = value.ptr, .line = line };
    return OPTIONS_RUN;
}

static enum options_result read_file(struct option_settings *settings, const char *path)
{
    bool seen[OPTION_ROWS_MAX] = { false };
    enum options_result result = OPTIONS_RUN;
    char *text = read_small_file(path);
    struct bytes rest = bytes_from_string(text);
    unsigned line = 0;

    if (!text)
        return OPTIONS_WRONG;
    settings->file_text = text;
    while (rest.len > 0 && !result) {
        struct bytes one;

        bytes_cut(rest, '\n', &one, &rest);
        line++;
        one = bytes_trim(one);
        if (one.len > 0 && one.ptr[0] != '#')
            result = read_setting(settings, path, line, one, seen);
    }
    return result;
}

enum options_result settings_read_elsewhere(struct option_settings *settings)
{
    enum options_result result = read_environment(settings);

    if (result || !config_path(settings))
        return result;
    return read_file(settings, config_path(settings));
}

/* ---- results ---- */

void setting_describe(const struct option_settings *settings, size_t i,
                      char named[SETTING_DESCRIPTION_MAX])
{
    char variable[OPTION_VARIABLE_MAX];

    switch (settings->of[i].origin) {
    case ORIGIN_DEFAULT:
        named[0] = '\0';
        break;
    case ORIGIN_FILE:
        snprintf(named, SETTING_DESCRIPTION_MAX, "%s:%u: %s", config_path(settings),
                 settings->of[i].line, option_rows[i].name);
        break;
    case ORIGIN_ENVIRONMENT:
        option_variable(&option_rows[i], variable);
        snprintf(named, SETTING_DESCRIPTION_MAX, "%s", variable);
        break;
    case ORIGIN_COMMAND_LINE:
        snprintf(named, SETTING_DESCRIPTION_MAX, "--%s", option_rows[i].name);
        break;
    }
}

enum options_result settings_apply(const struct option_settings *settings, struct options *options)
{
    for (size_t i = 0; i < option_row_count; i++) {
        enum options_result result;
        char named[SETTING_DESCRIPTION_MAX];

        if (settings->of[i].origin == ORIGIN_DEFAULT)
            continue;
        setting_describe(settings, i, named);
        result = option_row_apply(&option_rows[i], settings->of[i].value, named, options);
        if (result)
            return result;
    }
    return OPTIONS_RUN;
}

bool settings_have(const struct option_settings *settings, const char *name)
{
    const struct option_row *row = option_row_find(bytes_from_string(name));

    return settings->of[index_of(row)].origin != ORIGIN_DEFAULT;
}

bool settings_name_service(const struct option_settings *settings, size_t service,
                           enum option_origin least)
{
    for (size_t i = 0; i < option_row_count; i++) {
        if (settings->of[i].origin >= least && option_row_service(&option_rows[i]) == service)
            return true;
    }
    return false;
}
