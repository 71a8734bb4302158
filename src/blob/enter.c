/* Operations that a blob of a hierarchical container permits: blob_enter(). */
#include "blob/blob_operations.h"
#include "blob/immutability.h"
#include "blob/namespace.h"
#include "blob/path_operations.h"

/* Checks an operation on a directory. decision: 1222 */
static enum error enter_directory(struct decision *d, unsigned needs)
{
    if (needs & NEEDS_CREATE)
        return E_PathConflict;
    if ((needs & (NEEDS_CONTENT | NEEDS_TIER | NEEDS_SNAPSHOT)) || d->input->is_source)
        return E_OperationNotSupportedOnDirectory;
    return OK;
}

/* Deletes the file of the state, which has expired, so that its name is free. */
static enum error delete_expired(struct decision *d)
{
    enum error e;

    blob_state(d)->found = true;
    e = blob_delete_for_good(d, SNAPSHOTS_INCLUDED);
    if (e)
        return e;
    if (d->leaves_more)
        decision_defer_collection(d);
    return DECIDE_PREPARED;
}

/* Effects of operations that a policy or a legal hold may refuse. Deletions are checked by their
 * decide functions, which know what they delete. */
#define NEEDS_PERMIT                                                                               \
    (NEEDS_CREATE | NEEDS_REPLACE | NEEDS_CHANGE | NEEDS_APPEND | NEEDS_SNAPSHOT | NEEDS_NAME)

enum error blob_enter(struct decision *d)
{
    const unsigned needs = decision_passes(d);
    const struct blob_state *state = blob_state(d);
    enum error e;

    if (needs == 0)
        return OK;
    e = needs & NEEDS_PERMIT ? immutability_permit(d, needs) : OK;
    if (e || !state->node)
        return e;
    if (state->has_expired && (needs & (NEEDS_CREATE | NEEDS_NAME)))
        return delete_expired(d);
    if ((needs & NEEDS_PUT) &&
        put_blob_is_of_directory(d,
                                 (const struct put_blob_parameters *)(const void *)d->parameters))
        return OK;
    if (blob_is_directory(d))
        return enter_directory(d, needs);
    return state->node->part || !(needs & NEEDS_CREATE) ? OK : namespace_make(d, TREE_FILE);
}
