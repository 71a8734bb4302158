/* Destination of a forwarded request, and what receivers report about it: see forward.h. */
#include "cluster/forward.h"

#include "base/clock.h"

void forward_keep(struct forward_to *to, struct exchange *exchange, struct bytes data)
{
    if (!to->is_divided || !to->is_kept || data.len == 0)
        return;
    if (to->kept.len + data.len > to->kept_max) {
        to->is_kept = false;
        return;
    }
    if (!to->kept_arena) {
        to->kept_arena = arena_new_like(exchange->arena, 4 * to->kept_max);
        text_init(&to->kept, to->kept_arena, data.len);
    }
    text_add(&to->kept, data);
    to->is_kept = !arena_is_exhausted(to->kept_arena);
}

static bool read_header(const struct response *response, const char *name, uint64_t max,
                        uint64_t *ret_value)
{
    const struct http_header *header = response_find_header(response, bytes_from_string(name));

    return header && bytes_parse_u64(header->value, max, ret_value);
}

bool forward_learn(struct forward_to *to, const struct response *response)
{
    uint64_t now_s = clock_monotonic_ms() / 1000;
    struct placed placed;
    uint64_t cell;

    if (!to->is_divided || !read_header(response, FORWARD_CELL, OWNER_CELL_MAX, &cell) ||
        !read_header(response, FORWARD_PLACEMENT, UINT64_MAX, &placed.incarnation) ||
        (cell == 0) != (placed.incarnation == 0))
        return false;
    placed.cell = (uint32_t)cell;
    if (cell == 0) {
        placements_drop(to->placements, to->key, to->placement);
        placed = (struct placed){ .cell = CLUSTER_ROOT };
    } else {
        placements_put(to->placements, to->key, placed, now_s);
    }
    to->cell = placed.cell;
    to->placement = placed.incarnation;
    return true;
}
