/* Commands that call the admin socket, except `lagra sas`: see administer.h. */
#include "cli/administer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "cli/admin_client.h"
#include "server/credentials.h"

/* ---- status ---- */

static void print_bytes(struct arena *arena, const char *what, struct bytes object,
                        const char *member)
{
    char text[PROGRESS_BYTES_SIZE];
    uint64_t count;

    if (!bytes_parse_u64(client_member(arena, object, member), UINT64_MAX, &count))
        return;
    progress_bytes(count, text);
    client_print_line(what, bytes_from_string(text));
}

static void print_status(struct arena *arena, struct bytes body)
{
    static const struct client_column listeners[] = { { "SERVICE", "name", CLIENT_AS_IS },
                                                      { "HOST", "host", CLIENT_AS_IS },
                                                      { "PORT", "port", CLIENT_AS_IS },
                                                      { "TLS", "tls", CLIENT_AS_IS } };
    static const struct client_column requests[] = { { "SERVICE", "service", CLIENT_AS_IS },
                                                     { "ANSWERED", "answered", CLIENT_AS_IS },
                                                     { "IN FLIGHT", "inFlight", CLIENT_AS_IS } };
    static const struct client_column cells[] = { { "CELL", "cell", CLIENT_AS_IS },
                                                  { "OWNER", "owner", CLIENT_AS_IS } };
    struct bytes store = client_nested(arena, body, "store");
    struct bytes of_cluster = client_nested(arena, body, "cells");

    client_print_line("version", client_member(arena, body, "version"));
    client_print_line("process", client_member(arena, body, "pid"));
    client_print_line("up since", client_member(arena, body, "upSince"));
    client_print_line("log level", client_member(arena, body, "logLevel"));
    client_print_line("data directory", client_member(arena, store, "location"));
    client_print_line("store", client_member(arena, store, "state"));
    print_bytes(arena, "disk free", store, "diskFreeBytes");
    print_bytes(arena, "its reserve", store, "diskReserveBytes");
    print_bytes(arena, "contents", store, "contentBytes");
    print_bytes(arena, "records", store, "recordBytes");
    printf("\n");
    client_print_table(arena, client_nested(arena, body, "listeners"), listeners,
                       sizeof listeners / sizeof listeners[0]);
    printf("\n");
    client_print_table(arena, client_nested(arena, body, "requests"), requests,
                       sizeof requests / sizeof requests[0]);
    if (of_cluster.len > 0) {
        printf("\n");
        client_print_table(arena, of_cluster, cells, sizeof cells / sizeof cells[0]);
    }
}

int administer_status(const struct command_call *call)
{
    return client_call_and_print(call, "status", NULL, 0, print_status);
}

/* ---- slowest ---- */

static void print_slowest(struct arena *arena, struct bytes body)
{
    static const struct client_column columns[] = {
        { "MICROSECONDS", "microseconds", CLIENT_AS_IS },
        { "ENDED", "ended", CLIENT_AS_IS },
        { "OPERATION", "operation", CLIENT_AS_IS },
        { "STATUS", "status", CLIENT_AS_IS },
        { "CODE", "code", CLIENT_AS_IS },
        { "PATH", "path", CLIENT_AS_IS },
    };

    client_print_table(arena, client_nested(arena, body, "requests"), columns,
                       sizeof columns / sizeof columns[0]);
}

int administer_slowest(const struct command_call *call)
{
    return client_call_and_print(call, "slowest", NULL, 0, print_slowest);
}

/* ---- log-level ---- */

static void print_level(struct arena *arena, struct bytes body)
{
    struct bytes level = client_member(arena, body, "level");
    struct bytes before = client_member(arena, body, "before");

    printf("%.*s (was %.*s)\n", BYTES_ARG(level), BYTES_ARG(before));
}

int administer_log_level(const struct command_call *call)
{
    const struct client_argument level = { "level", call->words[0] };

    return client_call_and_print(call, "log-level", &level, 1, print_level);
}

/* ---- console ---- */

static void print_link(struct arena *arena, struct bytes body)
{
    printf("%.*s\n", BYTES_ARG(client_member(arena, body, "url")));
}

int administer_console(const struct command_call *call)
{
    return client_call_and_print(call, "console-link", NULL, 0, print_link);
}

static void print_account(struct arena *arena, struct bytes body)
{
    static const struct {
        const char *name, *unit;
    } members[] = {
        { "name", "" },
        { "state", "" },
        { "source", "" },
        { "keys", "" },
        { "hierarchical", "" },
        { "created", "" },
        { "changed", "" },
        { "requests", "/s" },
        { "bandwidth", " MiB/s" },
        { "capacity", " MiB" },
        { "containers", "" },
        { "publicAccess", "" },
        { "sharedKey", "" },
        { "lastAccessTracking", "" },
        { "versioning", "" },
        { "blobRetentionDays", "" },
        { "permanentDelete", "" },
        { "containerRetentionDays", "" },
        { "shareRetentionDays", "" },
        { "key1", "" },
        { "key2", "" },
    };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct bytes text = client_member(arena, body, members[i].name);

        if (text.ptr)
            client_print_line(members[i].name,
                              arena_printf(arena, "%.*s%s", BYTES_ARG(text), members[i].unit));
    }
}

static void print_accounts(struct arena *arena, struct bytes body)
{
    static const struct client_column columns[] = {
        { "NAME", "name", CLIENT_AS_IS },
        { "STATE", "state", CLIENT_AS_IS },
        { "SOURCE", "source", CLIENT_AS_IS },
        { "KEYS", "keys", CLIENT_AS_IS },
        { "HIERARCHICAL", "hierarchical", CLIENT_AS_IS },
        { "CREATED", "created", CLIENT_AS_IS },
        { "CHANGED", "changed", CLIENT_AS_IS },
    };

    client_print_table(arena, client_nested(arena, body, "accounts"), columns,
                       sizeof columns / sizeof columns[0]);
}

/* Reads a key from the first line of the file given by an option. Sets *ret_key to memory from
 * malloc(), or to NULL if the option is not given. Returns false after printing why the key cannot
 * be read. */
static bool read_key(const struct command_call *call, const char *option, char **ret_key)
{
    const char *path = command_value(call, option);

    *ret_key = path ? read_small_line(path) : NULL;
    return *ret_key || !path;
}

/* Joins the settings of the command line with spaces. *ret_settings: from malloc(), or NULL if
 * there are none. Returns false after printing why one is not a setting. */
static bool join_settings(const struct command_call *call, char **ret_settings)
{
    size_t size = 1;

    *ret_settings = NULL;
    for (size_t i = 1; i < call->word_count; i++) {
        if (!strchr(call->words[i], '=') || strchr(call->words[i], ' ')) {
            fprintf(stderr, "lagra: %s is not NAME=VALUE\n", call->words[i]);
            return false;
        }
        size += strlen(call->words[i]) + 1;
    }
    if (call->word_count < 2)
        return true;
    *ret_settings = xcalloc(size, 1);
    for (size_t i = 1, at = 0; i < call->word_count; i++)
        at += (size_t)snprintf(*ret_settings + at, size - at, "%s%s", i > 1 ? " " : "",
                               call->words[i]);
    return true;
}

/* Calls an operation on an account. Keys are never passed on the command line, which other users
 * can see, but in files and over the socket. */
static int change_account(const struct command_call *call, const char *operation, const char *state)
{
    char *key1 = NULL, *key2 = NULL, *settings = NULL;
    int status = EXIT_FAILURE;

    if (read_key(call, "key1-file", &key1) && read_key(call, "key2-file", &key2) &&
        join_settings(call, &settings)) {
        const struct client_argument arguments[] = {
            { "name", call->words[0] },
            { "state", state },
            { "key1", key1 },
            { "key2", key2 },
            { "requests", command_value(call, "requests") },
            { "bandwidth", command_value(call, "bandwidth") },
            { "capacity", command_value(call, "capacity") },
            { "containers", command_value(call, "containers") },
            { "settings", settings },
            { "hierarchical", command_value(call, "hierarchical") ? "yes" : NULL },
        };

        status = client_call_and_print(call, operation, arguments,
                                       sizeof arguments / sizeof arguments[0], print_account);
    }
    free(settings);
    free_secret(key1);
    free_secret(key2);
    return status;
}

int administer_account_add(const struct command_call *call)
{
    return change_account(call, "account-add", NULL);
}

int administer_account_set(const struct command_call *call)
{
    return change_account(call, "account-set", command_value(call, "state"));
}

int administer_account_disable(const struct command_call *call)
{
    return change_account(call, "account-set", "disabled");
}

int administer_account_list(const struct command_call *call)
{
    return client_call_and_print(call, "account-list", NULL, 0, print_accounts);
}

int administer_account_show(const struct command_call *call)
{
    const struct client_argument name = { "name", call->words[0] };

    return client_call_and_print(call, "account-show", &name, 1, print_account);
}

int administer_account_rotate_key(const struct command_call *call)
{
    const struct client_argument arguments[] = { { "name", call->words[0] },
                                                 { "key", call->words[1] } };

    return client_call_and_print(call, "account-rotate-key", arguments, 2, print_account);
}

/* Returns the operation's name: "container-create" for "container create". */
static void operation_of(const struct command_call *call, char name[CLIENT_OPERATION_MAX])
{
    snprintf(name, CLIENT_OPERATION_MAX, "%s", call->row->name);
    *strchr(name, ' ') = '-';
}

static void print_created(struct arena *arena, struct bytes body)
{
    bool existed = bytes_is(client_member(arena, body, "created"), "no");

    printf("%.*s %s\n", BYTES_ARG(client_member(arena, body, "name")),
           existed ? "existed" : "created");
}

static void print_deleted(struct arena *arena, struct bytes body)
{
    printf("%.*s deleted\n", BYTES_ARG(client_member(arena, body, "name")));
}

int administer_create(const struct command_call *call)
{
    const struct client_argument arguments[] = {
        { "name", call->words[0] },
        { "account", command_value(call, "account") },
        { "access", command_value(call, "public-access") },
        { "quota", command_value(call, "quota") },
    };
    char operation[CLIENT_OPERATION_MAX];

    operation_of(call, operation);
    return client_call_and_print(call, operation, arguments, sizeof arguments / sizeof arguments[0],
                                 print_created);
}

int administer_delete(const struct command_call *call)
{
    const struct client_argument arguments[] = { { "name", call->words[0] },
                                                 { "account", command_value(call, "account") } };
    char operation[CLIENT_OPERATION_MAX];

    operation_of(call, operation);
    return client_call_and_print(call, operation, arguments, 2, print_deleted);
}

/* ---- protection of containers ---- */

static void print_protection(struct arena *arena, struct bytes body)
{
    static const struct client_column events[] = {
        { "AT", "at", CLIENT_AS_IS },
        { "CHANGE", "change", CLIENT_AS_IS },
        { "DAYS", "days", CLIENT_AS_IS },
        { "TAGS", "tags", CLIENT_AS_IS },
    };
    static const char *const members[] = { "name",   "versions",   "policy",      "days",
                                           "append", "extensions", "holdsAppend", "closed" };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        client_print_line(members[i], client_member(arena, body, members[i]));
    client_print_line("holds", client_nested(arena, body, "holds"));
    client_print_table(arena, client_nested(arena, body, "log"), events,
                       sizeof events / sizeof events[0]);
}

int administer_container_show(const struct command_call *call)
{
    const struct client_argument arguments[] = { { "name", call->words[0] },
                                                 { "account", command_value(call, "account") } };

    return client_call_and_print(call, "container-show", arguments, 2, print_protection);
}

int administer_container_protect(const struct command_call *call)
{
    const struct client_argument arguments[] = {
        { "name", call->words[0] },
        { "change", call->words[1] },
        { "days", command_value(call, "days") },
        { "append", command_value(call, "append") },
        { "tags", command_value(call, "tags") },
        { "account", command_value(call, "account") },
    };

    return client_call_and_print(call, "container-protect", arguments,
                                 sizeof arguments / sizeof arguments[0], print_protection);
}

/* ---- lists ---- */

/* Appends the items of a page, a JSON list. */
static void add_page(struct text *items, struct bytes page)
{
    if (page.len <= 2)
        return;
    if (items->len > 0)
        text_add_char(items, ',');
    text_add(items, bytes_of(page.ptr + 1, page.len - 2));
}

/* Requests all pages and collects their items, without the brackets of the lists. Returns false
 * after printing an error. */
static bool ask_pages(const struct command_call *call, struct arena *arena, struct text *items)
{
    char operation[CLIENT_OPERATION_MAX];
    const char *marker = NULL;
    bool is_done = true;

    operation_of(call, operation);
    do {
        const struct client_argument arguments[] = {
            { "account", command_value(call, "account") },
            { "prefix", command_value(call, "prefix") },
            { "marker", marker },
            { "all", command_value(call, "all") ? "yes" : NULL },
        };
        struct client_response answer;

        is_done = client_call(call, operation, arguments, 4, &answer);
        if (is_done) {
            struct bytes next = client_member(answer.arena, answer.body, "next");

            add_page(items, client_nested(answer.arena, answer.body, "items"));
            marker = next.ptr ? arena_string(arena, next) : NULL;
        }
        arena_free(answer.arena);
    } while (is_done && marker);
    return is_done;
}

int administer_list(const struct command_call *call)
{
    static const struct client_column columns[] = { { "NAME", "name", CLIENT_AS_IS },
                                                    { "MODIFIED", "modified", CLIENT_AS_IS },
                                                    { "ACCESS", "access", CLIENT_AS_IS },
                                                    { "QUOTA", "quota", CLIENT_GIB } };
    bool is_container = strncmp(call->row->name, "container", strlen("container")) == 0;
    bool is_share = strncmp(call->row->name, "share", strlen("share")) == 0;
    struct arena *arena = arena_new(8 * CLIENT_RESPONSE_MAX);
    struct text items;
    bool is_done;

    text_init(&items, arena, 4096);
    is_done = ask_pages(call, arena, &items);
    if (is_done && call->json)
        printf("{\"items\":[%.*s]}\n", (int)items.len, items.ptr);
    else if (is_done && is_share) /* only containers have an access column */
        client_print_table(arena, arena_printf(arena, "[%.*s]", (int)items.len, items.ptr),
                           (const struct client_column[]){ columns[0], columns[1], columns[3] }, 3);
    else if (is_done)
        client_print_table(arena, arena_printf(arena, "[%.*s]", (int)items.len, items.ptr), columns,
                           is_container ? 3 : 1);
    arena_free(arena);
    return is_done && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void print_usage(struct arena *arena, struct bytes body)
{
    static const struct client_column accounts[] = {
        { "ACCOUNT", "account", CLIENT_AS_IS },
        { "SERVICE", "service", CLIENT_AS_IS },
        { "CONTAINERS", "containers", CLIENT_AS_IS },
        { "OBJECTS", "objects", CLIENT_AS_IS },
        { "SIZE", "bytes", CLIENT_BYTES },
        { "QUOTA", "quota", CLIENT_BYTES },
    };
    static const struct client_column containers[] = {
        { "ACCOUNT", "account", CLIENT_AS_IS }, { "SERVICE", "service", CLIENT_AS_IS },
        { "NAME", "name", CLIENT_AS_IS },       { "OBJECTS", "objects", CLIENT_AS_IS },
        { "SIZE", "bytes", CLIENT_BYTES },      { "QUOTA", "quota", CLIENT_BYTES },
    };

    client_print_table(arena, client_nested(arena, body, "accounts"), accounts,
                       sizeof accounts / sizeof accounts[0]);
    printf("\n");
    client_print_table(arena, client_nested(arena, body, "containers"), containers,
                       sizeof containers / sizeof containers[0]);
}

int administer_usage(const struct command_call *call)
{
    return client_call_and_print(call, "usage", NULL, 0, print_usage);
}
