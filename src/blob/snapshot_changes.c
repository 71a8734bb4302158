/* See snapshot_changes.h. */
#include "blob/snapshot_changes.h"

#include "blob/namespace.h"
#include "service/small_record.h"

/* ---- reading ---- */

static bool is_live(const struct blob *snapshot, const void *context)
{
    (void)context;
    return snapshot->deletion.at == 0 && snapshot->ref.kind == BLOB_SNAPSHOT;
}

enum store_result snapshots_find_live(struct decision *d, const struct blob *base, bool *ret_found)
{
    struct snapshot_marks marks;
    enum store_result result;

    *ret_found = false;
    if (base->without_snapshots)
        return STORE_OK;
    result = snapshot_marks_read(d->before, d->arena, &marks);
    return result ? result : snapshots_find(d, &marks, is_live, NULL, ret_found);
}

/* ---- changing ---- */

static void apply(struct decision *d, const struct snapshot_mark *mark,
                  const struct some_snapshots *some, struct ended_contents *ended)
{
    bool ends = mark->kind == MARK_GONE || mark->kind == MARK_LIVE_GONE;

    for (size_t i = 0; i < some->count; i++) {
        const struct blob *snapshot = &some->items[i];

        if (ends)
            contents_end(d, ended, snapshot);
        blob_change(d, snapshot, ends ? NULL : snapshot);
    }
}

static bool is_changed(const struct blob *snapshot, const void *context)
{
    struct blob copy = *snapshot;

    return snapshot_mark_apply(context, &copy) != MARK_LEAVES_IT;
}

/* Adds a mark; MARK_GONE replaces all others. Returns false if there are too many. */
static bool add_mark(struct snapshot_marks *marks, const struct snapshot_mark *mark)
{
    if (mark->kind == MARK_GONE)
        marks->count = 0;
    if (marks->count == MARKS_MAX)
        return false;
    marks->items[marks->count++] = *mark;
    return true;
}

enum error snapshots_change(struct decision *d, enum mark_kind kind, instant expires,
                            struct ended_contents *ended, struct snapshots_changed *ret_changed)
{
    struct snapshot_mark mark = { .kind = kind, .until = d->now, .at = d->now, .expires = expires };
    struct some_snapshots *some = arena_alloc(d->arena, sizeof *some);
    struct snapshot_marks marks;
    bool had_marks;
    enum store_result result = snapshot_marks_read(d->before, d->arena, &marks);

    had_marks = !result && marks.count > 0;
    *ret_changed = (struct snapshots_changed){ .left = had_marks };
    if (!result && !had_marks)
        result = snapshots_collect(d, &mark, SNAPSHOTS_AT_ONCE, some);
    else if (!result)
        result = snapshots_find(d, &marks, is_changed, &mark, &ret_changed->any);
    if (result)
        return decision_fail_content(d, result);
    if (!had_marks) {
        apply(d, &mark, some, ended);
        ret_changed->any = some->count > 0 || some->next > 0;
        mark.from = some->next;
    }
    if (had_marks ? !ret_changed->any : some->next == 0)
        return OK;
    if (!add_mark(&marks, &mark))
        return decision_take_back(d, E_ServerBusy);
    ret_changed->left = true;
    if (!had_marks)
        changes_defer(d->changes, d->now, TASK_DELETE_SNAPSHOTS, bytes_of(NULL, 0));
    snapshot_marks_write(d->changes, d->arena, &marks);
    return OK;
}

/* ---- permanent deletion ---- */

static enum store_result has_other(struct decision *d, instant except, bool *ret_has)
{
    struct scan *scan = blob_scan_snapshots(d->before, 0);
    enum store_result result = STORE_OK;
    struct record record;
    struct blob snapshot;

    *ret_has = false;
    while (!result && !*ret_has) {
        result = scan_next(scan, d->arena, &record);
        if (!result && !blob_decode(record.value, &snapshot))
            result = record_is_unknown("a snapshot's record", record.value);
        *ret_has = !result && snapshot.ref.at != except;
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Updates the base after a snapshot is deleted (except; 0: none): records whether it was the last
 * one, and deletes an anchor that was only retained for it. If *ret_changed, the caller writes
 * *base. */
static enum store_result settle_base(struct decision *d, instant except, struct blob *base,
                                     bool *ret_changed)
{
    bool has = true;
    enum store_result result = base->has_deleted ? has_other(d, except, &has) : STORE_OK;

    if (!result && has && except > 0 && blob_has_versions_only(base)) {
        result = versions_find(d, except, &base->is_version);
        *ret_changed = !base->is_version;
    }
    if (result || has)
        return result;
    base->is_version = base->is_version && !base->uncommitted;
    base->has_deleted = false;
    base->without_snapshots = true;
    *ret_changed = true;
    return STORE_OK;
}

/* Writes a base, or deletes an anchor that nothing needs any more. */
static enum store_result change_base(struct decision *d, const struct blob *was,
                                     const struct blob *base)
{
    bool ends = blob_is_anchor(base) && !base->has_deleted;

    blob_change(d, was, ends ? NULL : base);
    return ends ? namespace_remove(d) : STORE_OK;
}

enum store_result snapshot_end(struct decision *d, const struct blob *snapshot)
{
    struct ended_contents ended = { .count = 0 };
    struct blob base, was;
    bool changed = false;
    enum store_result result = blob_read_kept(d->before, d->arena, blob_base, &base);

    if (result)
        return result;
    was = base;
    contents_end(d, &ended, snapshot);
    blob_change(d, snapshot, NULL);
    result = content_release_reference(d, &ended, &base.content);
    if (!result && base.content.id != snapshot->content.id)
        result = contents_cut_tail(d, &snapshot->content, snapshot->ref.at);
    if (!result)
        result = settle_base(d, snapshot->ref.at, &base, &changed);
    if (!result && (changed || base.content.last_retained != was.content.last_retained))
        result = change_base(d, &was, &base);
    return result;
}

static bool stays(const struct blob *snapshot, const void *takes_live)
{
    return snapshot->deletion.at > 0 || snapshot->ref.kind == BLOB_VERSION ||
           !*(const bool *)takes_live;
}

struct blob base_anchor(const struct blob *base, instant now, bool has_versions)
{
    struct blob anchor = *base;

    if (!has_versions)
        anchor = (struct blob){ .created = now, .newest_version = base->newest_version };
    else if (!base->uncommitted)
        anchor.last_length = base->content.length;
    anchor.uncommitted = true;
    anchor.nothing_staged = true;
    anchor.without_snapshots = base->without_snapshots;
    anchor.has_deleted = true;
    anchor.is_version = has_versions;
    anchor.modified = 0; /* of blocks: it has none */
    anchor.deletion = (struct blob_deletion){ .at = 0 };
    anchor.deleted_path = bytes_of(NULL, 0);
    anchor.lease = (struct lease){ .kind = 0 };
    anchor.content = (struct content){ .id = 0 };
    anchor.tags = bytes_of(NULL, 0);
    anchor.copy = (struct copy_state){ .status = COPY_NONE };
    anchor.rehydrates_to = TIER_NONE;
    anchor.immutability = (struct blob_immutability){ .mode = POLICY_NONE };
    anchor.expiry = (struct blob_expiry){ .at = 0 };
    return anchor;
}

enum store_result base_remove(struct decision *d, const struct blob *base, bool takes_live)
{
    struct snapshot_marks marks;
    struct blob anchor;
    bool found = false, has_versions = false;
    enum store_result result = STORE_OK;

    if (base->has_deleted || base->newest_version > 0) {
        result = snapshot_marks_read(d->before, d->arena, &marks);
        if (!result)
            result = snapshots_find(d, &marks, stays, &takes_live, &found);
    }
    if (!result && found && base->newest_version > 0)
        result = versions_find(d, 0, &has_versions);
    if (result)
        return result;
    anchor = base_anchor(base, d->now, has_versions);
    anchor.without_snapshots |= takes_live;
    blob_change(d, base, found ? &anchor : NULL);
    return found ? STORE_OK : namespace_remove(d);
}

enum store_result base_end_kept(struct decision *d, const struct blob *base)
{
    struct ended_contents ended = { .count = 0 };
    enum store_result result;

    contents_end(d, &ended, base);
    result = content_release_reference(d, &ended, NULL);
    return result ? result : base_remove(d, base, false);
}

/* ---- the task ---- */

/* Changes the snapshots, and releases the contents of deleted ones. */
static enum store_result change_some(struct decision *d, const struct snapshot_mark *mark,
                                     const struct some_snapshots *some)
{
    struct ended_contents ended = { .count = 0 };
    struct blob base, was;
    enum store_result result;

    apply(d, mark, some, &ended);
    if (ended.count == 0)
        return STORE_OK;
    result = blob_read_kept(d->before, d->arena, blob_base, &base);
    if (result == STORE_NOT_FOUND)
        return content_release_reference(d, &ended, NULL);
    if (result)
        return result;
    was = base;
    result = content_release_reference(d, &ended, &base.content);
    if (!result && base.content.last_retained != was.content.last_retained)
        blob_change(d, &was, &base);
    return result;
}

/* Runs after the last mark is done. */
static enum store_result settle(struct decision *d)
{
    struct blob base, was;
    bool changed = false;
    enum store_result result = blob_read_kept(d->before, d->arena, blob_base, &base);

    if (result)
        return result;
    was = base;
    result = settle_base(d, 0, &base, &changed);
    if (!result && changed)
        result = change_base(d, &was, &base);
    return result;
}

enum store_result snapshot_marks_task(struct decision *d, const struct deferred_task *task,
                                      const struct endpoint *endpoint)
{
    struct some_snapshots *some = arena_alloc(d->arena, sizeof *some);
    struct snapshot_marks marks;
    bool goes_on;
    enum store_result result = snapshot_marks_read(d->before, d->arena, &marks);

    (void)task;
    (void)endpoint;
    if (result)
        return result;
    if (marks.count == 0)
        return settle(d);
    result = snapshots_collect(d, &marks.items[0], SNAPSHOTS_AT_ONCE, some);
    if (!result)
        result = change_some(d, &marks.items[0], some);
    if (result)
        return result;
    goes_on = marks.count > 1 || some->next > 0 || marks.items[0].kind != MARK_GONE;
    if (some->next > 0) {
        marks.items[0].from = some->next;
    } else {
        decision_defer_collection(d); /* once, for the remains of all steps */
        marks.count--;
        memmove(&marks.items[0], &marks.items[1], marks.count * sizeof marks.items[0]);
    }
    if (goes_on)
        changes_defer(d->changes, d->now, TASK_DELETE_SNAPSHOTS, bytes_of(NULL, 0));
    snapshot_marks_write(d->changes, d->arena, &marks);
    return STORE_OK;
}
