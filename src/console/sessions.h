/* Sessions of the console, and the links by which operators sign in. Inside of console/ only; the caller
 * holds the console's lock.
 *
 * (1) A session ends when nothing was asked in it for SESSION_IDLE_MS, after SESSION_MAX_MS in any case, and when
 *     the key that it was begun with is a key of its account no longer.
 * (2) Operators and account holders have places of their own. One more session of operators than they have places ends the
 *     least recently used of them. One more of an account than ACCOUNT_SESSIONS_MAX ends the least recently used of that account; if
 *     all places of account holders are taken, the account with the most sessions loses one.
 * (3) Secrets are random, and compared in constant time, with all that there are. */
#ifndef LAGRA_CONSOLE_SESSIONS_H
#define LAGRA_CONSOLE_SESSIONS_H

#include "auth/auth.h"
#include "console/console.h"

#define OPERATOR_SESSIONS_MAX 16u
#define HOLDER_SESSIONS_MAX   48u
#define SESSIONS_MAX          (OPERATOR_SESSIONS_MAX + HOLDER_SESSIONS_MAX)
#define ACCOUNT_SESSIONS_MAX  8u /* of one account */
#define SESSION_IDLE_MS       (30u * 60000)
#define SESSION_MAX_MS        (12u * 3600000)
#define LINKS_MAX             8u
#define LINK_MAX_MS           (5u * 60000)
#define SECRET_SIZE           CONSOLE_LINK_SIZE /* in hexadecimal digits, and a NUL */

struct session {
    bool is_taken;
    char cookie[SECRET_SIZE];
    char token[SECRET_SIZE];               /* what its pages send along, in a header */
    const struct account *account;         /* whose key it was begun with; NULL: an operator's */
    size_t key;                            /* which one */
    uint8_t proof[ACCOUNT_SIGNATURE_SIZE]; /* of the cookie, by that key */
    uint64_t began_ms, asked_ms;           /* clock_monotonic_ms() */
};

struct link {
    char secret[SECRET_SIZE]; /* "": none */
    uint64_t made_ms;
};

struct sessions {
    struct session of[SESSIONS_MAX]; /* the first OPERATOR_SESSIONS_MAX are operators' */
    struct link links[LINKS_MAX];
    size_t links_made;
};

/* Begins one. account: NULL: an operator's */
struct session *signed_in_begin(struct sessions *sessions, const struct account *account,
                                size_t key, uint64_t now_ms);
void signed_in_end(struct session *session);
/* NULL: there is none that has not ended. */
struct session *signed_in_find(struct sessions *sessions, struct bytes cookie, uint64_t now_ms);

void link_make(struct sessions *sessions, char ret_secret[SECRET_SIZE], uint64_t now_ms);
/* Uses it up. False: unknown, or too old. */
bool link_use(struct sessions *sessions, struct bytes secret, uint64_t now_ms);

#endif
