/* TLS by GnuTLS over sockets that never block. Each connection has a session, which holds the certificate and key
 * that the server had when it began: renewed ones are for connections that begin later. */
#include "net/net_private.h"

#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/log.h"

/* The most that one record holds. rfc: 8446 5.1 */
#define RECORD_BYTES ((size_t)16 * 1024)
/* Records without data for us (warnings, new keys) that are passed over at once. */
#define PASSED_MAX   8

static const char versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

struct tls {
    atomic_uint holders; /* the server, and the sessions that were begun with it */
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priority;
};

/* ---- of a server ---- */

static int tls_load(struct tls *tls, const char *cert_pem, const char *key_pem)
{
    gnutls_datum_t cert = { (unsigned char *)(uintptr_t)cert_pem, (unsigned)strlen(cert_pem) };
    gnutls_datum_t key = { (unsigned char *)(uintptr_t)key_pem, (unsigned)strlen(key_pem) };
    int result = gnutls_certificate_allocate_credentials(&tls->credentials);

    if (result >= 0)
        result =
            gnutls_certificate_set_x509_key_mem(tls->credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
    if (result >= 0)
        result = gnutls_priority_init(&tls->priority, versions, NULL);
    return result;
}

struct tls *tls_new(const char *cert_pem, const char *key_pem, const char **ret_problem)
{
    struct tls *tls = xcalloc(1, sizeof *tls);
    int result = tls_load(tls, cert_pem, key_pem);

    atomic_init(&tls->holders, 1);
    if (result >= 0)
        return tls;
    *ret_problem = gnutls_strerror(result);
    tls_give(tls);
    return NULL;
}

void tls_give(struct tls *tls)
{
    if (!tls || atomic_fetch_sub(&tls->holders, 1) > 1)
        return;
    if (tls->priority)
        gnutls_priority_deinit(tls->priority);
    if (tls->credentials)
        gnutls_certificate_free_credentials(tls->credentials);
    free(tls);
}

/* ---- of a connection ---- */

/* That which the server has now. */
static struct tls *take_newest(struct net_server *server)
{
    struct tls *tls;

    lock_take(&server->lock);
    tls = server->tls;
    atomic_fetch_add(&tls->holders, 1);
    lock_give(&server->lock);
    return tls;
}

bool tls_begin(struct connection *connection)
{
    struct tls *tls;
    gnutls_session_t session;

    if (gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0)
        return false;
    connection->tls = session;
    tls = connection->tls_of = take_newest(connection->server);
    if (gnutls_priority_set(session, tls->priority) < 0 ||
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->credentials) < 0)
        return false;
    gnutls_handshake_set_timeout(session, GNUTLS_INDEFINITE_TIMEOUT); /* limits.c has its own */
    gnutls_transport_set_int(session, connection->fd);
    return true;
}

void tls_end(struct connection *connection, bool orderly)
{
    if (orderly && connection->tls_is_up && !connection->tls_has_unsent)
        gnutls_bye(connection->tls, GNUTLS_SHUT_WR);
    gnutls_deinit(connection->tls);
    connection->tls = NULL;
    tls_give(connection->tls_of);
}

/* What GnuTLS waits for is noted in the connection. */
static ssize_t waits(struct connection *connection)
{
    if (gnutls_record_get_direction(connection->tls) == 0)
        connection->readable = false;
    else
        connection->writable = false;
    return TRANSPORT_WAITS;
}

static ssize_t fails(const struct connection *connection, ssize_t why)
{
    if (log_enabled(LOG_DEBUG))
        log_line(LOG_DEBUG, "%s: TLS: %s", connection->peer, gnutls_strerror((int)why));
    return TRANSPORT_FAILED;
}

ssize_t tls_handshake(struct connection *connection)
{
    int result;

    for (int i = 0; i < PASSED_MAX; i++) {
        result = gnutls_handshake(connection->tls);
        if (result == GNUTLS_E_SUCCESS) {
            connection->tls_is_up = true;
            return 1;
        }
        if (result == GNUTLS_E_AGAIN)
            return waits(connection);
        if (gnutls_error_is_fatal(result))
            break;
    }
    gnutls_alert_send_appropriate(connection->tls, result);
    return fails(connection, result);
}

ssize_t tls_receive(struct connection *connection, char *to, size_t size)
{
    ssize_t n = GNUTLS_E_AGAIN;

    for (int i = 0; i < PASSED_MAX; i++) {
        n = gnutls_record_recv(connection->tls, to, size);
        if (n >= 0)
            return n;
        if (n == GNUTLS_E_AGAIN)
            return waits(connection);
        if (n == GNUTLS_E_PREMATURE_TERMINATION)
            return 0; /* what is sent says itself whether it is whole */
        if (gnutls_error_is_fatal((int)n) || n == GNUTLS_E_REHANDSHAKE)
            break;
    }
    return fails(connection, n);
}

/* GnuTLS keeps a record that the socket did not take, and is asked to go on with it by an empty
 * call, which returns the bytes that are in it. */
static ssize_t send_record(struct connection *connection, const char *from, size_t size)
{
    ssize_t n;

    do {
        n = connection->tls_has_unsent ? gnutls_record_send(connection->tls, NULL, 0)
                                       : gnutls_record_send(connection->tls, from, size);
    } while (n == GNUTLS_E_INTERRUPTED);
    connection->tls_has_unsent = n == GNUTLS_E_AGAIN;
    if (n == GNUTLS_E_AGAIN) {
        connection->writable = false;
        return TRANSPORT_WAITS;
    }
    return n < 0 ? fails(connection, n) : n;
}

/* The begin of the parts as one record: a head and a short body go out together. */
static size_t collect(const struct iovec *parts, size_t count, char *to)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        size_t some = RECORD_BYTES - size;

        if (some > parts[i].iov_len)
            some = parts[i].iov_len;
        if (some > 0)
            memcpy(to + size, parts[i].iov_base, some);
        size += some;
    }
    return size;
}

ssize_t tls_send(struct connection *connection, const struct iovec *parts, size_t count)
{
    char record[RECORD_BYTES];
    size_t sent = 0;

    if (count > 1) {
        size_t size = collect(parts, count, record);

        return send_record(connection, record, size);
    }
    while (sent < parts[0].iov_len) {
        size_t left = parts[0].iov_len - sent;
        ssize_t n = send_record(connection, (const char *)parts[0].iov_base + sent,
                                left < RECORD_BYTES ? left : RECORD_BYTES);

        if (n < 0)
            return sent > 0 && n == TRANSPORT_WAITS ? (ssize_t)sent : n;
        sent += (size_t)n;
    }
    return (ssize_t)sent;
}
