#include "store/rados/limb_cut.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sleeper.h"
#include "store/rados/blocking.h"
#include "store/rados/limb_plan.h"
#include "store/rados/task_row.h"
#include "store/rados/transaction.h"
#include "store/space.h"

#define CUT_ARENA_MAX (64u << 20)
/* A partition that goes from shard to shard so often is left for later. */
#define PLACES_MAX    16u

static const struct bytes none;

/* One run of limbs_cut(). */
struct cutting {
    struct shards *shards;
    const char *object; /* whose rows go */
    uint64_t limb_max;  /* weight of a limb that is made */
    struct arena *arena;
    struct limb_plan plan;

    /* The limb that is being filled. */
    struct guid limb;
    uint64_t filled;
    struct bytes end; /* the row at home where it ends; empty: it is not there yet */
    uint32_t at_once;
};

/* What one commit of it sees. */
struct seen {
    struct cutting *c;
    struct arena *arena;
    instant now;
    struct partition_header home, limb, source;
    struct limb_row filled;     /* as listed */
    struct bytes source_end;    /* the row where the source ends, if that is a limb */
    struct limb_row source_row; /* what it says */
    struct port_row *rows;      /* that may go */
    uint32_t count;
    struct bytes next; /* the record behind those that go, of a limb */
};

/* STORE_OK; STORE_BUSY: to be tried again; others: to be given up. */

static enum store_result get_out_of_way(struct shards *shards, const struct partition *partition)
{
    struct arrival *resolved = resolve_start(shards, partition);

    arrival_block(resolved);
    arrival_drop(resolved);
    return STORE_BUSY;
}

static enum store_result take_header(struct shards *shards, const struct partition *partition,
                                     struct bytes row, struct partition_header *ret_header)
{
    if (partition_header_read(row, ret_header))
        return STORE_CORRUPT;
    return partition_is_locked(ret_header) ? get_out_of_way(shards, partition) : STORE_OK;
}

static struct port_row *copy_rows(struct arena *arena, const struct port_step *list)
{
    struct port_row *rows = arena_array(arena, list->row_count, sizeof rows[0]);

    for (uint32_t i = 0; i < list->row_count; i++)
        rows[i] = (struct port_row){ arena_copy(arena, list->rows[i].key),
                                     arena_copy(arena, list->rows[i].value) };
    return rows;
}

/* ---- reading ---- */

/* The header of a partition, a row beside it, and some behind a key, in one state. returns also STORE_NOT_FOUND */
struct home_read {
    struct bytes row_key, after, prefix;
    uint32_t max;
    struct partition_header header;
    struct bytes row;
    struct port_row *rows;
    uint32_t count;
};

static enum store_result take_home(struct shards *shards, const struct partition *home,
                                   const struct port_op *op, struct arena *arena,
                                   struct home_read *read)
{
    const struct port_step *bounds_row = op->first, *header = bounds_row->next, *row = header->next,
                           *list = row->next;
    struct shard_bounds bounds;
    enum store_result result;

    if (op->result || shard_bounds_read(port_value(bounds_row), &bounds) ||
        bounds.state == SHARD_SEALED)
        return op->result ? STORE_IO : STORE_NOT_FOUND;
    result = shards_arrive(shards, home, &bounds);
    if (!result)
        result = take_header(shards, home, port_value(header), &read->header);
    read->row = arena_copy(arena, port_value(row));
    read->rows = copy_rows(arena, list);
    read->count = list->row_count;
    return result;
}

static enum store_result read_home(struct shards *shards, const struct partition *home,
                                   struct arena *arena, struct home_read *read)
{
    enum store_result result = STORE_CONFLICT;

    for (unsigned tries = 0; tries < PLACES_MAX && result == STORE_CONFLICT; tries++) {
        struct port_op *op = arrival_op();
        char object[SHARD_NAME_SIZE];
        struct arrival *arrival;

        (void)port_get(op, row_key_bounds());
        (void)port_get(op, row_key_header(op->arena, home->key));
        (void)port_get(op, read->row_key.len > 0 ? read->row_key : row_key_home());
        (void)port_list(op, read->after, read->prefix, read->max);
        shards_place(shards, home, object);
        arrival = send_block(shards_port(shards), object, op);
        result = take_home(shards, home, op, arena, read);
        arrival_drop(arrival);
    }
    return result == STORE_CONFLICT ? STORE_IO : result;
}

static struct partition limb_of(const struct cutting *c)
{
    return (struct partition){ c->limb, c->plan.home.key };
}

/* The limb's header is the one that is listed. */
static enum store_result read_filled(struct seen *s, struct bytes listed)
{
    struct cutting *c = s->c;
    const struct partition limb = limb_of(c);
    struct home_read read = { .prefix = bytes_of("L", 1), .max = 1 };
    enum store_result result;

    s->limb = (struct partition_header){ .version = 0 };
    if (c->end.len == 0)
        return STORE_OK;
    if (!limb_row_read(listed, &s->filled) || !guid_equal(&s->filled.space, &c->limb))
        return STORE_NOT_FOUND; /* another has cut it */
    result = read_home(c->shards, &limb, s->arena, &read);
    s->limb = read.header;
    if (result)
        return result;
    return s->limb.version == s->filled.version ? STORE_OK : STORE_BUSY;
}

static enum store_result read_from_home(struct seen *s)
{
    struct cutting *c = s->c;
    struct home_read read = { .row_key = c->end,
                              .after = c->end.len > 0 ? c->end : c->plan.behind,
                              .prefix = c->plan.prefix,
                              .max = c->at_once };
    enum store_result result = read_home(c->shards, &c->plan.home, s->arena, &read);

    s->home = read.header;
    s->rows = read.rows;
    s->count = read.count;
    return result ? result : read_filled(s, read.row);
}

/* Of a limb: its first rows, and where it ends at home. One of them stays. */
static enum store_result read_from_limb(struct seen *s)
{
    struct cutting *c = s->c;
    struct partition source = { .key = c->plan.home.key };
    struct home_read from = { .prefix = c->plan.prefix, .max = c->at_once + 1 };
    struct home_read read = { .row_key = c->end, .prefix = c->plan.prefix, .max = 1 };
    struct row_name name;
    enum store_result result = shard_name_space(c->object, &source.space)
                                   ? read_home(c->shards, &source, s->arena, &from)
                                   : STORE_CORRUPT;

    if (result || from.count < 2)
        return result ? result : STORE_NOT_FOUND;
    s->source = from.header;
    s->rows = from.rows;
    s->count = from.count - 1;
    read.after = from.rows[0].key;
    result = read_home(c->shards, &c->plan.home, s->arena, &read);
    s->home = read.header;
    if (result)
        return result;
    if (read.count == 0 || !row_key_read(read.rows[0].key, s->arena, &name) ||
        name.kind != ROW_LIMB || !limb_row_read(read.rows[0].value, &s->source_row) ||
        !guid_equal(&s->source_row.space, &source.space))
        return STORE_NOT_FOUND; /* it is not listed, or cut by another */
    s->source_end = read.rows[0].key;
    if (s->source_row.version != s->source.version)
        return STORE_BUSY;
    return read_filled(s, read.row);
}

/* How many of the rows go in one commit: they stop at a limb. *ret_weight: of them. */
static uint32_t count_rows(const struct seen *s, uint64_t *ret_weight)
{
    const struct cutting *c = s->c;
    uint64_t room = c->limb_max > c->filled ? c->limb_max - c->filled : 1;
    uint64_t most = room < c->plan.weight ? room : c->plan.weight, bytes = 0;
    struct row_name name;
    uint32_t count = 0;

    *ret_weight = 0;
    while (count < s->count && *ret_weight < most && bytes < LIMB_CUT_BYTES) {
        const struct port_row *row = &s->rows[count];

        if (!row_key_read(row->key, s->arena, &name) || name.kind == ROW_LIMB)
            break;
        *ret_weight += limb_row_weight(row);
        bytes += row->key.len + row->value.len;
        count++;
    }
    return count;
}

/* ---- the commit ---- */

struct blocking_commit {
    struct transaction_owner owner; /* first */
    struct waiter *waiter;
    enum store_result result;
};

static void decided(struct transaction_owner *owner, enum store_result result)
{
    ((struct blocking_commit *)(void *)owner)->result = result;
}

static void ended(struct transaction_owner *owner)
{
    struct waiter *waiter = ((struct blocking_commit *)(void *)owner)->waiter;

    waiter->wake(waiter);
}

static enum store_result run_transaction(struct blocking_commit *commit, struct transaction *t)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    commit->waiter = sleeper_arm(&sleeper);
    transaction_start(t);
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    return commit->result;
}

static struct bytes record_of(const struct port_row *row, struct arena *arena)
{
    struct row_name name = { .record_key = none };

    (void)row_key_read(row->key, arena, &name);
    return name.record_key;
}

/* Takes rows out of where they are: the source's list says where it begins from now on. */
static void remove_rows(struct seen *s, struct transaction *t, struct part_work *home,
                        uint32_t count)
{
    struct partition source = { .key = s->c->plan.home.key };
    struct part_work *from = home;

    if (s->c->plan.is_limb) {
        const struct limb_row after = { s->source_row.space,
                                        partition_version_after(&s->source, s->now),
                                        record_of(&s->rows[count], s->arena) };

        source.space = s->source_row.space;
        from = transaction_add_limb(t, &source, &s->source);
        part_work_set(home, s->arena, s->source_end, limb_row_write(s->arena, &after));
    }
    for (uint32_t i = 0; i < count; i++)
        part_work_remove(from, s->arena, s->rows[i].key);
}

static void add_rows(struct seen *s, struct transaction *t, uint32_t count)
{
    const struct cutting *c = s->c;
    const struct partition limb = limb_of(c);
    struct part_work *to = transaction_add_limb(t, &limb, &s->limb);

    if (s->limb.version == 0)
        part_work_set(to, s->arena, row_key_home(), limb_home_write(s->arena, &c->plan.home));
    for (uint32_t i = 0; i < count; i++)
        part_work_set(to, s->arena, s->rows[i].key, s->rows[i].value);
}

static enum store_result commit_rows(struct seen *s, uint32_t count, struct bytes *ret_end)
{
    const struct cutting *c = s->c;
    struct blocking_commit commit = { .owner = { decided, ended } };
    struct transaction *t = transaction_new(c->shards, s->arena, s->now, &commit.owner);
    struct part_work *home = transaction_add(t, &c->plan.home, &s->home, false);
    struct limb_row after = { c->limb, partition_version_after(&s->limb, s->now), s->filled.lo };

    if (c->end.len > 0)
        part_work_remove(home, s->arena, c->end);
    else
        after.lo = c->plan.is_limb ? s->source_row.lo : record_of(&s->rows[0], s->arena);
    remove_rows(s, t, home, count);
    add_rows(s, t, count);
    *ret_end = row_key_limb(s->arena, c->plan.family, c->plan.home.key,
                            record_of(&s->rows[count - 1], s->arena));
    part_work_set(home, s->arena, *ret_end, limb_row_write(s->arena, &after));
    transaction_gets_limbs(t);
    return run_transaction(&commit, t);
}

static enum store_result cut_some(struct cutting *c, struct arena *arena)
{
    struct seen s = { .c = c, .arena = arena, .now = clock_now() };
    enum store_result result = c->plan.is_limb ? read_from_limb(&s) : read_from_home(&s);
    uint64_t weight;
    uint32_t count;
    struct bytes end;

    if (result)
        return result;
    count = count_rows(&s, &weight);
    if (count == 0)
        return STORE_NOT_FOUND;
    result = commit_rows(&s, count, &end);
    if (result == STORE_CONFLICT)
        return STORE_BUSY;
    if (result)
        return result;
    c->end = arena_copy(c->arena, end);
    c->filled += weight;
    c->plan.weight -= weight < c->plan.weight ? weight : c->plan.weight;
    return STORE_OK;
}

static void next_limb(struct cutting *c)
{
    c->limb = space_new();
    c->filled = 0;
    if (c->end.len > 0)
        c->plan.behind = c->end;
    c->end = none;
}

static void pause_block(struct port *port, unsigned ms)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    port_pause(port, ms, sleeper_arm(&sleeper));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

/* True: some rows have gone. */
static bool cut_planned(struct cutting *c)
{
    enum store_result result = STORE_OK;
    unsigned refused = 0;
    bool has_cut = false;

    next_limb(c);
    c->at_once = LIMB_CUT_ROWS;
    while (c->plan.weight > 0 && refused < LIMB_TRIES_MAX && !shards_are_closing(c->shards)) {
        struct arena *arena = arena_new(CUT_ARENA_MAX);

        result = cut_some(c, arena);
        arena_free(arena);
        if (result && result != STORE_BUSY)
            break;
        refused = result ? refused + 1 : 0;
        has_cut = has_cut || !result;
        c->at_once = result ? (c->at_once + 1) / 2 : LIMB_CUT_ROWS;
        if (result)
            pause_block(shards_port(c->shards), LIMB_PAUSE_MS);
        else if (c->filled >= c->limb_max)
            next_limb(c);
    }
    log_line(has_cut ? LOG_INFO : LOG_DEBUG, "shard %s: rows of a large partition go to limbs: %s",
             c->object, result == STORE_BUSY ? "others were faster" : store_result_text(result));
    return has_cut;
}

bool limbs_cut(struct shards *shards, const char *object, char kind, struct bytes partition_key,
               uint32_t rows)
{
    bool has_cut = false, goes_on = true;

    while (goes_on && !shards_are_closing(shards)) {
        struct cutting c = { .shards = shards,
                             .object = object,
                             .arena = arena_new(CUT_ARENA_MAX) };

        c.limb_max = rows / 2 > 0 ? rows / 2 : 1;
        goes_on = limb_plan(shards, object, kind, partition_key, rows, c.arena, &c.plan) &&
                  cut_planned(&c);
        has_cut = has_cut || goes_on;
        arena_free(c.arena);
    }
    return has_cut;
}

/* ---- empty ones ---- */

/* The home as it lists an empty limb so still. returns STORE_OK; others: it is to stay */
static enum store_result see_empty(struct shards *shards, const struct partition *home,
                                   const struct port_row *end, struct arena *arena,
                                   struct home_read *ret_home, struct guid *ret_limb)
{
    struct home_read read = { .max = 1 };
    struct partition limb = { .key = home->key };
    struct limb_row listed;
    struct row_name name;
    enum store_result result;

    if (!row_key_read(end->key, arena, &name) || !limb_row_read(end->value, &listed))
        return STORE_CORRUPT;
    limb.space = *ret_limb = listed.space;
    read.prefix = row_key_record(arena, name.family, home->key, none);
    result = read_home(shards, &limb, arena, &read);
    if (!result && read.count > 0)
        result = STORE_BUSY;
    *ret_home = (struct home_read){ .row_key = end->key, .prefix = read.prefix, .max = 1 };
    if (!result)
        result = read_home(shards, home, arena, ret_home);
    if (!result &&
        (!limb_row_read(ret_home->row, &listed) || !guid_equal(&listed.space, &limb.space) ||
         listed.version != read.header.version))
        result = STORE_CONFLICT;
    return result;
}

static void unlist(struct shards *shards, const struct partition *home,
                   const struct home_read *seen, const struct guid *limb, struct arena *arena)
{
    const struct task_row task = { .kind = TASK_DROP,
                                   .payload = bytes_of(limb->b, sizeof limb->b),
                                   .partition_key = home->key };
    const instant now = clock_now();
    struct blocking_commit commit = { .owner = { decided, ended } };
    struct transaction *t = transaction_new(shards, arena, now, &commit.owner);
    struct part_work *work = transaction_add(t, home, &seen->header, false);
    struct guid id = guid_new();

    transaction_gets_limbs(t); /* it may have others */
    part_work_remove(work, arena, seen->row_key);
    part_work_task(work, arena, now, &id, task_row_write(arena, &task));
    (void)run_transaction(&commit, t);
}

void limb_forget_empty(struct shards *shards, const char *object, const struct port_row *row)
{
    struct arena *arena = arena_new(CUT_ARENA_MAX);
    struct partition home;
    struct home_read seen;
    struct row_name name;
    struct guid limb;

    if (shard_name_space(object, &home.space) && row_key_read(row->key, arena, &name)) {
        home.key = name.partition_key;
        if (!see_empty(shards, &home, row, arena, &seen, &limb))
            unlist(shards, &home, &seen, &limb, arena);
    }
    arena_free(arena);
}
