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
    struct tree_kept kept;
    enum store_result result = tree_kept_read(tree->stamp->before, tree->d->arena, &kept);
    struct changes *changes;

    if (!result && state.generation == TREE_GENERATION_MAX)
        result = STORE_FULL;
    if (result)
        return tree_fail(tree, result);
    kept.generations[kept.count++] = state.kept = *ret_generation = state.generation++;
    changes = tree_change(tree, tree->stamp);
    tree_kept_put(changes, &kept);
    tree_state_put(changes, &state);
    return TREE_OK;
}

/* Removes a generation from the list. Returns false if the list does not contain it. */
static bool forget_generation(struct tree_kept *kept, uint64_t generation)
{
    size_t left = 0;

    for (size_t i = 0; i < kept->count; i++)
        if (kept->generations[i] != generation)
            kept->generations[left++] = kept->generations[i];
    if (left == kept->count)
        return false;
    kept->count = left;
    return true;
}

/* Finds out why a generation is missing: another commit may have deleted the snapshot after the
 * service read its record. Returns STORE_CONFLICT, STORE_CORRUPT, or the result of
 * decision_confirm(). */
static enum store_result why_not_kept(const struct decision *d, uint64_t generation)
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
    struct tree_kept kept;
    enum store_result result = tree_kept_read(tree->stamp->before, d->arena, &kept);
    struct decision_part *tasks;
    struct changes *changes;

    if (!result && !forget_generation(&kept, generation))
        result = why_not_kept(d, generation);
    if (result)
        return tree_fail(tree, result);
    state.kept = kept.count > 0 ? kept.generations[kept.count - 1] : 0;
    changes = tree_change(tree, tree->stamp);
    tree_kept_put(changes, &kept);
    tree_state_put(changes, &state);
    tasks = decision_open(d, tree_task_partition(tree->space), changes_new(d->arena));
    decision_read_clock(d);
    changes_defer(tasks->changes, d->now, task_kind,
                  version_index_key(d->arena, generation, bytes_of("", 0), bytes_of("", 0)));
    return TREE_OK;
}
