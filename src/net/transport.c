/* Sends and receives through a non-blocking socket, plain or over TLS (tls.c).
 *
 * The socket is watched edge-triggered: after a call that would have blocked, it is not called
 * again before the next edge. A plain read that does not fill its buffer has read everything,
 * unless epoll has reported the end of the stream, which requires one more read. */
#include "net/net_private.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/episode.h"
#include "base/log.h"
#include "net/proxy_header.h"

/* Maximum number of reads of unexpected bytes before closing. With unread bytes, the kernel would
 * reset the connection, and the client would lose its response (rfc: 9112 9.6). Lingering
 * connections (cut.c) read more. */
#define DRAIN_READS  4
#define ABANDONED_MS 1000u

bool transport_is_connected(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

bool transport_begin(struct connection *connection)
{
    int on = 1;

    /* Usually one call sends a response; with several calls, each specifies whether more
     * follows. */
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection->writable = !connection->is_connecting;
    return !(connection->is_outgoing ? connection->tls_of != NULL : connection->server->is_tls) ||
           tls_begin(connection);
}

static bool is_no_room(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK;
}

static ssize_t receive_plain(struct connection *connection, char *to, size_t size)
{
    ssize_t n;

    do {
        n = recv(connection->fd, to, size, 0);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && !is_no_room(errno))
        return TRANSPORT_FAILED;
    if (n < 0 || (n > 0 && (size_t)n < size && !connection->ended))
        connection->readable = false;
    return n < 0 ? TRANSPORT_WAITS : n;
}

ssize_t transport_receive(struct connection *connection, char *to, size_t size)
{
    ssize_t n;

    assert(size > 0);
    n = connection->tls ? tls_receive(connection, to, size) : receive_plain(connection, to, size);
    assert(n >= TRANSPORT_FAILED && n <= (ssize_t)size);
    return n;
}

/* Consumes bytes of the socket that were only peeked before. */
static bool skip(const struct connection *connection, size_t size)
{
    while (size > 0) {
        ssize_t n = recv(connection->fd, connection->worker->input, size, 0);

        if (n <= 0)
            return false;
        size -= (size_t)n;
    }
    return true;
}

/* Peeks the header until it is complete and only then consumes it, because GnuTLS must read the
 * bytes after it if they are TLS. */
ssize_t transport_receive_header(struct connection *connection, struct proxy_header *ret_header)
{
    char *input = connection->worker->input;
    ssize_t n;

    do {
        n = recv(connection->fd, input, PROXY_HEADER_MAX, MSG_PEEK);
    } while (n < 0 && errno == EINTR);
    if (n == 0 || (n < 0 && !is_no_room(errno)))
        /* the peer has closed without sending, like a health check that only connects */
        return TRANSPORT_FAILED;
    switch (proxy_header_find(bytes_of(input, n > 0 ? (size_t)n : 0), ret_header)) {
    case PROXY_WHOLE:
        return skip(connection, ret_header->size) ? 1 : TRANSPORT_FAILED;
    case PROXY_PART:
        if (connection->ended)
            return TRANSPORT_FAILED; /* the peer has closed */
        connection->readable = false;
        return TRANSPORT_WAITS;
    case PROXY_MALFORMED:
        break;
    }
    episode_goes_on(EPISODE_PROXY, connection->peer);
    return TRANSPORT_FAILED;
}

bool transport_is_abandoned(const struct connection *connection)
{
    struct pollfd poller = { .fd = connection->fd, .events = POLLRDHUP };
    struct tcp_info info = { 0 };
    socklen_t size = sizeof info;

    if (poll(&poller, 1, 0) <= 0)
        return false;
    return (poller.revents & (POLLHUP | POLLERR)) ||
           (getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
            info.tcpi_last_data_recv >= ABANDONED_MS);
}

static size_t total_of(const struct iovec *parts, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += parts[i].iov_len;
    return total;
}

static ssize_t send_plain(struct connection *connection, const struct iovec *parts, size_t count,
                          bool follows)
{
    struct msghdr message = { .msg_iov = (struct iovec *)(uintptr_t)parts, .msg_iovlen = count };
    ssize_t n;

    do {
        n = sendmsg(connection->fd, &message, MSG_NOSIGNAL | (follows ? MSG_MORE : 0));
    } while (n < 0 && errno == EINTR);
    if (n < 0 && !is_no_room(errno))
        return TRANSPORT_FAILED;
    if (n < 0 || (size_t)n < total_of(parts, count))
        connection->writable = false;
    return n < 0 ? TRANSPORT_WAITS : n;
}

ssize_t transport_send(struct connection *connection, const struct iovec *parts, size_t count,
                       bool follows)
{
    ssize_t n;

    assert(count > 0 && total_of(parts, count) > 0);
    n = connection->tls ? tls_send(connection, parts, count)
                        : send_plain(connection, parts, count, follows);
    assert(n >= TRANSPORT_FAILED && n <= (ssize_t)total_of(parts, count));
    return n;
}

/* ---- files ---- */

/* Copies through memory: for TLS, and for file systems without sendfile(). */
static ssize_t send_copy(struct connection *connection, int fd, off_t offset, size_t size)
{
    struct iovec part = { .iov_base = connection->worker->block };
    ssize_t n = pread(fd, part.iov_base,
                      size < CONNECTION_BLOCK_BYTES ? size : CONNECTION_BLOCK_BYTES, offset);

    if (n < 0)
        log_errno("read a file to be sent");
    if (n <= 0)
        return n < 0 ? TRANSPORT_FAILED : 0;
    part.iov_len = (size_t)n;
    return transport_send(connection, &part, 1, false);
}

ssize_t transport_send_file(struct connection *connection, int fd, uint64_t offset, size_t size)
{
    off_t at = (off_t)offset;
    ssize_t n;

    assert(fd >= 0 && size > 0);
    if (connection->tls)
        return send_copy(connection, fd, at, size);
    do {
        n = sendfile(connection->fd, fd, &at, size);
    } while (n < 0 && errno == EINTR);
    if (n >= 0)
        return n;
    if (errno == EINVAL || errno == ENOSYS)
        return send_copy(connection, fd, (off_t)offset, size);
    if (errno == EIO)
        log_errno("send a file");
    if (!is_no_room(errno))
        return TRANSPORT_FAILED;
    connection->writable = false;
    return TRANSPORT_WAITS;
}

/* ---- end ---- */

static void drain(struct connection *connection)
{
    for (int i = 0; i < DRAIN_READS; i++) {
        ssize_t n = recv(connection->fd, connection->worker->input, CONNECTION_INPUT_BYTES, 0);

        if (n < (ssize_t)CONNECTION_INPUT_BYTES)
            return;
    }
}

void transport_end(struct connection *connection, enum transport_end how)
{
    if (connection->tls)
        tls_end(connection, how != TRANSPORT_CUT);
    if (how != TRANSPORT_CUT)
        shutdown(connection->fd, SHUT_WR);
    if (how == TRANSPORT_ORDERLY)
        drain(connection);
}
