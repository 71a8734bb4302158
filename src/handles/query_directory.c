/* Listing an open directory over SMB. */
#include "file/entry_file.h"
#include "handles/handle_names.h"
#include "handles/handle_private.h"
#include "handles/name_pattern.h"

struct page {
    struct decision *d;
    struct handle_list *list;
    struct name_pattern pattern;
    struct arena *arena; /* memory for one entry; rewound after each */
    bool full;
};

/* Adds an entry, unless the page is full. */
static void add(struct page *page, struct bytes name, const struct handle_info *info)
{
    const struct listed entry = { .name = name, .info = *info };
    struct handle_list *list = page->list;

    page->full = list->count == list->max || !list->sink->add(list->sink, &entry);
    if (!page->full)
        list->count++;
}

/* ---- "." and ".." ---- */

/* Returns the information of the parent directory, or of the root itself. */
static enum error show_parent(struct page *page, struct handle_info *ret_info)
{
    struct decision *d = page->d;
    const struct file_state *state = file_state(d);
    struct file file;
    enum error e;

    *ret_info = handle_show(d, NULL, NULL);
    if (tree_place_is_root(&state->place))
        return OK;
    e = file_read_directory(d, tree_place_parent(&state->place), &file);
    if (!e)
        *ret_info = handle_info_of(&file, tree_place_parent(&state->place), TREE_ROOT);
    return e;
}

static enum error add_dots(struct page *page)
{
    struct list_position *at = &page->list->next;
    struct handle_info info = handle_show(page->d, NULL, NULL);
    enum error e = OK;

    if (at->stage == LIST_DOT) {
        if (name_pattern_matches(&page->pattern, bytes_from_string(".")))
            add(page, bytes_from_string("."), &info);
        at->stage = page->full ? LIST_DOT : LIST_DOT_DOT;
    }
    if (at->stage != LIST_DOT_DOT || page->full)
        return OK;
    if (name_pattern_matches(&page->pattern, bytes_from_string(".."))) {
        e = show_parent(page, &info);
        if (!e)
            add(page, bytes_from_string(".."), &info);
    }
    at->stage = page->full ? LIST_DOT_DOT : LIST_NAMES;
    return e;
}

/* ---- names ---- */

static enum store_result add_entry(struct page *page, struct tree_entry *entry)
{
    uint64_t directory = file_state(page->d)->place.entry.id;
    struct arena_mark mark = arena_mark(page->arena);
    struct file file;
    struct handle_info info;
    enum store_result result;

    if (!name_pattern_matches(&page->pattern, entry->name.key))
        return STORE_OK;
    result = entry_file_read(page->d, directory, page->arena, entry, &file);
    if (!result) {
        info = handle_info_of(&file, entry->id, directory);
        add(page, entry->name.given, &info);
    }
    arena_rewind(page->arena, mark);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result add_entries(struct page *page, const struct tree_page *found)
{
    struct list_position *at = &page->list->next;
    enum store_result result = STORE_OK;
    size_t i = 0;

    while (!result && i < found->count) {
        at->name = found->entries[i].name.given;
        result = add_entry(page, &found->entries[i]);
        if (page->full)
            return result;
        i++;
    }
    at->name = found->next;
    if (!found->next.ptr)
        at->stage = LIST_END;
    return result;
}

static enum error list_names(struct page *page)
{
    struct decision *d = page->d;
    struct file_state *state = file_state(d);
    struct handle_list *list = page->list;
    struct bytes from = list->next.name.ptr ? list->next.name : page->pattern.prefix;
    size_t max = page->pattern.is_name ? 1 : list->max - list->count;
    struct tree_page found;
    enum tree_result listed;
    enum store_result result;

    if (max == 0)
        return OK;
    listed = tree_list(&state->tree, &state->place, page->pattern.prefix, from, max, &found);
    if (listed)
        return file_fail_tree(d, listed);
    if (found.count > ENTRIES_ON_WORKER && !d->access.may_block)
        return DECIDE_BLOCKING;
    if (page->pattern.is_name)
        found.next = bytes_of(NULL, 0);
    page->arena = arena_new_like(d->arena, ENTRY_ARENA_MAX);
    result = add_entries(page, &found);
    arena_free(page->arena);
    return result ? decision_fail_store(d, result) : OK;
}

enum error handle_list_attempt(struct decision *d, void *of)
{
    struct handle_list *list = of;
    struct page page = { .d = d, .list = list };
    struct open_state *opens;
    enum error e = list->handle->kind == TREE_DIRECTORY ? OK : E_ResourceTypeMismatch;

    list->count = 0;
    list->next = list->from;
    if (!e)
        e = handle_find(d, list->tree_connect, list->handle, HANDLE_READS, &opens);
    if (!e && !name_pattern_parse(d->arena, list->pattern, &page.pattern))
        e = E_InvalidResourceName;
    if (e)
        return e;
    list->sink->begin(list->sink);
    if (list->next.stage < LIST_NAMES)
        e = add_dots(&page);
    if (!e && list->next.stage == LIST_NAMES && !page.full)
        e = list_names(&page);
    return e;
}
