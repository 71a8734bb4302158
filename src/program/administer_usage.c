/* `lagra usage`: see administer.h. */
#include "program/administer.h"

#include <stdio.h>

#include "program/ask.h"

static void print_usage(struct arena *arena, struct bytes body)
{
    static const struct ask_column accounts[] = {
        { "ACCOUNT", "account" }, { "SERVICE", "service" }, { "CONTAINERS", "containers" },
        { "OBJECTS", "objects" }, { "BYTES", "bytes" },     { "QUOTA", "quota" },
    };
    static const struct ask_column containers[] = {
        { "ACCOUNT", "account" }, { "SERVICE", "service" }, { "NAME", "name" },
        { "OBJECTS", "objects" }, { "BYTES", "bytes" },     { "QUOTA", "quota" },
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
