/* TLS with GnuTLS over non-blocking sockets. Each session keeps the certificate and key that it
 * started with; a renewed certificate applies to later connections. */
#include "net/tls_private.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/log.h"

/* Maximum size of a record. rfc: 8446 5.1 */
#define RECORD_BYTES ((size_t)16 * 1024)
/* Maximum number of records without application data (warnings, new keys) to skip in one call. */
#define PASSED_MAX   8

/* Bytes read ahead of GnuTLS, which reads five bytes of a record and then the rest. Without reading
 * ahead, each of these reads would be a system call and might cause an acknowledgement. */
struct tls_ahead {
    char *buffer;
    size_t size, from, to;
    bool was_read;
    bool is_all; /* the socket had no more bytes */
};

/* ---- socket functions for GnuTLS ---- */

static ssize_t receive(const struct connection *connection, void *to, size_t size)
{
    ssize_t n;

    do {
        n = recv(connection->fd, to, size, 0);
    } while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t pull(gnutls_transport_ptr_t of, void *to, size_t size)
{
    const struct connection *connection = of;
    struct tls_ahead *ahead = connection->tls_ahead;
    ssize_t n;

    if (!ahead)
        return receive(connection, to, size);
    if (ahead->from == ahead->to && ahead->was_read) {
        errno = EAGAIN;
        return -1;
    }
    if (ahead->from == ahead->to) {
        n = receive(connection, ahead->buffer, ahead->size);
        ahead->was_read = true;
        /* After an error the next call must fail, too, even if this one returns data. */
        ahead->is_all = n < 0 ? errno == EAGAIN : (size_t)n < ahead->size && !connection->ended;
        if (n <= 0)
            return n;
        ahead->from = 0;
        ahead->to = (size_t)n;
    }
    if (size > ahead->to - ahead->from)
        size = ahead->to - ahead->from;
    memcpy(to, ahead->buffer + ahead->from, size);
    ahead->from += size;
    return (ssize_t)size;
}

/* ---- sessions ---- */

/* Returns the server's current credentials, with a new reference. */
static struct tls *take_newest(struct net_server *server)
{
    struct tls *tls;

    if (server->key)
        return tls_of_key(server->key);
    lock_acquire(&server->lock);
    tls = server->tls;
    atomic_fetch_add(&tls->holders, 1);
    lock_release(&server->lock);
    return tls;
}

/* Sets the session's credentials: those of the server, or for an outgoing connection those of the
 * peer's key. */
static bool set_credentials(struct connection *connection)
{
    gnutls_session_t session = connection->tls;
    struct tls *tls;

    if (!connection->is_outgoing)
        connection->tls_of = take_newest(connection->server);
    tls = connection->tls_of;
    if (gnutls_priority_set(session, tls->priority) < 0)
        return false;
    if (tls_is_of_key(tls))
        return tls_key_set(tls, session, connection->is_outgoing);
    return gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->credentials) >= 0;
}

bool tls_begin(struct connection *connection)
{
    unsigned side = connection->is_outgoing ? GNUTLS_CLIENT : GNUTLS_SERVER;
    gnutls_session_t session;

    if (gnutls_init(&session, side | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) {
        tls_give(connection->tls_of);
        return false;
    }
    connection->tls = session;
    if (!set_credentials(connection))
        return false;
    /* deadlines are in limits.c */
    gnutls_handshake_set_timeout(session, GNUTLS_INDEFINITE_TIMEOUT);
    gnutls_transport_set_ptr2(session, connection,
                              (gnutls_transport_ptr_t)(intptr_t)connection->fd);
    gnutls_transport_set_pull_function(session, pull);
    return true;
}

/* Wipes the rest of a decrypted record, which may contain a key, and frees it. */
static void drop_record(struct connection *connection)
{
    gnutls_datum_t data;

    if (!connection->tls_record)
        return;
    gnutls_packet_get(connection->tls_record, &data, NULL);
    explicit_bzero(data.data, data.size);
    gnutls_packet_deinit(connection->tls_record);
    connection->tls_record = NULL;
    connection->tls_record_read = 0;
}

void tls_end(struct connection *connection, bool orderly)
{
    if (orderly && connection->tls_is_up && !connection->tls_has_unsent)
        gnutls_bye(connection->tls, GNUTLS_SHUT_WR);
    drop_record(connection);
    gnutls_deinit(connection->tls);
    connection->tls = NULL;
    tls_give(connection->tls_of);
}

/* Records in the connection which direction GnuTLS waits for. */
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

/* ---- records ---- */

/* Copies data of the current record. */
static ssize_t copy_record(struct connection *connection, char *to, size_t size)
{
    gnutls_datum_t data;
    size_t left;

    gnutls_packet_get(connection->tls_record, &data, NULL);
    left = data.size - connection->tls_record_read;
    if (size > left)
        size = left;
    memcpy(to, data.data + connection->tls_record_read, size);
    connection->tls_record_read += size;
    if (size == left)
        drop_record(connection);
    return (ssize_t)size;
}

/* Receives the data of at most one record. Returns the same values as tls_receive(). */
static ssize_t receive_record(struct connection *connection, char *to, size_t size)
{
    ssize_t n = GNUTLS_E_AGAIN;

    if (connection->tls_record)
        return copy_record(connection, to, size);
    for (int i = 0; i < PASSED_MAX; i++) {
        n = gnutls_record_recv_packet(connection->tls, &connection->tls_record);
        if (n == 0)
            drop_record(connection);
        if (n >= 0)
            return n > 0 ? copy_record(connection, to, size) : 0;
        if (n == GNUTLS_E_AGAIN)
            return waits(connection);
        if (n == GNUTLS_E_PREMATURE_TERMINATION)
            return 0; /* the data itself shows whether it is complete */
        if (gnutls_error_is_fatal((int)n) || n == GNUTLS_E_REHANDSHAKE)
            break;
    }
    return fails(connection, n);
}

static char *input_of(struct worker *worker)
{
    if (!worker->tls_input)
        worker->tls_input = xmalloc(CONNECTION_INPUT_BYTES);
    return worker->tls_input;
}

/* Receives records until GnuTLS has consumed all bytes read ahead. GnuTLS may already hold a
 * partial record, and everything must fit in the caller's buffer, so the read-ahead is one record
 * smaller than that. */
static ssize_t receive_records(struct connection *connection, char *to, size_t size)
{
    struct tls_ahead ahead = { .buffer = input_of(connection->worker) };
    size_t got = 0;
    ssize_t n;

    ahead.size = size - RECORD_BYTES;
    if (ahead.size > CONNECTION_INPUT_BYTES)
        ahead.size = CONNECTION_INPUT_BYTES;
    connection->tls_ahead = &ahead;
    do {
        if (got == 0)
            ahead.was_read = ahead.from < ahead.to;
        n = receive_record(connection, to + got, size - got);
        got += n > 0 ? (size_t)n : 0;
    } while (n > 0 ? (ahead.from < ahead.to || connection->tls_record) && got < size
                   : n == TRANSPORT_WAITS && got == 0 && ahead.was_read && !ahead.is_all);
    assert(ahead.from == ahead.to || n == TRANSPORT_FAILED || n == 0);
    connection->tls_ahead = NULL;
    connection->readable = !ahead.is_all || connection->tls_record;
    return got > 0 ? (ssize_t)got : n;
}

ssize_t tls_receive(struct connection *connection, char *to, size_t size)
{
    return size > 2 * RECORD_BYTES ? receive_records(connection, to, size)
                                   : receive_record(connection, to, size);
}

/* Sends a record. If the socket did not accept all of the previous record, GnuTLS keeps it, and an
 * empty call resumes it and returns its size. */
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

/* Copies the start of the parts into one record, so that a header and a short body are sent
 * together. */
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
