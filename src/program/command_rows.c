/* The table of the commands: see command_rows.h. */
#include "program/command_rows.h"

#include <stdio.h>
#include <string.h>

#include "program/administer.h"
#include "program/back_up.h"
#include "program/cluster_command.h"
#include "program/import.h"
#include "program/restore.h"
#include "program/scrub.h"
#include "program/snapshots.h"
#include "program/spelling.h"

const struct command_option command_common_options[] = {
    { "location", "DIR", "the data folder of the server that is asked (default: the current one)" },
    { "config", "FILE", "read the folder from the server's configuration file" },
    { "json", NULL, "print JSON, for scripts" },
    { NULL, NULL, NULL },
};

static const struct command_option account_keys[] = {
    { "key1-file", "FILE", "take what the file holds for key 1, in base64" },
    { "key2-file", "FILE", "the same of key 2" },
    { NULL, NULL, NULL },
};
static const struct command_option account_settings[] = {
    { "state", "STATE", "enabled or disabled: whether anybody may ask for anything of it" },
    { "key1-file", "FILE", "take what the file holds for key 1, in base64" },
    { "key2-file", "FILE", "the same of key 2" },
    { "requests", "N",
      "requests a second that it may make; none; default: what the server's options say" },
    { "bandwidth", "MIB", "MiB a second, each way; none; default" },
    { "capacity", "MIB", "MiB that it keeps; none; default" },
    { "containers", "N", "containers, queues, tables, shares, of each kind; none; default" },
    { NULL, NULL, NULL },
};

#define OF_ACCOUNT                                                                                 \
    {                                                                                              \
        "account", "NAME", "of this account; needed where there are several"                       \
    }
#define NO_MORE                                                                                    \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }
static const struct command_option of_account[] = { OF_ACCOUNT, NO_MORE };
static const struct command_option listed[] = {
    OF_ACCOUNT,
    { "prefix", "TEXT", "those whose names begin so" },
    NO_MORE,
};
#define ALL                                                                                        \
    {                                                                                              \
        "all", NULL, "also those of Storage Analytics: $logs, $Metrics.."                          \
    }
static const struct command_option listed_containers[] = {
    OF_ACCOUNT,
    { "prefix", "TEXT", "only names with this prefix" },
    ALL,
    NO_MORE,
};
static const struct command_option listed_tables[] = { OF_ACCOUNT, ALL, NO_MORE };
static const struct command_option new_container[] = {
    OF_ACCOUNT,
    { "public-access", "KIND", "container or blob: what everybody may read" },
    NO_MORE,
};
static const struct command_option new_share[] = {
    OF_ACCOUNT,
    { "quota", "GIB", "what its files may have" },
    NO_MORE,
};

/* Of all signatures. Where no key is given the server that runs on the data folder signs. */
#define OF_SAS                                                                                     \
    { "account", "NAME", "whose; else AZURE_STORAGE_ACCOUNT" },                                    \
        { "key-file", "FILE", "sign with what the file holds; else AZURE_STORAGE_KEY" },           \
        { "key", "1|2", "with which of its keys a running server signs (1)" },                     \
        { "permissions", "LETTERS", "what it opens, in the order of the reference" },              \
        { "start", "TIME", "not before, 2030-01-02T03:04Z" }, { "expiry", "TIME", "not after" },   \
        { "ip", "ADDRESS", "from this address, or FIRST-LAST" },                                   \
        { "https-only", NULL, "not without TLS" },                                                 \
    {                                                                                              \
        "version", "DATE", "of this version of the service (2026-10-06)"                           \
    }
#define BY_POLICY                                                                                  \
    {                                                                                              \
        "policy-name", "NAME", "what the stored access policy of this name says"                   \
    }
#define BY_DELEGATION                                                                              \
    {                                                                                              \
        "delegation-key-file", "FILE",                                                             \
            "sign with a user delegation key: the answer to Get User Delegation Key"               \
    }
#define WITH_HEADERS                                                                               \
    { "cache-control", "TEXT", "the answer has this header" },                                     \
        { "content-disposition", "TEXT", "the same" }, { "content-encoding", "TEXT", "the same" }, \
        { "content-language", "TEXT", "the same" },                                                \
    {                                                                                              \
        "content-type", "TEXT", "the same"                                                         \
    }
static const struct command_option sas_account[] = {
    OF_SAS,
    { "services", "LETTERS", "b, q, t, f: blobs, queues, tables, files" },
    { "resource-types", "LETTERS", "s, c, o: services, containers, objects" },
    NO_MORE,
};
static const struct command_option sas_container[] = { OF_SAS, BY_POLICY, BY_DELEGATION,
                                                       WITH_HEADERS, NO_MORE };
static const struct command_option sas_blob[] = {
    OF_SAS,       BY_POLICY, BY_DELEGATION, { "snapshot", "TIME", "of this snapshot of the blob" },
    WITH_HEADERS, NO_MORE,
};
static const struct command_option sas_queue[] = { OF_SAS, BY_POLICY, BY_DELEGATION, NO_MORE };
static const struct command_option sas_table[] = {
    OF_SAS,
    BY_POLICY,
    { "start-pk", "KEY", "from this partition on" },
    { "start-rk", "KEY", "and this row of it" },
    { "end-pk", "KEY", "up to this partition" },
    { "end-rk", "KEY", "and this row of it" },
    NO_MORE,
};

/* clang-format off */
const struct command_row command_rows[] = {
    { "serve", "[options]",               "serve; what is done without a command too", 0, 0, NULL, NULL },
    { "status", "",                       "what a running server is and does", 0, 0, NULL, administer_status },
    { "slowest", "",                      "the requests of the last hour that took longest", 0, 0, NULL, administer_slowest },
    { "log-level", "LEVEL",               "debug, info, warn or error: what a running server logs from now on", 1, 1, NULL, administer_log_level },
    { "console", "",                      "print a link to the web console of a running server: good for one sign-in, five minutes", 0, 0, NULL, administer_console },
    { "usage", "",                        "count what accounts keep on a running server, and print it with the largest containers", 0, 0, NULL, administer_usage },
    { "backup verify", "DIR",             "read the newest backup in DIR, or that one, and hold it against its sums", 1, 1, back_up_copy_options, back_up_verify },
    { "backup restore", "DIR NEW-DIR",    "make a data folder of it", 2, 2, back_up_copy_options, back_up_restore },
    { "backup", "DIR",                    "copy the data folder of a running server to a new folder in DIR, as it is at one moment", 1, 1, back_up_options, back_up },
    { "restore container", "DIR NAME",    "put a container of the newest backup in DIR, or of that one, into a running server", 2, 2, restore_options, restore_run },
    { "restore queue", "DIR NAME",        "the same of a queue", 2, 2, restore_options, restore_run },
    { "restore table", "DIR NAME",        "the same of a table", 2, 2, restore_options, restore_run },
    { "restore share", "DIR NAME",        "the same of a share", 2, 2, restore_options, restore_run },
    { "restore account", "DIR",           "the same of all that an account has in the backup", 1, 1, restore_all_options, restore_all },
    { "import", "[DIR]",                   "copy an account into a running server: from Azure, Azurite or another Lagra, or an export in DIR", 0, 1, import_options, import_run },
    { "export", "DIR",                    "copy an account out of a server, as files and lines of JSON", 1, 1, export_options, export_run },
    { "account add", "NAME",              "make an account in the store, and print its two keys, once", 1, 1, account_keys, administer_account_add },
    { "account list", "",                 "all accounts, and where they come from", 0, 0, NULL, administer_account_list },
    { "account show", "NAME",             "one of them", 1, 1, NULL, administer_account_show },
    { "account set", "NAME",              "change an account of the store", 1, 1, account_settings, administer_account_set },
    { "account rotate-key", "NAME 1|2",   "make a key anew, and print it, once; the other one goes on", 2, 2, NULL, administer_account_rotate_key },
    { "account disable", "NAME",          "refuse everybody who asks for anything of it", 1, 1, NULL, administer_account_disable },
    { "container create", "NAME",         "make a container", 1, 1, new_container, administer_create },
    { "container list", "",               "the containers of an account", 0, 0, listed_containers, administer_list },
    { "container delete", "NAME",         "delete one, and all that is in it", 1, 1, of_account, administer_delete },
    { "queue create", "NAME",             "make a queue", 1, 1, of_account, administer_create },
    { "queue list", "",                   "the queues of an account", 0, 0, listed, administer_list },
    { "queue delete", "NAME",             "delete one, and its messages", 1, 1, of_account, administer_delete },
    { "table create", "NAME",             "make a table", 1, 1, of_account, administer_create },
    { "table list", "",                   "the tables of an account", 0, 0, listed_tables, administer_list },
    { "table delete", "NAME",             "delete one, and its entities", 1, 1, of_account, administer_delete },
    { "share create", "NAME",             "make a share of files", 1, 1, new_share, administer_create },
    { "share list", "",                   "the shares of an account", 0, 0, listed, administer_list },
    { "share delete", "NAME",             "delete one, and its files", 1, 1, of_account, administer_delete },
    { "sas account", "",                  "print a shared access signature of an account", 0, 0, sas_account, administer_sas },
    { "sas container", "NAME",            "the same of a container", 1, 1, sas_container, administer_sas },
    { "sas blob", "CONTAINER BLOB",       "of a blob, or of a snapshot", 2, 2, sas_blob, administer_sas },
    { "sas directory", "CONTAINER PATH",  "of the blobs below a directory, and of lists of them", 2, 2, sas_container, administer_sas },
    { "sas queue", "NAME",                "of a queue", 1, 1, sas_queue, administer_sas },
    { "sas table", "NAME",                "of a table, or of a range of its keys", 1, 1, sas_table, administer_sas },
    { "sas share", "NAME",                "of a share", 1, 1, sas_container, administer_sas },
    { "sas file", "SHARE PATH",           "of a file in a share", 2, 2, sas_container, administer_sas },
    { "scrub", "",                        "have a running server read all its data and hold it against its sums, and follow it", 0, 0, scrub_options_of_command, scrub_run },
    { "snapshot save", "NAME",            "save all that a server with --testing keeps, in memory or in its data folder", 1, 1, snapshots_options, snapshots_save },
    { "snapshot load", "NAME",            "have it go back there, in milliseconds, while it serves", 1, 1, snapshots_options, snapshots_load },
    { "snapshot list", "",                "what is saved", 0, 0, snapshots_options, snapshots_list },
    { "snapshot delete", "NAME",          "drop one", 1, 1, snapshots_options, snapshots_delete },
    { "cluster init", "DIR",              "make a cluster of empty cells in a folder on a shared file system (docs/cells.md)", 1, 1, cluster_init_options, cluster_init_run },
    { "cluster add-cell", "DIR",          "add an empty cell to a cluster", 1, 1, NULL, cluster_add_cell_run },
    { "cluster place", "DIR ACCOUNT CELL", "create new containers, queues, tables and shares of an account in this cell; any: where the fewest bytes are", 3, 3, NULL, cluster_place_run },
    { "cluster status", "DIR",            "print the cells of a cluster and their owners", 1, 1, NULL, cluster_status_run },
    { "cluster evict", "DIR CELL",        "run the fence command against the owner of a cell", 2, 2, cluster_evict_options, cluster_evict_run },
    { "config", "check [--json] [options]",        "print what is in force, and where it was set", 0, 0, NULL, NULL },
    { "health", "[--live] [--json] [options]", "ask a server that runs with these options: 0, it is ready (or lives)", 0, 0, NULL, NULL },
    { "health", "[--live] [--json] --running", "ask those that run on this machine, or in this container", 0, 0, NULL, NULL },
    { "check", "[--json] DIR",            "read and check all of a data folder", 0, 0, NULL, NULL },
    { "check", "[--json] --salvage DIR NEW-DIR", "save what can be read of a damaged one", 0, 0, NULL, NULL },
    { "help", "[COMMAND]",                "print all commands and options, or those of a command", 0, 0, NULL, NULL },
    { "version", "",                      "print the version", 0, 0, NULL, NULL },
    { "operations", "[--markdown|--json]", "print the operation tables", 0, 0, NULL, NULL },
    { "errors", "--json",                 "print the error codes", 0, 0, NULL, NULL },
    { "options", "[--markdown|--man|--bash|--zsh]", "print the options, as a manual page, or for the completion of shells", 0, 0, NULL, NULL },
};
/* clang-format on */
const size_t command_row_count = sizeof command_rows / sizeof command_rows[0];

/* ---- names ---- */

struct bytes command_first_word(const struct command_row *row)
{
    return bytes_of(row->name, strcspn(row->name, " "));
}

bool command_begins(const char *word)
{
    for (size_t i = 0; i < command_row_count; i++) {
        if (bytes_is(command_first_word(&command_rows[i]), word))
            return true;
    }
    return false;
}

bool command_has_run(const char *word)
{
    for (size_t i = 0; i < command_row_count; i++) {
        if (command_rows[i].run && bytes_is(command_first_word(&command_rows[i]), word))
            return true;
    }
    return false;
}

struct bytes command_nearest(struct bytes word)
{
    struct bytes nearest = { NULL, 0 };
    unsigned least = spelling_most(word);

    for (size_t i = 0; i < command_row_count; i++) {
        struct bytes name = command_first_word(&command_rows[i]);
        unsigned distance = spelling_distance(word, name);

        if (distance > least || (distance == least && nearest.ptr))
            continue;
        nearest = name;
        least = distance;
    }
    return nearest;
}

const struct command_row *command_find(int argc, char **argv, int *ret_words)
{
    for (size_t i = 0; i < command_row_count; i++) {
        struct bytes first, second;

        bytes_cut(bytes_from_string(command_rows[i].name), ' ', &first, &second);
        if (argc < 1 || !bytes_is(first, argv[0]) ||
            (second.ptr && (argc < 2 || !bytes_is(second, argv[1]))))
            continue;
        *ret_words = second.ptr ? 2 : 1;
        return &command_rows[i];
    }
    return NULL;
}

/* ---- help ---- */

static void print_row(const struct command_row *row)
{
    char left[80];

    snprintf(left, sizeof left, "lagra %s %s", row->name, row->takes);
    printf("  %-46s %s\n", left, row->help);
}

void command_rows_print_help(void)
{
    for (size_t i = 0; i < command_row_count; i++)
        print_row(&command_rows[i]);
}

static void print_options(const struct command_option *options)
{
    for (; options && options->name; options++) {
        char left[64];

        snprintf(left, sizeof left, "--%s %s", options->name, options->value ? options->value : "");
        printf("      %-28s %s\n", left, options->help);
    }
}

void command_print_help(const char *word)
{
    for (size_t i = 0; i < command_row_count; i++) {
        if (!bytes_is(command_first_word(&command_rows[i]), word))
            continue;
        print_row(&command_rows[i]);
        print_options(command_rows[i].options);
    }
    printf("\nAll of them take:\n");
    print_options(command_common_options);
}
