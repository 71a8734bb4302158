/* See sessions.h. */
#include "console/sessions.h"

#include <stdio.h>

#include "base/ids.h"

_Static_assert(SECRET_SIZE == 4 * sizeof(struct guid) + 1, "a secret consists of two random GUIDs");

/* Creates a secret of 244 random bits. */
static void make_secret(char secret[SECRET_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t half = 0; half < 2; half++) {
        struct guid random = guid_new();
        char *to = secret + half * 2 * sizeof random.b;

        for (size_t i = 0; i < sizeof random.b; i++) {
            to[2 * i] = digits[random.b[i] >> 4];
            to[2 * i + 1] = digits[random.b[i] & 15];
        }
    }
    secret[SECRET_SIZE - 1] = '\0';
}

static bool is_secret(const char *secret, struct bytes given)
{
    return bytes_equal_secret(bytes_of(secret, SECRET_SIZE - 1), given);
}

/* ---- sessions ---- */

void console_session_end(struct session *session)
{
    explicit_bzero(session, sizeof *session);
}

/* Returns true if the key that started the session still belongs to the account. */
static bool is_entitled(const struct session *session)
{
    uint8_t key_hmac[ACCOUNT_SIGNATURE_SIZE];

    if (!session->account)
        return true;
    return !account_refuses_keys(session->account) &&
           account_sign(session->account, session->key, bytes_of(session->cookie, SECRET_SIZE - 1),
                        key_hmac) &&
           bytes_equal_secret(bytes_of(key_hmac, sizeof key_hmac),
                              bytes_of(session->key_hmac, sizeof session->key_hmac));
}

/* Returns the time since since_ms, which may be later than now_ms, because now_ms was read before
 * acquiring the lock. */
static uint64_t passed_ms(uint64_t since_ms, uint64_t now_ms)
{
    return now_ms > since_ms ? now_ms - since_ms : 0;
}

static void end_old(struct sessions *sessions, uint64_t now_ms)
{
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        struct session *session = &sessions->of[i];

        if (session->is_taken && (passed_ms(session->asked_ms, now_ms) >= SESSION_IDLE_MS ||
                                  passed_ms(session->began_ms, now_ms) >= SESSION_MAX_MS))
            console_session_end(session);
    }
}

/* Counts the sessions of an account, or of operators if account is NULL. */
static size_t count_sessions(const struct sessions *sessions, const struct account *account)
{
    size_t count = 0;

    for (size_t i = 0; i < SESSIONS_MAX; i++)
        count += sessions->of[i].is_taken && sessions->of[i].account == account;
    return count;
}

/* Returns the least recently used session of the account, which must have one. */
static struct session *oldest_session(struct sessions *sessions, const struct account *account)
{
    struct session *oldest = NULL;

    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        struct session *session = &sessions->of[i];

        if (session->is_taken && session->account == account &&
            (!oldest || session->asked_ms < oldest->asked_ms))
            oldest = session;
    }
    return oldest;
}

/* Returns the account with the most sessions, if all slots of account holders are in use. */
static const struct account *largest_account(const struct sessions *sessions)
{
    const struct account *largest = NULL;
    size_t most = 0;

    for (size_t i = OPERATOR_SESSIONS_MAX; i < SESSIONS_MAX; i++) {
        size_t count = count_sessions(sessions, sessions->of[i].account);

        if (count > most) {
            largest = sessions->of[i].account;
            most = count;
        }
    }
    return largest;
}

/* Returns a free slot, or the session to evict; see (2) in sessions.h. */
static struct session *find_place(struct sessions *sessions, const struct account *account)
{
    size_t first = account ? OPERATOR_SESSIONS_MAX : 0;
    size_t end = account ? SESSIONS_MAX : OPERATOR_SESSIONS_MAX;

    if (account && count_sessions(sessions, account) >= ACCOUNT_SESSIONS_MAX)
        return oldest_session(sessions, account);
    for (size_t i = first; i < end; i++) {
        if (!sessions->of[i].is_taken)
            return &sessions->of[i];
    }
    return oldest_session(sessions, account ? largest_account(sessions) : NULL);
}

struct session *console_session_begin(struct sessions *sessions, const struct account *account,
                                      size_t key, uint64_t now_ms)
{
    struct session *place;

    end_old(sessions, now_ms);
    place = find_place(sessions, account);
    console_session_end(place);
    *place = (struct session){ .is_taken = true, .account = account, .key = key };
    place->began_ms = place->asked_ms = now_ms;
    make_secret(place->cookie);
    make_secret(place->token);
    if (account &&
        !account_sign(account, key, bytes_of(place->cookie, SECRET_SIZE - 1), place->key_hmac)) {
        console_session_end(place); /* the key was removed concurrently */
        return NULL;
    }
    return place;
}

struct session *console_session_find(struct sessions *sessions, struct bytes cookie,
                                     uint64_t now_ms)
{
    struct session *found = NULL;

    end_old(sessions, now_ms);
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        struct session *session = &sessions->of[i];

        if (session->is_taken && is_secret(session->cookie, cookie))
            found = session;
    }
    if (found && !is_entitled(found)) {
        console_session_end(found);
        return NULL;
    }
    return found;
}

/* ---- links ---- */

void link_make(struct sessions *sessions, char ret_secret[SECRET_SIZE], uint64_t now_ms)
{
    struct link *link = &sessions->links[sessions->links_made++ % LINKS_MAX];

    make_secret(link->secret);
    link->made_ms = now_ms;
    memcpy(ret_secret, link->secret, SECRET_SIZE);
}

bool link_use(struct sessions *sessions, struct bytes secret, uint64_t now_ms)
{
    struct link *found = NULL;
    bool is_good;

    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (sessions->links[i].secret[0] && is_secret(sessions->links[i].secret, secret))
            found = &sessions->links[i];
    }
    if (!found)
        return false;
    is_good = passed_ms(found->made_ms, now_ms) < LINK_MAX_MS;
    explicit_bzero(found, sizeof *found);
    return is_good;
}
