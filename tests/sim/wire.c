/* See wire.h. */
#include "wire.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/forward.h"
#include "faults.h"
#include "fleet.h"
#include "net.h"
#include "scheduler.h"
#include "world.h"

#define HEAD_MAX 16384u
#define STALL_S  90
#define STALL_NS (STALL_S * UINT64_C(1000000000))

static struct http_server *server;
static bool has_fronts;
static struct link *links[CLIENTS_MAX];
/* Where there are front ends: those to each of them, `links` being the last used. */
static struct link *links_to[CLIENTS_MAX][FRONTS_MAX + 1];
static unsigned front_of[CLIENTS_MAX];

/* ---- the server's side ---- */

static void begin_slot(const struct exchange *exchange)
{
    struct bytes id =
        request_find_header(&exchange->request, bytes_from_string("x-ms-client-request-id"));
    uint64_t slot = 0;

    if (!bytes_parse_u64(id, CLIENTS_MAX - 1, &slot))
        return;
    request_set_slot((int)slot);
    fleet_executes(exchange, (unsigned)slot);
}

static void wire_done(struct exchange *exchange)
{
    int slot;

    begin_slot(exchange);
    slot = request_slot();
    request_set_slot(-1);
    service_application.done(exchange);
    if (slot >= 0)
        fleet_executed(exchange, (unsigned)slot);
}

/* Leaves the request. */
static enum http_step end_slot(struct exchange *exchange, enum http_step step)
{
    int slot = request_slot();

    if (step == HTTP_RESPOND && slot >= 0 && exchange->response.status == FORWARD_NOT_OWNER)
        fleet_misplaced((unsigned)slot);
    request_set_slot(-1);
    return step;
}

static enum http_step wire_head(struct exchange *exchange)
{
    begin_slot(exchange);
    return end_slot(exchange, service_application.head(exchange));
}

static enum http_step wire_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    begin_slot(exchange);
    return end_slot(exchange, service_application.body(exchange, data, ret_taken));
}

static enum http_step wire_end(struct exchange *exchange)
{
    begin_slot(exchange);
    return end_slot(exchange, service_application.end(exchange));
}

static const struct http_application application = {
    .head = wire_head,
    .body = wire_body,
    .end = wire_end,
};

/* In the place of the http room's own, which looks names up in the system. */
int listener_open(const char *host, uint16_t port, uint16_t *ret_port, const char **ret_problem);
int listener_open(const char *host, uint16_t port, uint16_t *ret_port, const char **ret_problem)
{
    (void)host;
    (void)ret_problem;
    *ret_port = port;
    return net_listen(port);
}

const struct http_application *wire_application(void)
{
    static struct http_application whole;

    whole = application;
    whole.done = wire_done;
    whole.round = service_application.round;
    return &whole;
}

void wire_open_clients(void)
{
    has_fronts = true;
}

void wire_open(const struct endpoint *endpoint)
{
    static struct http_application whole;
    struct http_limits limits = http_limits_default;
    const struct net_listen listen = { .host = "127.0.0.1", .port = 10000 };
    const char *problem = "";

    whole = *wire_application();
    limits.net.workers = 1 + world_draw(STREAM_SYSTEM, 2);
    limits.net.connections_max = 64;
    limits.answer_files_max = world_draw(STREAM_SYSTEM, 4);
    server = http_start(&listen, &limits, &whole, (void *)(uintptr_t)endpoint, &problem);
    if (!server)
        world_fail("the http room does not start: %s", problem);
}

bool wire_is_open(void)
{
    return server != NULL || has_fronts;
}

void wire_close(void)
{
    if (server)
        http_stop(server, 1);
    server = NULL;
}

/* ---- the client's side ---- */

static void drop(unsigned slot)
{
    if (links[slot])
        net_abort(links[slot]);
    links[slot] = links_to[slot][front_of[slot]] = NULL;
}

/* Where there are front ends the client has a connection to each. */
static bool connect_to_server(unsigned slot)
{
    uint16_t port = 0;

    if (has_fronts) {
        port = fleet_port(slot, &front_of[slot]);
        links[slot] = links_to[slot][front_of[slot]];
    }
    if (links[slot] && net_has_ended(links[slot]))
        drop(slot);
    if (!links[slot])
        links[slot] = links_to[slot][front_of[slot]] = net_connect(port);
    if (!links[slot] && !has_fronts)
        world_fail("nobody listens");
    return links[slot] != NULL;
}

static size_t write_head(const struct request *request, char *to, size_t size)
{
    size_t used = (size_t)snprintf(to, size, "%.*s %.*s%s%.*s HTTP/1.1\r\n",
                                   BYTES_ARG(request->method_text), BYTES_ARG(request->path),
                                   request->query.len > 0 ? "?" : "", BYTES_ARG(request->query));

    for (size_t i = 0; i < request->header_count && used < size; i++)
        used += (size_t)snprintf(to + used, size - used, "%.*s: %.*s\r\n",
                                 BYTES_ARG(request->headers[i].name),
                                 BYTES_ARG(request->headers[i].value));
    assert(used + 2 < size);
    memcpy(to + used, "\r\n", 2);
    return used + 2;
}

/* In pieces with pauses, where the client is such a one. False: it went away, or the server did. */
static bool send_all(unsigned slot, const struct ask *ask, const void *from, size_t size,
                     size_t piece)
{
    struct link *link = links[slot];
    const char *at = from;

    while (size > 0) {
        size_t some = ask->in_pieces && size > piece ? piece : size;

        if (!net_send(link, at, some))
            return false;
        at += some;
        size -= some;
        if (ask->in_pieces && ask->goes_away && size > 0) {
            framing_begin(slot, false);
            return false;
        }
        if (ask->in_pieces && size > 0 && ask->pause_ns > 0)
            sched_sleep(ask->pause_ns);
    }
    return true;
}

/* One that stalls is given up in less time than it stalls. */
static bool send_body(unsigned slot, const struct ask *ask, struct framing *framing,
                      struct bytes body)
{
    unsigned char *framed = framing_write(framing, (const unsigned char *)body.ptr, body.len);
    size_t piece = framing_piece(framing, ask->in_pieces ? ask->pause_ns : 0);
    bool whole =
        send_all(slot, ask, framed ? framed : (const void *)body.ptr, framing->size, piece);

    free(framed);
    if (whole && framing->form == STALLS) {
        sched_sleep(STALL_NS);
        if (!net_has_ended(links[slot]) && !faults_were_seen() && !has_fronts)
            world_fail("a client that has stalled for %d s is waited for", STALL_S);
    }
    return whole;
}

/* What came and is not read yet. */
struct incoming {
    struct link *link;
    char bytes[HEAD_MAX];
    size_t from, to;
};

static bool read_line(struct incoming *in, char *line, size_t size)
{
    size_t length = 0;

    for (;;) {
        if (in->from == in->to) {
            in->from = 0;
            in->to = net_receive(in->link, in->bytes, sizeof in->bytes);
            if (in->to == 0)
                return false;
        }
        if (length + 1 == size)
            world_fail("the head of an answer has a line above %zu bytes", size);
        line[length] = in->bytes[in->from++];
        if (line[length] == '\n')
            break;
        length++;
    }
    if (length == 0 || line[length - 1] != '\r')
        world_fail("the head of an answer has a line without CR LF");
    line[length - 1] = '\0';
    return true;
}

static void lower(char *text)
{
    for (; *text; text++)
        *text = (char)(*text >= 'A' && *text <= 'Z' ? *text + 32 : *text);
}

/* True: another request may follow on the connection. */
static bool read_head(struct incoming *in, struct reply *reply, bool *ret_stays,
                      void (*each_header)(const struct http_header *, struct reply *))
{
    static const char status[] = "HTTP/1.1 ";
    char line[4096];

    *ret_stays = true;
    if (!read_line(in, line, sizeof line))
        return false;
    if (strncmp(line, status, sizeof status - 1) != 0)
        world_fail("an answer begins with: %s", line);
    reply->status = (int)strtol(line + sizeof status - 1, NULL, 10);
    while (read_line(in, line, sizeof line)) {
        char *value = strchr(line, ':');
        struct http_header header;

        if (line[0] == '\0')
            return true;
        if (!value || value[1] != ' ')
            world_fail("the head of an answer has the line: %s", line);
        *value = '\0';
        value += 2;
        lower(line);
        header = (struct http_header){ .name = bytes_from_string(line),
                                       .value = bytes_from_string(value) };
        if (strcmp(line, "content-length") == 0)
            reply->length = strtoull(value, NULL, 10);
        if (strcmp(line, "transfer-encoding") == 0)
            world_fail("an answer without a Content-Length: %s", value);
        if (strcmp(line, "connection") == 0 && strcmp(value, "close") == 0)
            *ret_stays = false;
        each_header(&header, reply);
    }
    return false;
}

/* A client pauses so often while it reads an answer: what it lets wait is less than what is taken for no
 * answer (check_liveness()). */
#define READ_PAUSES_MAX 40u

/* False: the connection was cut, or the client reads no more. */
static bool read_body(struct incoming *in, const struct ask *ask, struct reply *reply)
{
    unsigned pieces = 0, pauses = 0;

    while (reply->body_size < reply->length) {
        size_t room = (size_t)reply->length - reply->body_size, some = in->to - in->from;

        if (some > 0) {
            some = some < room ? some : room;
            memcpy(reply->body + reply->body_size, in->bytes + in->from, some);
            in->from += some;
        } else {
            some = net_receive(in->link, reply->body + reply->body_size, room > 8192 ? 8192 : room);
            if (some == 0)
                return false;
        }
        reply->body_size += some;
        /* Half of a blob can be judged, half of a document cannot. */
        if (ask->op == OP_GET_BLOB && ask->stops_after > 0 && ++pieces >= ask->stops_after) {
            reply->came = true; /* what was read counts */
            return reply->body_size == reply->length;
        }
        if (ask->pause_ns > 0 && pauses++ < READ_PAUSES_MAX)
            sched_sleep(ask->pause_ns);
    }
    reply->came = true;
    return true;
}

static bool send_head(unsigned slot, const struct ask *ask, const struct request *request)
{
    char *head = malloc(HEAD_MAX);
    bool whole = send_all(slot, ask, head, write_head(request, head, HEAD_MAX), 300);

    free(head);
    return whole;
}

/* That of the answer itself. */
static bool read_last_head(struct incoming *in, struct reply *reply, struct framing *framing,
                           void (*each_header)(const struct http_header *, struct reply *))
{
    bool got = read_head(in, reply, &framing->stays, each_header);

    while (got && reply->status == 100) {
        framing->continues++;
        got = read_head(in, reply, &framing->stays, each_header);
    }
    return got;
}

/* False: the answer came instead, or nothing more does. */
static bool await_continue(struct incoming *in, struct reply *reply, struct framing *framing,
                           void (*each_header)(const struct http_header *, struct reply *),
                           bool *ret_got_head)
{
    *ret_got_head = read_head(in, reply, &framing->stays, each_header);
    if (!*ret_got_head || reply->status != 100)
        return false;
    *ret_got_head = false;
    framing->continues++;
    return true;
}

static bool ask_and_read(unsigned slot, const struct ask *ask, const struct request *request,
                         struct framing *framing, struct bytes body, struct reply *reply,
                         void (*each_header)(const struct http_header *, struct reply *))
{
    struct incoming *in = calloc(1, sizeof *in);
    bool stays = false, got_head = false;
    bool whole = send_head(slot, ask, request);

    in->link = links[slot];
    if (whole && body.len > 0 && framing->expectation == AWAITS_CONTINUE)
        whole = await_continue(in, reply, framing, each_header, &got_head);
    whole = whole && send_body(slot, ask, framing, body);
    /* A server that refuses may close before it has read all: its answer is there all the same. */
    if (whole && (ask->half_closes || framing->form >= CUT_SHORT))
        net_end_sending(in->link);
    if (!ask->goes_away && (whole || got_head || net_has_ended(in->link)) &&
        (got_head || read_last_head(in, reply, framing, each_header))) {
        stays = framing->stays;
        if (request->method != METHOD_HEAD && reply->length > (64u << 20))
            world_fail("an answer of %llu bytes", (unsigned long long)reply->length);
        if (request->method == METHOD_HEAD) {
            reply->body = malloc(1);
            reply->came = true;
        } else {
            reply->body = malloc((size_t)reply->length + 1);
            stays = read_body(in, ask, reply) && stays;
        }
        if (in->from < in->to)
            world_fail("%zu bytes follow an answer", in->to - in->from);
    } else {
        stays = false;
    }
    free(in);
    return stays && whole && !ask->half_closes && framing->form < CUT_SHORT;
}

static noreturn void fail_cut(const struct ask *ask, const struct reply *reply)
{
    char asked[300];

    ask_format(ask, asked, sizeof asked);
    world_fail("a client%s gets %zu of %zu bytes of an answer %d: %s",
               ask->half_closes ? " that sends no more" : "", reply->body_size,
               (size_t)reply->length, reply->status, asked);
}

void wire_exchange(unsigned slot, const struct ask *ask, const struct request *request,
                   struct framing *framing, struct bytes body,
                   void (*each_header)(const struct http_header *header, struct reply *reply),
                   struct reply *reply)
{
    if (!connect_to_server(slot))
        return;
    framing_begin(slot, framing_is_whole(framing));
    if (!ask_and_read(slot, ask, request, framing, body, reply, each_header))
        drop(slot);
    /* Also one that has half-closed its end is owed its answer. rfc: 9112 9.6 */
    if (!reply->came && !ask->goes_away && framing->form < CUT_SHORT && !faults_were_seen() &&
        !world->was_damaged && !has_fronts)
        fail_cut(ask, reply);
}
