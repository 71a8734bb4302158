/* Copies accounts: see administer.h. */
#include "cli/administer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "base/json.h"
#include "base/log.h"
#include "base/visible.h"
#include "server/credentials.h"
#include "base/progress.h"
#include "transfer/transfer.h"

#define ARENA_MAX ((size_t)64 << 20)

#define OF_BOTH                                                                                    \
    { "journal", "FILE",                                                                           \
      "progress of the copy, to continue after an interruption (lagra-import.journal)" },          \
        { "workers", "N", "number of parallel copies (16)" },                                      \
        { "receive-messages", NULL,                                                                \
          "read queues of more than 32 messages by receiving them, which increases their "         \
          "dequeue counts at the source" },                                                        \
    {                                                                                              \
        "ca-file", "FILE", "trusted certificate authorities, in PEM (the system's)"                \
    }
#define FROM                                                                                       \
    { "from", "URL",                                                                               \
      "source account: https://ACCOUNT.blob.core.windows.net, http://HOST:PORT/ACCOUNT" },         \
        { "from-key-file", "FILE", "key of the source account (LAGRA_FROM_KEY)" },                 \
    {                                                                                              \
        "from-connection-file", "FILE",                                                            \
            "file with its connection string (LAGRA_FROM_CONNECTION_STRING)"                       \
    }

const struct command_option import_options[] = {
    FROM,
    { "azurite", "DIR", "read the data directory of a stopped Azurite" },
    { "azurite-account", "NAME", "account of that Azurite (devstoreaccount1)" },
    { "to", "URL", "destination account (http://127.0.0.1:10000/devstoreaccount1)" },
    { "to-key-file", "FILE", "key of the destination account (AZURE_STORAGE_KEY)" },
    { "to-connection-file", "FILE",
      "file with its connection string (AZURE_STORAGE_CONNECTION_STRING)" },
    OF_BOTH,
    { NULL, NULL, NULL },
};
const struct command_option export_options[] = { FROM, OF_BOTH, { NULL, NULL, NULL } };

/* ---- source and destination ---- */

struct side_options {
    const char *url, *key_file, *connection_file; /* values of the options */
    const char *key, *connection;                 /* environment variables */
};

/* Returns false after printing why. */
static bool read_secret(struct arena *arena, const char *path, struct bytes *ret_text)
{
    char *text = path ? read_small_line(path) : NULL;

    if (text)
        *ret_text = arena_copy(arena, bytes_from_string(text));
    free_secret(text);
    return !path || text;
}

static bool complain_of(const char *what, const char *problem)
{
    fprintf(stderr, "lagra: %s: %s\n", what, problem);
    return false;
}

/* Reads a URL, and a key unless the URL has a signature. */
static bool read_url(struct arena *arena, const struct side_options *endpoint,
                     struct account_endpoint *ret_place)
{
    const char *problem = endpoint_read_url(arena, bytes_from_string(endpoint->url), ret_place);
    struct bytes key = bytes_from_string(endpoint->key && *endpoint->key ? endpoint->key : NULL);
    struct account_endpoint development;

    if (problem)
        return complain_of("the URL", problem);
    if (!read_secret(arena, endpoint->key_file, &key))
        return false;
    if (ret_place->sas.ptr)
        return !endpoint->key_file || complain_of("the URL", "it is signed, so it needs no key");
    if (!key.ptr && bytes_is(ret_place->account, DEVELOPMENT_ACCOUNT) &&
        !endpoint_read_connection(arena, bytes_from_string("UseDevelopmentStorage=true"),
                                  &development))
        key = development.key;
    ret_place->key = key;
    return key.ptr || complain_of("the URL", "it is not signed and there is no key");
}

/* Returns false after printing why. */
static bool read_place(struct arena *arena, const struct side_options *endpoint,
                       struct account_endpoint *ret_place)
{
    struct bytes text = bytes_from_string(endpoint->connection);
    const char *problem;

    if (endpoint->url)
        return read_url(arena, endpoint, ret_place);
    if (!read_secret(arena, endpoint->connection_file, &text))
        return false;
    if (text.len == 0)
        return complain_of("import", "specify the source with --from, --from-connection-file, "
                                     "--azurite or a directory");
    problem =
        endpoint_read_connection(arena, bytes_of(arena_string(arena, text), text.len), ret_place);
    return !problem || complain_of("the connection string", problem);
}

static bool read_from(const struct command_call *call, struct arena *arena,
                      struct account_endpoint *ret_place)
{
    const struct side_options endpoint = { .url = command_value(call, "from"),
                                           .key_file = command_value(call, "from-key-file"),
                                           .connection_file =
                                               command_value(call, "from-connection-file"),
                                           .key = getenv("LAGRA_FROM_KEY"),
                                           .connection = getenv("LAGRA_FROM_CONNECTION_STRING") };

    return read_place(arena, &endpoint, ret_place);
}

static bool read_to(const struct command_call *call, struct arena *arena,
                    struct account_endpoint *ret_place)
{
    struct side_options endpoint = { .url = command_value(call, "to"),
                                     .key_file = command_value(call, "to-key-file"),
                                     .connection_file = command_value(call, "to-connection-file"),
                                     .key = getenv("AZURE_STORAGE_KEY"),
                                     .connection = getenv("AZURE_STORAGE_CONNECTION_STRING") };

    if (!endpoint.url && !endpoint.connection_file &&
        (!endpoint.connection || !*endpoint.connection))
        endpoint.connection = "UseDevelopmentStorage=true";
    return read_place(arena, &endpoint, ret_place);
}

/* ---- output ---- */

static void show(void *context, const struct transfer_count *count)
{
    const struct progress_count shown = { .items = count->items,
                                          .items_total = count->items_listed,
                                          .bytes = count->bytes,
                                          .bytes_total = count->bytes_listed };

    progress_show(context, &shown);
}

static void complain(void *context, const char *problem)
{
    struct arena *arena = arena_new(ARENA_MAX);

    progress_end(context);
    fprintf(stderr, "lagra: %.*s\n", BYTES_ARG(visible_text(arena, bytes_from_string(problem))));
    arena_free(arena);
}

struct figure {
    const char *name;
    uint64_t count;
};
#define FIGURES 9u

static void list_figures(const struct transfer_result *result, struct figure of[FIGURES])
{
    const struct figure figures[FIGURES] = {
        { "containers", result->containers }, { "blobs", result->blobs },
        { "queues", result->queues },         { "messages", result->messages },
        { "tables", result->tables },         { "entities", result->entities },
        { "shares", result->shares },         { "directories", result->directories },
        { "files", result->files },
    };

    memcpy(of, figures, sizeof figures);
}

/* Names in JSON output and in text. */
static const struct figure_name {
    const char *member, *words;
} left_out_names[LEFT_OUT_KINDS] = {
    [LEFT_OUT_DELETED] = { "deletedStates", "versions and snapshots of deleted blobs" },
    [LEFT_OUT_SHARE_SNAPSHOTS] = { "shareSnapshots", "snapshots of shares" },
    [LEFT_OUT_LEASES] = { "leases", "leases" },
    [LEFT_OUT_POLICIES] = { "policies",
                            "sets of access policies, which cannot be read with a SAS" },
    [LEFT_OUT_OWN_CONTAINERS] = { "ownContainers", "system containers" },
    [LEFT_OUT_ACCESS] = { "accessControl",
                          "owners and access control lists of files and directories, with their "
                          "expiry times and encryption contexts" },
};

static void print_json(struct arena *arena, const struct progress *progress,
                       const struct transfer_result *result, bool copied)
{
    struct figure figures[FIGURES];
    struct text text;
    struct json_writer out = { .to = &text };

    list_figures(result, figures);
    text_init(&text, arena, 512);
    json_write_begin(&out, '{');
    json_write_bool(&out, "copied", copied);
    for (size_t i = 0; i < FIGURES; i++)
        json_write_number(&out, figures[i].name, figures[i].count);
    json_write_number(&out, "bytes", result->count.bytes);
    json_write_number(&out, "skipped", result->count.skipped);
    json_write_number(&out, "problems", result->count.problems);
    json_write_number(&out, "compared", result->compared);
    json_write_number(&out, "differing", result->differing);
    json_write_number(&out, "missing", result->missing);
    json_write_name(&out, "leftOut");
    json_write_begin(&out, '{');
    for (size_t i = 0; i < LEFT_OUT_KINDS; i++)
        json_write_number(&out, left_out_names[i].member, result->left_out[i]);
    json_write_end(&out, '}');
    json_write_number(&out, "milliseconds", progress_ms(progress));
    json_write_end(&out, '}');
    printf("%.*s\n", BYTES_ARG(text_bytes(&text)));
}

static void print_words(const struct progress *progress, const struct transfer_result *result,
                        bool copied)
{
    char bytes[PROGRESS_BYTES_SIZE];
    struct figure figures[FIGURES];
    const char *separator = " ";

    list_figures(result, figures);
    progress_bytes(result->count.bytes, bytes);
    printf("%s", copied ? "copied" : "incomplete; copied");
    for (size_t i = 0; i < FIGURES; i++) {
        if (figures[i].count == 0)
            continue;
        printf("%s%" PRIu64 " %s", separator, figures[i].count, figures[i].name);
        separator = ", ";
    }
    printf("%s%s, %.1f s", separator, bytes, (double)progress_ms(progress) / 1000);
    if (result->count.skipped > 0)
        printf("; %" PRIu64 " had been copied before", result->count.skipped);
    if (result->compared > 0)
        printf("; %" PRIu64 " compared, %" PRIu64 " differ, %" PRIu64 " are missing",
               result->compared, result->differing, result->missing);
    printf("\n");
    for (size_t i = 0; i < LEFT_OUT_KINDS; i++)
        if (result->left_out[i] > 0)
            printf("not copied: %" PRIu64 " %s\n", result->left_out[i], left_out_names[i].words);
    if (result->can_go_on)
        printf("Run the same command again to continue.\n");
}

/* ---- the commands ---- */

/* Options that require or exclude another one. decision: 613 */
#define FOLDER "a folder"
static const struct {
    const char *option;
    bool needs; /* `option` requires `other`; otherwise excludes it */
    const char *other;
} rules[] = {
    { "from", false, "from-connection-file" },
    { "from", false, "azurite" },
    { "from", false, FOLDER },
    { "from-connection-file", false, "azurite" },
    { "from-connection-file", false, FOLDER },
    { "azurite", false, FOLDER },
    { "receive-messages", false, "azurite" },
    { "receive-messages", false, FOLDER },
    { "from-key-file", true, "from" },
    { "azurite-account", true, "azurite" },
    { "to", false, "to-connection-file" },
    { "to-key-file", true, "to" },
};

static bool check_options(const struct command_call *call, bool is_from_folder)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        bool is_other = strcmp(rules[i].other, FOLDER) == 0
                            ? is_from_folder
                            : command_value(call, rules[i].other) != NULL;

        if (command_value(call, rules[i].option) && is_other != rules[i].needs) {
            fprintf(stderr, "lagra: --%s has no effect %s %s%s\n", rules[i].option,
                    rules[i].needs ? "without" : "with",
                    strcmp(rules[i].other, FOLDER) == 0 ? "" : "--", rules[i].other);
            return false;
        }
    }
    return true;
}

static bool read_common(const struct command_call *call, struct transfer_options *options)
{
    const char *workers = command_value(call, "workers"), *journal = command_value(call, "journal");
    uint64_t count = TRANSFER_WORKERS_DEFAULT;

    if (workers &&
        (!bytes_parse_u64(bytes_from_string(workers), TRANSFER_WORKERS_MAX, &count) || count == 0))
        return complain_of("--workers", "expected a number from 1 to 256");
    options->workers = (unsigned)count;
    options->journal_path = journal ? journal : "lagra-import.journal";
    options->receives_messages = command_value(call, "receive-messages") != NULL;
    options->ca_path = command_value(call, "ca-file");
    options->show = show;
    options->complain = complain;
    return true;
}

static int copy(const struct command_call *call, struct arena *arena,
                struct transfer_options *options)
{
    struct transfer_result result;
    struct progress progress;
    bool copied;

    log_open(LOG_WARN, NULL);
    progress_begin(&progress, "items", call->json);
    options->context = &progress;
    copied = transfer_run(options, &result);
    progress_end(&progress);
    if (progress.json && call->json)
        print_json(arena, &progress, &result, copied);
    else
        print_words(&progress, &result, copied);
    return copied && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int import_run(const struct command_call *call)
{
    struct arena *arena = arena_new(ARENA_MAX);
    const char *account = command_value(call, "azurite-account");
    struct transfer_options options = { .from_azurite = command_value(call, "azurite"),
                                        .azurite_account = account ? account : DEVELOPMENT_ACCOUNT,
                                        .from_export = call->words[0] };
    struct account_endpoint from, to;
    int status = EXIT_FAILURE;
    bool is_folder = options.from_azurite || options.from_export;

    options.to = &to;
    options.from = is_folder ? NULL : &from;
    if (check_options(call, options.from_export) && read_common(call, &options) &&
        (is_folder || read_from(call, arena, &from)) && read_to(call, arena, &to))
        status = copy(call, arena, &options);
    arena_free_secret(arena); /* it contains copies of keys */
    return status;
}

int export_run(const struct command_call *call)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct transfer_options options = { .to_export = call->words[0] };
    struct account_endpoint from;
    int status = EXIT_FAILURE;

    options.from = &from;
    if (check_options(call, false) && read_common(call, &options) && read_from(call, arena, &from))
        status = copy(call, arena, &options);
    arena_free_secret(arena);
    return status;
}
