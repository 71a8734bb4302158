/* The load generator: connections that each send a request, read the answer whole, and send the
 * next. One thread with epoll, so that it costs little beside the server that it shares the machine
 * with. Requests that repeat are made and signed once. Prints one line of JSON. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "histogram.h"
#include "work.h"

#define READ_BYTES     (256u << 10)
#define REQUEST_MAX    4096
/* A signed request is made again after this time: its date must stay within 15 minutes. */
#define REQUEST_AGE_S  300
/* Between two connections. Where all workers of a server accept from one socket, the one that is
 * awake takes all that come at once, and the rest of the measurement is about one worker. */
#define CONNECT_GAP_US 1000

struct options {
    const char *host, *port, *account, *key;
    const struct work *work;
    struct work_options work_options;
    unsigned connections;
    double seconds;
    uint64_t count; /* end after so many requests; 0: after the time */
    bool is_s3;     /* the account and key are an access key and a secret of S3 */
};

struct connection {
    int fd;
    struct worker worker;
    struct answer answer;
    char own[REQUEST_MAX]; /* the head, when it is made for this turn alone */
    const char *head;
    size_t head_length, sent;
    struct bytes body;
    uint64_t began_us;
    bool busy;
    bool waits_for_room; /* to send the rest */
};

struct kept_request {
    char *head;
    size_t length;
    struct bytes body;
    time_t made;
};

struct load {
    struct options options;
    struct signer signer;
    struct arena *arena;
    int epoll;
    struct connection *connections;
    struct kept_request *kept;
    struct histogram times;
    uint64_t started, answered, failed, bytes;
    int failed_status;
    unsigned busy;
    uint64_t end_us;
};

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void die(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- making requests ---- */

/* The body of a batch, each of its parts a signed request. */
static struct bytes make_batch(struct load *load, uint64_t n)
{
    const struct options *o = &load->options;
    struct arena *scratch = arena_new(1u << 20);
    struct text body;

    text_init(&body, load->arena, BATCH_PARTS * 400);
    for (unsigned i = 0; i < BATCH_PARTS; i++) {
        struct arena_mark mark = arena_mark(scratch);
        struct draft draft = { .method = NULL };

        o->work->part(&o->work_options, n, i, &draft);
        text_printf(&body,
                    "--" BATCH_BOUNDARY "\r\nContent-Type: application/http\r\n"
                    "Content-Transfer-Encoding: binary\r\nContent-ID: %u\r\n\r\n",
                    i);
        text_add(&body, signed_request(&load->signer, scratch, &draft));
        arena_rewind(scratch, mark);
    }
    text_add_string(&body, "--" BATCH_BOUNDARY "--\r\n");
    arena_free(scratch);
    return text_bytes(&body);
}

static struct bytes make_request(struct load *load, const struct worker *worker, uint64_t n,
                                 struct bytes *ret_body)
{
    struct draft draft = { .method = NULL };

    load->options.work->draft(&load->options.work_options, worker, n, &draft);
    if (load->options.work->part)
        draft.body = make_batch(load, n);
    *ret_body = draft.body;
    return signed_request(&load->signer, load->arena, &draft);
}

static void use_kept(struct load *load, struct connection *c, uint64_t n)
{
    struct kept_request *kept = &load->kept[n % load->options.work_options.names];
    time_t now = time(NULL);

    if (!kept->head || now - kept->made > REQUEST_AGE_S) {
        struct arena_mark mark = arena_mark(load->arena);
        struct bytes head = make_request(load, &c->worker, n, &kept->body);

        free(kept->head);
        kept->head = xmalloc(head.len);
        memcpy(kept->head, head.ptr, head.len);
        kept->length = head.len;
        kept->made = now;
        if (load->options.work->part) { /* it lies in the arena */
            char *copy = xmalloc(kept->body.len);

            memcpy(copy, kept->body.ptr, kept->body.len);
            kept->body.ptr = copy;
        }
        arena_rewind(load->arena, mark);
    }
    c->head = kept->head;
    c->head_length = kept->length;
    c->body = kept->body;
}

static void use_own(struct load *load, struct connection *c, uint64_t n)
{
    struct arena_mark mark = arena_mark(load->arena);
    struct bytes head = make_request(load, &c->worker, n, &c->body);

    if (head.len > sizeof c->own)
        die("a request is too long");
    memcpy(c->own, head.ptr, head.len);
    c->head = c->own;
    c->head_length = head.len;
    arena_rewind(load->arena, mark);
}

/* ---- one connection ---- */

static void watch(struct load *load, struct connection *c, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = c };

    if (epoll_ctl(load->epoll, EPOLL_CTL_MOD, c->fd, &event) != 0)
        die("epoll_ctl");
}

/* A server that closes a connection has failed that request; the others go on without it. */
static void give_up(struct load *load, struct connection *c)
{
    load->failed++;
    load->busy--;
    c->busy = false;
    close(c->fd); /* epoll forgets it */
}

/* Sends what is left; asks to be called again when the socket is full. */
static void send_rest(struct load *load, struct connection *c)
{
    size_t total = c->head_length + c->body.len;
    bool was_full = false;

    while (c->sent < total) {
        struct iovec parts[2];
        struct msghdr message = { .msg_iov = parts };
        ssize_t n;

        if (c->sent < c->head_length)
            parts[message.msg_iovlen++] =
                (struct iovec){ (char *)(uintptr_t)c->head + c->sent, c->head_length - c->sent };
        size_t body_sent = c->sent > c->head_length ? c->sent - c->head_length : 0;

        if (c->body.len > body_sent)
            parts[message.msg_iovlen++] =
                (struct iovec){ (char *)(uintptr_t)c->body.ptr + body_sent,
                                c->body.len - body_sent };
        n = sendmsg(c->fd, &message, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            was_full = true;
            break;
        }
        if (n < 0) {
            give_up(load, c);
            return;
        }
        c->sent += (size_t)n;
    }
    if (was_full != c->waits_for_room)
        watch(load, c, was_full ? EPOLLIN | EPOLLOUT : EPOLLIN);
    c->waits_for_room = was_full;
}

static bool is_over(const struct load *load, uint64_t now)
{
    return load->options.count > 0 ? load->started >= load->options.count : now >= load->end_us;
}

static void next_request(struct load *load, struct connection *c, uint64_t now)
{
    uint64_t n = load->started;

    if (is_over(load, now)) {
        c->busy = false;
        load->busy--;
        return;
    }
    load->started++;
    if (load->options.work->repeats)
        use_kept(load, c, n);
    else
        use_own(load, c, n);
    c->sent = 0;
    c->began_us = now;
    answer_begin(&c->answer);
    send_rest(load, c);
}

static bool is_good(const struct work *work, const struct answer *answer)
{
    const int *ok = work->ok;

    if (answer->bad ||
        (answer->status != ok[0] && answer->status != ok[1] && answer->status != ok[2]))
        return false;
    return !work->proof ||
           memmem(answer->start, answer->start_length, work->proof, strlen(work->proof));
}

static void note_answer(struct load *load, struct connection *c, uint64_t now)
{
    const struct answer *answer = &c->answer;

    if (!is_good(load->options.work, answer)) {
        load->failed++;
        load->failed_status = answer->status;
    } else {
        load->answered++;
    }
    load->bytes += answer->body_bytes + c->body.len;
    histogram_add(&load->times, now - c->began_us);
    c->worker.done++;
    if (answer->etag[0])
        memcpy(c->worker.etag, answer->etag, sizeof c->worker.etag);
    if (load->options.work->note)
        load->options.work->note(&c->worker, answer);
    if (answer->lease_id[0])
        memcpy(c->worker.lease_id, answer->lease_id, sizeof c->worker.lease_id);
}

static void read_answers(struct load *load, struct connection *c)
{
    static char buffer[READ_BYTES];

    for (;;) {
        ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);

        if (n < 0 && errno == EAGAIN)
            return;
        if (n > 0)
            answer_take(&c->answer, buffer, (size_t)n);
        if (n <= 0 || c->answer.bad) {
            give_up(load, c);
            return;
        }
        if (c->answer.part == COMPLETE) {
            uint64_t now = now_us();

            note_answer(load, c, now);
            next_request(load, c, now);
            return;
        }
        if ((size_t)n < sizeof buffer)
            return;
    }
}

static int connect_to(const struct options *options)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
    int one = 1, fd;

    if (getaddrinfo(options->host, options->port, &hints, &found) != 0)
        die("getaddrinfo");
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        die("connect");
    freeaddrinfo(found);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void open_connection(struct load *load, unsigned number)
{
    struct connection *c = &load->connections[number];

    c->fd = connect_to(&load->options);
    c->worker.number = number;
    c->worker.room = xmalloc(ROOM_BYTES);
    c->busy = true;
    load->busy++;
    if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, c->fd,
                  &(struct epoll_event){ .events = EPOLLIN, .data.ptr = c }) != 0)
        die("epoll_ctl");
}

/* ---- the run ---- */

static void run(struct load *load)
{
    struct epoll_event events[64];
    uint64_t start;

    for (unsigned n = 0; load->options.work->part && n < load->options.work_options.names; n++)
        use_kept(load, &load->connections[0], n);
    for (unsigned i = 0; i < load->options.connections; i++) {
        open_connection(load, i);
        usleep(CONNECT_GAP_US);
    }
    start = now_us();
    load->end_us = start + (uint64_t)(load->options.seconds * 1e6);
    for (unsigned i = 0; i < load->options.connections; i++) {
        if (fcntl(load->connections[i].fd, F_SETFL, O_NONBLOCK) != 0)
            die("fcntl");
        next_request(load, &load->connections[i], now_us());
    }
    while (load->busy > 0) {
        int count = epoll_wait(load->epoll, events, 64, -1);

        for (int i = 0; i < count; i++) {
            struct connection *c = events[i].data.ptr;

            if (c->busy && (events[i].events & EPOLLOUT))
                send_rest(load, c);
            if (c->busy && (events[i].events & ~(uint32_t)EPOLLOUT))
                read_answers(load, c);
        }
    }
    load->end_us = now_us() - start;
}

static void print_result(const struct load *load)
{
    double seconds = (double)load->end_us / 1e6;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("{\"answered\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"failed_status\":%d,", load->answered,
           load->failed, load->failed_status);
    printf("\"seconds\":%.3f,\"per_second\":%.1f,\"bytes\":%" PRIu64 ",", seconds,
           (double)load->answered / seconds, load->bytes);
    printf("\"p50_us\":%" PRIu64 ",\"p99_us\":%" PRIu64 ",", histogram_quantile(&load->times, 0.5),
           histogram_quantile(&load->times, 0.99));
    printf("\"own_cpu_s\":%.2f}\n",
           (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
               (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6);
}

static const struct option long_options[] = {
    { "host", required_argument, NULL, 'h' },
    { "port", required_argument, NULL, 'p' },
    { "account", required_argument, NULL, 'a' },
    { "key", required_argument, NULL, 'k' },
    { "container", required_argument, NULL, 'c' },
    { "work", required_argument, NULL, 'w' },
    { "size", required_argument, NULL, 's' },
    { "names", required_argument, NULL, 'n' },
    { "partitions", required_argument, NULL, 'P' },
    { "connections", required_argument, NULL, 'C' },
    { "seconds", required_argument, NULL, 't' },
    { "count", required_argument, NULL, 'N' },
    { "page", required_argument, NULL, 'g' },
    { "s3", no_argument, NULL, '3' },
    { NULL, 0, NULL, 0 },
};

/* Returns false on an option that is unknown or makes no sense. */
static bool take_option(struct options *o, int option, const char *value)
{
    switch (option) {
    case 'h':
        o->host = value;
        return true;
    case 'p':
        o->port = value;
        return true;
    case 'a':
        o->account = value;
        return true;
    case 'k':
        o->key = value;
        return true;
    case 'c':
        o->work_options.container = value;
        return true;
    case 'w':
        o->work = work_find(value);
        return o->work != NULL;
    case 's':
        o->work_options.size = strtoul(value, NULL, 10);
        return true;
    case 'n':
        o->work_options.names = (unsigned)strtoul(value, NULL, 10);
        return *value != '0';
    case 'P':
        o->work_options.partitions = (unsigned)strtoul(value, NULL, 10);
        return *value != '0';
    case 'C':
        o->connections = (unsigned)strtoul(value, NULL, 10);
        return o->connections > 0;
    case 't':
        o->seconds = strtod(value, NULL);
        return true;
    case 'N':
        o->count = strtoull(value, NULL, 10);
        return true;
    case 'g':
        o->work_options.page = value;
        return true;
    case '3':
        o->is_s3 = true;
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    struct load *load = xcalloc(1, sizeof *load);
    struct options *o = &load->options;
    char host[320], *body;
    int option;

    *o = (struct options){ .host = "127.0.0.1", .port = "10000", .connections = 1, .seconds = 5 };
    o->work_options = (struct work_options){ .container = "bench",
                                             .size = 1024,
                                             .names = 100,
                                             .partitions = 100,
                                             .page = "5000",
                                             .run = (unsigned)getpid() };
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (!take_option(o, option, optarg ? optarg : ""))
            return 2;
    }
    if (!o->work)
        return 2;
    snprintf(host, sizeof host, "%s:%s", o->host, o->port);
    if (o->is_s3)
        signer_init_s3(&load->signer, xstrdup(host), o->account, o->key);
    else if (!signer_init(&load->signer, xstrdup(host), o->account, o->key))
        return 2;
    body = xmalloc(o->work_options.size + 1);
    for (size_t i = 0; i < o->work_options.size; i++)
        body[i] = (char)(i * 31 + i / 251);
    o->work_options.body = bytes_of(body, o->work_options.size);
    load->arena = arena_new(1u << 20);
    load->connections = xcalloc(o->connections, sizeof *load->connections);
    load->kept = xcalloc(o->work_options.names, sizeof *load->kept);
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    run(load);
    print_result(load);
    return load->failed == 0 ? 0 : 1;
}
