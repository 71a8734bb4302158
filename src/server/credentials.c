/* Accounts and bearer tokens: see credentials.h. */
#include "server/credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "admin/account_kinds.h"
#include "admin/stored_accounts.h"
#include "admin/stored_scopes.h"
#include "auth/account_limits.h"
#include "base/log.h"
#include "observe/access_log.h"
#include "store/keyring.h"

/* Maximum size of a file with certificates, keys, accounts or roles. */
#define FILE_MAX_BYTES (8u << 20)

char *read_small_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t length = 0;

    if (file) {
        text = xcalloc(1, FILE_MAX_BYTES);
        length = fread(text, 1, FILE_MAX_BYTES, file);
    }
    if (!file || ferror(file)) {
        fprintf(stderr, "lagra: cannot read %s: %s\n", path, strerror(errno));
        free(text);
        text = NULL;
    } else if (length == FILE_MAX_BYTES || memchr(text, '\0', length)) {
        fprintf(stderr, "lagra: %s is %s\n", path,
                length == FILE_MAX_BYTES ? "longer than 8 MiB"
                                         : "not a text file (it contains NUL)");
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

char *read_small_line(const char *path)
{
    char *text = read_small_file(path);

    if (text) {
        size_t length = strcspn(text, "\r\n");

        explicit_bzero(text + length, strlen(text + length));
    }
    return text;
}

void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

/* ---- accounts ---- */

/* Adds the development account. Its key is public, so it is confined to loopback unless an option
 * allows more. Returns false after printing the reason. */
static bool add_development(const struct options *options, bool loopback, struct accounts *accounts)
{
    if (!loopback && !options->allow_development_account) {
        fprintf(stderr,
                "lagra: on an address other than loopback, name your accounts in AZURITE_ACCOUNTS "
                "(\"name:key\"),\n"
                "       or accept " DEVELOPMENT_ACCOUNT
                " with its well-known key by --allowDevelopmentAccount\n");
        return false;
    }
    /* decision: 175 */
    if (!loopback && options->is_azurite)
        fprintf(stderr, "lagra: like Azurite, " DEVELOPMENT_ACCOUNT
                        " is accepted with its well-known key on addresses other than loopback\n");
    accounts_add_development(accounts);
    if (!options->allow_development_account)
        accounts_confine_development(accounts);
    return true;
}

/* Reads accounts from the file, else from the environment. *ret_named: true if either exists */
static bool open_accounts(const struct options *options, struct accounts *accounts, bool *ret_named)
{
    const char *list = getenv("AZURITE_ACCOUNTS");
    const char *path = options->accounts_path;
    const char *problem = NULL;
    char *text = path ? read_small_file(path) : NULL;
    bool added = true;

    *ret_named = path || (list && *list);
    if (path && !text)
        added = false;
    else if (*ret_named)
        added = accounts_add_list(accounts, text ? text : list, &problem);
    free_secret(text);
    if (problem)
        fprintf(stderr, "lagra: %s: %s\n", path ? path : "AZURITE_ACCOUNTS", problem);
    return added;
}

/* ---- tokens ---- */

/* Reads an optional file; ret_text->ptr is NULL if no file is named. Returns false after printing
 * why it cannot be read. */
static bool read_named(const char *path, struct bytes *ret_text)
{
    *ret_text = bytes_from_string(path ? read_small_file(path) : NULL);
    return ret_text->ptr || !path;
}

/* Warns of role assignments that grant nothing; they are probably mistakes. */
static void warn_of_unplaced(const struct trust *trust)
{
    size_t count = trust_unplaced(trust);

    if (count > 0)
        log_line(
            LOG_WARN,
            "--oauthRoles: %zu assignments to subscriptions, resource groups or / grant nothing, "
            "because --oauthAccounts places no account there",
            count);
}

/* Returns NULL after printing why. */
static struct trust *make_trust(const struct options *options)
{
    struct trust_options wanted = { .basic = options->oauth_basic,
                                    .is_confined =
                                        options->oauth_basic && !options->allow_unchecked_tokens,
                                    .issuer = options->oauth_issuer,
                                    .audience = options->oauth_audience };
    struct trust_problem problem;
    struct trust *trust = NULL;

    if (read_named(options->oauth_keys_path, &wanted.keys) &&
        read_named(options->oauth_roles_path, &wanted.roles) &&
        read_named(options->oauth_accounts_path, &wanted.accounts)) {
        trust = trust_new(&wanted, &problem);
        if (trust)
            warn_of_unplaced(trust);
        else
            fprintf(stderr, "lagra: %s\n", problem.text);
    }
    free((char *)wanted.keys.ptr);
    free((char *)wanted.roles.ptr);
    free((char *)wanted.accounts.ptr);
    return trust;
}

/* Returns false if unchecked tokens would be accepted from other machines without a second option
 * that confirms it. decision: 252 */
static bool may_be_basic(const struct options *options, bool loopback)
{
    if (!options->oauth_basic || loopback)
        return true;
    if (!options->allow_unchecked_tokens) {
        fprintf(stderr,
                "lagra: on addresses other than loopback, --oauth basic gives everybody full "
                "access: use --oauthIssuer and --oauthKeys,\n"
                "       or confirm with --allowUncheckedTokens\n");
        return false;
    }
    if (options->is_azurite)
        fprintf(stderr,
                "lagra: like Azurite, --oauth basic accepts unchecked tokens on addresses other "
                "than loopback\n");
    return true;
}

static bool wants_trust(const struct options *options)
{
    return options->oauth_basic || options->oauth_issuer;
}

/* ---- both ---- */

static struct account_limits limits_of(const struct options *options)
{
    return (struct account_limits){ {
        [LIMIT_REQUESTS] = options->account_requests,
        [LIMIT_BYTES] = (uint64_t)options->account_bandwidth_mib << 20,
        [LIMIT_CAPACITY] = (uint64_t)options->account_capacity_mib << 20,
        [LIMIT_CONTAINERS] = options->account_containers,
    } };
}

bool credentials_open(const struct options *options, bool loopback,
                      struct credentials *ret_credentials)
{
    struct account_limits limits = limits_of(options);

    ret_credentials->accounts = accounts_new();
    ret_credentials->scopes = encryption_scopes_new();
    accounts_set_limits(ret_credentials->accounts, &limits);
    if (!open_accounts(options, ret_credentials->accounts, &ret_credentials->named))
        return false;
    if (!may_be_basic(options, loopback))
        return false;
    if (wants_trust(options)) {
        struct trust *trust = make_trust(options);

        if (!trust)
            return false;
        ret_credentials->trust = trust_holder_new(trust);
    }
    return true;
}

static bool load_kinds(const struct options *options, struct credentials *credentials)
{
    return account_kinds_load(credentials->store, credentials->accounts, options->seed.hierarchical,
                              !credentials->follows_root);
}

bool credentials_open_stored(const struct options *options, bool loopback, struct store *store,
                             bool follows_root, struct credentials *credentials)
{
    const char *problem = NULL;
    size_t count = 0;

    credentials->store = store;
    credentials->follows_root = follows_root;

    if (!stored_accounts_load(store, credentials->accounts, &count, &problem)) {
        fprintf(stderr, "lagra: %s\n", problem);
        return false;
    }
    encryption_scopes_set_keys(credentials->scopes, store_keyring(store));
    if (!stored_scopes_load(store, credentials->scopes)) {
        fprintf(stderr, "lagra: stored encryption scopes cannot be read\n");
        return false;
    }
    /* beyond loopback, stored accounts replace the development account */
    if (!credentials->named && (count == 0 || loopback || options->allow_development_account) &&
        !add_development(options, loopback, credentials->accounts))
        return false;
    return load_kinds(options, credentials);
}

bool credentials_stand_by(const struct options *options, bool loopback,
                          struct credentials *credentials)
{
    if (credentials->named || (!loopback && !options->allow_development_account))
        return true;
    credentials->named = true;
    return add_development(options, loopback, credentials->accounts);
}

static void note_change(const char *what)
{
    log_line(LOG_INFO, "%s", what);
    audit_note(what, bytes_of(NULL, 0));
}

void credentials_reload(const struct options *options, struct credentials *credentials)
{
    const char *problem = NULL;
    const char *path = options->accounts_path;

    if (path) {
        char *text = read_small_file(path);

        if (text && accounts_replace(credentials->accounts, text, &problem))
            note_change("accounts and keys were read again");
        else
            log_line(LOG_WARN, "the previous accounts and keys remain in use: %s",
                     problem ? problem : "their file is not readable");
        free_secret(text);
        if (credentials->store)
            load_kinds(options, credentials);
    }
    if (credentials->trust) {
        struct trust *trust = make_trust(options);

        if (trust)
            trust_replace(credentials->trust, trust);
        if (trust)
            note_change("keys and roles of bearer tokens were read again");
        else
            log_line(LOG_WARN, "the previous keys and roles of bearer tokens remain in use");
    }
}

void credentials_close(struct credentials *credentials)
{
    accounts_free(credentials->accounts);
    encryption_scopes_free(credentials->scopes);
    trust_holder_free(credentials->trust);
}
