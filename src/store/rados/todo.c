#include "store/rados/todo.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/log.h"
#include "store/rados/apply.h"
#include "store/rados/blocking.h"
#include "store/rados/task_row.h"
#include "store/rados/todo_look.h"
#include "store/record_key.h"

#define KEY_SIZE (1 + 8 + 16)

/* A task that was done while a look was under way, which may have read its row before. */
struct gone {
    struct gone *next;
    struct guid id;
};

struct todo {
    struct lock lock;
    struct todo_list list; /* under lock */
    bool is_read;          /* under lock: nothing of this front end's was added since */
    bool is_complete;      /* under lock: and there was nothing more */
    uint64_t read_ms;      /* under lock: when */
    instant read_to;       /* under lock: tasks due by then are in the list */
    instant asked_to;      /* under lock: the farthest that was asked for a short time ago */
    uint64_t asked_ms;     /* under lock: when */
    bool
        is_looking; /* under lock: one at a time, so that none shows what there was before another */
    pthread_cond_t looked;
    struct gone *gone; /* under lock: since the look began */
};

struct todo *todo_new(void)
{
    struct todo *todo = xcalloc(1, sizeof *todo);

    lock_init(&todo->lock, RANK_SYNCER);
    lock_condition_init(&todo->looked);
    return todo;
}

void todo_free(struct todo *todo)
{
    assert(!todo->is_looking && !todo->gone);
    todo_list_clear(&todo->list);
    pthread_cond_destroy(&todo->looked);
    lock_release(&todo->lock);
    free(todo);
}

void todo_forget(struct rados *rados)
{
    lock_take(&rados->todo->lock);
    rados->todo->is_read = false;
    lock_give(&rados->todo->lock);
}

/* Under the lock. */
static void remove_entry(struct todo *todo, const struct guid *id)
{
    todo_list_remove(&todo->list, id);
    if (todo->is_looking) {
        struct gone *gone = xmalloc(sizeof *gone);

        *gone = (struct gone){ todo->gone, *id };
        todo->gone = gone;
    }
}

/* Under the lock: what a look has found takes the place of the list, but for what was done meanwhile. */
static void replace_list(struct todo *todo, const struct todo_list *found)
{
    todo_list_clear(&todo->list);
    todo->list = *found;
    for (const struct gone *gone = todo->gone; gone; gone = gone->next)
        todo_list_remove(&todo->list, &gone->id);
}

/* Under the lock. */
static void end_look(struct todo *todo)
{
    assert(todo->is_looking);
    todo->is_looking = false;
    pthread_cond_broadcast(&todo->looked);
    while (todo->gone) {
        struct gone *next = todo->gone->next;

        free(todo->gone);
        todo->gone = next;
    }
}

void todo_changed(struct rados *rados, const struct todo_change *changes)
{
    struct todo *todo = rados->todo;
    instant earliest = INSTANT_MAX;

    lock_take(&todo->lock);
    for (const struct todo_change *c = changes; c; c = c->next) {
        if (c->is_done)
            remove_entry(todo, &c->id);
        else
            todo->is_read = false;
        if (!c->is_done && c->due < earliest)
            earliest = c->due;
    }
    lock_give(&todo->lock);
    if (earliest < INSTANT_MAX)
        deferred_added(&rados->deferred, earliest);
}

/* Who has asked for what is due later may not have looked at it yet: others do not take it out of the list. Under the lock. */
static instant far_enough(struct todo *todo, instant to)
{
    uint64_t now_ms = clock_monotonic_ms();

    if (to >= todo->asked_to || now_ms - todo->asked_ms >= TODO_REFRESH_MS) {
        todo->asked_to = to;
        todo->asked_ms = now_ms;
    }
    return todo->asked_to;
}

/* Under the lock, which it gives while others look. True: all is to be read again, up to *to, and nobody else does. */
static bool begin_look(struct todo *todo, instant *to)
{
    while (todo->is_looking)
        lock_wait(&todo->lock, &todo->looked, -1);
    *to = far_enough(todo, *to);
    if (todo->is_read && *to <= todo->read_to &&
        clock_monotonic_ms() - todo->read_ms < TODO_REFRESH_MS)
        return false;
    todo->is_looking = true;
    todo->is_read = true; /* what is added from now on makes it false again */
    return true;
}

/* Reads all again, unless what is known will do. */
static enum store_result refresh(struct rados *rados, instant to)
{
    struct todo *todo = rados->todo;
    struct todo_list list = { NULL };
    enum store_result result;
    bool looks, is_complete;

    lock_take(&todo->lock);
    looks = begin_look(todo, &to);
    lock_give(&todo->lock);
    if (!looks)
        return STORE_OK;
    result = todo_look(rados->port, to, &list, &is_complete);
    lock_take(&todo->lock);
    if (result) {
        todo->is_read = false;
    } else {
        replace_list(todo, &list);
        todo->is_complete = is_complete;
        todo->read_to = to;
        todo->read_ms = todo->asked_ms = clock_monotonic_ms();
    }
    end_look(todo);
    lock_give(&todo->lock);
    return result;
}

/* The floor of the list: the runner's `now`. */
static instant runner_now(struct rados *rados)
{
    instant now;

    deferred_enter(&rados->deferred);
    now = rados->deferred.floor;
    deferred_leave(&rados->deferred);
    return now;
}

static void show(const struct todo_entry *entry, struct arena *arena, struct bytes *ret_key,
                 struct bytes *ret_value)
{
    struct task_change change = {
        .due = entry->due,
        .id = entry->id,
        .kind = entry->kind,
        .payload = entry->payload,
    };
    const struct deferred none = { .floor = 0 };
    struct key key, prefix;
    struct text value;

    key_init(&key);
    key_init(&prefix);
    text_init(&value, arena, 64);
    key_set_partition(&prefix, RECORD_LISTED, entry->partition);
    (void)deferred_task_rows(&none, &change, key_bytes(&prefix), &key, &value);
    *ret_key = arena_copy(arena, key_bytes(&key));
    *ret_value = text_bytes(&value);
    key_release(&key);
    key_release(&prefix);
}

static void read_key(struct bytes key, instant *ret_due, struct guid *ret_id)
{
    assert(key.len >= KEY_SIZE);
    *ret_due = be64_get(key.ptr + 1);
    memcpy(ret_id->b, key.ptr + 9, sizeof ret_id->b);
}

enum store_result todo_seek(struct rados *rados, struct bytes from, struct arena *arena,
                            struct bytes *ret_key, struct bytes *ret_value)
{
    static const struct guid first = { { 0 } };
    struct todo *todo = rados->todo;
    const struct todo_entry *entry;
    bool is_behind = from.len > KEY_SIZE;
    instant due;
    struct guid id;
    enum store_result result = refresh(rados, runner_now(rados) + TODO_AHEAD_TICKS);

    if (result)
        return result;
    read_key(from, &due, &id);
    if (guid_equal(&id, &first))
        due = 0; /* the mark is of this process; what others have added may lie before it */
    lock_take(&todo->lock);
    entry = todo_list_find(&todo->list, due, &id, is_behind, false);
    if (entry)
        show(entry, arena, ret_key, ret_value);
    else if (!todo->is_complete)
        todo->is_read = false;
    lock_give(&todo->lock);
    return entry ? STORE_OK : STORE_NOT_FOUND;
}

/* Its row is gone. */
static void forget_entry(struct todo *todo, const struct guid *id)
{
    lock_take(&todo->lock);
    remove_entry(todo, id);
    lock_give(&todo->lock);
}

static enum store_result remove_row(struct rados *rados, const struct partition *partition,
                                    instant due, const struct guid *id)
{
    struct arena *arena = arena_new(1u << 20);
    const struct shard_change removal = { .key = row_key_task(arena, due, id), .is_removal = true };
    enum store_result result =
        change_block(rados->shards, partition, (struct shard_commit){ .changes = &removal });

    arena_free(arena);
    if (!result)
        forget_entry(rados->todo, id);
    return result ? STORE_IO : STORE_OK;
}

/* Others run it, too, and the first that fails moves it: the row must be there as it was read, or it would become two of them. */
enum store_result todo_move(struct store *base, const struct deferred_task *task, instant due,
                            uint32_t kind, struct bytes payload)
{
    struct rados *rados = rados_of(base);
    struct arena *arena = arena_new(1u << 20);
    const struct task_row was = { task->kind, task->payload, task->partition.key };
    const struct task_row row = { kind, payload, task->partition.key };
    struct shard_check is_there = {
        .key = row_key_task(arena, task->due, &task->id),
        .value = row_value_write(arena, task_row_write(arena, &was)),
    };
    const struct shard_change removal = { .key = is_there.key, .is_removal = true };
    struct shard_task later = {
        .due = due,
        .id = guid_new(),
        .value = task_row_write(arena, &row),
    };
    enum store_result result = change_block(
        rados->shards, &task->partition,
        (struct shard_commit){ .changes = &removal, .checks = &is_there, .tasks = &later });

    arena_free(arena);
    if (result && result != STORE_BUSY)
        return result == STORE_NOT_FOUND ? STORE_NOT_FOUND : STORE_IO;
    forget_entry(rados->todo, &task->id);
    return STORE_OK;
}

enum store_result todo_discard(struct store *base, const struct guid *space, struct bytes key)
{
    (void)space;
    struct rados *rados = rados_of(base);
    struct arena *arena = arena_new(1u << 20);
    const struct todo_entry *entry;
    struct partition partition = { .key = { NULL, 0 } };
    enum store_result result = STORE_OK;
    instant due;
    struct guid id;

    read_key(key, &due, &id);
    lock_take(&rados->todo->lock);
    entry = todo_list_find(&rados->todo->list, due, &id, false, false);
    if (entry && !guid_equal(&entry->id, &id))
        entry = NULL;
    if (entry)
        partition =
            (struct partition){ entry->partition.space, arena_copy(arena, entry->partition.key) };
    lock_give(&rados->todo->lock);
    if (entry)
        result = remove_row(rados, &partition, due, &id);
    arena_free(arena);
    return result;
}

bool todo_next_own(struct rados *rados, instant now, bool is_all, const struct own_task *after,
                   struct arena *arena, struct own_task *ret_task)
{
    static const struct guid first = { { 0 } };
    struct todo *todo = rados->todo;
    const struct todo_entry *entry;

    if (!after && refresh(rados, is_all ? INSTANT_MAX : now + TODO_AHEAD_TICKS))
        return false;
    lock_take(&todo->lock);
    entry = todo_list_find(&todo->list, after ? after->due : 0, after ? &after->id : &first,
                           after != NULL, true);
    if (entry && !is_all && entry->due > now)
        entry = NULL;
    if (entry)
        *ret_task = (struct own_task){
            .due = entry->due,
            .id = entry->id,
            .kind = entry->kind,
            .payload = arena_copy(arena, entry->payload),
            .partition = { entry->partition.space, arena_copy(arena, entry->partition.key) },
        };
    else if (!todo->is_complete)
        todo->is_read = false;
    lock_give(&todo->lock);
    return entry != NULL;
}

enum store_result todo_end_own(struct rados *rados, const struct own_task *task)
{
    return remove_row(rados, &task->partition, task->due, &task->id);
}
