/* Lists the entries of a directory in a snapshot, page by page: merges the current entries with
 * versions of earlier ones, both in key order. */
#include "tree/versions.h"

#include "service/small_record.h"

/* Next record of one of the two inputs */
struct head {
    struct scan *scan;
    struct record record; /* valid until the scan advances */
    struct bytes key;     /* key of the entry; ptr NULL at the end */
    uint64_t until;       /* `until` of a version */
};

struct merge {
    struct tree *tree;
    struct head now, old;
    size_t looks;
};

static enum store_result advance(struct merge *merge, struct head *head)
{
    enum store_result result = scan_next(head->scan, NULL, &head->record);

    head->key = bytes_of(NULL, 0);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    merge->looks++;
    head->key = head->record.key;
    if (head == &merge->old && !version_key_parse(head->record.key, &head->key, &head->until))
        return record_is_unknown("the key of a version", head->record.key);
    return STORE_OK;
}

/* Compares the keys of both heads. Returns less than 0 if the current entry comes first. At least
 * one head is not at its end. */
static int order(const struct merge *merge)
{
    if (!merge->now.key.ptr || !merge->old.key.ptr)
        return merge->now.key.ptr ? -1 : 1;
    return bytes_compare(merge->now.key, merge->old.key);
}

/* Decodes the entry of this name into the arena. Returns STORE_OK; STORE_NOT_FOUND if the value is
 * newer than the snapshot; STORE_CORRUPT. */
static enum store_result decode(struct merge *merge, struct bytes key, struct bytes value,
                                struct tree_entry *ret_entry)
{
    struct tree *tree = merge->tree;
    struct tree_record version;

    if (!version_split(value, &version))
        return record_is_unknown("an entry of a directory", value);
    if (version.written > tree->at)
        return STORE_NOT_FOUND;
    value = arena_copy(tree->d->arena, value);
    return tree_entry_decode(tree->d->arena, tree->rule, bytes_from(key, 1), value, ret_entry)
               ? STORE_OK
               : record_is_unknown("an entry of a directory", value);
}

/* Iterates over the versions of a name. The first version whose `until` is at or above the
 * snapshot's generation determines the result: STORE_OK, or STORE_NOT_FOUND if the snapshot has no
 * such name. Sets *ret_known if there was such a version. */
static enum store_result take_versions(struct merge *merge, struct bytes key, bool *ret_known,
                                       struct tree_entry *ret_entry)
{
    enum store_result seen = STORE_NOT_FOUND, result = STORE_OK;

    *ret_known = false;
    while (!result && bytes_equal(merge->old.key, key)) {
        if (!*ret_known && merge->old.until >= merge->tree->at) {
            *ret_known = true;
            seen = decode(merge, key, merge->old.record.value, ret_entry);
        }
        result = advance(merge, &merge->old);
    }
    return result ? result : seen;
}

/* Advances to the next name. Returns STORE_OK if the snapshot has it, STORE_NOT_FOUND if not. */
static enum store_result take_name(struct merge *merge, struct tree_entry *ret_entry)
{
    int first = order(merge);
    struct arena *arena = merge->tree->d->arena;
    struct arena_mark mark = arena_mark(arena);
    struct bytes key = arena_copy(arena, first > 0 ? merge->old.key : merge->now.key);
    enum store_result seen = STORE_NOT_FOUND, result = STORE_OK;
    bool known = false;

    if (first >= 0)
        seen = take_versions(merge, key, &known, ret_entry);
    if (seen && seen != STORE_NOT_FOUND)
        return seen;
    if (first <= 0 && !known)
        seen = decode(merge, key, merge->now.record.value, ret_entry);
    if (first <= 0)
        result = advance(merge, &merge->now);
    if (seen == STORE_NOT_FOUND)
        arena_rewind(arena, mark);
    return result ? result : seen;
}

static enum store_result merge_page(struct merge *merge, size_t max, struct tree_page *page)
{
    struct arena *arena = merge->tree->d->arena;
    struct tree_entry entry;
    enum store_result result = STORE_OK;

    page->entries = arena_array(arena, max, sizeof page->entries[0]);
    while (!result && (merge->now.key.ptr || merge->old.key.ptr)) {
        if (merge->looks > SNAPSHOT_LIST_LOOKS + page->count) {
            struct bytes key = order(merge) > 0 ? merge->old.key : merge->now.key;

            page->next = arena_copy(arena, bytes_from(key, 1));
            return STORE_OK;
        }
        result = take_name(merge, &entry);
        if (!result && page->count == max) {
            page->next = entry.name.key;
            return STORE_OK;
        }
        if (!result)
            page->entries[page->count++] = entry;
        if (result == STORE_NOT_FOUND)
            result = STORE_OK;
    }
    return result;
}

enum store_result snapshot_list(struct tree *tree, struct read_view *before, struct bytes prefix,
                                struct bytes from, size_t max, struct tree_page *page)
{
    struct arena *arena = tree->d->arena;
    struct merge merge;
    enum store_result result;

    if (memchr(prefix.ptr, '\0', prefix.len)) /* no name contains NUL */
        return STORE_OK;
    merge = (struct merge){
        .tree = tree,
        .now.scan = scan_open(before, RECORD_INNER, prefix, from),
        .old.scan = scan_open(before, RECORD_INNER, version_prefix(arena, prefix),
                              version_prefix(arena, from)),
    };
    result = advance(&merge, &merge.now);
    if (!result)
        result = advance(&merge, &merge.old);
    if (!result)
        result = merge_page(&merge, max, page);
    scan_close(merge.old.scan);
    scan_close(merge.now.scan);
    return result;
}
