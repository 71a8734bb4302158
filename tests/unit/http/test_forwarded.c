/* Who asks, by what proxies say of it. Trusted here are 10.0.0.0/8 and fd00::/8.
 * rfc: 7239 4 to 7; decision: 362 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "http/forwarded.h"

#define HEADERS_MAX 40

/* "name: value" for each header. NULL: refused. Else "client tls|plain host", "-" where it is not said. */
static const char *read_all(const char *const *lines)
{
    static char said[256];
    struct http_header headers[HEADERS_MAX];
    struct request request = { .headers = headers };
    struct address_list proxies = { .count = 0 };
    struct forwarded f;
    char client[ADDRESS_TEXT_MAX] = "-";

    assert_true(address_list_parse(bytes_from_string("10.0.0.0/8,fd00::/8"), &proxies));
    for (; *lines; lines++) {
        struct http_header *h = &headers[request.header_count++];

        assert_true(request.header_count <= HEADERS_MAX);
        bytes_cut(bytes_from_string(*lines), ':', &h->name, &h->value);
        h->value = bytes_trim(h->value);
        assert_true(forwarded_is_name(h->name) || bytes_is(h->name, "x-ms-version"));
    }
    if (forwarded_read(&request, &proxies, &f) != 0)
        return NULL;
    if (f.has_client && f.client_is_known)
        address_write(f.client, f.port, client);
    else if (f.has_client)
        snprintf(client, sizeof client, "unknown");
    snprintf(said, sizeof said, "%s %s %.*s", client, f.is_tls ? "tls" : "plain",
             f.host.ptr ? (int)f.host.len : 1, f.host.ptr ? f.host.ptr : "-");
    return said;
}

#define READ(...)           read_all((const char *const[]){ __VA_ARGS__, NULL })
#define SAYS(expected, ...) assert_string_equal(READ(__VA_ARGS__), expected)
#define REFUSES(...)        assert_null(READ(__VA_ARGS__))

/* The client is the last address that is not a trusted proxy's, whatever stands before it. */
static void chains(void **state)
{
    (void)state;
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: 192.0.2.1");
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: 203.0.113.9, 192.0.2.1");
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: 192.0.2.1, 10.0.0.7, fd00::1");
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: 203.0.113.9, 192.0.2.1, 10.0.0.7");
    SAYS("10.0.0.1:0 plain -", "x-forwarded-for: 10.0.0.1, 10.0.0.7");
    /* Several headers are one list. */
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: 203.0.113.9", "x-forwarded-for: 192.0.2.1",
         "x-forwarded-for: 10.0.0.7");
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: , 192.0.2.1 ,,", "x-forwarded-for: ");
    SAYS("- plain -", "x-forwarded-for: ");
    SAYS("- plain -", "x-real-ip: 192.0.2.1");
}

/* What stands before the client may be from anybody, and is not read. */
static void what_others_wrote(void **state)
{
    (void)state;
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: nonsense, <script>, 192.0.2.1");
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: ;;;", "x-forwarded-for: 192.0.2.1, 10.1.1.1");
    REFUSES("x-forwarded-for: 192.0.2.1, nonsense");
    REFUSES("x-forwarded-for: nonsense, 10.0.0.7");
}

static void nodes(void **state)
{
    (void)state;
    SAYS("192.0.2.1:5000 plain -", "x-forwarded-for: 192.0.2.1:5000");
    SAYS("[2001:db8::1]:0 plain -", "x-forwarded-for: 2001:db8::1");
    SAYS("[2001:db8::1]:0 plain -", "x-forwarded-for: [2001:db8::1]");
    SAYS("[2001:db8::1]:443 plain -", "x-forwarded-for: [2001:db8::1]:443");
    SAYS("192.0.2.1:0 plain -", "x-forwarded-for: ::ffff:192.0.2.1, ::ffff:10.0.0.1");
    SAYS("unknown plain -", "x-forwarded-for: unknown");
    SAYS("unknown plain -", "x-forwarded-for: 192.0.2.1, _gazonk, 10.0.0.1");
    SAYS("192.0.2.1:0 plain -", "forwarded: for=\"192.0.2.1:_port\"");
    REFUSES("x-forwarded-for: 192.0.2.1:");
    REFUSES("x-forwarded-for: 192.0.2.1:65536");
    REFUSES("x-forwarded-for: 192.0.2.1:80:80");
    REFUSES("x-forwarded-for: [2001:db8::1");
    REFUSES("x-forwarded-for: [2001:db8::1]80");
    REFUSES("x-forwarded-for: [192.0.2.1]:80");
    REFUSES("x-forwarded-for: \"192.0.2.1\"");
    REFUSES("x-forwarded-for: 192.0.2.0/24");
    REFUSES("x-forwarded-for: client.example");
    REFUSES("x-forwarded-for: _");
    REFUSES("x-forwarded-for: 0000000000000000000000000000000000000000000000000000000000192.0.2.1");
}

/* More than so many addresses are refused, however they are spread. */
static void bounded(void **state)
{
    static const char client[] = "x-forwarded-for: 192.0.2.1", proxy[] = ",10.0.0.1";
    const char *headers[HEADERS_MAX + 1] = { NULL };
    char list[sizeof client + FORWARDED_HOPS_MAX * sizeof proxy];
    size_t length = sizeof client - 1;

    (void)state;
    memcpy(list, client, sizeof client);
    for (unsigned i = 0; i < FORWARDED_HOPS_MAX; i++) {
        SAYS("192.0.2.1:0 plain -", list);
        memcpy(list + length, proxy, sizeof proxy);
        length += sizeof proxy - 1;
    }
    REFUSES(list);
    for (unsigned i = 0; i < FORWARDED_HOPS_MAX; i++)
        headers[i] = "forwarded: for=10.0.0.1";
    assert_string_equal(read_all(headers), "10.0.0.1:0 plain -");
    headers[FORWARDED_HOPS_MAX] = "forwarded: for=10.0.0.1";
    assert_null(read_all(headers));
}

static void protocols(void **state)
{
    (void)state;
    SAYS("- tls -", "x-forwarded-proto: https");
    SAYS("- tls -", "x-forwarded-proto: HTTPS");
    SAYS("- plain -", "x-forwarded-proto: http");
    SAYS("192.0.2.1:0 tls -", "x-forwarded-proto: https", "x-forwarded-for: 192.0.2.1");
    /* Of several all have to be. */
    SAYS("- tls -", "x-forwarded-proto: https, https");
    SAYS("- plain -", "x-forwarded-proto: https, http");
    SAYS("- plain -", "x-forwarded-proto: http,https");
    SAYS("- plain -", "x-forwarded-proto: http", "x-forwarded-proto: https");
    SAYS("- plain -", "x-forwarded-proto: https", "x-forwarded-proto: http");
    REFUSES("x-forwarded-proto: wss");
    REFUSES("x-forwarded-proto: https http");
    REFUSES("x-forwarded-proto: on");
}

static void hosts(void **state)
{
    (void)state;
    SAYS("- plain storage.example:8443", "x-forwarded-host: storage.example:8443");
    SAYS("- plain [2001:db8::1]:443", "x-forwarded-host: [2001:db8::1]:443");
    REFUSES("x-forwarded-host: a.example, b.example");
    REFUSES("x-forwarded-host: a.example", "x-forwarded-host: a.example");
    REFUSES("x-forwarded-host: ");
    REFUSES("x-forwarded-host: a.example/path");
    REFUSES("x-forwarded-host: user@a.example");
}

/* rfc: 7239 4 */
static void forwarded_elements(void **state)
{
    (void)state;
    SAYS("192.0.2.43:0 plain -", "forwarded: for=192.0.2.43");
    SAYS("192.0.2.43:0 tls a.example",
         "forwarded: For=192.0.2.43;Proto=https;by=203.0.113.60; host=a.example");
    SAYS("[2001:db8:cafe::17]:4711 plain -", "forwarded: for=\"[2001:db8:cafe::17]:4711\"");
    SAYS("192.0.2.43:0 plain a.example:8443", "forwarded: for=192.0.2.43;host=\"a.example:8443\"");
    /* What the first of the trusted proxies says counts; not what a client wrote before it, nor the others. */
    SAYS("192.0.2.43:0 tls a.example", "forwarded: for=203.0.113.9;proto=http;host=evil.example, "
                                       "for=192.0.2.43;proto=https;host=a.example, "
                                       "for=10.0.0.1;proto=http;host=inner");
    SAYS("192.0.2.43:0 plain -", "forwarded: for=192.0.2.43",
         "forwarded: for=10.0.0.1;proto=https;host=inner");
    SAYS("unknown plain -", "forwarded: for=unknown, for=10.0.0.1");
    SAYS("unknown plain -", "forwarded: for=192.0.2.1, for=_hidden");
    SAYS("unknown tls -", "forwarded: proto=https");
    SAYS("192.0.2.43:0 plain -", "forwarded: , for=192.0.2.43 , ;, secret=abc;for=10.0.0.1 ,");
    SAYS("192.0.2.43:0 plain -", "forwarded: x=\"a,b;c\";for=192.0.2.43");
}

static void malformed_elements(void **state)
{
    (void)state;
    REFUSES("forwarded: 192.0.2.43");
    REFUSES("forwarded: for");
    REFUSES("forwarded: for=");
    REFUSES("forwarded: for=\"192.0.2.43");
    REFUSES("forwarded: for=192.0.2.43 for=192.0.2.44");
    REFUSES("forwarded: for=192.0.2.43;for=192.0.2.43");
    REFUSES("forwarded: for=[2001:db8::1]"); /* not a token: it has to be quoted */
    REFUSES("forwarded: for=192.0.2.43;proto=ftp");
    REFUSES("forwarded: for=192.0.2.43;host=\"a b\"");
    REFUSES("forwarded: for=192.0.2.43;host=\"\"");
    REFUSES("forwarded: for=\"192.0.2\\.43\"");
    REFUSES("forwarded: f r=1");
    REFUSES("forwarded: =1");
    /* Quotes that a client opens swallow what the proxy adds: nothing is made of it. */
    REFUSES("forwarded: for=\"203.0.113.9, for=192.0.2.43");
    REFUSES("forwarded: for=\"203.0.113.9, for=192.0.2.43\"");
}

/* Which of the two the proxy wrote, and which it passed through, cannot be told. */
static void one_kind(void **state)
{
    (void)state;
    REFUSES("forwarded: for=192.0.2.43;proto=https", "x-forwarded-for: 192.0.2.43");
    REFUSES("x-forwarded-proto: https", "forwarded: for=192.0.2.43");
    REFUSES("x-forwarded-host: a.example", "forwarded: for=192.0.2.43");
    SAYS("192.0.2.43:0 plain -", "forwarded: for=192.0.2.43", "x-real-ip: 192.0.2.43",
         "x-ms-version: 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),
        cmocka_unit_test(what_others_wrote),
        cmocka_unit_test(nodes),
        cmocka_unit_test(bounded),
        cmocka_unit_test(protocols),
        cmocka_unit_test(hosts),
        cmocka_unit_test(one_kind),
        cmocka_unit_test(forwarded_elements),
        cmocka_unit_test(malformed_elements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
