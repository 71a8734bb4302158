/* What the http room does to clients that are too many, too slow, too long or malformed, and how it
 * stops. The limits are those of struct http_limits. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"
#include "echo.h"

#define DISCARDED ((size_t)64 * 1024)
#define LINGERED  ((size_t)8 * 1024 * 1024)
#define LONG_S    (CLIENT_PATIENCE_MS / 1000)
/* Of what the machine's own pauses can spoil. */
#define ATTEMPTS  8

static const struct http_limits small_limits = {
    .net = { .workers = 2,
             .connections_max = 8,
             .idle_s = 1,
             .body_stall_s = 1,
             .body_rate_min = 1000,
             .body_rate_grace_s = 1,
             .linger_max_bytes = LINGERED,
             .linger_s = 1,
             .linger_stall_s = 1 },
    .connection_memory_bytes = (size_t)24 * 1024,
    .discard_max_bytes = DISCARDED,
};

static struct http_server *server;

static int start_with(const struct http_limits *limits)
{
    struct net_listen listen = { .host = "127.0.0.1" };
    const char *problem = NULL;

    echo_start();
    server = http_start(&listen, limits, &echo_application, NULL, &problem);
    return server ? 0 : -1;
}

static int start_impatient(void **state)
{
    (void)state;
    return start_with(&small_limits);
}

/* Nobody is cut because the test itself is slow. */
static int start(void **state)
{
    struct http_limits limits = small_limits;

    (void)state;
    limits.net.idle_s = limits.net.body_stall_s = limits.net.body_rate_grace_s = LONG_S;
    limits.net.linger_s = limits.net.linger_stall_s = LONG_S;
    return start_with(&limits);
}

/* Where only the limits of bodies are short. */
static int start_impatient_of_bodies(void **state)
{
    struct http_limits limits = small_limits;

    (void)state;
    limits.net.idle_s = LONG_S;
    return start_with(&limits);
}

static int stop(void **state)
{
    (void)state;
    if (server)
        http_stop(server, 1);
    server = NULL;
    echo_stop();
    return echo_heads() == echo_dones() ? 0 : -1;
}

static struct client *open_client(void)
{
    return client_open(http_port(server));
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: x\r\n\r\n"

static void expect(struct client *client, int status)
{
    struct reply reply;

    client_read(client, &reply);
    assert_int_equal(reply.status, status);
    reply_release(&reply);
}

/* A head that outgrows the connection's memory: 431, or 414 while it is the request line. */
static void refuses_large_heads(void **state)
{
    static char filler[30000];
    struct client *client = open_client();

    (void)state;
    memset(filler, 'x', sizeof filler);
    client_send(client, "GET /bytes/1 HTTP/1.1\r\nHost: x\r\nx-filler: ");
    client_send_bytes(client, filler, sizeof filler);
    expect(client, 431);
    client_close(client);

    client = open_client();
    client_send(client, "GET /");
    client_send_bytes(client, filler, sizeof filler);
    expect(client, 414);
    client_close(client);
}

/* Many small headers: 431. Below the limits: an answer. */
static void refuses_many_headers(void **state)
{
    struct client *client = open_client();

    (void)state;
    client_send(client, "GET /bytes/1 HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < 200; i++)
        client_send(client, "a: b\r\n");
    client_send(client, "\r\n");
    expect(client, 200);
    client_send(client, "GET /bytes/1 HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < 256; i++)
        client_send(client, "a: b\r\n");
    client_send(client, "\r\n");
    expect(client, 431);
    client_close(client);
}

/* A head of 8 KiB in one header and a target of 2 KiB are served. */
static void takes_rather_large_heads(void **state)
{
    static char filler[8193];
    struct client *client = open_client();

    (void)state;
    memset(filler, 'x', sizeof filler - 1);
    client_send(client, "GET /bytes/1?");
    client_send_bytes(client, filler, 2048);
    client_send(client, " HTTP/1.1\r\nHost: x\r\nx-filler: ");
    client_send_bytes(client, filler, 8192);
    client_send(client, "\r\n\r\n");
    expect(client, 200);
    client_close(client);
}

/* A connection without a complete head in idle_s is closed, also when bytes trickle in. */
static void cuts_idle_connections(void **state)
{
    struct client *silent = open_client();
    struct client *trickling = open_client();
    uint64_t begun = now_ms();

    (void)state;
    client_send(trickling, "GET /bytes/1 HTTP/1.1\r\n");
    while (now_ms() - begun < CLIENT_PATIENCE_MS && client_sendf(trickling, "a"))
        usleep(100000);
    assert_in_range(now_ms() - begun, 900, CLIENT_PATIENCE_MS - 1);
    assert_true(client_sees_end(silent, CLIENT_PATIENCE_MS));
    client_close(silent);
    client_close(trickling);
}

/* A body that stops for body_stall_s is cut; one that goes on too slowly is cut after its grace. */
static void cuts_slow_bodies(void **state)
{
    struct client *stalled = open_client();
    struct client *slow = open_client();
    uint64_t begun = now_ms();

    (void)state;
    client_send(stalled, "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
    client_send(slow, "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n");
    while (now_ms() - begun < CLIENT_PATIENCE_MS && client_send(slow, "abc"))
        usleep(100000);
    assert_in_range(now_ms() - begun, 900, CLIENT_PATIENCE_MS - 1);
    assert_true(client_sees_end(stalled, CLIENT_PATIENCE_MS));
    client_close(stalled);
    client_close(slow);
}

/* After a pause of ours the client is waited for again: one that sends no more is cut after
 * body_stall_s, one that went away with the bytes that we paused for at once. */
static void cuts_bodies_after_pauses(void **state)
{
    struct client *stalled = open_client();
    struct client *gone = open_client();
    unsigned done = echo_dones();

    (void)state;
    client_send(gone, "PUT /echo?after HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
    client_close(gone);
    client_send(stalled, "PUT /echo?after HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
    assert_true(client_sees_end(stalled, CLIENT_PATIENCE_MS));
    client_close(stalled);
    for (int i = 0; i < CLIENT_PATIENCE_MS / 10 && echo_dones() < done + 2; i++)
        usleep(10000);
    assert_int_equal(echo_dones(), done + 2);
}

/* The status of an exchange that is paused for long; *ret_ms: how long its client then took. */
static int status_after_a_pause(uint64_t *ret_ms)
{
    struct client *client = open_client();
    struct reply reply;
    uint64_t released;
    int status;

    echo_hold();
    client_send(client, "PUT /echo?body HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabc");
    usleep(2500000);
    released = now_ms();
    echo_release();
    usleep(200000);
    client_send(client, "de");
    *ret_ms = now_ms() - released;
    client_read(client, &reply);
    status = reply.status;
    reply_release(&reply);
    client_close(client);
    return status;
}

/* Time that the server takes is not the client's: an exchange paused for long is answered. A client that is late
 * itself may be cut, and is asked once more. */
static void spares_paused_exchanges(void **state)
{
    uint64_t ms = 0;
    int status = 0;

    (void)state;
    for (int i = 0; i < ATTEMPTS; i++) {
        status = status_after_a_pause(&ms);
        if (status == 200 || ms < 500)
            break;
    }
    assert_int_equal(status, 200);
}

#define ANSWER_RATE 20000u
#define LONG_ANSWER 4000000u

static int start_with_answer_rate(void **state)
{
    struct http_limits limits = small_limits;

    (void)state;
    limits.net.idle_s = limits.net.answer_stall_s = 30;
    limits.net.answer_rate_min = ANSWER_RATE;
    limits.net.answer_rate_s = 1;
    return start_with(&limits);
}

/* A client that takes a long answer at its own rate, by a socket that holds little of it. */
struct reader {
    int fd;
    unsigned rate; /* bytes a second */
    size_t taken;
};

static struct reader open_reader(unsigned rate)
{
    static const char request[] = "GET /bytes/4000000 HTTP/1.1\r\nHost: x\r\n\r\n";
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(http_port(server)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval patience = { .tv_sec = LONG_S };
    int size = 4096;
    struct reader reader = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .rate = rate };

    setsockopt(reader.fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(reader.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(reader.fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(reader.fd, request, sizeof request - 1, 0), sizeof request - 1);
    return reader;
}

/* Takes what is due after so many milliseconds. */
static void take(struct reader *reader, unsigned elapsed_ms)
{
    char bytes[16384];
    size_t due = (size_t)reader->rate * elapsed_ms / 1000;

    while (reader->taken < due) {
        size_t left = due - reader->taken;
        ssize_t n =
            recv(reader->fd, bytes, left < sizeof bytes ? left : sizeof bytes, MSG_DONTWAIT);

        if (n <= 0)
            return;
        reader->taken += (size_t)n;
    }
}

static unsigned ms_since(struct timespec began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned)((now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1000000);
}

/* Reads with both until one is cut, and some time more. Returns how many ms at most went by in which
 * neither read. */
static unsigned read_both(struct reader *slow, struct reader *steady)
{
    unsigned done = echo_dones(), cut_ms = 0, last_ms = 0, pause_ms = 0;
    struct timespec began;

    clock_gettime(CLOCK_MONOTONIC, &began);
    while (ms_since(began) < (cut_ms > 0 ? cut_ms + 2500 : CLIENT_PATIENCE_MS)) {
        unsigned ms = ms_since(began);

        pause_ms = ms - last_ms > pause_ms ? ms - last_ms : pause_ms;
        last_ms = ms;
        take(slow, ms);
        take(steady, ms);
        if (cut_ms == 0 && echo_dones() > done)
            cut_ms = ms;
        usleep(10000);
    }
    return pause_ms;
}

/* Who takes an answer at less than the least rate is cut, who is above it gets all of it. A reader that the
 * machine kept from reading is not above it: then once more. */
static void cuts_slow_readers(void **state)
{
    unsigned done = echo_dones(), cut = 0;
    struct reader steady = { .fd = -1 };
    char bytes[16384];
    ssize_t n;

    (void)state;
    for (int i = 0; i < ATTEMPTS && cut != 1; i++) {
        struct reader slow = open_reader(ANSWER_RATE / 5);
        unsigned pause_ms;

        close(steady.fd);
        steady = open_reader(ANSWER_RATE * 3);
        done = echo_dones();
        pause_ms = read_both(&slow, &steady);
        cut = echo_dones() - done;
        close(slow.fd);
        if (pause_ms < 300)
            break;
    }
    assert_int_equal(cut, 1);
    assert_true(steady.taken < LONG_ANSWER);
    while (steady.taken < LONG_ANSWER && (n = recv(steady.fd, bytes, sizeof bytes, 0)) > 0)
        steady.taken += (size_t)n;
    assert_true(steady.taken >= LONG_ANSWER);
    close(steady.fd);
}

#define READERS 6

static int start_for_readers(void **state)
{
    struct http_limits limits = small_limits;

    (void)state;
    limits.net.idle_s = limits.net.answer_stall_s = 30;
    return start_with(&limits);
}

static unsigned descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* Answers from a file are sent from the application's descriptor, and are whole. */
static void needs_no_descriptors(void **state)
{
    struct client *clients[READERS];
    unsigned before;

    (void)state;
    for (size_t i = 0; i < READERS; i++) {
        clients[i] = open_client();
        client_send(clients[i], "GET /bytes/1 HTTP/1.1\r\nHost: x\r\n\r\n");
        expect(clients[i], 200);
    }
    before = descriptors();
    for (size_t i = 0; i < READERS; i++) {
        client_send(clients[i], "GET /file/3/6000000 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(client_sees_bytes(clients[i], CLIENT_PATIENCE_MS));
    }
    assert_int_equal(descriptors(), before);
    for (size_t i = 0; i < READERS; i++) {
        struct reply reply;

        client_read(clients[i], &reply);
        assert_int_equal(reply.status, 200);
        assert_int_equal(reply.body_size, 6000000);
        assert_memory_equal(reply.body, echo_bytes() + 3, 6000000);
        reply_release(&reply);
    }
    for (size_t i = 0; i < READERS; i++)
        client_close(clients[i]);
}

/* What connections, refusals and answers may have open stays below what there is. */
static void fits_descriptors(void **state)
{
    (void)state;
    for (unsigned share = 0; share < 20000; share += 37) {
        struct http_limits limits = http_limits_default;
        bool fits = http_limits_fit(&limits, 3, 3 * share);

        if (fits)
            assert_true(limits.net.connections_max + limits.answer_files_max < share);
        else
            assert_int_equal(limits.net.connections_max, CONNECTIONS_LEAST);
    }
}

/* ---- refused bodies: decision 272 ---- */

#define CHUNK_BYTES ((size_t)16 * 1024)

/* The client need not look for the answer while it sends: it finds it behind all of its body. */
static void refuses_long_bodies(void **state)
{
    static const uint64_t lengths[] = {
        0, 1, DISCARDED - 1, DISCARDED, DISCARDED + 1, 1000000, DISCARDED + LINGERED - CHUNK_BYTES
    };
    char *body = calloc(1, DISCARDED + LINGERED);

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct client *client = open_client();
        bool goes_on = lengths[i] <= DISCARDED;

        client_sendf(client, "PUT /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: %llu\r\n\r\n",
                     (unsigned long long)lengths[i]);
        usleep(goes_on ? 0 : 20000); /* mostly it is answered by now */
        assert_true(client_send_bytes(client, body, lengths[i]));
        expect(client, 403);
        if (goes_on) {
            client_send(client, "GET /bytes/1 HTTP/1.1\r\nHost: x\r\n\r\n");
            expect(client, 200);
        } else {
            assert_true(client_sees_end(client, CLIENT_PATIENCE_MS));
        }
        client_close(client);
    }
    free(body);
}

/* Sends chunks until the server has closed; returns how many bytes. */
static uint64_t send_without_end(struct client *client)
{
    static char chunk[CHUNK_BYTES + 10] = "4000\r\n";
    uint64_t sent = 0;

    memcpy(chunk + 6 + CHUNK_BYTES, "\r\n", 2);
    while (sent < 100000000 && client_send_bytes(client, chunk, 6 + CHUNK_BYTES + 2))
        sent += CHUNK_BYTES;
    return sent;
}

/* A body whose end nobody knows is read so far, and its client gets the answer. */
static void bounds_refused_bodies(void **state)
{
    static const char *const heads[] = {
        "PUT /refuse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "PUT /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n",
        "PUT /refuse HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct client *client = open_client();
        char chunk[CHUNK_BYTES + 10] = "4000\r\n";

        client_send(client, heads[i]);
        memcpy(chunk + 6 + CHUNK_BYTES, "\r\n", 2);
        for (size_t sent = 0; sent <= DISCARDED; sent += CHUNK_BYTES)
            assert_true(client_send_bytes(client, chunk, 6 + CHUNK_BYTES + 2));
        expect(client, 403);
        /* What two sockets hold comes on top. */
        assert_in_range(send_without_end(client), LINGERED - DISCARDED, LINGERED + 20000000);
        client_close(client);
    }
}

/* So few linger, and each for so long, that they keep nobody out. */
static void bounds_lingering_connections(void **state)
{
    struct client *clients[8];

    (void)state;
    for (size_t i = 0; i < sizeof clients / sizeof clients[0]; i++) {
        clients[i] = open_client();
        client_send(clients[i],
                    "PUT /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
        expect(clients[i], 403);
    }
    /* The server closes those that it has no room for, and the others when they are late. */
    for (size_t i = 0; i < sizeof clients / sizeof clients[0]; i++) {
        while (client_send(clients[i], "x"))
            usleep(1000);
        client_close(clients[i]);
    }
}

static bool is_refused(uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused =
        connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno == ECONNREFUSED;

    close(fd);
    return refused;
}

struct release {
    uint16_t port;
    bool late_is_refused;
};

/* While the server stops: tries to connect, then lets what is under way end. */
static void *release_soon(void *argument)
{
    struct release *release = argument;

    for (int i = 0; i < CLIENT_PATIENCE_MS && !release->late_is_refused; i++) {
        usleep(1000);
        release->late_is_refused = is_refused(release->port);
    }
    usleep(200000); /* idle connections are closed meanwhile, and who is busy is waited for */
    echo_release();
    return NULL;
}

/* Exchanges under way end before the server does; idle connections do not hold it up; new ones are
 * refused. */
static void stops_in_order(void **state)
{
    struct client *idle = open_client();
    struct client *busy = open_client();
    struct release release = { .port = http_port(server) };
    struct reply reply;
    pthread_t releaser;
    uint64_t begun;

    (void)state;
    client_send(idle, GET("/bytes/1"));
    expect(idle, 200);
    echo_hold();
    client_send(busy, GET("/bytes/3?end"));
    while (echo_held() == 0)
        usleep(1000);
    pthread_create(&releaser, NULL, release_soon, &release);
    begun = now_ms();
    http_stop(server, 2 * LONG_S);
    server = NULL;
    pthread_join(releaser, NULL);
    assert_true(release.late_is_refused);
    assert_in_range(now_ms() - begun, 200, 1000 * LONG_S);
    client_read(busy, &reply);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply_header(&reply, "Connection"), "close");
    reply_release(&reply);
    assert_true(client_sees_end(busy, CLIENT_PATIENCE_MS));
    assert_true(client_sees_end(idle, CLIENT_PATIENCE_MS));
    client_close(busy);
    client_close(idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refuses_large_heads, start, stop),
        cmocka_unit_test_setup_teardown(refuses_many_headers, start, stop),
        cmocka_unit_test_setup_teardown(takes_rather_large_heads, start, stop),
        cmocka_unit_test_setup_teardown(cuts_idle_connections, start_impatient, stop),
        cmocka_unit_test_setup_teardown(cuts_slow_bodies, start_impatient, stop),
        cmocka_unit_test_setup_teardown(cuts_bodies_after_pauses, start_impatient_of_bodies, stop),
        cmocka_unit_test_setup_teardown(spares_paused_exchanges, start_impatient, stop),
        cmocka_unit_test_setup_teardown(cuts_slow_readers, start_with_answer_rate, stop),
        cmocka_unit_test_setup_teardown(needs_no_descriptors, start_for_readers, stop),
        cmocka_unit_test(fits_descriptors),
        cmocka_unit_test_setup_teardown(refuses_long_bodies, start, stop),
        cmocka_unit_test_setup_teardown(bounds_refused_bodies, start, stop),
        cmocka_unit_test_setup_teardown(bounds_lingering_connections, start_impatient, stop),
        cmocka_unit_test_setup_teardown(stops_in_order, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
