/* Frames on sockets, with a machine of this file's in the place of connection.c: what comes in pieces, is out of
 * bounds, is not read, or ends while something is in work. ms-smb2: 2.1
 *
 * The first byte of a message says what the machine does (enum asked); each is answered by a copy of it. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/endian.h"
#include "net/net.h"
#include "smb/connection.h"
#include "smb/server.h"
#include "smb_session/service.h"

/* How long what must come may take. */
#define PATIENCE_S   60
#define LENGTH_SIZE  4u
#define MESSAGE_MAX  ((size_t)1 << 20)
#define STRANGER_MAX ((size_t)64 << 10)

enum asked {
    ASKED_ECHO = 'e',
    ASKED_TRUST = 't', /* and who sent it is authenticated */
    ASKED_LATER = 'l', /* answered by a post of another thread; nothing else is taken meanwhile */
    ASKED_END = 'x',   /* the connection is to be closed */
    ASKED_HELD = 'h',  /* as ASKED_ECHO, but what is in work outlives the connection for a moment */
    ASKED_STOP = 's',  /* as ASKED_ECHO, when the worker may go on; until then it serves nobody */
    ASKED_ORDER = 'o', /* answered by 'o' and how many of these were answered before */
};

/* ---- the machine ---- */

struct smb_connection {
    struct smb_host *host;
    pthread_t poster;
    struct bytes later; /* in work; ptr NULL: nothing */
    size_t unsent;
    bool trusted, holds, ends;
};

static atomic_int machines, packets;
static atomic_size_t most_unsent;
static atomic_bool has_stopped, may_go_on;
static unsigned char ordered;

struct smb_connection *smb_connection_new(struct smb_service *service, struct smb_host *host,
                                          struct bytes peer)
{
    /* Failed logons are slowed by it: auth/logons.h */
    static const uint8_t loopback[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1 };
    struct smb_connection *machine = xcalloc(1, sizeof *machine);

    assert(service && peer.len > 0);
    assert(memcmp(host->address, loopback, sizeof host->address) == 0);
    machine->host = host;
    atomic_fetch_add(&machines, 1);
    return machine;
}

void smb_connection_free(struct smb_connection *machine)
{
    assert(!machine->later.ptr && machine->unsent == 0);
    free(machine);
    atomic_fetch_sub(&machines, 1);
}

size_t smb_connection_message_max(const struct smb_connection *machine)
{
    return machine->trusted ? MESSAGE_MAX : STRANGER_MAX;
}

bool smb_connection_has_room(const struct smb_connection *machine)
{
    return !machine->later.ptr;
}

struct arena *smb_message_arena(const struct smb_connection *machine)
{
    (void)machine;
    return arena_new_charged(SIZE_MAX, MEMORY_SMB_REQUEST);
}

void smb_packet_free(struct smb_packet *packet)
{
    arena_free(packet->arena);
    atomic_fetch_sub(&packets, 1);
}

static void answer(struct smb_connection *machine, struct bytes message)
{
    struct arena *arena = arena_new(4 * MESSAGE_MAX);
    struct smb_packet *packet = arena_alloc(arena, sizeof *packet);

    packet->arena = arena;
    packet->size = LENGTH_SIZE + message.len;
    packet->bytes = arena_alloc(arena, packet->size);
    be32_put((char *)packet->bytes, (uint32_t)message.len);
    memcpy(packet->bytes + LENGTH_SIZE, message.ptr, message.len);
    machine->unsent += packet->size;
    if (machine->unsent > atomic_load(&most_unsent))
        atomic_store(&most_unsent, machine->unsent);
    atomic_fetch_add(&packets, 1);
    machine->host->send(machine->host, packet);
}

static void *post_later(void *argument)
{
    struct smb_connection *machine = argument;

    machine->host->post(machine->host);
    machine->host->post(machine->host); /* once more says nothing new */
    return NULL;
}

static void go_later(struct smb_connection *machine, struct bytes message)
{
    machine->later = bytes_of(memcpy(xmalloc(message.len), message.ptr, message.len), message.len);
    if (pthread_create(&machine->poster, NULL, post_later, machine) != 0)
        abort();
}

static bool take(struct smb_connection *machine, struct bytes message)
{
    assert(!machine->ends && smb_connection_has_room(machine));
    assert(message.len <= smb_connection_message_max(machine));
    if (message.len == 0 || message.ptr[0] == ASKED_END)
        return false;
    if (message.ptr[0] == ASKED_TRUST && !machine->trusted) {
        static const char accounts[2]; /* of even and of odd numbers */

        machine->trusted = true;
        machine->host->authenticated(machine->host, (const void *)&accounts[message.ptr[1] & 1]);
    }
    if (message.ptr[0] == ASKED_STOP) {
        atomic_store(&has_stopped, true);
        while (!atomic_load(&may_go_on))
            usleep(1000);
    }
    machine->holds |= message.ptr[0] == ASKED_HELD;
    if (message.ptr[0] == ASKED_LATER)
        go_later(machine, message);
    else if (message.ptr[0] == ASKED_ORDER)
        answer(machine, bytes_of((char[]){ ASKED_ORDER, (char)ordered++ }, 2));
    else
        answer(machine, message);
    return true;
}

bool smb_connection_take(struct smb_connection *machine, struct bytes message, struct arena *arena)
{
    bool result = take(machine, message);

    arena_free(arena);
    return result;
}

static void tell_end(struct smb_connection *machine)
{
    if (machine->ends && !machine->later.ptr)
        machine->host->ended(machine->host);
}

bool smb_connection_run(struct smb_connection *machine)
{
    if (!machine->later.ptr)
        return true; /* a post more than was needed */
    pthread_join(machine->poster, NULL);
    if (!machine->ends)
        answer(machine, machine->later);
    free((char *)(uintptr_t)machine->later.ptr);
    machine->later.ptr = NULL;
    tell_end(machine);
    return true;
}

void smb_connection_sent(struct smb_connection *machine, size_t size)
{
    assert(size <= machine->unsent);
    machine->unsent -= size;
}

void smb_connection_end(struct smb_connection *machine)
{
    assert(!machine->ends);
    machine->ends = true;
    if (machine->holds && !machine->later.ptr)
        go_later(machine, (struct bytes)BYTES("held"));
    tell_end(machine);
}

/* ---- servers and clients ---- */

static struct net_limits patient(void)
{
    struct net_limits limits = smb_limits_default;

    limits.workers = 2;
    limits.stranger_s = 0;
    return limits;
}

static struct net_server *start(const struct net_limits *limits)
{
    const struct net_listen listen = { .host = "127.0.0.1" };
    const char *problem = NULL;
    static struct smb_service service; /* of a folder that nobody else can own: no tenure */
    struct net_server *server = net_start(&listen, limits, &smb_protocol, &service, &problem);

    assert_non_null(server);
    return server;
}

/* Nothing is left of any connection. */
static void stop(struct net_server *server)
{
    net_stop(server, PATIENCE_S);
    assert_int_equal(atomic_load(&machines), 0);
    assert_int_equal(atomic_load(&packets), 0);
}

static int connect_to(const struct net_server *server)
{
    const struct timeval patience = { .tv_sec = PATIENCE_S };
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(net_port(server)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void send_all(int fd, const void *bytes, size_t size)
{
    assert_int_equal(send(fd, bytes, size, MSG_NOSIGNAL), size);
}

/* A frame of `size` bytes behind its length: what is asked, a number, and bytes that tell places apart. */
static char *frame_new(enum asked asked, unsigned number, size_t size)
{
    char *frame = xmalloc(LENGTH_SIZE + size);

    be32_put(frame, (uint32_t)size);
    for (size_t i = 0; i < size; i++)
        frame[LENGTH_SIZE + i] = (char)(i * 31 + number + i / 251);
    frame[LENGTH_SIZE] = (char)asked;
    return frame;
}

/* The next answer is a copy of that frame. */
static void assert_answer(int fd, enum asked asked, unsigned number, size_t size)
{
    char *expected = frame_new(asked, number, size);
    char *got = xmalloc(LENGTH_SIZE + size);

    assert_int_equal(recv(fd, got, LENGTH_SIZE + size, MSG_WAITALL), LENGTH_SIZE + size);
    assert_memory_equal(got, expected, LENGTH_SIZE + size);
    free(expected);
    free(got);
}

static void ask(int fd, enum asked asked, unsigned number, size_t size)
{
    char *frame = frame_new(asked, number, size);

    send_all(fd, frame, LENGTH_SIZE + size);
    free(frame);
    assert_answer(fd, asked, number, size);
}

/* The server closes, and sends nothing more. */
static void assert_ends(int fd)
{
    char byte;

    errno = 0;
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    assert_true(errno != EAGAIN);
    close(fd);
}

/* ---- what arrives ---- */

/* A frame is a frame, in however many pieces it comes, and two are two that come as one. ms-smb2: 2.1 */
static void frames_come_in_pieces(void **state)
{
    const struct net_limits limits = patient();
    struct net_server *server = start(&limits);
    char *one = frame_new(ASKED_ECHO, 1, 100), *other = frame_new(ASKED_LATER, 2, 50);
    char both[2 * LENGTH_SIZE + 150];
    int fd = connect_to(server);

    (void)state;
    memcpy(both, one, LENGTH_SIZE + 100);
    memcpy(both + LENGTH_SIZE + 100, other, LENGTH_SIZE + 50);
    for (size_t i = 0; i < sizeof both; i++)
        send_all(fd, both + i, 1);
    assert_answer(fd, ASKED_ECHO, 1, 100);
    assert_answer(fd, ASKED_LATER, 2, 50);
    for (size_t cut = 1; cut < sizeof both; cut++) {
        send_all(fd, both, cut);
        if (cut > LENGTH_SIZE + 100)
            assert_answer(fd, ASKED_ECHO, 1, 100);
        send_all(fd, both + cut, sizeof both - cut);
        if (cut <= LENGTH_SIZE + 100)
            assert_answer(fd, ASKED_ECHO, 1, 100);
        assert_answer(fd, ASKED_LATER, 2, 50);
    }
    close(fd);
    free(one);
    free(other);
    stop(server);
}

/* Of every length that is kept in another way: in the worker's buffer, the connection's, in memory of its own. */
static void frames_of_all_lengths(void **state)
{
    static const size_t sizes[] = { 1,          1000,   16383,  16384,  16385,  65536,
                                    100000,     131067, 131068, 131069, 131072, MESSAGE_MAX - 1,
                                    MESSAGE_MAX };
    const struct net_limits limits = patient();
    struct net_server *server = start(&limits);
    int fd = connect_to(server);

    (void)state;
    ask(fd, ASKED_TRUST, 0, 10);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *frame = frame_new(ASKED_ECHO, i, sizes[i]);

        ask(fd, ASKED_ECHO, i, sizes[i]);
        ask(fd, ASKED_LATER, i, sizes[i]);
        send_all(fd, frame, sizes[i] / 2 + 1); /* first one half of it */
        ask(connect_to(server), ASKED_ECHO, i, 10);
        send_all(fd, frame + sizes[i] / 2 + 1, LENGTH_SIZE + sizes[i] - sizes[i] / 2 - 1);
        assert_answer(fd, ASKED_ECHO, i, sizes[i]);
        free(frame);
    }
    close(fd);
    stop(server);
}

/* What is no frame, or longer than it may be, ends the connection before it is received; what came before is
 * answered. */
static void what_is_no_frame_ends_it(void **state)
{
    static const uint8_t lengths[][LENGTH_SIZE] = {
        { 0x00, 0xFF, 0xFF, 0xFF }, { 0x00, 0x01, 0x00, 0x01 }, /* STRANGER_MAX and a byte */
        { 0x81, 0x00, 0x00, 0x44 },                             /* a NetBIOS session request */
        { 0x00, 0x00, 0x00, 0x00 }, { 'G', 'E', 'T', ' ' },
    };
    const struct net_limits limits = patient();
    struct net_server *server = start(&limits);

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *frame = frame_new(ASKED_ECHO, 7, 20 + LENGTH_SIZE);
        int fd = connect_to(server);

        send_all(fd, lengths[i], LENGTH_SIZE);
        assert_ends(fd);
        fd = connect_to(server);
        be32_put(frame, 20);
        memcpy(frame + LENGTH_SIZE + 20, lengths[i], LENGTH_SIZE);
        send_all(fd, frame, LENGTH_SIZE + 20 + LENGTH_SIZE);
        assert_answer(fd, ASKED_ECHO, 7, 20);
        assert_ends(fd);
        free(frame);
    }
    stop(server);
}

/* Who is authenticated may send longer ones, and has no time in which he must be. */
static void the_trusted_may_more(void **state)
{
    struct net_limits limits = patient();
    struct net_server *server = start(&limits);
    char *frame = frame_new(ASKED_ECHO, 0, STRANGER_MAX + 1);
    int fd = connect_to(server), stranger = connect_to(server);

    (void)state;
    assert_in_range(smb_limits_default.stranger_s, 1, 60);
    send_all(stranger, frame, LENGTH_SIZE);
    assert_ends(stranger);
    ask(fd, ASKED_TRUST, 0, 10);
    ask(fd, ASKED_ECHO, 1, STRANGER_MAX + 1);
    close(fd);
    free(frame);
    stop(server);
}

static void send_frame(int fd, enum asked asked, unsigned number)
{
    char *frame = frame_new(asked, number, 10);

    send_all(fd, frame, LENGTH_SIZE + 10);
    free(frame);
}

/* Rule: of two accounts whose messages wait for a worker each has every other turn, however many connections the other one
 * has. decision: 711, 785 */
static void accounts_take_turns(void **state)
{
    enum { MANY = 20 };
    struct net_limits limits = patient();
    struct net_server *server;
    int many[MANY], holder, other;
    char got[LENGTH_SIZE + 2];

    (void)state;
    limits.workers = 1;
    server = start(&limits);
    holder = connect_to(server);
    other = connect_to(server);
    ask(other, ASKED_TRUST, 1, 10);
    for (int i = 0; i < MANY; i++) {
        many[i] = connect_to(server);
        ask(many[i], ASKED_TRUST, 2, 10);
    }
    send_frame(holder, ASKED_STOP, 0);
    while (!atomic_load(&has_stopped))
        usleep(1000);
    for (int i = 0; i < MANY; i++)
        send_frame(many[i], ASKED_ORDER, 0);
    send_frame(other, ASKED_ORDER, 0);
    atomic_store(&may_go_on, true);
    assert_int_equal(recv(other, got, sizeof got, MSG_WAITALL), sizeof got);
    assert_in_range(got[LENGTH_SIZE + 1], 0, 2);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(recv(many[i], got, sizeof got, MSG_WAITALL), sizeof got);
        close(many[i]);
    }
    close(holder);
    close(other);
    stop(server);
}

/* Rule: nor does it matter how many messages one connection has sent: it has some of them taken, and then others have their
 * turn. decision: 786 */
static void many_messages_are_several_turns(void **state)
{
    enum { MANY = 30 };
    struct net_limits limits = patient();
    struct net_server *server;
    int many, holder, other;
    char got[LENGTH_SIZE + 2];

    (void)state;
    ordered = 0;
    atomic_store(&has_stopped, false);
    atomic_store(&may_go_on, false);
    limits.workers = 1;
    server = start(&limits);
    holder = connect_to(server);
    other = connect_to(server);
    many = connect_to(server);
    ask(other, ASKED_TRUST, 1, 10);
    ask(many, ASKED_TRUST, 2, 10);
    send_frame(holder, ASKED_STOP, 0);
    while (!atomic_load(&has_stopped))
        usleep(1000);
    for (int i = 0; i < MANY; i++)
        send_frame(many, ASKED_ORDER, 0);
    send_frame(other, ASKED_ORDER, 0);
    atomic_store(&may_go_on, true);
    assert_int_equal(recv(other, got, sizeof got, MSG_WAITALL), sizeof got);
    assert_in_range(got[LENGTH_SIZE + 1], 0, 2 * TURN_STEPS_BESIDE);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(recv(many, got, sizeof got, MSG_WAITALL), sizeof got);
        assert_in_range(got[LENGTH_SIZE + 1], i, i + 1);
    }
    close(many);
    close(holder);
    close(other);
    stop(server);
}

/* ---- who is late, who is too many ---- */

/* A stranger is closed after a time, whether he says nothing, a part, or something now and then. */
static void strangers_are_closed(void **state)
{
    struct net_limits limits = patient();
    struct net_server *server;
    int silent, partial;

    (void)state;
    limits.stranger_s = 1;
    server = start(&limits);
    silent = connect_to(server);
    partial = connect_to(server);
    send_all(partial, "\0\0\1", 3);
    assert_ends(silent);
    assert_ends(partial);
    stop(server);
}

/* Who begins a frame goes on with it, or is closed; who has begun none may be silent. */
static void a_part_that_stalls_is_closed(void **state)
{
    struct net_limits limits = patient();
    struct net_server *server;
    int idle, stalled;

    (void)state;
    limits.body_stall_s = 1;
    server = start(&limits);
    idle = connect_to(server);
    stalled = connect_to(server);
    send_all(stalled, "\0\0\1\0e", 5);
    assert_ends(stalled);
    ask(idle, ASKED_ECHO, 1, 10);
    close(idle);
    stop(server);
}

/* Of too many, and of too many from one address, idle strangers give way to new ones. */
static void places_are_given_anew(void **state)
{
    (void)state;
    for (int by_address = 0; by_address < 2; by_address++) {
        struct net_limits limits = patient();
        struct net_server *server;
        int first, second, third;

        limits.connections_max = by_address ? 100 : 2;
        limits.connections_per_address_max = by_address ? 2 : 0;
        server = start(&limits);
        first = connect_to(server);
        ask(first, ASKED_TRUST, 1, 10);
        second = connect_to(server);
        ask(second, ASKED_ECHO, 1, 10);
        third = connect_to(server);
        assert_ends(second);
        ask(third, ASKED_ECHO, 1, 10);
        ask(first, ASKED_ECHO, 2, 10);
        close(first);
        close(third);
        stop(server);
    }
}

/* ---- who does not read ---- */

#define FLOOD_FRAME ((size_t)32 << 10)
#define FLOOD_MAX   4000u

/* What is sent until the server reads no more of it. */
struct flood {
    int fd;
    size_t part; /* of the last one, which could not be sent whole */
    unsigned whole;
};

static struct flood flood(int fd)
{
    const struct timeval patience = { .tv_sec = 1 };
    struct flood flood = { .fd = fd };

    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    while (flood.part == 0 && flood.whole < FLOOD_MAX) {
        char *frame = frame_new(ASKED_ECHO, flood.whole, FLOOD_FRAME);
        ssize_t n = send(fd, frame, LENGTH_SIZE + FLOOD_FRAME, MSG_NOSIGNAL);

        if (n == (ssize_t)(LENGTH_SIZE + FLOOD_FRAME))
            flood.whole++;
        else if (n > 0)
            flood.part = (size_t)n;
        free(frame);
        if (n < 0)
            break;
    }
    return flood;
}

/* While an answer waits for the client nothing more is read from it; then the server goes on where it stopped. */
static void answers_that_nobody_reads(void **state)
{
    const struct net_limits limits = patient();
    struct net_server *server = start(&limits);
    int fd = connect_to(server);
    struct flood sent;
    char *frame;

    (void)state;
    atomic_store(&most_unsent, 0);
    sent = flood(fd);
    assert_in_range(sent.whole, 1, FLOOD_MAX - 1);
    assert_in_range(atomic_load(&most_unsent), LENGTH_SIZE + FLOOD_FRAME,
                    2 * (LENGTH_SIZE + FLOOD_FRAME));
    for (unsigned i = 0; i < sent.whole; i++)
        assert_answer(fd, ASKED_ECHO, i, FLOOD_FRAME);
    frame = frame_new(ASKED_ECHO, sent.whole, FLOOD_FRAME);
    if (sent.part > 0) {
        send_all(fd, frame + sent.part, LENGTH_SIZE + FLOOD_FRAME - sent.part);
        assert_answer(fd, ASKED_ECHO, sent.whole, FLOOD_FRAME);
    }
    free(frame);
    close(fd);
    stop(server);
}

/* One that never reads is closed with all that waits for it. */
static void who_never_reads_is_closed(void **state)
{
    struct net_limits limits = patient();
    struct net_server *server;
    int fd;

    (void)state;
    limits.answer_stall_s = 1;
    server = start(&limits);
    fd = connect_to(server);
    flood(fd);
    for (int i = 0; i < PATIENCE_S * 1000 && atomic_load(&machines) > 0; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&machines), 0);
    close(fd);
    stop(server);
}

/* ---- the end ---- */

/* A machine that has something in work is not freed before that is over, whoever ends the connection, and however
 * often it is posted. */
static void what_is_in_work_is_waited_for(void **state)
{
    const struct net_limits limits = patient();
    struct net_server *server = start(&limits);

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        int fd = connect_to(server);
        char *later = frame_new(ASKED_LATER, i, 100);

        ask(fd, ASKED_HELD, i, 10);
        send_all(fd, later, LENGTH_SIZE + 100);
        if (i % 2 == 0)
            assert_answer(fd, ASKED_LATER, i, 100);
        free(later);
        if (i % 3 == 0) {
            char *end = frame_new(ASKED_END, i, 10);

            send_all(fd, end, LENGTH_SIZE + 10);
            if (i % 2 == 0)
                assert_ends(fd);
            else
                close(fd);
            free(end);
        } else {
            close(fd);
        }
    }
    stop(server);
}

/* A stop closes who has nothing in work at once, whoever he is. */
static void a_stop_ends_all(void **state)
{
    const struct net_limits limits = patient();
    struct net_server *server = start(&limits);
    int silent = connect_to(server), stranger = connect_to(server), trusted = connect_to(server);

    (void)state;
    ask(stranger, ASKED_ECHO, 1, 10);
    ask(trusted, ASKED_TRUST, 1, 10);
    stop(server);
    assert_ends(silent);
    assert_ends(stranger);
    assert_ends(trusted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_in_pieces),
        cmocka_unit_test(frames_of_all_lengths),
        cmocka_unit_test(what_is_no_frame_ends_it),
        cmocka_unit_test(the_trusted_may_more),
        cmocka_unit_test(accounts_take_turns),
        cmocka_unit_test(many_messages_are_several_turns),
        cmocka_unit_test(strangers_are_closed),
        cmocka_unit_test(a_part_that_stalls_is_closed),
        cmocka_unit_test(places_are_given_anew),
        cmocka_unit_test(answers_that_nobody_reads),
        cmocka_unit_test(who_never_reads_is_closed),
        cmocka_unit_test(what_is_in_work_is_waited_for),
        cmocka_unit_test(a_stop_ends_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
