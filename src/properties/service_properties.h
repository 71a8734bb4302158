/* The operations that every service has on itself: Get and Set its properties, Get its stats.
 *
 * What all services have in common is here: a service's table names these functions in its rows,
 * and its struct service says what else its properties have:
 *
 *   OPERATION(get_service_properties);                 above the table
 *   OPERATION_WITH_PARSE(set_service_properties);
 *   OPERATION(get_service_stats);
 *   ROW("Get Queue Service Properties", GET, .., &get_service_properties_functions)
 *   ROW("Set Queue Service Properties", PUT, .., MEMORY, XML_BODY_MAX, 202, .., the same with set_)
 *   ROW("Get Queue Service Stats", GET, .., &get_service_stats_functions)
 *   .sections = SECTION_LOGGING                        in struct service: which, beside those of all
 *
 * Each service keeps its own: the record is INNER "p" of the partition that the service's locate()
 * gives for the service itself, (account space, ""); rows need no subject.
 *
 * service_properties.c and cors_rules.c decide; those that end in _xml.c read
 * requests and render answers.
 * rest: Get-Blob-Service-Properties, Get-Queue-Service-Properties, Get-Table-Service-Properties,
 * Get-File-Service-Properties,
 * Get-Blob-Service-Stats */
#ifndef LAGRA_PROPERTIES_SERVICE_PROPERTIES_H
#define LAGRA_PROPERTIES_SERVICE_PROPERTIES_H

#include "properties/cors_rules.h"
#include "service/decision.h"

/* Sections that not every service has; struct service has their bits. All have HourMetrics,
 * MinuteMetrics and Cors. */
enum service_section {
    SECTION_OF_ALL = 0,
    SECTION_DEFAULT_VERSION = 1 << 0,     /* DefaultServiceVersion */
    SECTION_DELETE_RETENTION = 1 << 1,    /* DeleteRetentionPolicy */
    SECTION_STATIC_WEBSITE = 1 << 2,      /* StaticWebsite */
    SECTION_LOGGING = 1 << 3,             /* Logging */
    SECTION_PROTOCOLS = 1 << 4,           /* ProtocolSettings */
    SECTION_SHARE_RETENTION = 1 << 5,     /* ShareDeleteRetentionPolicy */
    SECTION_LOGGING_2 = 1 << 6,           /* Logging of version 2.0, beside 1.0 */
    SECTION_CONTAINER_RETENTION = 1 << 7, /* ContainerDeleteRetentionPolicy */
    SECTION_VERSIONING = 1 << 8,          /* IsVersioningEnabled */
};

/* What Storage Analytics keeps of requests to a service: lines of logs in $logs, and sums in tables $Metrics...
 * rest: Set-Blob-Service-Properties, About-Storage-Analytics */
enum analytics_kind { LOGS_READS = 1, LOGS_WRITES = 2, LOGS_DELETES = 4 };
struct analytics_logging {
    unsigned kinds;          /* of requests that are logged: LOGS_ bits */
    unsigned version;        /* of the lines: 1 (1.0) or 2 (2.0) */
    uint32_t retention_days; /* 0: for ever */
};
struct analytics_metrics {
    bool enabled;
    bool includes_apis;      /* sums of each operation, too */
    uint32_t retention_days; /* 0: for ever */
};

/* Texts are empty where nothing is set. */
struct static_website {
    bool enabled;
    struct bytes index_document; /* name of the page of each folder */
    struct bytes error_document; /* path of what is answered for a page that is not there */
    struct bytes default_index; /* path of the page of all folders, where index_document is empty */
};

/* rest: Set-Blob-Service-Properties, "Days" */
#define RETENTION_DAYS_MAX 365u

struct service_properties {
    struct cors_rules cors;
    struct bytes default_version; /* of requests that say none; empty: not set */
    struct static_website website;
    uint32_t share_retention_days;     /* that deleted shares are kept; 0: they are not */
    uint32_t container_retention_days; /* the same of containers */
    uint32_t blob_retention_days;      /* that deleted blobs are kept; 0: they are not */
    bool allows_permanent_delete;      /* of what is kept so */
    bool is_versioning_enabled;        /* blobs have versions */
    struct analytics_logging logging;
    struct analytics_metrics hour_metrics, minute_metrics;
};

/* Those that the snapshot of the service's own partition has; all empty where nothing was ever set.
 * Texts are in the arena.
 * returns STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO */
enum store_result service_properties_read(struct snapshot *snapshot, struct arena *arena,
                                          struct service_properties *ret_properties);
/* Those of the input's account in a service ("blob") as they are now, whatever partition the
 * decision is about. *ret_sequence: what to wait for before anything that follows from them is
 * reported.
 * returns as service_properties_read() */
enum store_result service_properties_find(struct decision *d, const char *service,
                                          struct service_properties *ret_properties,
                                          uint64_t *ret_sequence);

/* Those of an account in a service, as one more thing that a decision reads: what follows waits for it. Nothing keeps
 * them as they are until the commit.
 * returns as service_properties_read() */
enum store_result service_properties_look(struct decision *d, const char *service,
                                          struct bytes account,
                                          struct service_properties *ret_properties);

/* Called when properties of an account were set in some service, once that is committed. It may neither block nor decide.
 * Start-up; NULL: nobody wants to know any more. */
typedef void service_properties_changed(struct bytes account);
void service_properties_watch(service_properties_changed *changed);

OPERATION_NO_PARAMETERS(get_service_properties);
struct get_service_properties_result {
    struct result base;
    struct service_properties properties;
};
OPERATION_DECLARE(get_service_properties);

struct set_service_properties_parameters {
    struct parameters base;
    /* Those that are not named stay. */
    bool has_cors, has_default_version, has_website;
    bool has_share_retention, has_container_retention, has_blob_retention;
    bool has_logging, has_hour_metrics, has_minute_metrics, has_versioning;
    struct service_properties properties;
};
OPERATION_NO_RESULT(set_service_properties);
OPERATION_DECLARE(set_service_properties);
OPERATION_DECLARE_PARSE(set_service_properties);

OPERATION_NO_PARAMETERS(get_service_stats);
struct get_service_stats_result {
    struct result base;
    instant last_sync; /* what was written before can be read at the secondary */
};
OPERATION_DECLARE(get_service_stats);

#endif
