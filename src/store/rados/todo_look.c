#include "store/rados/todo_look.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/rados/blocking.h"
#include "store/rados/task_row.h"

#define LOOK_ARENA_MAX (256u << 20)

struct hint {
    struct hint *next; /* of the same shard */
    uint64_t minute;
};

/* A shard with hints. */
struct looked {
    struct looked *next;
    const char *object; /* in the arena */
    struct hint *hints;
    uint64_t least;          /* minute */
    struct arrival *arrival; /* of its mark, then of its tasks */
    struct arrival *marking; /* NULL: the mark need not be raised */
    const struct port_step *bounds, *mark, *tasks;
};

struct named_hint {
    struct named_hint *next;
    uint64_t minute;
    const char *object;
};

struct look {
    struct port *port;
    struct arena *arena;
    struct named_hint *hints;
    struct looked *shards;
    instant over; /* tasks due by then are added no more, once the shards have it */
    bool is_complete, has_failed;
    struct port_op *removals[TODO_OBJECTS]; /* of hints; NULL: none of that object */
    struct todo_entry **entries;
    size_t count, capacity;
};

/* ---- the list ---- */

static void entry_free(struct todo_entry *entry)
{
    xcopy_free(entry->payload);
    xcopy_free(entry->partition.key);
    free(entry);
}

void todo_list_clear(struct todo_list *list)
{
    while (list->first) {
        struct todo_entry *entry = list->first;

        list->first = entry->next;
        entry_free(entry);
    }
}

void todo_list_remove(struct todo_list *list, const struct guid *id)
{
    for (struct todo_entry **at = &list->first; *at; at = &(*at)->next) {
        struct todo_entry *entry = *at;

        if (!guid_equal(&entry->id, id))
            continue;
        *at = entry->next;
        entry_free(entry);
        return;
    }
}

static int compare_place(instant due, const struct guid *id, const struct todo_entry *entry)
{
    if (due != entry->due)
        return due < entry->due ? -1 : 1;
    return memcmp(id->b, entry->id.b, sizeof id->b);
}

const struct todo_entry *todo_list_find(const struct todo_list *list, instant due,
                                        const struct guid *id, bool is_behind, bool is_own)
{
    for (const struct todo_entry *entry = list->first; entry; entry = entry->next) {
        int order = compare_place(due, id, entry);

        if ((order < 0 || (order == 0 && !is_behind)) && (entry->kind >= TASK_OWN) == is_own)
            return entry;
    }
    return NULL;
}

/* ---- hints ---- */

static void add_hint(struct look *look, uint64_t minute, const char *object)
{
    struct looked *shard = look->shards;
    struct hint *hint = arena_alloc(look->arena, sizeof *hint);

    while (shard && strcmp(shard->object, object) != 0)
        shard = shard->next;
    if (!shard) {
        shard = arena_alloc(look->arena, sizeof *shard);
        shard->object = object;
        shard->least = UINT64_MAX;
        shard->next = look->shards;
        look->shards = shard;
    }
    *hint = (struct hint){ shard->hints, minute };
    shard->hints = hint;
    if (minute < shard->least)
        shard->least = minute;
}

static bool read_hint(struct bytes key, struct arena *arena, uint64_t *ret_minute,
                      const char **ret_object)
{
    struct guid space;

    if (key.len != TODO_DIGITS + 1 + SHARD_NAME_SIZE - 1 ||
        !row_key_hex(bytes_of(key.ptr, TODO_DIGITS), ret_minute))
        return false;
    *ret_object = arena_string(arena, bytes_from(key, TODO_DIGITS + 1));
    return shard_name_space(*ret_object, &space);
}

static void keep_hint(struct look *look, uint64_t minute, const char *object)
{
    struct named_hint *hint = arena_alloc(look->arena, sizeof *hint);

    *hint = (struct named_hint){ look->hints, minute, object };
    look->hints = hint;
}

static void take_hints(struct look *look, const struct port_step *step)
{
    for (uint32_t i = 0; i < step->row_count; i++) {
        const char *object;
        uint64_t minute;

        if (!read_hint(step->rows[i].key, look->arena, &minute, &object))
            log_line(LOG_ERROR, "rados: a hint of a task is damaged");
        else
            keep_hint(look, minute, object);
    }
}

/* Follows those up to a minute, and those of the first one behind it, so that it is known when that is due. */
static void follow_hints(struct look *look, uint64_t last)
{
    uint64_t next = UINT64_MAX;

    for (const struct named_hint *hint = look->hints; hint; hint = hint->next)
        if (hint->minute > last && hint->minute < next)
            next = hint->minute;
    for (const struct named_hint *hint = look->hints; hint; hint = hint->next)
        if (hint->minute <= last || hint->minute == next)
            add_hint(look, hint->minute, hint->object);
}

static void fail(struct look *look, const char *what, enum port_result result)
{
    log_line(LOG_ERROR, "rados: %s: %s", what, port_result_text(result));
    look->has_failed = true;
}

/* All objects of hints at once; the pages of one behind each other. */
static void read_hints(struct look *look)
{
    struct arrival *arrivals[TODO_OBJECTS];
    struct port_step *steps[TODO_OBJECTS];
    char name[TODO_NAME_SIZE];
    const struct bytes none = { NULL, 0 };

    for (unsigned i = 0; i < TODO_OBJECTS; i++) {
        struct port_op *op = arrival_op();

        todo_name(i, name);
        steps[i] = port_list(op, none, none, PORT_ROWS_MAX);
        arrivals[i] = arrival_send(look->port, name, op);
    }
    for (unsigned i = 0; i < TODO_OBJECTS; i++) {
        enum port_result result;

        arrival_block(arrivals[i]);
        result = arrival_answer(arrivals[i])->result;
        if (result == PORT_OK) {
            take_hints(look, steps[i]);
            look->is_complete = look->is_complete && !steps[i]->is_cut;
        } else if (result != PORT_ABSENT) {
            fail(look, "hints of tasks", result);
        }
        arrival_drop(arrivals[i]);
    }
}

/* ---- shards ---- */

static void ask_shard(const struct look *look, struct looked *shard)
{
    struct port_op *op = arrival_op();

    shard->bounds = port_get(op, row_key_bounds());
    shard->mark = port_get(op, row_key_looked());
    shard->tasks = port_list(op, (struct bytes){ NULL, 0 }, bytes_of("T", 1), TODO_ROWS);
    shard->arrival = arrival_send(look->port, shard->object, op);
}

static void ask_shards(struct look *look)
{
    for (struct looked *shard = look->shards; shard; shard = shard->next)
        ask_shard(look, shard);
}

/* NULL: the shard need not know more, or cannot. */
static struct arrival *raise_mark(const struct look *look, const struct looked *shard)
{
    struct bytes mark = port_value(shard->mark);
    uint64_t marked;
    struct port_op *op;

    if (arrival_answer(shard->arrival)->result ||
        (shard->least + 1) * SHARD_MINUTE > look->over + 1 ||
        (row_number_read(mark, &marked) && marked >= look->over))
        return NULL;
    op = arrival_op();
    port_compare(op, row_key_bounds(), port_value(shard->bounds));
    port_compare(op, row_key_looked(), mark);
    port_set(op, row_key_looked(), row_number_write(op->arena, look->over));
    return arrival_send(look->port, shard->object, op);
}

/* Sees to it that no task is added that is due in minutes that are over, before those there are looked for. All shards at
 * once, and those that were told are asked again. */
static void raise_marks(struct look *look)
{
    for (struct looked *shard = look->shards; shard; shard = shard->next) {
        arrival_block(shard->arrival);
        shard->marking = raise_mark(look, shard);
    }
    for (struct looked *shard = look->shards; shard; shard = shard->next) {
        enum port_result result;

        if (!shard->marking)
            continue;
        arrival_block(shard->marking);
        result = arrival_answer(shard->marking)->result;
        if (result && result != PORT_REFUSED) /* another was faster: next time */
            fail(look, "the mark of a shard", result);
        arrival_drop(shard->marking);
        arrival_drop(shard->arrival);
        ask_shard(look, shard);
    }
    for (struct looked *shard = look->shards; shard; shard = shard->next)
        arrival_block(shard->arrival);
}

static bool add_entry(struct look *look, const struct looked *shard, const struct port_row *row)
{
    struct todo_entry *entry;
    struct row_name name;
    struct task_row task;
    struct bytes value;
    struct guid space;

    if (!row_key_read(row->key, look->arena, &name) || !row_value_read(row->value, &value) ||
        !task_row_read(value, &task) || !shard_name_space(shard->object, &space))
        return false;
    if (look->count == look->capacity) {
        look->capacity = look->capacity ? 2 * look->capacity : 64;
        look->entries = xrealloc(look->entries, look->capacity * sizeof look->entries[0]);
    }
    entry = xcalloc(1, sizeof *entry);
    *entry = (struct todo_entry){
        .due = name.due,
        .id = name.id,
        .kind = task.kind,
        .payload = xcopy(task.payload),
        .partition = { space, xcopy(task.partition_key) },
    };
    look->entries[look->count++] = entry;
    return true;
}

/* A hint goes when its minute is over, the shard knows, and nothing that was due by then is left. */
static void remove_hints(struct look *look, const struct looked *shard, instant first_due)
{
    uint64_t mark = 0;
    bool is_absent = arrival_answer(shard->arrival)->result == PORT_ABSENT;
    struct port_op **removal = &look->removals[todo_of_shard(shard->object)];

    (void)row_number_read(port_value(shard->mark), &mark);
    for (const struct hint *hint = shard->hints; hint; hint = hint->next) {
        instant end = (hint->minute + 1) * SHARD_MINUTE - 1;

        if (end > look->over || (!is_absent && (end > mark || first_due <= end)))
            continue;
        if (!*removal)
            *removal = arrival_op();
        port_remove(*removal, todo_key((*removal)->arena, hint->minute, shard->object));
    }
}

/* Those of all shards. */
static void send_removals(struct look *look)
{
    struct arrival *sent[TODO_OBJECTS] = { NULL };
    char todo[TODO_NAME_SIZE];

    for (unsigned i = 0; i < TODO_OBJECTS; i++) {
        todo_name(i, todo);
        if (look->removals[i])
            sent[i] = arrival_send(look->port, todo, look->removals[i]);
    }
    for (unsigned i = 0; i < TODO_OBJECTS; i++) {
        if (!sent[i])
            continue;
        arrival_block(sent[i]);
        if (arrival_answer(sent[i])->result)
            fail(look, "hints", arrival_answer(sent[i])->result);
        arrival_drop(sent[i]);
    }
}

static void take_tasks(struct look *look)
{
    for (struct looked *shard = look->shards; shard; shard = shard->next) {
        enum port_result result = arrival_answer(shard->arrival)->result;
        instant first_due = INSTANT_MAX;

        if (result && result != PORT_ABSENT)
            fail(look, "tasks of a shard", result);
        for (uint32_t i = 0; !result && i < shard->tasks->row_count; i++) {
            if (!add_entry(look, shard, &shard->tasks->rows[i]))
                log_line(LOG_ERROR, "shard %s: a deferred task is damaged", shard->object);
            else if (first_due == INSTANT_MAX)
                first_due = look->entries[look->count - 1]->due;
        }
        if (!result)
            look->is_complete = look->is_complete && !shard->tasks->is_cut;
        if (!result && shard->tasks->is_cut && first_due == INSTANT_MAX)
            first_due = 0; /* behind those that are damaged there may be one */
        if (!result || result == PORT_ABSENT)
            remove_hints(look, shard, first_due);
        arrival_drop(shard->arrival);
    }
}

static int compare_entries(const void *a, const void *b)
{
    const struct todo_entry *x = *(struct todo_entry *const *)a;
    const struct todo_entry *y = *(struct todo_entry *const *)b;

    return compare_place(x->due, &x->id, y);
}

static int by_id(const void *a, const void *b)
{
    const struct todo_entry *x = *(struct todo_entry *const *)a,
                            *y = *(struct todo_entry *const *)b;
    int order = memcmp(x->id.b, y->id.b, sizeof x->id.b);

    if (order)
        return order;
    return x->due > y->due ? -1 : x->due < y->due;
}

/* A task that is being moved is in both shards, perhaps later due in the one that it comes to (move.h). */
static void drop_twins(struct look *look)
{
    size_t kept = 0;

    if (look->count == 0)
        return;
    qsort(look->entries, look->count, sizeof look->entries[0], by_id);
    for (size_t i = 0; i < look->count; i++) {
        if (kept > 0 && guid_equal(&look->entries[kept - 1]->id, &look->entries[i]->id))
            entry_free(look->entries[i]);
        else
            look->entries[kept++] = look->entries[i];
    }
    look->count = kept;
}

enum store_result todo_look(struct port *port, instant to, struct todo_list *ret_list,
                            bool *ret_is_complete)
{
    instant now = to == INSTANT_MAX ? clock_now() : to - TODO_AHEAD_TICKS;
    struct look look = { .port = port, .is_complete = true };
    struct todo_entry **end = &ret_list->first;

    look.arena = arena_new(LOOK_ARENA_MAX);
    look.over = now / SHARD_MINUTE * SHARD_MINUTE - 1;
    read_hints(&look);
    follow_hints(&look, to / SHARD_MINUTE);
    ask_shards(&look);
    raise_marks(&look);
    take_tasks(&look);
    send_removals(&look);
    drop_twins(&look);
    if (look.count > 0)
        qsort(look.entries, look.count, sizeof look.entries[0], compare_entries);
    for (size_t i = 0; i < look.count; i++) {
        *end = look.entries[i];
        end = &look.entries[i]->next;
    }
    *end = NULL;
    free(look.entries);
    arena_free(look.arena);
    *ret_is_complete = look.is_complete;
    if (look.has_failed)
        todo_list_clear(ret_list);
    return look.has_failed ? STORE_IO : STORE_OK;
}
