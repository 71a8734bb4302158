/* See restore_state.h. */
#include "admin/restore_state.h"

#include <assert.h>
#include <stdlib.h>

#include "admin/restore_pieces.h"
#include "base/codec.h"
#include "service/deferred_tasks.h"
#include "service/driver.h"
#include "service/names.h"
#include "service/placement.h"
#include "service/placement_release.h"

/* Memory for a batch, which in the worst case (every byte is a reference to a piece) needs 32 times
 * its size. */
#define ARENA_MAX    ((size_t)1 << 30)
/* Size of changes at which they are committed. */
#define COMMIT_BYTES (4u << 20)

static struct partition account_partition(const struct restore *r)
{
    return (struct partition){ .space = account_space(r->endpoint->service->name, r->account),
                               .key = BYTES("") };
}

static struct partition owner_partition(const struct restore *r, struct arena *arena)
{
    bool folds_case = r->endpoint->service->restore->folds_case;

    return (struct partition){ .space = account_space(r->endpoint->service->name, r->account),
                               .key = folds_case ? arena_copy_lower(arena, r->name) : r->name };
}

/* ---- decisions ---- */

static enum error decide(struct restore *r, attempt_fn *attempt)
{
    struct arena *arena = arena_new(ARENA_MAX);
    enum error e = deciding_run_in(r->endpoint->store, r->endpoint->service, arena, attempt, r);

    arena_free(arena);
    return e;
}

static enum error attempt_begin(struct decision *d, void *of)
{
    struct restore *r = of;

    decision_open_subject(d, account_partition(r));
    decision_read_clock(d);
    r->task = (struct deferred_task){ .due = d->now + RESTORE_DAYS_MAX * TICKS_PER_DAY,
                                      .partition = account_partition(r) };
    r->task.id = changes_defer(d->changes, r->task.due, TASK_DROP_SPACE,
                               bytes_of(r->space.b, sizeof r->space.b));
    return OK;
}

bool restore_begin(const struct endpoint *endpoint, struct bytes account, struct bytes name,
                   bool replaces, struct restore **ret_restore)
{
    struct restore *r = xcalloc(1, sizeof *r);

    r->arena = arena_new(ARENA_MAX);
    r->part = arena_new(ARENA_MAX);
    r->batch = arena_new(ARENA_MAX);
    r->endpoint = endpoint;
    r->account = arena_copy(r->arena, account);
    r->name = arena_copy(r->arena, name);
    r->replaces = replaces;
    r->id = guid_new();
    r->space = guid_new();
    r->owners = arena_array(r->arena, RESTORE_OWNERS_MAX, sizeof *r->owners);
    *ret_restore = r;
    return decide(r, attempt_begin) == OK || restore_fail(r, "the store accepts no changes");
}

/* ---- one partition ---- */

static bool commit(struct restore *r)
{
    static const struct store_access access = { .may_block = true, .holds_space = true };
    const struct partition at = { r->space, r->key };
    struct store *store = r->endpoint->store;
    enum store_result result = STORE_CONFLICT;
    uint64_t sequence;

    if (!r->changes || changes_empty(r->changes))
        return true;
    while (result == STORE_CONFLICT) {
        struct read_view *snapshot = read_view_open(store, at, STORE_MAY_BLOCK);

        result = store_commit(store, &(struct commit_part){ snapshot, r->changes }, 1,
                              clock_above(read_view_instant(snapshot)), access, &sequence);
        read_view_close(snapshot);
    }
    r->changes = NULL;
    return result ? restore_fail_store(r, result) : true;
}

static struct changes *changes_of(struct restore *r)
{
    if (!r->changes)
        r->changes = changes_new(r->batch);
    return r->changes;
}

/* Commits the changes if they are large, because the records of a partition may not all fit in one
 * commit. */
static bool commit_if_large(struct restore *r)
{
    return !r->changes || changes_bytes(r->changes) < COMMIT_BYTES || commit(r);
}

static bool begin_partition(struct restore *r, struct bytes key)
{
    bool committed = commit(r);

    restore_close_pieces(r);
    arena_free(r->part);
    r->part = arena_new(ARENA_MAX);
    r->key = arena_copy(r->part, key);
    r->has_partition = true;
    return committed;
}

/* ---- entries ---- */

static bool put_record(struct restore *r, struct decoder *in)
{
    const struct restore_functions *functions = r->endpoint->service->restore;
    enum record_family family = decode_u8(in) == RECORD_LISTED ? RECORD_LISTED : RECORD_INNER;
    struct record record = { .key = decode_bytes(in) };
    struct piece *pieces;

    record.value = decode_bytes(in);
    record.piece_count = (size_t)decode_u64(in);
    if (in->bad || record.piece_count > (size_t)(in->end - in->at) || !restore_finish_pieces(r))
        return restore_fail(r, "a record of the backup is malformed");
    pieces = arena_array(r->batch, record.piece_count, sizeof *pieces);
    for (size_t i = 0; i < record.piece_count; i++) {
        uint64_t number = decode_u64(in);

        if (in->bad || number >= r->piece_count)
            return restore_fail(r, "a record of the backup refers to a missing piece");
        pieces[i] = r->pieces[number];
    }
    if (functions->without_lease && !r->is_move)
        record.value = functions->without_lease(r->batch, family, &record);
    changes_put(changes_of(r), family, record.key, record.value, pieces, record.piece_count);
    return commit_if_large(r);
}

static bool remove_record(struct restore *r, struct decoder *in)
{
    enum record_family family = decode_u8(in) == RECORD_LISTED ? RECORD_LISTED : RECORD_INNER;
    struct bytes key = decode_bytes(in);
    struct read_view *before;
    enum store_result result;
    struct record record;

    if (in->bad)
        return restore_fail(r, "a batch is truncated");
    before =
        read_view_open(r->endpoint->store, (struct partition){ r->space, r->key }, STORE_MAY_BLOCK);
    result = read_view_get(before, family, key, r->batch, &record);
    if (!result) {
        changes_release(changes_of(r), record.pieces, record.piece_count);
        changes_delete(changes_of(r), family, key);
    }
    read_view_close(before);
    return !result || result == STORE_NOT_FOUND || restore_fail_store(r, result);
}

static bool put_owner(struct restore *r, struct decoder *in)
{
    struct bytes key = decode_bytes(in), value = decode_bytes(in);

    if (in->bad || r->owner_count == RESTORE_OWNERS_MAX ||
        key.len + value.len > RESTORE_OWNER_BYTES_MAX ||
        !r->endpoint->service->restore->is_owner(key))
        return restore_fail(r, "the record of the restored resource is malformed");
    r->owners[r->owner_count++] =
        (struct record){ .key = arena_copy(r->arena, key), .value = arena_copy(r->arena, value) };
    return true;
}

/* Sets a counter of the space. */
static bool put_counter(struct restore *r, struct bytes name, uint64_t sum)
{
    int64_t now = 0;
    uint64_t sequence;
    enum store_result result =
        store_count(r->endpoint->store, r->space, name, STORE_MAY_BLOCK, &now, &sequence);

    if (result)
        return restore_fail_store(r, result);
    if ((uint64_t)now != sum)
        changes_count(changes_of(r), name, (int64_t)(sum - (uint64_t)now));
    return true;
}

static bool put_row(struct restore *r, enum restore_entry entry, struct decoder *in)
{
    uint64_t due = entry == RESTORE_TASK ? decode_u64(in) : 0;
    uint64_t kind = entry == RESTORE_TASK ? decode_u64(in) : 0;
    struct bytes key = entry == RESTORE_TASK ? (struct bytes){ NULL, 0 } : decode_bytes(in);
    uint64_t sum = entry == RESTORE_COUNTER ? decode_u64(in) : 0;
    struct bytes value = entry == RESTORE_INDEX || entry == RESTORE_TASK
                             ? decode_bytes(in)
                             : (struct bytes){ NULL, 0 };

    if (in->bad)
        return restore_fail(r, "a row of the backup is malformed");
    if (entry == RESTORE_COUNTER && !put_counter(r, key, sum))
        return false;
    if (entry == RESTORE_INDEX)
        changes_index_put(changes_of(r), key, value);
    else if (entry == RESTORE_UNINDEX)
        changes_index_delete(changes_of(r), key);
    else if (entry == RESTORE_TASK)
        changes_defer(changes_of(r), due, (uint32_t)kind, value);
    return commit_if_large(r);
}

static bool put_entry(struct restore *r, struct decoder *in)
{
    enum restore_entry entry = (enum restore_entry)decode_u8(in);
    struct bytes data, seal = { NULL, 0 };

    if (entry == RESTORE_OWNER)
        return put_owner(r, in);
    if (entry != RESTORE_PARTITION && !r->has_partition)
        return restore_fail(r, "a batch does not start with a partition");
    switch (entry) {
    case RESTORE_PARTITION:
    case RESTORE_PIECE:
    case RESTORE_SEALED:
        data = decode_bytes(in);
        if (entry == RESTORE_SEALED)
            seal = decode_bytes(in);
        if (in->bad || !data.ptr || (entry == RESTORE_SEALED && !seal.ptr))
            return restore_fail(r, "a batch is truncated");
        return entry == RESTORE_PARTITION ? begin_partition(r, data)
                                          : restore_add_piece(r, data, seal);
    case RESTORE_RECORD:
        return put_record(r, in);
    case RESTORE_REMOVE:
        return remove_record(r, in);
    case RESTORE_INDEX:
    case RESTORE_COUNTER:
    case RESTORE_TASK:
    case RESTORE_UNINDEX:
        return put_row(r, entry, in);
    case RESTORE_OWNER:
        break;
    }
    return restore_fail(r, "a batch contains an unknown kind of entry");
}

bool restore_put(struct restore *r, struct bytes batch)
{
    struct arena_mark empty = arena_mark(r->batch);
    struct decoder in;
    bool put = true;

    decoder_init(&in, batch);
    while (put && in.at < in.end)
        put = put_entry(r, &in);
    put = put && commit(r);
    r->changes = NULL;
    arena_rewind(r->batch, empty);
    return put;
}

/* ---- completion ---- */

/* Deletes the record of an existing resource, and its contents, if that is permitted. */
static enum error drop_owner(struct decision *d, const struct service *service,
                             const struct record *record)
{
    const struct restore_functions *restore = service->restore;
    enum error e = restore->permit_replacement ? restore->permit_replacement(record) : OK;
    enum store_result result;

    if (e)
        return e;
    result = restore->drop ? restore->drop(d, record) : STORE_OK;
    if (!restore->drop)
        changes_drop_space(d->changes, restore_space_of(record));
    if (result)
        return decision_fail_store(d, result);
    changes_delete(d->changes, RECORD_LISTED, record->key);
    return OK;
}

/* Deletes an existing resource with the name, or fails if it must not be replaced. */
static enum error clear_owners(struct decision *d, const struct restore *r)
{
    const struct service *service = r->endpoint->service;
    const struct bytes all = BYTES("");
    struct scan *scan = scan_open(d->before, RECORD_LISTED, all, all);
    enum store_result result;
    struct record record;
    enum error e = OK;

    while (!e && !(result = scan_next(scan, d->arena, &record))) {
        if (service->restore->is_owner(record.key))
            e = r->replaces ? drop_owner(d, service, &record) : E_ContainerAlreadyExists;
    }
    scan_close(scan);
    if (!e && result != STORE_NOT_FOUND)
        e = decision_fail_store(d, result);
    return e;
}

/* Checks that the name is still placed in this cell, as decisions that create a container do. */
static enum error check_placement(struct decision *d, struct restore *r)
{
    const struct input input = { .account = r->account, .placement = r->where.incarnation };
    bool is_elsewhere;
    enum error e;

    d->input = &input;
    e = placement_of_new(d, &is_elsewhere);
    d->input = NULL;
    if (e == E_MisdirectedRequest)
        r->where = d->problem->elsewhere;
    return e;
}

static enum error attempt_publish(struct decision *d, void *of)
{
    struct restore *r = of;
    struct decision_part *account;
    enum error e;

    decision_open_subject(d, owner_partition(r, d->arena));
    account = decision_open(d, account_partition(r), changes_new(d->arena));
    decision_read_clock(d);
    if (d->now >= r->task.due - TICKS_PER_DAY / 24)
        return E_OperationTimedOut;
    e = check_placement(d, r);
    if (!e)
        e = clear_owners(d, r);
    for (size_t i = 0; !e && i < r->owner_count; i++)
        if (!r->endpoint->service->restore->put_owner(d, &r->owners[i], r->name, r->space))
            e = decision_fail_store(d, STORE_CORRUPT);
    if (!e)
        changes_task_done(account->changes, &r->task);
    return e;
}

bool restore_complete(struct restore *r)
{
    return !r->problem && commit(r);
}

enum error restore_publish(struct restore *r, uint32_t cell)
{
    const struct partition name = owner_partition(r, r->arena);
    enum error e = OK;

    if (r->problem || !commit(r) || r->owner_count == 0)
        return E_InvalidInput;
    if (cell > 0)
        e = placement_claim(r->endpoint, &name, r->account, cell, r->arena, &r->where);
    return e ? e : decide(r, attempt_publish);
}

static enum error attempt_drop(struct decision *d, void *of)
{
    struct restore *r = of;

    decision_open_subject(d, account_partition(r));
    decision_read_clock(d);
    changes_drop_space(d->changes, r->space);
    if (r->task.due > 0)
        changes_task_done(d->changes, &r->task);
    return OK;
}

void restore_free(struct restore *r, bool published)
{
    restore_close_pieces(r);
    if (!published)
        (void)decide(r, attempt_drop); /* if this fails, the deferred task drops the space */
    if (r->is_move)
        store_release_space(r->endpoint->store, r->space);
    arena_free(r->part);
    arena_free(r->batch);
    arena_free(r->arena);
    free(r);
}
