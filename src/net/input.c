/* Bytes that were received but not consumed yet. During its turn a connection receives into its
 * worker's buffer, so an idle connection has no buffer. Bytes that remain at the end of the turn
 * (part of a request, or bytes not needed yet) move to the connection's own buffer, which also
 * receives the following bytes, so a request that arrives byte by byte is not copied for each
 * byte. */
#include "net/net_private.h"

#include <assert.h>
#include <stdlib.h>

#define OWN_LEAST_BYTES 1024u

static void assert_input(const struct input *input)
{
    assert(input->from <= input->to && input->to <= input->capacity);
    assert(!input->buffer == (input->capacity == 0));
    assert(!input->is_borrowed || input->capacity == CONNECTION_INPUT_BYTES);
}

void input_use(struct input *input, size_t size)
{
    assert_input(input);
    assert(size <= input->to - input->from);
    input->from += size;
    if (input->from < input->to)
        return;
    if (input->is_borrowed)
        input->from = input->to = 0;
    else
        input_free(input);
}

void input_wipe(struct input *input, size_t size)
{
    assert(size <= input->to - input->from);
    explicit_bzero(input->buffer + input->from, size);
    input_use(input, size);
}

/* Makes space for at least one more byte, unless the buffer has its maximum size. */
static void make_room(struct connection *connection)
{
    struct input *input = &connection->input;

    if (!input->buffer) {
        *input = (struct input){ .buffer = connection->worker->input,
                                 .capacity = CONNECTION_INPUT_BYTES,
                                 .is_borrowed = true };
        return;
    }
    if (input->to < input->capacity)
        return;
    if (input->from > 0) {
        memmove(input->buffer, input->buffer + input->from, input->to - input->from);
        input->to -= input->from;
        input->from = 0;
    } else if (!input->is_borrowed && input->capacity < CONNECTION_INPUT_BYTES) {
        input->capacity *= 2;
        input->buffer = xrealloc(input->buffer, input->capacity);
    }
}

ssize_t input_receive(struct connection *connection, size_t most)
{
    struct input *input = &connection->input;
    size_t room;
    ssize_t n;

    assert(most > 0);
    make_room(connection);
    room = input->capacity - input->to;
    assert(room > 0);
    n = transport_receive(connection, input->buffer + input->to, room < most ? room : most);
    if (n > 0)
        input->to += (size_t)n;
    assert_input(input);
    return n;
}

void input_keep(struct input *input)
{
    size_t left = input->to - input->from;
    size_t capacity = OWN_LEAST_BYTES;
    char *own;

    if (!input->is_borrowed)
        return;
    if (left == 0) {
        *input = (struct input){ .buffer = NULL };
        return;
    }
    while (capacity < left)
        capacity *= 2;
    own = xmalloc(capacity);
    memcpy(own, input->buffer + input->from, left);
    *input = (struct input){ .buffer = own, .to = left, .capacity = capacity };
    assert_input(input);
}

void input_free(struct input *input)
{
    if (!input->is_borrowed)
        free(input->buffer);
    *input = (struct input){ .buffer = NULL };
}
