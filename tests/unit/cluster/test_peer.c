/* Requests of a front end to the owner of another cell: cluster/peer.h. The owner is a server that sends whatever the test
 * wants, over TLS with the cluster's key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "cluster/envelope.h"
#include "cluster/front.h"
#include "cluster/lease.h"
#include "cluster/peer.h"
#include "http/http.h"
#include "net/connection.h"

#define MS            ((uint64_t)1000000)

/* ---- an owner that responds with what it is given ---- */

#define RESPONSES_MAX 4

static struct {
    struct net_server *server;
    struct net_key *key;
    atomic_uint requests, connections;
    atomic_uint next;
    const char *responses
        [RESPONSES_MAX]; /* in their order, the last one again and again; "": none, and it closes */
    bool is_silent;      /* sends nothing */
} owner;

struct canned {
    struct connection net; /* first */
    char request[2048];
    size_t received;
};

static void begin(struct connection *connection)
{
    (void)connection;
    atomic_fetch_add(&owner.connections, 1);
}

static bool is_complete(struct canned *c)
{
    struct envelope envelope;
    struct bytes there = bytes_of(c->request, c->received);
    const char *body;
    size_t length;

    if (envelope_read(there, &envelope) != INTRODUCTION_WHOLE)
        return false;
    assert_int_equal(envelope.service, ENVELOPE_OF_PEER);
    assert_int_equal(envelope.cell, 2);
    assert_int_equal(envelope.renewed_ns, envelope.incarnation);
    there = bytes_from(there, envelope.said.size);
    body = memmem(there.ptr, there.len, "\r\n\r\n", 4);
    if (!body)
        return false;
    assert_memory_equal(there.ptr,
                        "POST /-/x HTTP/1.1\r\nHost: cell-2\r\nContent-Length: 4\r\n\r\n", 54);
    length = there.len - (size_t)(body + 4 - there.ptr);
    assert_true(length <= 4);
    return length == 4 && memcmp(body + 4, "body", 4) == 0;
}

static enum turn respond(struct canned *c)
{
    unsigned i = atomic_fetch_add(&owner.next, 1);
    const char *text;
    struct iovec part;

    while (i > 0 && (i >= RESPONSES_MAX || !owner.responses[i]))
        i--;
    text = owner.responses[i];
    c->received = 0;
    atomic_fetch_add(&owner.requests, 1);
    if (owner.is_silent)
        return TURN_WAITS;
    if (!text || !*text)
        return TURN_ENDS;
    part = (struct iovec){ .iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text) };
    return transport_send(&c->net, &part, 1, false) == (ssize_t)part.iov_len ? TURN_WAITS
                                                                             : TURN_ENDS;
}

static enum turn take_turn(struct connection *connection)
{
    struct canned *c = (struct canned *)(void *)connection;

    while (connection->readable) {
        ssize_t n = transport_receive(connection, c->request + c->received,
                                      sizeof c->request - c->received);

        if (n == TRANSPORT_WAITS)
            break;
        if (n <= 0)
            return TURN_ENDS;
        c->received += (size_t)n;
        if (is_complete(c) && respond(c) == TURN_ENDS)
            return TURN_ENDS;
    }
    return TURN_WAITS;
}

static void posted(struct connection *connection)
{
    (void)connection;
}

static void end(struct connection *connection)
{
    (void)connection;
}

static const struct net_protocol protocol = {
    .name = "canned",
    .connection_bytes = sizeof(struct canned),
    .begin = begin,
    .turn = take_turn,
    .posted = posted,
    .end = end,
};

/* ---- a front end that asks it ---- */

struct world {
    struct route route;
    struct peers peers;
    struct arena *arena;
    struct net_key *key;
};

static struct net_key *key_of(uint8_t first)
{
    struct net_secrets secret = { 1, { { first } } };
    const char *problem = "";
    struct net_key *key = net_key_new("cluster", &secret, &problem);

    assert_non_null(key);
    return key;
}

static void show_owner(struct world *w, uint64_t incarnation)
{
    struct owner_record record = { .cell = 2, .incarnation = incarnation, .is_held = true };

    snprintf(record.owner.forward, sizeof record.owner.forward, "127.0.0.1:%u",
             net_port(owner.server));
    record.owner.protocol = protocol_own();
    record.renewed_ns = incarnation;
    (void)route_saw(&w->route, 2, &record, clock_boot_ns());
}

static void setup(struct world *w, const char *first, const char *second)
{
    struct net_limits limits = http_limits_default.net;
    struct net_listen listen = { .host = "127.0.0.1" };
    const char *problem = "";

    memset(w, 0, sizeof *w);
    memset(&owner, 0, sizeof owner);
    owner.key = key_of(1);
    owner.responses[0] = first;
    owner.responses[1] = second;
    listen.key = owner.key;
    limits.workers = 1;
    owner.server = net_start(&listen, &limits, &protocol, NULL, &problem);
    assert_non_null(owner.server);
    w->key = key_of(1);
    w->arena = arena_new((size_t)64 << 20);
    route_init(&w->route);
    route_add(&w->route, 2);
    route_add(&w->route, 2);
    peers_init(&w->peers, &w->route, w->key);
    show_owner(w, 5);
}

static void teardown(struct world *w)
{
    peers_release(&w->peers);
    net_stop(owner.server, 0);
    net_key_free(owner.key);
    net_key_free(w->key);
    arena_free(w->arena);
}

static struct peer_request request_of(bool is_repeatable)
{
    return (struct peer_request){ .cell = 2,
                                  .path = "/-/x",
                                  .body = BYTES("body"),
                                  .response_max = 16,
                                  .timeout_ms = 800,
                                  .is_repeatable = is_repeatable };
}

static enum peer_result ask(struct world *w, bool is_repeatable, struct peer_response *response)
{
    struct peer_request request = request_of(is_repeatable);

    return peer_ask(&w->peers, &request, w->arena, response);
}

#define OK_RESPONSE   "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define NOT_THE_OWNER "HTTP/1.1 421 No\r\nContent-Length: 0\r\n\r\n"

/* ---- responses ---- */

static void a_response_is_returned(void **state)
{
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, OK_RESPONSE, "HTTP/1.1 507 Full\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(ask(&w, true, &response), PEER_OK);
    assert_int_equal(response.status, 200);
    assert_true(bytes_is(response.body, "hello"));
    assert_int_equal(ask(&w, true, &response), PEER_OK);
    assert_int_equal(response.status, 507);
    assert_int_equal(response.body.len, 0);
    teardown(&w);
}

/* What may be repeated goes over a connection that is kept; what may not, over a new one. */
static void connections_are_kept(void **state)
{
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, OK_RESPONSE, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(&w, true, &response), PEER_OK);
    assert_int_equal(atomic_load(&owner.connections), 1);
    assert_int_equal(ask(&w, false, &response), PEER_OK);
    assert_int_equal(atomic_load(&owner.connections), 2);
    /* A connection to an earlier incarnation is of no use. */
    show_owner(&w, 6);
    assert_int_equal(ask(&w, true, &response), PEER_OK);
    assert_int_equal(atomic_load(&owner.connections), 3);
    teardown(&w);
}

static void several_are_in_progress(void **state)
{
    struct peer_request request = request_of(true);
    struct peer_call *calls[3];
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, OK_RESPONSE, NULL);
    for (int i = 0; i < 3; i++)
        calls[i] = peer_begin(&w.peers, &request, w.arena);
    for (int i = 0; i < 3; i++)
        assert_int_equal(peer_end(calls[i], &response), PEER_OK);
    assert_int_equal(atomic_load(&owner.connections), 3);
    teardown(&w);
}

static void the_owner_closes(void **state)
{
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", OK_RESPONSE);
    assert_int_equal(ask(&w, true, &response), PEER_OK);
    assert_int_equal(ask(&w, true, &response), PEER_OK);
    assert_int_equal(atomic_load(&owner.connections), 2);
    teardown(&w);
}

/* ---- owners that change ---- */

static void refused_by_another_owner(void **state)
{
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, NOT_THE_OWNER, OK_RESPONSE);
    assert_int_equal(ask(&w, false, &response),
                     PEER_OK); /* it was not executed, so it may be repeated */
    assert_int_equal(response.status, 200);
    assert_int_equal(atomic_load(&owner.requests), 2);
    teardown(&w);
    setup(&w, NOT_THE_OWNER, NULL);
    assert_int_equal(ask(&w, false, &response), PEER_NO_OWNER);
    assert_true(atomic_load(&owner.requests) > 1);
    teardown(&w);
}

static void no_owner(void **state)
{
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, OK_RESPONSE, NULL);
    (void)route_saw(&w.route, 2, NULL, 9);
    assert_int_equal(ask(&w, true, &response), PEER_NO_OWNER);
    assert_int_equal(atomic_load(&owner.connections), 0);
    teardown(&w);
}

/* After a pause, the owner and its lease may have changed. */
static void a_record_read_long_ago(void **state)
{
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, OK_RESPONSE, NULL);
    w.route.cells[0].asked_ns -= FORWARD_FRESH_MS * MS;
    assert_int_equal(ask(&w, true, &response), PEER_NO_OWNER);
    assert_int_equal(atomic_load(&owner.connections), 0);
    show_owner(&w, 5);
    assert_int_equal(ask(&w, true, &response), PEER_OK);
    teardown(&w);
}

/* A process that stops does not wait for the owner of another cell. */
static void stopping(void **state)
{
    uint64_t began_ns = clock_boot_ns();
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, OK_RESPONSE, NULL);
    route_close(&w.route);
    assert_int_equal(ask(&w, true, &response), PEER_NO_OWNER);
    assert_true(clock_boot_ns() - began_ns < 500 * MS);
    teardown(&w);
}

static void another_key(void **state)
{
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, OK_RESPONSE, NULL);
    net_key_free(w.key);
    w.key = w.peers.key = key_of(2);
    assert_int_equal(ask(&w, true, &response), PEER_NO_OWNER);
    assert_int_equal(atomic_load(&owner.requests), 0);
    teardown(&w);
}

/* ---- owners that are lost, or lie ---- */

static void lost_after_it_was_sent(void **state)
{
    struct peer_response response;
    struct world w;

    (void)state;
    setup(&w, "", OK_RESPONSE);
    assert_int_equal(ask(&w, false, &response), PEER_LOST);
    assert_int_equal(atomic_load(&owner.requests), 1); /* and never sent again */
    teardown(&w);
    setup(&w, "", OK_RESPONSE);
    assert_int_equal(ask(&w, true, &response), PEER_OK);
    assert_int_equal(atomic_load(&owner.requests), 2);
    teardown(&w);
}

static void silence_ends(void **state)
{
    struct peer_response response;
    struct world w;
    uint64_t began_ns;

    (void)state;
    setup(&w, OK_RESPONSE, NULL);
    owner.is_silent = true;
    began_ns = clock_boot_ns();
    assert_int_equal(ask(&w, true, &response), PEER_LOST);
    assert_true(clock_boot_ns() - began_ns >= 750 * MS);
    assert_true(clock_boot_ns() - began_ns < 3000 * MS);
    teardown(&w);
}

static void invalid_responses(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n12345678901234567", /* longer than may be */
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n", /* longer than memory */
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!", /* followed by something */
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "\x16\x03\x01nonsense\r\n\r\n",
    };
    struct peer_response response;
    struct world w;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        setup(&w, texts[i], NULL);
        assert_int_equal(ask(&w, false, &response), PEER_LOST);
        teardown(&w);
    }
}

/* ---- the internal endpoint ---- */

static struct front front;
static atomic_uint executed, counted;

static enum http_step execute(struct exchange *exchange)
{
    atomic_fetch_add(&executed, 1);
    atomic_store(&counted, atomic_load(&front.executing));
    exchange->response.status = 200;
    exchange->response.body_kind = BODY_BYTES;
    exchange->response.body = bytes_from_string(exchange->request.listener_tag);
    return HTTP_RESPOND;
}

static enum http_step throw_away(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    (void)exchange;
    *ret_taken = data.len;
    return HTTP_RESPOND;
}

static enum http_step end_body(struct exchange *exchange)
{
    (void)exchange;
    return HTTP_RESPOND;
}

static void done(struct exchange *exchange)
{
    (void)exchange;
}

static const struct http_application peer_application = {
    .head = execute, .body = throw_away, .end = end_body, .done = done
};

/* An owner executes what is meant for its incarnation and its cell, and only while it serves. A handover waits for it. */
static void the_internal_endpoint(void **state)
{
    static const char *const names[FORWARD_SERVICES] = { "blob", "queue", "table", "file", "dfs" };
    static char tag[] = "peer";
    struct http_application internal = front_internal_application_for(&peer_application);
    struct net_listen listen = { .host = "127.0.0.1" };
    struct tenure tenure;
    struct peer_response response;
    struct http_server *server;
    const char *problem = "";
    struct world w;

    (void)state;
    setup(&w, OK_RESPONSE, NULL);
    net_stop(owner.server, 0);
    front_init(&front, &peer_application, names, w.key, NULL);
    front_serve_peers(&front, &peer_application, tag);
    listen.key = owner.key;
    server = http_start(&listen, &http_limits_default, &internal, &front, &problem);
    assert_non_null(server);
    for (unsigned i = 0; i < 4; i++) {
        struct owner_record record = {
            .cell = 2,
            .incarnation = i == 2 ? 6 : 5,
            .is_held = true,
            .renewed_ns = clock_boot_ns() - (i == 3 ? LEASE_MS * MS : 0),
            .owner.protocol = protocol_own(),
        };

        snprintf(record.owner.forward, sizeof record.owner.forward, "127.0.0.1:%u",
                 http_port(server));
        (void)route_saw(&w.route, 2, &record, clock_boot_ns());
        if (i == 1) {
            atomic_store(&tenure.ends_ns, clock_boot_ns() + 60000 * MS);
            front_serve(&front, &tenure, 2, 5);
        }
        assert_int_equal(ask(&w, false, &response), i == 1 ? PEER_OK : PEER_NO_OWNER);
        assert_int_equal(atomic_load(&executed), i > 0);
        assert_int_equal(atomic_load(&counted), i > 0);
        assert_true(i != 1 || bytes_is(response.body, "peer"));
    }
    assert_true(front_hand_over(&front, 1000));
    peers_release(&w.peers);
    http_stop(server, 0);
    net_key_free(owner.key);
    net_key_free(w.key);
    arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_is_returned),
        cmocka_unit_test(connections_are_kept),
        cmocka_unit_test(several_are_in_progress),
        cmocka_unit_test(the_owner_closes),
        cmocka_unit_test(refused_by_another_owner),
        cmocka_unit_test(no_owner),
        cmocka_unit_test(a_record_read_long_ago),
        cmocka_unit_test(another_key),
        cmocka_unit_test(stopping),
        cmocka_unit_test(lost_after_it_was_sent),
        cmocka_unit_test(silence_ends),
        cmocka_unit_test(invalid_responses),
        cmocka_unit_test(the_internal_endpoint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
