/* Limits of an account: requests and bytes per second, stored bytes, and number of containers.
 * Requests above the first two are refused for a while (ServerBusy), so that one account cannot
 * take the share of others.
 *
 * (1) Rates use the generic cell rate algorithm (ITU-T I.371): each request, and each byte, costs
 *     1/rate of a second, and an account may be up to a second ahead. Each rate is one number,
 *     updated by compare-and-exchange: no lock, and no write at all for an account without limits.
 * (2) Bytes are charged once their number is known, possibly after they have been accepted. An
 *     account more than one second in debt must then wait, however large its last request was.
 * (3) Ingress and egress are counted separately, each against the same limit.
 *
 * rest: Blob-Service-Error-Codes "ServerBusy"; decision: 460. Thread-safe. */
#ifndef LAGRA_AUTH_ACCOUNT_LIMITS_H
#define LAGRA_AUTH_ACCOUNT_LIMITS_H

#include "auth/auth.h"

enum account_limit {
    LIMIT_REQUESTS,   /* per second */
    LIMIT_BYTES,      /* per second in each direction */
    LIMIT_CAPACITY,   /* stored bytes */
    LIMIT_CONTAINERS, /* containers, queues, tables and shares, each kind separately */
    ACCOUNT_LIMITS,
};
#define LIMIT_MAX (UINT64_C(1) << 50)

/* 0: the default of accounts_set_limits(); else the limit, or LIMIT_NONE. */
struct account_limits {
    uint64_t of[ACCOUNT_LIMITS];
};
#define LIMIT_NONE UINT64_MAX

/* Sets the default limits (0: none) of accounts without their own. Start-up only, before there is
 * an account. */
void accounts_set_limits(struct accounts *accounts, const struct account_limits *limits);

/* Returns the effective limit, or 0 if there is none. */
uint64_t account_limit(const struct account *account, enum account_limit which);

/* Returns a bit mask of what makes requests differ from those to other accounts, such as reasons that
 * may refuse them; normally 0, and 0 for NULL. */
enum {
    ACCOUNT_IS_DISABLED = 2,
    ACCOUNT_IS_LIMITED = 4,
    ACCOUNT_IS_NOT_PUBLIC = 16, /* its containers allow no public access */
    ACCOUNT_REFUSES_KEYS = 32,  /* Shared Key and SAS signed with an account key are refused */
    ACCOUNT_TRACKS_ACCESS = 64, /* blobs have a last access time */
    ACCOUNT_HINDRANCES = ACCOUNT_IS_DISABLED | ACCOUNT_IS_LIMITED | ACCOUNT_IS_NOT_PUBLIC |
                         ACCOUNT_REFUSES_KEYS | ACCOUNT_TRACKS_ACCESS,
};
unsigned account_hindrances(const struct account *account);

/* Direction of a request's bytes. */
enum account_way { WAY_IN, WAY_OUT };

/* Charges one request at `now_ns` (monotonic clock), without its bytes.
 * ret_wait_ns  on refusal: time after which a similar request is admitted if no other arrives
 * returns  OK, E_ServerBusyOperations, E_ServerBusyIngress, E_ServerBusyEgress */
enum error account_admit(const struct account *account, enum account_way way, uint64_t now_ns,
                         uint64_t *ret_wait_ns);
/* ---- capacity ---- */

/* Start and finish a count of an account's bytes (service/usage.h). Until the next count, bytes
 * received since the start are added to the result; so data deleted since then still counts, and
 * data copied on the server does not. One count at a time. */
void account_usage_begins(const struct account *account);
void account_usage_found(const struct account *account, uint64_t bytes);
/* Returns true if the account has room for `bytes`; otherwise account_usage_is_wanted() returns
 * true. */
bool account_has_room(const struct account *account, uint64_t bytes);
/* Reserves `bytes` of the account's capacity. Returns false if that would exceed its limit; the
 * bytes are then not counted, but account_usage_is_wanted() returns true. Concurrent calls may each
 * succeed and together exceed the limit. */
bool account_keep(const struct account *account, uint64_t bytes);
/* Returns true if the account has reached its capacity. Has no side effects. */
bool account_is_full(const struct account *account);
/* Returns true if a request was refused since the last count, here or in another cell. There may be
 * fewer bytes now. */
bool account_usage_is_wanted(const struct account *account);

/* Describes the usage of an account in a cell of a cluster (admin/cell_usage.h). The owner of each
 * cell counts its own, and judges the capacity by the sum. */
struct account_usage {
    uint64_t bytes;   /* of the last count, and received since */
    bool is_counted;  /* there was a count */
    bool was_refused; /* a request was refused since the last count */
};
/* Returns the usage of the account in this cell. */
struct account_usage account_usage_here(const struct account *account);
/* Sets the usage of the account in all other cells, as last known. */
void account_usage_elsewhere(const struct account *account, const struct account_usage *usage);

/* Charges bytes that were received or sent. */
void account_pay(const struct account *account, enum account_way way, uint64_t bytes,
                 uint64_t now_ns);

#endif
