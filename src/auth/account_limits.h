/* What an account may use: requests and bytes a second, bytes that it keeps, and how many containers it has. Who asks
 * for more of the first two is refused for a while (ServerBusy), so
 * that one account cannot take what others need.
 *
 * (1) Rates are kept by the time that is paid for (the generic cell rate algorithm, ITU-T I.371): each request, and
 *     each byte, costs 1/rate of a second; an account may be up to a second ahead. One number for each rate, changed
 *     by compare and exchange: no lock, and nothing at all is written for an account without limits.
 * (2) Bytes are paid for when it is known how many they are, which may be after they were let in: an account that is
 *     ahead by more than a second waits then, however large its last request was.
 * (3) Bytes in and bytes out are counted apart, each against the same limit.
 *
 * rest: Blob-Service-Error-Codes "ServerBusy"; decision: 460. Any thread. */
#ifndef LAGRA_AUTH_ACCOUNT_LIMITS_H
#define LAGRA_AUTH_ACCOUNT_LIMITS_H

#include "auth/auth.h"

enum account_limit {
    LIMIT_REQUESTS,   /* a second */
    LIMIT_BYTES,      /* a second, each way */
    LIMIT_CAPACITY,   /* bytes that it keeps */
    LIMIT_CONTAINERS, /* containers, queues, tables and shares, each kind for itself */
    ACCOUNT_LIMITS,
};
#define LIMIT_MAX (UINT64_C(1) << 50)

/* 0: as accounts_set_limits() says; else the limit, or LIMIT_NONE. */
struct account_limits {
    uint64_t of[ACCOUNT_LIMITS];
};
#define LIMIT_NONE UINT64_MAX

/* Of all accounts that have no limits of their own; 0: none. Start-up, before there is an account. */
void accounts_set_limits(struct accounts *accounts, const struct account_limits *limits);

/* What is in force; 0: no limit. */
uint64_t account_limit(const struct account *account, enum account_limit which);

/* The bits of what may keep a request out that an account admits otherwise; 0 for NULL, and mostly. */
enum { ACCOUNT_IS_DISABLED = 2, ACCOUNT_IS_LIMITED = 4 };
unsigned account_hindrances(const struct account *account);

/* Which way the bytes of a request go. */
enum account_way { WAY_IN, WAY_OUT };

/* One request more, at an instant of the monotonic clock; its own bytes are not paid for yet.
 * ret_wait_ns  of a refusal: after this time one like it is admitted, if nothing else comes
 * returns  OK, E_ServerBusyOperations, E_ServerBusyIngress, E_ServerBusyEgress */
enum error account_admit(const struct account *account, enum account_way way, uint64_t now_ns,
                         uint64_t *ret_wait_ns);
/* ---- what it keeps ---- */

/* A count of an account's bytes (service/usage.h) begins, and has found so many. What came in since it began is added to
 * that until the next count: so what is deleted meanwhile is still counted, and what is copied on the server is not. One
 * count at a time. */
void account_usage_begins(const struct account *account);
void account_usage_found(const struct account *account, uint64_t bytes);
/* So many bytes come that it is to keep. False: it has as many as it may keep, or would have more; what is refused is not
 * counted, and remembered for account_usage_is_wanted(). At the same moment several may each be let in. */
bool account_keep(const struct account *account, uint64_t bytes);
/* Returns whether the account has as many bytes as it may keep; counts and remembers nothing. */
bool account_is_full(const struct account *account);
/* Was somebody refused since the bytes were counted last? They may be fewer by now. */
bool account_usage_is_wanted(const struct account *account);

/* So many bytes came or went. */
void account_pay(const struct account *account, enum account_way way, uint64_t bytes,
                 uint64_t now_ns);

#endif
