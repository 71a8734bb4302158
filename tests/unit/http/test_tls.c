/* The http room over TLS: a listener with certificate and key serves HTTPS and nothing else; what
 * is wrong with them is said at the start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <gnutls/x509.h>

#include "client.h"
#include "echo.h"

static char cert_pem[8192];
static char key_pem[8192];
static char other_key_pem[8192];

static void make_key(gnutls_x509_privkey_t *ret_key, char pem[8192])
{
    size_t size = 8192;

    assert_int_equal(gnutls_x509_privkey_init(ret_key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(*ret_key, GNUTLS_PK_ECDSA,
                                                  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                                                  0),
                     0);
    assert_int_equal(gnutls_x509_privkey_export(*ret_key, GNUTLS_X509_FMT_PEM, pem, &size), 0);
}

/* A certificate that signs itself, and a key that is not its own. */
static int make_certificate(void **state)
{
    static const char serial[] = { 1 };
    gnutls_x509_privkey_t key;
    gnutls_x509_privkey_t other;
    gnutls_x509_crt_t cert;
    size_t size = sizeof cert_pem;

    (void)state;
    make_key(&key, key_pem);
    make_key(&other, other_key_pem);
    gnutls_x509_crt_init(&cert);
    gnutls_x509_crt_set_version(cert, 3);
    gnutls_x509_crt_set_serial(cert, serial, sizeof serial);
    gnutls_x509_crt_set_activation_time(cert, time(NULL) - 60);
    gnutls_x509_crt_set_expiration_time(cert, time(NULL) + 3600);
    gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, "localhost", 9);
    gnutls_x509_crt_set_key(cert, key);
    assert_int_equal(gnutls_x509_crt_sign2(cert, cert, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export(cert, GNUTLS_X509_FMT_PEM, cert_pem, &size), 0);
    gnutls_x509_crt_deinit(cert);
    gnutls_x509_privkey_deinit(key);
    gnutls_x509_privkey_deinit(other);
    echo_start();
    return 0;
}

static int end(void **state)
{
    (void)state;
    echo_stop();
    return echo_heads() == echo_dones() ? 0 : -1;
}

static struct http_server *start(const char *cert, const char *key, const char **ret_problem)
{
    struct net_listen listen = { .host = "127.0.0.1", .cert_pem = cert, .key_pem = key };

    return http_start(&listen, &http_limits_default, &echo_application, NULL, ret_problem);
}

static void expect_bytes(struct client *client, size_t size)
{
    struct reply reply;

    client_read(client, &reply);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body_size, size);
    assert_memory_equal(reply.body, echo_bytes(), size);
    reply_release(&reply);
}

/* All kinds of bodies, with pauses, on one connection. */
static void serves_https(void **state)
{
    static const char *const targets[] = { "/bytes/1000", "/file/0/3000000",
                                           "/source/300000?source", "/source/3000000",
                                           "/bytes/3000000?head&end" };
    static const size_t sizes[] = { 1000, 3000000, 300000, 3000000, 3000000 };
    const char *problem = NULL;
    struct http_server *server = start(cert_pem, key_pem, &problem);
    struct client *client;

    (void)state;
    assert_non_null(server);
    client = client_open_tls(http_port(server));
    assert_non_null(client);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        client_sendf(client, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", targets[i]);
        expect_bytes(client, sizes[i]);
        client_send(client, "PUT /echo?body&end HTTP/1.1\r\nHost: x\r\n"
                            "Content-Length: 1000000\r\n\r\n");
        assert_true(client_send_bytes(client, echo_bytes(), 1000000));
        expect_bytes(client, 1000000);
    }
    client_close(client);
    http_stop(server, 1);
}

/* Over TLS too, who finds the server full is answered: the worker makes the handshake first. */
static void refuses_by_answers(void **state)
{
    struct net_listen listen = { .host = "127.0.0.1", .cert_pem = cert_pem, .key_pem = key_pem };
    struct http_limits limits = http_limits_default;
    const char *problem = NULL;
    struct http_server *server;
    struct client *busy;
    struct client *late;
    struct reply reply;

    (void)state;
    limits.net.connections_max = 1;
    server = http_start(&listen, &limits, &echo_application, NULL, &problem);
    assert_non_null(server);
    echo_hold();
    busy = client_open_tls(http_port(server));
    assert_non_null(busy);
    client_send(busy, "GET /bytes/1000?head HTTP/1.1\r\nHost: x\r\n\r\n");
    while (echo_held() == 0)
        usleep(1000);
    late = client_open_tls(http_port(server));
    assert_non_null(late);
    client_send(late, "GET /bytes/1 HTTP/1.1\r\nHost: x\r\n\r\n");
    client_read(late, &reply);
    assert_int_equal(reply.status, 503);
    reply_release(&reply);
    echo_release();
    expect_bytes(busy, 1000);
    client_close(late);
    client_close(busy);
    http_stop(server, 1);
}

/* Plain HTTP on a TLS port gets no answer, and does not hurt. */
static void refuses_plain_http(void **state)
{
    const char *problem = NULL;
    struct http_server *server = start(cert_pem, key_pem, &problem);
    struct client *client;
    struct reply reply;

    (void)state;
    assert_non_null(server);
    client = client_open(http_port(server));
    client_send(client, "GET /bytes/1 HTTP/1.1\r\nHost: x\r\n\r\n");
    client_read(client, &reply);
    assert_int_equal(reply.status, 0);
    reply_release(&reply);
    client_close(client);

    client = client_open_tls(http_port(server));
    assert_non_null(client);
    client_send(client, "GET /bytes/5 HTTP/1.1\r\nHost: x\r\n\r\n");
    expect_bytes(client, 5);
    client_close(client);
    http_stop(server, 1);
}

/* What is wrong with certificate or key is a problem in words. */
static void refuses_bad_certificates(void **state)
{
    const struct {
        const char *cert;
        const char *key;
    } cases[] = {
        { cert_pem, NULL },
        { cert_pem, "nonsense" },
        { "nonsense", key_pem },
        { cert_pem, other_key_pem },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *problem = NULL;

        assert_null(start(cases[i].cert, cases[i].key, &problem));
        assert_non_null(problem);
        assert_true(strlen(problem) > 5);
    }
}

/* A port that is taken, a name that does not exist, an address that is not ours: said in words. */
static void refuses_bad_addresses(void **state)
{
    const char *problem = NULL;
    struct http_server *server = start(NULL, NULL, &problem);
    struct net_listen listens[] = {
        { .host = "127.0.0.1", .port = 0 },
        { .host = "no-such-host.invalid" },
        { .host = "192.0.2.1" },
    };

    (void)state;
    assert_non_null(server);
    listens[0].port = http_port(server);
    for (size_t i = 0; i < sizeof listens / sizeof listens[0]; i++) {
        problem = NULL;
        assert_null(
            http_start(&listens[i], &http_limits_default, &echo_application, NULL, &problem));
        assert_non_null(strstr(problem, listens[i].host));
    }
    http_stop(server, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serves_https),          cmocka_unit_test(refuses_by_answers),
        cmocka_unit_test(refuses_plain_http),    cmocka_unit_test(refuses_bad_certificates),
        cmocka_unit_test(refuses_bad_addresses),
    };

    return cmocka_run_group_tests(tests, make_certificate, end);
}
