/* Creates and deletes snapshots of a tree; see README.md, "Snapshots". */
#include <assert.h>

#include "base/endian.h"
#include "base/log.h"
#include "service/deferred_tasks.h"
#include "service/small_record.h"
#include "tree/versions.h"

/* ---- create and delete ---- */

enum tree_result tree_snapshot(struct tree *tree, uint64_t *ret_generation)
{
    struct tree_state state = tree->state;
    struct retained_generations retained;
    enum store_result result =
        retained_generations_read(tree->stamp->before, tree->d->arena, &retained);
    struct changes *changes;

    if (!result && state.generation == TREE_GENERATION_MAX)
        result = STORE_FULL;
    if (result)
        return tree_fail(tree, result);
    retained.generations[retained.count++] = state.last_retained = *ret_generation =
        state.generation++;
    changes = tree_change(tree, tree->stamp);
    retained_generations_put(changes, &retained);
    tree_state_put(changes, &state);
    return TREE_OK;
}

/* Removes a generation from the list. Returns false if the list does not contain it. */
static bool forget_generation(struct retained_generations *retained, uint64_t generation)
{
    size_t left = 0;

    for (size_t i = 0; i < retained->count; i++)
        if (retained->generations[i] != generation)
            retained->generations[left++] = retained->generations[i];
    if (left == retained->count)
        return false;
    retained->count = left;
    return true;
}

/* Finds out why a generation is missing: another commit may have deleted the snapshot after the
 * service read its record. Returns STORE_CONFLICT, STORE_CORRUPT, or the result of
 * decision_confirm(). */
static enum store_result why_not_retained(const struct decision *d, uint64_t generation)
{
    enum store_result confirmed = decision_confirm(d);

    if (confirmed)
        return confirmed;
    log_line(LOG_ERROR, "a tree lacks the generation %llu of an existing snapshot",
             (unsigned long long)generation);
    return STORE_CORRUPT;
}

enum tree_result tree_snapshot_delete(struct tree *tree, uint64_t generation, uint32_t task_kind)
{
    struct decision *d = tree->d;
    struct tree_state state = tree->state;
    struct retained_generations retained;
    enum store_result result = retained_generations_read(tree->stamp->before, d->arena, &retained);
    struct decision_part *tasks;
    struct changes *changes;

    if (!result && !forget_generation(&retained, generation))
        result = why_not_retained(d, generation);
    if (result)
        return tree_fail(tree, result);
    state.last_retained = retained.count > 0 ? retained.generations[retained.count - 1] : 0;
    changes = tree_change(tree, tree->stamp);
    retained_generations_put(changes, &retained);
    tree_state_put(changes, &state);
    tasks = decision_open(d, tree_task_partition(tree->space), changes_new(d->arena));
    decision_read_clock(d);
    changes_defer(tasks->changes, d->now, task_kind,
                  version_index_key(d->arena, generation, bytes_of("", 0), bytes_of("", 0)));
    return TREE_OK;
}
