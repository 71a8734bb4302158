/* Registers whose every value is written once (an ETag is): all requests that were told of one
 * value are its zone. From the first end to the last begin of them the value was there (a forward
 * zone); when no end is before a begin, its moment lies somewhere between (a backward zone). The
 * history is linearizable if no value was seen before its write began, forward zones do not
 * overlap, and no backward zone lies inside a forward one. Gibbons and Korach, "Testing Shared
 * Memories", 1997. */
#include "linear.h"

#include <inttypes.h>

#include "kept.h"
#include "world.h"

struct value {
    struct value *next;
    uint64_t etag;
    uint64_t first_end, last_begin;
    uint64_t written; /* when its write began; 0: nobody said so */
};

struct registers {
    struct value *of[CONTAINERS][BLOBS];
};

void linear_begin(void)
{
    world->registers = world_alloc(sizeof *world->registers);
}

static bool tells_of_blob(const struct ask *ask, bool *ret_writes)
{
    enum op op = ask->op;

    *ret_writes = op == OP_PUT_BLOB || op == OP_SET_METADATA || op == OP_SET_PROPERTIES ||
                  op == OP_PUT_BLOCK_LIST || op == OP_APPEND_BLOCK || op == OP_SEAL ||
                  op == OP_PUT_PAGE || op == OP_CLEAR_PAGE;
    return *ret_writes || (!ask->snapshot[0] &&
                           (op == OP_GET_BLOB || op == OP_HEAD_BLOB || op == OP_GET_METADATA ||
                            op == OP_LEASE_BLOB || op == OP_PAGE_RANGES));
}

void linear_note(const struct ask *ask, const struct reply *answer)
{
    struct value **link = &world->registers->of[ask->container][ask->blob];
    struct value *value = *link;
    bool writes;

    if (answer->status >= 300 || answer->etag == 0 || !tells_of_blob(ask, &writes) ||
        kept_has_containers()) /* a container that is restored has its old ETags */
        return;
    while (value && value->etag != answer->etag)
        value = value->next;
    if (!value) {
        value = world_alloc(sizeof *value);
        value->etag = answer->etag;
        value->first_end = UINT64_MAX;
        value->next = *link;
        *link = value;
    }
    if (answer->ended_ns < value->first_end)
        value->first_end = answer->ended_ns;
    if (answer->began_ns > value->last_begin)
        value->last_begin = answer->began_ns;
    if (writes)
        value->written = answer->began_ns;
}

static bool is_forward(const struct value *value)
{
    return value->first_end < value->last_begin;
}

static bool agree(const struct value *a, const struct value *b)
{
    if (is_forward(a) && is_forward(b))
        return a->last_begin < b->first_end || b->last_begin < a->first_end;
    if (is_forward(a) && !is_forward(b))
        return !(a->first_end < b->last_begin && b->first_end < a->last_begin);
    return true;
}

static void check_register(const struct value *first, unsigned container, unsigned blob)
{
    for (const struct value *a = first; a; a = a->next) {
        if (a->written > a->first_end)
            world_fail("%s/%s: ETag %" PRIX64 " was told before its write began",
                       container_names[container], blob_names[blob], a->etag);
        for (const struct value *b = first; b; b = b->next) {
            if (a != b && !agree(a, b))
                world_fail("%s/%s: no order of requests explains who was told of ETags %" PRIX64
                           " and %" PRIX64 " when",
                           container_names[container], blob_names[blob], a->etag, b->etag);
        }
    }
}

void linear_check(void)
{
    if (kept_is_on())
        return; /* what is undeleted has the ETag that it had: a value that is written twice */
    for (unsigned c = 0; c < CONTAINERS; c++) {
        for (unsigned b = 0; b < BLOBS; b++)
            check_register(world->registers->of[c][b], c, b);
    }
}
