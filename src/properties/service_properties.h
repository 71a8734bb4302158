/* Operations of every service on itself: Get and Set Service Properties, Get Service Stats.
 *
 * This module has the parts that all services share. A service's table names these functions in its
 * rows, and its struct service lists the additional sections of its properties:
 *
 *   OPERATION(get_service_properties);                 above the table
 *   OPERATION_WITH_PARSE(set_service_properties);
 *   OPERATION(get_service_stats);
 *   ROW("Get Queue Service Properties", GET, .., &get_service_properties_functions)
 *   ROW("Set Queue Service Properties", PUT, .., MEMORY, XML_BODY_MAX, 202, ..,
 *       &set_service_properties_functions)
 *   ROW("Get Queue Service Stats", GET, .., &get_service_stats_functions)
 *   .sections = SECTION_LOGGING                        in struct service: additional sections
 *
 * Each service stores its own properties in the record INNER "p" of the partition that its locate()
 * returns for the service itself, (account space, ""). The rows need no subject.
 *
 * service_properties.c and cors_rules.c decide; the files ending in _xml.c parse requests and
 * render responses.
 * rest: Get-Blob-Service-Properties, Get-Queue-Service-Properties, Get-Table-Service-Properties,
 * Get-File-Service-Properties, Get-Blob-Service-Stats */
#ifndef LAGRA_PROPERTIES_SERVICE_PROPERTIES_H
#define LAGRA_PROPERTIES_SERVICE_PROPERTIES_H

#include "properties/cors_rules.h"
#include "service/decision.h"

/* Sections that only some services have; bits of service.sections. All services have HourMetrics,
 * MinuteMetrics and Cors. */
enum service_section {
    SECTION_OF_ALL = 0,
    SECTION_DEFAULT_VERSION = 1 << 0,     /* DefaultServiceVersion */
    SECTION_DELETE_RETENTION = 1 << 1,    /* DeleteRetentionPolicy */
    SECTION_STATIC_WEBSITE = 1 << 2,      /* StaticWebsite */
    SECTION_LOGGING = 1 << 3,             /* Logging */
    SECTION_PROTOCOLS = 1 << 4,           /* ProtocolSettings */
    SECTION_SHARE_RETENTION = 1 << 5,     /* ShareDeleteRetentionPolicy */
    SECTION_LOGGING_2 = 1 << 6,           /* Logging version 2.0, in addition to 1.0 */
    SECTION_CONTAINER_RETENTION = 1 << 7, /* ContainerDeleteRetentionPolicy */
    SECTION_VERSIONING = 1 << 8,          /* IsVersioningEnabled */
};

/* Settings of Storage Analytics for a service: log lines in $logs and totals in tables $Metrics...
 * rest: Set-Blob-Service-Properties, About-Storage-Analytics */
enum analytics_kind { LOGS_READS = 1, LOGS_WRITES = 2, LOGS_DELETES = 4 };
struct analytics_logging {
    unsigned kinds;          /* kinds of requests to log: LOGS_ bits */
    unsigned version;        /* of the log lines: 1 (1.0) or 2 (2.0) */
    uint32_t retention_days; /* 0 means forever */
};
struct analytics_metrics {
    bool enabled;
    bool includes_apis;      /* also totals per operation */
    uint32_t retention_days; /* 0 means forever */
};

/* Strings are empty if not set. */
struct static_website {
    bool enabled;
    struct bytes index_document; /* name of the page of each directory */
    struct bytes error_document; /* path of the page returned for a missing page */
    /* path of the page of all directories, if index_document is empty */
    struct bytes default_index;
};

/* rest: Set-Blob-Service-Properties, "Days" */
#define RETENTION_DAYS_MAX 365u

struct service_properties {
    struct cors_rules cors;
    struct bytes default_version; /* for requests that specify no version; empty if not set */
    struct static_website website;
    uint32_t share_retention_days;     /* of deleted shares; 0 if they are not retained */
    uint32_t container_retention_days; /* of deleted containers; 0 if they are not retained */
    uint32_t blob_retention_days;      /* of deleted blobs; 0 if they are not retained */
    bool allows_permanent_delete;      /* of retained deleted blobs */
    bool is_versioning_enabled;        /* blob versioning */
    struct analytics_logging logging;
    struct analytics_metrics hour_metrics, minute_metrics;
};

/* Reads the properties from a snapshot of the service's own partition. All are empty if none was
 * ever set. Strings are in the arena. Returns STORE_OK, STORE_WAIT, STORE_CORRUPT or STORE_IO. */
enum store_result service_properties_read(struct read_view *snapshot, struct arena *arena,
                                          struct service_properties *ret_properties);
/* Reads the current properties of the input's account in a service ("blob"), independently of the
 * decision's partition. *ret_sequence must be durable before the caller reports anything based on
 * them. Returns the same values as service_properties_read(). */
enum store_result service_properties_find(struct decision *d, const char *service,
                                          struct service_properties *ret_properties,
                                          uint64_t *ret_sequence);

/* Reads the properties of an account in a service as an additional input of the decision, so that
 * the response waits until they are durable. They may change before the commit. Returns the same
 * values as service_properties_read(). */
enum store_result service_properties_look(struct decision *d, const char *service,
                                          struct bytes account,
                                          struct service_properties *ret_properties);

/* Called after properties of an account were set in any service, once the change is committed. It
 * must neither block nor decide. Set at start-up; NULL removes the callback. */
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
    /* Sections that were sent; all others are unchanged. */
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
    instant last_sync; /* everything written earlier can be read at the secondary endpoint */
};
OPERATION_DECLARE(get_service_stats);

#endif
