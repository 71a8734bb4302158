/* List Handles and Force Close Handles. List Handles returns a page of handles, ordered by file id
 * and handle id. rest: List-Handles; decision: 340 */
#include "file/file_operations.h"
#include "file/handle_operations.h"
#include "opens/open_state.h"

/* Fails if `recursive` is set for a file. Returns OK, E_InvalidHeaderValue. */
static enum error handle_check_recursive(struct decision *d, bool recursive)
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

/* Adds a handle if it is at or below the subject. Returns STORE_OK even if it is not, or is
 * deleted. */
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
    if (file_requested(d)->snapshot > 0)
        return OK;
    page.arena = arena_new_like(d->arena, HANDLE_ARENA_MAX);
    iterator = handle_scan(&state->tree, p->recursive ? NULL : &state->place.entry.id, &p->from);
    result = add_page(&page, iterator, &r->next);
    index_iterator_close(iterator);
    arena_free(page.arena);
    return result ? decision_fail_store(d, result) : OK;
}

/* Force Close Handles: closes handles of one file or directory, or of everything below a
 * directory, for up to NODES_MAX nodes per request. Deletes a file with a pending delete when its
 * last handle is closed. rest: Force-Close-Handles; decision: 341 */

/* Number of nodes that a decision has parts for, in addition to those of the share, the stamp, the
 * subject, and one lookup. */
#define NODES_MAX 8u

struct closing {
    struct decision *d;
    const struct force_close_handles_parameters *asked;
    struct force_close_handles_result *result;
    struct arena *arena; /* memory for the lookup of one handle */
    unsigned nodes, work;
    uint64_t last; /* last node handled */
    bool is_full;
};

/* Deletes a node with a pending delete. Leaves a directory that is not empty. */
static enum error delete_node(struct decision *d, uint64_t node)
{
    struct tree *tree = &file_state(d)->tree;
    struct tree_place place;
    struct decision_part *part;
    struct file file;
    enum tree_result found = tree_find_id(tree, node, TREE_TO_CHANGE, &place, &part);
    enum store_result result;
    enum error e;

    if (found)
        return file_fail_tree(d, found);
    result = file_read(tree, part->before, d->arena, &file);
    if (result)
        return decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CORRUPT : result);
    e = file_remove(d, &place, &file);
    return e == E_DirectoryNotEmpty ? OK : e;
}

/* Closes the requested handles of the node. */
static enum error close_open(struct closing *c, struct open_state *opens, bool *ret_deletes)
{
    size_t count = opens->set.open_count;
    enum error e;

    *ret_deletes = false;
    if (c->asked->id == 0) {
        open_state_close_all(opens, ret_deletes);
    } else {
        e = open_state_close(opens, c->asked->id, true, ret_deletes);
        if (e)
            return e == E_ResourceNotFound ? OK : e;
    }
    c->result->closed += count - opens->set.open_count;
    return OK;
}

/* Closes handles of one node. A node with a pending delete is closed in a request of its own,
 * because its deletion uses up the decision's parts. */
static enum error close_node(struct closing *c, uint64_t node)
{
    struct decision *d = c->d;
    struct decision_part *part;
    struct tree_node read;
    struct open_state *opens;
    enum tree_result found = tree_open_id(&file_state(d)->tree, node, &part, &read);
    enum error e;
    bool deletes;

    if (found)
        return found == TREE_NOT_FOUND ? OK : file_fail_tree(d, found);
    e = file_open_state(d, part, node, &opens);
    if (e)
        return e;
    c->is_full = c->nodes > 0 && opens->set.is_delete_pending;
    if (c->is_full)
        return OK;
    c->nodes++;
    e = close_open(c, opens, &deletes);
    if (e || !deletes || node == TREE_ROOT)
        return e;
    c->nodes = NODES_MAX;
    return delete_node(d, node);
}

/* Closes the handle's node if it is the subject or below it. */
static enum error look_at(struct closing *c, const struct handle *handle)
{
    struct decision *d = c->d;
    struct arena_mark mark = arena_mark(c->arena);
    uint64_t top = file_state(d)->place.entry.id, node = handle->node;
    struct handle_path place;
    enum store_result result;
    enum error e = OK;

    c->is_full = c->nodes == NODES_MAX;
    if (c->is_full)
        return OK;
    result = handle_path_read(&file_state(d)->tree, c->arena, node, top, &c->work, &place);
    if (!result)
        e = close_node(c, node);
    else if (result != STORE_NOT_FOUND)
        e = decision_fail_store(d, result);
    c->last = c->is_full ? c->last : node;
    arena_rewind(c->arena, mark);
    return e;
}

static enum error close_all(struct closing *c, struct index_iterator *iterator)
{
    struct handle handle;
    bool is_first = true;
    enum error e = OK;

    while (!e) {
        enum store_result result =
            handle_next(&file_state(c->d)->tree, iterator, &c->work, &handle);

        if (result == STORE_NOT_FOUND)
            return OK;
        if (!result && c->work > HANDLE_WORKER_MAX && !c->d->access.may_block)
            result = STORE_WAIT;
        if (result)
            return decision_fail_store(c->d, result);
        c->is_full = c->work >= HANDLE_WORK_MAX;
        if (!c->is_full && (is_first || handle.node != c->last) &&
            (c->asked->id == 0 || c->asked->id == handle.id)) {
            e = look_at(c, &handle);
            is_first = is_first && c->is_full;
        }
        if (!e && c->is_full) {
            c->result->next = (struct handle_marker){ true, handle.node, handle.id };
            return OK;
        }
    }
    return e;
}

enum error force_close_handles_decide(struct decision *d,
                                      const struct force_close_handles_parameters *p,
                                      struct force_close_handles_result *r)
{
    struct file_state *state = file_state(d);
    struct closing closing = { .d = d, .asked = p, .result = r };
    enum error e = handle_check_recursive(d, p->recursive);
    struct index_iterator *iterator;

    if (e || file_requested(d)->snapshot > 0)
        return e;
    closing.arena = arena_new_like(d->arena, HANDLE_ARENA_MAX);
    iterator = handle_scan(&state->tree, p->recursive ? NULL : &state->place.entry.id, &p->from);
    e = close_all(&closing, iterator);
    index_iterator_close(iterator);
    arena_free(closing.arena);
    return e;
}
