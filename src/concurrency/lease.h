/* Leases of blobs, containers, files and shares: the state machine, and what a lease means for other operations.
 * Pure; `now` comes from outside. The numbered rules (9-15) are in README.md.
 *
 *                acquire                       break (finite left, or period)
 *   AVAILABLE ------------> LEASED ------------------------------------------> BREAKING
 *     ^    ^                 |  ^  ^                                              |
 *     |    |         release |  |  | renew, change, acquire with the same id      | time
 *     |    +-----------------+  |  +-- (stays LEASED)                             v
 *     |                         +----- acquire, renew (EXPIRED) ---- EXPIRED / BROKEN
 *     +---------------------------- release; a write without id -----------+
 *
 *   time:   LEASED -> EXPIRED (finite only), BREAKING -> BROKEN
 *   break:  LEASED -> BROKEN at once (period 0, or infinite without period), EXPIRED -> BROKEN
 *   release: from any state but AVAILABLE, by the id
 * rest: Lease-Blob, Lease-Container; semantics 3. Any thread. */
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

/* As stored. All zero: never leased, or forgotten. */
struct lease {
    struct guid id;
    uint8_t kind;       /* 0 none, 1 leased, 2 breaking or broken (by `ends`) */
    int32_t duration_s; /* as acquired; LEASE_INFINITE */
    instant ends;       /* leased: expiry, 0 if infinite; breaking: when it is broken */
};

/* From what is stored, and the time: rule 9. */
enum lease_state lease_state(const struct lease *lease, instant now);

/* As headers and lists show it. Static text.
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
    int status;      /* 200, 201, 202 */
    bool has_id;     /* answer x-ms-lease-id with the lease's id */
    bool has_time;   /* answer x-ms-lease-time */
    uint32_t time_s; /* break: until it is broken, rounded down */
};

/* Raw values of the headers of a lease request; ptr NULL when absent. */
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

/* The resource that is leased: error codes and messages name it. Codes of a share are those of a
 * container. decisions: 322, 857 */
enum lease_resource {
    LEASE_OF_BLOB,
    LEASE_OF_CONTAINER,
    LEASE_OF_FILE,
    LEASE_OF_SHARE,
    LEASE_RESOURCES
};

/* Carries the action out on *lease. On an error *lease is unchanged. That a resource was modified
 * since its lease expired needs no flag: the write dropped the lease (rule 10).
 *
 * returns  OK
 *          E_LeaseAlreadyPresent                  409: acquire; another one's, or breaking
 *          E_LeaseIsBreakingAndCannotBeAcquired   409: acquire with the id in force
 *          E_LeaseIdMismatchWithLeaseOperation..  409: not the id in force, or none is
 *          E_LeaseNotPresentWithLeaseOperation..  409: change, break; there is no lease
 *          E_LeaseIsBreakingAndCannotBeChanged    409: change
 *          E_LeaseIsBrokenAndCannotBeRenewed      409: renew; breaking or broken */
enum error lease_perform(enum lease_resource of, struct lease *lease,
                         const struct lease_request *request, instant now,
                         struct lease_result *ret_result);

/* May a write go on with this x-ms-lease-id (NULL: none)? For containers only Delete is a write.
 *
 * returns  OK
 *          E_LeaseIdMissing, ...OnContainer, ...                412: locked, and no id given
 *          E_LeaseNotPresentWith{Blob,Container,File}Operation  412: an id, but no lease
 *          E_LeaseIdMismatchWith{Blob,Container,File}Operation  412: another id than the last in force
 *          E_LeaseLost, ...OnContainer, ...                     412: the id of a lease that has ended
 * semantics 3.3, 3.4, 3.5 */
enum error lease_check_write(enum lease_resource of, const struct lease *lease,
                             const struct guid *given, instant now);

/* The same of a read, or a write to a container other than Delete: an id is never needed, but one
 * that is given must be right. Returns as lease_check_write() without E_LeaseIdMissing. */
enum error lease_check_read(enum lease_resource of, const struct lease *lease,
                            const struct guid *given, instant now);

/* Resets a lease that is BROKEN or EXPIRED to AVAILABLE and drops its id, as a write does. Leaves
 * other leases as they are. Blobs and files only: rule 10. */
void lease_forget_if_ended(struct lease *lease, instant now);

/* The stored form (lease_codec.c). Decoding a malformed lease marks `in` as bad and returns one
 * that was never leased. */
void lease_encode(struct text *out, const struct lease *lease);
void lease_decode(struct decoder *in, struct lease *ret_lease);

#endif
