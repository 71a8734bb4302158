/* Closing handles over SMB. */
#include "file/file_operations.h"
#include "handles/handle_open.h"
#include "handles/handle_private.h"
#include "opens/change_notification.h"

/* Deletes the node after its last handle was closed, except a directory that is no longer empty.
 * MS-FSA 2.1.5.5 */
static enum error delete_node(struct decision *d, struct handle_close *close)
{
    struct file_state *state = file_state(d);
    enum tree_result found = tree_find_id(&state->tree, close->handle->node, TREE_TO_CHANGE,
                                          &state->place, &state->part);
    enum error e;

    if (found)
        return file_fail_tree(d, found);
    e = file_remove(d, &state->place, &state->file);
    close->deleted = !e;
    return e == E_DirectoryNotEmpty ? OK : e;
}

/* Updates the file's times on close. */
static void settle_times(struct decision *d, struct handle_close *close)
{
    struct file *file = &file_state(d)->file;
    struct handle_times times = close->handle->times;

    if (handle_times_closed(d, &times, file))
        file_write_modified(d, file);
}

enum error handle_close_open(struct decision *d, struct handle_close *close,
                             struct open_state *opens)
{
    bool was_pending = opens->set.is_delete_pending, deletes;
    enum error e = open_state_close(opens, close->handle->id, false, &deletes);

    if (!e && deletes && close->handle->node != TREE_ROOT)
        e = delete_node(d, close);
    if (!e && !close->deleted)
        settle_times(d, close);
    if (!e && opens->set.is_delete_pending && !was_pending &&
        file_state(d)->file.kind == TREE_DIRECTORY)
        notify_gone(&file_state(d)->tree, close->handle->node);
    return e;
}

enum error handle_close_begin(struct decision *d, struct handle_close *close, bool *ret_is_there,
                              struct open_state **ret_opens)
{
    enum error e = handle_find(d, close->tree_connect, close->handle, HANDLE_READS, ret_opens);

    close->deleted = false;
    close->info = (struct handle_info){ .node = close->handle->node };
    *ret_is_there = !e;
    return e == E_ResourceNotFound || e == E_ShareNotFound ? OK : e;
}

enum error handle_close_attempt(struct decision *d, void *of)
{
    struct handle_close *close = of;
    struct open_state *opens;
    bool is_there;
    enum error e = handle_close_begin(d, close, &is_there, &opens);

    if (is_there && opens)
        e = handle_close_open(d, close, opens);
    if (e || !is_there)
        return e;
    close->info = handle_show(d, NULL, opens);
    return OK;
}
