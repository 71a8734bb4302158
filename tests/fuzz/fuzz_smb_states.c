/* SMB requests of somebody authenticated, from every kind of handle and state (smb_states.h), and with the largest sets that
 * are legal. Whatever is sent, it costs no more steps and memory than a budget by the size of the sets and of the message, and
 * nothing is left at the end. The input:
 *
 *   the kind of state, a letter    the size of its sets, a digit, as in `sizes`
 *   frames, each behind its length (two bytes, the high one first): the command, flags (below), the body, in which
 *   FE FE FE FE FE FE FE and a number stand for the id of a file, and FD FD FD FD FD FD FD FD for that of the session */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/log.h"
#include "cost.h"
#include "fuzz.h"
#include "smb_session/durable_scavenger.h"
#include "smb_protocol/limits.h"
#include "smb_session/service.h"
#include "smb_states.h"

#define FRAMES_MAX 48u
#define SIZES      4u

enum { RELATED = 1, OF_OTHER = 2, LOST = 4, TIME_PASSES = 8 }; /* flags of a frame */

static const unsigned sizes[SIZES] = { 4, 40, 400, 1999 };

/* ---- what a message may cost ---- */

/* Steps for each element of the sets and log n, for each byte, and for each request. */
#define STEPS_OF_ELEMENT 20.0
#define STEPS_OF_BYTE    80.0
#define STEPS_OF_REQUEST 30000.0
/* For each request that is woken; for each handle that is closed, or opened by such a request, and each that its file has, since that
 * writes all of them; for each name that is matched with a pattern as long as a name may be. */
#define STEPS_OF_WOKEN   5000.0
#define STEPS_OF_CLOSED  60.0
#define STEPS_OF_NAME    20000.0
#define CHUNKS_MAX       256.0
/* Factor by which the sanitizers' checks multiply the basic blocks of a step. */
#ifdef __clang__
#define SANITIZED 3.0
#else
#define SANITIZED 1.0
#endif
/* A response of SMB_IO_MAX while it is built, sent and received, and what a request reads of the sets. */
#define BYTES_OF_REQUEST (6.0 * (1 << 20))
#define BYTES_OF_ELEMENT 4096.0
#define BYTES_OF_BYTE    64.0
/* Left at the end: what threads keep for themselves. */
#define LEFT_MAX         ((int64_t)256 << 10)

struct message {
    size_t size;
    unsigned requests;
    unsigned closed; /* handles that it may close: each is a commit */
    bool lists;      /* QUERY_DIRECTORY: matches names with a pattern */
    bool copies;     /* IOCTL: may copy chunks, each by a read and a write */
};

/* Steps that the previous message may still take: threads wake waiters and close handles after its response. */
static double steps_left;

static void check(const struct smb_state *s, const struct message *message, struct cost cost)
{
    double n = 16 + s->size + FRAMES_MAX, m = (double)message->size, r = message->requests;
    double steps =
        SANITIZED *
        (r * (STEPS_OF_REQUEST + STEPS_OF_ELEMENT * n * log2(n)) + STEPS_OF_BYTE * m +
         message->closed * STEPS_OF_CLOSED * n +
         s->waiting * (STEPS_OF_WOKEN + STEPS_OF_CLOSED * s->waiting) +
         (message->lists ? r * STEPS_OF_NAME * n : 0) +
         (message->copies ? r * CHUNKS_MAX * 2 * (STEPS_OF_WOKEN + STEPS_OF_CLOSED * n) : 0));
    double bytes = r * (BYTES_OF_REQUEST + BYTES_OF_ELEMENT * n) + BYTES_OF_BYTE * m;

    if (getenv("FUZZ_COSTS"))
        fprintf(stderr,
                "%u elements, %zu bytes, %u requests: %.2f of steps (%llu), %.2f of bytes\n",
                s->size, message->size, message->requests, (double)cost.steps / steps,
                (unsigned long long)cost.steps, (double)cost.bytes / bytes);
    if ((double)cost.steps > steps + steps_left || (double)cost.bytes > bytes) {
        fprintf(stderr, "%zu bytes of %u requests took %llu steps of %.0f, %lld bytes of %.0f\n",
                message->size, message->requests, (unsigned long long)cost.steps, steps,
                (long long)cost.bytes, bytes);
        abort();
    }
    steps_left = (double)cost.steps < steps ? steps - (double)cost.steps : 0;
}

/* ---- frames ---- */

static struct bytes next_frame(struct bytes *rest)
{
    size_t size;
    struct bytes frame;

    if (rest->len < 2)
        return bytes_of(NULL, 0);
    size = be16_get(rest->ptr);
    *rest = bytes_from(*rest, 2);
    frame = bytes_of(rest->ptr, size < rest->len ? size : rest->len);
    *rest = bytes_from(*rest, frame.len);
    return frame;
}

/* The body with the id of a file, or of the session, in the place of each sign. */
static void put_body(struct wire_writer *w, struct bytes body, const struct smb_state *s,
                     uint64_t session)
{
    static const char sign[] = "\xFE\xFE\xFE\xFE\xFE\xFE\xFE";
    static const char sign_of_session[] = "\xFD\xFD\xFD\xFD\xFD\xFD\xFD\xFD";

    while (body.len > 0) {
        if (s->file_count > 0 && body.len > 7 && bytes_has_prefix(body, bytes_of(sign, 7))) {
            put_file(w, &s->files[(uint8_t)body.ptr[7] % s->file_count]);
            body = bytes_from(body, 8);
        } else if (bytes_has_prefix(body, bytes_of(sign_of_session, 8))) {
            wire_put_u64(w, session);
            body = bytes_from(body, 8);
        } else {
            wire_put_u8(w, (uint8_t)body.ptr[0]);
            body = bytes_from(body, 1);
        }
    }
}

/* Sends it, and has all of it done that does not wait for another request. */
static void send(struct smb_state *s, struct client *c, struct sending *sending,
                 struct message *message)
{
    message->size = sending->text.len;
    cost_begin();
    client_send(c, sending);
    smb_state_settle(s);
    check(s, message, cost_end());
    *message = (struct message){ .requests = 0 };
}

/* A client's connection is lost; the sockets of its handles are gone, which are closed or kept. */
static void lose(struct smb_state *s, struct client *c)
{
    const struct message message = { .requests = 1, .closed = s->size + FRAMES_MAX };

    cost_begin();
    client_cut(c);
    smb_state_settle(s);
    check(s, &message, cost_end());
}

static void pass_time(struct smb_state *s)
{
    const struct message message = { .requests = 1, .closed = s->size + FRAMES_MAX };

    cost_begin();
    scavenger_close_expired(s->world->service->scavenger, clock_now() + 400 * TICKS_PER_SECOND);
    smb_state_settle(s);
    check(s, &message, cost_end());
}

struct sender {
    struct client *client;
    struct sending sending;
    struct message message; /* its requests that are not sent yet */
    bool is_lost;
};

static void send_all(struct smb_state *s, struct sender *sender)
{
    if (sender->message.requests > 0 && !sender->is_lost && !client_is_cut(sender->client))
        send(s, sender->client, &sender->sending, &sender->message);
    sender->message.requests = 0;
}

static void add(struct smb_state *s, struct sender *sender, struct bytes frame)
{
    uint8_t flags = (uint8_t)frame.ptr[1];
    bool is_related = flags & RELATED && sender->message.requests > 0;
    struct wire_writer w;

    if (!is_related) {
        send_all(s, sender);
        sending_begin(sender->client, &sender->sending);
    }
    if (sender->is_lost || client_is_cut(sender->client))
        return;
    w = sending_add(sender->client, &sender->sending, (uint8_t)frame.ptr[0],
                    is_related ? SMB_FLAG_RELATED : 0);
    put_body(&w, bytes_from(frame, 2), s, client_session(sender->client));
    sender->message.requests++;
    if (frame.ptr[0] == SMB_LOGOFF || frame.ptr[0] == SMB_TREE_DISCONNECT)
        sender->message.closed = s->size + FRAMES_MAX;
    sender->message.lists |= frame.ptr[0] == SMB_QUERY_DIRECTORY;
    sender->message.copies |= frame.ptr[0] == SMB_IOCTL;
}

static void send_frames(struct smb_state *s, struct bytes input)
{
    struct sender senders[2] = { { .client = s->own }, { .client = s->other } };

    client_charge(s->own, 16, 600);
    client_charge(s->other, 16, 600);
    for (unsigned i = 0; i < FRAMES_MAX && input.len > 0; i++) {
        struct bytes frame = next_frame(&input);
        struct sender *sender;

        if (frame.len < 2)
            continue;
        sender = &senders[(frame.ptr[1] & OF_OTHER) != 0];
        add(s, sender, frame);
        if (frame.ptr[1] & (LOST | TIME_PASSES))
            send_all(s, sender);
        if (frame.ptr[1] & LOST && !sender->is_lost) {
            sender->is_lost = true;
            lose(s, sender->client);
        }
        if (frame.ptr[1] & TIME_PASSES)
            pass_time(s);
    }
    for (unsigned i = 0; i < 2; i++)
        send_all(s, &senders[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int64_t before;
    struct bytes input = bytes_of(data, size);
    struct smb_state *s;

    if (size < 2)
        return 0;
    log_open(LOG_ERROR, NULL);
    s = smb_state_new((char)data[0], sizes[data[1] % SIZES]);
    if (!s)
        return 0;
    steps_left = 0;
    send_frames(s, bytes_from(input, 2));
    smb_state_free(s);
    if (before && cost_bytes() - before > LEFT_MAX) {
        fprintf(stderr, "%lld bytes are left\n", (long long)(cost_bytes() - before));
        abort();
    }
    if (!before)
        before = cost_bytes();
    return 0;
}
