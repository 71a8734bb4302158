/* Leases of blobs and containers: the state machine and what a lease means for other operations.
 * Pure; `now` comes from outside. Every cell has its row in the lease matrix; semantics 3.
 *
 *                acquire                       break (finite left, or period)
 *   AVAILABLE ------------> LEASED ------------------------------------------> BREAKING
 *       ^                    |  ^  ^ renew, change, acquire same id               | time
 *       | release            |  |                                                v
 *       +--------------------+  +---- acquire ---- EXPIRED / BROKEN <------------+
 *   time: LEASED -> EXPIRED (finite only); a write without id: EXPIRED/BROKEN -> AVAILABLE
 * rest: Lease-Blob, Lease-Container */
#ifndef LAGRA_CONCURRENCY_LEASE_H
#define LAGRA_CONCURRENCY_LEASE_H

#include "base/clock.h"
#include "base/codec.h"
#include "base/errors.h"
#include "base/ids.h"

enum lease_state {
    LEASE_AVAILABLE,
    LEASE_LEASED,
    LEASE_BREAKING,
    LEASE_BROKEN,
    LEASE_EXPIRED,
    LEASE_STATES
};

#define LEASE_INFINITE       (-1)
#define LEASE_DURATION_MIN_S 15
#define LEASE_DURATION_MAX_S 60
#define LEASE_BREAK_MAX_S    60

/* As stored. All zero: never leased. */
struct lease {
    struct guid id;
    uint8_t kind;       /* 0 none, 1 leased, 2 breaking or broken (by `ends`) */
    int32_t duration_s; /* as acquired; LEASE_INFINITE */
    instant ends;       /* leased: expiry, 0 if infinite; breaking: when it is broken */
};

enum lease_state lease_state(const struct lease *lease, instant now);
/* "locked" / "unlocked"; "available"...; "infinite" / "fixed" / NULL when not leased. */
const char *lease_status_text(const struct lease *lease, instant now);
const char *lease_state_text(const struct lease *lease, instant now);
const char *lease_duration_text(const struct lease *lease, instant now);

enum lease_action {
    LEASE_ACQUIRE,
    LEASE_RENEW,
    LEASE_CHANGE,
    LEASE_RELEASE,
    LEASE_BREAK,
    LEASE_ACTIONS
};

/* A Lease Blob / Lease Container request, already parsed. */
struct lease_request {
    enum lease_action action;
    const struct guid *id;       /* x-ms-lease-id: renew, change, release */
    const struct guid *proposed; /* x-ms-proposed-lease-id: acquire (may be NULL), change */
    struct guid generated;       /* what to use when none is proposed */
    int32_t duration_s;          /* acquire */
    int32_t break_period_s;      /* break; -1: none given */
};

struct lease_result {
    int status;    /* 200, 201, 202 */
    bool has_id;   /* answer x-ms-lease-id with the lease's id */
    bool has_time; /* answer x-ms-lease-time */
    uint32_t time_s;
};

/* Raw values of the headers of a lease request; ptr NULL when absent. */
struct lease_headers {
    struct bytes action, id, proposed, duration, break_period;
};

/* returns OK, E_MissingRequiredHeader, E_InvalidHeaderValue; *ret_header names the header at fault.
 * The guids it points to are in the arena. */
enum error lease_request_parse(struct arena *arena, const struct lease_headers *headers,
                               struct lease_request *ret_request, const char **ret_header);

/* Carries the action out on *lease. `modified_since_expiry`: the resource changed after the lease
 * ran out (blob only; such a write forgets the lease, so it is visible as AVAILABLE). returns OK or
 * the 409 of the matrix; on error *lease is unchanged. */
enum error lease_perform(struct lease *lease, const struct lease_request *request, instant now,
                         struct lease_result *ret_result);

/* Which codes name the resource. */
enum lease_resource { LEASE_OF_BLOB, LEASE_OF_CONTAINER };

/* May a write / a read with this x-ms-lease-id (NULL: none) go on? The tables of
 * semantics 3.3, 3.4. returns OK, or one of the 412 family */
enum error lease_check_write(enum lease_resource of, const struct lease *lease,
                             const struct guid *given, instant now);
enum error lease_check_read(enum lease_resource of, const struct lease *lease,
                            const struct guid *given, instant now);
/* A write ends a broken or expired lease: back to AVAILABLE, id forgotten. */
void lease_forget_if_over(struct lease *lease, instant now);

void lease_encode(struct text *out, const struct lease *lease);
void lease_decode(struct decoder *in, struct lease *ret_lease);

#endif
