/* A request as seen by logs, metrics, traces and Storage Analytics: measurements taken while it is
 * executed and reported when it ends. Used on the thread that currently runs the request. */
#ifndef LAGRA_OBSERVE_OBSERVED_REQUEST_H
#define LAGRA_OBSERVE_OBSERVED_REQUEST_H

#include "base/metrics.h"
#include "observe/request_times.h"
#include "service/answer.h"
#include "service/operation.h"
#include "service/server.h"

/* A part of a batch whose response is ready. It is logged after the batch itself. */
struct logged_part {
    struct logged_part *next;
    const struct call *part;
    struct bytes event; /* for the server's own logs; ptr NULL if not logged */
    bool is_audited;
    struct bytes analytics; /* for Storage Analytics; ptr NULL if not logged */
};

struct observed_request {
    const struct exchange *exchange;
    const struct call *call;
    const struct answer *answer;
    uint64_t began_ns; /* by clock_monotonic_ns() */
    instant began;     /* wall clock; set if a log needs it */
    struct request_times times;
    metric_slot duration; /* of the operation; 0 until there is a response */
    /* Set by the caller before observe_response() and observe_end(). */
    uint64_t received; /* bytes of the request body */
    unsigned attempts; /* number of decisions */
    const struct logged_part *parts;
};

/* Starts the measurements when the request header has arrived. */
void observe_start(struct observed_request *request);
/* Records that the response is about to be sent. Returns the size of its body in bytes. */
uint64_t observe_response(struct observed_request *request);
/* Reports the request once the response has been sent, or never will be. */
void observe_end(struct observed_request *request);

/* Stores the log events of a part of the batch `whole` in the arena of `whole`. If the part was
 * decided again, replaces its earlier entry. */
void observe_part(struct logged_part **parts, const struct call *whole, const struct answer *part);

/* Returns the error code of a response, whether or not one of its headers contains it; "" if it is
 * not an error. */
const char *request_log_code(const struct answer *answer);
/* Writes a line to the server's log at level debug, without the signature of a SAS. */
void request_log(const struct observed_request *request);

/* Enables timing if the request's account wants logs or metrics of Storage Analytics. Called once
 * the account is known. */
void analytics_begins(struct observed_request *request);

/* ---- internal to observe/ ---- */

/* Enables timing if a log needs it. */
void access_log_begins(struct observed_request *request);
/* Writes a request that has ended, and its parts, to the logs that include it. */
void access_log(const struct observed_request *request, uint64_t now_ns);
/* Returns the event of a part of a batch; ptr NULL if its account does not want one. */
struct bytes analytics_of_part(const struct call *whole, const struct answer *part);
/* Reports a request that has ended, and its parts, to Storage Analytics, if its account wants
 * that. */
void analytics_log(const struct observed_request *request, uint64_t now_ns);

#endif
