/* Commands, and options together: see options.h. option_rows.c knows the options. */
#include "program/options.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/command_rows.h"
#include "program/option_sources.h"

/* ---- commands ---- */

/* Takes a switch of a command out of its words, wherever it stands. returns whether it was there */
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

/* check [--json] [--salvage] FOLDER [NEW-FOLDER] */
static enum options_result parse_check(int argc, char **argv, struct options *options)
{
    bool json = take_switch(&argc, argv, "--json");
    bool salvages = take_switch(&argc, argv, "--salvage");

    options->command = COMMAND_CHECK;
    if (argc != (salvages ? 3 : 2) || argv[1][0] == '-') {
        fprintf(stderr, "lagra: check expects [--json] DIR, or [--json] --salvage DIR NEW-DIR\n");
        return OPTIONS_WRONG;
    }
    options->location = argv[1];
    options->salvage_to = salvages ? argv[2] : NULL;
    options->json = json;
    return OPTIONS_RUN;
}

/* What prints a table, and in which forms; the first is the default. */
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
                                          struct options *options)
{
    options->command = printing->command;
    for (int i = 2; i < argc; i++) {
        if (read_form(printing, argv[i], &options->form))
            continue;
        fprintf(stderr, "lagra: %s takes %s\n", printing->name, printing->takes);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

/* May requests count as having come by TLS? */
static bool may_be_secure(const struct options *options)
{
    return options->cert_path || options->proxies.trusted.count > 0 ||
           options->proxies.introducing.count > 0;
}

/* What cannot work together says so at the start, not to clients. */
static enum options_result check_oauth(const struct options *options)
{
    bool uses_keys = options->oauth_issuer || options->oauth_keys_path || options->oauth_audience ||
                     options->oauth_roles_path || options->oauth_accounts_path;
    const char *problem = NULL;

    if (uses_keys && (!options->oauth_issuer || !options->oauth_keys_path))
        problem = "--oauthIssuer and --oauthKeys go together, and the other --oauth.. with them";
    else if (uses_keys && options->oauth_basic)
        problem = "--oauth basic checks no signature: leave out --oauthIssuer and --oauthKeys";
    else if ((uses_keys || options->oauth_basic) && !may_be_secure(options) && !options->is_azurite)
        problem = "bearer tokens are taken over HTTPS only: give --cert and --key, or --trustProxy";
    if (!problem)
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: %s\n", problem);
    return OPTIONS_WRONG;
}

/* An option's time; 0: it was not given. */
static enum options_result check_time(const char *option, unsigned ms, unsigned least_ms,
                                      unsigned most_ms, const char *says)
{
    if (ms == 0 || (ms >= least_ms && ms <= most_ms))
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --%s takes %s\n", option, says);
    return OPTIONS_WRONG;
}

static enum options_result check_times(const struct options *options)
{
    enum options_result result =
        check_time("analyticsEvery", options->analytics_every_ms, 1000, 3600000, "1s to 1h");

    return result ? result
                  : check_time("stopDelay", options->stop_delay_ms, 1, 600000, "1ms to 10m");
}

static enum options_result check_certificate(const struct options *options)
{
    if (options->cert_path ? options->key_path || options->pfx_password
                           : !options->key_path && !options->pfx_password)
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --cert requires --key (PEM) or --pwd (PFX)\n");
    return OPTIONS_WRONG;
}

/* The address is told to others as it is. */
static enum options_result check_internal(const struct options *options)
{
    static const uint8_t any_v6[ADDRESS_SIZE];
    uint8_t address[ADDRESS_SIZE], any_v4[ADDRESS_SIZE];
    const char *host = options->internal.host;

    address_from_v4(any_v6, any_v4);
    if (address_parse(bytes_from_string(host), address) &&
        memcmp(address, any_v4, sizeof address) != 0 &&
        memcmp(address, any_v6, sizeof address) != 0)
        return OPTIONS_RUN;
    fprintf(
        stderr,
        "lagra: --clusterHost requires an IP address that other machines can reach, not \"%s\"\n",
        host);
    return OPTIONS_WRONG;
}

/* Each front end of a cluster must be able to end at once, and owns a data folder that it learns of later. */
static enum options_result check_cluster(const struct option_settings *settings,
                                         const struct options *options)
{
    static const char *const others[] = { "location", "inMemoryPersistence", "keepReading" };
    const char *other = options->sandbox != SANDBOX_OFF ? "sandbox" : NULL;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (settings_have(settings, others[i]))
            other = others[i];
    if (options->cluster && other) {
        fprintf(stderr, "lagra: --cluster and --%s exclude each other\n", other);
        return OPTIONS_WRONG;
    }
    if (options->cluster)
        return check_internal(options);
    if (options->cell == 0 && !options->fence_command && !settings_have(settings, "clusterHost") &&
        !settings_have(settings, "clusterPort"))
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --cell, --fenceCommand, --clusterHost and --clusterPort require "
                    "--cluster\n");
    return OPTIONS_WRONG;
}

/* Azurite has no File service: what starts several of them beside each other, with ports for three
 * services, must find no fourth one taken. decision: 320 */
static void leave_out_files(struct options *options, const struct option_settings *settings)
{
    if (options->is_azurite && options->listen[SERVICE_BLOB].wanted &&
        options->listen[SERVICE_QUEUE].wanted)
        options->listen[SERVICE_FILE].wanted =
            settings_name_service(settings, SERVICE_FILE, ORIGIN_FILE);
}

/* Words behind the command, environment and file, as the options of a server. */
static enum options_result read_all(int argc, char **argv, struct option_settings *settings,
                                    struct options *options)
{
    enum options_result result = settings_read_words(settings, argc, argv);

    if (!result)
        result = settings_read_elsewhere(settings);
    return result ? result : settings_apply(settings, options);
}

/* Checks the options of the management port. Where none is given it is served if it can be. decision: 923 */
static enum options_result check_management(const struct option_settings *settings,
                                            struct options *options)
{
    bool has_others = settings_have(settings, "managementHost") ||
                      settings_have(settings, "managementToken") ||
                      settings_have(settings, "managementNames") || options->testing;

    options->management_is_optional = !has_others && !settings_have(settings, "managementPort");
    if (options->management.wanted || !has_others)
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --managementHost, --managementToken, --managementNames and --testing "
                    "require --managementPort\n");
    return OPTIONS_WRONG;
}

/* Where no option names a file of accounts: systemd's credential "accounts" (LoadCredential=accounts:FILE).
 * man: systemd.exec(5) */
static void find_credential(struct options *options)
{
    static char path[PATH_MAX];
    const char *folder = getenv("CREDENTIALS_DIRECTORY");

    if (options->accounts_path || !folder ||
        snprintf(path, sizeof path, "%s/accounts", folder) >= (int)sizeof path ||
        access(path, F_OK) != 0)
        return;
    options->accounts_path = path;
}

/* name: what the program was called by */
static enum options_result read_served(const char *name, int argc, char **argv,
                                       struct option_settings *settings, struct options *options)
{
    enum options_result result = read_all(argc, argv, settings, options);

    find_credential(options);
    for (size_t i = 0; i < SERVICE_COUNT && !result; i++) {
        if (settings_name_service(settings, i, ORIGIN_COMMAND_LINE) && !options->listen[i].wanted) {
            fprintf(stderr, "lagra: %s serves a single service and accepts no options of others\n",
                    name);
            result = OPTIONS_WRONG;
        }
    }
    leave_out_files(options, settings);
    options->smb.wanted = settings_have(settings, "smbHost") || settings_have(settings, "smbPort");
    if (!result)
        result = check_management(settings, options);
    if (!result)
        result = check_cluster(settings, options);
    if (!result)
        result = check_times(options);
    if (!result)
        result = check_certificate(options);
    return result ? result : check_oauth(options);
}

static void write_options(const void *of, struct json_writer *to)
{
    const struct options *options = of;

    settings_write(options->settings, options, to);
}

static enum options_result parse_serve(const char *name, int argc, char **argv,
                                       struct options *options)
{
    static struct option_settings settings; /* what options point to */

    options->settings = &settings;
    options->write = write_options;
    return read_served(name, argc, argv, &settings, options);
}

/* config check [--json] [option..]: what a server that was started so would run with. */
static enum options_result parse_config(int argc, char **argv, struct options *options)
{
    static struct option_settings settings; /* what options point to */
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
    result = read_served(name, argc, argv, &settings, options);
    if (result)
        return result;
    settings_print(&settings, options, json);
    return OPTIONS_DONE;
}

/* health [--live] [--json] [--running | option..]: asked are the services that the options name, or all.
 * decision: 225 */
static enum options_result parse_health(int argc, char **argv, struct options *options)
{
    static struct option_settings settings; /* what options point to */
    enum options_result result;
    bool any = false;

    options->command = COMMAND_HEALTH;
    options->asks_live = take_switch(&argc, argv, "--live");
    options->json = take_switch(&argc, argv, "--json");
    options->asks_running = take_switch(&argc, argv, "--running");
    if (options->asks_running && argc == 1)
        return OPTIONS_RUN;
    if (options->asks_running) {
        fprintf(stderr,
                "lagra: health --running checks all servers on this machine; \"%s\" "
                "does not apply\n",
                argv[1]);
        return OPTIONS_WRONG;
    }
    result = read_all(argc, argv, &settings, options);
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        any = any || settings_name_service(&settings, i, ORIGIN_COMMAND_LINE);
    for (size_t i = 0; i < SERVICE_COUNT && !result; i++) {
        options->listen[i].wanted =
            !any || settings_name_service(&settings, i, ORIGIN_COMMAND_LINE);
        if (options->listen[i].wanted && options->listen[i].port == 0) {
            fprintf(stderr, "lagra: health needs a port other than 0\n");
            result = OPTIONS_WRONG;
        }
    }
    return result;
}

/* ---- Azurite's commands ---- */

/* What their names and Azurite's environment say. decision: 175 */
static void apply_name(const char *path, struct options *options)
{
    static const char *const names[SERVICE_COUNT] = { "azurite-blob", "azurite-queue",
                                                      "azurite-table", "azurite-file" };
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

/* help [COMMAND], which prints what --help does. */
static enum options_result print_help(const char *word)
{
    if (word && !command_begins(word)) {
        fprintf(stderr, "lagra: \"%s\" is not a command. See lagra --help\n", word);
        return OPTIONS_WRONG;
    }
    if (word && command_has_run(word))
        command_print_help(word);
    else
        option_rows_print_help();
    return OPTIONS_DONE;
}

/* Whatever else stands there. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static enum options_result parse_call(int argc, char **argv, struct options *options)
{
    static struct command_call call;

    options->command = COMMAND_CALL;
    options->call = &call;
    return command_parse(argc, argv, options, &call);
}

enum options_result options_parse(int argc, char **argv, struct options *ret_options)
{
    *ret_options = (struct options){
        .location = ".",
        .listen = { [SERVICE_BLOB] = { .host = "127.0.0.1", .port = 10000, .wanted = true },
                    [SERVICE_QUEUE] = { .host = "127.0.0.1", .port = 10001, .wanted = true },
                    [SERVICE_TABLE] = { .host = "127.0.0.1", .port = 10002, .wanted = true },
                    [SERVICE_FILE] = { .host = "127.0.0.1", .port = 10003, .wanted = true } },
        .management = { .host = "127.0.0.1", .port = 10010, .wanted = true },
        .internal = { .host = "127.0.0.1", .port = 10020 },
        .smb = { .host = "127.0.0.1", .port = 1445 },
        .rehydrate_seconds = 60,
        .product_style_url = true,
        .console = CONSOLE_ON,
    };
    if (argc > 0)
        apply_name(argv[0], ret_options);
    if (argc > 1 && command_begins(argv[1]) && asks_for_help(argc, argv))
        return print_help(argv[1]);
    if (argc > 1 && argc <= 3 && strcmp(argv[1], "help") == 0)
        return print_help(argc > 2 ? argv[2] : NULL);
    if (argc == 2 && strcmp(argv[1], "version") == 0) {
        printf(LAGRA_VERSION "\n");
        return OPTIONS_DONE;
    }
    if (argc > 1 && command_has_run(argv[1]))
        return parse_call(argc - 1, argv + 1, ret_options);
    if (argc > 1 && printing_of(argv[1]))
        return parse_printing(printing_of(argv[1]), argc, argv, ret_options);
    if (argc > 1 && strcmp(argv[1], "check") == 0)
        return parse_check(argc - 1, argv + 1, ret_options);
    if (argc > 1 && strcmp(argv[1], "health") == 0)
        return parse_health(argc - 1, argv + 1, ret_options);
    if (argc > 1 && strcmp(argv[1], "config") == 0)
        return parse_config(argc, argv, ret_options);
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return parse_serve(argv[0], argc - 1, argv + 1, ret_options);
    return parse_serve(argc > 0 ? argv[0] : "lagra", argc, argv, ret_options);
}

/* Names other than "localhost" may be of any address, whatever they begin with. */
bool host_is_loopback(const char *host)
{
    struct in_addr address;

    if (inet_aton(host, &address) != 0)
        return ntohl(address.s_addr) >> 24 == 127;
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

bool options_are_loopback(const struct options *options)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        if (options->listen[i].wanted && !host_is_loopback(options->listen[i].host))
            return false;
    }
    return !options->smb.wanted || host_is_loopback(options->smb.host);
}
