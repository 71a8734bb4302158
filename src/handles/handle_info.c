/* Queries and changes of the information of open files and directories. */
#include "handles/handle_info.h"

#include "file/file_content.h"
#include "opens/handle_index.h"
#include "handles/handle_private.h"
#include "opens/change_notification.h"

/* ---- query ---- */

static enum error find_path(struct decision *d, uint64_t node, struct bytes *ret_path)
{
    struct handle_path place;
    unsigned work = 0;
    enum store_result result =
        handle_path_read(&file_state(d)->tree, d->arena, node, TREE_ROOT, &work, &place);

    if (result)
        return result == STORE_NOT_FOUND ? E_ResourceNotFound : decision_fail_store(d, result);
    *ret_path = place.path;
    return OK;
}

enum error handle_query_attempt(struct decision *d, void *of)
{
    struct handle_query *query = of;
    struct open_state *opens;
    enum error e = handle_find(d, query->tree_connect, query->handle, HANDLE_READS, &opens);

    query->path = query->descriptor = bytes_of(NULL, 0);
    if (e)
        return e;
    query->info = handle_show(d, &query->handle->times, opens);
    if (query->wants_path && opens)
        e = find_path(d, query->handle->node, &query->path);
    if (!e && query->wants_descriptor)
        e = handle_descriptor(d, query->wants_descriptor, &query->descriptor);
    return e;
}

/* ---- times and attributes ---- */

/* Sets a time of the file, and *keeps to whether operations on the handle stop updating it; keeps
 * is NULL for the creation time. Returns true if the time has changed. */
static bool set_time(const struct basic_time_given *given, instant *time, bool *keeps)
{
    if (given->kind == BASIC_TIME_KEPT)
        return false;
    if (keeps)
        *keeps = given->kind != BASIC_TIME_THAWED;
    if (given->kind != BASIC_TIME_GIVEN)
        return false;
    *time = given->at;
    return true;
}

/* Checks the attributes against the kind of the node. MS-FSA 2.1.5.15.2 */
static enum error check_attributes(const struct handle_set_basic *set)
{
    uint32_t others = set->handle->kind == TREE_FILE ? ATTRIBUTE_DIRECTORY : ATTRIBUTE_TEMPORARY;

    return set->has_attributes && (set->attributes & others) ? E_InvalidInput : OK;
}

static bool set_attributes(const struct handle_set_basic *set, struct file *file)
{
    uint32_t directory = file->attributes & ATTRIBUTE_DIRECTORY;

    if (!set->has_attributes)
        return false;
    file->attributes =
        (set->attributes & ATTRIBUTES_ALL & ~(uint32_t)ATTRIBUTE_DIRECTORY) | directory;
    return true;
}

/* Returns the filter bits of watchers to notify of the change. */
static uint32_t filter_of(const struct handle_set_basic *set)
{
    uint32_t filter = set->has_attributes ? CHANGE_ATTRIBUTES : 0;

    if (set->created.kind == BASIC_TIME_GIVEN)
        filter |= CHANGE_CREATION;
    if (set->accessed.kind == BASIC_TIME_GIVEN)
        filter |= CHANGE_LAST_ACCESS;
    if (set->written.kind == BASIC_TIME_GIVEN)
        filter |= CHANGE_LAST_WRITE;
    return filter;
}

enum error handle_set_basic_attempt(struct decision *d, void *of)
{
    struct handle_set_basic *set = of;
    struct handle_times *times = &set->times;
    struct open_state *opens;
    struct file_state *state;
    struct file *file;
    bool changes, sets_changed;
    enum error e = check_attributes(set);

    *times = set->handle->times;
    handle_times_shown(times);
    set->lasts = false;
    if (!e)
        e = handle_find(d, set->tree_connect, set->handle, HANDLE_CHANGES, &opens);
    if (e)
        return e;
    state = file_state(d);
    file = &state->file;
    changes = set_attributes(set, file);
    changes |= set_time(&set->created, &file->created, NULL);
    changes |= set_time(&set->accessed, &file->accessed, &times->keeps_accessed);
    changes |= set_time(&set->written, &file->written, &times->keeps_written);
    sets_changed = set_time(&set->changed, &file->changed, &times->keeps_changed);
    if (!changes && !sets_changed)
        return OK;
    if (!sets_changed && !times->keeps_changed)
        file->changed = d->now;
    file_write_modified(d, file);
    set->lasts = true;
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED, filter_of(set));
}

/* ---- length ---- */

enum error handle_set_length_attempt(struct decision *d, void *of)
{
    struct handle_set_length *set = of;
    struct open_state *opens;
    struct file_state *state;
    bool differs;
    enum error e = set->handle->kind == TREE_FILE ? OK : E_ResourceTypeMismatch;

    set->times = set->handle->times;
    set->lasts = true;
    if (!e && set->length > FILE_LENGTH_MAX && !set->is_allocation)
        e = E_InvalidRange;
    if (!e)
        e = handle_find(d, set->tree_connect, set->handle, HANDLE_CHANGES, &opens);
    if (e)
        return e;
    state = file_state(d);
    if (set->may_not_grow && !set->is_allocation && set->length > state->file.content.length)
        return E_InsufficientAccountCapacity;
    differs = set->length != state->file.content.length;
    e = open_state_change_data(opens, set->handle->id);
    if (set->is_allocation && set->length >= state->file.content.length)
        return e;
    if (!e && differs)
        e = file_resize(d, &state->file, set->length);
    if (e)
        return e;
    handle_times_written(d, &set->times, &state->file);
    handle_times_shown(&set->times);
    file_write_modified(d, &state->file);
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED,
                         CHANGE_LAST_WRITE | (differs ? CHANGE_SIZE : 0));
}

/* ---- disposition ---- */

/* Checks that the node can be deleted. MS-FSA 2.1.5.15.3 */
static enum error check_deletable(struct decision *d)
{
    struct file_state *state = file_state(d);
    uint64_t count;

    if (state->file.attributes & ATTRIBUTE_READ_ONLY)
        return E_ReadOnlyAttribute;
    if (state->file.kind == TREE_FILE)
        return OK;
    if (tree_count(&state->tree, state->part, &count))
        return decision_fail_store(d, state->tree.failed);
    return count > 0 ? E_DirectoryNotEmpty : OK;
}

enum error handle_set_disposition_attempt(struct decision *d, void *of)
{
    const struct handle_set_disposition *set = of;
    struct open_state *opens;
    enum error e = set->handle->node == TREE_ROOT ? E_ResourceTypeMismatch : OK;

    if (!e)
        e = handle_find(d, set->tree_connect, set->handle, HANDLE_CHANGES, &opens);
    if (!e && set->deletes)
        e = check_deletable(d);
    if (!e)
        e = open_state_set_delete_pending(opens, set->handle->id, set->deletes);
    if (!e && set->deletes && set->handle->kind == TREE_DIRECTORY)
        notify_gone(&file_state(d)->tree, set->handle->node);
    return e;
}
