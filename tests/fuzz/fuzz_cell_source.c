/* Reads messages about copy sources in other cells (source/cell_wire.h): a request if the input's first byte is 'r', else the head
 * of a response. A valid one survives being written and read again. */
#include <stdlib.h>

#include "fuzz.h"
#include "source/cell_wire.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_request(struct arena *arena, struct bytes text)
{
    struct cell_request request, again;
    struct text out;

    if (!cell_request_read(text, &request))
        return;
    text_init(&out, arena, 0);
    cell_request_write(&out, &request);
    require(cell_request_read(text_bytes(&out), &again));
    require(again.read == request.read && bytes_equal(again.service, request.service) &&
            bytes_equal(again.source.text, request.source.text) &&
            again.source.header_count == request.source.header_count &&
            again.position == request.position && again.previous == request.previous);
}

static void read_head(struct arena *arena, struct bytes text)
{
    struct cell_head head, again;
    struct text out;

    if (!cell_head_read(arena, text, &head))
        return;
    text_init(&out, arena, 0);
    cell_head_write(&out, &head);
    require(cell_head_read(arena, text_bytes(&out), &again));
    require(again.error == head.error && again.problem.field_count == head.problem.field_count &&
            bytes_equal(again.result, head.result) &&
            again.layout.block_count == head.layout.block_count &&
            again.layout.range_count == head.layout.range_count && again.next == head.next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1 << 20);
    struct bytes text = size > 0 ? bytes_of(data + 1, size - 1) : bytes_of("", 0);

    if (size > 0 && data[0] == 'r')
        read_request(arena, text);
    else
        read_head(arena, text);
    arena_free(arena);
    return 0;
}
