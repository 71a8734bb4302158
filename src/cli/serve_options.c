/* Reads and checks the options of a server; see serve_options.h. */
#include "cli/serve_options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/owner_record.h"

/* Returns true if requests can arrive over TLS, directly or through a proxy. */
static bool may_be_secure(const struct options *options)
{
    return options->cert_path || options->proxies.trusted.count > 0 ||
           options->proxies.introducing.count > 0;
}

/* Refuses combinations that would cause failures only when clients connect. */
static enum options_result check_oauth(const struct options *options)
{
    bool uses_keys = options->oauth_issuer || options->oauth_keys_path || options->oauth_audience ||
                     options->oauth_roles_path || options->oauth_accounts_path;
    const char *problem = NULL;

    if (uses_keys && (!options->oauth_issuer || !options->oauth_keys_path))
        problem = "--oauthIssuer and --oauthKeys require each other; the other --oauth.. options "
                  "require both";
    else if (uses_keys && options->oauth_basic)
        problem = "--oauth basic checks no signatures; omit --oauthIssuer and --oauthKeys";
    else if ((uses_keys || options->oauth_basic) && !may_be_secure(options) && !options->is_azurite)
        problem =
            "bearer tokens are accepted only over HTTPS; specify --cert and --key, or --trustProxy";
    if (!problem)
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: %s\n", problem);
    return OPTIONS_WRONG;
}

/* Checks the range of a time; 0 means that it was not given. */
static enum options_result check_time(const char *option, unsigned ms, unsigned least_ms,
                                      unsigned most_ms, const char *says)
{
    if (ms == 0 || (ms >= least_ms && ms <= most_ms))
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --%s takes %s\n", option, says);
    return OPTIONS_WRONG;
}

static enum options_result check_times(const struct options *options)
{
    enum options_result result =
        check_time("analyticsEvery", options->analytics_every_ms, 1000, 3600000, "1s to 1h");

    return result ? result
                  : check_time("stopDelay", options->stop_delay_ms, 1, 600000, "1ms to 10m");
}

static enum options_result check_certificate(const struct options *options)
{
    if (options->cert_path ? options->key_path || options->pfx_password
                           : !options->key_path && !options->pfx_password)
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --cert requires --key (PEM) or --pwd (PFX)\n");
    return OPTIONS_WRONG;
}

/* Checks the address that other front ends connect to. */
static enum options_result check_internal(const struct options *options)
{
    static const uint8_t any_v6[ADDRESS_SIZE];
    uint8_t address[ADDRESS_SIZE], any_v4[ADDRESS_SIZE];
    const char *host = options->internal.host;

    address_from_v4(any_v6, any_v4);
    if (address_parse(bytes_from_string(host), address) &&
        memcmp(address, any_v4, sizeof address) != 0 &&
        memcmp(address, any_v6, sizeof address) != 0)
        return OPTIONS_RUN;
    fprintf(
        stderr,
        "lagra: --clusterHost requires an IP address that other machines can reach, not \"%s\"\n",
        host);
    return OPTIONS_WRONG;
}

/* Checks the host name that SMB referrals to this front end contain. */
static bool check_referral_host(const char *host)
{
    if (!host || (host[0] && owner_smb_is_valid(host)))
        return true;
    fprintf(stderr,
            "lagra: --smbReferralHost requires a host name or an IPv4 address, not \"%s\"\n", host);
    return false;
}

/* Refuses options that conflict with --cluster, because a front end may have to terminate at any
 * time, and has no data directory until it owns a cell. */
static enum options_result check_cluster(const struct option_settings *settings,
                                         const struct options *options)
{
    static const char *const others[] = { "location", "inMemoryPersistence", "keepReading" };
    const char *other = NULL;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (settings_have(settings, others[i]))
            other = others[i];
    if (options->cluster && other) {
        fprintf(stderr, "lagra: --cluster and --%s cannot be combined\n", other);
        return OPTIONS_WRONG;
    }
    if (options->cluster)
        return check_referral_host(options->smb_referral_host) ? check_internal(options)
                                                               : OPTIONS_WRONG;
    if (options->cell == 0 && !options->fence_command && !options->smb_referral_host &&
        !settings_have(settings, "clusterHost") && !settings_have(settings, "clusterPort"))
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --cell, --fenceCommand, --clusterHost, --clusterPort and "
                    "--smbReferralHost require --cluster\n");
    return OPTIONS_WRONG;
}

/* Under the name `azurite`, serves files and the dfs endpoint only if options request it. Scripts
 * that start several Azurites reserve three ports for each, so a fourth one would collide.
 * decision: 320 */
static void omit_services(struct options *options, const struct option_settings *settings)
{
    static const enum service_index more[] = { SERVICE_FILE, SERVICE_DFS };

    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (options->is_azurite && options->listen[SERVICE_BLOB].wanted &&
            options->listen[SERVICE_QUEUE].wanted)
            options->listen[more[i]].wanted = settings_name_service(settings, more[i], ORIGIN_FILE);
    /* Several servers may run on one machine with only the ports of the other services specified,
     * so this port may be in use. decision: 1206 */
    options->listen[SERVICE_DFS].is_optional =
        !settings_name_service(settings, SERVICE_DFS, ORIGIN_FILE);
}

enum options_result serve_options_read(int argc, char **argv, struct option_settings *settings,
                                       struct options *options)
{
    enum options_result result = settings_read_words(settings, argc, argv);

    if (!result)
        result = settings_read_elsewhere(settings);
    return result ? result : settings_apply(settings, options);
}

/* Checks the options of the management port. If none of them is given, the server starts even if
 * the port is in use. decision: 923 */
static enum options_result check_management(const struct option_settings *settings,
                                            struct options *options)
{
    bool has_others = settings_have(settings, "managementHost") ||
                      settings_have(settings, "managementToken") ||
                      settings_have(settings, "managementNames") || options->testing;

    options->management_is_optional = !has_others && !settings_have(settings, "managementPort");
    if (options->management.wanted || !has_others)
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --managementHost, --managementToken, --managementNames and --testing "
                    "require --managementPort\n");
    return OPTIONS_WRONG;
}

/* Uses systemd's credential of this name (LoadCredential=NAME:FILE) unless an option specifies a
 * file. path: buffer for the credential's path. man: systemd.exec(5) */
static void find_credential(const char *name, char path[PATH_MAX], const char **option)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");

    if (*option || !folder || snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX ||
        access(path, F_OK) != 0)
        return;
    *option = path;
}

static void find_credentials(struct options *options)
{
    static char accounts[PATH_MAX], encryption_key[PATH_MAX];

    find_credential("accounts", accounts, &options->accounts_path);
    if (!options->in_memory)
        find_credential("encryptionKey", encryption_key, &options->encryption_key_path);
}

static enum options_result check_encryption(const struct options *options)
{
    if (!options->encryption_key_path || !options->in_memory)
        return OPTIONS_RUN;
    fprintf(stderr, "lagra: --encryptionKey has no effect with --inMemoryPersistence, which stores "
                    "nothing on disk\n");
    return OPTIONS_WRONG;
}

enum options_result serve_options_read_checked(const char *name, int argc, char **argv,
                                               struct option_settings *settings,
                                               struct options *options)
{
    enum options_result result = serve_options_read(argc, argv, settings, options);

    find_credentials(options);
    for (size_t i = 0; i < SERVICE_COUNT && !result; i++) {
        if (settings_name_service(settings, i, ORIGIN_COMMAND_LINE) && !options->listen[i].wanted) {
            fprintf(stderr, "lagra: %s serves a single service and accepts no options of others\n",
                    name);
            result = OPTIONS_WRONG;
        }
    }
    omit_services(options, settings);
    options->smb.wanted = settings_have(settings, "smbHost") || settings_have(settings, "smbPort");
    if (!result)
        result = check_management(settings, options);
    if (!result)
        result = check_cluster(settings, options);
    if (!result)
        result = check_times(options);
    if (!result)
        result = check_certificate(options);
    if (!result)
        result = check_encryption(options);
    return result ? result : check_oauth(options);
}
