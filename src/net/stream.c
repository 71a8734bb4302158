/* See stream.h. */
#include "net/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/tls_private.h"

/* Maximum timeout of poll(), whose clock stops while the machine is suspended. */
#define POLL_MAX_MS 1000u

struct net_stream {
    int fd;
    struct tls *tls;
    gnutls_session_t session;
};

/* ---- waiting ---- */

/* Returns false after the deadline. */
static bool wait_for(const struct net_stream *stream, short events, uint64_t deadline_ns)
{
    struct pollfd wanted = { .fd = stream->fd, .events = events };

    for (;;) {
        uint64_t now_ns = clock_boot_ns(), left_ms;
        int result;

        if (now_ns >= deadline_ns)
            return false;
        left_ms = (deadline_ns - now_ns) / NS_PER_MS + 1;
        result = poll(&wanted, 1, (int)(left_ms < POLL_MAX_MS ? left_ms : POLL_MAX_MS));
        if (result > 0)
            return true;
        if (result < 0 && errno != EINTR)
            return false;
    }
}

/* Called after a GnuTLS call has failed. If the call can be repeated, waits until then and returns
 * true. */
static bool may_repeat(const struct net_stream *stream, ssize_t result, uint64_t deadline_ns)
{
    if (result == GNUTLS_E_AGAIN)
        return wait_for(stream,
                        gnutls_record_get_direction(stream->session) == 0 ? POLLIN : POLLOUT,
                        deadline_ns);
    return !gnutls_error_is_fatal((int)result) && result != GNUTLS_E_REHANDSHAKE &&
           clock_boot_ns() < deadline_ns;
}

/* ---- opening ---- */

static bool begin_session(struct net_stream *stream)
{
    if (gnutls_init(&stream->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) {
        stream->session = NULL;
        return false;
    }
    if (gnutls_priority_set(stream->session, stream->tls->priority) < 0 ||
        !tls_key_set(stream->tls, stream->session, true))
        return false;
    gnutls_handshake_set_timeout(stream->session, GNUTLS_INDEFINITE_TIMEOUT);
    gnutls_transport_set_int(stream->session, stream->fd);
    return true;
}

static bool shake_hands(const struct net_stream *stream, uint64_t deadline_ns)
{
    int result;

    do
        result = gnutls_handshake(stream->session);
    while (result != GNUTLS_E_SUCCESS && may_repeat(stream, result, deadline_ns));
    return result == GNUTLS_E_SUCCESS;
}

struct net_stream *net_stream_open(const struct net_peer *peer, uint64_t deadline_ns)
{
    struct net_stream *stream;
    int fd = outgoing_connect(peer);

    if (fd < 0)
        return NULL;
    stream = xcalloc(1, sizeof *stream);
    stream->fd = fd;
    stream->tls = tls_of_key(peer->key);
    if (wait_for(stream, POLLOUT, deadline_ns) && transport_is_connected(stream->fd) &&
        begin_session(stream) && shake_hands(stream, deadline_ns))
        return stream;
    net_stream_close(stream);
    return NULL;
}

void net_stream_close(struct net_stream *stream)
{
    if (!stream)
        return;
    if (stream->session)
        gnutls_deinit(stream->session);
    tls_give(stream->tls);
    close(stream->fd);
    free(stream);
}

/* ---- bytes ---- */

bool net_stream_send(struct net_stream *stream, struct bytes data, uint64_t deadline_ns,
                     bool *ret_is_sent)
{
    bool has_unsent = false; /* GnuTLS holds a record, which an empty call sends */

    while (data.len > 0) {
        ssize_t n = has_unsent ? gnutls_record_send(stream->session, NULL, 0)
                               : gnutls_record_send(stream->session, data.ptr, data.len);

        if (n > 0) {
            *ret_is_sent = true;
            data = bytes_from(data, (size_t)n);
        }
        has_unsent = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
        *ret_is_sent |= has_unsent;
        if (n <= 0 && !may_repeat(stream, n, deadline_ns))
            return false;
    }
    return true;
}

ssize_t net_stream_receive(struct net_stream *stream, char *to, size_t max, uint64_t deadline_ns)
{
    ssize_t n;

    do
        n = gnutls_record_recv(stream->session, to, max);
    while (n < 0 && may_repeat(stream, n, deadline_ns));
    if (n == GNUTLS_E_PREMATURE_TERMINATION)
        return 0; /* the data itself shows whether it is complete */
    return n < 0 ? -1 : n;
}

bool net_stream_key_is_newest(const struct net_stream *stream, struct net_key *key)
{
    return tls_is_newest(stream->tls, key);
}

bool net_stream_is_quiet(struct net_stream *stream)
{
    char byte;

    return gnutls_record_recv(stream->session, &byte, sizeof byte) == GNUTLS_E_AGAIN;
}
