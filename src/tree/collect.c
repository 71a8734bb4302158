/* Deletes versions that no snapshot contains any more. A task uses the index to visit the versions
 * whose `until` is the generation of a deleted snapshot. It lowers `until` to the newest retained
 * generation that contains the version, or deletes the version if no generation does. Thus the
 * `until` of every version is a retained generation or one whose task is not finished, and a task
 * reads only versions whose newest snapshot is the deleted one. */
#include <assert.h>

#include "base/endian.h"
#include "base/log.h"
#include "service/deferred_tasks.h"
#include "service/small_record.h"
#include "tree/versions.h"

/* Maximum number of versions per step. The number of partitions in a step is limited by the
 * maximum number of parts in a decision. */
#define VERSIONS_AT_ONCE 200

#define UNTIL_SIZE       8
#define ID_SIZE          8

/* State of one step. */
struct step {
    struct tree tree;
    struct retained_generations retained;
    tree_forget_fn *forget;
    uint64_t until;
    unsigned count; /* versions examined */
    /* Current partition; NULL before the first one. */
    struct decision_part *part;
    struct bytes *gone; /* keys of versions deleted in the partition, in order */
    size_t gone_count;
    bool has_others; /* the partition has versions that remain */
};

/* ---- one version ---- */

/* Returns the newest retained generation in [written, until], or 0 if none exists. */
static uint64_t newest_retained_in(const struct retained_generations *retained, uint64_t written,
                                   uint64_t until)
{
    for (size_t i = retained->count; i > 0; i--)
        if (retained->generations[i - 1] <= until)
            return retained->generations[i - 1] >= written ? retained->generations[i - 1] : 0;
    return 0;
}

/* Deletes the version with this key, or lowers its `until`. */
static enum store_result collect_version(struct step *step, struct bytes key)
{
    struct arena *arena = step->tree.d->arena;
    struct bytes name = version_key(arena, key, step->until);
    struct bytes partition = step->part->partition.key;
    struct changes *changes = tree_change(&step->tree, step->part);
    struct tree_record record;
    struct record version;
    uint64_t sees;
    enum store_result result =
        read_view_get(step->part->before, RECORD_INNER, name, arena, &version);

    if (!result && !version_split(version.value, &record))
        return record_is_unknown("a version of a record", version.value);
    if (result && result != STORE_NOT_FOUND)
        return result;
    version_delete(changes, partition, key, step->until);
    if (result == STORE_NOT_FOUND) /* deleted after the index was read */
        return STORE_OK;
    step->gone[step->gone_count++] = name;
    sees = newest_retained_in(&step->retained, record.written, step->until);
    if (sees == 0 && key.ptr[0] == TREE_ENTRY_PREFIX)
        return STORE_OK;
    if (sees == 0)
        return step->forget(&step->tree, step->part, key, record.value);
    version_put(changes, partition, key, sees, version.value);
    step->has_others = true;
    return STORE_OK;
}

/* ---- one partition ---- */

/* Checks whether the partition has versions other than those deleted by this step. */
static enum store_result look_for_others(struct step *step)
{
    struct bytes prefix = BYTES("V");
    struct scan *scan = scan_open(step->part->before, RECORD_INNER, prefix, prefix);
    struct record record;
    enum store_result result;

    for (size_t i = 0; !(result = scan_next(scan, NULL, &record)); i++)
        if (i == step->gone_count || !bytes_equal(record.key, step->gone[i]))
            break;
    scan_close(scan);
    step->has_others = result == STORE_OK;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Finishes the partition after the task's last version in it. */
static enum store_result end_partition(struct step *step)
{
    enum store_result result = STORE_OK;

    if (!step->part)
        return STORE_OK;
    if (!step->has_others)
        result = look_for_others(step);
    if (!result && !step->has_others)
        version_mark_delete(tree_change(&step->tree, step->part));
    step->part = NULL;
    return result;
}

static void begin_partition(struct step *step, uint64_t id)
{
    step->part = tree_part(&step->tree, id);
    decision_read_clock(step->tree.d);
    step->gone = arena_array(step->tree.d->arena, VERSIONS_AT_ONCE, sizeof step->gone[0]);
    step->gone_count = 0;
    step->has_others = false;
}

/* ---- one step ---- */

/* Processes the version named by an index row. Returns STORE_OK to continue, or STORE_NOT_FOUND if
 * the step is full and the row was not processed. */
static enum store_result take_row(struct step *step, struct bytes row)
{
    enum store_result result = STORE_OK;
    uint64_t id;

    if (row.len <= UNTIL_SIZE + ID_SIZE)
        return record_is_unknown("a version in the index", row);
    id = be64_get(row.ptr + UNTIL_SIZE);
    if (step->part && be64_get(step->part->partition.key.ptr) != id)
        result = end_partition(step);
    if (result)
        return result;
    if (step->count >= VERSIONS_AT_ONCE ||
        (!step->part && step->tree.d->part_count == DECISION_PARTS_MAX))
        return STORE_NOT_FOUND;
    if (!step->part)
        begin_partition(step, id);
    step->count++;
    return collect_version(step, bytes_from(row, UNTIL_SIZE + ID_SIZE));
}

/* Processes index rows, starting at `from`. Sets *ret_next to the row to continue with, or ptr NULL
 * at the end. */
static enum store_result take_rows(struct step *step, struct bytes from, struct bytes *ret_next)
{
    struct decision *d = step->tree.d;
    struct index_iterator *iterator =
        index_iterator_open(d->store, step->tree.space, bytes_of(from.ptr, UNTIL_SIZE), from,
                            bytes_of("", 0), d->access);
    struct bytes row = bytes_of(NULL, 0);
    enum store_result result, taken = STORE_OK;
    struct index_record found;

    while (!taken && !(result = index_iterator_next(iterator, &found))) {
        row = arena_copy(d->arena, found.key);
        taken = take_row(step, row);
    }
    index_iterator_close(iterator);
    if (taken && taken != STORE_NOT_FOUND)
        return taken;
    *ret_next = row;
    if (taken)
        return STORE_OK;
    *ret_next = bytes_of(NULL, 0);
    return result == STORE_NOT_FOUND ? end_partition(step) : result;
}

enum store_result tree_collect(struct decision *d, const struct deferred_task *task,
                               enum tree_case rule, tree_forget_fn *forget)
{
    struct step step = { .forget = forget };
    struct bytes next;
    enum store_result result;

    if (version_mark_read(d->before, d->arena) == STORE_NOT_FOUND &&
        read_view_is_deleted(d->before))
        return STORE_NOT_FOUND;
    if (task->payload.len < UNTIL_SIZE)
        return record_is_unknown("a task of a tree", task->payload);
    step.until = be64_get(task->payload.ptr);
    if (tree_open_any(&step.tree, d, task->partition.space, rule))
        return step.tree.failed;
    result = retained_generations_read(step.tree.stamp->before, d->arena, &step.retained);
    if (!result && task->payload.len > UNTIL_SIZE + ID_SIZE) /* the partition of the last version */
        begin_partition(&step, be64_get(task->payload.ptr + UNTIL_SIZE));
    if (!result)
        result = take_rows(&step, task->payload, &next);
    if (!result && next.ptr)
        changes_defer(d->changes, d->now, task->kind, next);
    return result;
}
