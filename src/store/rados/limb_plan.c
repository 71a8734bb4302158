#include "store/rados/limb_plan.h"

#include "store/rados/blocking.h"
#include "store/rados/split_survey.h"

/* Rows of a partition without a limb between them. */
struct gap {
    struct bytes behind; /* the row before the first, in the arena; empty: none */
    uint64_t weight;
    bool is_first, is_last;
};

struct planning {
    struct arena *arena;
    struct gap gap, best;
    uint64_t total;
    uint64_t skip;       /* of the second look: so much is passed over */
    struct bytes behind; /* the last of that */
};

uint64_t limb_row_weight(const struct port_row *row)
{
    return 1 + (row->key.len + row->value.len) / SPLIT_ROW_BYTES;
}

/* Calls `take` with all rows behind a key that begin so, as long as it returns true. False: they cannot be read. */
static bool each_row(struct shards *shards, const char *object, struct bytes after,
                     struct bytes prefix,
                     bool (*take)(struct planning *p, const struct port_row *row),
                     struct planning *p)
{
    bool goes_on = true, is_read = true;

    while (goes_on && is_read) {
        struct port_op *op = arrival_op();
        struct port_step *list = port_list(op, after, prefix, PORT_ROWS_MAX);
        struct arrival *arrival = send_block(shards_port(shards), object, op);

        is_read = op->result == PORT_OK;
        for (uint32_t i = 0; is_read && goes_on && i < list->row_count; i++)
            goes_on = take(p, &list->rows[i]);
        goes_on = goes_on && is_read && list->is_cut;
        if (goes_on)
            after = arena_copy(p->arena, list->rows[list->row_count - 1].key);
        arrival_drop(arrival);
    }
    return is_read;
}

static void end_gap(struct planning *p)
{
    if (p->gap.weight > p->best.weight)
        p->best = p->gap;
}

static bool count_row(struct planning *p, const struct port_row *row)
{
    struct arena_mark mark = arena_mark(p->arena);
    struct row_name name;
    bool is_end = row_key_read(row->key, p->arena, &name) && name.kind == ROW_LIMB;

    arena_rewind(p->arena, mark);
    if (is_end) {
        end_gap(p);
        p->gap = (struct gap){ .behind = arena_copy(p->arena, row->key) };
    } else {
        p->gap.weight += limb_row_weight(row);
        p->total += limb_row_weight(row);
    }
    return true;
}

static bool skip_row(struct planning *p, const struct port_row *row)
{
    uint64_t weight = limb_row_weight(row);

    p->skip -= weight < p->skip ? weight : p->skip;
    if (p->skip == 0)
        p->behind = arena_copy(p->arena, row->key);
    return p->skip > 0;
}

/* Whose rows are in the object? */
static bool find_home(struct shards *shards, const char *object, struct bytes partition_key,
                      struct limb_plan *plan, struct arena *arena)
{
    struct port_op *op = arrival_op();
    struct port_step *row = port_get(op, row_key_home());
    struct arrival *arrival = send_block(shards_port(shards), object, op);
    bool is_read = op->result == PORT_OK;

    plan->is_limb = is_read && row->row_count > 0;
    plan->home.key = partition_key;
    if (plan->is_limb)
        is_read = limb_home_read(arena_copy(arena, port_value(row)), &plan->home);
    else
        is_read = is_read && shard_name_space(object, &plan->home.space);
    arrival_drop(arrival);
    return is_read && bytes_equal(plan->home.key, partition_key);
}

bool limb_plan(struct shards *shards, const char *object, char kind, struct bytes partition_key,
               uint32_t rows, struct arena *arena, struct limb_plan *ret_plan)
{
    struct planning p = { .arena = arena, .gap = { .is_first = true } };
    struct limb_plan plan = { .family = kind == 'L' ? RECORD_LISTED : RECORD_INNER };
    const struct bytes none = { NULL, 0 };

    if (!find_home(shards, object, partition_key, &plan, arena))
        return false;
    plan.home.key = arena_copy(arena, partition_key);
    plan.prefix = row_key_record(arena, plan.family, plan.home.key, none);
    if (!each_row(shards, object, none, plan.prefix, count_row, &p) || p.total <= rows / 2)
        return false;
    p.gap.is_last = true;
    end_gap(&p);
    p.behind = p.best.behind;
    p.skip = p.best.is_first && !plan.is_limb ? p.best.weight / 4 : 0;
    plan.weight = p.best.weight - p.skip;
    if (plan.is_limb)
        plan.weight /= 2;
    else if (p.best.is_last)
        plan.weight -= p.best.weight / 4;
    if (p.skip > 0 && !each_row(shards, object, p.behind, plan.prefix, skip_row, &p))
        return false;
    plan.behind = p.behind;
    *ret_plan = plan;
    return plan.weight > 0;
}
