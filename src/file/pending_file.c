/* Pending copies to files. rest: Copy-File, Abort-Copy-File */
#include "file/pending_file.h"

#include "base/endian.h"
#include "file/file_content.h"
#include "opens/change_notification.h"
#include "opens/open_state.h"
#include "service/small_record.h"

#include <assert.h>
#include <stdlib.h>

/* ---- the record ---- */

static void write_record(struct changes *changes, struct arena *arena,
                         const struct pending_file *pending)
{
    struct text out;

    text_init(&out, arena, 512);
    pending_record_begin(&out, &pending->source, file_encode(arena, &pending->target));
    changes_put(changes, RECORD_INNER, pending_record_key, text_bytes(&out), NULL, 0);
}

enum store_result pending_file_read(struct read_view *before, struct arena *arena,
                                    struct pending_file *ret_pending)
{
    struct pending_file pending = { .source = { .begun = 0 } };
    struct decoder rest;
    struct bytes target;
    enum store_result result = pending_record_read(before, arena, &pending.source, &target, &rest);

    if (result)
        return result;
    if (!decoder_ok(&rest) || !file_decode(target, &pending.target) ||
        pending.target.kind != TREE_FILE)
        return record_is_unknown("the destination in the record of a pending copy", target);
    *ret_pending = pending;
    return STORE_OK;
}

/* Deletes the second content of an earlier copy whose task has not run yet. */
static enum error delete_older(struct decision *d, struct decision_part *part)
{
    struct pending_file older;
    enum store_result result = pending_file_read(part->before, d->arena, &older);

    if (!result)
        content_newest_delete(part->changes, &older.target.content, &d->leaves_more);
    return result && result != STORE_NOT_FOUND ? decision_fail_store(d, result) : OK;
}

enum error pending_file_begin(struct decision *d, struct decision_part *part,
                              const struct pending_source *source, struct file *file)
{
    struct pending_file pending = { .source = *source, .target = *file };
    enum error e = delete_older(d, part);

    if (e)
        return e;
    pending.source.begun = d->now;
    pending.target.etag = etag_after(file->etag, d->now);
    pending.target.content = content_sparse(d->now, file->content.length);
    assert(pending.target.content.id != file->content.id);
    file->http.has_md5 = false;
    write_record(part->changes, d->arena, &pending);
    changes_defer(part->changes, d->now, TASK_COPY_FILE,
                  bytes_of(source->id.b, sizeof source->id.b));
    return OK;
}

void pending_file_delete(struct decision *d, const struct pending_file *pending)
{
    content_newest_delete(d->changes, &pending->target.content, &d->leaves_more);
    changes_delete(d->changes, RECORD_INNER, pending_record_key);
}

/* ---- while the copy is pending ---- */

/* Sets the place like tree_find_id(), for notify_change(). */
static void take_place(struct decision *d, const struct tree_node *node, struct tree_place *place)
{
    struct tree_name *name = arena_array(d->arena, 1, sizeof *name);

    *name = node->name;
    place->path = (struct tree_path){ name, 1 };
    place->directories = arena_array(d->arena, 1, sizeof place->directories[0]);
    place->directories[0] = node->parent;
    place->exists = true;
    place->entry.kind = node->kind;
}

/* Reads the file of the decision's partition. Returns OK, E_NoPendingCopyOperation, or a read
 * error. */
static enum error read_node(struct decision *d, struct file_state *state)
{
    const struct partition *at = &d->parts[0].partition;
    struct tree_node node;
    enum tree_result result;
    enum store_result read;

    assert(d->before == d->parts[0].before);
    if (at->key.len != sizeof state->place.entry.id)
        return decision_fail_store(d, STORE_CORRUPT);
    state->share.space = at->space;
    state->place.entry.id = be64_get(at->key.ptr);
    result = tree_open(&state->tree, d, at->space, TREE_CASE_IGNORED);
    if (!result)
        result = tree_open_id(&state->tree, state->place.entry.id, &state->part, &node);
    if (result == TREE_NOT_FOUND)
        return E_NoPendingCopyOperation;
    if (result)
        return decision_fail_store(d, state->tree.failed);
    take_place(d, &node, &state->place);
    decision_read_clock(d);
    read = file_read(&state->tree, state->part->before, d->arena, &state->file);
    return read ? decision_fail_store(d, read == STORE_NOT_FOUND ? STORE_CORRUPT : read) : OK;
}

enum error pending_file_find(struct decision *d, const struct guid *id,
                             struct pending_file *ret_pending)
{
    struct file_state *state = arena_alloc(d->arena, sizeof *state);
    const struct copy_state *copy = &state->file.copy;
    enum store_result result;
    enum error e;

    d->state = &state->base;
    e = read_node(d, state);
    if (e)
        return e;
    if (copy->status != COPY_PENDING || !guid_equal(&copy->id, id))
        return E_NoPendingCopyOperation;
    result = pending_file_read(d->before, d->arena, ret_pending);
    if (result)
        return decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CORRUPT : result);
    d->subject = (struct subject){ .exists = true, .etag = state->file.etag };
    return OK;
}

void pending_file_show(struct decision *d, struct bytes description)
{
    struct file file = file_state(d)->file;

    file.copy.description = description;
    file_write(d, file_state(d)->part, &file);
}

enum error pending_file_step(struct decision *d, struct pending_file *pending,
                             const struct copied_step *step)
{
    struct file file = file_state(d)->file;
    enum store_result result;

    if (file.copy.copied != step->from)
        return E_ServerBusy; /* another job is copying the same part */
    assert(step->to <= pending->target.content.length);
    result = content_write_ranges(d->before, d->changes, &pending->target.content, d->now,
                                  step->body, step->bytes->ranges, step->bytes->range_count);
    if (result)
        return decision_fail_content(d, result);
    write_record(d->changes, d->arena, pending);
    file.copy.copied = step->to;
    file.copy.description = bytes_of(NULL, 0);
    file_write(d, file_state(d)->part, &file);
    return OK;
}

/* ---- end of the copy ---- */

/* Breaks the caching of SMB clients. Returns E_ServerBusy if an open denies write sharing or has
 * locked bytes, or if a delete is pending; the job then retries later. decision: 500 */
static enum error pass_gate(struct decision *d)
{
    struct file_state *state = file_state(d);
    enum error e = file_pass(d, state->part, state->place.entry.id, &state->file, REST_WRITES);

    if (!e)
        e = file_pass_write(d);
    if (!e && state->open_states)
        open_state_write(state->open_states);
    switch ((int)e) {
    case E_SharingViolation:
    case E_FileLockConflict:
    case E_DeletePending:
    case E_ClientCacheFlushDelay:
        return E_ServerBusy;
    default:
        return e;
    }
}

enum error pending_file_complete(struct decision *d, const struct pending_file *pending)
{
    struct file_state *state = file_state(d);
    struct file file = state->file;
    const struct http_properties *http = &pending->target.http;
    enum error e;

    if (file.copy.copied != file.copy.total)
        return E_ServerBusy; /* a part has not been committed */
    e = pass_gate(d);
    if (e)
        return e;
    file_replace_content(d, state->part, &file, &pending->target.content);
    changes_delete(d->changes, RECORD_INNER, pending_record_key);
    file.http.has_md5 = http->has_md5;
    file.http.md5_size = http->md5_size;
    memcpy(file.http.md5, http->md5, sizeof file.http.md5);
    file.copy.status = COPY_SUCCESS;
    file.copy.completed = d->now;
    file.copy.description = bytes_of(NULL, 0);
    file_write_modified(d, &file);
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED, CHANGE_LAST_WRITE);
}

static enum error end(struct decision *d, enum copy_status status, struct bytes description)
{
    struct file_state *state = file_state(d);
    struct file file = state->file;
    struct copy_state copy = file.copy;
    uint32_t changed = CHANGE_LAST_WRITE | (file.content.length > 0 ? CHANGE_SIZE : 0);
    enum error e;

    file.copy.status = COPY_NONE;
    e = file_resize(d, &file, 0);
    if (e)
        return e;
    file.copy = copy;
    file.copy.status = status;
    file.copy.completed = d->now;
    file.copy.description = description;
    file_write_modified(d, &file);
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED, changed);
}

enum error pending_file_fail(struct decision *d, struct bytes description)
{
    enum error e = pass_gate(d);

    return e ? e : end(d, COPY_FAILED, description);
}

enum error pending_file_abort(struct decision *d)
{
    enum error e = file_pass_write(d);

    return e ? e : end(d, COPY_ABORTED, bytes_of(NULL, 0));
}

/* Entries with a pending delete. The index is ordered by node id. Ids in one directory are mostly
 * close together, so only the range from the page's lowest to its highest id is read. */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the sorted ids of the page. */
static uint64_t *sorted_ids(struct arena *arena, const struct tree_page *page)
{
    uint64_t *ids = arena_array(arena, page->count, sizeof ids[0]);

    for (size_t i = 0; i < page->count; i++)
        ids[i] = page->entries[i].id;
    qsort(ids, page->count, sizeof ids[0], compare);
    return ids;
}

/* Reduces the sorted ids to those in the index. *count: number of ids, updated */
static enum store_result find_noted(struct decision *d, uint64_t *ids, size_t *count)
{
    const struct guid space = file_state(d)->share.space;
    uint64_t last = ids[*count - 1], node;
    struct index_iterator *iterator =
        index_iterator_open(d->store, space, bytes_from_string(PENDING_PREFIX),
                            pending_first(d->arena, ids[0]), bytes_from_string(""), d->access);
    struct index_record record;
    enum store_result result;
    size_t found = 0, all = *count;

    decision_saw(d, index_iterator_sequence(iterator));
    while (!(result = index_iterator_next(iterator, &record))) {
        if (!pending_decode(record.key, &node)) {
            result = record_is_unknown("the directory entry of a node with a pending delete",
                                       record.value);
            break;
        }
        if (node > last)
            break;
        if (bsearch(&node, ids + found, all - found, sizeof node, compare))
            ids[found++] = node;
    }
    index_iterator_close(iterator);
    *count = found;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Reads whether the node has a pending delete. The index entry alone does not say, because it can
 * be stale after the process that wrote it has ended. */
static enum store_result is_pending(struct decision *d, uint64_t node, bool *ret_pending)
{
    struct decision_part *part =
        decision_open(d, tree_partition(d->arena, file_state(d)->share.space, node), NULL);
    struct open_set set;
    enum store_result result = open_set_read(&file_state(d)->tree, part->before, &set);

    decision_leave(d, part);
    *ret_pending = !result && set.is_delete_pending;
    return result;
}

enum store_result pending_leave_out(struct decision *d, struct tree_page *page)
{
    uint64_t *noted;
    size_t count = page->count, kept = 0;
    enum store_result result;

    if (count == 0)
        return STORE_OK;
    noted = sorted_ids(d->arena, page);
    result = find_noted(d, noted, &count);
    if (result || count == 0)
        return result;
    for (size_t i = 0; i < page->count; i++) {
        uint64_t id = page->entries[i].id;
        bool pending = bsearch(&id, noted, count, sizeof id, compare) != NULL;

        result = pending ? is_pending(d, id, &pending) : STORE_OK;
        if (result)
            return result;
        if (!pending)
            page->entries[kept++] = page->entries[i];
    }
    page->count = kept;
    return STORE_OK;
}
