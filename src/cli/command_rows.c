/* Table of commands: see command_rows.h. */
#include "cli/command_rows.h"

#include <stdio.h>
#include <string.h>

#include "cli/administer.h"
#include "cli/move_command.h"
#include "server/option_rows.h"

const struct command_option command_common_options[] = {
    { "location", "DIR", "data directory of the running server (default: the current directory)" },
    { "config", "FILE", "configuration file of the running server" },
    { "json", NULL, "print JSON" },
    { NULL, NULL, NULL },
};

static const struct command_option account_keys[] = {
    { "key1-file", "FILE", "use the base64 key in FILE as key 1" },
    { "key2-file", "FILE", "use the base64 key in FILE as key 2" },
    { "hierarchical", NULL,
      "give its containers a hierarchical namespace (Azure Data Lake Storage); cannot be changed "
      "later" },
    { NULL, NULL, NULL },
};
static const struct command_option account_settings[] = {
    { "state", "STATE", "enabled or disabled; all requests for a disabled account are rejected" },
    { "key1-file", "FILE", "use the base64 key in FILE as key 1" },
    { "key2-file", "FILE", "use the base64 key in FILE as key 2" },
    { "requests", "N", "maximum requests per second, none, or default (the server's option)" },
    { "bandwidth", "MIB", "maximum MiB per second in each direction, none, or default" },
    { "capacity", "MIB", "maximum stored MiB, none, or default" },
    { "containers", "N",
      "maximum number of containers, and likewise of queues, tables and shares; none, or default" },
    { NULL, NULL, NULL },
};

#define OF_ACCOUNT                                                                                 \
    {                                                                                              \
        "account", "NAME", "account name; required if there are several accounts"                  \
    }
#define NO_MORE                                                                                    \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }
static const struct command_option of_account[] = { OF_ACCOUNT, NO_MORE };
static const struct command_option listed[] = {
    OF_ACCOUNT,
    { "prefix", "TEXT", "only names with this prefix" },
    NO_MORE,
};
#define ALL                                                                                        \
    {                                                                                              \
        "all", NULL, "include those of Storage Analytics ($logs, $Metrics..)"                      \
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
    { "public-access", "KIND", "container or blob: what anonymous clients may read" },
    NO_MORE,
};
static const struct command_option protected_container[] = {
    OF_ACCOUNT,
    { "days", "N", "with policy and extend: days for which each blob is retained" },
    { "append", "RULE", "with policy: none, append-blobs or all; with hold: none or all" },
    { "tags", "TAGS", "with hold and release: tags of legal holds, separated by commas" },
    NO_MORE,
};
static const struct command_option new_share[] = {
    OF_ACCOUNT,
    { "quota", "GIB", "maximum size of all files" },
    NO_MORE,
};

/* Options of all shared access signatures. Without a key, the signature is computed by the server
 * that runs on the data directory. */
#define OF_SAS                                                                                     \
    { "account", "NAME", "account name (AZURE_STORAGE_ACCOUNT)" },                                 \
        { "key-file", "FILE", "sign with the key in FILE (AZURE_STORAGE_KEY)" },                   \
        { "key", "1|2", "number of the account key that a running server signs with (1)" },        \
        { "permissions", "LETTERS", "permissions, in the order of the REST reference" },           \
        { "start", "TIME", "start time, such as 2030-01-02T03:04Z" },                              \
        { "expiry", "TIME", "expiry time" },                                                       \
        { "ip", "ADDRESS", "client address, or range FIRST-LAST" },                                \
        { "https-only", NULL, "require HTTPS" },                                                   \
    {                                                                                              \
        "version", "DATE", "service version (2026-10-06)"                                          \
    }
#define BY_POLICY                                                                                  \
    {                                                                                              \
        "policy-name", "NAME", "use this stored access policy"                                     \
    }
#define BY_DELEGATION                                                                              \
    {                                                                                              \
        "delegation-key-file", "FILE",                                                             \
            "sign with a user delegation key (the response to Get User Delegation Key)"            \
    }
#define WITH_HEADERS                                                                               \
    { "cache-control", "TEXT", "value of this response header" },                                  \
        { "content-disposition", "TEXT", "value of this response header" },                        \
        { "content-encoding", "TEXT", "value of this response header" },                           \
        { "content-language", "TEXT", "value of this response header" },                           \
    {                                                                                              \
        "content-type", "TEXT", "value of this response header"                                    \
    }
static const struct command_option sas_account[] = {
    OF_SAS,
    { "services", "LETTERS", "b, q, t, f: Blob, Queue, Table, File" },
    { "resource-types", "LETTERS", "s, c, o: services, containers, objects" },
    NO_MORE,
};
static const struct command_option sas_container[] = { OF_SAS, BY_POLICY, BY_DELEGATION,
                                                       WITH_HEADERS, NO_MORE };
static const struct command_option sas_blob[] = {
    OF_SAS,       BY_POLICY, BY_DELEGATION, { "snapshot", "TIME", "snapshot of the blob" },
    WITH_HEADERS, NO_MORE,
};
static const struct command_option sas_queue[] = { OF_SAS, BY_POLICY, BY_DELEGATION, NO_MORE };
static const struct command_option sas_table[] = {
    OF_SAS,
    BY_POLICY,
    { "start-pk", "KEY", "first partition key" },
    { "start-rk", "KEY", "first row key of that partition" },
    { "end-pk", "KEY", "last partition key" },
    { "end-rk", "KEY", "last row key of that partition" },
    NO_MORE,
};

/* clang-format off */
const struct command_row command_rows[] = {
    { "serve", "[options]",               "serve; the default command", 0, 0, NULL, NULL },
    { "status", "",                       "print the state of a running server", 0, 0, NULL, administer_status },
    { "slowest", "",                      "print the slowest requests of the last hour", 0, 0, NULL, administer_slowest },
    { "log-level", "LEVEL",               "set the log level of a running server: debug, info, warn or error", 1, 1, NULL, administer_log_level },
    { "console", "",                      "print a sign-in link to the web console of a running server; valid for one sign-in within five minutes", 0, 0, NULL, administer_console },
    { "usage", "",                        "measure and print the storage used by each account, and the largest containers", 0, 0, NULL, administer_usage },
    { "backup verify", "DIR",             "verify a backup, or the newest backup in DIR, against its checksums", 1, 1, back_up_copy_options, back_up_verify },
    { "backup restore", "DIR NEW-DIR",    "create a data directory from a backup, or from the newest backup in DIR", 2, 2, back_up_copy_options, back_up_restore },
    { "backup", "DIR",                    "back up a running server to a new directory in DIR, as a consistent snapshot", 1, 1, back_up_options, back_up },
    { "restore container", "DIR NAME",    "restore a container from a backup, or from the newest backup in DIR, into a running server", 2, 2, restore_options, restore_run },
    { "restore queue", "DIR NAME",        "restore a queue", 2, 2, restore_options, restore_run },
    { "restore table", "DIR NAME",        "restore a table", 2, 2, restore_options, restore_run },
    { "restore share", "DIR NAME",        "restore a share", 2, 2, restore_options, restore_run },
    { "restore account", "DIR",           "restore everything an account has in the backup", 1, 1, restore_all_options, restore_all },
    { "import", "[DIR]",                   "copy an account into a running server, from Azure, Azurite or another Lagra, or from an export in DIR", 0, 1, import_options, import_run },
    { "export", "DIR",                    "copy an account from a server to files", 1, 1, export_options, export_run },
    { "account add", "NAME",              "create an account and print its two keys, once", 1, 1, account_keys, administer_account_add },
    { "account list", "",                 "list all accounts and their origin", 0, 0, NULL, administer_account_list },
    { "account show", "NAME",             "show an account", 1, 1, NULL, administer_account_show },
    { "account set", "NAME [SETTING=VALUE..]", "change an account: its state, keys and limits, and the settings that account show prints", 1, COMMAND_WORDS_MAX, account_settings, administer_account_set },
    { "account rotate-key", "NAME 1|2",   "replace one of the keys and print the new one, once; the other remains valid", 2, 2, NULL, administer_account_rotate_key },
    { "account disable", "NAME",          "reject all requests for the account", 1, 1, NULL, administer_account_disable },
    { "container create", "NAME",         "create a container", 1, 1, new_container, administer_create },
    { "container list", "",               "list the containers of an account", 0, 0, listed_containers, administer_list },
    { "container delete", "NAME",         "delete a container and its blobs", 1, 1, of_account, administer_delete },
    { "container show", "NAME",           "show the retention policy and the legal holds of a container", 1, 1, of_account, administer_container_show },
    { "container protect", "NAME CHANGE", "protect the blobs of a container: policy, lock, extend or remove a retention policy; hold or release them; versions: enable policies and holds of blob versions", 2, 2, protected_container, administer_container_protect },
    { "queue create", "NAME",             "create a queue", 1, 1, of_account, administer_create },
    { "queue list", "",                   "list the queues of an account", 0, 0, listed, administer_list },
    { "queue delete", "NAME",             "delete a queue and its messages", 1, 1, of_account, administer_delete },
    { "table create", "NAME",             "create a table", 1, 1, of_account, administer_create },
    { "table list", "",                   "list the tables of an account", 0, 0, listed_tables, administer_list },
    { "table delete", "NAME",             "delete a table and its entities", 1, 1, of_account, administer_delete },
    { "share create", "NAME",             "create a file share", 1, 1, new_share, administer_create },
    { "share list", "",                   "list the shares of an account", 0, 0, listed, administer_list },
    { "share delete", "NAME",             "delete a share and its files", 1, 1, of_account, administer_delete },
    { "sas account", "",                  "print a shared access signature for an account", 0, 0, sas_account, administer_sas },
    { "sas container", "NAME",            "print a shared access signature for a container", 1, 1, sas_container, administer_sas },
    { "sas blob", "CONTAINER BLOB",       "print a shared access signature for a blob or a snapshot of it", 2, 2, sas_blob, administer_sas },
    { "sas directory", "CONTAINER PATH",  "print a shared access signature for the blobs below a directory", 2, 2, sas_container, administer_sas },
    { "sas queue", "NAME",                "print a shared access signature for a queue", 1, 1, sas_queue, administer_sas },
    { "sas table", "NAME",                "print a shared access signature for a table or a range of its keys", 1, 1, sas_table, administer_sas },
    { "sas share", "NAME",                "print a shared access signature for a share", 1, 1, sas_container, administer_sas },
    { "sas file", "SHARE PATH",           "print a shared access signature for a file", 2, 2, sas_container, administer_sas },
    { "scrub", "",                        "have a running server verify all its data against its checksums, and follow the progress", 0, 0, scrub_options_of_command, scrub_run },
    { "snapshot save", "NAME",            "save the complete state of a server that runs with --testing", 1, 1, snapshots_options, snapshots_save },
    { "snapshot load", "NAME",            "return the server to a saved state, in milliseconds, without stopping it", 1, 1, snapshots_options, snapshots_load },
    { "snapshot list", "",                "list saved states", 0, 0, snapshots_options, snapshots_list },
    { "snapshot delete", "NAME",          "delete a saved state", 1, 1, snapshots_options, snapshots_delete },
    { "cluster init", "DIR",              "create a cluster of empty cells in a directory on a shared file system (docs/cells.md)", 1, 1, cluster_init_options, cluster_init_run },
    { "cluster add-cell", "DIR",          "add an empty cell to a cluster", 1, 1, NULL, cluster_add_cell_run },
    { "cluster place", "DIR ACCOUNT CELL", "create new containers, queues, tables and shares of an account in this cell; any: in the cell with the fewest bytes", 3, 3, NULL, cluster_place_run },
    { "cluster move", "DIR ACCOUNT KIND NAME CELL", "move a container, queue, table or share (KIND) to another cell while clients use it", 5, 5, cluster_move_options, cluster_move_run },
    { "cluster drain", "DIR CELL",        "move everything in a cell to other cells, and create nothing new there", 2, 2, cluster_drain_options, cluster_drain_run },
    { "cluster reclaim", "DIR",           "after a data directory has been restored from a backup: place everything that the cells contain, and report names that several cells contain", 1, 1, NULL, cluster_reclaim_run },
    { "cluster status", "DIR",            "print the cells of a cluster and their owners", 1, 1, NULL, cluster_status_run },
    { "cluster rotate-key", "DIR",        "replace the key of a running cluster",
      1, 1, NULL, cluster_rotate_key_run },
    { "cluster evict", "DIR CELL",        "run the fence command against the owner of a cell", 2, 2, cluster_evict_options, cluster_evict_run },
    { "config", "check [--json] [options]",        "print the effective options, and where each was set", 0, 0, NULL, NULL },
    { "health", "[--live] [--json] [options]", "exit with 0 if a server with these options is ready (with --live: if it is running)", 0, 0, NULL, NULL },
    { "health", "[--live] [--json] --running", "check all servers on this machine or in this container", 0, 0, NULL, NULL },
    { "check", "[--json] [--encryptionKey FILE] DIR", "check the data directory of a stopped server", 0, 0, NULL, NULL },
    { "check", "[--json] [--encryptionKey FILE] --salvage DIR NEW-DIR", "copy everything readable from a damaged data directory to a new one", 0, 0, NULL, NULL },
    { "help", "[COMMAND]",                "print all commands and options, or the options of one command", 0, 0, NULL, NULL },
    { "version", "",                      "print the version", 0, 0, NULL, NULL },
    { "operations", "[--markdown|--json]", "print the operation tables", 0, 0, NULL, NULL },
    { "errors", "--json",                 "print the error codes", 0, 0, NULL, NULL },
    { "options", "[--markdown|--man|--bash|--zsh]", "print the options, as a table, a manual page, or shell completion", 0, 0, NULL, NULL },
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
    struct suggestion nearest = suggestion_begin(word);

    for (size_t i = 0; i < command_row_count; i++)
        suggestion_try(&nearest, command_first_word(&command_rows[i]));
    return nearest.name;
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

void command_print_all_help(void)
{
    printf("Lagra " LAGRA_VERSION ", a storage server compatible with Azure Storage\n\n");
    for (size_t i = 0; i < command_row_count; i++)
        print_row(&command_rows[i]);
    printf("\n");
    for (size_t i = 0; i < option_row_count; i++) {
        char left[48];
        char letter[8] = "";

        if (option_rows[i].letter)
            snprintf(letter, sizeof letter, "-%c, ", option_rows[i].letter);
        snprintf(left, sizeof left, "%s--%s %s", letter, option_rows[i].name,
                 option_rows[i].value ? option_rows[i].value : "");
        printf("  %-32s %s\n", left, option_rows[i].help);
    }
    printf("\nAccounts are defined by lagra account add, --accountsFile, or "
           "AZURITE_ACCOUNTS=\"name:key1[:key2];...\"\n"
           "in the environment. Without the latter two, devstoreaccount1 exists as well.\n"
           "Run as azurite, azurite-blob, azurite-queue or azurite-table, the program behaves like "
           "Azurite's commands.\n"
           "azurite-file serves only files; azurite serves files if --fileHost or --filePort is "
           "given.\n");
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
    printf("\nAll of them accept:\n");
    print_options(command_common_options);
}

/* ---- suggestions ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Computes distances between prefixes of the two words. Only one row of the table is stored. */
unsigned suggestion_distance(struct bytes word, struct bytes name)
{
    unsigned row[SUGGESTION_WORD_MAX + 1];

    if (word.len > SUGGESTION_WORD_MAX)
        return SUGGESTION_WORD_MAX + 1;
    for (unsigned i = 0; i <= word.len; i++)
        row[i] = i;
    for (size_t j = 0; j < name.len; j++) {
        unsigned above_left = row[0]++;

        for (size_t i = 0; i < word.len; i++) {
            unsigned exchanged = above_left + (lower(word.ptr[i]) != lower(name.ptr[j]));
            unsigned least = row[i] < row[i + 1] ? row[i] + 1 : row[i + 1] + 1;

            above_left = row[i + 1];
            row[i + 1] = exchanged < least ? exchanged : least;
        }
    }
    return row[word.len];
}

struct suggestion suggestion_begin(struct bytes word)
{
    return (struct suggestion){
        .word = word,
        .limit = word.len > SUGGESTION_WORD_MAX ? 0 : (unsigned)(word.len + 1) / 3 + 1,
    };
}

void suggestion_try(struct suggestion *suggestion, struct bytes name)
{
    unsigned distance = suggestion_distance(suggestion->word, name);

    if (distance >= suggestion->limit)
        return;
    suggestion->limit = distance;
    suggestion->name = name;
}
