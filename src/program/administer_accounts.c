/* `lagra account ..`: see administer.h. Keys go by files and by the socket, never by the command line, which others
 * see. */
#include "program/administer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/ask.h"
#include "program/credentials.h"

static void print_account(struct arena *arena, struct bytes body)
{
    static const struct {
        const char *name, *unit;
    } members[] = {
        { "name", "" },         { "state", "" },
        { "source", "" },       { "keys", "" },
        { "created", "" },      { "changed", "" },
        { "requests", "/s" },   { "bandwidth", " MiB/s" },
        { "capacity", " MiB" }, { "containers", "" },
        { "key1", "" },         { "key2", "" },
    };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct bytes text = ask_member(arena, body, members[i].name);

        if (text.ptr)
            ask_print_line(members[i].name,
                           arena_printf(arena, "%.*s%s", BYTES_ARG(text), members[i].unit));
    }
}

static void print_accounts(struct arena *arena, struct bytes body)
{
    static const struct ask_column columns[] = {
        { "NAME", "name", ASK_AS_IS },       { "STATE", "state", ASK_AS_IS },
        { "SOURCE", "source", ASK_AS_IS },   { "KEYS", "keys", ASK_AS_IS },
        { "CREATED", "created", ASK_AS_IS }, { "CHANGED", "changed", ASK_AS_IS },
    };

    ask_print_table(arena, ask_nested(arena, body, "accounts"), columns,
                    sizeof columns / sizeof columns[0]);
}

/* The first line of the file that the option names, from malloc; NULL: it names none. False after saying why it
 * cannot be read. */
static bool read_key(const struct command_call *call, const char *option, char **ret_key)
{
    const char *path = command_value(call, option);

    *ret_key = path ? read_small_line(path) : NULL;
    return *ret_key || !path;
}

/* An operation that takes keys from files. */
static int change_account(const struct command_call *call, const char *operation, const char *state)
{
    char *key1 = NULL, *key2 = NULL;
    int status = EXIT_FAILURE;

    if (read_key(call, "key1-file", &key1) && read_key(call, "key2-file", &key2)) {
        const struct ask_argument arguments[] = {
            { "name", call->words[0] },
            { "state", state },
            { "key1", key1 },
            { "key2", key2 },
            { "requests", command_value(call, "requests") },
            { "bandwidth", command_value(call, "bandwidth") },
            { "capacity", command_value(call, "capacity") },
            { "containers", command_value(call, "containers") },
        };

        status = ask_and_print(call, operation, arguments, sizeof arguments / sizeof arguments[0],
                               print_account);
    }
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
    return ask_and_print(call, "account-list", NULL, 0, print_accounts);
}

int administer_account_show(const struct command_call *call)
{
    const struct ask_argument name = { "name", call->words[0] };

    return ask_and_print(call, "account-show", &name, 1, print_account);
}

int administer_account_rotate_key(const struct command_call *call)
{
    const struct ask_argument arguments[] = { { "name", call->words[0] },
                                              { "key", call->words[1] } };

    return ask_and_print(call, "account-rotate-key", arguments, 2, print_account);
}
