/* Rebuilds the directory entries of a tree; see restore.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "check/records.h"
#include "check/report.h"
#include "check/restore.h"
#include "file/file.h"
#include "file/share_usage.h"

static int compare_children(const void *left, const void *right)
{
    const struct restore_node *a = *(const struct restore_node *const *)left,
                              *b = *(const struct restore_node *const *)right;
    int names = bytes_compare(a->at.name.key, b->at.name.key);

    if (a->at.parent != b->at.parent)
        return a->at.parent < b->at.parent ? -1 : 1;
    return names ? names : (a->id > b->id) - (a->id < b->id);
}

/* ---- entries ---- */

/* Nodes of a directory, ordered by key. */
struct children {
    struct restore_node **items;
    size_t count;
    bool *has_entry;
};

static size_t find_child(const struct children *children, struct bytes key)
{
    size_t low = 0, high = children->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bytes_compare(children->items[middle]->at.name.key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < children->count && bytes_equal(children->items[low]->at.name.key, key)
               ? low
               : children->count;
}

/* Deletes entries that have no node, and marks the children that have an entry. */
static void delete_stale_entries(struct restore *r, struct restore_part *part,
                                 struct children *children)
{
    struct bytes prefix = BYTES("e");
    struct scan *scan = scan_open(part->before, RECORD_INNER, prefix, prefix);
    struct record record;

    while (scan_next(scan, part->arena, &record) == STORE_OK) {
        struct bytes key = bytes_from(record.key, 1);
        size_t at = find_child(children, key);
        struct tree_entry entry;
        bool is_known = tree_entry_decode(part->arena, r->rule, key, record.value, &entry);

        if (is_known && entry.written > r->newest)
            r->newest = entry.written;
        if (is_known && at < children->count && entry.id == children->items[at]->id &&
            entry.kind == children->items[at]->at.kind) {
            children->has_entry[at] = true;
            continue;
        }
        tree_entry_delete(part->changes, key);
        if (at == children->count) {
            r->findings++;
            check_report_part("%s: the file or directory named ", r->share);
            check_report_name(key);
            check_report(FINDING_LOST, "%s", "");
        }
    }
    scan_close(scan);
}

/* ---- all directories ---- */

static void restore_directory(struct restore *r, uint64_t id, struct restore_node **items,
                              size_t count)
{
    struct restore_part part = restore_open(r, id);
    struct children children = { items, count, xcalloc(count + 1, sizeof(bool)) };
    uint64_t counted;

    delete_stale_entries(r, &part, &children);
    for (size_t i = 0; i < count; i++) {
        if (!children.has_entry[i]) {
            restore_put_entry(part.changes, r, items[i]);
            restore_report(r, items[i], "its directory entry, which was restored");
        }
    }
    if (tree_count_read(part.before, part.arena, &counted) || counted != count)
        tree_count_put(part.changes, count);
    free(children.has_entry);
    restore_close(r, &part);
}

/* Sorts the nodes by directory and name. If two have the same name in a directory, the newer one,
 * which has the greater id, gets it. */
static size_t sort_children(struct restore *r, struct restore_node **sorted)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < r->count; i++) {
        if (!r->nodes[i].is_unreadable && !r->nodes[i].is_lost)
            sorted[count++] = &r->nodes[i];
    }
    qsort(sorted, count, sizeof sorted[0], compare_children);
    for (size_t i = 0; i < count; i++) {
        bool is_taken = i + 1 < count && sorted[i]->at.parent == sorted[i + 1]->at.parent &&
                        bytes_equal(sorted[i]->at.name.key, sorted[i + 1]->at.name.key);

        sorted[i]->is_lost = is_taken;
        if (is_taken)
            restore_report(r, sorted[i], "another file or directory has its name");
        else
            sorted[kept++] = sorted[i];
    }
    return kept;
}

void restore_entries(struct restore *r)
{
    struct restore_node **sorted = xcalloc(r->count + 1, sizeof sorted[0]);
    size_t count = sort_children(r, sorted), at = 0;

    for (size_t i = 0; i <= r->count;
         i++) { /* the root first; nodes and children have the same order */
        uint64_t id = i == 0 ? TREE_ROOT : r->nodes[i - 1].id;
        size_t from = at;

        if (i > 0 && r->nodes[i - 1].at.kind != TREE_DIRECTORY)
            continue;
        while (at < count && sorted[at]->at.parent == id)
            at++;
        restore_directory(r, id, sorted + from, at - from);
    }
    free(sorted);
}

/* ---- totals ---- */

void restore_totals(const struct restore *r)
{
    uint64_t sums[SHARE_USAGE_PARTS] = { 0 };

    for (size_t i = 0; i < r->count; i++)
        sums[share_usage_part(r->nodes[i].id)] +=
            r->nodes[i].is_unreadable ? 0 : r->nodes[i].length;
    for (unsigned i = 0; i < SHARE_USAGE_PARTS; i++) {
        struct arena *arena = arena_new(CHECK_ARENA_MAX);
        struct restore_part part = {
            .arena = arena,
            .before = read_view_open(r->store, share_usage_partition(arena, r->space, i),
                                     STORE_MAY_BLOCK),
            .changes = changes_new(arena),
        };
        uint64_t sum = 0;

        if (share_usage_sum(part.before, arena, &sum) || sum != sums[i])
            share_usage_put(part.changes, arena, sums[i]);
        restore_close(r, &part);
    }
}

/* ---- entries of lost directories ---- */

static bool is_one_of(const struct guid *spaces, size_t count, const struct guid *space)
{
    for (size_t i = 0; i < count; i++)
        if (guid_equal(&spaces[i], space))
            return true;
    return false;
}

static bool has_node(struct store *store, const struct check_leftover *directory)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct read_view *before = read_view_open(
        store, tree_partition(arena, directory->space, directory->id), STORE_MAY_BLOCK);
    struct tree_node node;
    bool found = !tree_node_read(before, arena, TREE_CASE_IGNORED, &node) ||
                 !tree_node_read(before, arena, TREE_CASE_EXACT, &node);

    read_view_close(before);
    arena_free(arena);
    return found;
}

void check_record_leftover(struct check_leftovers *left, struct store *store,
                           const struct record_place *place)
{
    struct check_leftover found = { .space = place->space };

    if (place->family != RECORD_INNER || place->partition_key.len != sizeof found.id ||
        place->record_key.len < 2 || place->record_key.ptr[0] != TREE_ENTRY_PREFIX)
        return;
    found.id = be64_get(place->partition_key.ptr);
    if (found.id == TREE_ROOT ||
        (found.id == left->last.id && guid_equal(&found.space, &left->last.space)))
        return;
    left->last = found;
    if (has_node(store, &found))
        return;
    left->items = xrealloc(left->items, (left->count + 1) * sizeof left->items[0]);
    left->items[left->count++] = found;
}

static void delete_entries(const struct restore *r, uint64_t id)
{
    struct bytes prefix = BYTES("e");
    struct restore_part part = restore_open(r, id);
    struct scan *scan = scan_open(part.before, RECORD_INNER, prefix, prefix);
    struct record record;

    while (scan_next(scan, part.arena, &record) == STORE_OK)
        tree_entry_delete(part.changes, bytes_from(record.key, 1));
    scan_close(scan);
    tree_count_put(part.changes, 0);
    restore_close(r, &part);
}

void check_delete_leftovers(const struct check_leftovers *left, struct store *store,
                            const struct guid *spaces, size_t count)
{
    for (size_t i = 0; i < left->count; i++) {
        const struct check_leftover *each = &left->items[i];

        if (is_one_of(spaces, count, &each->space) && !has_node(store, each))
            delete_entries(
                &(struct restore){ .store = store, .space = each->space, .share = "a tree" },
                each->id);
    }
}

void restore_report(struct restore *r, const struct restore_node *node, const char *what)
{
    r->findings++;
    check_report_part("%s: ", r->share);
    check_report_name(node->at.name.given);
    check_report(FINDING_LOST, " (%016llx): %s", (unsigned long long)node->id, what);
}

struct restore_part restore_open(const struct restore *r, uint64_t id)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);

    return (struct restore_part){
        .arena = arena,
        .before = read_view_open(r->store, tree_partition(arena, r->space, id), STORE_MAY_BLOCK),
        .changes = changes_new(arena),
    };
}

void restore_close(const struct restore *r, struct restore_part *part)
{
    struct commit_part commit = { part->before, part->changes };
    uint64_t sequence;

    if (!changes_empty(part->changes) &&
        store_commit(r->store, &commit, 1, clock_now(), STORE_MAY_BLOCK, &sequence))
        fprintf(stderr, "lagra: a change to %s could not be committed\n", r->share);
    read_view_close(part->before);
    arena_free(part->arena);
}

void restore_put_entry(struct changes *changes, const struct restore *r,
                       const struct restore_node *node)
{
    const struct tree_entry entry = { .id = node->id,
                                      .written = r->newest > 0 ? r->newest : 1,
                                      .kind = node->at.kind,
                                      .name = node->at.name };

    tree_entry_put(changes, &entry);
}

struct restore_node *restore_find(const struct restore *r, uint64_t id)
{
    size_t low = 0, high = r->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (r->nodes[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count && r->nodes[low].id == id ? &r->nodes[low] : NULL;
}
