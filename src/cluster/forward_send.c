/* Sending a forwarded request: see forward.h. */
#include "cluster/forward_private.h"

#include <assert.h>
#include <stdio.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "cluster/envelope.h"

/* ---- the head ---- */

/* Finds the authority to send, which is needed only if a proxy supplied it. Returns false if it is
 * too long. */
static bool find_authority(const struct request *request, struct bytes *ret_authority)
{
    struct bytes host = request_header(request, "host");

    *ret_authority = (struct bytes){ NULL, 0 };
    if (!request->authority.ptr || bytes_equal(request->authority, host))
        return true;
    *ret_authority = request->authority;
    return request->authority.len <= ENVELOPE_AUTHORITY_MAX;
}

bool forward_prepare(struct forward *f)
{
    const struct request *request = &f->exchange->request;
    struct bytes head = request_head(request);
    struct envelope envelope = {
        .version = f->target.version,
        .service = f->of->service,
        .cell = f->target.cell,
        .incarnation = f->target.incarnation,
        .renewed_ns = f->target.renewed_ns,
        .said = { .is_tls = request->secure,
                  .is_forwarded = request->is_forwarded,
                  .expects = f->to->is_divided && has_body(f) && is_announced(f),
                  .placement = f->to->placement,
                  .request = request->id },
    };
    struct bytes kept = f->taken > 0 ? text_bytes(&f->to->kept) : bytes_of("", 0);
    char written[INTRODUCTION_MAX], *all;
    size_t size;

    f->asks_pieces = forward_may_read(f, &f->target);
    envelope.said.takes_pieces = f->asks_pieces;
    envelope.said.client_is_known =
        address_read(request->peer, envelope.said.client, &envelope.said.port);
    if (!find_authority(request, &envelope.said.authority))
        return false;
    size = envelope_write(&envelope, written);
    all = arena_alloc(f->exchange->arena, size + head.len + kept.len);
    memcpy(all, written, size);
    memcpy(all + size, head.ptr, head.len);
    if (kept.len > 0) /* body data; never chunked, see kept_max */
        memcpy(all + size + head.len, kept.ptr, kept.len);
    f->unsent = bytes_of(all, size + head.len + kept.len);
    f->frame = bytes_of("", 0);
    f->chunk_left = 0;
    f->has_chunk = f->has_last_chunk = false;
    return true;
}

/* ---- the link ---- */

void forward_avoid(struct forward *f)
{
    if (!f->link->is_reused)
        f->avoided = f->target;
}

static void use(struct bytes *part, size_t *sent)
{
    size_t some = *sent < part->len ? *sent : part->len;

    *part = bytes_from(*part, some);
    *sent -= some;
}

/* Sends the rest of header and framing, then from the run. Returns the same values as
 * transport_send(). */
static ssize_t send_some(struct forward *f, struct bytes run, size_t *ret_taken)
{
    struct bytes of[] = { f->unsent, f->frame, run };
    struct iovec parts[3];
    size_t count = 0, sent;
    ssize_t n;

    *ret_taken = 0;
    for (size_t i = 0; i < 3; i++)
        if (of[i].len > 0)
            parts[count++] =
                (struct iovec){ .iov_base = (void *)(uintptr_t)of[i].ptr, .iov_len = of[i].len };
    assert(count > 0);
    if (!f->link->net.writable)
        return TRANSPORT_WAITS;
    n = transport_send(&f->link->net, parts, count, false);
    if (!f->is_sent)
        f->waited_ns = clock_monotonic_ns() - f->began_ns;
    /* includes a TLS record that the socket has not accepted yet */
    f->is_sent |= n != TRANSPORT_FAILED;
    if (n < 0)
        return n;
    sent = (size_t)n;
    use(&f->unsent, &sent);
    use(&f->frame, &sent);
    assert(sent <= run.len);
    *ret_taken = sent;
    return n;
}

/* Handles a failed send. The owner may have responded before it closed the connection. */
static void send_failed(struct forward *f)
{
    if (f->is_sent) {
        f->is_broken = true;
        connection_wake(&f->link->net);
        return;
    }
    forward_avoid(f);
    link_drop(f->link);
    f->link = NULL;
    f->is_lost = true;
}

/* ---- bodies ---- */

static void set_frame(struct forward *f, const char *text)
{
    snprintf(f->frame_text, sizeof f->frame_text, "%s%s", f->has_chunk ? "\r\n" : "", text);
    f->frame = bytes_from_string(f->frame_text);
}

struct bytes forward_next_run(struct forward *f, struct bytes data)
{
    char size[FRAME_BYTES - 2];

    if (!is_chunked(f))
        return data;
    if (f->chunk_left == 0) {
        snprintf(size, sizeof size, "%zx\r\n", data.len);
        set_frame(f, size);
        f->chunk_left = data.len;
        f->has_chunk = true;
    }
    return bytes_of(data.ptr, data.len < f->chunk_left ? data.len : f->chunk_left);
}

void forward_end_chunks(struct forward *f)
{
    set_frame(f, "0\r\n\r\n");
    f->has_last_chunk = true;
}

/* Ends a request whose client has given up, and may have repeated it at another front end. */
static enum http_step abandon(struct forward *f)
{
    link_drop(f->link);
    f->link = NULL;
    return HTTP_CUT;
}

enum http_step forward_send(struct forward *f, struct bytes run, size_t *ret_taken)
{
    ssize_t n;

    *ret_taken = 0;
    if (transport_is_abandoned(exchange_connection(f->exchange)))
        return abandon(f);
    n = send_some(f, run, ret_taken);
    if (n == TRANSPORT_WAITS)
        return pause_exchange(f);
    if (n >= 0)
        return HTTP_WANT_BODY;
    send_failed(f);
    return AGAIN;
}

enum http_step forward_flush(struct forward *f)
{
    enum http_step step = HTTP_WANT_BODY;
    size_t none;

    while (f->unsent.len + f->frame.len > 0 && step == HTTP_WANT_BODY)
        step = forward_send(f, bytes_of("", 0), &none);
    return step;
}
