/* `lagra usage`: see administer.h. */
#include "program/administer.h"

#include <stdio.h>

#include "program/ask.h"

static void print_usage(struct arena *arena, struct bytes body)
{
    static const struct ask_column accounts[] = {
        { "ACCOUNT", "account", ASK_AS_IS },
        { "SERVICE", "service", ASK_AS_IS },
        { "CONTAINERS", "containers", ASK_AS_IS },
        { "OBJECTS", "objects", ASK_AS_IS },
        { "SIZE", "bytes", ASK_BYTES },
        { "QUOTA", "quota", ASK_BYTES },
    };
    static const struct ask_column containers[] = {
        { "ACCOUNT", "account", ASK_AS_IS }, { "SERVICE", "service", ASK_AS_IS },
        { "NAME", "name", ASK_AS_IS },       { "OBJECTS", "objects", ASK_AS_IS },
        { "SIZE", "bytes", ASK_BYTES },      { "QUOTA", "quota", ASK_BYTES },
    };

    ask_print_table(arena, ask_nested(arena, body, "accounts"), accounts,
                    sizeof accounts / sizeof accounts[0]);
    printf("\n");
    ask_print_table(arena, ask_nested(arena, body, "containers"), containers,
                    sizeof containers / sizeof containers[0]);
}

int administer_usage(const struct command_call *call)
{
    return ask_and_print(call, "usage", NULL, 0, print_usage);
}
