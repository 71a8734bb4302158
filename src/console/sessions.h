/* Sessions of the console, and the links with which operators sign in. Internal to console/; the
 * caller holds the console's lock.
 *
 * (1) A session ends after SESSION_IDLE_MS without a request, after SESSION_MAX_MS in any case, and
 *     when the key it was started with is no longer a key of its account.
 * (2) Operators and account holders have separate slots. If all operator slots are in use, a new
 *     operator session evicts the least recently used one. A new session of an account that already
 *     has ACCOUNT_SESSIONS_MAX evicts the least recently used session of that account; if all slots
 *     of account holders are in use, it evicts one of the account with the most sessions.
 * (3) Secrets are random, and are compared with all existing ones in constant time. */
#ifndef LAGRA_CONSOLE_SESSIONS_H
#define LAGRA_CONSOLE_SESSIONS_H

#include "auth/auth.h"
#include "console/console.h"

#define OPERATOR_SESSIONS_MAX 16u
#define HOLDER_SESSIONS_MAX   48u
#define SESSIONS_MAX          (OPERATOR_SESSIONS_MAX + HOLDER_SESSIONS_MAX)
#define ACCOUNT_SESSIONS_MAX  8u /* maximum per account */
#define SESSION_IDLE_MS       (30u * 60000)
#define SESSION_MAX_MS        (12u * 3600000)
#define LINKS_MAX             8u
#define LINK_MAX_MS           (5u * 60000)
#define SECRET_SIZE           CONSOLE_LINK_SIZE /* hexadecimal digits, and a NUL */

struct session {
    bool is_taken;
    char cookie[SECRET_SIZE];
    char token[SECRET_SIZE]; /* sent in a header by its pages */
    /* account whose key started the session; NULL for an operator */
    const struct account *account;
    size_t key;                               /* index of that key */
    uint8_t key_hmac[ACCOUNT_SIGNATURE_SIZE]; /* signature of the cookie with that key */
    uint64_t began_ms, asked_ms;              /* clock_monotonic_ms() */
};

struct link {
    char secret[SECRET_SIZE]; /* "" if there is no link */
    uint64_t made_ms;
};

struct sessions {
    struct session of[SESSIONS_MAX]; /* the first OPERATOR_SESSIONS_MAX are for operators */
    struct link links[LINKS_MAX];
    size_t links_made;
};

/* Starts a session. account: NULL for an operator */
struct session *console_session_begin(struct sessions *sessions, const struct account *account,
                                      size_t key, uint64_t now_ms);
void console_session_end(struct session *session);
/* Returns NULL if there is no active session with that cookie. */
struct session *console_session_find(struct sessions *sessions, struct bytes cookie,
                                     uint64_t now_ms);

void link_make(struct sessions *sessions, char ret_secret[SECRET_SIZE], uint64_t now_ms);
/* Consumes a link. Returns false if it is unknown, or too old. */
bool link_use(struct sessions *sessions, struct bytes secret, uint64_t now_ms);

#endif
