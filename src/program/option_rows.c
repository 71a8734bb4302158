/* One table says what options there are; help is printed from it. */
#include "program/option_rows.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1000000u

struct option_row {
    const char *name;
    char letter;       /* 0: none */
    const char *value; /* what it takes, for the help; NULL: nothing */
    const char *help;
    size_t offset; /* of the member it sets */
    enum {
        SET_TEXT,
        SET_PORT,
        SET_COUNT,
        SET_ADDRESSES,
        SET_TRUE,
        SET_FALSE,
        IGNORE,
        MEMORY_LIMIT,
        OAUTH,
        HELP,
        VERSION
    } action;
};

#define MEMBER(name)          offsetof(struct options, name)
/* A row of one service alone. */
#define LISTEN(service, name) offsetof(struct options, listen[SERVICE_##service].name)

/* clang-format off */
static const struct option_row rows[] = {
    { "location",             'l', "DIR",  "data folder (default: the current one)",            MEMBER(location), SET_TEXT },
    { "blobHost",              0,  "HOST", "address of the Blob service (127.0.0.1)",           LISTEN(BLOB, host), SET_TEXT },
    { "blobPort",              0,  "PORT", "its port (10000; 0: any free one)",                 LISTEN(BLOB, port), SET_PORT },
    { "blobKeepAliveTimeout", 0, "N",  "an idle connection to it is closed after N seconds (120)", LISTEN(BLOB, keep_alive_s), SET_COUNT },
    { "queueHost",             0,  "HOST", "address of the Queue service (127.0.0.1)",          LISTEN(QUEUE, host), SET_TEXT },
    { "queuePort",             0,  "PORT", "its port (10001)",                                  LISTEN(QUEUE, port), SET_PORT },
    { "queueKeepAliveTimeout", 0, "N",  "the same", LISTEN(QUEUE, keep_alive_s), SET_COUNT },
    { "tableHost",             0,  "HOST", "address of the Table service (127.0.0.1)",          LISTEN(TABLE, host), SET_TEXT },
    { "tablePort",             0,  "PORT", "its port (10002)",                                  LISTEN(TABLE, port), SET_PORT },
    { "tableKeepAliveTimeout", 0, "N",  "the same", LISTEN(TABLE, keep_alive_s), SET_COUNT },
    { "fileHost",              0,  "HOST", "address of the File service (127.0.0.1)",           LISTEN(FILE, host), SET_TEXT },
    { "filePort",              0,  "PORT", "its port (10003)",                                  LISTEN(FILE, port), SET_PORT },
    { "fileKeepAliveTimeout", 0, "N",  "the same", LISTEN(FILE, keep_alive_s), SET_COUNT },
    { "workers",               0,  "N",    "threads for each service (one a core)",             MEMBER(workers), SET_COUNT },
    { "maxConnections",        0,  "N",    "at most so many connections for each service (10000)", MEMBER(connections_max), SET_COUNT },
    { "maxConnectionsPerAddress", 0, "N",  "at most so many of them from one address",          MEMBER(connections_per_address_max), SET_COUNT },
    { "diskReserve",           0,  "MIB",  "refuse what grows while less of the disk is free (640, or a quarter of it; 12 is the least)", MEMBER(disk_reserve_mib), SET_COUNT },
    { "keepReading",           0,  NULL,   "serve reads when a write or sync of the disk has failed (else it ends, exit code 3)", MEMBER(keep_reading), SET_TRUE },
    { "rehydrateSeconds",      0,  "N",    "an archived blob can be read again after N seconds, after N/10 with high priority (60)", MEMBER(rehydrate_seconds), SET_COUNT },
    { "cert",                  0,  "FILE", "certificate (PEM), with --key: serve HTTPS",        MEMBER(cert_path), SET_TEXT },
    { "key",                   0,  "FILE", "private key (PEM) of --cert",                       MEMBER(key_path), SET_TEXT },
    { "pwd",                   0,  "TEXT", "password of --cert where that is a PFX file with its key", MEMBER(pfx_password), SET_TEXT },
    { "allowCopyFrom",         0,  "LIST", "addresses and CIDR blocks that sources of copies may have beyond the public internet", MEMBER(fetcher.allowed), SET_ADDRESSES },
    { "copySourceCa",          0,  "FILE", "authorities (PEM) that sources of copies are trusted by (the system's)", MEMBER(fetcher.ca_path), SET_TEXT },
    { "silent",               's', NULL,   "say nothing but problems",                          MEMBER(silent), SET_TRUE },
    { "debug",                'd', "FILE", "log every request to FILE too; opened again at SIGHUP",                 MEMBER(debug_path), SET_TEXT },
    { "loose",                'L', NULL,   "ignore headers and parameters that are not supported", MEMBER(loose), SET_TRUE },
    { "skipApiVersionCheck",   0,  NULL,   "accept anything as x-ms-version",                   MEMBER(skip_version_check), SET_TRUE },
    { "inMemoryPersistence",   0,  NULL,   "keep data in memory only",                          MEMBER(in_memory), SET_TRUE },
    { "extentMemoryLimit",     0,  "MIB",  "accepted for Azurite's sake, with --inMemoryPersistence: nothing but the machine limits its memory", 0, MEMORY_LIMIT },
    { "disableProductStyleUrl", 0, NULL,   "account always in the path, never in the host name", MEMBER(product_style_url), SET_FALSE },
    { "allowDevelopmentAccount", 0, NULL,  "serve devstoreaccount1 and its published key on other addresses than loopback", MEMBER(allow_development_account), SET_TRUE },
    { "oauth",                 0,  "basic", "take bearer tokens unchecked but for their claims, for development (HTTPS)", MEMBER(oauth_basic), OAUTH },
    { "allowUncheckedTokens",  0,  NULL,   "take those of --oauth basic on other addresses than loopback: whoever reaches them may do everything", MEMBER(allow_unchecked_tokens), SET_TRUE },
    { "oauthIssuer",           0,  "URL",  "take bearer tokens of this issuer (iss), with --oauthKeys (HTTPS)", MEMBER(oauth_issuer), SET_TEXT },
    { "oauthKeys",             0,  "FILE", "the issuer's public keys (JSON Web Key Set); read again at SIGHUP", MEMBER(oauth_keys_path), SET_TEXT },
    { "oauthAudience",         0,  "TEXT", "take them for this audience (aud) too, beside Azure's", MEMBER(oauth_audience), SET_TEXT },
    { "oauthRoles",            0,  "FILE", "who may do what, as az role assignment list prints it; read again at SIGHUP", MEMBER(oauth_roles_path), SET_TEXT },
    { "oauthAccounts",         0,  "FILE", "in which subscription and resource group accounts are, as az storage account list prints it; read again at SIGHUP", MEMBER(oauth_accounts_path), SET_TEXT },
    { "accountsFile",          0,  "FILE", "accounts as in AZURITE_ACCOUNTS, or one a line; read again at SIGHUP", MEMBER(accounts_path), SET_TEXT },
    { "disallowPublicAccess",  0,  NULL,   "no container can be opened to the public, and none is", MEMBER(no_public_access), SET_TRUE },
    { "disableTelemetry",      0,  NULL,   "accepted for Azurite's sake: there is no telemetry", 0, IGNORE },
    { "help",                 'h', NULL,   "this text",                                         0, HELP },
    { "version",              'v', NULL,   "the version",                                       0, VERSION },
};
/* clang-format on */
#define ROWS                  (sizeof rows / sizeof rows[0])
/* What getopt_long() returns for a row, if not its letter: each another number, or it takes the first
 * of several names that begin alike. */
#define ROW_FIRST             256

void option_rows_print_help(void)
{
    printf(
        "Lagra " LAGRA_VERSION ": a storage server that speaks Azure Storage's REST API.\n\n"
        "  lagra [options]                         serve\n"
        "  lagra operations [--markdown|--json]    print the operation tables\n"
        "  lagra errors --json                     print the error codes\n"
        "  lagra health [options]                  ask a server that runs with these options: "
        "0, it answers\n"
        "  lagra health --running                  ask those that run on this machine, or in this "
        "container\n"
        "  lagra check DIR                         read and check all of a data folder\n"
        "  lagra check --salvage DIR NEW-DIR       save what can be read of a damaged one\n\n");
    for (size_t i = 0; i < ROWS; i++) {
        char left[48];
        char letter[8] = "";

        if (rows[i].letter)
            snprintf(letter, sizeof letter, "-%c, ", rows[i].letter);
        snprintf(left, sizeof left, "%s--%s %s", letter, rows[i].name,
                 rows[i].value ? rows[i].value : "");
        printf("  %-32s %s\n", left, rows[i].help);
    }
    printf("\nAccounts: AZURITE_ACCOUNTS=\"name:key1[:key2];...\" in the environment; without it "
           "devstoreaccount1.\n"
           "Called azurite, azurite-blob, azurite-queue or azurite-table, it does what Azurite's "
           "commands do; azurite-file serves files alone, azurite when --fileHost or --filePort is "
           "given.\n");
}

/* Azurite's: a number, also with a fraction. */
static enum options_result check_memory_limit(const char *value)
{
    char *end = NULL;
    double limit = strtod(value, &end);

    if (end == value || *end || !(limit >= 0)) {
        fprintf(stderr, "lagra: --extentMemoryLimit takes a number, not \"%s\"\n", value);
        return OPTIONS_WRONG;
    }
    fprintf(stderr, "lagra: --extentMemoryLimit has no effect: nothing but the machine limits the "
                    "memory of --inMemoryPersistence\n");
    return OPTIONS_RUN;
}

static enum options_result apply(const struct option_row *row, const char *value,
                                 struct options *options)
{
    char *member = (char *)options + row->offset;
    uint64_t number;

    switch (row->action) {
    case SET_TEXT:
        memcpy(member, &value, sizeof value);
        return OPTIONS_RUN;
    case SET_PORT:
        if (!bytes_parse_u64(bytes_from_string(value), UINT16_MAX, &number)) {
            fprintf(stderr, "lagra: --%s takes a port number, not \"%s\"\n", row->name, value);
            return OPTIONS_WRONG;
        }
        *(uint16_t *)(void *)member = (uint16_t)number;
        return OPTIONS_RUN;
    case SET_COUNT:
        if (!bytes_parse_u64(bytes_from_string(value), COUNT_MAX, &number) || number == 0) {
            fprintf(stderr, "lagra: --%s takes a number from 1 to %u, not \"%s\"\n", row->name,
                    COUNT_MAX, value);
            return OPTIONS_WRONG;
        }
        *(unsigned *)(void *)member = (unsigned)number;
        return OPTIONS_RUN;
    case SET_ADDRESSES:
        if (addresses_parse(bytes_from_string(value), (struct address_list *)(void *)member))
            return OPTIONS_RUN;
        fprintf(stderr,
                "lagra: --%s takes addresses and CIDR blocks with commas between, not \"%s\"\n",
                row->name, value);
        return OPTIONS_WRONG;
    case SET_TRUE:
    case SET_FALSE:
        *(bool *)(void *)member = row->action == SET_TRUE;
        return OPTIONS_RUN;
    case IGNORE:
        return OPTIONS_RUN;
    case MEMORY_LIMIT:
        return check_memory_limit(value);
    case OAUTH:
        *(bool *)(void *)member = true;
        if (strcmp(value, "basic") == 0)
            return OPTIONS_RUN;
        fprintf(stderr, "lagra: --oauth takes basic, not \"%s\"\n", value);
        return OPTIONS_WRONG;
    case HELP:
        option_rows_print_help();
        return OPTIONS_DONE;
    case VERSION:
        printf(LAGRA_VERSION "\n");
        return OPTIONS_DONE;
    }
    return OPTIONS_WRONG;
}

static void fill_getopt(struct option longs[ROWS + 1], char shorts[2 * ROWS + 3])
{
    size_t n = 0;

    shorts[n++] = ':'; /* a value that is missing is a case of its own */
    for (size_t i = 0; i < ROWS; i++) {
        longs[i] = (struct option){ .name = rows[i].name,
                                    .has_arg = rows[i].value ? required_argument : no_argument,
                                    .val = ROW_FIRST + (int)i };
        if (!rows[i].letter)
            continue;
        shorts[n++] = rows[i].letter;
        if (rows[i].value)
            shorts[n++] = ':';
    }
    longs[ROWS] = (struct option){ .name = NULL };
    shorts[n] = '\0';
}

/* NULL: none has it. */
static const struct option_row *row_of(int got)
{
    if (got >= ROW_FIRST)
        return &rows[got - ROW_FIRST];
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].letter && rows[i].letter == got)
            return &rows[i];
    }
    return NULL;
}

/* ---- what is no option ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* How many characters must be put in, left out or exchanged to make the one of the other, whatever
 * their case: Levenshtein's distance, row by row. `a` has at most WORD_MAX characters. */
#define WORD_MAX 63u
static unsigned distance(struct bytes a, struct bytes b)
{
    unsigned row[WORD_MAX + 1];

    for (unsigned i = 0; i <= a.len; i++)
        row[i] = i;
    for (size_t j = 0; j < b.len; j++) {
        unsigned above_left = row[0]++;

        for (size_t i = 0; i < a.len; i++) {
            unsigned exchanged = above_left + (lower(a.ptr[i]) != lower(b.ptr[j]));
            unsigned least = row[i] < row[i + 1] ? row[i] + 1 : row[i + 1] + 1;

            above_left = row[i + 1];
            row[i + 1] = exchanged < least ? exchanged : least;
        }
    }
    return row[a.len];
}

/* The name that is like the word; NULL: none is. */
static const char *nearest_option(struct bytes word)
{
    unsigned least = (unsigned)word.len / 3 + 2;
    const char *nearest = NULL;

    for (size_t i = 0; i < ROWS && word.len <= WORD_MAX; i++) {
        unsigned d = distance(word, bytes_from_string(rows[i].name));

        if (d < least) {
            least = d;
            nearest = rows[i].name;
        }
    }
    return nearest;
}

static const char *nearest_command(struct bytes word)
{
    static const char *const commands[] = { "operations", "errors", "health", "check" };

    for (size_t i = 0; i < sizeof commands / sizeof commands[0] && word.len <= WORD_MAX; i++) {
        if (distance(word, bytes_from_string(commands[i])) <= 2)
            return commands[i];
    }
    return NULL;
}

/* A word of the command line that is nothing. */
static enum options_result refuse_word(const char *word)
{
    bool is_long = strncmp(word, "--", 2) == 0;
    struct bytes name, value;
    const char *nearest;

    bytes_cut(bytes_from_string(is_long ? word + 2 : word), '=', &name, &value);
    nearest = is_long ? nearest_option(name) : nearest_command(name);
    fprintf(stderr, "lagra: \"%s\" is not an option", word);
    if (nearest)
        fprintf(stderr, "; did you mean %s%s?", is_long ? "--" : "lagra ", nearest);
    fprintf(stderr, "%s See lagra --help\n", nearest ? "" : ".");
    return OPTIONS_WRONG;
}

/* What getopt_long() did not take: optopt as it left it, the word that it read. */
static enum options_result refuse_option(const char *word)
{
    const struct option_row *row = row_of(optopt);
    struct bytes name, value;
    size_t begun = 0;

    if (row)
        fprintf(stderr, "lagra: --%s takes %s. See lagra --help\n", row->name,
                row->value ? row->value : "no value");
    else if (optopt)
        fprintf(stderr, "lagra: \"-%c\" is not an option. See lagra --help\n", optopt);
    if (optopt)
        return OPTIONS_WRONG;
    bytes_cut(bytes_from_string(word + 2), '=', &name, &value);
    for (size_t i = 0; i < ROWS; i++)
        begun += bytes_has_prefix(bytes_from_string(rows[i].name), name);
    if (begun == 0)
        return refuse_word(word);
    fprintf(stderr, "lagra: \"--%.*s\" begins several options. See lagra --help\n",
            BYTES_ARG(name));
    return OPTIONS_WRONG;
}

/* ---- reading ---- */

/* The service that the option is about; SERVICE_COUNT: all of them. */
static size_t service_of(const struct option_row *row)
{
    size_t first = offsetof(struct options, listen);
    size_t size = sizeof(struct listen_options);

    return row->offset >= first && row->offset < first + SERVICE_COUNT * size
               ? (row->offset - first) / size
               : SERVICE_COUNT;
}

enum options_result option_rows_parse(int argc, char **argv, struct options *options,
                                      bool ret_named[SERVICE_COUNT + 1])
{
    struct option longs[ROWS + 1];
    char shorts[2 * ROWS + 3];
    int got;

    fill_getopt(longs, shorts);
    opterr = 0; /* it knows no nearest name */
    while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct option_row *row = row_of(got);
        enum options_result result =
            row ? apply(row, optarg, options) : refuse_option(argv[optind - 1]);

        if (result)
            return result;
        ret_named[service_of(row)] = true;
    }
    return optind < argc ? refuse_word(argv[optind]) : OPTIONS_RUN;
}
