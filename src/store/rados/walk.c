#include "store/rados/walk.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/lane.h"

/* A limb of LISTED records, in the state that a page says. */
struct walk_limb {
    struct walk_limb *next;
    struct limb_row row;
    struct view *view;
};

struct walk {
    struct guid space;
    enum walk_kind kind;
    struct shards *shards;
    struct arena *arena;
    atomic_uint holders;
    unsigned lane_count;
    struct lane lanes[SPACE_LANES_MAX];
    struct walk_limb *limbs;   /* in the arena */
    struct lane *waiting;      /* that STORE_WAIT was about; or */
    struct view *waiting_limb; /* of this one; NULL: of none */
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

static void close_limbs(struct walk *walk)
{
    for (struct walk_limb *limb = walk->limbs; limb; limb = limb->next)
        view_close(limb->view);
    walk->limbs = NULL;
}

void walk_close(struct walk *walk)
{
    if (!walk || atomic_fetch_sub(&walk->holders, 1) > 1)
        return;
    for (unsigned i = 0; i < walk->lane_count; i++)
        lane_release(&walk->lanes[i]);
    close_limbs(walk);
    arena_free(walk->arena);
    free(walk);
}

bool walk_is_of(const struct walk *walk, const struct guid *space, enum walk_kind kind)
{
    return walk->kind == kind && guid_equal(&walk->space, space);
}

/* The first shard of the first lane; and the one after another one, of its lane or the next: NULL at the end. */
static struct lane *first_lane(struct walk *walk)
{
    return &walk->lanes[0];
}

static struct lane *next_lane(struct walk *walk, const struct lane *lane)
{
    if (lane->behind)
        return lane->behind;
    return lane->number + 1 < walk->lane_count ? &walk->lanes[lane->number + 1] : NULL;
}

bool walk_is_gone(struct walk *walk)
{
    for (const struct lane *lane = first_lane(walk); lane; lane = next_lane(walk, lane))
        if (lane->is_gone)
            return true;
    return false;
}

struct arrival *walk_arrival(struct walk *walk)
{
    if (walk->waiting_limb)
        return view_arrival(walk->waiting_limb);
    assert(walk->waiting);
    return lane_arrival(walk->waiting);
}

void walk_forget(struct walk *walk)
{
    if (arena_held(walk->arena) <= WALK_KEPT)
        return;
    close_limbs(walk);
    for (unsigned i = 0; i < walk->lane_count; i++) {
        lane_release(&walk->lanes[i]);
        lane_init(&walk->lanes[i], walk->shards, &walk->space, i, (char)walk->kind);
        walk->lanes[i].page = LANE_ROWS_MAX;
    }
    arena_free(walk->arena);
    walk->arena = arena_new(WALK_ARENA_MAX);
}

/* Sees to it that all lanes know their row at a place: `from`, or that of each. All that are known are asked before any
 * is waited for. */
static enum store_result fetch_all(struct walk *walk, struct bytes from, bool is_single)
{
    walk->waiting = NULL;
    walk->waiting_limb = NULL;
    for (struct lane *lane = first_lane(walk); lane; lane = next_lane(walk, lane)) {
        enum store_result result;

        if (!lane->place.ptr)
            lane->place = from;
        result = lane_fetch(lane, walk->arena, lane->place, is_single);
        if (result == STORE_WAIT)
            walk->waiting = lane;
        else if (result)
            return result;
    }
    return walk->waiting ? STORE_WAIT : STORE_OK;
}

static void set_places(struct walk *walk)
{
    for (struct lane *lane = first_lane(walk); lane; lane = next_lane(walk, lane))
        lane->place = (struct bytes){ NULL, 0 };
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

/* The first row of all; lanes are moved on in which it is not known. *ret_is_cut: then it may be another. */
static const struct port_row *first_row(struct walk *walk, struct bytes from, bool *ret_is_cut)
{
    const struct port_row *first = NULL;

    *ret_is_cut = false;
    for (struct lane *lane = first_lane(walk); lane; lane = next_lane(walk, lane)) {
        const struct port_row *row = row_in(lane, walk->arena, &lane->place);

        if (row && (!first || bytes_compare(row->key, first->key) < 0))
            first = row;
        else if (!row && lane->place.len > 0)
            *ret_is_cut = true;
        if (!row && lane->place.len == 0)
            lane->place = from; /* known to the end */
    }
    return first;
}

/* The first row at or after a key, in the shards of the space. */
static enum store_result next_at_home(struct walk *walk, struct bytes from,
                                      const struct port_row **ret_row)
{
    bool is_cut;

    set_places(walk);
    do {
        enum store_result result = fetch_all(walk, from, false);

        if (result)
            return result;
        *ret_row = first_row(walk, from, &is_cut);
    } while (is_cut);
    return *ret_row ? STORE_OK : STORE_NOT_FOUND;
}

/* ---- limbs ---- */

/* Does a limb end at this row? */
static bool is_limb(struct walk *walk, const struct port_row *row, struct row_name *ret_name)
{
    return walk->kind == WALK_LISTED && bytes_has_suffix(row->key, bytes_of("\x01\x01", 2)) &&
           row_key_read(row->key, walk->arena, ret_name) && ret_name->kind == ROW_LIMB;
}

/* NULL: its row is damaged. */
static struct walk_limb *take_limb(struct walk *walk, const struct port_row *row,
                                   struct bytes partition_key)
{
    struct walk_limb *limb = walk->limbs;
    struct limb_row wanted;

    if (!limb_row_read(row->value, &wanted))
        return NULL;
    while (limb &&
           (limb->row.version != wanted.version || !guid_equal(&limb->row.space, &wanted.space)))
        limb = limb->next;
    if (limb)
        return limb;
    limb = arena_alloc(walk->arena, sizeof *limb);
    *limb = (struct walk_limb){ walk->limbs, wanted,
                                view_open(walk->shards,
                                          &(struct partition){ wanted.space, partition_key }) };
    walk->limbs = limb;
    return limb;
}

/* The first row of the limb at or after a key. returns as walk_next(); STORE_NOT_FOUND: it has none */
static enum store_result next_in_limb(struct walk *walk, struct bytes from,
                                      const struct port_row *end, const struct row_name *name,
                                      struct port_row *ret_row)
{
    struct walk_limb *limb = take_limb(walk, end, name->partition_key);
    struct bytes first = row_key_begin(walk->arena, LANE_LISTED, name->partition_key);
    enum store_result result = limb ? view_begin(limb->view) : STORE_CORRUPT;

    if (!result && view_header(limb->view)->version > limb->row.version)
        result = STORE_CONFLICT;
    if (!result && view_header(limb->view)->version < limb->row.version)
        result = STORE_CORRUPT;
    if (!result)
        result = view_row(limb->view, RECORD_LISTED, bytes_compare(from, first) < 0 ? first : from,
                          walk->arena, ret_row);
    if (result == STORE_NOT_FOUND && view_is_gone(limb->view))
        result = STORE_CONFLICT; /* the space was dropped, or the limb emptied */
    if (result == STORE_WAIT)
        walk->waiting_limb = limb->view;
    if (result == STORE_CORRUPT)
        log_line(LOG_ERROR, "rados: a limb of a partition cannot be read");
    return result;
}

enum store_result walk_next(struct walk *walk, struct bytes from, struct bytes *ret_key,
                            struct bytes *ret_value)
{
    const struct port_row *first;
    struct port_row row;
    struct row_name name;
    enum store_result result;

    for (;;) {
        result = next_at_home(walk, from, &first);
        if (result)
            return result;
        row = *first;
        if (!is_limb(walk, first, &name))
            break;
        result = next_in_limb(walk, from, first, &name, &row);
        if (!result)
            break;
        if (result != STORE_NOT_FOUND)
            return result;
        from = row_key_behind(walk->arena, first->key);
    }
    if (!row_value_read(row.value, ret_value)) {
        log_line(LOG_ERROR, "rados: a row of kind %c is damaged", walk->kind);
        return STORE_CORRUPT;
    }
    *ret_key = row.key;
    return STORE_OK;
}

enum store_result walk_sum(struct walk *walk, struct bytes name, int64_t *ret_sum)
{
    struct bytes key = row_key_counter(walk->arena, name);
    enum store_result result;
    int64_t sum = 0;

    set_places(walk);
    result = fetch_all(walk, key, true);
    if (result)
        return result;
    for (struct lane *lane = first_lane(walk); lane; lane = next_lane(walk, lane)) {
        const struct view_run *run = view_rows_find(&lane->rows, key);
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
