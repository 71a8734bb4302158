/* Leases of blobs, containers, files and shares: the state machine, and how a lease affects other
 * operations. Pure; callers pass `now`. The numbered rules (9-15) are in README.md.
 *
 *                acquire                       break (finite left, or period)
 *   AVAILABLE ------------> LEASED ------------------------------------------> BREAKING
 *     ^    ^                 |  ^  ^                                              |
 *     |    |         release |  |  | renew, change, acquire with the same id      | time
 *     |    +-----------------+  |  +-- (remains LEASED)                           v
 *     |                         +----- acquire, renew (EXPIRED) ---- EXPIRED / BROKEN
 *     +---------------------------- release; a write without id -----------+
 *
 *   time:   LEASED -> EXPIRED (finite only), BREAKING -> BROKEN
 *   break:  LEASED -> BROKEN at once (period 0, or infinite without period), EXPIRED -> BROKEN
 *   release: from any state but AVAILABLE, with the id
 * rest: Lease-Blob, Lease-Container; semantics 3. Thread-safe. */
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

/* As stored. All zero: never leased, or reset. */
struct lease {
    struct guid id;
    uint8_t kind;       /* 0 none, 1 leased, 2 breaking or broken (depending on `ends`) */
    int32_t duration_s; /* as acquired; may be LEASE_INFINITE */
    instant ends;       /* leased: expiry, 0 if infinite; breaking: end of the break */
};

/* Returns the state at `now`: rule 9. */
enum lease_state lease_state(const struct lease *lease, instant now);

/* Return the text in headers and lists (static).
 * status    "locked" (LEASED, BREAKING) or "unlocked"
 * state     "available", "leased", "breaking", "broken", "expired"
 * duration  "infinite" or "fixed"; NULL when not LEASED */
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

/* A parsed Lease Blob / Lease Container request. */
struct lease_request {
    enum lease_action action;
    const struct guid *id;       /* x-ms-lease-id: renew, change, release */
    const struct guid *proposed; /* x-ms-proposed-lease-id: acquire (may be NULL), change */
    struct guid generated;       /* id to use if none is proposed */
    int32_t duration_s;          /* acquire */
    int32_t break_period_s;      /* break; -1 if none given */
};

struct lease_result {
    int status;      /* 200, 201, 202 */
    bool has_id;     /* respond with the lease's id in x-ms-lease-id */
    bool has_time;   /* respond with x-ms-lease-time */
    uint32_t time_s; /* break: seconds until it is broken, rounded down */
};

/* Raw header values of a lease request; ptr NULL if absent. */
struct lease_headers {
    struct bytes action, id, proposed, duration, break_period;
};

/* Parses the headers of a lease request; ignores those that the action does not use.
 *
 * arena       holds the guids that the request points to
 * ret_header  always set: the name of the header at fault (static), NULL when OK is returned
 * returns     OK
 *             E_MissingRequiredHeader  a header that the action needs
 *             E_InvalidHeaderValue     an unknown action, no GUID, seconds out of range
 * rest: Lease-Blob "Request Headers"; semantics 3.1 */
enum error lease_request_parse(struct arena *arena, const struct lease_headers *headers,
                               struct lease_request *ret_request, const char **ret_header);

/* The leased resource, which determines error codes and messages. A share uses the codes of a
 * container. decisions: 322, 857 */
enum lease_resource {
    LEASE_OF_BLOB,
    LEASE_OF_CONTAINER,
    LEASE_OF_FILE,
    LEASE_OF_SHARE,
    LEASE_RESOURCES
};

/* Performs the action on *lease. On an error *lease is unchanged. There is no flag for a write
 * since the lease expired, because such a write drops the lease (rule 10).
 *
 * returns  OK
 *          E_LeaseAlreadyPresent                  409: acquire; leased with another id, or breaking
 *          E_LeaseIsBreakingAndCannotBeAcquired   409: acquire with the current id
 *          E_LeaseIdMismatchWithLeaseOperation..  409: not the current id, or there is none
 *          E_LeaseNotPresentWithLeaseOperation..  409: change, break; there is no lease
 *          E_LeaseIsBreakingAndCannotBeChanged    409: change
 *          E_LeaseIsBrokenAndCannotBeRenewed      409: renew; breaking or broken */
enum error lease_perform(enum lease_resource of, struct lease *lease,
                         const struct lease_request *request, instant now,
                         struct lease_result *ret_result);

/* Checks whether a write with this x-ms-lease-id (NULL if none) is allowed. For containers only
 * Delete counts as a write.
 *
 * returns  OK
 *          E_LeaseIdMissing, ...OnContainer, ...                412: locked, and no id given
 *          E_LeaseNotPresentWith{Blob,Container,File}Operation  412: an id, but no lease
 *          E_LeaseIdMismatchWith{Blob,Container,File}Operation  412: not the current or last id
 *          E_LeaseLost, ...OnContainer, ...                     412: id of a lease that has ended
 * semantics 3.3, 3.4, 3.5 */
enum error lease_check_write(enum lease_resource of, const struct lease *lease,
                             const struct guid *given, instant now);

/* Checks a read, or a write to a container other than Delete: needs no id, but a given id must be
 * correct. Returns the errors of lease_check_write() except E_LeaseIdMissing. */
enum error lease_check_read(enum lease_resource of, const struct lease *lease,
                            const struct guid *given, instant now);

/* Resets a BROKEN or EXPIRED lease to AVAILABLE and drops its id, like a write does. Leaves other
 * leases unchanged. Blobs and files only: rule 10. */
void lease_forget_if_ended(struct lease *lease, instant now);

/* Convert to and from the stored form (lease.c). Decoding a malformed lease marks `in` as bad
 * and returns a lease that was never acquired. */
void lease_encode(struct text *out, const struct lease *lease);
void lease_decode(struct decoder *in, struct lease *ret_lease);

#endif
