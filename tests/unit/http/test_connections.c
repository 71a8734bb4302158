/* Which connections are let in, which give way, which worker serves them, and that a server that is
 * stopped while clients connect stops in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"
#include "echo.h"
#include "http/http_private.h"
#include "net/net_private.h"

#define PLACES 8

static const struct http_limits few_places = {
    .net = { .workers = 2,
             .connections_max = PLACES,
             .idle_s = 60,
             .body_stall_s = 60,
             .body_rate_min = 1,
             .body_rate_grace_s = 60,
             .linger_max_bytes = 1000000,
             .linger_s = 60,
             .linger_stall_s = 60 },
    .connection_memory_bytes = (size_t)24 * 1024,
    .discard_max_bytes = 1000000,
};

static struct http_server *server;

static int start_with(const struct http_limits *limits)
{
    struct net_listen listen = { .host = "127.0.0.1" };
    const char *problem = NULL;

    echo_start();
    server = http_start(&listen, limits, &echo_application, NULL, &problem);
    return server ? 0 : -1;
}

static int start(void **state)
{
    (void)state;
    return start_with(&few_places);
}

/* At most three connections of one address. */
static int start_fair(void **state)
{
    struct http_limits limits = few_places;

    (void)state;
    limits.net.connections_per_address_max = 3;
    return start_with(&limits);
}

static int stop(void **state)
{
    (void)state;
    if (server)
        http_stop(server, 1);
    server = NULL;
    echo_stop();
    return echo_heads() == echo_dones() ? 0 : -1;
}

static struct client *open_client(void)
{
    return client_open(http_port(server));
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: x\r\n\r\n"

static bool answers(struct client *client, const char *request, int status)
{
    struct reply reply;
    int seen;

    client_send(client, request);
    client_read(client, &reply);
    seen = reply.status;
    reply_release(&reply);
    return seen == status;
}

static void close_all(struct client **clients, size_t count)
{
    for (size_t i = 0; i < count; i++)
        client_close(clients[i]);
}

/* Waits until the server counts so many connections. */
static void wait_for_count(unsigned count)
{
    for (int i = 0; i < CLIENT_PATIENCE_MS && connections_count(server->net) != count; i++)
        usleep(1000);
    assert_int_equal(connections_count(server->net), count);
}

/* A full server whose connections are idle takes a new one in the place of the oldest. */
static void idle_ones_give_way(void **state)
{
    struct client *clients[PLACES];
    struct client *late;

    (void)state;
    for (size_t i = 0; i < PLACES; i++)
        clients[i] = open_client();
    wait_for_count(PLACES);
    late = open_client();
    assert_true(answers(late, GET("/bytes/1"), 200));
    assert_true(client_sees_end(clients[0], CLIENT_PATIENCE_MS));
    for (size_t i = 1; i < PLACES; i++)
        assert_true(answers(clients[i], GET("/bytes/1"), 200));
    client_close(late);
    close_all(clients, PLACES);
}

/* A connection whose client was authenticated keeps its place while there are others, however many
 * come and however old it is. */
static void trusted_ones_stay(void **state)
{
    struct client *trusted = open_client();
    struct client *others[3 * PLACES];

    (void)state;
    assert_true(answers(trusted, GET("/bytes/1?trust"), 200));
    for (size_t i = 0; i < 3 * PLACES; i++) {
        others[i] = open_client();
        assert_true(answers(others[i], GET("/bytes/1"), 200));
    }
    assert_true(answers(trusted, GET("/bytes/1"), 200));
    assert_true(client_sees_end(others[0], CLIENT_PATIENCE_MS));
    close_all(others, 3 * PLACES);
    client_close(trusted);
}

/* When only such are left, the oldest idle one of them gives way. */
static void trusted_ones_give_way_last(void **state)
{
    struct client *clients[PLACES];
    struct client *late;

    (void)state;
    for (size_t i = 0; i < PLACES; i++) {
        clients[i] = open_client();
        assert_true(answers(clients[i], GET("/bytes/1?trust"), 200));
    }
    late = open_client();
    assert_true(answers(late, GET("/bytes/1"), 200));
    assert_true(client_sees_end(clients[0], CLIENT_PATIENCE_MS));
    client_close(late);
    close_all(clients, PLACES);
}

/* A server all of whose connections are being served answers 503 and closes; a place that is free
 * again is given. */
static void busy_server_answers_503(void **state)
{
    struct client *clients[PLACES];
    struct client *late = NULL;
    struct reply reply;

    (void)state;
    echo_hold();
    for (size_t i = 0; i < PLACES; i++) {
        clients[i] = open_client();
        client_send(clients[i], GET("/bytes/1?head"));
    }
    while (echo_held() < PLACES)
        usleep(1000);
    for (int i = 0; i < 3; i++) {
        late = open_client();
        client_send(late, GET("/bytes/1"));
        client_read(late, &reply);
        assert_int_equal(reply.status, 503);
        assert_string_equal(reply.body, "busy");
        assert_string_equal(reply_header(&reply, "Connection"), "close");
        reply_release(&reply);
        assert_true(client_sees_end(late, CLIENT_PATIENCE_MS));
        client_close(late);
        wait_for_count(PLACES); /* only so many can be refused at a time */
    }
    echo_release();
    for (size_t i = 0; i < PLACES; i++)
        assert_true(answers(clients[i], "", 200));
    close_all(clients, PLACES);
    wait_for_count(0);
    late = open_client();
    assert_true(answers(late, GET("/bytes/1"), 200));
    client_close(late);
}

/* An address that has all of its places takes a new one from itself, and is refused when all of
 * them are busy; others are not touched. */
static void addresses_have_a_limit(void **state)
{
    struct client *own[3];
    struct client *other = client_open_from(http_port(server), 2);
    struct client *late;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        own[i] = open_client();
        assert_true(answers(own[i], GET("/bytes/1"), 200));
    }
    late = open_client();
    assert_true(answers(late, GET("/bytes/1"), 200));
    assert_true(client_sees_end(own[0], CLIENT_PATIENCE_MS));
    client_close(late);
    client_close(own[0]);
    wait_for_count(3);

    own[0] = open_client();
    echo_hold();
    for (size_t i = 0; i < 3; i++)
        client_send(own[i], GET("/bytes/1?head"));
    while (echo_held() < 3)
        usleep(1000);
    late = open_client();
    assert_true(answers(late, GET("/bytes/1"), 503));
    client_close(late);
    assert_true(answers(other, GET("/bytes/1"), 200));
    echo_release();
    for (size_t i = 0; i < 3; i++)
        assert_true(answers(own[i], "", 200));
    close_all(own, 3);
    client_close(other);
}

static void assert_even_spread(unsigned workers)
{
    lock_acquire(&server->net->lock);
    for (unsigned i = 0; i < workers; i++)
        assert_int_equal(server->net->workers[i].connections, 64 / workers);
    lock_release(&server->net->lock);
}

/* 64 connections: each worker has its share, also after half of them left and came again. */
static void spreads_over(unsigned workers)
{
    struct http_limits limits = few_places;
    struct client *clients[64];

    limits.net.workers = workers;
    limits.net.connections_max = 100;
    assert_int_equal(start_with(&limits), 0);
    for (size_t i = 0; i < 64; i++)
        clients[i] = open_client();
    wait_for_count(64);
    assert_even_spread(workers);
    close_all(clients, 32);
    wait_for_count(32);
    for (size_t i = 0; i < 32; i++) {
        clients[i] = open_client();
        assert_true(answers(clients[i], GET("/bytes/1"), 200));
    }
    assert_even_spread(workers);
    close_all(clients, 64);
}

static void spreads_over_two(void **state)
{
    (void)state;
    spreads_over(2);
}

static void spreads_over_eight(void **state)
{
    (void)state;
    spreads_over(8);
}

/* ---- stops ---- */

#define STOPS    60
#define KNOCKERS 4

static _Atomic unsigned knock_port;
static _Atomic bool knocking;

/* Connects and asks without end, whatever becomes of it. */
static void *knock(void *argument)
{
    (void)argument;
    while (atomic_load(&knocking)) {
        uint16_t port = (uint16_t)atomic_load(&knock_port);
        struct client *client = port != 0 ? client_try((uint16_t)port) : NULL;

        if (!client) {
            usleep(1000);
            continue;
        }
        client_send(client, GET("/bytes/1?head"));
        client_sees_bytes(client, 2);
        client_close(client);
    }
    return NULL;
}

/* Started and stopped many times while clients connect, ask and leave. */
static void stops_under_connects(void **state)
{
    pthread_t knockers[KNOCKERS];

    (void)state;
    atomic_store(&knocking, true);
    for (size_t i = 0; i < KNOCKERS; i++)
        pthread_create(&knockers[i], NULL, knock, NULL);
    for (unsigned i = 0; i < STOPS; i++) {
        assert_int_equal(start_with(&few_places), 0);
        atomic_store(&knock_port, http_port(server));
        usleep(i % 5 * 1000);
        http_stop(server, 1);
        server = NULL;
        echo_stop();
    }
    atomic_store(&knocking, false);
    for (size_t i = 0; i < KNOCKERS; i++)
        pthread_join(knockers[i], NULL);
    assert_int_equal(echo_heads(), echo_dones());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(idle_ones_give_way, start, stop),
        cmocka_unit_test_setup_teardown(trusted_ones_stay, start, stop),
        cmocka_unit_test_setup_teardown(trusted_ones_give_way_last, start, stop),
        cmocka_unit_test_setup_teardown(busy_server_answers_503, start, stop),
        cmocka_unit_test_setup_teardown(addresses_have_a_limit, start_fair, stop),
        cmocka_unit_test_teardown(spreads_over_two, stop),
        cmocka_unit_test_teardown(spreads_over_eight, stop),
        cmocka_unit_test(stops_under_connects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
