/* Parses the arguments of a command according to its row; see command_rows.h. */
#include "cli/command_rows.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/option_sources.h"

enum common { COMMON_LOCATION, COMMON_CONFIG, COMMON_JSON };
/* Values that getopt_long() returns for the row's own options and for common options. */
#define OWN_FIRST    1000
#define COMMON_FIRST 2000

static void add(struct option *longs, size_t *count, const struct command_option *options,
                int first)
{
    for (int i = 0; options && options[i].name; i++)
        longs[(*count)++] =
            (struct option){ .name = options[i].name,
                             .has_arg = options[i].value ? required_argument : no_argument,
                             .val = first + i };
}

static enum options_result refuse(const struct command_row *row, const char *what)
{
    size_t length = strlen(what);

    fprintf(stderr, "lagra: %s: %s%s See lagra %.*s --help\n", row->name, what,
            length > 0 && what[length - 1] == '?' ? "" : ".", (int)strcspn(row->name, " "),
            row->name);
    return OPTIONS_WRONG;
}

static void try_options(struct suggestion *suggestion, const struct command_option *options)
{
    for (; options && options->name; options++)
        suggestion_try(suggestion, bytes_from_string(options->name));
}

static enum options_result refuse_option(const struct command_row *row, const char *word)
{
    struct bytes name, value;
    struct suggestion nearest;
    char what[160];
    int length;

    bytes_cut(bytes_from_string(word + strspn(word, "-")), '=', &name, &value);
    nearest = suggestion_begin(name);
    try_options(&nearest, row->options);
    try_options(&nearest, command_common_options);
    length = snprintf(what, sizeof what,
                      optopt ? "\"%.64s\" has a missing or unexpected value"
                             : "\"%.64s\" is not an option of this command",
                      word);
    if (!optopt && nearest.name.ptr)
        snprintf(what + length, sizeof what - (size_t)length, "; did you mean --%s?",
                 nearest.name.ptr);
    return refuse(row, what);
}

static enum options_result refuse_count(const struct command_row *row, size_t count)
{
    char what[160];

    if (row->words_most == 0)
        snprintf(what, sizeof what, "accepts only options");
    else
        snprintf(what, sizeof what, "expects %s, not %zu arguments", row->takes, count);
    return refuse(row, what);
}

/* Determines the data directory from the same sources as a server. */
static enum options_result find_location(const char *location, const char *config,
                                         struct options *options)
{
    static struct option_settings settings;
    const char *const named[] = { "location", "config" };
    const char *const values[] = { location, config };
    enum options_result result;

    for (size_t i = 0; i < 2; i++) {
        const struct option_row *row = option_row_find(bytes_from_string(named[i]));

        if (values[i])
            settings.of[row - option_rows] =
                (struct option_setting){ .origin = ORIGIN_COMMAND_LINE, .value = values[i] };
    }
    result = settings_read_elsewhere(&settings);
    return result ? result : settings_apply(&settings, options);
}

static enum options_result take_words(struct command_call *call, int argc, char **argv)
{
    const struct command_row *row = call->row;
    size_t count = (size_t)(argc - optind);

    if (count < row->words_least || count > row->words_most)
        return refuse_count(row, count);
    for (size_t i = 0; i < count; i++)
        call->words[call->word_count++] = argv[optind + (int)i];
    return OPTIONS_RUN;
}

/* Reads the arguments after the command's name. */
static enum options_result read_row(struct command_call *call, int argc, char **argv,
                                    struct options *options)
{
    struct option longs[COMMAND_OPTIONS_MAX + 4] = { { .name = NULL } };
    const char *common[3] = { NULL };
    size_t count = 0;
    enum options_result result;
    int got;

    add(longs, &count, call->row->options, OWN_FIRST);
    add(longs, &count, command_common_options, COMMON_FIRST);
    opterr = 0;
    while ((got = getopt_long(argc, argv, ":l:", longs, NULL)) != -1) {
        if (got == 'l')
            common[COMMON_LOCATION] = optarg;
        else if (got >= COMMON_FIRST)
            common[got - COMMON_FIRST] = optarg ? optarg : "";
        else if (got >= OWN_FIRST)
            call->values[got - OWN_FIRST] = optarg ? optarg : "";
        else
            return refuse_option(call->row, argv[optind - 1]);
    }
    result = take_words(call, argc, argv);
    call->json = common[COMMON_JSON] != NULL;
    return result ? result : find_location(common[COMMON_LOCATION], common[COMMON_CONFIG], options);
}

static enum options_result refuse_name(const char *word)
{
    const char *separator = " takes";

    fprintf(stderr, "lagra: %s", word);
    for (size_t i = 0; i < command_row_count; i++) {
        struct bytes first, second;

        bytes_cut(bytes_from_string(command_rows[i].name), ' ', &first, &second);
        if (!bytes_is(first, word) || !second.ptr)
            continue;
        fprintf(stderr, "%s %.*s", separator, BYTES_ARG(second));
        separator = ",";
    }
    fprintf(stderr, ". See lagra %s --help\n", word);
    return OPTIONS_WRONG;
}

enum options_result command_parse(int argc, char **argv, struct options *options,
                                  struct command_call *ret_call)
{
    int words;

    *ret_call = (struct command_call){ .options = options };
    ret_call->row = command_find(argc, argv, &words);
    if (!ret_call->row)
        return refuse_name(argv[0]);
    return read_row(ret_call, argc - words + 1, argv + words - 1, options);
}
