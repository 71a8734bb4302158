/* Path List: the blobs of the container as paths. In a flat container, a directory is listed where
 * its blob is, or where the first name below it is. rest: Path-List; decision: 1205 */
#include "dfs/path_operations.h"

#include "blob/namespace.h"

/* The name of a directory and the names below it are not adjacent: "a" is before "a-b", which is
 * before "a/b". So a page remembers the directories that it has listed. */
struct page {
    struct blob_sink sink;
    struct blob_sink *to;
    const struct list_paths_parameters *asked;
    struct arena *arena;
    struct text shown; /* names of directories, each with '\0' */
    bool has_entry;
};

static struct page *page_of(struct blob_sink *sink)
{
    return (struct page *)(void *)sink;
}

static void begin(struct blob_sink *sink, instant now)
{
    struct page *page = page_of(sink);

    page->shown.len = 0;
    text_add(&page->shown, page->asked->from.open);
    page->has_entry = false;
    page->to->begin(page->to, now);
    sink->full = false;
}

static void add(struct blob_sink *sink, struct bytes name, const struct blob *blob)
{
    struct page *page = page_of(sink);

    if (path_is_directory(blob)) {
        text_add(&page->shown, name);
        text_add_char(&page->shown, '\0');
    }
    page->has_entry = true;
    page->to->add(page->to, name, blob);
    sink->full = page->to->full;
}

/* Takes the next name. Returns false at the end. */
static bool next_shown(struct bytes *rest, struct bytes *ret_name)
{
    if (rest->len == 0)
        return false;
    bytes_cut(*rest, '\0', ret_name, rest);
    return true;
}

static void add_group(struct blob_sink *sink, struct bytes prefix)
{
    struct page *page = page_of(sink);
    struct bytes name = bytes_of(prefix.ptr, prefix.len - 1), rest = text_bytes(&page->shown),
                 other;

    page->has_entry = true;
    while (next_shown(&rest, &other))
        if (bytes_equal(other, name))
            return;
    page->to->add_group(page->to, name);
    sink->full = page->to->full;
}

/* Returns those directories whose contents are on later pages. */
static struct bytes still_open(struct page *page, struct bytes next)
{
    struct bytes rest = text_bytes(&page->shown), name;
    struct text open;

    text_init(&open, page->arena, 0);
    while (next_shown(&rest, &name)) {
        if (!bytes_has_prefix(next, name))
            continue;
        text_add(&open, name);
        text_add_char(&open, '\0');
    }
    return text_bytes(&open);
}

/* Checks that an empty directory of a tree exists. */
static enum error check_node(struct decision *d, struct bytes name)
{
    struct blob_state *state = blob_state(d);
    enum error e;

    (void)namespace_locate(d, name);
    e = namespace_find(d, name);
    if (e)
        return e;
    if (!state->node->part)
        return E_BlobNotFound;
    return state->node->place.entry.kind == TREE_DIRECTORY ? OK : E_PathConflict;
}

/* Checks that an empty directory exists. */
static enum error check_directory(struct decision *d, const struct list_blobs_parameters *list)
{
    struct bytes name = bytes_of(list->listing.prefix.ptr, list->listing.prefix.len - 1);
    struct partition at = { .space = blob_state(d)->container.space, .key = name };
    struct decision_part *part;
    enum store_result result;
    struct blob blob;

    if (blob_state(d)->container.hierarchical)
        return check_node(d, name);
    part = decision_open(d, at, NULL);
    result = blob_read(part->before, d->arena, blob_base, &blob);
    decision_leave(d, part);
    if (result == STORE_NOT_FOUND || (!result && blob.uncommitted))
        return E_BlobNotFound;
    if (result)
        return decision_fail_store(d, result);
    return path_is_directory(&blob) ? OK : E_PathConflict;
}

enum error list_paths_decide(struct decision *d, const struct list_paths_parameters *p,
                             struct list_paths_result *r)
{
    struct page page = {
        .sink = { .begin = begin, .add = add, .add_group = add_group },
        .to = p->list.sink,
        .asked = p,
        .arena = d->arena,
    };
    struct list_blobs_parameters list = p->list;
    struct list_blobs_result listed = { .base.now = 0 };
    enum error e;

    text_init(&page.shown, d->arena, 256);
    if (blob_state(d)->container.hierarchical) {
        list.one_level = list.delimiter.ptr != NULL;
        list.delimiter = bytes_of(NULL, 0);
    }
    list.from = p->from.at;
    list.sink = &page.sink;
    e = list_blobs_decide(d, &list, &listed);
    if (e)
        return e;
    r->next.at = listed.next;
    if (listed.next.name.ptr && list.delimiter.ptr)
        r->next.open = still_open(&page, listed.next.name);
    return page.has_entry || listed.next.name.ptr || list.listing.prefix.len == 0 ||
                   p->from.at.name.ptr
               ? OK
               : check_directory(d, &list);
}
