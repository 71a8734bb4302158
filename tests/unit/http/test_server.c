/* The http room serves HTTP/1.1 as its header says: every sentence of http.h's top, over real
 * sockets. rfc: 9112 2 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

/* Several requests on one connection. rfc: 9112 9.3 */
static void keeps_alive(void **state)
{
    struct client *client = fixture_client();

    (void)state;
    for (int i = 0; i < 5; i++) {
        client_send(client, GET("/bytes/5"));
        fixture_expect(client, 200, "abcde");
        client_send(client, "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
        fixture_expect(client, 200, "hi");
        client_send(client, "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        fixture_expect(client, 200, "");
    }
    client_send(client, "GET /bytes/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    fixture_expect(client, 200, "a");
    assert_true(client_sees_end(client, CLIENT_PATIENCE_MS));
    client_close(client);
}

/* HTTP/1.0 closes unless asked to keep. rfc: 9112 9.3 */
static void serves_http_1_0(void **state)
{
    struct client *client = fixture_client();

    (void)state;
    client_send(client, "GET /bytes/1 HTTP/1.0\r\n\r\n");
    fixture_expect(client, 200, "a");
    assert_true(client_sees_end(client, CLIENT_PATIENCE_MS));
    client_close(client);
}

/* Requests sent ahead are answered in order. rfc: 9112 9.3.2 */
static void pipelines(void **state)
{
    struct client *client = fixture_client();

    (void)state;
    for (int i = 0; i < 20; i++) {
        client_send(client, GET("/bytes/3?end"));
        client_send(client, "PUT /echo?body HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
        client_send(client, GET("/source/4?source"));
    }
    for (int i = 0; i < 20; i++) {
        fixture_expect(client, 200, "abc");
        fixture_expect(client, 200, "hi");
        fixture_expect(client, 200, "abcd");
    }
    client_close(client);
}

#define LATE 1500

static void ask_for_9000(struct client *client)
{
    struct reply reply;

    client_send(client, GET("/bytes/9000?blob-headers"));
    client_read(client, &reply);
    assert_int_equal(reply.body_size, 9000);
    reply_release(&reply);
}

/* Answers that do not fit into the socket wait, cut anywhere, while the same worker answers
 * others. */
static void answers_who_reads_late(void **state)
{
    struct client *late = fixture_client();
    struct client *others[16];

    (void)state;
    for (size_t i = 0; i < 16; i++)
        others[i] = fixture_client();
    for (int i = 0; i < LATE; i++)
        client_send(late, GET("/bytes/1?large-headers"));
    for (int i = 0; i < LATE; i++) {
        struct reply reply;

        if (i % 10 == 0)
            ask_for_9000(others[i / 10 % 16]);
        client_read(late, &reply);
        assert_int_equal(reply.status, 200);
        assert_int_equal(reply.body_size, 1);
        assert_non_null(reply_header(&reply, "x-large-63"));
        assert_null(reply_header(&reply, "ETag"));
        reply_release(&reply);
    }
    for (size_t i = 0; i < 16; i++)
        client_close(others[i]);
    client_close(late);
}

/* HEAD: the length GET would have, and no body. rfc: 9110 9.3.2 */
static void answers_head(void **state)
{
    static const char *const targets[] = { "/bytes/77", "/file/5/77", "/source/77" };
    struct client *client = fixture_client();
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
    fixture_expect(client, 200, "abc");
    client_close(client);
}

static void cuts(void **state)
{
    struct client *client = fixture_client();

    (void)state;
    client_send(client, GET("/cut"));
    assert_true(client_sees_end(client, CLIENT_PATIENCE_MS));
    client_close(client);
}

/* An empty value arrives as one, and many headers arrive. */
static void sends_headers(void **state)
{
    struct client *client = fixture_client();
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
    struct client *client = fixture_client();
    char expected[256];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        client_sendf(client, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", cases[i].target);
        snprintf(expected, sizeof expected, "GET\n%shost (Host): x\n", cases[i].seen);
        fixture_expect(client, 200, expected);
    }
    client_close(client);
}

/* Names in lower case and as sent, values without blanks around them; obs-text is kept. */
static void reads_headers(void **state)
{
    struct client *client = fixture_client();

    (void)state;
    client_send(client, "MERGE /request HTTP/1.1\r\nHost:x\r\nX-MS-Meta-AbC: \t a  b\t \r\n"
                        "x-empty:\r\nX-Text: \xE4\r\nx-empty: 2\r\n\r\n");
    fixture_expect(client, 200,
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
        clients[i] = fixture_client();
    for (int round = 0; round < 30; round++) {
        echo_hold();
        for (size_t i = 0; i < 64; i++)
            client_send(clients[i], "PUT /echo?head&body&end HTTP/1.1\r\nHost: x\r\n"
                                    "Content-Length: 2\r\n\r\nhi");
        while (echo_held() < 64)
            usleep(100);
        echo_release();
        for (size_t i = 0; i < 64; i++)
            fixture_expect(clients[i], 200, "hi");
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
        struct client *client = fixture_client();

        client_send(client, "PUT /echo?end HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
        while (echo_held() <= (unsigned)i)
            usleep(100);
        client_close(client);
    }
    echo_release();
}

/* What an application leaves to the end of a round of turns is done then, and those that waited for it go
 * on. net/net.h, round() */
static void ends_rounds(void **state)
{
    struct client *clients[24];

    (void)state;
    for (size_t i = 0; i < 24; i++)
        clients[i] = fixture_client();
    for (int turn = 0; turn < 40; turn++) {
        for (size_t i = 0; i < 24; i++)
            client_sendf(clients[i],
                         "PUT /echo?round HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n%02zu",
                         i);
        for (size_t i = 0; i < 24; i++) {
            char body[8];

            snprintf(body, sizeof body, "%02zu", i);
            fixture_expect(clients[i], 200, body);
        }
    }
    for (size_t i = 0; i < 24; i++)
        client_close(clients[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(keeps_alive, fixture_all_done),
        cmocka_unit_test_teardown(serves_http_1_0, fixture_all_done),
        cmocka_unit_test_teardown(pipelines, fixture_all_done),
        cmocka_unit_test_teardown(answers_who_reads_late, fixture_all_done),
        cmocka_unit_test_teardown(answers_head, fixture_all_done),
        cmocka_unit_test_teardown(cuts, fixture_all_done),
        cmocka_unit_test_teardown(sends_headers, fixture_all_done),
        cmocka_unit_test_teardown(keeps_the_raw_target, fixture_all_done),
        cmocka_unit_test_teardown(reads_headers, fixture_all_done),
        cmocka_unit_test_teardown(pauses_many_at_once, fixture_all_done),
        cmocka_unit_test_teardown(survives_clients_that_leave, fixture_all_done),
        cmocka_unit_test_teardown(ends_rounds, fixture_all_done),
    };

    return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
