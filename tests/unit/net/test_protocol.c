/* A protocol on net/ alone: when its functions are called, and what reaches its clients. Each byte that a
 * client sends asks for something (enum asked), and is answered with a byte. */
#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>

#include "net/net_private.h"

/* How long what must come may take. */
#define PATIENCE_MS 60000
/* As a PROXY header names it. */
#define CLIENT      "203.0.113.7:5000"
#define HEADER      "PROXY TCP4 203.0.113.7 192.0.2.1 5000 443\r\n"

enum asked {
    ASKED_ECHO = 'e',   /* at once */
    ASKED_LATER = 'l',  /* by a post of another thread */
    ASKED_MOVE = 'm',   /* by the next worker, which a post of another thread makes it */
    ASKED_TRUST = 't',  /* this client is authenticated */
    ASKED_WHO = 'w',    /* is it a proxy's client: '1', else '0' */
    ASKED_ONE = 'a',    /* this connection is one account's */
    ASKED_OTHER = 'b',  /* another one's */
    ASKED_HOLD = 'h',   /* the worker stops until it is let go on */
    ASKED_ORDER = 'o',  /* how many were asked for this before, as a byte */
    ASKED_END = 'x',    /* no answer: the connection is closed */
    ASKED_LINGER = 'g', /* no answer: as before, once the client has closed too */
    SAYS_REFUSED = 'R', /* to whom there is no place for */
};

struct asked_connection {
    struct connection net; /* first */
    pthread_t poster;
    const void *moves_to; /* worker */
    bool waits, begun, ended;
    unsigned posts;
};

static atomic_uint begins, ends, states;
static atomic_bool is_held, goes_on;
static atomic_bool is_shared; /* a child process has each socket, too */
static int shared = -1;
static unsigned told; /* the worker's */
static int context;

static struct asked_connection *of(struct connection *connection)
{
    return (struct asked_connection *)(void *)connection;
}

static void *post_later(void *argument)
{
    connection_post(argument);
    return NULL;
}

static void *state_new(void)
{
    atomic_fetch_add(&states, 1);
    return xcalloc(1, sizeof(unsigned));
}

static void state_free(void *state)
{
    atomic_fetch_sub(&states, 1);
    free(state);
}

static void begin(struct connection *connection)
{
    assert(connection_context(connection) == &context);
    assert(connection_worker_state(connection));
    assert(!of(connection)->begun);
    of(connection)->begun = true;
    atomic_fetch_add(&begins, 1);
}

static enum turn answer(struct connection *connection, char byte)
{
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };

    return transport_send(connection, &part, 1, false) == 1 ? TURN_GOES_ON : TURN_ENDS;
}

static void move(struct asked_connection *c)
{
    const struct net_server *server = c->net.server;
    size_t next = (size_t)(c->net.worker - server->workers + 1) % server->worker_count;

    c->moves_to = &server->workers[next];
    connection_move(&c->net, c->moves_to);
}

static void hold(void)
{
    atomic_store(&is_held, true);
    while (!atomic_load(&goes_on))
        usleep(1000);
}

/* What is answered at once. */
static char answer_to(struct connection *connection, char asked)
{
    if (asked == ASKED_WHO)
        return strcmp(connection->peer, CLIENT) == 0 ? '1' : '0';
    if (asked == ASKED_TRUST)
        connection_trust(connection);
    if (asked == ASKED_ONE || asked == ASKED_OTHER)
        connection_serves_for(connection, asked == ASKED_ONE ? &begins : &ends);
    if (asked == ASKED_HOLD)
        hold();
    return asked == ASKED_ORDER ? (char)told++ : asked;
}

static enum turn turn(struct connection *connection)
{
    struct asked_connection *c = of(connection);
    struct bytes have = input_bytes(&connection->input);
    ssize_t n;
    char asked;

    assert(c->begun && !c->ended);
    if (connection->refused)
        return answer(connection, SAYS_REFUSED) == TURN_GOES_ON ? TURN_LINGERS : TURN_ENDS;
    if (c->waits)
        return TURN_WAITS;
    if (have.len == 0) {
        n = input_receive(connection, 1024);
        if (n == TRANSPORT_WAITS)
            return TURN_WAITS;
        return n > 0 ? TURN_GOES_ON : TURN_ENDS;
    }
    asked = have.ptr[0];
    input_use(&connection->input, 1);
    if (asked == ASKED_END)
        return TURN_ENDS;
    if (asked == ASKED_LINGER)
        return TURN_LINGERS;
    if (asked == ASKED_MOVE)
        move(c);
    else if (asked != ASKED_LATER)
        return answer(connection, answer_to(connection, asked));
    connection_is_ours(connection);
    c->waits = true;
    if (pthread_create(&c->poster, NULL, post_later, connection) != 0)
        return TURN_ENDS;
    return TURN_WAITS;
}

static void posted(struct connection *connection)
{
    struct asked_connection *c = of(connection);

    assert(c->waits);
    pthread_join(c->poster, NULL);
    c->waits = false;
    assert(!c->moves_to || connection_place(connection) == c->moves_to);
    c->moves_to = NULL;
    c->posts++;
    answer(connection, (char)('0' + c->posts % 10));
    connection_awaits_request(connection);
}

static void end(struct connection *connection)
{
    if (atomic_load(&is_shared))
        shared = dup(connection->fd);
    assert(of(connection)->begun && !of(connection)->waits);
    of(connection)->ended = true;
    atomic_fetch_add(&ends, 1);
}

static const struct net_protocol protocol = {
    .name = "asked",
    .connection_bytes = sizeof(struct asked_connection),
    .worker_state_new = state_new,
    .worker_state_free = state_free,
    .begin = begin,
    .turn = turn,
    .posted = posted,
    .end = end,
};

static const struct net_limits plenty = { .workers = 2,
                                          .connections_max = 100,
                                          .idle_s = 600,
                                          .linger_max_bytes = 1000,
                                          .linger_s = 60,
                                          .linger_stall_s = 60 };

static struct net_server *start_behind(const struct net_limits *limits,
                                       const struct net_proxies *proxies)
{
    const struct net_listen listen = { .host = "127.0.0.1", .proxies = proxies };
    const char *problem = NULL;
    struct net_server *server = net_start(&listen, limits, &protocol, &context, &problem);

    atomic_store(&begins, 0);
    atomic_store(&ends, 0);
    assert_non_null(server);
    return server;
}

static struct net_server *start(const struct net_limits *limits)
{
    return start_behind(limits, NULL);
}

static int connect_to(const struct net_server *server)
{
    const struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(net_port(server)) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void ask(int fd, const char *asked, const char *answers)
{
    char got[64];
    size_t size = strlen(answers);

    assert_true(size < sizeof got);
    assert_int_equal(send(fd, asked, strlen(asked), MSG_NOSIGNAL), strlen(asked));
    assert_int_equal(recv(fd, got, size, MSG_WAITALL), size);
    got[size] = '\0';
    assert_string_equal(got, answers);
}

/* On a busy machine its time may end before it is authenticated. */
static int connect_trusted(const struct net_server *server)
{
    char byte;

    for (;;) {
        int fd = connect_to(server);

        if (send(fd, "t", 1, MSG_NOSIGNAL) == 1 && recv(fd, &byte, 1, 0) == 1)
            return fd;
        close(fd);
    }
}

/* The server closes, and sends nothing more. */
static void assert_ends(int fd)
{
    char byte;

    assert_true(recv(fd, &byte, 1, 0) <= 0);
    assert_true(errno != EAGAIN && errno != EWOULDBLOCK);
    close(fd);
}

/* Rule: begin(), then turns and posts, then end(), once each; also where a post and bytes come together. */
static void test_functions_in_their_order(void **state)
{
    struct net_server *server = start(&plenty);
    int one, other;

    (void)state;
    assert_int_equal(atomic_load(&states), 2);
    one = connect_to(server);
    other = connect_to(server);
    ask(one, "eee", "eee");
    ask(other, "ele", "e1e");
    for (int i = 0; i < 50; i++)
        ask(one, "llelle",
            i % 5 == 0   ? "12e34e"
            : i % 5 == 1 ? "56e78e"
            : i % 5 == 2 ? "90e12e"
            : i % 5 == 3 ? "34e56e"
                         : "78e90e");
    errno = 0;
    assert_int_equal(send(one, "x", 1, MSG_NOSIGNAL), 1);
    assert_ends(one);
    close(other);
    net_stop(server, PATIENCE_MS / 1000);
    assert_int_equal(atomic_load(&begins), 2);
    assert_int_equal(atomic_load(&ends), 2);
    assert_int_equal(atomic_load(&states), 0);
}

static char digit(unsigned posts)
{
    return (char)('0' + posts % 10);
}

/* Rule: what has moved is posted, served and closed by the other worker, and nothing of what it was sent is lost. */
static void test_moves(void **state)
{
    struct net_server *server = start(&plenty);
    int fds[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        fds[i] = connect_to(server);
    for (unsigned round = 0; round < 50; round++)
        for (int i = 0; i < 4; i++) {
            char answers[] = { digit(round * 3 + 1), 'e', digit(round * 3 + 2), 'e',
                               digit(round * 3 + 3), '\0' };

            ask(fds[i], "memel", answers);
        }
    for (int i = 0; i < 2; i++)
        close(fds[i]);
    for (int i = 2; i < 4; i++) {
        errno = 0;
        assert_int_equal(send(fds[i], "x", 1, MSG_NOSIGNAL), 1);
        assert_ends(fds[i]);
    }
    net_stop(server, PATIENCE_MS / 1000);
    assert_int_equal(atomic_load(&begins), 4);
    assert_int_equal(atomic_load(&ends), 4);
}

/* Rule: of two accounts whose requests wait for a worker each has every other turn, however many the other one has waiting,
 * and whoever came first. decision: 711 */
static void test_accounts_take_turns(void **state)
{
    enum { MANY = 40 };
    struct net_limits limits = plenty;
    struct net_server *server;
    int many[MANY], holder, other;
    char order;

    (void)state;
    limits.workers = 1;
    server = start(&limits);
    holder = connect_to(server);
    other = connect_to(server);
    ask(other, "b", "b");
    for (int i = 0; i < MANY; i++) {
        many[i] = connect_to(server);
        ask(many[i], "a", "a");
    }
    atomic_store(&is_held, false);
    atomic_store(&goes_on, false);
    assert_int_equal(send(holder, "h", 1, MSG_NOSIGNAL), 1);
    while (!atomic_load(&is_held))
        usleep(1000);
    told = 0;
    for (int i = 0; i < MANY; i++)
        assert_int_equal(send(many[i], "o", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(send(other, "o", 1, MSG_NOSIGNAL), 1);
    atomic_store(&goes_on, true);
    assert_int_equal(recv(other, &order, 1, 0), 1);
    assert_in_range(order, 0, 2);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(recv(many[i], &order, 1, 0), 1);
        close(many[i]);
    }
    close(holder);
    close(other);
    net_stop(server, PATIENCE_MS / 1000);
}

/* Rule: where there is a limit for strangers they are closed, and who is authenticated stays. */
static void test_strangers_are_closed(void **state)
{
    struct net_limits limits = plenty;
    struct net_server *server;
    int stranger, friend;

    (void)state;
    limits.stranger_s = 1;
    server = start(&limits);
    friend = connect_trusted(server);
    stranger = connect_to(server);
    errno = 0;
    assert_ends(stranger);
    ask(friend, "el", "e1");
    close(friend);
    net_stop(server, PATIENCE_MS / 1000);
    assert_int_equal(atomic_load(&ends), atomic_load(&begins));
}

/* Rule: who is authenticated goes to the end of those who are, wherever it stood among the strangers. */
static void test_strangers_become_trusted(void **state)
{
    static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 }, { 1, 2, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct net_server *server = start(&plenty);
        int fds[3];

        for (int j = 0; j < 3; j++) {
            fds[j] = connect_to(server);
            ask(fds[j], "e", "e");
        }
        for (int j = 0; j < 3; j++)
            ask(fds[orders[i][j]], "t", "t");
        for (int j = 0; j < 3; j++) {
            ask(fds[j], "e", "e");
            close(fds[j]);
        }
        net_stop(server, PATIENCE_MS / 1000);
        assert_int_equal(atomic_load(&ends), 3);
    }
}

/* Rule: of too many, who is idle gives way; if nobody is, the new one is passed as refused. */
static void test_refused_are_told_so(void **state)
{
    struct net_limits limits = plenty;
    struct net_server *server;
    int first, second, third;

    (void)state;
    limits.connections_max = 1;
    server = start(&limits);
    first = connect_to(server);
    ask(first, "e", "e");
    second = connect_to(server);
    errno = 0;
    assert_ends(first);
    ask(second, "e", "e");
    for (int i = 0; i < PATIENCE_MS && connections_count(server) > 1; i++)
        usleep(1000);
    lock_acquire(&server->lock);
    atomic_store(&server->untrusted.first->phase, PHASE_OURS); /* as if it had something in work */
    lock_release(&server->lock);
    third = connect_to(server);
    ask(third, "", "R");
    ask(second, "e", "e");
    close(third);
    close(second);
    net_stop(server, PATIENCE_MS / 1000);
    assert_int_equal(atomic_load(&ends), 3);
}

/* Rule: who resets a connection that waits for its client's end has ended it: its place is free at once. */
static void test_lingering_ends_by_reset(void **state)
{
    const struct linger reset = { .l_onoff = 1 };
    struct net_limits limits = plenty;
    struct net_server *server;
    char byte;
    int fd;

    (void)state;
    limits.linger_s = limits.linger_stall_s = 600;
    server = start(&limits);
    fd = connect_to(server);
    ask(fd, "e", "e");
    assert_int_equal(send(fd, "g", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    assert_int_equal(connections_count(server), 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    for (int i = 0; i < PATIENCE_MS && connections_count(server) > 0; i++)
        usleep(1000);
    assert_int_equal(connections_count(server), 0);
    net_stop(server, PATIENCE_MS / 1000);
}

/* Rule: a connection of a proxy that introduces its clients is the client's from its header on, however that comes;
 * the protocol never hears of one without. net.h, struct net_proxies */
static void test_introduced(void **state)
{
    static const char *const malformed[] = { "e", "PROXY TCP4\r\ne", "\r\n\r\n\x65" /* e */ };
    struct net_proxies proxies = { .trusted.count = 0 };
    struct net_server *server;
    int fd, silent;

    (void)state;
    assert_true(address_list_parse(bytes_from_string("127.0.0.0/8"), &proxies.introducing));
    server = start_behind(&plenty, &proxies);
    fd = connect_to(server);
    ask(fd, HEADER "weel", "1ee1");
    close(fd);
    fd = connect_to(server);
    for (const char *c = HEADER; *c; c++) {
        assert_int_equal(send(fd, c, 1, MSG_NOSIGNAL), 1);
        if (*c == ' ')
            usleep(1000);
    }
    ask(fd, "w", "1");
    ask(fd, "PROXY", "PROXY"); /* no header any more */
    close(fd);
    fd = connect_to(server);
    ask(fd, "PROXY UNKNOWN\r\nw", "0");
    close(fd);
    silent = connect_to(server);
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        fd = connect_to(server);
        assert_true(send(fd, malformed[i], strlen(malformed[i]), MSG_NOSIGNAL) > 0);
        errno = 0;
        assert_ends(fd);
    }
    net_stop(server, PATIENCE_MS / 1000);
    errno = 0;
    assert_ends(silent);
    assert_int_equal(atomic_load(&begins), 3);
    assert_int_equal(atomic_load(&ends), 3);
}

/* Rule: the limit for an address is that of the client, and one that it refuses is told so. */
static void test_introduced_are_limited(void **state)
{
    struct net_proxies proxies = { .trusted.count = 0 };
    struct net_limits limits = plenty;
    struct net_server *server;
    int first, second, other;

    (void)state;
    limits.connections_per_address_max = 1;
    assert_true(address_list_parse(bytes_from_string("127.0.0.1"), &proxies.introducing));
    server = start_behind(&limits, &proxies);
    first = connect_to(server);
    ask(first, HEADER "w", "1");
    other = connect_to(server);
    ask(other, "PROXY TCP4 203.0.113.8 192.0.2.1 5000 443\r\nw", "0");
    second = connect_to(server);
    ask(second, HEADER "w", "1"); /* in the place of the first, which was idle */
    errno = 0;
    assert_ends(first);
    lock_acquire(&server->lock);
    for (struct connection *c = server->untrusted.first; c; c = c->next)
        atomic_store(&c->phase, PHASE_OURS); /* as if it had something in work */
    lock_release(&server->lock);
    first = connect_to(server);
    ask(first, HEADER, "R");
    close(first);
    ask(other, "e", "e");
    close(other);
    close(second);
    net_stop(server, PATIENCE_MS / 1000);
    assert_int_equal(atomic_load(&ends), atomic_load(&begins));
}

/* A child process has copies of all descriptors until it executes a program, so close() need not take a socket out of an
 * epoll set. Nothing that happens to it afterwards may reach the connection, which is freed. */
static void test_closed_while_a_child_starts(void **state)
{
    struct net_server *server = start(&plenty);
    int fd = connect_to(server), other = connect_to(server);

    (void)state;
    atomic_store(&is_shared, true);
    ask(fd, "e", "e");
    ask(other, "e", "e");
    assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
    assert_ends(fd); /* it closes, which is an event */
    atomic_store(&is_shared, false);
    for (unsigned i = 0; i < 20; i++)
        ask(other, "e", "e");
    assert_true(shared >= 0);
    close(shared);
    close(other);
    net_stop(server, PATIENCE_MS / 1000);
    assert_int_equal(atomic_load(&ends), atomic_load(&begins));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_while_a_child_starts),
        cmocka_unit_test(test_functions_in_their_order),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_accounts_take_turns),
        cmocka_unit_test(test_strangers_are_closed),
        cmocka_unit_test(test_strangers_become_trusted),
        cmocka_unit_test(test_refused_are_told_so),
        cmocka_unit_test(test_lingering_ends_by_reset),
        cmocka_unit_test(test_introduced),
        cmocka_unit_test(test_introduced_are_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
