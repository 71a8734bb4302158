/* Creating directories: see path_operations.h. */
#include "blob/access_control.h"
#include "blob/namespace.h"
#include "blob/path_operations.h"

enum error path_create_directory(struct decision *d, const struct create_blob *create,
                                 const struct posix_creation *creation, struct blob *ret_directory)
{
    const struct blob_state *state = blob_state(d);
    struct blob directory;
    enum error e = OK;

    if (state->node->part && !blob_is_directory(d))
        return E_PathConflict;
    if (d->subject.exists)
        e = blob_begin_change(d, &directory);
    else
        e = namespace_make(d, TREE_DIRECTORY);
    if (e)
        return e;
    if (!d->subject.exists)
        directory = namespace_new_directory(d->now);
    e = access_control_give(d, creation, &directory);
    if (e)
        return decision_take_back(d, e);
    directory.http = create->http;
    directory.metadata = create->metadata;
    if (create->tags.len > 0)
        directory.tags = create->tags;
    d->subject =
        (struct subject){ .exists = true, .etag = directory.etag, .modified = directory.modified };
    blob_change(d, stored_blob(d), &directory);
    *ret_directory = directory;
    return OK;
}
