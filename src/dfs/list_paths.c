/* Path List: the blobs of the container as paths. In a flat container, a directory is listed where
 * its blob is, or where the first name below it is. rest: Path-List; decision: 1205 */
#include "dfs/path_operations.h"

#include "blob/immutability.h"
#include "blob/namespace.h"

/* The name of a directory and the names below it are not adjacent: "a" is before "a-b", which is
 * before "a/b". So a page remembers the directories that it has listed. All names between "a" and
 * "a/" start with "a", so only the prefixes of the current name must be remembered. */
struct page {
    struct blob_sink sink;
    struct blob_sink *to;
    const struct list_paths_parameters *asked;
    struct arena *arena;
    struct text newest; /* name of the newest directory in `open` */
    uint32_t *open;     /* lengths of its prefixes that are directories */
    size_t open_count, open_size;
    bool has_entry;
};

static struct page *page_of(struct blob_sink *sink)
{
    return (struct page *)(void *)sink;
}

static void remember_directory(struct page *page, struct bytes name)
{
    if (page->open_count == page->open_size) {
        size_t size = page->open_size * 2 + 16;
        uint32_t *open = arena_array(page->arena, size, sizeof *open);

        if (page->open_count > 0)
            memcpy(open, page->open, page->open_count * sizeof *open);
        page->open = open;
        page->open_size = size;
    }
    page->newest.len = 0;
    text_add(&page->newest, name);
    page->open[page->open_count++] = (uint32_t)name.len;
}

/* Forgets the directories that are not prefixes of the name, which comes after them. */
static void forget_directories(struct page *page, struct bytes name)
{
    struct bytes newest = text_bytes(&page->newest);
    size_t common = 0;

    while (common < newest.len && common < name.len && newest.ptr[common] == name.ptr[common])
        common++;
    while (page->open_count > 0 && page->open[page->open_count - 1] > common)
        page->open_count--;
}

static void begin(struct blob_sink *sink, instant now)
{
    struct page *page = page_of(sink);
    const struct paths_place *from = &page->asked->from;

    page->open_count = 0;
    for (size_t i = 0; i < from->open_count; i++)
        remember_directory(page, bytes_of(from->at.name.ptr, from->open[i]));
    page->has_entry = false;
    page->to->begin(page->to, now);
    sink->full = false;
}

static void add(struct blob_sink *sink, struct bytes name, const struct blob *blob)
{
    struct page *page = page_of(sink);

    forget_directories(page, name);
    if (path_is_directory(blob))
        remember_directory(page, name);
    page->has_entry = true;
    page->to->add(page->to, name, blob);
    sink->full = page->to->full;
}

static void add_group(struct blob_sink *sink, struct bytes prefix, const struct blob *directory)
{
    struct page *page = page_of(sink);
    struct bytes name = bytes_of(prefix.ptr, prefix.len - 1);

    page->has_entry = true;
    forget_directories(page, name);
    if (page->open_count > 0 && page->open[page->open_count - 1] == name.len)
        return;
    page->to->add_group(page->to, name, directory);
    sink->full = page->to->full;
}

/* Reads the node of a tree that has the name of a listed directory. */
static enum error find_node(struct decision *d, struct bytes name, struct blob *ret_blob)
{
    struct blob_state *state = blob_state(d);
    bool is_empty = true;
    enum store_result result;
    enum error e;

    (void)namespace_locate(d, name);
    e = namespace_find(d, name);
    if (e)
        return e;
    if (!state->node->part)
        return E_BlobNotFound;
    result = blob_read(d->before, d->arena, blob_base, ret_blob);
    if (result)
        return decision_fail_store(d, result);
    if (file_has_expired(d, ret_blob))
        return E_BlobNotFound;
    e = blob_is_directory(d) ? namespace_is_empty(d, &is_empty) : OK;
    if (!e && !is_empty)
        return decision_fail_store(d, STORE_CONFLICT); /* an entry was added since it was listed */
    return e;
}

/* The same in a flat container. */
static enum error find_blob(struct decision *d, struct bytes name, struct blob *ret_blob)
{
    struct partition at = { .space = blob_state(d)->container.space, .key = name };
    struct decision_part *part = decision_open(d, at, NULL);
    enum store_result result = blob_read(part->before, d->arena, blob_base, ret_blob);

    decision_leave(d, part);
    if (result == STORE_NOT_FOUND)
        return E_BlobNotFound;
    return result ? decision_fail_store(d, result) : OK;
}

/* Completes a page without entries: the directory is empty, missing, or a file, which is listed
 * itself. decision: 1262 */
static enum error list_alone(struct decision *d, const struct list_blobs_parameters *list,
                             struct blob_sink *to)
{
    struct bytes name = bytes_of(list->listing.prefix.ptr, list->listing.prefix.len - 1);
    struct blob blob;
    enum error e = blob_state(d)->container.hierarchical ? find_node(d, name, &blob)
                                                         : find_blob(d, name, &blob);

    if (!e && blob.uncommitted)
        e = E_BlobNotFound;
    if (!e && !path_is_directory(&blob))
        to->add(to, name, &blob);
    return e;
}

/* ---- lists that start after the last name ---- */

struct probe {
    struct blob_sink sink;
    bool has_entry;
};

static void begin_probe(struct blob_sink *sink, instant now)
{
    (void)now;
    sink->full = false;
}

static void find_entry(struct blob_sink *sink)
{
    struct probe *probe = (struct probe *)(void *)sink;

    probe->has_entry = sink->full = true;
}

static void add_to_probe(struct blob_sink *sink, struct bytes name, const struct blob *blob)
{
    (void)name;
    (void)blob;
    find_entry(sink);
}

static void add_group_to_probe(struct blob_sink *sink, struct bytes prefix,
                               const struct blob *directory)
{
    (void)prefix;
    (void)directory;
    find_entry(sink);
}

/* Returns true if a directory of a tree has names that were not listed: those of uncommitted
 * blobs. */
static bool has_names(struct decision *d, const struct list_blobs_result *listed)
{
    return blob_state(d)->container.hierarchical && listed->has_records;
}

/* Finds out whether there are entries before the name at which the list starts. */
static enum error find_earlier(struct decision *d, struct list_blobs_parameters list,
                               bool *ret_found)
{
    struct probe probe = {
        .sink = { .begin = begin_probe, .add = add_to_probe, .add_group = add_group_to_probe }
    };
    struct list_blobs_result listed = { .base.now = 0 };
    enum error e = OK;

    if (list.start_from.ptr) {
        list.start_from = bytes_of(NULL, 0);
        list.listing.max = 1;
        list.sink = &probe.sink;
        e = list_blobs_decide(d, &list, &listed);
    }
    *ret_found = probe.has_entry || listed.next.name.ptr || has_names(d, &listed);
    return e;
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
    bool has_earlier;
    enum error e;

    text_init(&page.newest, d->arena, 256);
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
    if (listed.next.name.ptr && list.delimiter.ptr) {
        forget_directories(&page, listed.next.name);
        r->next.open = page.open;
        r->next.open_count = page.open_count;
    }
    if (page.has_entry || listed.next.name.ptr || list.listing.prefix.len == 0 ||
        p->from.at.name.ptr)
        return OK;
    if (has_names(d, &listed))
        return OK;
    e = find_earlier(d, list, &has_earlier);
    return e || has_earlier ? e : list_alone(d, &list, page.to);
}
