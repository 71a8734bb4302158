/* `lagra status`, `lagra slowest`, `lagra log-level`, `lagra console`: see administer.h. */
#include "program/administer.h"

#include <stdio.h>

#include "program/ask.h"
#include "program/progress.h"

/* ---- status ---- */

static void print_bytes(struct arena *arena, const char *what, struct bytes object,
                        const char *member)
{
    char text[PROGRESS_BYTES_SIZE];
    uint64_t count;

    if (!bytes_parse_u64(ask_member(arena, object, member), UINT64_MAX, &count))
        return;
    progress_bytes(count, text);
    ask_print_line(what, bytes_from_string(text));
}

static void print_status(struct arena *arena, struct bytes body)
{
    static const struct ask_column listeners[] = { { "SERVICE", "name", ASK_AS_IS },
                                                   { "HOST", "host", ASK_AS_IS },
                                                   { "PORT", "port", ASK_AS_IS },
                                                   { "TLS", "tls", ASK_AS_IS } };
    static const struct ask_column requests[] = { { "SERVICE", "service", ASK_AS_IS },
                                                  { "ANSWERED", "answered", ASK_AS_IS },
                                                  { "IN FLIGHT", "inFlight", ASK_AS_IS } };
    static const struct ask_column cells[] = { { "CELL", "cell", ASK_AS_IS },
                                               { "OWNER", "owner", ASK_AS_IS } };
    struct bytes store = ask_nested(arena, body, "store");
    struct bytes of_cluster = ask_nested(arena, body, "cells");

    ask_print_line("version", ask_member(arena, body, "version"));
    ask_print_line("process", ask_member(arena, body, "pid"));
    ask_print_line("up since", ask_member(arena, body, "upSince"));
    ask_print_line("log level", ask_member(arena, body, "logLevel"));
    ask_print_line("data directory", ask_member(arena, store, "location"));
    ask_print_line("store", ask_member(arena, store, "state"));
    print_bytes(arena, "disk free", store, "diskFreeBytes");
    print_bytes(arena, "its reserve", store, "diskReserveBytes");
    print_bytes(arena, "contents", store, "contentBytes");
    print_bytes(arena, "records", store, "recordBytes");
    printf("\n");
    ask_print_table(arena, ask_nested(arena, body, "listeners"), listeners,
                    sizeof listeners / sizeof listeners[0]);
    printf("\n");
    ask_print_table(arena, ask_nested(arena, body, "requests"), requests,
                    sizeof requests / sizeof requests[0]);
    if (of_cluster.len > 0) {
        printf("\n");
        ask_print_table(arena, of_cluster, cells, sizeof cells / sizeof cells[0]);
    }
}

int administer_status(const struct command_call *call)
{
    return ask_and_print(call, "status", NULL, 0, print_status);
}

/* ---- slowest ---- */

static void print_slowest(struct arena *arena, struct bytes body)
{
    static const struct ask_column columns[] = {
        { "MICROSECONDS", "microseconds", ASK_AS_IS },
        { "ENDED", "ended", ASK_AS_IS },
        { "OPERATION", "operation", ASK_AS_IS },
        { "STATUS", "status", ASK_AS_IS },
        { "CODE", "code", ASK_AS_IS },
        { "PATH", "path", ASK_AS_IS },
    };

    ask_print_table(arena, ask_nested(arena, body, "requests"), columns,
                    sizeof columns / sizeof columns[0]);
}

int administer_slowest(const struct command_call *call)
{
    return ask_and_print(call, "slowest", NULL, 0, print_slowest);
}

/* ---- log-level ---- */

static void print_level(struct arena *arena, struct bytes body)
{
    struct bytes level = ask_member(arena, body, "level");
    struct bytes before = ask_member(arena, body, "before");

    printf("%.*s (was %.*s)\n", BYTES_ARG(level), BYTES_ARG(before));
}

int administer_log_level(const struct command_call *call)
{
    const struct ask_argument level = { "level", call->words[0] };

    return ask_and_print(call, "log-level", &level, 1, print_level);
}

/* ---- console ---- */

static void print_link(struct arena *arena, struct bytes body)
{
    printf("%.*s\n", BYTES_ARG(ask_member(arena, body, "url")));
}

int administer_console(const struct command_call *call)
{
    return ask_and_print(call, "console-link", NULL, 0, print_link);
}
