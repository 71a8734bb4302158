/* List Handles: returns a page of handles, ordered by file id and handle id. rest: List-Handles;
 * decision: 340 */
#include "file/handle_operations.h"

enum error handle_check_recursive(struct decision *d, bool recursive)
{
    if (recursive && file_state(d)->place.entry.kind == TREE_FILE)
        return decision_fail(d, E_InvalidHeaderValue, "x-ms-recursive is for directories.");
    return OK;
}

struct page {
    struct decision *d;
    const struct list_handles_parameters *asked;
    struct arena *arena; /* memory for one handle; rewound after each */
    uint32_t shown;
    unsigned work;
};

static bool is_full(const struct page *page)
{
    return page->shown == page->asked->listing.max || page->asked->sink->full ||
           page->work >= HANDLE_WORK_MAX;
}

/* Adds a handle if it is at or below the subject. returns STORE_OK, also if it is not, or is
 * deleted */
static enum store_result add_handle(struct page *page, const struct handle *handle)
{
    struct arena_mark mark = arena_mark(page->arena);
    uint64_t top = file_state(page->d)->place.entry.id;
    struct handle_path place;
    enum store_result result = handle_path_read(&file_state(page->d)->tree, page->arena,
                                                handle->node, top, &page->work, &place);

    if (!result) {
        page->asked->sink->add(page->asked->sink, handle, &place);
        page->shown++;
    }
    arena_rewind(page->arena, mark);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result add_page(struct page *page, struct index_iterator *iterator,
                                  struct handle_marker *ret_next)
{
    enum store_result result;
    struct handle handle;

    for (;;) {
        result = handle_next(&file_state(page->d)->tree, iterator, &page->work, &handle);
        if (!result && is_full(page)) {
            *ret_next = (struct handle_marker){ true, handle.node, handle.id };
            return STORE_OK;
        }
        if (!result)
            result = add_handle(page, &handle);
        if (!result && page->work > HANDLE_WORKER_MAX && !page->d->access.may_block)
            result = STORE_WAIT;
        if (result)
            return result == STORE_NOT_FOUND ? STORE_OK : result;
    }
}

enum error list_handles_decide(struct decision *d, const struct list_handles_parameters *p,
                               struct list_handles_result *r)
{
    struct file_state *state = file_state(d);
    struct page page = { .d = d, .asked = p };
    enum error e = handle_check_recursive(d, p->recursive);
    struct index_iterator *iterator;
    enum store_result result;

    if (e)
        return e;
    p->sink->begin(p->sink);
    if (file_asked(d)->snapshot > 0)
        return OK;
    page.arena = arena_new_like(d->arena, HANDLE_ARENA_MAX);
    iterator = handle_scan(&state->tree, p->recursive ? NULL : &state->place.entry.id, &p->from);
    result = add_page(&page, iterator, &r->next);
    index_iterator_close(iterator);
    arena_free(page.arena);
    return result ? decision_fail_store(d, result) : OK;
}
