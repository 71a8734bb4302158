/* Sessions of the console: when they end, how many there are, and what a link is good for. console/sessions.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "console/sessions.h"

#define NOW    ((uint64_t)5000000)
#define LISTED "one:a2V5LWE=:a2V5LWI="

static struct sessions sessions;

static int setup(void **state)
{
    (void)state;
    memset(&sessions, 0, sizeof sessions);
    return 0;
}

/* The cookie of a new session of an operator. */
static struct bytes begin(char cookie[SECRET_SIZE], uint64_t now_ms)
{
    memcpy(cookie, console_session_begin(&sessions, NULL, 0, now_ms)->cookie, SECRET_SIZE);
    return bytes_from_string(cookie);
}

static void a_session_requires_its_secret(void **state)
{
    char cookie[SECRET_SIZE];
    struct bytes whole = begin(cookie, NOW);

    (void)state;
    assert_int_equal(whole.len, SECRET_SIZE - 1);
    assert_non_null(console_session_find(&sessions, whole, NOW));
    assert_null(console_session_find(&sessions, bytes_of(cookie, whole.len - 1), NOW));
    assert_null(console_session_find(&sessions, bytes_of(NULL, 0), NOW));
    cookie[10] = cookie[10] == '0' ? '1' : '0';
    assert_null(console_session_find(&sessions, whole, NOW));
}

static void an_idle_session_expires(void **state)
{
    char cookie[SECRET_SIZE];
    struct bytes secret = begin(cookie, NOW);
    struct session *session = console_session_find(&sessions, secret, NOW + SESSION_IDLE_MS - 1);

    (void)state;
    assert_non_null(session);
    assert_null(console_session_find(&sessions, secret, NOW + SESSION_IDLE_MS));
    assert_false(session->is_taken);
    assert_int_equal(session->cookie[0], '\0');
}

static void a_used_session_expires_too(void **state)
{
    char cookie[SECRET_SIZE];
    struct bytes secret = begin(cookie, NOW);

    (void)state;
    for (uint64_t at = NOW; at < NOW + SESSION_MAX_MS; at += SESSION_IDLE_MS / 2) {
        struct session *session = console_session_find(&sessions, secret, at);

        assert_non_null(session);
        session->asked_ms = at;
    }
    assert_null(console_session_find(&sessions, secret, NOW + SESSION_MAX_MS));
}

static void a_new_session_replaces_the_least_recently_used(void **state)
{
    char cookies[OPERATOR_SESSIONS_MAX][SECRET_SIZE], last[SECRET_SIZE];

    (void)state;
    for (size_t i = 0; i < OPERATOR_SESSIONS_MAX; i++)
        begin(cookies[i], NOW + i);
    console_session_find(&sessions, bytes_from_string(cookies[0]), NOW)->asked_ms = NOW + 1000;
    begin(last, NOW + 1001);
    assert_non_null(console_session_find(&sessions, bytes_from_string(last), NOW + 1001));
    assert_non_null(console_session_find(&sessions, bytes_from_string(cookies[0]), NOW + 1001));
    assert_null(console_session_find(&sessions, bytes_from_string(cookies[1]), NOW + 1001));
    assert_non_null(console_session_find(&sessions, bytes_from_string(cookies[2]), NOW + 1001));
}

static bool is_signed_in(const char *cookie, uint64_t now_ms)
{
    return console_session_find(&sessions, bytes_from_string(cookie), now_ms) != NULL;
}

/* Rule: sessions of account holders end none of an operator, and many of one account end none of another.
 * sessions.h (2) */
static void account_holders_end_their_own_sessions(void **state)
{
    char operator[SECRET_SIZE], other[SECRET_SIZE], first[SECRET_SIZE], last[SECRET_SIZE];
    struct accounts *accounts = accounts_new();
    const struct account *one, *two;
    const char *problem;

    (void)state;
    assert_true(accounts_add_list(accounts, LISTED ";two:a2V5LWE=", &problem));
    one = accounts_find(accounts, bytes_from_string("one"));
    two = accounts_find(accounts, bytes_from_string("two"));
    begin(operator, NOW);
    memcpy(other, console_session_begin(&sessions, two, 0, NOW)->cookie, SECRET_SIZE);
    memcpy(first, console_session_begin(&sessions, one, 0, NOW + 1)->cookie, SECRET_SIZE);
    for (size_t i = 1; i < ACCOUNT_SESSIONS_MAX; i++)
        assert_non_null(console_session_begin(&sessions, one, 0, NOW + 2));
    assert_true(is_signed_in(first, NOW + 2));
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        memcpy(last, console_session_begin(&sessions, one, 0, NOW + 3)->cookie, SECRET_SIZE);
    assert_false(is_signed_in(first, NOW + 3));
    assert_true(is_signed_in(last, NOW + 3));
    assert_true(is_signed_in(operator, NOW + 3));
    assert_true(is_signed_in(other, NOW + 3));
    accounts_free(accounts);
}

/* Rule: once all places are taken, the account with the most sessions loses one. */
static void the_account_with_the_most_sessions_loses_one(void **state)
{
    char single[HOLDER_SESSIONS_MAX][SECRET_SIZE], operator[SECRET_SIZE];
    struct accounts *accounts = accounts_new();
    const char *problem;

    (void)state;
    begin(operator, NOW);
    for (size_t i = 0; i < HOLDER_SESSIONS_MAX; i++) {
        char list[32];
        size_t count = i == 1 ? 2 : 1; /* the second account has two sessions, not the oldest */

        snprintf(list, sizeof list, "acc%zu:a2V5LWE=", i);
        assert_true(accounts_add_list(accounts, list, &problem));
        list[strcspn(list, ":")] = '\0';
        for (size_t k = 0; k < count; k++)
            memcpy(single[i],
                   console_session_begin(
                       &sessions, accounts_find(accounts, bytes_from_string(list)), 0, NOW + i)
                       ->cookie,
                   SECRET_SIZE);
    }
    /* The last one took the place of one of the two of the second account. */
    for (size_t i = 0; i < HOLDER_SESSIONS_MAX; i++)
        assert_true(i == 1 || is_signed_in(single[i], NOW + HOLDER_SESSIONS_MAX));
    assert_true(is_signed_in(operator, NOW + HOLDER_SESSIONS_MAX));
    accounts_free(accounts);
}

/* Whoever has signed in with a key that is exchanged because it was known too widely is out. sessions.h (1) */
static void a_session_ends_with_its_key(void **state)
{
    struct accounts *accounts = accounts_new();
    const struct account *account;
    struct session *by_first, *by_second;
    const char *problem;

    (void)state;
    assert_true(accounts_add_list(accounts, LISTED, &problem));
    account = accounts_find(accounts, bytes_from_string("one"));
    by_first = console_session_begin(&sessions, account, 0, NOW);
    by_second = console_session_begin(&sessions, account, 1, NOW);
    assert_null(console_session_begin(&sessions, account, 2, NOW));
    assert_ptr_equal(console_session_find(&sessions, bytes_from_string(by_first->cookie), NOW),
                     by_first);
    assert_true(accounts_replace(accounts, "one:a2V5LWM=:a2V5LWI=", &problem));
    assert_null(console_session_find(&sessions, bytes_from_string(by_first->cookie), NOW));
    assert_false(by_first->is_taken);
    assert_ptr_equal(console_session_find(&sessions, bytes_from_string(by_second->cookie), NOW),
                     by_second);
    accounts_free(accounts);
}

static void a_link_is_valid_once_and_briefly(void **state)
{
    char link[SECRET_SIZE];

    (void)state;
    assert_false(link_use(&sessions, bytes_from_string(""), NOW));
    link_make(&sessions, link, NOW);
    assert_false(link_use(&sessions, bytes_of(link, SECRET_SIZE - 2), NOW));
    assert_true(link_use(&sessions, bytes_from_string(link), NOW + LINK_MAX_MS - 1));
    assert_false(link_use(&sessions, bytes_from_string(link), NOW));
    link_make(&sessions, link, NOW);
    assert_false(link_use(&sessions, bytes_from_string(link), NOW + LINK_MAX_MS));
    assert_false(link_use(&sessions, bytes_from_string(link), NOW));
}

static void the_oldest_of_many_links_is_forgotten(void **state)
{
    char links[LINKS_MAX + 1][SECRET_SIZE];

    (void)state;
    for (size_t i = 0; i <= LINKS_MAX; i++)
        link_make(&sessions, links[i], NOW);
    assert_false(link_use(&sessions, bytes_from_string(links[0]), NOW));
    assert_true(link_use(&sessions, bytes_from_string(links[1]), NOW));
    assert_true(link_use(&sessions, bytes_from_string(links[LINKS_MAX]), NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_session_requires_its_secret, setup),
        cmocka_unit_test_setup(an_idle_session_expires, setup),
        cmocka_unit_test_setup(a_used_session_expires_too, setup),
        cmocka_unit_test_setup(a_new_session_replaces_the_least_recently_used, setup),
        cmocka_unit_test_setup(account_holders_end_their_own_sessions, setup),
        cmocka_unit_test_setup(the_account_with_the_most_sessions_loses_one, setup),
        cmocka_unit_test_setup(a_session_ends_with_its_key, setup),
        cmocka_unit_test_setup(a_link_is_valid_once_and_briefly, setup),
        cmocka_unit_test_setup(the_oldest_of_many_links_is_forgotten, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
