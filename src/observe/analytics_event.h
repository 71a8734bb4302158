/* A request as Storage Analytics sees it: a struct that its worker leaves in its ring (base/event_log.h) when the
 * request is over, where its account asked for logs or metrics of the service (struct service_properties). What becomes
 * of it: analytics/analytics.h.
 * rest: Storage-Analytics-Log-Format, Storage-Analytics-Logged-Operations-and-Status-Messages */
#ifndef LAGRA_OBSERVE_ANALYTICS_EVENT_H
#define LAGRA_OBSERVE_ANALYTICS_EVENT_H

#include "base/event_log.h"
#include "service/operation.h"
#include "properties/service_properties.h"

/* Bits of account_note(), for each service of the process: what its requests are kept for. */
enum {
    ANALYTICS_LOGS = LOGS_READS | LOGS_WRITES | LOGS_DELETES, /* enum analytics_kind */
    ANALYTICS_METRICS = 8,
    ANALYTICS_BITS = 8 /* of each service */
};

enum analytics_who { WHO_AUTHORIZED, WHO_SAS, WHO_ANONYMOUS, ANALYTICS_WHO };

/* Status messages without the prefix of who asked. */
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

/* Texts of a request, in the order that they lie behind the struct; only of one that is logged. */
enum analytics_text {
    ANALYTICS_URL,    /* without its signature */
    ANALYTICS_KEY,    /* "/account/container/blob" */
    ANALYTICS_SOURCE, /* of a copy: its URL without the query */
    ANALYTICS_CLIENT,
    ANALYTICS_VERSION, /* x-ms-version */
    ANALYTICS_REQUEST_MD5,
    ANALYTICS_SERVER_MD5,
    ANALYTICS_ETAG,     /* as answered, with its quotes */
    ANALYTICS_MODIFIED, /* Last-Modified of the answer */
    ANALYTICS_CONDITIONS,
    ANALYTICS_AGENT,
    ANALYTICS_REFERRER,
    ANALYTICS_CLIENT_REQUEST,
    ANALYTICS_OWNER, /* of a bearer token */
    ANALYTICS_TENANT,
    ANALYTICS_TEXTS,
};
/* Of each text so many bytes are kept. */
#define ANALYTICS_URL_MAX  4096u
#define ANALYTICS_TEXT_MAX 1024u

struct analytics_event {
    const struct account *account;
    unsigned service; /* which one of the process */
    const char *service_name;
    const struct operation *operation; /* NULL: none was found */
    const char *command;               /* of SMB, "QUERY_INFO"; NULL: a request of HTTP */
    enum analytics_kind kind;
    bool is_logged, is_counted;
    enum analytics_who who;
    bool is_bearer;
    enum analytics_outcome outcome;
    enum error error;
    int status;       /* 0: no answer was begun */
    bool says_code;   /* since version 2017-04-17 the code stands for ClientOtherError */
    instant ended;    /* by the wall clock */
    uint64_t all_ns;  /* from its head to the last byte of its answer */
    uint64_t wire_ns; /* of that: until its body had come, and its answer had gone */
    uint64_t received, sent;
    size_t request_head_bytes, response_head_bytes;
    uint64_t content_length; /* HTTP_LENGTH_UNKNOWN: not said */
    struct guid request;
    uint16_t lengths[ANALYTICS_TEXTS];
};
_Static_assert(sizeof(struct analytics_event) + 2 * ANALYTICS_URL_MAX + 5 * ANALYTICS_TEXT_MAX +
                       2048 <=
                   EVENT_BYTES_MAX,
               "the texts that clients choose, and the others, which are shorter");

/* The name of what was asked for as Storage Analytics has it: "GetBlob", "QueryInfo"; or "Unknown". */
#define ANALYTICS_NAME_SIZE 48u
void analytics_name(const struct analytics_event *event, char buffer[ANALYTICS_NAME_SIZE]);

/* Does the account want requests to the service to be counted? Any thread. */
bool analytics_counts(const struct account *account, unsigned service);
/* Leaves an event without texts, of what is counted and not logged, in the ring of this thread: a command of SMB.
 * decision: 635 */
void analytics_count(const struct analytics_event *event);

#endif
