#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/first_reads.h"
#include "store/rados/view_private.h"
#include "store/record_value.h"

static const struct bytes none;

struct view *view_open(struct shards *shards, const struct partition *partition)
{
    struct view *view = xcalloc(1, sizeof *view);

    view->shards = shards;
    view->arena = arena_new(VIEW_ARENA_MAX);
    view->partition =
        (struct partition){ partition->space, arena_copy(view->arena, partition->key) };
    atomic_init(&view->holders, 1);
    view->page = VIEW_PAGE_ROWS;
    return view;
}

void view_read_much(struct view *view)
{
    assert(view->step == VIEW_UNREAD);
    view->reads_much = true;
}

bool view_was_read_much(const struct view *view)
{
    return view->reads_much || view->whole;
}

struct view *view_share(struct view *view)
{
    atomic_fetch_add(&view->holders, 1);
    return view;
}

void view_close(struct view *view)
{
    if (!view || atomic_fetch_sub(&view->holders, 1) > 1)
        return;
    arrival_drop(view->arrival);
    arrival_drop(view->first);
    whole_free(view->whole);
    for (struct view_limb *limb = view->limbs; limb; limb = limb->next)
        view_close(limb->view);
    shard_link_release(view->link);
    arena_free(view->arena);
    free(view);
}

const struct partition *view_partition(const struct view *view)
{
    return &view->partition;
}

/* ---- asking ---- */

static struct bytes family_key(struct arena *arena, const struct view *view,
                               enum record_family family)
{
    return row_key_record(arena, family, view->partition.key, none);
}

static void ask_first(struct view *view)
{
    static const struct first_read_rows few = { VIEW_LISTED_ROWS, VIEW_INNER_ROWS },
                                        many = { VIEW_BUSY_ROWS, VIEW_BUSY_ROWS };

    assert(!view->arrival);
    view->step = VIEW_FIRST;
    view->arrival = first_reads_ask(shards_first_reads(view->shards), view->shards,
                                    &view->partition, view->reads_much ? many : few);
}

static void ask_page(struct view *view)
{
    struct port_op *op = arrival_op();
    enum record_family family = view->reading;
    char object[SHARD_NAME_SIZE];

    view->bounds_step = port_get(op, row_key_bounds());
    view->header_step = port_get(op, row_key_header(op->arena, view->partition.key));
    view->at_step = port_get(op, view->reading_from);
    view->run_step = NULL;
    if (view->reading_rows > 0)
        view->run_step = port_list(op, view->reading_from, family_key(op->arena, view, family),
                                   view->reading_rows);
    assert(!view->arrival);
    shards_place(view->shards, &view->partition, object);
    view->arrival = arrival_send(shards_port(view->shards), object, op);
}

/* from: of a row; and so many behind it. */
static void ask_more(struct view *view, enum record_family family, struct bytes from, uint32_t rows)
{
    view->reading = family;
    view->reading_from = arena_copy(view->arena, from);
    view->reading_rows = rows;
    ask_page(view);
}

static uint32_t next_page(struct view *view)
{
    uint32_t page = view->page;

    view->page = page < PORT_ROWS_MAX / 2 ? 2 * page : PORT_ROWS_MAX;
    return page;
}

/* ---- what was answered ---- */

enum store_result view_end(struct view *view, enum store_result result)
{
    view->step = VIEW_ENDED;
    view->ended = result;
    return result;
}

enum store_result view_damaged(struct view *view, const char *what)
{
    log_line(LOG_ERROR, "rados: %s of a partition cannot be read", what);
    return view->whole ? STORE_CORRUPT
                       : view_end(view, STORE_CORRUPT); /* that one others read too */
}

static struct arrival *take_arrival(struct view *view)
{
    struct arrival *arrival = view->arrival;

    view->arrival = NULL;
    return arrival;
}

/* Of the shard, as it is now. STORE_WAIT: the partition is in another one, which is to be asked. */
static enum store_result take_bounds(struct view *view, const struct port_step *step)
{
    struct shard_bounds bounds;
    enum store_result result;

    if (shard_bounds_read(port_value(step), &bounds))
        return view_damaged(view, "the shard");
    if (bounds.state == SHARD_SEALED) {
        view->is_gone = view->is_gone || view->step == VIEW_FIRST;
        return view_end(view, view->is_gone ? STORE_NOT_FOUND : STORE_CONFLICT);
    }
    result = shards_arrive(view->shards, &view->partition, &bounds);
    if (result == STORE_CONFLICT)
        return STORE_WAIT;
    return result ? view_end(view, result) : STORE_OK;
}

/* Others have the answer too: it is only looked at. */
static enum store_result take_first(struct view *view, struct arrival *arrival)
{
    const struct port_op *op = arrival_answer(arrival);
    struct first_read read;
    enum store_result result;

    if (op->result == PORT_ABSENT &&
        shard_name_is_first(op->object)) { /* nobody has written anything there yet */
        for (unsigned family = 0; family < 2; family++)
            view_rows_none(&view->rows[family], view->arena);
        view->step = VIEW_READ;
        return STORE_OK;
    }
    if (op->result)
        return view_end(view, STORE_IO);
    read = first_read_answer(op);
    result = take_bounds(view, read.bounds);
    if (result == STORE_WAIT)
        view->step = VIEW_UNREAD;
    if (result)
        return result;
    arrival_drop(view->first);
    view->first = arrival_share(arrival);
    view->header_row = port_value(read.header);
    if (partition_header_read(view->header_row, &view->header))
        return view_damaged(view, "the header");
    for (unsigned family = 0; family < 2; family++) {
        view->rows[family].runs = NULL;
        view_rows_use(&view->rows[family], view->arena,
                      family_key(view->arena, view, (enum record_family)family), read.runs[family]);
    }
    if (!partition_is_locked(&view->header)) {
        view->step = VIEW_READ;
        return STORE_OK;
    }
    view->step = VIEW_FATE;
    return STORE_WAIT;
}

static enum store_result take_fate(struct view *view, const struct arrival *arrival)
{
    switch (fate_told(view->shards, arrival, &view->header.lock, NULL)) {
    case FATE_OPEN:
        view->step = VIEW_READ;
        return STORE_OK;
    case FATE_UNREADABLE:
        return view_end(view, STORE_IO);
    case FATE_ELSEWHERE:
        return STORE_WAIT;
    case FATE_DECIDED:
    case FATE_DEAD:
        break;
    }
    if (!attempt_equal(view->header.lock.transaction, view->resolved))
        view->tries = 0;
    view->resolved = view->header.lock.transaction;
    if (++view->tries > VIEW_TRIES_MAX) {
        log_line(LOG_ERROR, "rados: a partition stays locked by a transaction that has ended");
        return view_end(view, STORE_IO);
    }
    view->step = VIEW_RESOLVING;
    return STORE_WAIT;
}

static enum store_result take_more(struct view *view, const struct port_op *op)
{
    enum store_result result;

    if (op->result)
        return view_end(view, op->result == PORT_ABSENT ? STORE_CONFLICT : STORE_IO);
    result = take_bounds(view, view->bounds_step);
    if (result == STORE_WAIT)
        ask_page(view);
    if (result)
        return result;
    if (!bytes_equal(port_value(view->header_step), view->header_row))
        return view_end(view, STORE_CONFLICT);
    view_rows_add(&view->rows[view->reading], view->arena, view->reading_from, view->at_step,
                  view->run_step);
    return STORE_OK;
}

static enum store_result take(struct view *view, struct arrival *arrival)
{
    if (view->step == VIEW_FIRST)
        return take_first(view, arrival);
    if (view->step == VIEW_FATE)
        return take_fate(view, arrival);
    if (view->step == VIEW_READ)
        return take_more(view, arrival_answer(arrival));
    assert(view->step == VIEW_RESOLVING);
    view->step = VIEW_UNREAD;
    return STORE_WAIT;
}

/* Sends what the step needs. */
static void go_on(struct view *view)
{
    if (view->step == VIEW_UNREAD)
        ask_first(view);
    else if (view->step == VIEW_FATE)
        view->arrival = fate_ask(view->shards, &view->header.lock);
    else if (view->step == VIEW_RESOLVING)
        view->arrival = resolve_start(view->shards, &view->partition);
}

enum store_result view_begin(struct view *view)
{
    if (view->waiting) /* one ahead has none, and is other threads', too: nothing is written to it */
        view->waiting = NULL;
    while (view->step != VIEW_ENDED) {
        struct arrival *arrival;
        enum store_result result;

        if (!view->arrival && view->step == VIEW_READ)
            return STORE_OK;
        if (!view->arrival)
            go_on(view);
        if (!arrival_has_come(view->arrival))
            return STORE_WAIT;
        arrival = take_arrival(view);
        result = take(view, arrival);
        arrival_drop(arrival);
        if (result && result != STORE_WAIT)
            return result;
    }
    return view->ended;
}

/* ---- answering from memory ---- */

enum store_result view_home_get(struct view *view, enum record_family family, struct bytes key,
                                struct bytes *ret_row)
{
    const struct view_run *run;
    uint32_t place;

    if (view->whole)
        return whole_get(view->whole, key, ret_row) ? STORE_OK : STORE_NOT_FOUND;
    run = view_rows_find(&view->rows[family], key);
    if (!run) {
        ask_more(view, family, key, 0);
        return STORE_WAIT;
    }
    place = view_run_place(run, key);
    if (place == run->count || !bytes_equal(run->rows[place].key, key))
        return STORE_NOT_FOUND;
    *ret_row = run->rows[place].value;
    return STORE_OK;
}

enum store_result view_home_row(struct view *view, enum record_family family, struct bytes from,
                                bool is_single, struct arena *arena, struct port_row *ret_row)
{
    if (view->whole)
        return whole_next(view->whole, from, ret_row) &&
                       bytes_has_prefix(ret_row->key, family_key(arena, view, family))
                   ? STORE_OK
                   : STORE_NOT_FOUND;
    for (;;) {
        const struct view_run *run = view_rows_find(&view->rows[family], from);
        uint32_t place;

        if (!run) {
            ask_more(view, family, from, is_single ? 1 : next_page(view));
            return STORE_WAIT;
        }
        place = view_run_place(run, from);
        if (place < run->count) {
            *ret_row = run->rows[place];
            return STORE_OK;
        }
        if (run->is_to_end)
            return STORE_NOT_FOUND;
        from = row_key_behind(arena, run->to);
    }
}

enum store_result view_home_read_all(struct view *view)
{
    enum store_result result = view_begin(view);

    if (result)
        return result == STORE_NOT_FOUND && view->is_gone ? STORE_OK : result;
    for (unsigned family = 0; family < 2 && !view->whole; family++) {
        const struct view_run *run;
        struct bytes from = family_key(view->arena, view, (enum record_family)family);

        while ((run = view_rows_find(&view->rows[family], from)) && !run->is_to_end)
            from = row_key_behind(view->arena, run->to);
        if (!run) {
            if (arena_held(view->arena) > VIEW_ARENA_MAX / 2)
                return STORE_SHORTAGE;
            ask_more(view, (enum record_family)family, from, next_page(view));
            return STORE_WAIT;
        }
    }
    return STORE_OK;
}

/* ---- ahead ---- */

struct view *view_ahead(const struct view *before, const struct view_changes *changes)
{
    struct view *view;
    struct bytes prefixes[2];
    struct whole *start = NULL, *whole = NULL;

    assert(before->step == VIEW_READ && !partition_is_locked(&changes->after));
    if (before->header.has_limbs)
        return NULL; /* not all that is in memory of it is in one map */
    view = view_open(before->shards, &before->partition);
    for (unsigned family = 0; family < 2; family++)
        prefixes[family] = family_key(view->arena, view, (enum record_family)family);
    if (!before->whole)
        start = whole_of_rows(before->rows, prefixes);
    if (before->whole || start)
        whole = whole_after(start ? start : before->whole, prefixes, changes->changes);
    whole_free(start);
    if (!whole) {
        view_close(view);
        return NULL;
    }
    view->step = VIEW_READ;
    view->whole = whole;
    view->header = changes->after;
    view->link = shard_link_hold(changes->link);
    view->sequence = changes->sequence;
    return view;
}

struct shard_link *view_link(const struct view *view)
{
    return view->link;
}

size_t view_bytes(const struct view *view)
{
    return view->whole ? whole_bytes(view->whole) : 0;
}

uint64_t view_sequence(const struct view *view)
{
    return view->sequence;
}

struct arrival *view_arrival(struct view *view)
{
    if (view->waiting)
        return view_arrival(view->waiting);
    assert(view->arrival);
    return view->arrival;
}

bool view_is_gone(const struct view *view)
{
    return view->is_gone;
}

const struct partition_header *view_header(const struct view *view)
{
    assert(view->step == VIEW_READ);
    return &view->header;
}
