/* Direct reads of a front end whose owner sends what it should not: cluster/forward_direct.c, direct.h. The owner is a server that
 * sends whatever the test wants, over TLS with the cluster's key. Whatever it sends, the client gets the body that the owner sends when
 * asked again, or no response; and never a byte that is not of the list. decision: 1385 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc.h"
#include "base/thread.h"
#include "cluster/direct.h"
#include "cluster/envelope.h"
#include "cluster/front.h"
#include "cluster/piece_list.h"
#include "http/http.h"
#include "http/receipt.h"
#include "net/connection.h"

#define MS           ((uint64_t)1000000)
#define SECTOR       LISTED_SECTOR_BYTES
#define FILE_BYTES   (3u << 20)
#define BEGIN        4096u
#define PIECE_BYTES  (FILE_BYTES - BEGIN)
#define RESPONSE_MAX ((size_t)1 << 20)
#define ASKS_MAX     4u

/* ---- the owner ---- */

struct canned_response {
    char *bytes;
    size_t size;
};

static struct {
    struct net_server *server;
    struct net_key *key;
    struct canned_response responses[2]; /* to the first request, and to all later ones */
    atomic_uint requests, receipts;
    atomic_bool asked[ASKS_MAX]; /* whether a request allowed a list */
    _Atomic uint64_t passed_on;  /* of the newest receipt */
    atomic_bool is_last, went_back;
} owner;

struct canned {
    struct connection net; /* first */
    char in[4096];
    size_t received;
    bool awaits_receipts;
};

static void begin(struct connection *connection)
{
    (void)connection;
}

static void use(struct canned *c, size_t size)
{
    memmove(c->in, c->in + size, c->received - size);
    c->received -= size;
}

static enum turn respond(struct canned *c)
{
    unsigned i = atomic_fetch_add(&owner.requests, 1);
    const struct canned_response *response = &owner.responses[i > 0];
    struct iovec part = { .iov_base = response->bytes, .iov_len = response->size };

    if (response->size == 0)
        return TURN_ENDS;
    c->awaits_receipts = true;
    return transport_send(&c->net, &part, 1, false) == (ssize_t)part.iov_len ? TURN_WAITS
                                                                             : TURN_ENDS;
}

/* Returns false if a request is not complete. */
static bool take_request(struct canned *c)
{
    struct envelope envelope;
    struct bytes there = bytes_of(c->in, c->received);
    const char *end;

    if (envelope_read(there, &envelope) != INTRODUCTION_WHOLE)
        return false;
    there = bytes_from(there, envelope.said.size);
    end = memmem(there.ptr, there.len, "\r\n\r\n", 4);
    if (!end)
        return false;
    atomic_store(&owner.asked[atomic_load(&owner.requests) % ASKS_MAX], envelope.said.takes_pieces);
    use(c, (size_t)(end + 4 - c->in));
    return true;
}

/* Returns false if nothing more can be used. */
static bool take_receipt(struct canned *c)
{
    struct receipt receipt;

    if (receipt_read(bytes_of(c->in, c->received), &receipt) != RECEIPT_WHOLE)
        return false;
    use(c, RECEIPT_BYTES);
    if (receipt.bytes < atomic_load(&owner.passed_on))
        atomic_store(&owner.went_back, true);
    atomic_store(&owner.passed_on, receipt.bytes);
    atomic_store(&owner.is_last, receipt.is_last);
    atomic_fetch_add(&owner.receipts, 1);
    c->awaits_receipts = !receipt.is_last;
    return true;
}

static enum turn take_turn(struct connection *connection)
{
    struct canned *c = (struct canned *)(void *)connection;

    while (connection->readable) {
        ssize_t n = transport_receive(connection, c->in + c->received, sizeof c->in - c->received);

        if (n == TRANSPORT_WAITS)
            break;
        if (n <= 0)
            return TURN_ENDS;
        c->received += (size_t)n;
        while (c->awaits_receipts && take_receipt(c))
            ;
        if (c->received > 0 && take_request(c) && respond(c) == TURN_ENDS)
            return TURN_ENDS;
    }
    return TURN_WAITS;
}

static void posted(struct connection *connection)
{
    (void)connection;
}

static void end(struct connection *connection)
{
    (void)connection;
}

static const struct net_protocol protocol = {
    .name = "canned",
    .connection_bytes = sizeof(struct canned),
    .begin = begin,
    .turn = take_turn,
    .posted = posted,
    .end = end,
};

/* ---- a front end, and a file of a cell that it reads ---- */

struct world {
    struct front front;
    struct http_application application;
    struct http_server *server;
    struct net_key *key;
    struct direct *direct;
    struct arena *arena;
    struct thread thread; /* reads the owner's record, as a candidate does */
    atomic_bool ends;
    char path[64], folder[160], file[200];
    char bytes[FILE_BYTES];
};

static enum http_step never(struct exchange *exchange)
{
    (void)exchange;
    return HTTP_CUT;
}

static enum http_step never_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    (void)exchange;
    *ret_taken = data.len;
    return HTTP_CUT;
}

static void never_done(struct exchange *exchange)
{
    (void)exchange;
}

static const struct http_application service = {
    .head = never, .body = never_body, .end = never, .done = never_done
};

static struct net_key *new_key(void)
{
    struct net_secrets secret = { 1, { { 1 } } };
    const char *problem = "";
    struct net_key *key = net_key_new("cluster", &secret, &problem);

    assert_non_null(key);
    return key;
}

static void write_file(struct world *w)
{
    char command[256];
    int fd;

    snprintf(w->path, sizeof w->path, "/tmp/lagra-hostile-XXXXXX");
    assert_non_null(mkdtemp(w->path));
    snprintf(w->folder, sizeof w->folder, "%s/cells/0001/data/extents", w->path);
    snprintf(command, sizeof command, "mkdir -p '%s'", w->folder);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < FILE_BYTES; i++)
        w->bytes[i] = (char)(i * 2654435761u >> 13);
    snprintf(w->file, sizeof w->file, "%s/00000007", w->folder);
    fd = open(w->file, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, w->bytes, FILE_BYTES), FILE_BYTES);
    close(fd);
}

static void *read_record(void *argument)
{
    struct world *w = argument;

    while (!atomic_load(&w->ends)) {
        struct owner_record record = {
            .cell = 1, .incarnation = 5, .is_held = true, .renewed_ns = clock_boot_ns()
        };

        record.owner.protocol = protocol_own();
        snprintf(record.owner.forward, sizeof record.owner.forward, "127.0.0.1:%u",
                 net_port(owner.server));
        (void)route_saw(&w->front.route, 1, &record, record.renewed_ns);
        thread_sleep_ns(50 * MS);
    }
    return NULL;
}

static int setup(void **state)
{
    static const char *const names[FORWARD_SERVICES] = { "blob", "queue", "table", "file", "dfs" };
    struct net_limits limits = http_limits_default.net;
    struct http_limits front_limits = http_limits_default;
    struct net_listen owner_listen = { .host = "127.0.0.1" }, listen = { .host = "127.0.0.1" };
    const char *problem = "";
    struct world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    *state = w;
    memset(&owner, 0, sizeof owner);
    write_file(w);
    w->arena = arena_new((size_t)64 << 20);
    owner.key = new_key();
    owner_listen.key = owner.key;
    limits.workers = 1;
    owner.server = net_start(&owner_listen, &limits, &protocol, NULL, &problem);
    assert_non_null(owner.server);
    w->key = new_key();
    w->direct = direct_start(w->path);
    assert_non_null(w->direct);
    front_init(&w->front, &service, names, w->key, NULL);
    route_add(&w->front.route, 1);
    for (unsigned i = 0; i < FORWARD_SERVICES; i++)
        w->front.doors[i].forwarding.direct = w->direct;
    assert_true(thread_start(&w->thread, read_record, w));
    w->application = front_application_for(&service);
    front_limits.net.workers = 1;
    front_limits.net.outgoing_max = 16;
    w->server = http_start(&listen, &front_limits, &w->application, &w->front.doors[0], &problem);
    assert_non_null(w->server);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    char command[128];

    http_stop(w->server, 0);
    atomic_store(&w->ends, true);
    thread_join(&w->thread);
    net_stop(owner.server, 0);
    front_release(&w->front);
    direct_stop(w->direct);
    net_key_free(owner.key);
    net_key_free(w->key);
    arena_free(w->arena);
    for (unsigned i = 0; i < 2; i++)
        free(owner.responses[i].bytes);
    snprintf(command, sizeof command, "rm -rf '%s'", w->path);
    assert_int_equal(system(command), 0);
    free(w);
    return 0;
}

/* ---- responses ---- */

static void set_response(unsigned i, const char *headers, struct bytes body)
{
    struct canned_response *response = &owner.responses[i];
    int size;

    free(response->bytes);
    response->bytes = malloc(RESPONSE_MAX);
    assert_non_null(response->bytes);
    size = snprintf(response->bytes, 512, "HTTP/1.1 200 OK\r\n%sContent-Length: %zu\r\n\r\n",
                    headers, body.len);
    assert_true(size > 0 && size < 512 && body.len < RESPONSE_MAX - 512);
    memcpy(response->bytes + size, body.ptr, body.len);
    response->size = (size_t)size + body.len;
}

static void set_list(unsigned i, uint64_t length, const struct text *list)
{
    char headers[80];

    snprintf(headers, sizeof headers, FORWARD_PIECES ": %llu\r\n", (unsigned long long)length);
    set_response(i, headers, text_bytes(list));
}

static struct text new_list(struct world *w)
{
    struct text list;

    text_init(&list, w->arena, 64);
    piece_list_start(&list);
    return list;
}

/* Returns bytes 0..take of the piece that begins at BEGIN, with its sums. */
static struct listed piece_of(const struct world *w, uint32_t take,
                              uint32_t sums[LISTED_PIECE_BYTES / SECTOR])
{
    struct listed piece = { .extent = 7, .offset = BEGIN, .take = take };
    uint32_t end = (take + SECTOR - 1) / SECTOR * SECTOR;

    piece.length = end < PIECE_BYTES ? end : PIECE_BYTES;
    for (uint32_t i = 0; i < listed_sectors(&piece); i++) {
        uint32_t rest = piece.length - i * SECTOR;

        sums[i] = crc32c(0, w->bytes + BEGIN + i * SECTOR, rest < SECTOR ? rest : SECTOR);
    }
    return piece;
}

/* ---- the client ---- */

static int ask(const struct world *w)
{
    static const char request[] = "GET /a/c/b HTTP/1.1\r\nHost: a\r\n\r\n";
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(http_port(w->server)) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(fd, request, sizeof request - 1, 0), (ssize_t)sizeof request - 1);
    return fd;
}

/* Reads until `size` bytes are there or the connection was closed. Returns their number. */
static size_t receive(int fd, char *to, size_t size)
{
    size_t done = 0;

    while (done < size) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        ssize_t n;

        assert_int_equal(poll(&wait, 1, 30000), 1);
        n = recv(fd, to + done, size - done, 0);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* Returns the body of a complete response of this length, or NULL if the connection was closed before any byte. */
static char *get(const struct world *w, size_t length)
{
    char *all = malloc(4096 + length), *body;
    int fd = ask(w);
    size_t head = 0;

    while (head < 4096 && receive(fd, all + head, 1) == 1) {
        head++;
        if (head >= 4 && memcmp(all + head - 4, "\r\n\r\n", 4) == 0)
            break;
    }
    if (head == 0) {
        close(fd);
        free(all);
        return NULL;
    }
    assert_memory_equal(all, "HTTP/1.1 200 OK\r\n", 17);
    assert_null(memmem(all, head, FORWARD_PIECES, sizeof FORWARD_PIECES - 1));
    body = malloc(length);
    assert_int_equal(receive(fd, body, length), length);
    close(fd);
    free(all);
    return body;
}

/* ---- tests ---- */

/* The list that an honest owner sends; receipts tell it how much the client has. */
static void a_list_is_read(void **state)
{
    struct world *w = *state;
    uint32_t sums[LISTED_PIECE_BYTES / SECTOR];
    struct listed piece = piece_of(w, PIECE_BYTES, sums);
    struct text list = new_list(w);
    char *body;

    piece_list_add_piece(&list, &piece, sums);
    set_list(0, PIECE_BYTES, &list);
    body = get(w, PIECE_BYTES);
    assert_non_null(body);
    assert_memory_equal(body, w->bytes + BEGIN, PIECE_BYTES);
    free(body);
    for (unsigned i = 0; i < 3000 && !atomic_load(&owner.is_last); i++)
        thread_sleep_ns(MS);
    assert_true(atomic_load(&owner.is_last));
    assert_int_equal(atomic_load(&owner.passed_on), PIECE_BYTES);
    assert_int_equal(atomic_load(&owner.requests), 1);
    assert_true(atomic_load(&owner.asked[0]));
}

/* Receipts are sent while the client takes nothing, and the last one is no smaller than those before, whatever part of a block the
 * client has taken. */
static void receipts_of_a_client_that_pauses(void **state)
{
    struct world *w = *state;
    uint32_t sums[LISTED_PIECE_BYTES / SECTOR];
    struct listed piece = piece_of(w, PIECE_BYTES, sums);
    struct text list = new_list(w);
    unsigned before;
    int fd;

    for (unsigned i = 0; i < 20; i++) /* more than all buffers between */
        piece_list_add_piece(&list, &piece, sums);
    set_list(0, 20ull * PIECE_BYTES, &list);
    fd = ask(w);
    for (unsigned i = 0; i < 10000 && atomic_load(&owner.receipts) == 0; i++)
        thread_sleep_ns(MS);
    thread_sleep_ns(1500 * MS);
    before = atomic_load(&owner.receipts);
    for (unsigned i = 0; i < 10000 && atomic_load(&owner.receipts) < before + 2; i++)
        thread_sleep_ns(MS);
    assert_true(atomic_load(&owner.receipts) >= before + 2);
    assert_true(atomic_load(&owner.passed_on) > 0);
    close(fd);
    for (unsigned i = 0; i < 10000 && !atomic_load(&owner.is_last); i++)
        thread_sleep_ns(MS);
    assert_true(atomic_load(&owner.is_last));
    assert_false(atomic_load(&owner.went_back));
}

enum lie {
    WRONG_EXTENT,
    WRONG_FOLDER,
    WRONG_LINK,
    WRONG_OFFSET,
    OFFSET_OF_HEADER,
    OFFSET_UNALIGNED,
    OFFSET_BEYOND,
    OFFSET_HUGE,
    LENGTH_SHORT,
    LENGTH_LONG,
    LENGTH_HUGE,
    SKIP_HUGE,
    SUM_WRONG,
    BODY_SHORTER,
    BODY_LONGER,
    BODY_HUGE,
    LIES
};

/* Each of these would show other bytes than the body's, or none. */
static void tell(struct world *w, enum lie lie)
{
    uint32_t sums[LISTED_PIECE_BYTES / SECTOR] = { 0 }, take = 100000;
    struct listed piece = piece_of(w, take, sums);
    struct text list = new_list(w);
    uint64_t length = take;

    piece.extent = lie == WRONG_EXTENT   ? 8
                   : lie == WRONG_FOLDER ? 11
                   : lie == WRONG_LINK   ? 9
                                         : piece.extent;
    piece.offset = lie == WRONG_OFFSET       ? BEGIN + SECTOR
                   : lie == OFFSET_OF_HEADER ? 0
                   : lie == OFFSET_UNALIGNED ? BEGIN + 1
                   : lie == OFFSET_BEYOND    ? FILE_BYTES
                   : lie == OFFSET_HUGE      ? UINT64_MAX - 4095
                                             : piece.offset;
    piece.length = lie == LENGTH_SHORT  ? take - 1
                   : lie == LENGTH_LONG ? piece.length + SECTOR
                   : lie == LENGTH_HUGE ? 64 * SECTOR
                                        : piece.length;
    piece.skip = lie == SKIP_HUGE ? UINT32_MAX : piece.skip;
    sums[1] ^= lie == SUM_WRONG;
    length += lie == BODY_LONGER ? 1 : lie == BODY_HUGE ? PIECE_LIST_BODY_MAX : 0;
    length -= lie == BODY_SHORTER ? 1 : 0;
    if (lie == SUM_WRONG) /* the wrong sum is in the first window, before any byte was sent */
        assert_true(2 * SECTOR <= DIRECT_WINDOW_BYTES);
    piece_list_add_piece(&list, &piece, sums);
    set_list(0, length, &list);
}

/* Whatever is wrong with a list, the front end asks for the body itself, without allowing a list again. */
static void lists_that_lie(void **state)
{
    struct world *w = *state;
    char name[256];

    snprintf(name, sizeof name, "%s/00000009", w->folder);
    assert_int_equal(symlink(w->file, name), 0);
    snprintf(name, sizeof name, "%s/0000000b", w->folder);
    assert_int_equal(mkdir(name, 0700), 0);
    set_response(1, "", bytes_from_string("the body itself"));
    for (enum lie lie = 0; lie < LIES; lie++) {
        char *body;

        tell(w, lie);
        atomic_store(&owner.requests, 0);
        body = get(w, 15);
        assert_non_null(body);
        assert_memory_equal(body, "the body itself", 15);
        free(body);
        assert_int_equal(atomic_load(&owner.requests), 2);
        assert_true(atomic_load(&owner.asked[0]));
        assert_false(atomic_load(&owner.asked[1]));
    }
}

static void malformed_lists(void **state)
{
    static const char *const headers[] = {
        FORWARD_PIECES ": \r\n",
        FORWARD_PIECES ": x\r\n",
        FORWARD_PIECES ": -1\r\n",
        FORWARD_PIECES ": 0\r\n",
        FORWARD_PIECES ": 5/../../key\r\n",
        FORWARD_PIECES ": 5\r\n" FORWARD_PIECES ": 5\r\n",
        FORWARD_PIECES ": 18446744073709551616\r\n",
    };
    static const char *const lists[] = {
        "",         "\1", "\2\3\5hello", "\1\4\5hello", "\1\3\7hello", "\1\1\7", "\1\3\6hello\3",
        "../../key"
    };
    struct world *w = *state;
    char *long_list = calloc(1, PIECE_LIST_BYTES_MAX + 1), *body;

    set_response(1, "", bytes_from_string("the body itself"));
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        set_response(0, headers[i], bytes_from_string("\1\3\6hello"));
        atomic_store(&owner.requests, 0);
        body = get(w, 15);
        assert_non_null(body);
        assert_memory_equal(body, "the body itself", 15);
        assert_int_equal(atomic_load(&owner.requests), 2);
        free(body);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        set_response(0, FORWARD_PIECES ": 5\r\n", bytes_from_string(lists[i]));
        atomic_store(&owner.requests, 0);
        body = get(w, 15);
        assert_non_null(body);
        assert_memory_equal(body, "the body itself", 15);
        assert_int_equal(atomic_load(&owner.requests), 2);
        free(body);
    }
    assert_non_null(long_list);
    long_list[0] = 1;
    set_response(0, FORWARD_PIECES ": 5\r\n", bytes_of(long_list, PIECE_LIST_BYTES_MAX + 1));
    atomic_store(&owner.requests, 0);
    body = get(w, 15);
    assert_non_null(body);
    assert_int_equal(atomic_load(&owner.requests), 2);
    free(body);
    free(long_list);
}

/* A list that was not asked for: the request may have been executed, so the client is cut off, and sees nothing of the list. */
static void a_list_that_was_not_asked_for(void **state)
{
    struct world *w = *state;
    uint32_t sums[LISTED_PIECE_BYTES / SECTOR];
    struct listed piece = piece_of(w, 100000, sums);
    struct text list = new_list(w);

    piece_list_add_piece(&list, &piece, sums);
    for (unsigned i = 0; i < FORWARD_SERVICES; i++)
        w->front.doors[i].forwarding.direct = NULL;
    set_list(0, 100000, &list);
    assert_null(get(w, 15));
    assert_int_equal(atomic_load(&owner.requests), 1);
    assert_false(atomic_load(&owner.asked[0]));
    /* So too after a list that could not be read. */
    for (unsigned i = 0; i < FORWARD_SERVICES; i++)
        w->front.doors[i].forwarding.direct = w->direct;
    tell(w, SUM_WRONG);
    set_list(1, 100000, &list);
    atomic_store(&owner.requests, 0);
    assert_null(get(w, 15));
    assert_int_equal(atomic_load(&owner.requests), 2);
}

/* What is wrong behind bytes that the client has: it is cut off, and has got nothing else. */
static void a_lie_behind_the_first_bytes(void **state)
{
    struct world *w = *state;
    uint32_t sums[LISTED_PIECE_BYTES / SECTOR];
    struct listed piece = piece_of(w, PIECE_BYTES, sums);
    struct text list = new_list(w);
    char *all = malloc(4096 + PIECE_BYTES);
    const char *body;
    size_t size;
    int fd;

    sums[20] ^= 1; /* of the third window */
    piece_list_add_piece(&list, &piece, sums);
    set_list(0, PIECE_BYTES, &list);
    fd = ask(w);
    size = receive(fd, all, 4096 + PIECE_BYTES);
    body = memmem(all, size, "\r\n\r\n", 4);
    assert_non_null(body);
    body += 4;
    size -= (size_t)(body - all);
    assert_true(size <= 2 * DIRECT_WINDOW_BYTES);
    assert_memory_equal(body, w->bytes + BEGIN, size);
    assert_int_equal(atomic_load(&owner.requests), 1);
    close(fd);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(receipts_of_a_client_that_pauses, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_that_lie, setup, teardown),
        cmocka_unit_test_setup_teardown(malformed_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_that_was_not_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lie_behind_the_first_bytes, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
