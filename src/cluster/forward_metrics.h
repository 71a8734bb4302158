/* Metrics of forwarding, as sender and as receiver, and of the cells as this front end sees them.
 * Thread-safe. */
#ifndef LAGRA_CLUSTER_FORWARD_METRICS_H
#define LAGRA_CLUSTER_FORWARD_METRICS_H

#include <stdbool.h>
#include <stdint.h>

enum forward_counter {
    FORWARD_LINK_OPENED,
    FORWARD_LINK_CLOSED, /* after it had been up */
    FORWARD_LINK_FAILED, /* before it was up */
    FORWARD_RETRIED,     /* a request of which nothing had been sent */
    FORWARD_WAITED,      /* a request whose cell had no owner */
    /* a direct read that failed: the owner was asked for the body, or the connection was cut */
    FORWARD_DIRECT_FAILED,
    FORWARD_COUNTERS,
};

enum forward_result {
    FORWARD_RESPONDED, /* the owner's response was passed on */
    FORWARD_BUSY,      /* 503: not executed */
    FORWARD_LOST, /* the client's connection was closed, because the owner may have executed it */
    FORWARD_ABANDONED, /* the client disconnected */
    FORWARD_RESULTS,
};

#define FORWARD_SERVICES 5u

/* Creates the series. Called once on the main thread, before any other function. services: names of
 * the services. */
void forward_metrics_start(const char *const services[FORWARD_SERVICES]);
void forward_count(enum forward_counter counter);
/* Counts a request that was forwarded to another front end. to, from: body bytes to and from the
 * owner. */
void forward_count_request(unsigned service, uint32_t cell, enum forward_result result, uint64_t ns,
                           uint64_t to, uint64_t from);
/* Counts a request whose body this front end read from files, in addition to
 * forward_count_request(). */
void forward_count_direct(unsigned service, uint64_t bytes);
/* A cell as this front end sees it. */
struct cell_seen {
    bool is_owned;  /* by this process */
    bool is_served; /* its owner executes requests */
    uint64_t used_bytes;
};
/* Creates the series of a cell. Not called at the same time as the next one. */
void forward_metrics_add_cell(uint32_t cell);
void forward_show_cell(uint32_t cell, const struct cell_seen *seen);
/* Counts a request received from another front end. */
void forward_count_received(unsigned service, bool is_executed);

#endif
