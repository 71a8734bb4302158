/* See restore_state.h. */
#include "admin/restore_state.h"

#include <assert.h>
#include <stdlib.h>

#include "base/codec.h"
#include "base/sleeper.h"
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

static bool fail(struct restore *r, const char *problem)
{
    if (!r->problem)
        r->problem = problem;
    return false;
}

static bool fail_store(struct restore *r, enum store_result result)
{
    return fail(r, result == STORE_NOT_FOUND ? "the restore took too long, and its data was dropped"
                                             : store_result_text(result));
}

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
    return decide(r, attempt_begin) == OK || fail(r, "the store accepts no changes");
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
    return result ? fail_store(r, result) : true;
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

static void close_stages(struct restore *r)
{
    for (int sealed = 0; sealed < 2; sealed++) {
        if (r->stages[sealed])
            stage_close(r->stages[sealed]);
        r->stages[sealed] = NULL;
    }
    r->pieces = NULL;
    r->piece_count = 0;
    r->seals = NULL;
    r->added = r->seal_room = 0;
}

static bool begin_partition(struct restore *r, struct bytes key)
{
    bool committed = commit(r);

    close_stages(r);
    arena_free(r->part);
    r->part = arena_new(ARENA_MAX);
    r->key = arena_copy(r->part, key);
    r->has_partition = true;
    return committed;
}

/* Records the seal of the next piece. */
static void add_seal(struct restore *r, struct bytes bytes)
{
    struct piece_seal *seal = NULL;

    if (r->added == r->seal_room) {
        size_t room = r->seal_room > 0 ? 2 * r->seal_room : 64;
        const struct piece_seal **seals = arena_array(r->part, room, sizeof *seals);

        if (r->added > 0)
            memcpy(seals, r->seals, r->added * sizeof *seals);
        r->seals = seals;
        r->seal_room = room;
    }
    if (bytes.ptr) {
        seal = arena_alloc(r->part, offsetof(struct piece_seal, salt) + bytes.len);
        seal->store_key = 0;
        memcpy((char *)seal + offsetof(struct piece_seal, salt), bytes.ptr, bytes.len);
    }
    r->seals[r->added++] = seal;
}

/* Returns the stage of pieces with or without a seal. */
static struct stage *stage_for(struct restore *r, bool sealed)
{
    struct stage **stage = &r->stages[sealed];

    if (*stage)
        return *stage;
    *stage = stage_open(r->endpoint->store, UINT64_MAX);
    if (sealed)
        stage_keep(*stage);
    return *stage;
}

/* seal: ptr NULL if the piece has none */
static bool add_piece(struct restore *r, struct bytes data, struct bytes seal)
{
    enum store_result result = STORE_OK;
    struct sleeper sleeper;
    struct stage *stage;

    if (data.len == 0 || data.len > PIECE_MAX_BYTES || r->pieces ||
        (seal.ptr && seal.len != RESTORE_SEAL_SIZE(piece_sectors_of((uint32_t)data.len))))
        return fail(r, "a piece of the backup is malformed");
    add_seal(r, seal);
    stage = stage_for(r, seal.ptr != NULL);
    stage_cut(stage, data.len);
    sleeper_init(&sleeper);
    while (!result && data.len > 0) {
        size_t taken = 0;

        result = stage_write(stage, data, sleeper_arm(&sleeper), &taken);
        data = bytes_from(data, taken);
        if (result == STORE_WAIT) {
            sleeper_wait(&sleeper);
            result = STORE_OK;
        }
    }
    sleeper_release(&sleeper);
    return result ? fail_store(r, result) : true;
}

static bool finish_stage(struct restore *r, struct stage *stage)
{
    enum store_result result;
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    while ((result = stage_finish(stage, sleeper_arm(&sleeper))) == STORE_WAIT)
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    return result ? fail_store(r, result) : true;
}

/* Finishes both stages, and lists their pieces in the order in which they were added. */
static bool finish_stages(struct restore *r)
{
    const struct piece *next[2] = { NULL, NULL };
    struct piece *pieces;
    size_t count[2] = { 0, 0 };

    if (r->added == 0 || r->pieces)
        return true;
    for (int sealed = 0; sealed < 2; sealed++) {
        if (!r->stages[sealed])
            continue;
        if (!finish_stage(r, r->stages[sealed]))
            return false;
        next[sealed] = stage_pieces(r->stages[sealed], &count[sealed]);
    }
    if (count[0] + count[1] != r->added)
        return fail(r, "a piece of the backup is malformed");
    pieces = arena_array(r->part, r->added, sizeof *pieces);
    for (size_t i = 0; i < r->added; i++) {
        pieces[i] = *next[r->seals[i] != NULL]++;
        if (r->seals[i])
            pieces[i].seal = r->seals[i];
    }
    r->pieces = pieces;
    r->piece_count = r->added;
    return true;
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
    if (in->bad || record.piece_count > (size_t)(in->end - in->at) || !finish_stages(r))
        return fail(r, "a record of the backup is malformed");
    pieces = arena_array(r->batch, record.piece_count, sizeof *pieces);
    for (size_t i = 0; i < record.piece_count; i++) {
        uint64_t number = decode_u64(in);

        if (in->bad || number >= r->piece_count)
            return fail(r, "a record of the backup refers to a missing piece");
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
        return fail(r, "a batch is truncated");
    before =
        read_view_open(r->endpoint->store, (struct partition){ r->space, r->key }, STORE_MAY_BLOCK);
    result = read_view_get(before, family, key, r->batch, &record);
    if (!result) {
        changes_release(changes_of(r), record.pieces, record.piece_count);
        changes_delete(changes_of(r), family, key);
    }
    read_view_close(before);
    return !result || result == STORE_NOT_FOUND || fail_store(r, result);
}

static bool put_owner(struct restore *r, struct decoder *in)
{
    struct bytes key = decode_bytes(in), value = decode_bytes(in);

    if (in->bad || r->owner_count == RESTORE_OWNERS_MAX ||
        key.len + value.len > RESTORE_OWNER_BYTES_MAX ||
        !r->endpoint->service->restore->is_owner(key))
        return fail(r, "the record of the restored resource is malformed");
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
        return fail_store(r, result);
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
        return fail(r, "a row of the backup is malformed");
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
        return fail(r, "a batch does not start with a partition");
    switch (entry) {
    case RESTORE_PARTITION:
    case RESTORE_PIECE:
    case RESTORE_SEALED:
        data = decode_bytes(in);
        if (entry == RESTORE_SEALED)
            seal = decode_bytes(in);
        if (in->bad || !data.ptr || (entry == RESTORE_SEALED && !seal.ptr))
            return fail(r, "a batch is truncated");
        return entry == RESTORE_PARTITION ? begin_partition(r, data) : add_piece(r, data, seal);
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
    return fail(r, "a batch contains an unknown kind of entry");
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
    close_stages(r);
    if (!published)
        (void)decide(r, attempt_drop); /* if this fails, the deferred task drops the space */
    if (r->is_move)
        store_release_space(r->endpoint->store, r->space);
    arena_free(r->part);
    arena_free(r->batch);
    arena_free(r->arena);
    free(r);
}
