/* Metrics of forwarding, on both sides. Thread-safe. */
#ifndef LAGRA_CLUSTER_FORWARD_METRICS_H
#define LAGRA_CLUSTER_FORWARD_METRICS_H

#include <stdbool.h>
#include <stdint.h>

enum forward_counter {
    FORWARD_LINK_OPENED,
    FORWARD_LINK_CLOSED, /* after it was up */
    FORWARD_LINK_FAILED, /* before it was up */
    FORWARD_RETRIED,     /* a request that had not been sent */
    FORWARD_WAITED,      /* a request without an owner */
    FORWARD_COUNTERS,
};

enum forward_result {
    FORWARD_RESPONDED, /* the owner's response was passed on */
    FORWARD_BUSY,      /* 503: the owner has not received it */
    FORWARD_LOST,      /* the connection to the client was closed: the owner may have executed it */
    FORWARD_ABANDONED, /* the client has gone */
    FORWARD_RESULTS,
};

#define FORWARD_SERVICES 4u

/* Creates the series. Main thread, once, before any other function. services: names of the services. */
void forward_metrics_start(const char *const services[FORWARD_SERVICES]);
void forward_count(enum forward_counter counter);
/* A request that another front end was asked to execute. to, from: bytes of bodies to the owner and from it. */
void forward_count_request(unsigned service, enum forward_result result, uint64_t ns, uint64_t to,
                           uint64_t from);
/* A request of another front end. */
void forward_count_received(unsigned service, bool is_executed);

#endif
