#include "store/rados/lane.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/slot.h"

static const struct bytes none;

void lane_init(struct lane *lane, struct shards *shards, const struct guid *space, unsigned number,
               char kind)
{
    *lane = (struct lane){ .shards = shards, .space = *space, .number = number, .kind = kind };
    shard_name(space, number, 0, lane->object);
}

static void add_behind(struct lane *lane, uint64_t shard)
{
    struct lane *added = xcalloc(1, sizeof *added);

    lane_init(added, lane->shards, &lane->space, lane->number, lane->kind);
    added->shard = shard;
    shard_name(&lane->space, lane->number, shard, added->object);
    added->page = lane->page;
    added->before = lane;
    added->behind = lane->behind;
    if (lane->behind)
        lane->behind->before = added;
    lane->behind = added;
}

static void close_views(struct lane *lane)
{
    for (unsigned i = 0; i < lane->locked_count; i++)
        view_close(lane->locked[i]);
    lane->locked_count = 0;
}

static void release(struct lane *lane)
{
    close_views(lane);
    arrival_drop(lane->arrival);
}

void lane_release(struct lane *lane)
{
    while (lane->behind) {
        struct lane *behind = lane->behind;

        lane->behind = behind->behind;
        release(behind);
        free(behind);
    }
    release(lane);
}

/* ---- asking ---- */

/* The partition of a row, in the arena; false: the row has none. */
static bool partition_of_row(struct bytes key, struct arena *arena, struct bytes *ret_key)
{
    struct row_name name;

    if (!row_key_read(key, arena, &name))
        return false;
    *ret_key = name.partition_key;
    return name.kind == ROW_LISTED || name.kind == ROW_LIMB;
}

/* Does the page begin inside the partition, behind its first row? */
static bool begins_inside(const struct lane *lane, struct arena *arena, struct bytes partition_key)
{
    struct bytes first = row_key_record(arena, RECORD_LISTED, partition_key, none);

    return lane->from.len > first.len && bytes_has_prefix(lane->from, first);
}

static void ask(struct lane *lane)
{
    struct port_op *op = arrival_op();

    lane->bounds_step = port_get(op, row_key_bounds());
    lane->slots_step = port_list(op, none, bytes_from_string("X"), ROW_SLOTS);
    lane->header_step =
        lane->has_large ? port_get(op, row_key_header(op->arena, lane->large)) : NULL;
    lane->at_step = lane->from.len > 1 ? port_get(op, lane->from) : NULL;
    lane->list_step = NULL;
    if (!lane->is_single)
        lane->list_step = port_list(op, lane->from.len > 1 ? lane->from : none,
                                    bytes_of(&lane->kind, 1), lane->page);
    if (lane->kind == LANE_LISTED)
        shards_place_in_lane(lane->shards, &lane->space, lane->number, lane->partition,
                             lane->object);
    arrival_drop(lane->arrival);
    lane->arrival = arrival_send(shards_port(lane->shards), lane->object, op);
    lane->step = LANE_PAGE;
    lane->is_again = false;
}

/* ---- the answer ---- */

/* Opens the partitions that were locked. False: a slot cannot be read. */
static bool open_locked(struct lane *lane, struct arena *arena)
{
    for (uint32_t i = 0; i < lane->slots_step->row_count; i++) {
        struct slot slot;

        if (lane->slots_step->rows[i].value.len == 0)
            continue;
        if (!slot_read(lane->slots_step->rows[i].value, &slot))
            return false;
        lane->transactions[lane->locked_count] = slot.transaction;
        lane->locked[lane->locked_count++] =
            view_open(lane->shards,
                      &(struct partition){ lane->space, arena_copy(arena, slot.partition_key) });
    }
    return true;
}

/* The page cannot hide what those who hold a lock have decided. returns STORE_OK, STORE_WAIT, others */
static enum store_result look_at_locked(struct lane *lane)
{
    while (lane->locked_count > 0) {
        struct view *view = lane->locked[lane->locked_count - 1];
        enum store_result result = view_begin(view);

        if (result && result != STORE_NOT_FOUND)
            return result;
        if (result || !partition_is_locked(view_header(view)) ||
            !attempt_equal(view_header(view)->lock.transaction,
                           lane->transactions[lane->locked_count - 1]))
            lane->is_again = true;
        view_close(view);
        lane->locked_count--;
    }
    return STORE_OK;
}

/* Where the rows of the page end that can be used: a partition that it cuts is left out, unless that is all there
 * is. Copies into the arena what the next page must know. False: the page is to be read again, with the header
 * of its partition. */
static bool cut_page(struct lane *lane, struct arena *arena, uint32_t *ret_count)
{
    const struct port_step *list = lane->list_step;
    struct bytes last, first;
    uint32_t count = list->row_count;

    *ret_count = count;
    if (!list->is_cut || lane->kind != LANE_LISTED ||
        !partition_of_row(list->rows[count - 1].key, arena, &last))
        return true;
    if (lane->has_large && bytes_equal(lane->large, last))
        return true;
    while (count > 0) {
        if (!partition_of_row(list->rows[count - 1].key, arena, &first) ||
            !bytes_equal(first, last))
            break;
        count--;
    }
    *ret_count = count;
    if (count > 0)
        return true;
    if (lane->at_step && lane->at_step->row_count > 0 && !begins_inside(lane, arena, last))
        return true; /* the row at its beginning is of the one before */
    lane->large = last;
    lane->has_large = true;
    lane->large_header = none;
    return false;
}

/* Is the partition that pages begin in as it was when the first of them was read? */
static bool take_header(struct lane *lane, struct arena *arena)
{
    struct bytes row;

    if (!lane->has_large)
        return true;
    row = port_value(lane->header_step);
    if (lane->large_header.ptr && begins_inside(lane, arena, lane->large) &&
        !bytes_equal(row, lane->large_header))
        return false;
    lane->large_header = arena_copy(arena, row);
    if (!lane->large_header.ptr)
        lane->large_header.ptr = "";
    return true;
}

/* Behind the large one it is of no use. */
static void leave_large(struct lane *lane, struct arena *arena, uint32_t count)
{
    struct bytes last;

    if (lane->has_large && count > 0 &&
        partition_of_row(lane->list_step->rows[count - 1].key, arena, &last) &&
        !bytes_equal(last, lane->large))
        lane->has_large = false;
}

/* Of a page that goes up to the end of its shard: the next one is there. */
static void end_at_shard(struct lane *lane, struct arena *arena)
{
    struct view_run *run = lane->rows.runs;

    if (lane->kind != LANE_LISTED || lane->hi.len == 0 || !run->is_to_end)
        return;
    run->is_to_end = false;
    run->to = row_key_before(arena, lane->kind, lane->hi);
}

static enum store_result take_rows(struct lane *lane, struct arena *arena)
{
    uint32_t count = 0;

    if (!take_header(lane, arena))
        return STORE_CONFLICT;
    if (lane->list_step) {
        struct port_step list = *lane->list_step;

        if (!cut_page(lane, arena, &count)) {
            ask(lane);
            return STORE_WAIT;
        }
        list.is_cut = list.is_cut || count < list.row_count;
        list.row_count = count;
        leave_large(lane, arena, count);
        view_rows_add(&lane->rows, arena, lane->from, lane->at_step, &list);
        end_at_shard(lane, arena);
        lane->page = lane->page < LANE_ROWS_MAX / 2 ? 2 * lane->page : LANE_ROWS_MAX;
    } else {
        view_rows_add(&lane->rows, arena, lane->from, lane->at_step, NULL);
    }
    lane->step = LANE_IDLE;
    return STORE_OK;
}

/* Is a partition that a shard has no longer missing in pages of the one behind it, which were read before? */
static bool is_gap(const struct lane *lane, const struct shard_bounds *behind)
{
    return lane->is_read && lane->hi.len > 0 &&
           (behind->is_empty || bytes_compare(lane->hi, behind->lo) < 0);
}

/* Of a page of a kind whose rows lie in any shard. STORE_WAIT: it is too old, and is read again. */
static enum store_result take_chain(struct lane *lane, struct arena *arena,
                                    const struct shard_bounds *bounds)
{
    struct lane *behind;

    if (lane->before && is_gap(lane->before, bounds)) {
        ask(lane);
        return STORE_WAIT;
    }
    if (!lane->is_read) {
        lane->oldest = *bounds;
        lane->oldest.lo = arena_copy(arena, bounds->lo);
    }
    lane->is_read = true;
    lane->hi = arena_copy(arena, bounds->hi);
    if (bounds->next > 0 && (!lane->behind || lane->behind->shard != bounds->next))
        add_behind(lane, bounds->next);
    behind = lane->behind;
    if (behind && behind->is_read && is_gap(lane, &behind->oldest)) {
        behind->rows.runs = NULL;
        behind->is_read = false;
        if (behind->step != LANE_IDLE) {
            close_views(behind);
            ask(behind);
        }
    }
    return STORE_OK;
}

/* Is the page of the shard that it should be of? STORE_WAIT: it is asked for again. */
static enum store_result take_bounds(struct lane *lane, struct arena *arena,
                                     const struct shard_bounds *bounds)
{
    enum store_result result;

    if (lane->kind != LANE_LISTED)
        return take_chain(lane, arena, bounds);
    lane->hi = arena_copy(arena, bounds->hi);
    result =
        shards_arrive_in_lane(lane->shards, &lane->space, lane->number, lane->partition, bounds);
    if (result != STORE_CONFLICT)
        return result;
    ask(lane);
    return STORE_WAIT;
}

static enum store_result no_rows(struct lane *lane, struct arena *arena)
{
    view_rows_none(&lane->rows, arena);
    lane->step = LANE_IDLE;
    return STORE_OK;
}

static enum store_result take_page(struct lane *lane, struct arena *arena)
{
    const struct port_op *op = arrival_answer(lane->arrival);
    struct shard_bounds bounds;
    enum store_result result;

    if (op->result == PORT_ABSENT && shard_name_is_first(lane->object))
        return no_rows(lane, arena);
    if (op->result)
        return STORE_IO;
    result = shard_bounds_read(port_value(lane->bounds_step), &bounds);
    if (!result && bounds.state == SHARD_SEALED) {
        lane->is_gone = true;
        return no_rows(lane, arena);
    }
    if (!result)
        result = take_bounds(lane, arena, &bounds);
    if (result == STORE_WAIT)
        return STORE_WAIT;
    if (result || !open_locked(lane, arena)) {
        log_line(LOG_ERROR, "shard %s: it cannot be read", lane->object);
        return STORE_CORRUPT;
    }
    lane->step = LANE_LOCKS;
    return STORE_WAIT;
}

static enum store_result take_locks(struct lane *lane, struct arena *arena)
{
    enum store_result result = look_at_locked(lane);

    if (result)
        return result;
    if (!lane->is_again)
        return take_rows(lane, arena);
    if (++lane->tries > LANE_TRIES_MAX)
        return STORE_CONFLICT;
    ask(lane);
    return STORE_WAIT;
}

enum store_result lane_fetch(struct lane *lane, struct arena *arena, struct bytes from,
                             bool is_single)
{
    for (;;) {
        enum store_result result = STORE_OK;

        if (lane->step == LANE_IDLE) {
            if (view_rows_find(&lane->rows, from))
                return STORE_OK;
            lane->from = arena_copy(arena, from);
            if (lane->kind == LANE_LISTED)
                lane->partition = row_key_place(arena, lane->from);
            lane->is_single = is_single;
            lane->tries = 0;
            if (lane->page == 0)
                lane->page = LANE_ROWS_FIRST;
            ask(lane);
        }
        if (lane->step == LANE_PAGE) {
            if (!arrival_has_come(lane->arrival))
                return STORE_WAIT;
            result = take_page(lane, arena);
        } else {
            enum lane_step before = lane->step;

            result = take_locks(lane, arena);
            if (result == STORE_WAIT && lane->step == before)
                return STORE_WAIT;
        }
        if (result && result != STORE_WAIT)
            return result;
    }
}

struct arrival *lane_arrival(struct lane *lane)
{
    if (lane->step == LANE_LOCKS && lane->locked_count > 0)
        return view_arrival(lane->locked[lane->locked_count - 1]);
    assert(lane->arrival);
    return lane->arrival;
}
