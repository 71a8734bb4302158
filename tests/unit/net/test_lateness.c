/* What each phase of a connection allows its client, to the millisecond; what it has no part in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "net/net_private.h"

#define ACCEPTED_MS 1000000u
#define SINCE_MS    1100000u

static const struct net_limits limits = {
    .idle_s = 20,
    .body_stall_s = 5,
    .body_rate_min = 100,
    .body_rate_grace_s = 10,
    .answer_stall_s = 5,
    .answer_rate_min = 100,
    .answer_rate_s = 10,
    .linger_s = 7,
    .linger_stall_s = 2,
};

static struct net_server *server_with(unsigned stranger_s)
{
    struct net_server *server = xcalloc(1, sizeof *server);

    server->limits = limits;
    server->limits.stranger_s = stranger_s;
    return server;
}

static struct connection connection_in(struct net_server *server, enum phase phase)
{
    struct connection connection = { .server = server,
                                     .fd = -1,
                                     .accepted_ms = ACCEPTED_MS,
                                     .phase = (int)phase,
                                     .since_ms = SINCE_MS,
                                     .last_ms = SINCE_MS };

    return connection;
}

/* Late after so many milliseconds of its phase, and not one earlier. */
static void assert_late_after(struct connection *connection, unsigned ms, const char *why)
{
    assert_null(connection_timeout_reason(connection, SINCE_MS + ms));
    assert_string_equal(connection_timeout_reason(connection, SINCE_MS + ms + 1), why);
}

/* Rule: a phase ends by its own limit alone. */
static void test_each_phase_has_its_limit(void **state)
{
    struct net_server *server = server_with(0);
    struct connection idle = connection_in(server, PHASE_REQUEST);
    struct connection silent = connection_in(server, PHASE_BODY);
    struct connection slow = connection_in(server, PHASE_BODY);
    struct connection ours = connection_in(server, PHASE_OURS);
    struct connection closing = connection_in(server, PHASE_CLOSE);

    (void)state;
    assert_late_after(&idle, 20000, "no request in time");
    assert_late_after(&silent, 5000, "request body stalled");
    atomic_store(&slow.last_ms, SINCE_MS + 10000);
    atomic_store(&slow.body_bytes, 999);
    assert_late_after(&slow, 10000, "request body too slow");
    atomic_store(&slow.body_bytes, 1001);
    assert_null(connection_timeout_reason(&slow, SINCE_MS + 10001));
    assert_null(connection_timeout_reason(&ours, SINCE_MS + 1000000));
    assert_late_after(&closing, 2000, "has its last response, but does not close");
    atomic_store(&closing.last_ms, SINCE_MS + 7000);
    assert_late_after(&closing, 7000, "has its last response, but is still sending");
    free(server);
}

/* Rule: who sends is not silent, whoever counts the bytes; a body that we paused is not late. */
static void test_progress_is_counted(void **state)
{
    struct net_server *server = server_with(0);
    struct connection connection = connection_in(server, PHASE_REQUEST);

    (void)state;
    connection_awaits_body(&connection);
    connection_got_part(&connection, 10);
    connection_got_part(&connection, 5);
    connection_got_body(&connection, 1);
    assert_int_equal(atomic_load(&connection.body_bytes), 16);
    assert_true(atomic_load(&connection.last_ms) >= atomic_load(&connection.since_ms));
    atomic_store(&connection.last_ms, 1);
    connection_got_body(&connection, 1);
    assert_int_equal(atomic_load(&connection.last_ms), 1);
    connection_got_part(&connection, 1);
    assert_true(atomic_load(&connection.last_ms) > 1);

    connection_pauses(&connection);
    assert_int_equal(atomic_load(&connection.phase), PHASE_OURS);
    assert_null(connection_timeout_reason(&connection, UINT64_MAX / 2));
    connection_resumes_body(&connection);
    assert_int_equal(atomic_load(&connection.phase), PHASE_BODY);
    free(server);
}

/* Rule: a stranger is late by the time of the accept, whatever else he does; who is authenticated is not,
 * nor is anybody where there is no such limit. */
static void test_stranger(void **state)
{
    struct net_server *server = server_with(30);
    struct net_server *open_to_all = server_with(0);
    struct connection stranger = connection_in(server, PHASE_OURS);
    struct connection friend = connection_in(server, PHASE_OURS);
    struct connection guest = connection_in(open_to_all, PHASE_OURS);

    (void)state;
    friend.trusted = true;
    assert_null(connection_timeout_reason(&stranger, ACCEPTED_MS + 30000));
    assert_string_equal(connection_timeout_reason(&stranger, ACCEPTED_MS + 30001),
                        "did not authenticate in time");
    assert_null(connection_timeout_reason(&friend, ACCEPTED_MS + 1000000));
    assert_null(connection_timeout_reason(&guest, ACCEPTED_MS + 1000000));
    free(server);
    free(open_to_all);
}

/* Rule: a server that stops waits for nobody who has not begun a request. */
static void test_stop_ends_idleness(void **state)
{
    struct net_server *server = server_with(0);
    struct connection idle = connection_in(server, PHASE_REQUEST);
    struct connection busy = connection_in(server, PHASE_OURS);

    (void)state;
    assert_null(connection_timeout_reason(&idle, SINCE_MS));
    atomic_store(&server->stopping, true);
    assert_true(net_is_stopping(server));
    assert_string_equal(connection_timeout_reason(&idle, SINCE_MS), "the server is stopping");
    assert_null(connection_timeout_reason(&busy, SINCE_MS));
    free(server);
}

/* Rule: an idle connection to another server is used or closed, whichever comes first. decision: 1011 */
static void test_idle_is_used_or_closed(void **state)
{
    struct net_server *server = server_with(0);
    struct connection used = connection_in(server, PHASE_REQUEST);
    struct connection closed = connection_in(server, PHASE_REQUEST);
    struct connection connecting = connection_in(server, PHASE_CONNECT);

    (void)state;
    assert_true(connection_claim(&used));
    assert_false(connection_claim_to_close(&used));
    connection_awaits_request(&used);
    assert_true(connection_claim(&used));
    assert_true(connection_claim_to_close(&closed));
    assert_false(connection_claim(&closed));
    assert_false(connection_claim_to_close(&closed));
    assert_false(connection_claim(&connecting));
    free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_phase_has_its_limit),
        cmocka_unit_test(test_progress_is_counted),
        cmocka_unit_test(test_stranger),
        cmocka_unit_test(test_stop_ends_idleness),
        cmocka_unit_test(test_idle_is_used_or_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
