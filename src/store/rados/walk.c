#include "store/rados/walk.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/lane.h"

struct walk {
    struct guid space;
    enum walk_kind kind;
    struct shards *shards;
    struct arena *arena;
    atomic_uint holders;
    unsigned lane_count;
    struct lane lanes[SPACE_LANES_MAX];
    struct lane *waiting; /* that STORE_WAIT was about */
};

struct walk *walk_open(struct shards *shards, const struct guid *space, enum walk_kind kind)
{
    struct walk *walk = xcalloc(1, sizeof *walk);

    walk->space = *space;
    walk->kind = kind;
    walk->shards = shards;
    walk->arena = arena_new(WALK_ARENA_MAX);
    atomic_init(&walk->holders, 1);
    walk->lane_count = space_lanes(space);
    for (unsigned i = 0; i < walk->lane_count; i++)
        lane_init(&walk->lanes[i], shards, space, i, (char)kind);
    return walk;
}

struct walk *walk_share(struct walk *walk)
{
    atomic_fetch_add(&walk->holders, 1);
    return walk;
}

void walk_close(struct walk *walk)
{
    if (!walk || atomic_fetch_sub(&walk->holders, 1) > 1)
        return;
    for (unsigned i = 0; i < walk->lane_count; i++)
        lane_release(&walk->lanes[i]);
    arena_free(walk->arena);
    free(walk);
}

bool walk_is_of(const struct walk *walk, const struct guid *space, enum walk_kind kind)
{
    return walk->kind == kind && guid_equal(&walk->space, space);
}

bool walk_is_gone(const struct walk *walk)
{
    for (unsigned i = 0; i < walk->lane_count; i++)
        if (walk->lanes[i].is_gone)
            return true;
    return false;
}

struct arrival *walk_arrival(struct walk *walk)
{
    assert(walk->waiting);
    return lane_arrival(walk->waiting);
}

void walk_forget(struct walk *walk)
{
    if (arena_held(walk->arena) <= WALK_KEPT)
        return;
    for (unsigned i = 0; i < walk->lane_count; i++) {
        lane_release(&walk->lanes[i]);
        lane_init(&walk->lanes[i], walk->shards, &walk->space, i, (char)walk->kind);
        walk->lanes[i].page = LANE_ROWS_MAX;
    }
    arena_free(walk->arena);
    walk->arena = arena_new(WALK_ARENA_MAX);
}

/* Sees to it that all lanes know their row at a place. All are asked before any is waited for. */
static enum store_result fetch_all(struct walk *walk, const struct bytes *from, bool is_single)
{
    walk->waiting = NULL;
    for (unsigned i = 0; i < walk->lane_count; i++) {
        enum store_result result = lane_fetch(&walk->lanes[i], walk->arena, from[i], is_single);

        if (result == STORE_WAIT)
            walk->waiting = &walk->lanes[i];
        else if (result)
            return result;
    }
    return walk->waiting ? STORE_WAIT : STORE_OK;
}

/* The first row of a lane at or after a place, as far as it is known. NULL: none up to the end of what is known;
 * *from: where to go on, empty at the end of the lane. */
static const struct port_row *row_in(const struct lane *lane, struct arena *arena,
                                     struct bytes *from)
{
    const struct view_run *run;

    while ((run = view_rows_find(&lane->rows, *from))) {
        uint32_t place = view_run_place(run, *from);

        if (place < run->count)
            return &run->rows[place];
        if (run->is_to_end) {
            *from = (struct bytes){ NULL, 0 };
            return NULL;
        }
        *from = row_key_behind(arena, run->to);
    }
    return NULL;
}

enum store_result walk_next(struct walk *walk, struct bytes from, struct bytes *ret_key,
                            struct bytes *ret_value)
{
    struct bytes places[SPACE_LANES_MAX];

    for (unsigned i = 0; i < walk->lane_count; i++)
        places[i] = from;
    for (;;) {
        const struct port_row *first = NULL;
        enum store_result result = fetch_all(walk, places, false);
        bool is_cut = false;

        if (result)
            return result;
        for (unsigned i = 0; i < walk->lane_count; i++) {
            const struct port_row *row = row_in(&walk->lanes[i], walk->arena, &places[i]);

            if (row && (!first || bytes_compare(row->key, first->key) < 0))
                first = row;
            else if (!row && places[i].len > 0)
                is_cut = true;
            if (!row && places[i].len == 0)
                places[i] = from; /* known to the end */
        }
        if (is_cut)
            continue;
        if (!first)
            return STORE_NOT_FOUND;
        if (!row_value_read(first->value, ret_value)) {
            log_line(LOG_ERROR, "rados: a row of kind %c is damaged", walk->kind);
            return STORE_CORRUPT;
        }
        *ret_key = first->key;
        return STORE_OK;
    }
}

enum store_result walk_sum(struct walk *walk, struct bytes name, int64_t *ret_sum)
{
    struct bytes key = row_key_counter(walk->arena, name), places[SPACE_LANES_MAX];
    enum store_result result;
    int64_t sum = 0;

    for (unsigned i = 0; i < walk->lane_count; i++)
        places[i] = key;
    result = fetch_all(walk, places, true);
    if (result)
        return result;
    for (unsigned i = 0; i < walk->lane_count; i++) {
        const struct view_run *run = view_rows_find(&walk->lanes[i].rows, key);
        uint64_t number;

        if (run->count == 0)
            continue;
        if (!row_number_read(run->rows[0].value, &number)) {
            log_line(LOG_ERROR, "rados: a counter is damaged");
            return STORE_CORRUPT;
        }
        sum += (int64_t)number;
    }
    *ret_sum = sum;
    return STORE_OK;
}
