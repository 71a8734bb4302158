/* What a commit's lists of changes are in rows: records, counters, tasks, and the pieces that it frees. */
#include <assert.h>

#include "base/log.h"
#include "store/rados/commit_private.h"
#include "store/rados/own_tasks.h"
#include "store/rados/task_row.h"

static void add_task(struct commit *c, struct commit_member *member, const struct task_change *task)
{
    struct task_row row = {
        .kind = task->kind,
        .payload = task->payload,
        .partition_key = member->partition.key,
    };
    struct todo_change *change;

    if (task->is_done) {
        part_work_remove(member->work, c->arena, row_key_task(c->arena, task->due, &task->id));
    } else {
        assert(task->kind < TASK_OWN);
        part_work_task(member->work, c->arena, task->due, &task->id,
                       task_row_write(c->arena, &row));
    }
    change = arena_alloc(c->arena, sizeof *change);
    *change = (struct todo_change){ c->todo, task->is_done, task->due, task->id };
    c->todo = change;
}

static void add_counts(struct commit *c, struct commit_member *member,
                       const struct count_change *count)
{
    for (; count; count = count->next)
        part_work_count(member->work, c->arena, arena_copy(c->arena, count->name), count->delta);
}

static void add_own_task(struct commit *c, struct commit_member *member, uint32_t kind, instant due,
                         struct bytes payload)
{
    const struct task_row row = {
        .kind = kind,
        .payload = payload,
        .partition_key = member->partition.key,
    };
    struct guid id = guid_new();

    part_work_task(member->work, c->arena, due, &id, task_row_write(c->arena, &row));
}

enum store_result commit_add_changes(struct commit *c, struct commit_member *member,
                                     struct view *view, const struct changes *changes)
{
    enum store_result result = STORE_OK;
    const struct guid *dropped;
    size_t dropped_count;

    if (member->seen.has_limbs)
        result = commit_limbs_add(c, member, view, changes);
    else
        part_work_records(member->work, c->arena, member->partition.key, changes_first(changes));
    part_work_index(member->work, c->arena, member->partition.key, changes_first_index(changes));
    add_counts(c, member, changes_first_count(changes));
    for (const struct task_change *t = changes_first_task(changes); t; t = t->next)
        add_task(c, member, t);
    dropped = changes_dropped_spaces(changes, &dropped_count);
    for (size_t i = 0; i < dropped_count; i++)
        add_own_task(c, member, TASK_DROP, c->now, bytes_of(dropped[i].b, sizeof dropped[i].b));
    if (dropped_count > 0) {
        struct guid *all = arena_array(c->arena, c->dropped_count + dropped_count, sizeof all[0]);

        memcpy(all, dropped, dropped_count * sizeof all[0]);
        if (c->dropped_count > 0)
            memcpy(all + dropped_count, c->dropped, c->dropped_count * sizeof all[0]);
        c->dropped = all;
        c->dropped_count += dropped_count;
    }
    return result;
}

/* Is the piece put into another part of the commit? */
static bool is_moved(const struct commit *c, const struct commit_member *from,
                     const struct piece_change *piece)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct commit_member *to = &c->members[i];

        for (size_t k = 0; to != from && k < to->piece_count; k++)
            if (to->pieces[k].extent == piece->extent && to->pieces[k].offset == piece->offset &&
                to->pieces[k].references > 0)
                return true;
    }
    return false;
}

enum store_result commit_free_pieces(struct commit *c, struct commit_member *member,
                                     const struct piece_freed *freed)
{
    struct text released, moved;

    text_init(&released, c->arena, 0);
    text_init(&moved, c->arena, 0);
    for (size_t i = 0; i < freed->count; i++) {
        bool is_away = is_moved(c, member, freed->pieces[i]);

        piece_name_write(is_away ? &moved : &released, freed->pieces[i]);
        if (is_away)
            piece_row_moved(member->work, c->arena, member->partition.key, freed->pieces[i]);
        else
            c->released += freed->pieces[i]->length;
    }
    for (size_t i = 0; i < member->piece_count; i++) {
        const struct piece_change *piece = &member->pieces[i];

        if (piece->references < 0 && is_moved(c, member, piece) && !piece_is_freed(freed, piece)) {
            log_line(LOG_ERROR, "rados: a piece is moved to another partition, and stays");
            return STORE_IO;
        }
    }
    if (text_bytes(&released).len > 0)
        add_own_task(c, member, TASK_COLLECT, c->now + c->rados->grace, text_bytes(&released));
    if (text_bytes(&moved).len > 0)
        add_own_task(c, member, TASK_MOVED, c->now + OWN_MOVED_TICKS, text_bytes(&moved));
    return STORE_OK;
}
