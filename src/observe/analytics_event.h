/* A request as recorded for Storage Analytics. If the account has enabled logs or metrics of the
 * service (struct service_properties), the worker puts this struct into its ring (base/event_log.h)
 * when the request ends. analytics/analytics.h processes it.
 * rest: Storage-Analytics-Log-Format, Storage-Analytics-Logged-Operations-and-Status-Messages */
#ifndef LAGRA_OBSERVE_ANALYTICS_EVENT_H
#define LAGRA_OBSERVE_ANALYTICS_EVENT_H

#include "base/event_log.h"
#include "service/operation.h"
#include "properties/service_properties.h"

/* Bits of account_note(), for each service of the process: enabled logs and metrics. */
enum {
    ANALYTICS_LOGS = LOGS_READS | LOGS_WRITES | LOGS_DELETES, /* enum analytics_kind */
    ANALYTICS_METRICS = 8,
    ANALYTICS_BITS = 8 /* number of bits per service */
};

enum analytics_who { WHO_AUTHORIZED, WHO_SAS, WHO_ANONYMOUS, ANALYTICS_WHO };

/* Status messages, without the prefix for the kind of authorization. */
enum analytics_outcome {
    OUTCOME_SUCCESS,
    OUTCOME_THROTTLING,
    OUTCOME_CLIENT_TIMEOUT,
    OUTCOME_SERVER_TIMEOUT,
    OUTCOME_CLIENT_OTHER,
    OUTCOME_SERVER_OTHER,
    OUTCOME_AUTHORIZATION,
    OUTCOME_NETWORK,
    ANALYTICS_OUTCOMES
};

/* Strings of a request, in the order in which they follow the struct. Only logged requests have
 * them. */
enum analytics_text {
    ANALYTICS_URL,    /* the value of its signature is replaced */
    ANALYTICS_KEY,    /* "/account/container/blob" */
    ANALYTICS_SOURCE, /* source URL of a copy, without the query */
    ANALYTICS_CLIENT,
    ANALYTICS_VERSION, /* x-ms-version */
    ANALYTICS_REQUEST_MD5,
    ANALYTICS_SERVER_MD5,
    ANALYTICS_ETAG,     /* from the response, with its quotes */
    ANALYTICS_MODIFIED, /* Last-Modified of the response */
    ANALYTICS_CONDITIONS,
    ANALYTICS_AGENT,
    ANALYTICS_REFERRER,
    ANALYTICS_CLIENT_REQUEST,
    ANALYTICS_OWNER, /* object id of the bearer token */
    ANALYTICS_TENANT,
    ANALYTICS_TEXTS,
};
/* Maximum length of each string. */
#define ANALYTICS_URL_MAX  4096u
#define ANALYTICS_TEXT_MAX 1024u

struct analytics_event {
    const struct account *account;
    unsigned service; /* index of the service in the process */
    const char *service_name;
    const struct operation *operation; /* NULL if not found */
    const char *command;               /* SMB command, "QUERY_INFO"; NULL for an HTTP request */
    enum analytics_kind kind;
    bool is_logged, is_counted;
    enum analytics_who who;
    bool is_bearer;
    enum analytics_outcome outcome;
    enum error error;
    int status;       /* 0 if no response was started */
    bool says_code;   /* since version 2017-04-17 the code is logged instead of ClientOtherError */
    instant ended;    /* wall clock */
    uint64_t all_ns;  /* from the request header to the last byte of the response */
    uint64_t wire_ns; /* part of all_ns spent receiving the body and sending the response */
    uint64_t received, sent;
    size_t request_head_bytes, response_head_bytes;
    uint64_t content_length; /* HTTP_LENGTH_UNKNOWN if not specified */
    struct guid request;
    uint16_t lengths[ANALYTICS_TEXTS];
};
_Static_assert(sizeof(struct analytics_event) + 2 * ANALYTICS_URL_MAX + 5 * ANALYTICS_TEXT_MAX +
                       2048 <=
                   EVENT_BYTES_MAX,
               "the texts that clients choose, and the others, which are shorter");

/* Writes the operation's name in Storage Analytics: "GetBlob", "QueryInfo" or "Unknown". */
#define ANALYTICS_NAME_SIZE 48u
void analytics_name(const struct analytics_event *event, char buffer[ANALYTICS_NAME_SIZE]);

/* Returns true if the account has metrics of the service enabled. Thread-safe. */
bool analytics_counts(const struct account *account, unsigned service);
/* Puts an event without strings into the ring of this thread. Used for SMB commands, which are
 * counted but not logged. decision: 635 */
void analytics_count(const struct analytics_event *event);

#endif
