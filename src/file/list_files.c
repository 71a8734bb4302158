/* List Directories and Files: a page of the names of a directory, in order.
 *
 * (1) The names are those of one state of the directory. The properties of each entry lie in its own
 *     partition and are read a little later, because a decision over all of them would have thousands of parts.
 *     So each entry existed, with these properties, at some moment while the page was made.
 * (2) The cost of a page depends on its entries, not on the size of the directory. The properties of an entry
 *     stay in memory until it is shown.
 * rest: List-Directories-and-Files; decision: 332 */
#include "base/log.h"
#include "file/file_operations.h"
#include "service/small_record.h"

/* More are not read on a worker. */
#define ENTRIES_ON_WORKER 64u
/* More than a record can have. */
#define ENTRY_ARENA_MAX   ((size_t)1 << 20)

struct page {
    struct decision *d;
    const struct list_files_parameters *asked;
    struct arena *arena; /* of what is read of an entry; rewound behind each */
    bool waits;          /* records are being fetched: the page is made again */
};

static enum store_result read_node(struct page *page, uint64_t id, struct file *ret_file)
{
    struct decision *d = page->d;
    struct decision_part *part =
        decision_open(d, tree_partition(page->arena, d->partition.space, id), NULL);
    const struct tree *tree = &file_state(d)->tree;
    enum store_result result = file_read(tree, part->before, page->arena, ret_file);

    decision_leave(d, part);
    /* A snapshot of the share keeps its records until it is deleted. */
    return result == STORE_NOT_FOUND && tree->at ? STORE_CONFLICT : result;
}

/* Reads the entry again, because its node was missing. */
static enum store_result read_entry_again(struct page *page, struct tree_entry *entry)
{
    struct decision *d = page->d;
    uint64_t id = entry->id;
    struct decision_part *part = decision_open(d, d->partition, NULL);
    enum store_result result =
        tree_entry_read(part->before, d->arena, TREE_CASE_IGNORED, entry->name.key, entry);

    decision_leave(d, part);
    if (result || entry->id != id)
        return result;
    log_line(LOG_ERROR, "the node %016llx has a name and no record", (unsigned long long)id);
    return STORE_CORRUPT;
}

/* Reads the properties of an entry; another file may have its name by now.
 * returns STORE_OK; STORE_NOT_FOUND: the name has been deleted */
static enum store_result read_file(struct page *page, struct tree_entry *entry, struct file *file)
{
    enum store_result result = read_node(page, entry->id, file);

    while (result == STORE_NOT_FOUND) {
        result = read_entry_again(page, entry);
        if (result)
            return result;
        result = read_node(page, entry->id, file);
    }
    if (!result && file->kind != entry->kind)
        return record_is_unknown("a file that is a directory, or the other way round",
                                 entry->name.given);
    return result;
}

/* returns STORE_OK, also when there is nothing to show */
static enum store_result add_entry(struct page *page, struct tree_entry *entry)
{
    struct arena_mark mark = arena_mark(page->arena);
    bool plain = entry->kind == TREE_DIRECTORY && !page->asked->properties;
    struct file file;
    enum store_result result = plain ? STORE_OK : read_file(page, entry, &file);

    if (result == STORE_WAIT)
        page->waits = true;
    else if (!result && !page->waits)
        page->asked->sink->add(page->asked->sink, entry, plain ? NULL : &file);
    arena_rewind(page->arena, mark);
    return result == STORE_NOT_FOUND || result == STORE_WAIT ? STORE_OK : result;
}

/* Adds the entries that were found, up to the end of the page. Records that are not in memory are fetched
 * together. */
static enum store_result add_entries(struct page *page, const struct tree_page *found,
                                     struct bytes *ret_next)
{
    const struct list_files_parameters *asked = page->asked;
    enum store_result result = STORE_OK;
    size_t i = 0;

    asked->sink->begin(asked->sink);
    while (!result && i < found->count && i < asked->listing.max && !asked->sink->full)
        result = add_entry(page, &found->entries[i++]);
    *ret_next = i < found->count ? found->entries[i].name.given : found->next;
    return !result && page->waits ? STORE_WAIT : result;
}

enum error list_files_decide(struct decision *d, const struct list_files_parameters *p,
                             struct list_files_result *r)
{
    struct file_state *state = file_state(d);
    struct page page = { .d = d, .asked = p };
    struct tree_page found;
    enum tree_result listed;
    enum store_result result;

    listed = tree_list(&state->tree, &state->place, p->listing.prefix, p->from, p->listing.max + 1u,
                       &found);
    if (listed)
        return file_fail_tree(d, listed);
    if (found.count > ENTRIES_ON_WORKER && !d->access.may_block)
        return DECIDE_BLOCKING;
    page.arena = arena_new(ENTRY_ARENA_MAX);
    result = add_entries(&page, &found, &r->next);
    arena_free(page.arena);
    r->id = state->place.entry.id;
    return result ? decision_fail_store(d, result) : OK;
}
