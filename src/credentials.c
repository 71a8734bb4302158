/* Accounts and tokens by the options: see credentials.h. */
#include "credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

/* Certificates, keys, lists of accounts, keys and roles. */
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
    } else if (length == FILE_MAX_BYTES) {
        fprintf(stderr, "lagra: %s is longer than 8 MiB\n", path);
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

/* ---- accounts ---- */

/* Everybody knows the development key: it opens nothing beyond this machine unless told to. */
static bool add_development(const struct options *options, bool loopback, struct accounts *accounts)
{
    if (!loopback && !options->allow_development_account) {
        fprintf(stderr,
                "lagra: on an address other than loopback, name your accounts in AZURITE_ACCOUNTS "
                "(\"name:key\"),\n"
                "       or serve " DEVELOPMENT_ACCOUNT
                " with its published key by --allowDevelopmentAccount\n");
        return false;
    }
    /* decision: 175 */
    if (!loopback && options->is_azurite)
        fprintf(stderr, "lagra: as Azurite does, " DEVELOPMENT_ACCOUNT
                        " is served with its published key beyond this machine\n");
    accounts_add_development(accounts);
    return true;
}

/* Of the file, else of the environment, else the development account. */
static bool open_accounts(const struct options *options, bool loopback, struct accounts *accounts)
{
    const char *list = getenv("AZURITE_ACCOUNTS");
    const char *problem = NULL;
    char *text = NULL;
    bool added;

    if (options->accounts_path) {
        text = read_small_file(options->accounts_path);
        if (!text)
            return false;
    } else if (!list || !*list) {
        return add_development(options, loopback, accounts);
    }
    added = accounts_add_list(accounts, text ? text : list, &problem);
    free_secret(text);
    if (!added)
        fprintf(stderr, "lagra: %s: %s\n",
                options->accounts_path ? options->accounts_path : "AZURITE_ACCOUNTS", problem);
    return added;
}

/* ---- tokens ---- */

/* NULL after saying why; *ret_wanted: tokens are to be taken at all. */
static struct trust *make_trust(const struct options *options)
{
    struct trust_options wanted = { .basic = options->oauth_basic,
                                    .issuer = options->oauth_issuer,
                                    .audience = options->oauth_audience };
    char *keys = NULL, *roles = NULL;
    const char *problem = "";
    struct trust *trust = NULL;
    bool are_read = true;

    if (options->oauth_keys_path) {
        keys = read_small_file(options->oauth_keys_path);
        are_read = keys;
        wanted.keys = bytes_from_string(keys);
    }
    if (are_read && options->oauth_roles_path) {
        roles = read_small_file(options->oauth_roles_path);
        are_read = roles;
        wanted.roles = bytes_from_string(roles);
    }
    if (are_read) {
        trust = trust_new(&wanted, &problem);
        if (!trust)
            fprintf(stderr, "lagra: --oauthKeys or --oauthRoles: %s\n", problem);
    }
    free(keys);
    free(roles);
    return trust;
}

static bool wants_trust(const struct options *options)
{
    return options->oauth_basic || options->oauth_issuer;
}

/* ---- both ---- */

bool credentials_open(const struct options *options, bool loopback,
                      struct credentials *ret_credentials)
{
    ret_credentials->accounts = accounts_new();
    if (!open_accounts(options, loopback, ret_credentials->accounts))
        return false;
    if (wants_trust(options)) {
        struct trust *trust = make_trust(options);

        if (!trust)
            return false;
        ret_credentials->trust = trust_holder_new(trust);
    }
    return true;
}

void credentials_reload(const struct options *options, struct credentials *credentials)
{
    const char *problem = NULL;

    if (options->accounts_path) {
        char *text = read_small_file(options->accounts_path);

        if (text && accounts_replace(credentials->accounts, text, &problem))
            log_line(LOG_INFO, "accounts and keys were read again");
        else
            log_line(LOG_WARN, "accounts and keys stay as they were: %s",
                     problem ? problem : "their file cannot be read");
        free_secret(text);
    }
    if (credentials->trust) {
        struct trust *trust = make_trust(options);

        if (trust)
            trust_replace(credentials->trust, trust);
        log_line(trust ? LOG_INFO : LOG_WARN, "keys and roles of bearer tokens %s",
                 trust ? "were read again" : "stay as they were");
    }
}

void credentials_close(struct credentials *credentials)
{
    accounts_free(credentials->accounts);
    trust_holder_free(credentials->trust);
}
