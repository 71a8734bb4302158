/* Options of a server. The command line is parsed in cli/command_line.h. */
#ifndef LAGRA_SERVER_OPTIONS_H
#define LAGRA_SERVER_OPTIONS_H

#include "base/json.h"
#include "fetch/fetch.h"
#include "net/net.h"
#include "seed/seed.h"

enum service_index {
    SERVICE_BLOB,
    SERVICE_QUEUE,
    SERVICE_TABLE,
    SERVICE_FILE,
    SERVICE_DFS, /* the Blob service's data in the protocol of Data Lake Storage */
    SERVICE_COUNT
};

struct listen_options {
    const char *host;
    uint16_t port;
    unsigned keep_alive_s; /* timeout of idle connections; 0 means the default */
    bool wanted;           /* served; for `lagra health`: checked */
    bool is_optional;      /* served by default; the server also starts without it */
};

enum sandbox_mode { SANDBOX_OFF, SANDBOX_LOG, SANDBOX_ON };
enum console_mode {
    CONSOLE_OFF,
    CONSOLE_ON,
    CONSOLE_LINK, /* also prints a sign-in link after the start */
};

struct options {
    const char *config_path;                /* configuration file, or NULL */
    const struct option_settings *settings; /* origin of each option */
    /* Writes all options like settings_write(). Set for a server that is started. */
    void (*write)(const void *options, struct json_writer *to);
    const char *location; /* data directory */
    struct listen_options listen[SERVICE_COUNT];
    struct listen_options management; /* admin/management.h */
    bool management_is_optional;      /* served by default; the server also starts without it */
    const char *management_token_path;
    const char *management_names; /* additional host names, or NULL */
    enum console_mode console;    /* served at the management port, console/console.h */
    struct seed_options seed;
    bool testing;              /* admin/testing.h */
    struct listen_options smb; /* the SMB endpoint of the File service */
    bool smb_allow_unencrypted;
    bool smb_enforce_acls;
    bool is_azurite;                      /* run under one of Azurite's names, banner.h */
    unsigned workers;                     /* threads per service; 0 means one per core */
    unsigned connections_max;             /* per service; 0 means the default */
    unsigned connections_per_address_max; /* 0 means no limit */
    struct net_proxies proxies;           /* proxies of all ports except the management port */
    struct fetcher_options fetcher;       /* for copy sources on other servers */
    unsigned rehydrate_seconds;           /* time to rehydrate an archived blob */
    unsigned disk_reserve_mib;            /* 0 means the default of store.h */
    /* Limits of accounts without limits of their own (auth/account_limits.h); 0 means no limit. */
    unsigned account_requests, account_bandwidth_mib, account_capacity_mib, account_containers;
    unsigned usage_every_ms;   /* 0 means the default, if usage is needed at all */
    unsigned scrub_every_ms;   /* 0 means only on request */
    unsigned scrub_rate_mib;   /* 0 means the default of admin/scrubber.h */
    bool keep_reading;         /* process.h */
    enum sandbox_mode sandbox; /* sandbox.h */
    const char *cert_path;     /* HTTPS: PEM with key_path, or PFX with pfx_password */
    const char *key_path;
    const char *pfx_password;    /* or NULL if it is not PFX */
    const char *debug_path;      /* text log of all requests, or NULL */
    const char *access_log_path; /* JSON log of all requests, or NULL */
    const char *audit_log_path;  /* log of requests that change something, or NULL */
    unsigned slow_ms;            /* log threshold of slow requests; 0 means none */
    unsigned analytics_every_ms; /* 0 means the default */
    unsigned stop_delay_ms;      /* time to keep serving after SIGTERM, reported as not ready */
    bool silent;
    bool loose;
    bool skip_version_check;
    bool in_memory;
    unsigned secondary_lag_ms;      /* lag of the secondary endpoints; 0 means none */
    const char *cluster;            /* cluster directory, or NULL; cluster/folder.h */
    struct listen_options internal; /* endpoint for forwarded requests of other front ends */
    unsigned cell;                  /* cell to own; 0 means any free cell */
    const char *fence_command;      /* or NULL; cluster/fence.h */
    const char *smb_referral_host;  /* or NULL; smb_endpoint.h */
    bool product_style_url;
    bool allow_development_account;
    bool no_public_access;
    bool oauth_basic;                /* accept bearer tokens without checking signatures */
    bool allow_unchecked_tokens;     /* oauth_basic on other addresses than loopback */
    const char *encryption_key_path; /* master keys (store/master_keys.h), or NULL */
    const char *accounts_path;       /* accounts and their keys; reread on SIGHUP */
    const char *oauth_issuer;        /* with oauth_keys_path: accept bearer tokens */
    const char *oauth_audience;
    const char *oauth_keys_path;
    const char *oauth_roles_path;
    const char *oauth_accounts_path;
};

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE,  /* --help, --version, config check: printed, exit status 0 */
    OPTIONS_WRONG, /* printed why on stderr, exit status 2 */
};

/* Returns true if only this machine can reach the address. */
bool host_is_loopback(const char *host);
/* Returns true if all wanted services listen on loopback. */
bool options_are_loopback(const struct options *options);

#endif
