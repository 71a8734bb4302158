/* Entries with a pending delete. The index is ordered by node id, and ids in one directory are
 * mostly close together, so only the range between the page's lowest and highest id is read. */
#include "file/pending_set.h"

#include <stdlib.h>

#include "opens/open_state.h"
#include "service/small_record.h"

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the sorted ids of the page. */
static uint64_t *sorted_ids(struct arena *arena, const struct tree_page *page)
{
    uint64_t *ids = arena_array(arena, page->count, sizeof ids[0]);

    for (size_t i = 0; i < page->count; i++)
        ids[i] = page->entries[i].id;
    qsort(ids, page->count, sizeof ids[0], compare);
    return ids;
}

/* Reduces the sorted ids to those in the index. *count: number of ids, updated */
static enum store_result find_noted(struct decision *d, uint64_t *ids, size_t *count)
{
    const struct guid space = file_state(d)->share.space;
    uint64_t last = ids[*count - 1], node;
    struct index_iterator *iterator =
        index_iterator_open(d->store, space, bytes_from_string(PENDING_PREFIX),
                            pending_first(d->arena, ids[0]), bytes_from_string(""), d->access);
    struct index_record record;
    enum store_result result;
    size_t found = 0, all = *count;

    decision_saw(d, index_iterator_sequence(iterator));
    while (!(result = index_iterator_next(iterator, &record))) {
        if (!pending_decode(record.key, &node)) {
            result = record_is_unknown("the entry of what is to be deleted", record.value);
            break;
        }
        if (node > last)
            break;
        if (bsearch(&node, ids + found, all - found, sizeof node, compare))
            ids[found++] = node;
    }
    index_iterator_close(iterator);
    *count = found;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Reads whether the node has a pending delete. The index entry can be stale after its process
 * has ended. */
static enum store_result is_pending(struct decision *d, uint64_t node, bool *ret_pending)
{
    struct decision_part *part =
        decision_open(d, tree_partition(d->arena, file_state(d)->share.space, node), NULL);
    struct open_set set;
    enum store_result result = open_set_read(&file_state(d)->tree, part->before, &set);

    decision_leave(d, part);
    *ret_pending = !result && set.is_delete_pending;
    return result;
}

enum store_result pending_leave_out(struct decision *d, struct tree_page *page)
{
    uint64_t *noted;
    size_t count = page->count, kept = 0;
    enum store_result result;

    if (count == 0)
        return STORE_OK;
    noted = sorted_ids(d->arena, page);
    result = find_noted(d, noted, &count);
    if (result || count == 0)
        return result;
    for (size_t i = 0; i < page->count; i++) {
        uint64_t id = page->entries[i].id;
        bool pending = bsearch(&id, noted, count, sizeof id, compare) != NULL;

        result = pending ? is_pending(d, id, &pending) : STORE_OK;
        if (result)
            return result;
        if (!pending)
            page->entries[kept++] = page->entries[i];
    }
    page->count = kept;
    return STORE_OK;
}
