#include "store/rados/view.h"

#include <assert.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"
#include "store/rados/row_key.h"
#include "store/record_value.h"

/* What is known of a partition stays until the view is closed. */
#define VIEW_ARENA_MAX (64u << 20)

/* A row that was read, or looked for and not there. */
struct known_row {
    struct known_row *next;
    struct bytes key;
    bool is_there;
    struct bytes value;
};

/* The first rows of a family, without a gap. */
struct known_run {
    const struct port_row *rows;
    uint32_t count;
    bool is_cut; /* there are more behind the last */
};

struct view {
    struct port *port;
    struct arena *arena;
    char *object; /* in the arena */
    struct bytes bounds, partition_key;

    bool is_read; /* the first read has been answered: what follows is known */
    struct bytes header_row;
    struct partition_header header;
    struct known_run runs[2]; /* by family */
    struct known_row *rows;
    enum store_result ended; /* the state is gone, or cannot be read */

    /* Of the read under way. Its steps are of the op. */
    struct port_step *header_step, *run_steps[2], *row_step;

    struct lock lock;
    struct port_op *op;    /* under lock: under way, or answered */
    bool is_answered;      /* under lock */
    bool is_closed;        /* under lock: whoever is answered frees it */
    struct waiter *waiter; /* under lock */
};

struct view *view_open(struct port *port, const char *object, struct bytes bounds,
                       struct bytes partition_key)
{
    struct arena *arena = arena_new(VIEW_ARENA_MAX);
    struct view *view = xcalloc(1, sizeof *view);

    view->port = port;
    view->arena = arena;
    view->object = arena_string(arena, bytes_from_string(object));
    view->bounds = arena_copy(arena, bounds);
    view->partition_key = arena_copy(arena, partition_key);
    lock_init(&view->lock, RANK_SYNCER);
    return view;
}

static void view_free(struct view *view)
{
    if (view->op)
        port_op_free(view->op);
    lock_release(&view->lock);
    arena_free(view->arena);
    free(view);
}

void view_close(struct view *view)
{
    bool is_under_way;

    lock_take(&view->lock);
    assert(!view->waiter);
    is_under_way = view->op && !view->is_answered;
    view->is_closed = true;
    lock_give(&view->lock);
    if (!is_under_way)
        view_free(view);
}

/* ---- reading ---- */

static void read_done(struct port_op *op)
{
    struct view *view = op->context;
    struct waiter *waiter;
    bool is_closed;

    lock_take(&view->lock);
    view->is_answered = true;
    is_closed = view->is_closed;
    waiter = view->waiter;
    view->waiter = NULL;
    lock_give(&view->lock);
    if (is_closed)
        view_free(view);
    else if (waiter)
        waiter->wake(waiter);
}

static void send(struct view *view, struct port_op *op)
{
    lock_take(&view->lock);
    assert(!view->op);
    view->op = op;
    view->is_answered = false;
    lock_give(&view->lock);
    port_send(view->port, view->object, op);
}

static void send_first_read(struct view *view)
{
    struct port_op *op = port_op_new(read_done, view);
    struct bytes none = { NULL, 0 };
    struct bytes listed = row_key_record(op->arena, RECORD_LISTED, view->partition_key, none);
    struct bytes inner = row_key_record(op->arena, RECORD_INNER, view->partition_key, none);

    port_compare(op, row_key_bounds(), view->bounds);
    view->header_step = port_get(op, row_key_header(op->arena, view->partition_key));
    view->run_steps[RECORD_LISTED] = port_list(op, none, listed, VIEW_LISTED_ROWS);
    view->run_steps[RECORD_INNER] = port_list(op, none, inner, VIEW_INNER_ROWS);
    send(view, op);
}

static void send_row_read(struct view *view, struct bytes row_key)
{
    struct port_op *op = port_op_new(read_done, view);

    port_compare(op, row_key_bounds(), view->bounds);
    port_compare(op, row_key_header(op->arena, view->partition_key), view->header_row);
    view->row_step = port_get(op, row_key);
    send(view, op);
}

/* ---- the answer ---- */

static void take_run(struct view *view, enum record_family family)
{
    const struct port_step *step = view->run_steps[family];
    struct port_row *rows = arena_array(view->arena, step->row_count, sizeof rows[0]);

    for (uint32_t i = 0; i < step->row_count; i++)
        rows[i] = (struct port_row){ arena_copy(view->arena, step->rows[i].key),
                                     arena_copy(view->arena, step->rows[i].value) };
    view->runs[family] = (struct known_run){ rows, step->row_count, step->is_cut };
}

static enum store_result take_first_read(struct view *view)
{
    if (view->header_step->row_count > 0)
        view->header_row = arena_copy(view->arena, view->header_step->rows[0].value);
    if (partition_header_read(view->header_row, &view->header)) {
        log_line(LOG_ERROR, "shard %s: a header cannot be read", view->object);
        return STORE_CORRUPT;
    }
    take_run(view, RECORD_LISTED);
    take_run(view, RECORD_INNER);
    view->is_read = true;
    return STORE_OK;
}

static enum store_result take_row(struct view *view)
{
    const struct port_step *step = view->row_step;
    struct known_row *row = arena_alloc(view->arena, sizeof *row);

    row->key = arena_copy(view->arena, step->key);
    row->is_there = step->row_count > 0;
    if (row->is_there)
        row->value = arena_copy(view->arena, step->rows[0].value);
    row->next = view->rows;
    view->rows = row;
    return STORE_OK;
}

/* Takes in what was answered, if anything. returns as view_get(), STORE_WAIT while it is under way */
static enum store_result take_answer(struct view *view)
{
    struct port_op *op;
    bool is_under_way;

    lock_take(&view->lock);
    is_under_way = view->op && !view->is_answered;
    op = is_under_way ? NULL : view->op;
    if (op)
        view->op = NULL;
    lock_give(&view->lock);
    if (is_under_way)
        return STORE_WAIT;
    if (!op)
        return view->ended;
    if (op->result == PORT_OK)
        view->ended = view->is_read ? take_row(view) : take_first_read(view);
    else
        view->ended = op->result == PORT_REFUSED  ? STORE_CONFLICT
                      : op->result == PORT_ABSENT ? STORE_NOT_FOUND
                                                  : STORE_IO;
    port_op_free(op);
    return view->ended;
}

/* ---- answering from memory ---- */

/* Whether it is known if the row is there; the rest is set if it is. */
static bool is_known(const struct view *view, enum record_family family, struct bytes row_key,
                     bool *ret_is_there, struct bytes *ret_value)
{
    const struct known_run *run = &view->runs[family];
    uint32_t low = 0, high = run->count;

    *ret_is_there = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = bytes_compare(run->rows[middle].key, row_key);

        if (order == 0) {
            *ret_is_there = true;
            *ret_value = run->rows[middle].value;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < run->count || !run->is_cut)
        return true;
    for (const struct known_row *row = view->rows; row; row = row->next)
        if (bytes_equal(row->key, row_key)) {
            *ret_is_there = row->is_there;
            *ret_value = row->value;
            return true;
        }
    return false;
}

enum store_result view_get(struct view *view, enum record_family family, struct bytes key,
                           struct arena *arena, struct record *ret_record)
{
    enum store_result result = take_answer(view);
    struct bytes row_key, value;
    bool is_there;

    if (result)
        return result;
    if (!view->is_read) {
        send_first_read(view);
        return STORE_WAIT;
    }
    row_key = row_key_record(arena, family, view->partition_key, key);
    if (!is_known(view, family, row_key, &is_there, &value)) {
        send_row_read(view, row_key);
        return STORE_WAIT;
    }
    if (!is_there)
        return STORE_NOT_FOUND;
    result = record_value_read(value, arena, ret_record);
    if (result)
        log_line(LOG_ERROR, "shard %s: a record cannot be read", view->object);
    return result;
}

void view_wait(struct view *view, struct waiter *waiter)
{
    bool is_answered;

    lock_take(&view->lock);
    assert(view->op && !view->waiter);
    is_answered = view->is_answered;
    if (!is_answered)
        view->waiter = waiter;
    lock_give(&view->lock);
    if (is_answered)
        waiter->wake(waiter);
}

const struct partition_header *view_header(const struct view *view)
{
    assert(view->is_read);
    return &view->header;
}
