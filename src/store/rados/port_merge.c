#include "store/rados/port_merge.h"

#include <stdlib.h>

struct numbered {
    const struct port_step *step;
    size_t number;
};

static bool is_change(const struct port_step *step)
{
    return step->verb == PORT_SET || step->verb == PORT_REMOVE;
}

static int compare(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    int order = bytes_compare(x->step->key, y->step->key);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static struct port_rows rows_new(struct arena *arena, size_t count)
{
    return (struct port_rows){
        .keys = arena_array(arena, count, sizeof(char *)),
        .values = arena_array(arena, count, sizeof(char *)),
        .key_sizes = arena_array(arena, count, sizeof(size_t)),
        .value_sizes = arena_array(arena, count, sizeof(size_t)),
    };
}

static void add(struct port_rows *rows, const struct port_step *step)
{
    rows->keys[rows->count] = step->key.ptr;
    rows->values[rows->count] = step->value.ptr;
    rows->key_sizes[rows->count] = step->key.len;
    rows->value_sizes[rows->count++] = step->value.len;
}

bool port_merge(struct port_op *op, struct port_merged *ret_merged)
{
    size_t count = 0, at = 0;
    struct numbered *all;

    if (op->first->verb != PORT_COMPARE)
        return false;
    for (const struct port_step *step = op->first; step; step = step->next) {
        if (!is_change(step) && step->verb != PORT_COMPARE)
            return false;
        count += is_change(step);
    }
    all = arena_array(op->arena, count, sizeof all[0]);
    for (const struct port_step *step = op->first; step; step = step->next)
        if (is_change(step)) {
            all[at] = (struct numbered){ step, at };
            at++;
        }
    if (count > 0)
        qsort(all, count, sizeof all[0], compare);
    *ret_merged = (struct port_merged){ rows_new(op->arena, count), rows_new(op->arena, count) };
    for (size_t i = 0; i < count; i++) {
        const struct port_step *step = all[i].step;

        if (i + 1 < count && bytes_equal(step->key, all[i + 1].step->key))
            continue;
        add(step->verb == PORT_SET ? &ret_merged->set : &ret_merged->removed, step);
    }
    return true;
}
