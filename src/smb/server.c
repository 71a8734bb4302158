/* See server.h. Each turn runs woken requests, sends packets, and receives while the machine has
 * capacity. A connection ends in two steps: the machine closes its handles, which involves other
 * threads, and then the connection is released. */
#include "smb/server.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/endian.h"
#include "net/connection.h"
#include "smb/connection.h"
#include "smb_protocol/limits.h"

#define LENGTH_SIZE   4u
/* Size beyond which an incomplete message is received into separate memory, which is charged to the
 * memory budget. Limits the uncharged memory that unauthenticated clients can use. */
#define PART_MAX      ((size_t)16 << 10)
#define PARTS_MAX     16
/* TCP keepalive: a vanished client is detected after this idle time and this many probes. */
#define ALIVE_IDLE_S  120
#define ALIVE_EVERY_S 30
#define ALIVE_TIMES   4

struct smb_link {
    struct connection connection; /* must be first */
    struct smb_host host;
    struct smb_connection *machine; /* NULL if the connection was refused */
    /* A message larger than the input buffer, received in part; in `arena`. */
    char *message;
    struct arena *arena;
    size_t size, have;
    /* Unsent packets, oldest first, and the number of bytes of the first already sent. */
    struct smb_packet *first, **end;
    size_t sent;
    atomic_bool is_posted; /* posted() has not been called yet */
    bool runs;             /* the machine must be run */
    bool ends;             /* smb_connection_end() was called */
    bool has_ended;
};

static struct smb_link *link_of(struct connection *connection)
{
    return (struct smb_link *)(void *)connection;
}

static struct smb_link *link_of_host(struct smb_host *host)
{
    return (struct smb_link *)(void *)((char *)host - offsetof(struct smb_link, host));
}

/* ---- callbacks of the machine ---- */

static void on_send(struct smb_host *host, struct smb_packet *packet)
{
    struct smb_link *link = link_of_host(host);

    packet->next = NULL;
    *link->end = packet;
    link->end = &packet->next;
}

static void on_post(struct smb_host *host)
{
    struct smb_link *link = link_of_host(host);

    if (!atomic_exchange(&link->is_posted, true))
        connection_post(&link->connection);
}

static const void *on_place(const struct smb_host *host)
{
    return connection_place(&link_of_host((struct smb_host *)(uintptr_t)host)->connection);
}

static void on_move(struct smb_host *host, const void *place)
{
    connection_move(&link_of_host(host)->connection, place);
}

static void on_authenticated(struct smb_host *host, const struct account *account)
{
    connection_trust(&link_of_host(host)->connection);
    connection_serves_for(&link_of_host(host)->connection, account);
}

static void on_ended(struct smb_host *host)
{
    link_of_host(host)->has_ended = true;
}

/* ---- end ---- */

static void drop_message(struct smb_link *link)
{
    if (!link->message)
        return;
    arena_free(link->arena);
    link->arena = NULL;
    link->message = NULL;
}

static void begin_end(struct smb_link *link)
{
    if (link->ends)
        return;
    link->ends = true;
    drop_message(link);
    connection_is_ours(&link->connection);
    smb_connection_end(link->machine);
    /* the session may keep the machine, but the client must see the connection close */
    if (!link->has_ended)
        shutdown(link->connection.fd, SHUT_RDWR);
}

/* Returns whether no more posts are pending or possible. */
static bool is_over(const struct smb_link *link)
{
    return link->has_ended && !atomic_load(&link->is_posted);
}

/* ---- sending ---- */

static void packet_sent(struct smb_link *link)
{
    struct smb_packet *packet = link->first;

    link->first = packet->next;
    if (!link->first)
        link->end = &link->first;
    link->sent = 0;
    smb_connection_sent(link->machine, packet->size);
    smb_packet_free(packet);
}

static void drop_packets(struct smb_link *link)
{
    while (link->first)
        packet_sent(link);
}

static int collect(const struct smb_link *link, struct iovec parts[PARTS_MAX])
{
    size_t skip = link->sent;
    int count = 0;

    for (const struct smb_packet *packet = link->first; packet && count < PARTS_MAX;
         packet = packet->next) {
        parts[count++] =
            (struct iovec){ .iov_base = packet->bytes + skip, .iov_len = packet->size - skip };
        skip = 0;
    }
    return count;
}

/* Returns 0 if everything is sent, TRANSPORT_WAITS or TRANSPORT_FAILED. */
static ssize_t send_packets(struct smb_link *link)
{
    const struct smb_service *service = connection_context(&link->connection);

    while (link->first) {
        struct iovec parts[PARTS_MAX];
        int count = collect(link, parts);
        ssize_t n = TRANSPORT_WAITS;

        if (!tenure_holds(smb_service_tenure(service)))
            return TRANSPORT_FAILED;
        if (link->connection.writable)
            n = transport_send(&link->connection, parts, (size_t)count, false);
        if (n < 0)
            return n;
        for (size_t left = (size_t)n; left > 0;) {
            size_t of_first = link->first->size - link->sent;

            if (left < of_first) {
                link->sent += left;
                break;
            }
            left -= of_first;
            packet_sent(link);
        }
    }
    return 0;
}

/* ---- receiving ---- */

/* Result of a receive step. */
enum received { RECEIVED, RECEIVES_LATER, RECEIVES_NO_MORE };

static enum received take(struct smb_link *link, struct bytes message, struct arena *arena)
{
    return smb_connection_take(link->machine, message, arena) ? RECEIVED : RECEIVES_NO_MORE;
}

static enum received of_count(struct smb_link *link, ssize_t n)
{
    if (n == TRANSPORT_WAITS)
        return RECEIVES_LATER;
    if (n <= 0)
        return RECEIVES_NO_MORE;
    connection_got_part(&link->connection, (size_t)n);
    return RECEIVED;
}

/* Receives the rest of a message that is larger than the input buffer. */
static enum received receive_rest(struct smb_link *link)
{
    enum received result;
    ssize_t n;

    if (!link->connection.readable)
        return RECEIVES_LATER;
    n = transport_receive(&link->connection, link->message + link->have, link->size - link->have);
    result = of_count(link, n);
    if (n > 0)
        link->have += (size_t)n;
    if (result != RECEIVED || link->have < link->size)
        return result;
    result = take(link, bytes_of(link->message, link->size), link->arena);
    link->arena = NULL; /* owned by the machine */
    drop_message(link);
    return result;
}

/* Moves the received part of a large message to separate memory. */
static enum received begin_rest(struct smb_link *link, struct bytes have, size_t size)
{
    struct arena *arena = smb_message_arena(link->machine);

    link->message = arena_bytes(arena, size);
    link->arena = arena;
    link->size = size;
    link->have = have.len;
    if (arena_is_exhausted(arena))
        return RECEIVES_NO_MORE;
    memcpy(link->message, have.ptr, have.len);
    input_use(&link->connection.input, LENGTH_SIZE + have.len);
    return RECEIVED;
}

static enum received receive_more(struct smb_link *link)
{
    if (!link->connection.readable)
        return RECEIVES_LATER;
    return of_count(link, input_receive(&link->connection, CONNECTION_INPUT_BYTES));
}

/* Processes a complete message in the input buffer. */
static enum received take_first(struct smb_link *link, struct bytes message)
{
    enum received result = take(link, message, NULL);

    input_use(&link->connection.input, LENGTH_SIZE + message.len);
    return result;
}

static enum received receive(struct smb_link *link)
{
    struct bytes have = input_bytes(&link->connection.input);
    size_t size;

    if (link->message)
        return receive_rest(link);
    if (have.len < LENGTH_SIZE)
        return receive_more(link);
    size = be32_get(have.ptr);
    if (size >
        smb_connection_message_max(link->machine)) /* also rejects a first byte other than 0 */
        return RECEIVES_NO_MORE;
    have = bytes_from(have, LENGTH_SIZE);
    if (have.len >= size)
        return take_first(link, bytes_of(have.ptr, size));
    return size <= PART_MAX ? receive_more(link) : begin_rest(link, have, size);
}

/* ---- turns ---- */

/* Sets the timeout for what the client must do next. */
static enum turn wait(struct smb_link *link)
{
    struct connection *connection = &link->connection;

    if (link->first)
        connection_awaits_taking(connection);
    else if (!smb_connection_has_room(link->machine))
        connection_is_ours(connection);
    else if (!link->message && input_bytes(&connection->input).len == 0)
        connection_awaits_request(connection);
    else if (atomic_load(&connection->phase) != PHASE_BODY)
        connection_awaits_body(connection);
    return TURN_WAITS;
}

/* Runs, sends and receives once. Returns TURN_GOES_ON, TURN_WAITS or TURN_ENDS. */
static enum turn step(struct smb_link *link)
{
    enum received received;
    ssize_t sent;

    if (link->runs) {
        link->runs = false;
        if (!smb_connection_run(link->machine))
            begin_end(link);
    }
    sent = link->ends ? TRANSPORT_FAILED : send_packets(link);
    if (sent == TRANSPORT_FAILED) {
        begin_end(link);
        drop_packets(link);
        return is_over(link) ? TURN_ENDS : TURN_WAITS;
    }
    if (sent == 0 && smb_connection_has_room(link->machine))
        received = receive(link);
    else /* requests of a disconnected client are not waited for */
        received = link->connection.ended ? RECEIVES_NO_MORE : RECEIVES_LATER;
    if (received == RECEIVES_LATER)
        return wait(link);
    if (received == RECEIVES_NO_MORE) {
        send_packets(link); /* responses to earlier requests */
        begin_end(link);
    }
    return TURN_GOES_ON;
}

static enum turn turn(struct connection *connection)
{
    struct smb_link *link = link_of(connection);
    unsigned steps = connection_turn_steps(connection);
    enum turn result = TURN_GOES_ON;

    if (!link->machine)
        return TURN_ENDS;
    for (unsigned i = 0; i < steps && result == TURN_GOES_ON; i++)
        result = step(link);
    return result;
}

static void posted(struct connection *connection)
{
    struct smb_link *link = link_of(connection);

    atomic_store(&link->is_posted, false);
    link->runs = true;
}

static void keep_alive(int fd)
{
    const int on = 1, idle = ALIVE_IDLE_S, every = ALIVE_EVERY_S, times = ALIVE_TIMES;

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

/* Returns zeros if the address is unknown. */
static void local_address(int fd, uint8_t ret_address[16])
{
    struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
    socklen_t size = sizeof address;
    uint16_t port;

    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        address_from((const struct sockaddr *)&address, ret_address, &port);
}

static void begin(struct connection *connection)
{
    struct smb_link *link = link_of(connection);

    link->end = &link->first;
    atomic_init(&link->is_posted, false);
    if (connection->refused)
        return;
    link->host = (struct smb_host){ .send = on_send,
                                    .post = on_post,
                                    .authenticated = on_authenticated,
                                    .place = on_place,
                                    .move = on_move,
                                    .ended = on_ended };
    memcpy(link->host.address, connection->address, sizeof link->host.address);
    link->host.is_forwarded = connection->is_forwarded;
    local_address(connection->fd, link->host.local);
    keep_alive(connection->fd);
    link->machine = smb_connection_new(connection_context(connection), &link->host,
                                       bytes_from_string(connection->peer));
}

/* Frees the machine. A connection that never had a turn ends at once, as it has nothing to wait
 * for. */
static void end(struct connection *connection)
{
    struct smb_link *link = link_of(connection);

    if (!link->machine)
        return;
    begin_end(link);
    assert(is_over(link));
    drop_packets(link);
    smb_connection_free(link->machine);
}

const struct net_protocol smb_protocol = {
    .name = "smb",
    .connection_bytes = sizeof(struct smb_link),
    .begin = begin,
    .turn = turn,
    .posted = posted,
    .end = end,
};

const struct net_limits smb_limits_default = {
    .workers = 0,
    .connections_max = 10000,
    .stranger_s = 30,
    .idle_s = 86400,
    .body_stall_s = 60,
    .body_rate_min = 1024,
    .body_rate_grace_s = 30,
    .answer_stall_s = 60,
    .answer_rate_min = 1024,
    .answer_rate_s = 30,
    .linger_max_bytes = 0,
    .linger_s = 1,
    .linger_stall_s = 1,
};
