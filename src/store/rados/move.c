#include "store/rados/move.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/hints.h"
#include "store/rados/task_row.h"

/* Of what is kept of one attempt: keys of rows that are to be removed. */
#define MOVE_ARENA_MAX (256u << 20)

/* In this order; the last two are not in the order of their partitions, and are read as a whole. */
static const char kinds[] = { 'F', 'L', 'P', 'I', 'T' };
#define KINDS           (sizeof kinds)
#define FIRST_SCATTERED 3

struct gone {
    struct gone *next;
    struct bytes key;
};

struct move {
    struct waiter waiter; /* first */
    struct shards *shards;
    struct arrival *outcome;
    struct guid space;
    char from_object[SHARD_NAME_SIZE], to_object[SHARD_NAME_SIZE];
    unsigned lane;
    struct arrival *read; /* of what is under way */

    /* Of one attempt: */
    struct arrival *filling; /* rows that are on their way while the next are read; NULL: none */
    struct arena *arena;
    struct bytes from_row, to_row, looked_row;
    struct shard_bounds from, to;
    instant looked; /* up to when tasks of the other shard have been looked for */
    bool is_filled;
    size_t kind;
    struct bytes after; /* the row that was read last */
    const struct port_step *bounds_step, *looked_step, *list_step;
    struct port_op *fill, *hints; /* that are to be sent; NULL: none */
    uint32_t fill_rows;
    struct gone *gone;
};

static void begin(struct move *m);
static void read_page(struct move *m);

static void await(struct move *m, struct arrival *arrival, void (*then)(struct waiter *waiter))
{
    arrival_await(&m->read, arrival, &m->waiter, then);
}

static void send(struct move *m, const char *object, struct port_op *op,
                 void (*then)(struct waiter *waiter))
{
    await(m, arrival_send(shards_port(m->shards), object, op), then);
}

static void forget_attempt(struct move *m)
{
    arrival_drop(m->filling);
    m->filling = NULL;
    if (m->fill)
        port_op_free(m->fill);
    if (m->hints)
        port_op_free(m->hints);
    m->fill = m->hints = NULL;
    m->gone = NULL;
    arena_free(m->arena);
    m->arena = NULL;
}

static void end(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;
    struct arrival *outcome = m->outcome;
    struct shards *shards = m->shards;

    arrival_drop(m->read);
    forget_attempt(m);
    free(m);
    shards_leave(shards);
    arrival_tell(outcome);
}

static void fail(struct move *m, const char *what, const char *why)
{
    log_line(LOG_ERROR, "shard %s: a move of partitions: %s: %s", m->from_object, what, why);
    m->waiter.wake = end;
    port_pause(shards_port(m->shards), MOVE_PAUSE_MS, &m->waiter);
}

/* Of an op that changes something. True: go on. Refused: another was faster, or it was itself, and its first answer lost. */
static bool is_done(struct move *m, const char *what)
{
    enum port_result result = arrival_answer(m->read)->result;

    if (result == PORT_REFUSED || result == PORT_EXISTS)
        begin(m);
    else if (result)
        fail(m, what, port_result_text(result));
    return result == PORT_OK;
}

/* ---- handing over ---- */

static void handed_over(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;

    if (is_done(m, "the end"))
        end(waiter);
}

static void hand_over(struct move *m)
{
    struct port_op *op = arrival_op();
    struct shard_bounds after = m->from;

    after.is_moving = false;
    after.epoch++;
    after.next = m->from.move_to;
    after.hi = m->from.move_from;
    after.move_to = 0;
    after.move_from = (struct bytes){ NULL, 0 };
    port_compare(op, row_key_bounds(), m->from_row);
    port_set(op, row_key_bounds(), shard_bounds_write(op->arena, &after));
    port_remove_range(op, row_key_begin(op->arena, 'L', m->from.move_from), bytes_of("M", 1));
    port_remove_range(op, row_key_begin(op->arena, 'P', m->from.move_from), bytes_of("Q", 1));
    for (const struct gone *gone = m->gone; gone; gone = gone->next)
        port_remove(op, gone->key);
    send(m, m->from_object, op, handed_over);
}

/* ---- filling ---- */

static struct port_op *fill_op(struct move *m)
{
    if (!m->fill) {
        m->fill = arrival_op();
        m->fill_rows = 0;
        port_compare(m->fill, row_key_bounds(), m->to_row);
        port_compare(m->fill, row_key_looked(), m->looked_row);
    }
    return m->fill;
}

static void add_row(struct move *m, struct bytes key, struct bytes value)
{
    if (m->is_filled)
        return;
    port_set(fill_op(m), key, value);
    m->fill_rows++;
}

static void filled(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;

    if (is_done(m, "rows"))
        hand_over(m);
}

static void send_fill(struct move *m);

static void filled_before(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;

    if (is_done(m, "rows"))
        send_fill(m);
}

/* While rows are written the next are read. The last, with which the bounds change, are sent when all others are there. */
static void send_fill(struct move *m)
{
    struct arrival *before = m->filling;
    struct port_op *fill = m->fill;

    m->filling = NULL;
    if (before) {
        await(m, before, filled_before);
        return;
    }
    m->fill = NULL;
    if (m->kind == KINDS) {
        send(m, m->to_object, fill, filled);
        return;
    }
    m->filling = arrival_send(shards_port(m->shards), m->to_object, fill);
    read_page(m);
}

static void hinted(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;

    if (is_done(m, "hints of tasks"))
        send_fill(m);
}

/* What there is so far, with the hints of tasks before it. */
static void write_rows(struct move *m)
{
    struct port_op *hints = m->hints;
    char todo[TODO_NAME_SIZE];

    if (!hints) {
        send_fill(m);
        return;
    }
    m->hints = NULL;
    todo_name(todo_of_shard(m->to_object), todo);
    send(m, todo, hints, hinted);
}

/* With the last rows the bounds begin with them. */
static void fill_or_hand_over(struct move *m)
{
    struct shard_bounds after = m->to;
    struct port_op *op;

    if (m->is_filled) {
        hand_over(m);
        return;
    }
    after.is_empty = false;
    after.epoch++;
    after.lo = m->from.move_from;
    op = fill_op(m); /* perhaps the first of it: there was nothing to move */
    port_set(op, row_key_bounds(), shard_bounds_write(op->arena, &after));
    write_rows(m);
}

/* ---- reading ---- */

static void remove_later(struct move *m, struct bytes key)
{
    struct gone *gone = arena_alloc(m->arena, sizeof *gone);

    *gone = (struct gone){ m->gone, arena_copy(m->arena, key) };
    m->gone = gone;
}

static void take_task(struct move *m, const struct row_name *name, struct bytes value)
{
    instant due = shard_due(name->due, m->looked);

    if (m->is_filled)
        return;
    if (!m->hints)
        m->hints = arrival_op();
    port_set(m->hints, todo_key(m->hints->arena, due / SHARD_MINUTE, m->to_object),
             bytes_from_string("1"));
    add_row(m, row_key_task(m->arena, due, &name->id), value);
}

/* Of a row of an index, or a task: is it one of a partition that is moved? */
static void take_scattered(struct move *m, const struct port_row *row)
{
    struct row_name name;
    struct task_row task;
    struct bytes value;

    if (!row_key_read(row->key, m->arena, &name) ||
        (name.kind == ROW_TASK &&
         (!row_value_read(row->value, &value) || !task_row_read(value, &task)))) {
        log_line(LOG_ERROR, "shard %s: a damaged row stays where it is", m->from_object);
        return;
    }
    if (!shard_bounds_is_moving(&m->from,
                                name.kind == ROW_TASK ? task.partition_key : name.partition_key))
        return;
    if (name.kind == ROW_TASK)
        take_task(m, &name, row->value);
    else
        add_row(m, row->key, row->value);
    remove_later(m, row->key);
}

static void take_rows(struct move *m)
{
    for (uint32_t i = 0; i < m->list_step->row_count; i++) {
        const struct port_row *row = &m->list_step->rows[i];

        if (kinds[m->kind] == 'I' || kinds[m->kind] == 'T')
            take_scattered(m, row);
        else
            add_row(m, row->key, row->value);
        if (i + 1 == m->list_step->row_count)
            m->after = arena_copy(m->arena, row->key);
    }
}

static void page_read(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;
    enum port_result result = arrival_answer(m->read)->result;

    if (result) {
        fail(m, "its rows", port_result_text(result));
        return;
    }
    if (!bytes_equal(port_value(m->bounds_step), m->from_row)) {
        begin(m);
        return;
    }
    take_rows(m);
    if (!m->list_step->is_cut) {
        m->kind++;
        m->after = (struct bytes){ NULL, 0 };
    }
    if (m->kind == KINDS)
        fill_or_hand_over(m);
    else if (m->fill && (m->fill_rows >= MOVE_OP_ROWS || m->fill->bytes >= MOVE_OP_BYTES))
        write_rows(m);
    else
        read_page(m);
}

static void read_page(struct move *m)
{
    struct port_op *op = arrival_op();
    char kind = kinds[m->kind];

    if (m->after.len == 0 && (kind == 'L' || kind == 'P'))
        m->after = row_key_before(m->arena, kind, m->from.move_from);
    m->bounds_step = port_get(op, row_key_bounds());
    m->list_step = port_list(op, m->after, bytes_of(&kind, 1), PORT_ROWS_MAX);
    send(m, m->from_object, op, page_read);
}

/* ---- both shards ---- */

static void look_at_other(struct move *m);

static void made(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;
    enum port_result result = arrival_answer(m->read)->result;

    if (result && result != PORT_EXISTS)
        fail(m, "the other shard", port_result_text(result));
    else
        look_at_other(m);
}

static void make_other(struct move *m)
{
    const struct shard_bounds empty = { .state = SHARD_LIVE,
                                        .is_empty = true,
                                        .epoch = 1,
                                        .next = m->from.next,
                                        .incarnation_floor = m->from.incarnation_floor,
                                        .lo = m->from.hi,
                                        .hi = m->from.hi };
    struct port_op *op = arrival_op();

    port_create(op, true);
    port_set(op, row_key_bounds(), shard_bounds_write(op->arena, &empty));
    send(m, m->to_object, op, made);
}

static void other_read(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;
    enum port_result result = arrival_answer(m->read)->result;
    uint64_t looked = 0;

    if (result == PORT_ABSENT && m->from.state == SHARD_LIVE) {
        make_other(m);
        return;
    }
    if (result) {
        fail(m, "the other shard", port_result_text(result));
        return;
    }
    m->to_row = arena_copy(m->arena, port_value(m->bounds_step));
    m->looked_row = arena_copy(m->arena, port_value(m->looked_step));
    if (shard_bounds_read(m->to_row, &m->to) ||
        (m->looked_row.len > 0 && !row_number_read(m->looked_row, &looked))) {
        fail(m, "the other shard", "it cannot be read");
        return;
    }
    m->looked = looked;
    m->is_filled = shard_bounds_are_filled(&m->from, &m->to);
    if ((m->from.state == SHARD_SEALED || m->to.state == SHARD_SEALED) &&
        !(m->is_filled && m->to.state == m->from.state)) { /* seal.h */
        end(waiter);
        return;
    }
    if (m->is_filled)
        m->kind = FIRST_SCATTERED; /* the others are removed by their range */
    read_page(m);
}

static void look_at_other(struct move *m)
{
    struct port_op *op = arrival_op();

    m->bounds_step = port_get(op, row_key_bounds());
    m->looked_step = port_get(op, row_key_looked());
    send(m, m->to_object, op, other_read);
}

static void from_read(struct waiter *waiter)
{
    struct move *m = (struct move *)(void *)waiter;
    enum port_result result = arrival_answer(m->read)->result;

    if (result == PORT_ABSENT) {
        end(waiter);
        return;
    }
    if (result) {
        fail(m, "its bounds", port_result_text(result));
        return;
    }
    m->from_row = arena_copy(m->arena, port_value(m->bounds_step));
    if (shard_bounds_read(m->from_row, &m->from)) {
        fail(m, "its bounds", "they cannot be read");
        return;
    }
    if (!m->from.is_moving) {
        end(waiter);
        return;
    }
    shard_name(&m->space, m->lane, m->from.move_to, m->to_object);
    look_at_other(m);
}

static void begin(struct move *m)
{
    struct port_op *op = arrival_op();

    forget_attempt(m);
    m->arena = arena_new(MOVE_ARENA_MAX);
    m->kind = 0;
    m->after = (struct bytes){ NULL, 0 };
    m->bounds_step = port_get(op, row_key_bounds());
    send(m, m->from_object, op, from_read);
}

struct arrival *move_start(struct shards *shards, const char *object)
{
    struct move *m = xcalloc(1, sizeof *m);
    struct arrival *outcome = arrival_new();
    uint64_t number;
    bool is_shard = shard_name_read(object, &m->space, &m->lane, &number);

    assert(is_shard);
    (void)is_shard;
    shards_enter(shards);
    m->shards = shards;
    m->outcome = outcome;
    memcpy(m->from_object, object, SHARD_NAME_SIZE);
    begin(m);
    return outcome;
}
