/* See expiry.h. */
#include "blob/expiry.h"

#include "base/endian.h"
#include "blob/namespace.h"

/* 9999-12-31T23:59:59Z, the last date of x-ms-expiry-time. */
#define EXPIRY_MAX      3155378975990000000u
/* More expired files in a directory than this make it count as not empty. */
#define EXPIRED_AT_ONCE 256u

/* ---- setting ---- */

/* Computes the time. Returns false if it is too late or, unless it is 0, in the past. */
static bool find_time(const struct decision *d, const struct expiry_request *request,
                      instant created, instant *ret_at)
{
    instant from = 0;

    if (request->option == EXPIRY_SINCE_CREATION)
        from = created;
    else if (request->option == EXPIRY_SINCE_NOW)
        from = d->now;
    if (from > EXPIRY_MAX || request->ticks > EXPIRY_MAX - from)
        return false;
    *ret_at = from + request->ticks;
    return request->option == EXPIRY_NEVER || *ret_at > d->now;
}

enum error expiry_set(struct decision *d, const struct expiry_request *request, struct blob *blob)
{
    instant at = 0;

    if (!blob_state(d)->container.hierarchical)
        return E_HierarchicalNamespaceNotEnabled;
    if (blob->is_directory)
        return E_OperationNotSupportedOnDirectory;
    if (!find_time(d, request, blob->created, &at)) {
        problem_set_header(d->problem, "x-ms-expiry-time", request->given);
        return E_InvalidHeaderValue;
    }
    blob->expiry.at = at;
    return OK;
}

/* ---- the task ---- */

/* Returns the expiry of a record; 0 for none. */
static instant time_of(const struct blob *blob)
{
    return blob && blob_ref_is_base(blob->ref) ? blob->expiry.at : 0;
}

static struct guid defer(struct changes *changes, instant at)
{
    char payload[8];

    be64_put(payload, at);
    return changes_defer(changes, at, TASK_EXPIRE_FILE, bytes_of(payload, sizeof payload));
}

const struct blob *expiry_follow(struct decision *d, const struct blob *was, const struct blob *now)
{
    struct blob *changed;

    if (time_of(was) == time_of(now))
        return now;
    if (time_of(was) > 0)
        changes_task_done(d->changes,
                          &(struct deferred_task){ .due = was->expiry.at, .id = was->expiry.task });
    if (time_of(now) == 0)
        return now;
    changed = arena_alloc(d->arena, sizeof *changed);
    *changed = *now;
    changed->expiry.task = defer(d->changes, now->expiry.at);
    return changed;
}

/* ---- directories ---- */

/* Reads an entry of a directory. */
static enum store_result has_expired(struct decision *d, const struct tree_entry *entry,
                                     bool *ret_expired)
{
    struct decision_part *part;
    enum store_result result;
    struct blob blob;

    *ret_expired = false;
    if (entry->kind == TREE_DIRECTORY)
        return STORE_OK;
    part =
        decision_open(d, tree_partition(d->arena, blob_state(d)->container.space, entry->id), NULL);
    result = blob_read_kept(part->before, d->arena, blob_base, &blob);
    decision_leave(d, part);
    if (!result)
        *ret_expired = blob_has_expired(&blob, d->now);
    return result == STORE_NOT_FOUND ? STORE_CONFLICT : result; /* deleted since */
}

enum error expired_files_only(struct decision *d, bool *ret_only)
{
    struct blob_node *node = blob_state(d)->node;
    const struct bytes all = bytes_of("", 0);
    struct tree_page page;
    enum store_result result = STORE_OK;

    *ret_only = false;
    if (tree_list(&node->tree, &node->place, all, all, EXPIRED_AT_ONCE, &page))
        return decision_fail_store(d, node->tree.failed);
    *ret_only = !page.next.ptr;
    for (size_t i = 0; i < page.count && *ret_only && !result; i++)
        result = has_expired(d, &page.entries[i], ret_only);
    return result ? decision_fail_store(d, result) : OK;
}
