#include "store/rados/view_rows.h"

const struct view_run *view_rows_find(const struct view_rows *rows, struct bytes key)
{
    for (const struct view_run *run = rows->runs; run; run = run->next)
        if (bytes_compare(run->from, key) <= 0 &&
            (run->is_to_end || bytes_compare(key, run->to) <= 0))
            return run;
    return NULL;
}

uint32_t view_run_place(const struct view_run *run, struct bytes key)
{
    uint32_t low = 0, high = run->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (bytes_compare(run->rows[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct port_row *copy_rows(struct port_row *to, struct arena *arena,
                                  const struct port_step *step)
{
    for (uint32_t i = 0; step && i < step->row_count; i++)
        *to++ = (struct port_row){ arena_copy(arena, step->rows[i].key),
                                   arena_copy(arena, step->rows[i].value) };
    return to;
}

void view_rows_add(struct view_rows *rows, struct arena *arena, struct bytes from,
                   const struct port_step *at, const struct port_step *list)
{
    uint32_t count = (at ? at->row_count : 0) + (list ? list->row_count : 0);
    struct port_row *all = arena_array(arena, count, sizeof all[0]);
    struct view_run *run = arena_alloc(arena, sizeof *run);

    (void)copy_rows(copy_rows(all, arena, at), arena, list);
    *run = (struct view_run){
        .next = rows->runs,
        .from = arena_copy(arena, from),
        .is_to_end = list && !list->is_cut,
        .rows = all,
        .count = count,
    };
    run->to = run->from;
    if (list && list->row_count > 0)
        run->to = all[count - 1].key;
    rows->runs = run;
}

void view_rows_use(struct view_rows *rows, struct arena *arena, struct bytes from,
                   const struct port_step *list)
{
    struct view_run *run = arena_alloc(arena, sizeof *run);

    *run = (struct view_run){
        .next = rows->runs,
        .from = from,
        .to = list->row_count > 0 ? list->rows[list->row_count - 1].key : from,
        .is_to_end = !list->is_cut,
        .rows = list->rows,
        .count = list->row_count,
    };
    rows->runs = run;
}

void view_rows_none(struct view_rows *rows, struct arena *arena)
{
    struct view_run *run = arena_alloc(arena, sizeof *run);

    *run = (struct view_run){ .next = rows->runs, .is_to_end = true };
    rows->runs = run;
}
