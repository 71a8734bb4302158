/* The table of the options: see option_rows.h. */
#include "server/option_rows.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX             1000000u
#define DURATION_MAX_MS       (40u * 86400000)
#define MEMBER(name)          offsetof(struct options, name)
/* Member of the options of one service. */
#define LISTEN(service, name) offsetof(struct options, listen[SERVICE_##service].name)

/* clang-format off */
const struct option_row option_rows[] = {
    { "location",             'l', "DIR",  "data directory (default: the current directory)",            MEMBER(location), SET_TEXT },
    { "blobHost",              0,  "HOST", "address of the Blob service (127.0.0.1)",           LISTEN(BLOB, host), SET_TEXT },
    { "blobPort",              0,  "PORT", "port of the Blob service (10000; 0 means any free port)",                 LISTEN(BLOB, port), SET_PORT },
    { "blobKeepAliveTimeout", 0, "N",  "close idle connections to the Blob service after N seconds (120)", LISTEN(BLOB, keep_alive_s), SET_COUNT },
    { "queueHost",             0,  "HOST", "address of the Queue service (127.0.0.1)",          LISTEN(QUEUE, host), SET_TEXT },
    { "queuePort",             0,  "PORT", "port of the Queue service (10001; 0 means any free port)",                                  LISTEN(QUEUE, port), SET_PORT },
    { "queueKeepAliveTimeout", 0, "N",  "close idle connections to the Queue service after N seconds (120)", LISTEN(QUEUE, keep_alive_s), SET_COUNT },
    { "tableHost",             0,  "HOST", "address of the Table service (127.0.0.1)",          LISTEN(TABLE, host), SET_TEXT },
    { "tablePort",             0,  "PORT", "port of the Table service (10002; 0 means any free port)",                                  LISTEN(TABLE, port), SET_PORT },
    { "tableKeepAliveTimeout", 0, "N",  "close idle connections to the Table service after N seconds (120)", LISTEN(TABLE, keep_alive_s), SET_COUNT },
    { "fileHost",              0,  "HOST", "address of the File service (127.0.0.1)",           LISTEN(FILE, host), SET_TEXT },
    { "filePort",              0,  "PORT", "port of the File service (10003; 0 means any free port)",                                  LISTEN(FILE, port), SET_PORT },
    { "fileKeepAliveTimeout", 0, "N",  "close idle connections to the File service after N seconds (120)", LISTEN(FILE, keep_alive_s), SET_COUNT },
    { "dfsHost", 0, "HOST", "address of the Data Lake Storage (dfs) endpoint (127.0.0.1)",
      LISTEN(DFS, host), SET_TEXT },
    { "dfsPort", 0, "PORT", "port of the Data Lake Storage endpoint (10004; 0 means any free port)",
      LISTEN(DFS, port), SET_PORT },
    { "dfsKeepAliveTimeout", 0, "N",
      "close idle connections to the Data Lake Storage endpoint after N seconds (120)",
      LISTEN(DFS, keep_alive_s), SET_COUNT },
    { "managementPort",        0,  "PORT", "port of /metrics and the web console (10010; 0 disables it; any means any free port)", MEMBER(management), MANAGEMENT_PORT },
    { "managementHost",        0,  "HOST", "address of the management port (127.0.0.1); other addresses need --managementToken", MEMBER(management.host), SET_TEXT },
    { "managementToken",       0,  "FILE", "require the token in FILE at the management port (Authorization: Bearer)", MEMBER(management_token_path), SET_FILE },
    { "managementNames",       0,  "LIST", "comma-separated host names accepted at the management port without TLS, besides localhost and IP addresses", MEMBER(management_names), SET_TEXT },
    { "console",               0,  "MODE", "web console: off; on: if the management port is on loopback or has a certificate; link: like on, and print a sign-in link (on; docs/console.md)", MEMBER(console), CONSOLE },
    { "seed",                  0,  "PATH", "create the data described by a JSON file, or by the files of a directory, before the server is ready (docs/initial-data.md)", MEMBER(seed.path), SET_FILE },
    { "containers",            0,  "LIST", "create these containers (comma-separated names)", MEMBER(seed.containers), SET_TEXT },
    { "queues",                0,  "LIST", "create these queues",                               MEMBER(seed.queues), SET_TEXT },
    { "tables",                0,  "LIST", "create these tables",                               MEMBER(seed.tables), SET_TEXT },
    { "shares",                0,  "LIST", "create these shares",                               MEMBER(seed.shares), SET_TEXT },
    { "hierarchical",          0,  NULL,   "make new accounts hierarchical (Azure Data Lake Storage): those that --seed creates, and configured accounts without containers", MEMBER(seed.hierarchical), SET_TRUE },
    { "testing",               0,  NULL,   "for tests of clients: accept fault rules, clock changes and snapshots at the management port (docs/fault-injection.md)", MEMBER(testing), SET_TRUE },
    { "smbHost",               0,  "HOST", "address of the SMB endpoint of the File service (127.0.0.1); SMB is off unless this or --smbPort is given", MEMBER(smb.host), SET_TEXT },
    { "smbPort",               0,  "PORT", "port of the SMB endpoint (1445)",                                   MEMBER(smb.port), SET_PORT },
    { "smbAllowUnencrypted",   0,  NULL,   "accept SMB clients that do not encrypt, including SMB 2.1", MEMBER(smb_allow_unencrypted), SET_TRUE },
    { "smbEnforceAcls",        0,  NULL,   "check security descriptors: an SMB logon with an account key is an ordinary user, not a superuser", MEMBER(smb_enforce_acls), SET_TRUE },
    { "workers",               0,  "N",    "threads for each service (one per core)",             MEMBER(workers), SET_COUNT },
    { "maxConnections",        0,  "N",    "maximum number of connections for each service (10000)", MEMBER(connections_max), SET_COUNT },
    { "maxConnectionsPerAddress", 0, "N",  "maximum number of connections from one client address",          MEMBER(connections_per_address_max), SET_COUNT },
    { "trustProxy",            0,  "LIST", "addresses and CIDR blocks of proxies whose Forwarded or X-Forwarded-For, -Proto and -Host headers are trusted", MEMBER(proxies.trusted), SET_ADDRESSES },
    { "proxyProtocol",         0,  "LIST", "addresses and CIDR blocks of proxies whose connections start with a PROXY protocol header (version 1 or 2), including connections to SMB", MEMBER(proxies.introducing), SET_ADDRESSES },
    { "diskReserve",           0,  "MIB",  "refuse requests that need space when less than this is free on the disk (640, or a quarter of a small disk; minimum 12)", MEMBER(disk_reserve_mib), SET_COUNT },
    { "stopDelay",             0,  "TIME", "on SIGTERM, continue to serve for this time, such as 5s, but report not ready, so that proxies stop sending (maximum 10m)", MEMBER(stop_delay_ms), SET_DURATION },
    { "keepReading",           0,  NULL,   "continue to serve reads after a disk write or sync has failed (default: exit with code 3)", MEMBER(keep_reading), SET_TRUE },
    { "accountRequests",       0,  "N",    "maximum requests per second for each account (none); lagra account set limits a single account", MEMBER(account_requests), SET_COUNT },
    { "accountBandwidth",      0,  "MIB",  "maximum MiB per second for each account, in each direction (none)",                MEMBER(account_bandwidth_mib), SET_COUNT },
    { "accountCapacity",       0,  "MIB",  "maximum MiB stored per account (default: no limit)",                     MEMBER(account_capacity_mib), SET_COUNT },
    { "accountContainers",     0,  "N",    "maximum number of containers, and likewise of queues, tables and shares, per account (default: no limit)", MEMBER(account_containers), SET_COUNT },
    { "usageEvery",            0,  "TIME", "measure the storage that accounts use at this interval, for metrics and --accountCapacity (15m if either needs it)", MEMBER(usage_every_ms), SET_DURATION },
    { "scrubEvery",            0,  "TIME", "interval between scrubs, such as 7d or 12h (default: scrub only when `lagra scrub` is run)", MEMBER(scrub_every_ms), SET_DURATION },
    { "scrubRate",             0,  "MIB",  "maximum MiB that a scrub reads per second (16)",   MEMBER(scrub_rate_mib), SET_COUNT },
    { "sandbox",               0,  "MODE", "restrict the process to the files and system calls it needs: off; on; log: let the kernel log violations", MEMBER(sandbox), SANDBOX },
    { "rehydrateSeconds",      0,  "N",    "time to rehydrate an archived blob; N/10 seconds with high priority (60)", MEMBER(rehydrate_seconds), SET_COUNT },
    { "cert",                  0,  "FILE", "certificate (PEM) for HTTPS, with --key",        MEMBER(cert_path), SET_FILE },
    { "key",                   0,  "FILE", "private key (PEM) of --cert",                       MEMBER(key_path), SET_FILE },
    { "pwd",                   0,  "TEXT", "password of --cert if it is a PFX file, which includes the key", MEMBER(pfx_password), SET_SECRET },
    { "allowCopyFrom",         0,  "LIST", "addresses and CIDR blocks that copy sources may have, besides public addresses", MEMBER(fetcher.allowed), SET_ADDRESSES },
    { "copySourceCa",          0,  "FILE", "certificate authorities (PEM) trusted for copy sources (the system's)", MEMBER(fetcher.ca_path), SET_FILE },
    { "silent",               's', NULL,   "print nothing except problems",                          MEMBER(silent), SET_TRUE },
    { "debug",                'd', "FILE", "also log every request to FILE, which is reopened on SIGHUP",                 MEMBER(debug_path), SET_LOG },
    { "accessLog",             0,  "FILE", "log every request to FILE as a line of JSON (docs/monitoring.md); reopened on SIGHUP", MEMBER(access_log_path), SET_LOG },
    { "auditLog",              0,  "FILE", "log requests that may change something, and changes of keys, to FILE; reopened on SIGHUP", MEMBER(audit_log_path), SET_LOG },
    { "slow",                  0,  "TIME", "log requests that take longer than this, such as 200ms or 2s, and where the time went", MEMBER(slow_ms), SET_DURATION },
    { "analyticsEvery",        0,  "TIME", "interval at which Storage Analytics logs and metrics are written, if an account enables them: 1s to 1h (1m)", MEMBER(analytics_every_ms), SET_DURATION },
    { "loose",                'L', NULL,   "ignore unsupported headers and parameters", MEMBER(loose), SET_TRUE },
    { "skipApiVersionCheck",   0,  NULL,   "accept any x-ms-version",                   MEMBER(skip_version_check), SET_TRUE },
    { "inMemoryPersistence",   0,  NULL,   "keep all data in memory, and nothing on disk",                          MEMBER(in_memory), SET_TRUE },
    { "secondaryLag",          0,  "TIME", "the -secondary endpoints show the data as it was this long ago, such as 5s (default: current data)", MEMBER(secondary_lag_ms), SET_DURATION },
    { "cluster",               0,  "DIR",  "own a cell of the cluster in DIR, a directory on a shared file system, or stand by for one (docs/cells.md)", MEMBER(cluster), SET_TEXT },
    { "cell",                  0,  "N",    "number of the cell to own, with --cluster (any free cell)", MEMBER(cell), SET_COUNT },
    { "clusterHost",           0,  "IP",   "with --cluster, address at which other front ends reach this one (127.0.0.1)", MEMBER(internal.host), SET_TEXT },
    { "clusterPort",           0,  "PORT", "with --cluster, port at which other front ends reach this one (10020; 0 means any free port)",                 MEMBER(internal.port), SET_PORT },
    { "smbReferralHost",       0,  "HOST", "with --cluster, name or IPv4 address of this front end to which SMB clients of other front ends are referred (--smbHost, or the machine's name)", MEMBER(smb_referral_host), SET_TEXT },
    { "fenceCommand",          0,  "FILE", "with --cluster, program that fences an unresponsive owner, such as lagra-fence-cephfs (default: wait for the file system's session timeout)", MEMBER(fence_command), SET_TEXT },
    { "extentMemoryLimit",     0,  "MIB",  "accepted for compatibility with Azurite; --inMemoryPersistence has no memory limit", 0, MEMORY_LIMIT },
    { "disableProductStyleUrl", 0, NULL,   "accept the account name only in the path, not in the host name", MEMBER(product_style_url), SET_FALSE },
    { "allowDevelopmentAccount", 0, NULL,  "accept devstoreaccount1 with its well-known key on addresses other than loopback", MEMBER(allow_development_account), SET_TRUE },
    { "oauth",                 0,  "basic", "accept bearer tokens after checking only their claims, for development (HTTPS)", MEMBER(oauth_basic), OAUTH },
    { "allowUncheckedTokens",  0,  NULL,   "accept the tokens of --oauth basic on addresses other than loopback; every client that can connect then has full access", MEMBER(allow_unchecked_tokens), SET_TRUE },
    { "oauthIssuer",           0,  "URL",  "accept bearer tokens of this issuer (iss), with --oauthKeys (HTTPS)", MEMBER(oauth_issuer), SET_TEXT },
    { "oauthKeys",             0,  "FILE", "public keys of the issuer (JSON Web Key Set); reread on SIGHUP", MEMBER(oauth_keys_path), SET_FILE },
    { "oauthAudience",         0,  "TEXT", "also accept tokens for this audience (aud), besides Azure's", MEMBER(oauth_audience), SET_TEXT },
    { "oauthRoles",            0,  "FILE", "role assignments, as printed by az role assignment list; reread on SIGHUP", MEMBER(oauth_roles_path), SET_FILE },
    { "oauthAccounts",         0,  "FILE", "subscriptions and resource groups of accounts, as printed by az storage account list; reread on SIGHUP", MEMBER(oauth_accounts_path), SET_FILE },
    { "accountsFile",          0,  "FILE", "accounts in the format of AZURITE_ACCOUNTS, or one per line; reread on SIGHUP", MEMBER(accounts_path), SET_FILE },
    { "encryptionKey",         0,  "FILE", "encrypt a new data directory at rest with keys that the key in FILE protects, and open it with it (docs/encryption.md)", MEMBER(encryption_key_path), SET_FILE },
    { "disallowPublicAccess",  0,  NULL,   "allow no public access to any container", MEMBER(no_public_access), SET_TRUE },
    { "disableTelemetry",      0,  NULL,   "accepted for compatibility with Azurite; Lagra has no telemetry", 0, IGNORE },
    { "config",                0,  "FILE", "also read options from FILE, one NAME = VALUE per line; overridden by LAGRA_NAME in the environment and by the command line", MEMBER(config_path), CONFIG },
    { "help",                 'h', NULL,   "print this help",                                         0, HELP },
    { "version",              'v', NULL,   "print the version",                                       0, VERSION },
};
/* clang-format on */
const size_t option_row_count = sizeof option_rows / sizeof option_rows[0];
_Static_assert(sizeof option_rows / sizeof option_rows[0] <= OPTION_ROWS_MAX,
               "fits in a table of options");

/* ---- names ---- */

const struct option_row *option_row_find(struct bytes name)
{
    for (size_t i = 0; i < option_row_count; i++) {
        if (bytes_is(name, option_rows[i].name))
            return &option_rows[i];
    }
    return NULL;
}

size_t option_row_service(const struct option_row *row)
{
    size_t first = offsetof(struct options, listen);
    size_t size = sizeof(struct listen_options);

    return row->offset >= first && row->offset < first + SERVICE_COUNT * size
               ? (row->offset - first) / size
               : SERVICE_COUNT;
}

bool option_row_is_setting(const struct option_row *row)
{
    return row->action != HELP && row->action != VERSION;
}

/* ---- values ---- */

const char *const console_modes[] = {
    [CONSOLE_OFF] = "off", [CONSOLE_ON] = "on", [CONSOLE_LINK] = "link"
};

/* Accepts a number of 0 or more, with or without a fraction, like Azurite. */
static enum options_result check_memory_limit(const char *value, const char *named)
{
    char *end = NULL;
    double limit = strtod(value, &end);

    if (end == value || *end || !(limit >= 0)) {
        fprintf(stderr, "lagra: %s takes a number of 0 or more, not \"%s\"\n", named, value);
        return OPTIONS_WRONG;
    }
    fprintf(stderr, "lagra: %s has no effect: --inMemoryPersistence has no memory limit\n", named);
    return OPTIONS_RUN;
}

static enum options_result refuse_value(const char *named, const char *takes, const char *value)
{
    fprintf(stderr, "lagra: %s takes %s, not \"%s\"\n", named, takes, value);
    return OPTIONS_WRONG;
}

/* Sets a switch; without a value (on the command line) it is on. */
static enum options_result apply_switch(const struct option_row *row, const char *value,
                                        const char *named, bool *member)
{
    bool is_on = !value || strcmp(value, "true") == 0;

    if (!is_on && strcmp(value, "false") != 0)
        return refuse_value(named, "true or false", value);
    if (row->action != IGNORE)
        *member = is_on == (row->action == SET_TRUE);
    return OPTIONS_RUN;
}

static enum options_result apply_number(const struct option_row *row, const char *value,
                                        const char *named, char *member)
{
    bool is_port = row->action == SET_PORT;
    char takes[48];
    uint64_t number;

    if (bytes_parse_u64(bytes_from_string(value), is_port ? UINT16_MAX : COUNT_MAX, &number) &&
        (is_port || number > 0)) {
        if (is_port)
            *(uint16_t *)(void *)member = (uint16_t)number;
        else
            *(unsigned *)(void *)member = (unsigned)number;
        return OPTIONS_RUN;
    }
    snprintf(takes, sizeof takes, "a number from 1 to %u", COUNT_MAX);
    return refuse_value(named, is_port ? "a port number from 0 to 65535" : takes, value);
}

static enum options_result apply_management_port(const char *value, const char *named,
                                                 struct listen_options *member)
{
    uint64_t number = 0;
    bool is_any = strcmp(value, "any") == 0;

    if (!is_any && !bytes_parse_u64(bytes_from_string(value), UINT16_MAX, &number))
        return refuse_value(named, "a port number from 0 to 65535, or any", value);
    member->port = (uint16_t)number;
    member->wanted = is_any || number > 0;
    return OPTIONS_RUN;
}

/* Finds a mode by its name. */
static bool find_mode(const char *const modes[3], const char *value, int *ret_mode)
{
    for (int i = 0; i < 3; i++) {
        if (strcmp(value, modes[i]) != 0)
            continue;
        *ret_mode = i;
        return true;
    }
    return false;
}

static enum options_result apply_sandbox(const char *value, const char *named,
                                         enum sandbox_mode *member)
{
    static const char *const modes[] = {
        [SANDBOX_OFF] = "off", [SANDBOX_LOG] = "log", [SANDBOX_ON] = "on"
    };
    int mode;

    if (!find_mode(modes, value, &mode))
        return refuse_value(named, "off, log or on", value);
    *member = (enum sandbox_mode)mode;
    return OPTIONS_RUN;
}

static enum options_result apply_console(const char *value, const char *named,
                                         enum console_mode *member)
{
    int mode;

    if (!find_mode(console_modes, value, &mode))
        return refuse_value(named, "on, off or link", value);
    *member = (enum console_mode)mode;
    return OPTIONS_RUN;
}

/* Parses a number with its unit. */
static enum options_result apply_duration(const char *value, const char *named, unsigned *member)
{
    static const struct {
        const char *name;
        unsigned ms;
    } units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };
    size_t digits = strspn(value, "0123456789");
    uint64_t number;

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(value + digits, units[i].name) != 0 ||
            !bytes_parse_u64(bytes_of(value, digits), DURATION_MAX_MS / units[i].ms, &number) ||
            number == 0)
            continue;
        *member = (unsigned)number * units[i].ms;
        return OPTIONS_RUN;
    }
    return refuse_value(named, "a time from 1ms to 40d, such as 200ms, 2s, 12h or 7d", value);
}

enum options_result option_row_apply(const struct option_row *row, const char *value,
                                     const char *named, struct options *options)
{
    char *member = (char *)options + row->offset;

    switch (row->action) {
    case SET_TEXT:
    case SET_FILE:
    case SET_LOG:
    case SET_SECRET:
    case CONFIG:
        memcpy(member, &value, sizeof value);
        return OPTIONS_RUN;
    case SET_PORT:
    case SET_COUNT:
        return apply_number(row, value, named, member);
    case MANAGEMENT_PORT:
        return apply_management_port(value, named, (struct listen_options *)(void *)member);
    case SET_DURATION:
        return apply_duration(value, named, (unsigned *)(void *)member);
    case SET_ADDRESSES:
        if (address_list_parse(bytes_from_string(value), (struct address_list *)(void *)member))
            return OPTIONS_RUN;
        return refuse_value(named, "comma-separated addresses and CIDR blocks", value);
    case SET_TRUE:
    case SET_FALSE:
    case IGNORE:
        return apply_switch(row, value, named, (bool *)(void *)member);
    case MEMORY_LIMIT:
        return check_memory_limit(value, named);
    case OAUTH:
        *(bool *)(void *)member = true;
        return strcmp(value, "basic") == 0 ? OPTIONS_RUN : refuse_value(named, "basic", value);
    case SANDBOX:
        return apply_sandbox(value, named, (enum sandbox_mode *)(void *)member);
    case CONSOLE:
        return apply_console(value, named, (enum console_mode *)(void *)member);
    case HELP:
    case VERSION:
        break;
    }
    return OPTIONS_WRONG;
}

/* Names other than "localhost" can resolve to any address. */
bool host_is_loopback(const char *host)
{
    struct in_addr address;

    if (inet_aton(host, &address) != 0)
        return ntohl(address.s_addr) >> 24 == 127;
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

bool options_are_loopback(const struct options *options)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        if (options->listen[i].wanted && !host_is_loopback(options->listen[i].host))
            return false;
    }
    return !options->smb.wanted || host_is_loopback(options->smb.host);
}
