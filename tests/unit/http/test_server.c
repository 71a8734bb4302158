/* The http room serves HTTP/1.1 as its header says: every sentence of http.h's top, over real
 * sockets. rfc: 9110, 9112 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"
#include "echo.h"

static struct http_server *server;

static int start(void **state)
{
    struct http_listen listen = { .host = "127.0.0.1" };
    const char *problem = NULL;

    (void)state;
    echo_start();
    server = http_start(&listen, &http_limits_default, &echo_application, &problem);
    return server ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    http_stop(server, 1);
    echo_stop();
    return 0;
}

static struct client *open_client(void)
{
    return client_open(http_port(server));
}

/* Every head() has its done(). */
static int all_done(void **state)
{
    (void)state;
    for (int i = 0; i < 1000 && echo_heads() != echo_dones(); i++)
        usleep(1000);
    return echo_heads() == echo_dones() ? 0 : -1;
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: x\r\n\r\n"

static void expect(struct client *client, int status, const char *body)
{
    struct reply reply;

    client_read(client, &reply);
    assert_int_equal(reply.status, status);
    assert_string_equal(reply.body, body);
    reply_release(&reply);
}

/* Several requests on one connection. rfc: 9112 9.3 */
static void keeps_alive(void **state)
{
    struct client *client = open_client();

    (void)state;
    for (int i = 0; i < 5; i++) {
        client_send(client, GET("/bytes/5"));
        expect(client, 200, "abcde");
        client_send(client, "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
        expect(client, 200, "hi");
        client_send(client, "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        expect(client, 200, "");
    }
    client_send(client, "GET /bytes/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(client, 200, "a");
    assert_true(client_sees_end(client, 5000));
    client_close(client);
}

/* HTTP/1.0 closes unless asked to keep. rfc: 9112 9.3 */
static void serves_http_1_0(void **state)
{
    struct client *client = open_client();

    (void)state;
    client_send(client, "GET /bytes/1 HTTP/1.0\r\n\r\n");
    expect(client, 200, "a");
    assert_true(client_sees_end(client, 5000));
    client_close(client);
}

/* Requests sent ahead are answered in order. rfc: 9112 9.3.2 */
static void pipelines(void **state)
{
    struct client *client = open_client();

    (void)state;
    for (int i = 0; i < 20; i++) {
        client_send(client, GET("/bytes/3?end"));
        client_send(client, "PUT /echo?body HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
        client_send(client, GET("/source/4?source"));
    }
    for (int i = 0; i < 20; i++) {
        expect(client, 200, "abc");
        expect(client, 200, "hi");
        expect(client, 200, "abcd");
    }
    client_close(client);
}

/* HEAD: the length GET would have, and no body. rfc: 9110 9.3.2 */
static void answers_head(void **state)
{
    static const char *const targets[] = { "/bytes/77", "/file/5/77", "/source/77" };
    struct client *client = open_client();
    struct reply reply;

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        client_sendf(client, "HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n", targets[i]);
        client_read_head(client, &reply);
        assert_int_equal(reply.status, 200);
        assert_string_equal(reply_header(&reply, "Content-Length"), "77");
        reply_release(&reply);
    }
    client_send(client, GET("/bytes/3"));
    expect(client, 200, "abc");
    client_close(client);
}

/* Chunked bodies, in pieces that cut chunks and their sizes anywhere; with pauses. rfc: 9112 7.1 */
static void takes_chunked_bodies(void **state)
{
    static const char text[] =
        "3\r\nabc\r\n1;ext=1\r\nd\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
    static const char *const targets[] = { "/echo",          "/echo?head",  "/echo?body",
                                           "/echo?body&end", "/echo?after", "/echo?after&body" };
    struct client *client = open_client();

    (void)state;
    for (size_t step = 1; step <= sizeof text; step++) {
        client_sendf(client, "PUT %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
                     targets[step % 6]);
        for (size_t at = 0; at < sizeof text - 1; at += step) {
            size_t left = sizeof text - 1 - at;

            client_send_bytes(client, text + at, left < step ? left : step);
        }
        expect(client, 200, "abcd0123456789");
    }
    client_close(client);
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
    struct client *client = open_client();

    (void)state;
    put_bytes(client, "/echo", 3000000);
    put_bytes(client, "/echo?sip", 300000);
    put_bytes(client, "/echo?sip&body", 300000);
    put_bytes(client, "/echo?head&body&end", 3000000);
    put_bytes(client, "/echo?after", 3000000);
    client_close(client);
}

/* 100 goes out when head() wants the body, and only then. rfc: 9110 10.1.1 */
static void answers_expect(void **state)
{
    static const char *const targets[] = { "/echo", "/echo?head" };
    struct client *client = open_client();

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        client_sendf(client,
                     "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                     "Expect: 100-continue\r\n\r\n",
                     targets[i]);
        expect(client, 100, "");
        client_send(client, "hi");
        expect(client, 200, "hi");
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
        struct client *client = open_client();

        client_sendf(client,
                     "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                     "Expect: 100-continue\r\n\r\n",
                     targets[i]);
        expect(client, 403, "refused");
        assert_true(client_sees_end(client, 5000));
        client_close(client);
    }
}

/* Other expectations cannot be met. rfc: 9110 10.1.1 */
static void refuses_other_expectations(void **state)
{
    struct client *client = open_client();

    (void)state;
    client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\n\r\n");
    expect(client, 417, "");
    client_close(client);
}

/* A refused body is read to its end, the answer seen, the connection kept. */
static void refuses_early(void **state)
{
    struct client *client = open_client();

    (void)state;
    for (int i = 0; i < 3; i++) {
        client_send(client, "PUT /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
        assert_true(client_send_bytes(client, echo_bytes(), 1000000));
        expect(client, 403, "refused");
        client_send(client, "PUT /refuse-late?body HTTP/1.1\r\nHost: x\r\n"
                            "Content-Length: 1000000\r\n\r\n");
        assert_true(client_send_bytes(client, echo_bytes(), 1000000));
        expect(client, 409, "refused late");
        client_send(client, "PUT /refuse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "5\r\nhello\r\n0\r\n\r\n");
        expect(client, 403, "refused");
    }
    client_close(client);
}

static void cuts(void **state)
{
    struct client *client = open_client();

    (void)state;
    client_send(client, GET("/cut"));
    assert_true(client_sees_end(client, 5000));
    client_close(client);
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
    struct client *client = open_client();
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
        struct client *client = open_client();

        client_sendf(client, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", targets[i]);
        client_read(client, &reply);
        assert_int_equal(reply.status, 0);
        assert_string_equal(reply_header(&reply, "Content-Length"), "50000");
        reply_release(&reply);
        client_close(client);
    }
}

/* An empty value arrives as one, and many headers arrive. */
static void sends_headers(void **state)
{
    struct client *client = open_client();
    struct reply reply;

    (void)state;
    client_send(client, GET("/bytes/1?large-headers"));
    client_read(client, &reply);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply_header(&reply, "x-empty"), "");
    assert_int_equal(strlen(reply_header(&reply, "x-large-63")), 100);
    assert_non_null(reply_header(&reply, "Date"));
    reply_release(&reply);
    client_close(client);
}

/* The target is kept as it was sent: signatures are made over it. */
static void keeps_the_raw_target(void **state)
{
    static const struct {
        const char *target;
        const char *seen;
    } cases[] = {
        { "/request/a%2Fb+c%20d", "/request/a%2Fb+c%20d\n" },
        { "/request//a/../b/./", "/request//a/../b/./\n" },
        { "/request/%zz%", "/request/%zz%\n" },
        { "/request?a&b=&=c&d=e=f?g", "/request\n?a&b=&=c&d=e=f?g\n" },
        { "/request?a+b=%2B%26", "/request\n?a+b=%2B%26\n" },
        { "/request?", "/request\n?\n" },
        { "/request/\xC3\xA4\xFF", "/request/\xC3\xA4\xFF\n" },
        { "http://other:80/request/x?y", "/request/x\n?y\n" },
    };
    struct client *client = open_client();
    char expected[256];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        client_sendf(client, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", cases[i].target);
        snprintf(expected, sizeof expected, "GET\n%shost (Host): x\n", cases[i].seen);
        expect(client, 200, expected);
    }
    client_close(client);
}

/* Names in lower case and as sent, values without blanks around them; obs-text is kept. */
static void reads_headers(void **state)
{
    struct client *client = open_client();

    (void)state;
    client_send(client, "MERGE /request HTTP/1.1\r\nHost:x\r\nX-MS-Meta-AbC: \t a  b\t \r\n"
                        "x-empty:\r\nX-Text: \xE4\r\nx-empty: 2\r\n\r\n");
    expect(client, 200,
           "MERGE\n/request\nhost (Host): x\nx-ms-meta-abc (X-MS-Meta-AbC): a  b\n"
           "x-empty (x-empty): \nx-text (X-Text): \xE4\nx-empty (x-empty): 2\n");
    client_close(client);
}

/* 64 connections at once, each exchange paused in every step. */
static void pauses_many_at_once(void **state)
{
    struct client *clients[64];

    (void)state;
    for (size_t i = 0; i < 64; i++)
        clients[i] = open_client();
    for (int round = 0; round < 30; round++) {
        echo_hold();
        for (size_t i = 0; i < 64; i++)
            client_send(clients[i], "PUT /echo?head&body&end HTTP/1.1\r\nHost: x\r\n"
                                    "Content-Length: 2\r\n\r\nhi");
        while (echo_held() < 64)
            usleep(100);
        echo_release();
        for (size_t i = 0; i < 64; i++)
            expect(clients[i], 200, "hi");
    }
    for (size_t i = 0; i < 64; i++)
        client_close(clients[i]);
}

/* A client that goes away while its exchange is paused is noticed after the resume. */
static void survives_clients_that_leave(void **state)
{
    (void)state;
    echo_hold();
    for (int i = 0; i < 20; i++) {
        struct client *client = open_client();

        client_send(client, "PUT /echo?end HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
        while (echo_held() <= (unsigned)i)
            usleep(100);
        client_close(client);
    }
    echo_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(keeps_alive, all_done),
        cmocka_unit_test_teardown(serves_http_1_0, all_done),
        cmocka_unit_test_teardown(pipelines, all_done),
        cmocka_unit_test_teardown(answers_head, all_done),
        cmocka_unit_test_teardown(takes_chunked_bodies, all_done),
        cmocka_unit_test_teardown(takes_large_bodies, all_done),
        cmocka_unit_test_teardown(answers_expect, all_done),
        cmocka_unit_test_teardown(refuses_instead_of_100, all_done),
        cmocka_unit_test_teardown(refuses_other_expectations, all_done),
        cmocka_unit_test_teardown(refuses_early, all_done),
        cmocka_unit_test_teardown(cuts, all_done),
        cmocka_unit_test_teardown(sends_bodies, all_done),
        cmocka_unit_test_teardown(cuts_failed_sources, all_done),
        cmocka_unit_test_teardown(sends_headers, all_done),
        cmocka_unit_test_teardown(keeps_the_raw_target, all_done),
        cmocka_unit_test_teardown(reads_headers, all_done),
        cmocka_unit_test_teardown(pauses_many_at_once, all_done),
        cmocka_unit_test_teardown(survives_clients_that_leave, all_done),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
