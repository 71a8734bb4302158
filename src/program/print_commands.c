/* Prints the table of SMB's commands: see commands.h. */
#include <stdio.h>

#include "program/commands.h"
#include "smb/commands.h"

static const char *const needs_names[] = {
    [NEEDS_NOTHING] = "nothing",
    [NEEDS_SESSION] = "a session",
    [NEEDS_TREE] = "a tree",
    [NEEDS_FILE] = "an open file or directory",
};
static const char *const compounding_names[] = {
    [ALONE] = "no",
    [COMPOUND] = "yes",
    [LAST] = "last, where it waits",
};
static const char *const lasting_names[] = {
    [COMMITTED] = "when it is committed",
    [SEEN] = "when all that it rests on is durable",
    [LASTING] = "when it is durable itself",
};

void print_smb_commands(void)
{
    printf("\n## smb\n\nThe commands of SMB, which has no operations: docs/smb.md. One that has "
           "changed a name or a "
           "property is answered when that is durable,\nwhatever its row says.\n\n"
           "| Command | Code | Needs | In a compound | Answered | Credits pay for lengths |\n"
           "|---|---|---|---|---|---|\n");
    for (uint16_t command = 0; command < SMB_COMMANDS; command++) {
        const struct smb_row *row = smb_row_find(command);

        printf("| %s | %u | %s | %s | %s | %s |\n", row->name, command, needs_names[row->needs],
               compounding_names[row->compounding], lasting_names[row->lasting],
               row->charge_at[0] > 0 ? "yes" : "no");
    }
}
