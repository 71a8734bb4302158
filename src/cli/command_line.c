/* Parses the command line: see command_line.h. The options of a server are read by
 * serve_options.c. */
#include "cli/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_rows.h"
#include "cli/serve_options.h"

/* ---- commands ---- */

/* Removes a switch from the arguments. Returns true if it was present. */
static bool take_switch(int *argc, char **argv, const char *name)
{
    int kept = 0;

    for (int i = 0; i < *argc; i++)
        if (i == 0 || strcmp(argv[i], name) != 0)
            argv[kept++] = argv[i];
    if (kept == *argc)
        return false;
    *argc = kept;
    return true;
}

/* Removes an option and its value from the arguments. Returns the value, or NULL if it is not
 * given. */
static const char *take_value(int *argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < *argc; i++) {
        const char *value = argv[i + 1];

        if (strcmp(argv[i], name) != 0)
            continue;
        *argc -= 2;
        memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i) * sizeof argv[0]);
        return value;
    }
    return NULL;
}

/* check [--json] [--encryptionKey FILE] [--salvage] FOLDER [NEW-FOLDER] */
static enum options_result parse_check(int argc, char **argv, struct command_line *line)
{
    bool json = take_switch(&argc, argv, "--json");
    bool salvages = take_switch(&argc, argv, "--salvage");
    const char *keys = take_value(&argc, argv, "--encryptionKey");

    line->command = COMMAND_CHECK;
    if (argc != (salvages ? 3 : 2) || argv[1][0] == '-') {
        fprintf(stderr, "lagra: check expects [--json] [--encryptionKey FILE] DIR, or [--json] "
                        "[--encryptionKey FILE] --salvage DIR NEW-DIR\n");
        return OPTIONS_WRONG;
    }
    line->options.encryption_key_path = keys;
    line->options.location = argv[1];
    line->salvage_to = salvages ? argv[2] : NULL;
    line->json = json;
    return OPTIONS_RUN;
}

/* Commands that print a table, and their formats. The first format is the default. */
static const struct printing {
    const char *name;
    enum command command;
    const char *forms[4];
    enum print_form as[4];
    const char *takes;
} printings[] = {
    { "operations",
      COMMAND_OPERATIONS,
      { "--markdown", "--json" },
      { PRINT_MARKDOWN, PRINT_JSON },
      "--json or --markdown" },
    { "errors",
      COMMAND_ERRORS,
      { "--markdown", "--json" },
      { PRINT_MARKDOWN, PRINT_JSON },
      "--json or --markdown" },
    { "options",
      COMMAND_OPTIONS,
      { "--markdown", "--man", "--bash", "--zsh" },
      { PRINT_MARKDOWN, PRINT_MANUAL, PRINT_BASH, PRINT_ZSH },
      "--markdown, --man, --bash or --zsh" },
};

static const struct printing *printing_of(const char *word)
{
    for (size_t i = 0; i < sizeof printings / sizeof printings[0]; i++) {
        if (strcmp(printings[i].name, word) == 0)
            return &printings[i];
    }
    return NULL;
}

static bool read_form(const struct printing *printing, const char *word, enum print_form *ret_form)
{
    for (size_t i = 0; i < 4 && printing->forms[i]; i++) {
        if (strcmp(word, printing->forms[i]) != 0)
            continue;
        *ret_form = printing->as[i];
        return true;
    }
    return false;
}

static enum options_result parse_printing(const struct printing *printing, int argc, char **argv,
                                          struct command_line *line)
{
    line->command = printing->command;
    for (int i = 2; i < argc; i++) {
        if (read_form(printing, argv[i], &line->form))
            continue;
        fprintf(stderr, "lagra: %s expects %s\n", printing->name, printing->takes);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

static void write_options(const void *of, struct json_writer *to)
{
    const struct options *options = of;

    settings_write(options->settings, options, to);
}

static enum options_result parse_serve(const char *name, int argc, char **argv,
                                       struct options *options)
{
    static struct option_settings settings; /* referred to by the options */

    options->settings = &settings;
    options->write = write_options;
    return serve_options_read_checked(name, argc, argv, &settings, options);
}

/* config check [--json] [option..]: prints the options of a server started with these options. */
static enum options_result parse_config(int argc, char **argv, struct options *options)
{
    static struct option_settings settings; /* referred to by the options */
    const char *name = argv[0];
    enum options_result result;
    bool json;

    if (argc < 3 || strcmp(argv[2], "check") != 0) {
        fprintf(stderr, "lagra: config expects check, followed by options\n");
        return OPTIONS_WRONG;
    }
    argc -= 2;
    argv += 2;
    json = take_switch(&argc, argv, "--json");
    result = serve_options_read_checked(name, argc, argv, &settings, options);
    if (result)
        return result;
    settings_print(&settings, options, json);
    return OPTIONS_DONE;
}

/* health [--live] [--json] [--running | option..]: checks the services of the server with these
 * options, or of all servers. decision: 225 */
static enum options_result parse_health(int argc, char **argv, struct command_line *line)
{
    struct options *options = &line->options;
    static struct option_settings settings; /* referred to by the options */
    enum options_result result;
    bool any = false;

    line->command = COMMAND_HEALTH;
    line->asks_live = take_switch(&argc, argv, "--live");
    line->json = take_switch(&argc, argv, "--json");
    line->asks_running = take_switch(&argc, argv, "--running");
    if (line->asks_running && argc == 1)
        return OPTIONS_RUN;
    if (line->asks_running) {
        fprintf(stderr,
                "lagra: health --running checks all servers on this machine; \"%s\" "
                "does not apply\n",
                argv[1]);
        return OPTIONS_WRONG;
    }
    result = serve_options_read(argc, argv, &settings, options);
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        any = any || settings_name_service(&settings, i, ORIGIN_COMMAND_LINE);
    for (size_t i = 0; i < SERVICE_COUNT && !result; i++) {
        options->listen[i].wanted =
            !any || settings_name_service(&settings, i, ORIGIN_COMMAND_LINE);
        if (options->listen[i].wanted && options->listen[i].port == 0) {
            fprintf(stderr, "lagra: health requires a port other than 0\n");
            result = OPTIONS_WRONG;
        }
    }
    return result;
}

/* ---- Azurite's commands ---- */

/* Applies the program's name and Azurite's environment variables. decision: 175 */
static void apply_name(const char *path, struct options *options)
{
    static const char *const names[SERVICE_COUNT] = { "azurite-blob", "azurite-queue",
                                                      "azurite-table", "azurite-file",
                                                      "azurite-dfs" };
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *skips = getenv("AZURITE_SKIP_API_VERSION_CHECK");

    options->skip_version_check = skips && strcmp(skips, "true") == 0;
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        options->is_azurite = true;
        for (size_t other = 0; other < SERVICE_COUNT; other++)
            options->listen[other].wanted = other == i;
    }
    if (strcmp(name, "azurite") == 0)
        options->is_azurite = true;
    if (!options->is_azurite)
        return;
    options->allow_development_account = true;
    options->allow_unchecked_tokens = true;
    options->management.wanted = false; /* Azurite listens on no other ports */
    if (getenv("AZURITE_DB"))
        fprintf(stderr, "lagra: AZURITE_DB has no effect; all data is stored in --location\n");
}

/* help [COMMAND]: same as --help. */
static enum options_result print_help(const char *word)
{
    if (word && !command_begins(word)) {
        fprintf(stderr, "lagra: \"%s\" is not a command. See lagra --help\n", word);
        return OPTIONS_WRONG;
    }
    if (word && command_has_run(word))
        command_print_help(word);
    else
        command_print_all_help();
    return OPTIONS_DONE;
}

/* Returns true if --help is among the arguments. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static enum options_result parse_call(int argc, char **argv, struct command_line *line)
{
    static struct command_call call;

    line->command = COMMAND_CALL;
    line->call = &call;
    return command_parse(argc, argv, &line->options, &call);
}

enum options_result command_line_parse(int argc, char **argv, struct command_line *ret_line)
{
    struct options *options = &ret_line->options;

    *ret_line = (struct command_line){ .command = COMMAND_SERVE };
    *options = (struct options){
        .location = ".",
        .listen = { [SERVICE_BLOB] = { .host = "127.0.0.1", .port = 10000, .wanted = true },
                    [SERVICE_QUEUE] = { .host = "127.0.0.1", .port = 10001, .wanted = true },
                    [SERVICE_TABLE] = { .host = "127.0.0.1", .port = 10002, .wanted = true },
                    [SERVICE_FILE] = { .host = "127.0.0.1", .port = 10003, .wanted = true },
                    [SERVICE_DFS] = { .host = "127.0.0.1", .port = 10004, .wanted = true } },
        .management = { .host = "127.0.0.1", .port = 10010, .wanted = true },
        .internal = { .host = "127.0.0.1", .port = 10020 },
        .smb = { .host = "127.0.0.1", .port = 1445 },
        .rehydrate_seconds = 60,
        .product_style_url = true,
        .console = CONSOLE_ON,
    };
    if (argc > 0)
        apply_name(argv[0], options);
    if (argc > 1 && command_begins(argv[1]) && asks_for_help(argc, argv))
        return print_help(argv[1]);
    if (argc > 1 && argc <= 3 && strcmp(argv[1], "help") == 0)
        return print_help(argc > 2 ? argv[2] : NULL);
    if (argc == 2 && strcmp(argv[1], "version") == 0) {
        printf(LAGRA_VERSION "\n");
        return OPTIONS_DONE;
    }
    if (argc > 1 && command_has_run(argv[1]))
        return parse_call(argc - 1, argv + 1, ret_line);
    if (argc > 1 && printing_of(argv[1]))
        return parse_printing(printing_of(argv[1]), argc, argv, ret_line);
    if (argc > 1 && strcmp(argv[1], "check") == 0)
        return parse_check(argc - 1, argv + 1, ret_line);
    if (argc > 1 && strcmp(argv[1], "health") == 0)
        return parse_health(argc - 1, argv + 1, ret_line);
    if (argc > 1 && strcmp(argv[1], "config") == 0)
        return parse_config(argc, argv, options);
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return parse_serve(argv[0], argc - 1, argv + 1, options);
    return parse_serve(argc > 0 ? argv[0] : "lagra", argc, argv, options);
}
