/* Bodies in both directions, over real sockets: whole, in chunks, announced, refused, paused, from
 * memory, files and sources. rfc: 9112 6 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

/* Chunked bodies, in pieces that cut chunks and their sizes anywhere; with pauses. What follows them
 * is the next request. rfc: 9112 7.1; decision: 48 */
static void takes_chunked_bodies(void **state)
{
    static const char text[] =
        "3\r\nabc\r\n1;ext=1\r\nd\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n" GET("/bytes/2");
    static const char *const targets[] = { "/echo",          "/echo?head",  "/echo?body",
                                           "/echo?body&end", "/echo?after", "/echo?after&body" };

    (void)state;
    for (size_t step = 1; step <= sizeof text; step++) {
        struct client *client = fixture_client();

        client_sendf(client, "PUT %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
                     targets[step % 6]);
        for (size_t at = 0; at < sizeof text - 1; at += step) {
            size_t left = sizeof text - 1 - at;

            client_send_bytes(client, text + at, left < step ? left : step);
        }
        fixture_expect(client, 200, "abcd0123456789");
        fixture_expect(client, 200, "ab");
        client_close(client);
    }
}

static void put_bytes(struct client *client, const char *target, size_t size)
{
    struct reply reply;

    client_sendf(client, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", target, size);
    assert_true(client_send_bytes(client, echo_bytes(), size));
    client_read(client, &reply);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body_size, size);
    assert_memory_equal(reply.body, echo_bytes(), size);
    reply_release(&reply);
}

/* Bodies larger than any buffer, taken whole, in sips, and with a pause at every run. */
static void takes_large_bodies(void **state)
{
    struct client *client = fixture_client();

    (void)state;
    put_bytes(client, "/echo", 3000000);
    put_bytes(client, "/echo?sip", 300000);
    put_bytes(client, "/echo?sip&body", 300000);
    put_bytes(client, "/echo?head&body&end", 3000000);
    put_bytes(client, "/echo?after", 3000000);
    client_close(client);
}

/* Who has closed his side once all was sent is answered, wherever the server waited meanwhile.
 * rfc: 9112 9.6 */
static void answers_half_closed_clients(void **state)
{
    static const char *const targets[] = {
        "/echo",          "/echo?end",       "/echo?body",           "/echo?body&end",
        "/echo?sip&body", "/echo?head&body", "/echo?after&body&end",
    };
    static const size_t sizes[] = { 0, 3, 20000, 300000 };

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0] * 4; i++) {
        struct client *client = fixture_client();
        struct reply reply;

        echo_hold();
        client_sendf(client, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                     targets[i / 4], sizes[i % 4]);
        assert_true(client_send_bytes(client, echo_bytes(), sizes[i % 4]));
        client_half_close(client);
        usleep(20000); /* it has been seen by whoever looks for it */
        echo_release();
        client_read(client, &reply);
        assert_int_equal(reply.status, 200);
        assert_int_equal(reply.body_size, sizes[i % 4]);
        assert_true(client_sees_end(client, CLIENT_PATIENCE_MS));
        reply_release(&reply);
        client_close(client);
    }
}

/* 100 goes out when head() wants the body, and only then. rfc: 9110 10.1.1 */
static void answers_expect(void **state)
{
    static const char *const targets[] = { "/echo", "/echo?head" };
    struct client *client = fixture_client();

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        client_sendf(client,
                     "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                     "Expect: 100-continue\r\n\r\n",
                     targets[i]);
        fixture_expect(client, 100, "");
        client_send(client, "hi");
        fixture_expect(client, 200, "hi");
    }
    client_close(client);
}

/* The final answer comes in place of 100 when the body is refused; then the connection closes, as
 * the client may send the body or not. rfc: 9110 10.1.1 */
static void refuses_instead_of_100(void **state)
{
    static const char *const targets[] = { "/refuse", "/refuse?head" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct client *client = fixture_client();

        client_sendf(client,
                     "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                     "Expect: 100-continue\r\n\r\n",
                     targets[i]);
        fixture_expect(client, 403, "refused");
        assert_true(client_sees_end(client, CLIENT_PATIENCE_MS));
        client_close(client);
    }
}

/* Other expectations cannot be met. rfc: 9110 10.1.1 */
static void refuses_other_expectations(void **state)
{
    struct client *client = fixture_client();

    (void)state;
    client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\n\r\n");
    fixture_expect(client, 417, "");
    client_close(client);
}

/* A refused body that is short is read to its end, the answer seen, the connection kept. */
static void refuses_early(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct client *client = fixture_client();

        client_send(client, "PUT /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n");
        assert_true(client_send_bytes(client, echo_bytes(), 60000));
        fixture_expect(client, 403, "refused");
        client_send(client, "PUT /refuse-late?body HTTP/1.1\r\nHost: x\r\n"
                            "Content-Length: 60000\r\n\r\n");
        assert_true(client_send_bytes(client, echo_bytes(), 60000));
        fixture_expect(client, 409, "refused late");
        client_send(client, "PUT /refuse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "5\r\nhello\r\n0\r\n\r\n");
        fixture_expect(client, 403, "refused");
        client_close(client);
    }
}

/* Bodies from a file (sendfile) and as they are made, with and without pauses. */
static void sends_bodies(void **state)
{
    static const struct {
        const char *target;
        size_t from;
        size_t size;
    } cases[] = {
        { "/file/0/10", 0, 10 },
        { "/file/12345/6000000", 12345, 6000000 },
        { "/file/8388607/1", 8388607, 1 },
        { "/file/7/0", 7, 0 },
        { "/file/100/100000?head&end", 100, 100000 },
        { "/source/1", 0, 1 },
        { "/source/3000000", 0, 3000000 },
        { "/source/300000?source", 0, 300000 },
        { "/source/300000?sip", 0, 300000 },
        { "/source/300000?head&end&source", 0, 300000 },
        { "/bytes/8388608", 0, 8388608 },
    };
    struct client *client = fixture_client();
    struct reply reply;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        client_sendf(client, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", cases[i].target);
        client_read(client, &reply);
        assert_int_equal(reply.status, 200);
        assert_int_equal(reply.body_size, cases[i].size);
        assert_memory_equal(reply.body, echo_bytes() + cases[i].from, cases[i].size);
        reply_release(&reply);
    }
    client_close(client);
}

/* A body that fails while it is sent ends in a cut connection, never in a short body. */
static void cuts_failed_sources(void **state)
{
    static const char *const targets[] = { "/source/50000?fail&sip",
                                           "/source/50000?fail&sip&source" };
    struct reply reply;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct client *client = fixture_client();

        client_sendf(client, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", targets[i]);
        client_read(client, &reply);
        assert_int_equal(reply.status, 0);
        assert_string_equal(reply_header(&reply, "Content-Length"), "50000");
        reply_release(&reply);
        client_close(client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(takes_chunked_bodies, fixture_all_done),
        cmocka_unit_test_teardown(takes_large_bodies, fixture_all_done),
        cmocka_unit_test_teardown(answers_half_closed_clients, fixture_all_done),
        cmocka_unit_test_teardown(answers_expect, fixture_all_done),
        cmocka_unit_test_teardown(refuses_instead_of_100, fixture_all_done),
        cmocka_unit_test_teardown(refuses_other_expectations, fixture_all_done),
        cmocka_unit_test_teardown(refuses_early, fixture_all_done),
        cmocka_unit_test_teardown(sends_bodies, fixture_all_done),
        cmocka_unit_test_teardown(cuts_failed_sources, fixture_all_done),
    };

    return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
