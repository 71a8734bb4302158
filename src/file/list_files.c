/* List Directories and Files: returns a page of a directory's names, in order.
 *
 * (1) The names are a consistent snapshot of the directory. The properties of an entry are in its
 *     own partition and are read a little later, because a decision cannot span thousands of parts.
 *     Each entry therefore existed, with the properties shown, at some time while the page was
 *     built. Entries with a pending delete are left out (semantics 8.3). The index of pending
 *     deletes is read after the names, and lacks nodes that were deleted in between. If the
 *     directory has changed by then, each entry is therefore read, and left out if it no longer
 *     exists.
 * (2) The work is proportional to the entries of the page, not of the directory. The memory for an
 *     entry is released once the entry has been added.
 * rest: List-Directories-and-Files; decisions: 332, 866 */
#include "file/entry_file.h"
#include "file/file_operations.h"
#include "file/pending_file.h"

struct page {
    struct decision *d;
    const struct list_files_parameters *asked;
    uint64_t directory;
    struct arena *arena; /* memory for one entry; rewound after each */
    bool has_changed;    /* the directory has changed since its names were read */
};

static bool shows_file(const struct page *page, const struct tree_entry *entry)
{
    return entry->kind != TREE_DIRECTORY || page->asked->properties;
}

/* Adds an entry unless it was deleted. Returns STORE_OK even if it was deleted. */
static enum store_result add_entry(struct page *page, struct tree_entry *entry)
{
    struct arena_mark mark = arena_mark(page->arena);
    struct file file;
    enum store_result result = STORE_OK;

    if (shows_file(page, entry) || page->has_changed)
        result = entry_file_read(page->d, page->directory, page->arena, entry, &file);
    if (!result)
        page->asked->sink->add(page->asked->sink, entry, shows_file(page, entry) ? &file : NULL);
    arena_rewind(page->arena, mark);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Adds entries up to the end of the page. */
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
    return result;
}

enum error list_files_decide(struct decision *d, const struct list_files_parameters *p,
                             struct list_files_result *r)
{
    struct file_state *state = file_state(d);
    struct page page = { .d = d, .asked = p, .directory = state->place.entry.id };
    struct tree_page found;
    enum tree_result listed;
    enum store_result result;

    listed = tree_list(&state->tree, &state->place, p->listing.prefix, p->from, p->listing.max + 1u,
                       &found);
    if (listed)
        return file_fail_tree(d, listed);
    if (found.count > ENTRIES_ON_WORKER && !d->access.may_block)
        return DECIDE_BLOCKING;
    result = state->tree.at ? STORE_OK : pending_leave_out(d, &found);
    if (result)
        return decision_fail_store(d, result);
    page.has_changed = !state->tree.at && decision_confirm(d) != STORE_OK;
    page.arena = arena_new_like(d->arena, ENTRY_ARENA_MAX);
    result = add_entries(&page, &found, &r->next);
    arena_free(page.arena);
    r->id = state->place.entry.id;
    return result ? decision_fail_store(d, result) : OK;
}
