/* Path Delete. A directory of a hierarchical container is deleted in one commit, whatever it
 * contains. For a caller who is subject to access control lists, that commit follows once the lists
 * of all directories below were checked, which may take several requests. In a flat container, each
 * request deletes a number of the blobs below the path, and the last one also the blob of the path.
 * rest: Path-Delete; decisions: 1320, 1321 */
#include "dfs/path_operations.h"

#include <assert.h>

#include "blob/access_control.h"
#include "blob/list_tree.h"
#include "blob/namespace.h"

/* Blobs that a request deletes. */
#define DELETED_MAX       1000u
/* Searches of LISTING_RECORDS_MAX records that may find only hidden ones. */
#define SEARCHES_MAX      10u
/* Blobs deleted by one commit: each is a part, next to the path and the container. */
#define DELETED_AT_ONCE   (DECISION_PARTS_MAX - 3)
/* Paths whose lists a request checks: with a continuation, and without one. */
#define CHECKED_MAX       5000u
#define CHECKED_ALONE_MAX 20000u

/* ---- continuations ---- */

/* Returns the prefix of the names below the path. */
static struct bytes prefix_below(struct decision *d)
{
    return arena_printf(d->arena, "%.*s/", BYTES_ARG(blob_asked(d)->blob));
}

static uint64_t id_of_directory(struct decision *d)
{
    return blob_is_directory(d) ? blob_state(d)->node->place.entry.id : 0;
}

/* Refuses a continuation that belongs to another directory. */
static enum error check_place(struct decision *d, const struct delete_place *from)
{
    if (!from->from.ptr ||
        (guid_equal(&from->space, &blob_state(d)->container.space) &&
         from->id == id_of_directory(d) && bytes_has_prefix(from->from, prefix_below(d))))
        return OK;
    return decision_fail(d, E_InvalidQueryParameterValue,
                         "The continuation is that of another directory.");
}

static void set_next(struct decision *d, const struct delete_path_parameters *p, struct bytes from,
                     struct delete_path_result *r)
{
    r->next = (struct delete_place){
        .space = blob_state(d)->container.space,
        .id = id_of_directory(d),
        .begun = p->from.from.ptr ? p->from.begun : d->input->identity.at,
        .from = from,
    };
}

/* The SAS of a blob grants nothing below it. */
static enum error check_scope(const struct decision *d)
{
    const struct identity *identity = &d->input->identity;

    return identity->kind == IDENTITY_SAS && identity->sas->is_of_blob
               ? E_AuthorizationPermissionMismatch
               : OK;
}

/* ---- hierarchical containers ---- */

/* Checks the lists of the directory and of all directories below. *ret_next: where to continue
 * after `max` paths; ptr NULL at the end. */
static enum error check_below(struct decision *d, struct bytes from, unsigned max,
                              struct bytes *ret_next)
{
    struct list_blobs_parameters asked = { .uncommitted = true };
    struct tree_records *records;
    struct space_record record;
    enum store_result result;
    struct blob blob;

    *ret_next = bytes_of(NULL, 0);
    asked.listing.prefix = prefix_below(d);
    records = tree_records_open(d, &asked, from.ptr ? from : asked.listing.prefix);
    tree_records_rule(records, POSIX_DELETES_TREE);
    while (!(result = tree_records_next(records, &record)) && !tree_records_are_refused(records)) {
        if (max-- == 0) {
            *ret_next = arena_copy(d->arena, record.partition_key);
            break;
        }
        result =
            blob_decode(record.value, &blob) ? tree_records_unlink(records, &blob) : STORE_CORRUPT;
        if (result)
            break;
    }
    tree_records_close(records);
    if (!result || result == STORE_NOT_FOUND)
        result = tree_records_confirm(records);
    if (result)
        return decision_fail_store(d, result);
    return tree_records_are_refused(records) ? E_AuthorizationPermissionMismatch : OK;
}

static enum error delete_directory(struct decision *d, const struct delete_path_parameters *p,
                                   struct delete_path_result *r)
{
    struct acl_callers callers;
    struct bytes next = { NULL, 0 };
    bool is_empty;
    enum error e = namespace_is_empty(d, &is_empty);

    if (!e && p->is_recursive && !is_empty)
        e = check_scope(d);
    if (!e && p->is_recursive && !is_empty && acl_callers_find(d, &callers))
        e = check_below(d, p->from.from, p->is_paginated ? CHECKED_MAX : CHECKED_ALONE_MAX, &next);
    if (e)
        return e;
    if (!next.ptr) {
        e = path_delete_directory(d, p->is_recursive, &r->deleted);
        r->is_kept = r->deleted > 0;
        return e;
    }
    if (!p->is_paginated)
        return decision_fail(d, E_OperationTimedOut,
                             "The directory contains more than %u paths: use paginated=true.",
                             CHECKED_ALONE_MAX);
    set_next(d, p, next, r);
    return OK;
}

/* ---- flat containers ---- */

/* Names of blobs below the path. */
struct names {
    struct blob_sink sink;
    struct arena *arena;
    struct bytes of[DELETED_AT_ONCE];
    unsigned count;
    struct bytes next; /* of further names; ptr NULL at the end */
};

static struct names *names_of(struct blob_sink *sink)
{
    return (struct names *)(void *)sink;
}

static void begin_names(struct blob_sink *sink, instant now)
{
    (void)now;
    names_of(sink)->count = 0;
}

static void add_name(struct blob_sink *sink, struct bytes name, const struct blob *blob)
{
    struct names *names = names_of(sink);

    (void)blob;
    names->of[names->count++] = arena_copy(names->arena, name);
}

/* Finds the next names; none, but names->next, if it has only passed hidden records. */
static enum error find_names(struct decision *d, struct bytes from, struct names *names)
{
    struct list_blobs_parameters list = { .start_from = from, .sink = &names->sink };
    struct list_blobs_result listed = { .base.now = 0 };
    enum error e;

    *names = (struct names){ .sink = { .begin = begin_names, .add = add_name }, .arena = d->arena };
    list.listing.prefix = prefix_below(d);
    list.listing.max = DELETED_AT_ONCE;
    e = list_blobs_decide(d, &list, &listed);
    names->next = listed.next.name;
    return e;
}

static struct bytes place_of(const struct delete_path_parameters *p)
{
    const struct delete_progress *progress = p->progress;

    return progress->from_len > 0 ? bytes_of(progress->from, progress->from_len) : p->from.from;
}

static void keep_place(struct delete_progress *progress, struct bytes from)
{
    assert(from.len <= sizeof progress->from);
    memcpy(progress->from, from.ptr, from.len);
    progress->from_len = from.len;
}

/* Deletes one blob below the path. Returns DECIDE_AGAIN if it has changed since it was listed. */
static enum error delete_blob_below(struct decision *d, struct bytes name, bool *ret_kept)
{
    const struct delete_blob_parameters blob = { .snapshots = SNAPSHOTS_REFUSED };
    struct delete_blob_result deleted = { .is_kept = false };
    struct blob_state *path = blob_state(d), *state = arena_alloc(d->arena, sizeof *state);
    const struct partition at = { .space = path->container.space, .key = name };
    enum store_result result;
    enum error e;

    decision_add_subject(d, decision_open(d, at, changes_new(d->arena)));
    decision_keep_above(d);
    *state = (struct blob_state){ .base = path->base, .container = path->container, .found = true };
    d->state = &state->base;
    result = blob_read(d->before, d->arena, blob_base, &state->blob);
    if (result)
        return decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CONFLICT : result);
    blob_keep_above(d, &state->blob);
    if (state->blob.copy.status == COPY_PENDING)
        return E_PendingCopyOperation;
    e = lease_check_write(LEASE_OF_BLOB, &state->blob.lease, NULL, d->now);
    if (!e)
        e = delete_blob_decide(d, &blob, &deleted);
    if (!e && d->leaves_more)
        decision_defer_collection(d);
    d->leaves_more = false;
    d->state = &path->base;
    *ret_kept = deleted.is_kept;
    return e;
}

/* Deletes the names, up to the first refused one. Returns DECIDE_PREPARED, or the error of
 * the first name. */
static enum error delete_names(struct decision *d, const struct names *names,
                               struct delete_progress *progress)
{
    unsigned count = 0;
    enum error e;

    do
        e = delete_blob_below(d, names->of[count], &progress->is_kept);
    while (!e && ++count < names->count);
    if (e && (count == 0 || decision_is_unfinished(e) || error_status(e) >= 500))
        return decision_take_back(d, e);
    keep_place(progress, names->of[0]);
    progress->deleted += count;
    return DECIDE_PREPARED;
}

/* Deletes the blobs below the path. *ret_is_done: none is left. Otherwise returns
 * DECIDE_PREPARED, an error, or OK with r->next. */
static enum error delete_below(struct decision *d, const struct delete_path_parameters *p,
                               struct delete_path_result *r, bool *ret_is_done)
{
    struct delete_progress *progress = p->progress;
    struct names names;
    enum error e = find_names(d, place_of(p), &names);

    while (!e && p->is_recursive && names.count == 0 && names.next.ptr &&
           progress->searches < SEARCHES_MAX) {
        progress->searches++;
        keep_place(progress, names.next);
        e = find_names(d, place_of(p), &names);
    }
    *ret_is_done = !e && names.count == 0 && !names.next.ptr;
    if (e || *ret_is_done)
        return e;
    if (!p->is_recursive)
        return E_PathDirectoryNotEmpty;
    e = check_scope(d);
    if (e)
        return e;
    if (names.count > 0 && progress->deleted < DELETED_MAX)
        return delete_names(d, &names, progress);
    set_next(d, p, names.count > 0 ? names.of[0] : names.next, r);
    return OK;
}

static enum error delete_flat(struct decision *d, const struct delete_path_parameters *p,
                              struct delete_path_result *r)
{
    const struct delete_blob_parameters blob = { .base = p->base, .snapshots = SNAPSHOTS_REFUSED };
    struct delete_blob_result deleted = { .is_kept = p->progress->is_kept };
    bool is_done = true;
    enum error e = OK;

    if (!d->subject.exists || path_is_directory(&blob_state(d)->blob))
        e = delete_below(d, p, r, &is_done);
    if (e || !is_done)
        return e;
    if (d->subject.exists)
        e = delete_blob_decide(d, &blob, &deleted);
    else if (p->progress->deleted == 0 && !p->from.from.ptr)
        e = E_BlobNotFound;
    r->is_kept = deleted.is_kept;
    return e;
}

/* ---- the operation ---- */

enum error delete_path_decide(struct decision *d, const struct delete_path_parameters *p,
                              struct delete_path_result *r)
{
    const struct delete_blob_parameters blob = { .base = p->base, .snapshots = SNAPSHOTS_REFUSED };
    struct delete_blob_result deleted = { .is_kept = false };
    enum error e = check_place(d, &p->from);

    if (e)
        return e;
    if (!blob_state(d)->container.hierarchical)
        return delete_flat(d, p, r);
    if (blob_is_directory(d))
        return delete_directory(d, p, r);
    if (!d->subject.exists)
        return E_BlobNotFound;
    e = delete_blob_decide(d, &blob, &deleted);
    r->is_kept = deleted.is_kept;
    r->deleted = deleted.deleted;
    return e;
}
