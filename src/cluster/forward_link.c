/* The link of a forwarded request that has its response: see forward_private.h. */
#include "cluster/forward_private.h"

void forward_finish_link(struct forward *f)
{
    struct link *link = f->link;

    f->link = NULL;
    if (f->is_complete && !f->head.closes && !f->is_broken &&
        input_bytes(&link->net.input).len == 0)
        link_give(link);
    else
        link_drop(link);
}

/* ---- the response ---- */

void forward_forget_response(struct forward *f)
{
    response_init(&f->exchange->response, f->exchange->arena);
    f->has_response = f->has_continue = f->is_sent = f->is_complete = f->is_broken = false;
}

/* Smallest remaining space worth another receive; otherwise the next block continues. */
#define LEAST_BYTES ((size_t)32 * 1024)

long forward_receive_body(struct forward *f, char *to, size_t max)
{
    struct connection *connection = &f->link->net;
    struct bytes there = input_bytes(&connection->input);
    size_t size = there.len < max ? there.len : max;

    if (size > 0) {
        memcpy(to, there.ptr, size);
        input_use(&connection->input, size);
    }
    while ((size == 0 || max - size > LEAST_BYTES) && connection->readable) {
        ssize_t n = transport_receive(connection, to + size, max - size);

        if (n == TRANSPORT_WAITS)
            break;
        if (n <= 0)
            return size > 0 ? (long)size : BODY_FAILED;
        size += (size_t)n;
    }
    return (long)size;
}
