/* Lists a directory's entries, page by page. */
#include <assert.h>

#include "service/small_record.h"
#include "tree/versions.h"

/* Reads the entry of the next record. Returns the results of scan_next(). */
static enum store_result next_entry(struct tree *tree, struct scan *scan,
                                    struct tree_entry *ret_entry)
{
    struct record record;
    enum store_result result = scan_next(scan, tree->d->arena, &record);

    if (result)
        return result;
    if (!tree_entry_decode(tree->d->arena, tree->rule, bytes_from(record.key, 1), record.value,
                           ret_entry))
        return record_is_unknown("an entry of a directory", record.value);
    return STORE_OK;
}

static enum store_result read_page(struct tree *tree, struct scan *scan, size_t max,
                                   struct tree_page *page)
{
    struct tree_entry *entries = arena_array(tree->d->arena, max, sizeof entries[0]);
    struct tree_entry more;
    enum store_result result = STORE_OK;

    while (page->count < max) {
        result = next_entry(tree, scan, &entries[page->count]);
        if (result)
            break;
        page->count++;
    }
    page->entries = entries;
    if (!result) {
        result = next_entry(tree, scan, &more);
        page->next = result ? page->next : more.name.key;
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum tree_result tree_list(struct tree *tree, const struct tree_place *place, struct bytes prefix,
                           struct bytes from, size_t max, struct tree_page *ret_page)
{
    struct arena *arena = tree->d->arena;
    struct decision_part *part;
    enum store_result result;
    enum tree_result opened;
    struct scan *scan;

    assert(max > 0);
    *ret_page = (struct tree_page){ .count = 0 };
    if (place->entry.kind != TREE_DIRECTORY)
        return TREE_KINDS_DIFFER;
    opened = tree_open_node(tree, place, &part);
    if (opened)
        return opened;
    prefix = tree_entry_key(arena, tree_key(arena, tree->rule, prefix));
    from = tree_entry_key(arena, tree_key(arena, tree->rule, from));
    if (tree->at) {
        result = snapshot_list(tree, part->before, prefix, from, max, ret_page);
        return result ? tree_fail(tree, result) : TREE_OK;
    }
    scan = scan_open(part->before, RECORD_INNER, prefix, from);
    result = read_page(tree, scan, max, ret_page);
    scan_close(scan);
    return result ? tree_fail(tree, result) : TREE_OK;
}

enum tree_result tree_count(struct tree *tree, const struct decision_part *part,
                            uint64_t *ret_count)
{
    enum store_result result = tree_count_read(part->before, tree->d->arena, ret_count);

    return result ? tree_fail(tree, result) : TREE_OK;
}
