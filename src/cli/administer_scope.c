/* `lagra account scope`. docs/encryption.md */
#include "cli/administer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/admin_client.h"

static void print_scope(struct arena *arena, struct bytes body)
{
    static const char *const members[] = { "account", "name", "state", "created", "changed" };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        client_print_line(members[i], client_member(arena, body, members[i]));
}

static void print_scopes(struct arena *arena, struct bytes body)
{
    static const struct client_column columns[] = {
        { "NAME", "name", CLIENT_AS_IS },
        { "STATE", "state", CLIENT_AS_IS },
        { "CREATED", "created", CLIENT_AS_IS },
        { "CHANGED", "changed", CLIENT_AS_IS },
    };

    client_print_table(arena, client_nested(arena, body, "scopes"), columns,
                       sizeof columns / sizeof columns[0]);
}

int administer_account_scope(const struct command_call *call)
{
    const char *action = call->words[0];
    bool lists = strcmp(action, "list") == 0, adds = strcmp(action, "add") == 0;
    const char *state = strcmp(action, "enable") == 0    ? "enabled"
                        : strcmp(action, "disable") == 0 ? "disabled"
                                                         : NULL;
    const struct client_argument arguments[] = {
        { "account", command_value(call, "account") },
        { "name", call->word_count > 1 ? call->words[1] : NULL },
        { "state", state },
    };

    if (!lists && !adds && !state) {
        fprintf(stderr, "lagra: account scope takes add, list, disable or enable\n");
        return EXIT_FAILURE;
    }
    if (lists != (call->word_count == 1)) {
        fprintf(stderr, "lagra: account scope %s takes %s\n", action,
                lists ? "no name" : "the name of a scope");
        return EXIT_FAILURE;
    }
    if (lists)
        return client_call_and_print(call, "scope-list", arguments, 1, print_scopes);
    return client_call_and_print(call, adds ? "scope-add" : "scope-set", arguments, 3, print_scope);
}
