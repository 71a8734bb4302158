/* Records of TLS that arrive in any pieces, and are received into buffers of any size: net/tls.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net/net_private.h"

#include <cmocka.h> /* last: it has a macro `fail` */

#define ALL_BYTES  ((size_t)8 << 20)
#define SEND_MOST  40000u
#define RELAY_MOST 70000u
#define SMALL_MOST 3000u

struct end {
    struct connection connection; /* one end of the TLS session */
    int relay;                    /* the other end of its socket */
};

static uint64_t state = 88172645463325252u;

static size_t draw(size_t most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return 1 + (size_t)(state % most);
}

static void open_end(struct end *end, struct net_server *server, struct worker *worker)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    end->connection.fd = fds[0];
    end->relay = fds[1];
    end->connection.server = server;
    end->connection.worker = worker;
    end->connection.readable = end->connection.writable = true;
    assert_true(tls_begin(&end->connection));
}

static void close_end(struct end *end)
{
    tls_end(&end->connection, false);
    close(end->connection.fd);
    if (end->relay >= 0)
        close(end->relay);
}

/* Some of what one end has sent goes to the other one. Returns false if there was nothing. */
static bool relay(const struct end *from, const struct end *to, size_t most)
{
    static char bytes[RELAY_MOST];
    ssize_t n = recv(from->relay, bytes, most, 0);

    for (ssize_t sent = 0; sent < n;) {
        ssize_t some = send(to->relay, bytes + sent, (size_t)(n - sent), 0);

        if (some < 0)
            assert_int_equal(poll(&(struct pollfd){ to->relay, POLLOUT, 0 }, 1, 1000), 1);
        else
            sent += some;
    }
    return n > 0;
}

/* As the edges of its socket would say. */
static void watch(struct connection *connection)
{
    struct pollfd of = { connection->fd, POLLIN | POLLOUT, 0 };

    assert_true(poll(&of, 1, 0) >= 0);
    connection->readable |= (of.revents & POLLIN) != 0;
    connection->writable |= (of.revents & POLLOUT) != 0;
}

static void shake_hands(struct end *one, struct end *other)
{
    for (bool up = false; !up;) {
        (void)(one->connection.tls_is_up || tls_handshake(&one->connection));
        (void)(other->connection.tls_is_up || tls_handshake(&other->connection));
        up = one->connection.tls_is_up && other->connection.tls_is_up;
        (void)relay(one, other, RELAY_MOST);
        (void)relay(other, one, RELAY_MOST);
    }
}

static char byte_at(size_t at)
{
    return (char)(at * 7 + at / 253);
}

static size_t send_some(struct end *from, size_t at)
{
    static char bytes[SEND_MOST];
    static size_t promised; /* of a record that the socket did not take */
    size_t size = promised > 0 ? promised : draw(draw(4) == 1 ? 20 : SEND_MOST);
    struct iovec part = { bytes, size < ALL_BYTES - at ? size : ALL_BYTES - at };
    ssize_t n;

    for (size_t i = 0; i < part.iov_len; i++)
        bytes[i] = byte_at(at + i);
    n = transport_send(&from->connection, &part, 1, false);
    assert_int_not_equal(n, TRANSPORT_FAILED);
    promised = n < (ssize_t)part.iov_len ? part.iov_len - (n > 0 ? (size_t)n : 0) : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Receives until the socket has nothing. Returns the number of bytes. */
static size_t receive_some(struct end *to, size_t at, size_t most)
{
    static char bytes[2 * CONNECTION_INPUT_BYTES];
    size_t got = 0;

    while (to->connection.readable) {
        ssize_t n = transport_receive(&to->connection, bytes, draw(most));

        if (n == TRANSPORT_WAITS)
            assert_false(to->connection.readable);
        else
            assert_true(n > 0);
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal(bytes[i], byte_at(at + got + (size_t)i));
        got += n > 0 ? (size_t)n : 0;
    }
    return got;
}

/* A session between two ends. */
struct pair {
    struct net_key *key;
    struct net_server server;
    struct worker worker;
    struct end from, to;
};

static void open_pair(struct pair *pair)
{
    static const struct net_secrets secret = { 1, { { 1, 2, 3 } } };
    const char *problem = "";

    *pair = (struct pair){ .key = net_key_new("test", &secret, &problem) };
    assert_non_null(pair->key);
    lock_init(&pair->server.lock, RANK_CONNECTIONS);
    pair->server.tls = tls_of_key(pair->key);
    pair->from.connection.is_outgoing = true;
    pair->from.connection.tls_of = tls_of_key(pair->key);
    open_end(&pair->from, &pair->server, &pair->worker);
    open_end(&pair->to, &pair->server, &pair->worker);
    shake_hands(&pair->from, &pair->to);
}

static void close_pair(struct pair *pair)
{
    close_end(&pair->from);
    close_end(&pair->to);
    free(pair->worker.tls_input);
    tls_give(pair->server.tls);
    net_key_free(pair->key);
    lock_destroy(&pair->server.lock);
}

static void pass_all(size_t relay_most, size_t receive_most)
{
    struct pair pair;
    struct end *from = &pair.from, *to = &pair.to;
    size_t sent = 0, received = 0;

    open_pair(&pair);
    while (received < ALL_BYTES) {
        watch(&from->connection);
        if (sent < ALL_BYTES && from->connection.writable)
            sent += send_some(from, sent);
        (void)relay(from, to, draw(relay_most));
        watch(&to->connection);
        received += receive_some(to, received, receive_most);
    }
    assert_int_equal(received, sent);
    close_pair(&pair);
}

static void test_any_pieces(void **of)
{
    (void)of;
    pass_all(RELAY_MOST, 2 * CONNECTION_INPUT_BYTES);
    pass_all(SMALL_MOST, 2 * CONNECTION_INPUT_BYTES);
    pass_all(RELAY_MOST, 2 * SMALL_MOST);
    pass_all(RELAY_MOST, 40000); /* about two records: now ahead, now not */
}

/* A connection that was reset has one last edge. A caller that has data from before does not look at the error of its next
 * receive, so each later one must fail, too. */
static void test_reset_is_seen_again(void **of)
{
    static char bytes[2 * CONNECTION_INPUT_BYTES];
    struct pair pair;
    struct connection *connection = &pair.to.connection;

    (void)of;
    open_pair(&pair);
    while (relay(&pair.from, &pair.to, RELAY_MOST) || relay(&pair.to, &pair.from, RELAY_MOST))
        continue;
    assert_int_equal(send(connection->fd, "x", 1, 0), 1); /* unread, so that close() resets */
    close(pair.to.relay);
    pair.to.relay = -1;
    while (connection->readable &&
           transport_receive(connection, bytes, sizeof bytes) == TRANSPORT_WAITS)
        continue;
    connection->readable = connection->ended = true;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(transport_receive(connection, bytes, sizeof bytes), TRANSPORT_FAILED);
        assert_true(connection->readable);
    }
    close_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_any_pieces),
                                        cmocka_unit_test(test_reset_is_seen_again) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
