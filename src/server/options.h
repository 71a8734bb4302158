/* Commands and options: Azurite's options where they apply, and a few of our own; from the command line, the
 * environment and a configuration file (option_sources.h). The name of the
 * command counts too: as azurite, azurite-blob, azurite-queue or azurite-table it does what
 * Azurite's command of that name does; azurite-file is the same of a service that Azurite does not have. */
#ifndef LAGRA_SERVER_OPTIONS_H
#define LAGRA_SERVER_OPTIONS_H

#include "base/json.h"
#include "fetch/fetch.h"
#include "net/net.h"
#include "seed/seed.h"

enum service_index { SERVICE_BLOB, SERVICE_QUEUE, SERVICE_TABLE, SERVICE_FILE, SERVICE_COUNT };

struct listen_options {
    const char *host;
    uint16_t port;
    unsigned keep_alive_s; /* an idle connection stays open so long; 0: the default */
    bool wanted;           /* served; of COMMAND_HEALTH: asked */
};

enum sandbox_mode { SANDBOX_OFF, SANDBOX_LOG, SANDBOX_ON };
enum console_mode {
    CONSOLE_OFF,
    CONSOLE_ON,
    CONSOLE_LINK, /* and a link that signs in is printed when the server has started */
};

struct options {
    const char *config_path;                /* NULL: no file */
    const struct option_settings *settings; /* where they were set */
    /* Writes all of them as settings_write() does; of a server that is to be started. */
    void (*write)(const void *options, struct json_writer *to);
    const char *location; /* the data folder */
    struct listen_options listen[SERVICE_COUNT];
    struct listen_options management; /* admin/management.h */
    bool management_is_optional;      /* served by default: the server starts without it, too */
    const char *management_token_path;
    const char *management_names; /* further names of that host, or NULL */
    enum console_mode console;    /* console/console.h, at the management port */
    struct seed_options seed;
    bool testing;              /* admin/testing.h */
    struct listen_options smb; /* the SMB endpoint of the File service */
    bool smb_allow_unencrypted;
    bool smb_enforce_acls;
    bool is_azurite;                      /* called by one of Azurite's names: banner.h */
    unsigned workers;                     /* of each service; 0: one a core */
    unsigned connections_max;             /* of each service; 0: the default */
    unsigned connections_per_address_max; /* 0: no limit */
    struct net_proxies proxies;           /* in front of all ports but the management port */
    struct fetcher_options fetcher;       /* of sources of copies on other servers */
    unsigned rehydrate_seconds;           /* of an archived blob */
    unsigned disk_reserve_mib;            /* 0: the default of store.h */
    /* What each account may use that has no limits of its own (auth/account_limits.h); 0: no limit */
    unsigned account_requests, account_bandwidth_mib, account_capacity_mib, account_containers;
    unsigned usage_every_ms;   /* 0: the default, if it is wanted */
    unsigned scrub_every_ms;   /* 0: when it is asked for */
    unsigned scrub_rate_mib;   /* 0: the default of admin/scrubber.h */
    bool keep_reading;         /* ending.h */
    enum sandbox_mode sandbox; /* sandbox.h */
    const char *cert_path;     /* PEM with key_path, PFX with pfx_password: HTTPS */
    const char *key_path;
    const char *pfx_password;    /* NULL: not PFX */
    const char *debug_path;      /* log of every request */
    const char *access_log_path; /* the same as JSON; NULL: none */
    const char *audit_log_path;  /* of what changes something */
    unsigned slow_ms;            /* requests that take so long are logged; 0: none */
    unsigned analytics_every_ms; /* 0: as the program has it */
    unsigned stop_delay_ms; /* after SIGTERM it serves for so long, and says that it is not ready */
    bool silent;
    bool loose;
    bool skip_version_check;
    bool in_memory;
    unsigned secondary_lag_ms;      /* 0: none */
    const char *cluster;            /* cluster/folder.h; NULL: a data folder of its own */
    struct listen_options internal; /* endpoint that other front ends forward requests to */
    unsigned cell;                  /* of it; 0: any that is free */
    const char *fence_command;      /* cluster/fence.h; NULL: none */
    bool product_style_url;
    bool allow_development_account;
    bool no_public_access;
    bool oauth_basic;            /* the development mode of bearer tokens */
    bool allow_unchecked_tokens; /* that mode beyond loopback */
    const char *accounts_path;   /* accounts and their keys, read again at SIGHUP */
    const char *oauth_issuer;    /* with oauth_keys_path: bearer tokens are taken */
    const char *oauth_audience;
    const char *oauth_keys_path;
    const char *oauth_roles_path;
    const char *oauth_accounts_path;
};

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE,  /* --help, --version, config check: printed, exit 0 */
    OPTIONS_WRONG, /* said why on stderr, exit 2 */
};

/* Is it an address that only this machine reaches? */
bool host_is_loopback(const char *host);
/* Are those of all wanted services? */
bool options_are_loopback(const struct options *options);

#endif
