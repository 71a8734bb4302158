/* Reads a space; see restore_read.h. Sends each piece of a partition once, followed by the records,
 * which refer to the pieces by index. */
#include "admin/restore_read.h"

#include <stdlib.h>

#include "admin/restore_batch.h"
#include "admin/restore_state.h"
#include "base/codec.h"
#include "base/endian.h"
#include "service/names.h"
#include "service/restore.h"
#include "service/usage.h"

/* ---- a partition ---- */

struct pass {
    struct restoring *restoring;
    enum store_result result;
};

static bool read_pieces(void *context, enum record_family family, const struct record *record)
{
    struct pass *pass = context;

    (void)family;
    for (size_t i = 0; !pass->result && i < record->piece_count; i++)
        pass->result = restoring_send_piece(pass->restoring, &record->pieces[i]);
    return !pass->result;
}

static bool add_record(struct pass *pass, enum record_family family, const struct record *record)
{
    struct restoring *r = pass->restoring;

    if (!restoring_begin_entry(r, RESTORE_RECORD,
                               record->key.len + record->value.len + 10 * record->piece_count)) {
        pass->result = STORE_BUSY;
        return false;
    }
    encode_u8(&r->batch, (uint8_t)family);
    encode_bytes(&r->batch, record->key);
    encode_bytes(&r->batch, record->value);
    encode_u64(&r->batch, record->piece_count);
    for (size_t i = 0; i < record->piece_count; i++)
        encode_u64(&r->batch, restoring_piece_number(r, &record->pieces[i]));
    r->records++;
    r->bytes += record->value.len;
    return true;
}

static bool read_record(void *context, enum record_family family, const struct record *record)
{
    return add_record(context, family, record);
}

static bool begin_partition(struct restoring *r, struct partition at)
{
    archive_select(r->archive, at);
    restoring_forget_pieces(r);
    return restoring_add_partition(r, at.key);
}

static enum store_result read_partition(struct restoring *r, struct partition at)
{
    struct pass pass = { .restoring = r };
    enum store_result result;

    if (!begin_partition(r, at))
        return STORE_BUSY;
    result = archive_records(r->archive, read_pieces, &pass);
    if (!result && !pass.result)
        result = archive_records(r->archive, read_record, &pass);
    return result ? result : pass.result;
}

/* ---- a part of a space ---- */

struct finding_above {
    struct restoring *restoring;
    struct arena *arena;
    struct bytes value; /* ptr NULL until it is found */
};

static bool find_above(void *context, enum record_family family, const struct record *record)
{
    struct finding_above *finding = context;

    if (family == RECORD_LISTED &&
        bytes_is(record->key, finding->restoring->finder.functions->record_key))
        finding->value = arena_copy(finding->arena, record->value);
    return family == RECORD_LISTED && !finding->value.ptr;
}

static enum store_result read_above(void *context, struct bytes key, struct arena *arena,
                                    struct bytes *ret_value)
{
    struct finding_above finding = { .restoring = context, .arena = arena };
    struct restoring *r = context;
    enum store_result result;

    archive_select(r->archive, (struct partition){ r->space, key });
    result = archive_records(r->archive, find_above, &finding);
    *ret_value = finding.value;
    return result || finding.value.ptr ? result : STORE_NOT_FOUND;
}

static bool read_kept_record(void *context, enum record_family family, const struct record *record)
{
    struct pass *pass = context;
    struct restoring *r = pass->restoring;
    struct arena_mark empty = arena_mark(r->finder.arena);
    struct record kept = *record;
    bool goes_on = true;

    if (r->service->parts->keeps(r->finder.arena, &r->part, r->partition, family, record,
                                 &kept.value))
        goes_on = add_record(pass, family, &kept);
    arena_rewind(r->finder.arena, empty);
    return goes_on;
}

/* Reads the records of this part in a partition that belongs to no part. */
static enum store_result read_common(struct restoring *r, struct partition at)
{
    struct pass pass = { .restoring = r };
    enum store_result result;

    if (!begin_partition(r, at))
        return STORE_BUSY;
    r->partition = at.key;
    result = archive_records(r->archive, read_kept_record, &pass);
    return result ? result : pass.result;
}

/* Finds the part to which a partition belongs. Returns like part_find(). */
static enum store_result find_part(struct restoring *r, struct bytes key, struct guid *ret_part)
{
    *ret_part = r->part;
    return r->has_part ? part_find(&r->finder, key, ret_part) : STORE_OK;
}

static enum store_result read_own_partition(struct restoring *r, struct partition at)
{
    struct guid part;
    enum store_result result = find_part(r, at.key, &part);

    if (result)
        return result;
    if (guid_equal(&part, &r->part))
        return read_partition(r, at);
    return guid_is_zero(&part) ? read_common(r, at) : STORE_OK;
}

/* Determines whether an index record or a task of this partition must be restored. Returns false
 * after a failure. */
static bool is_own_row(struct restoring *r, struct bytes key, bool *ret_is_own)
{
    struct guid part;
    enum store_result result = find_part(r, key, &part);

    *ret_is_own = guid_equal(&part, &r->part);
    if (result && !r->failed)
        r->failed = result;
    return !result;
}

static enum store_result read_partitions(struct restoring *r, struct guid space)
{
    struct arena *arenas[2] = { arena_new(1u << 20), arena_new(1u << 20) };
    struct partition at = { .space = space, .key = { NULL, 0 } };
    enum store_result result;
    unsigned turn = 0;

    for (;;) {
        struct arena_mark empty = arena_mark(arenas[turn]);
        struct bytes key;

        result = archive_partition(r->archive, space, at.key, arenas[turn], &key);
        if (!result) {
            at.key = key;
            result = read_own_partition(r, at);
        }
        if (result)
            break;
        (void)empty;
        turn ^= 1; /* the previous key must remain valid until the next one is known */
        arena_free(arenas[turn]);
        arenas[turn] = arena_new(1u << 20);
    }
    arena_free(arenas[0]);
    arena_free(arenas[1]);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* ---- index records, counters, tasks ---- */

static bool read_index(void *context, const struct archive_row *row)
{
    struct restoring *r = context;
    bool is_own;

    if (!is_own_row(r, row->partition_key, &is_own) || !is_own)
        return !r->failed;
    if (!restoring_add_partition(r, row->partition_key) ||
        !restoring_begin_entry(r, RESTORE_INDEX, row->key.len + row->value.len))
        return false;
    encode_bytes(&r->batch, row->key);
    encode_bytes(&r->batch, row->value);
    return true;
}

static bool read_counter(void *context, const struct archive_row *row)
{
    struct restoring *r = context;

    if (!restoring_add_partition(r, bytes_from_string("")) ||
        !restoring_begin_entry(r, RESTORE_COUNTER, row->key.len))
        return false;
    encode_bytes(&r->batch, row->key);
    encode_u64(&r->batch, le64_get(row->value.ptr));
    return true;
}

static bool read_task(void *context, const struct archive_row *row)
{
    struct restoring *r = context;
    bool is_own;

    if (!is_own_row(r, row->partition_key, &is_own) || !is_own)
        return !r->failed;
    if (!restoring_add_partition(r, row->partition_key) ||
        !restoring_begin_entry(r, RESTORE_TASK, row->value.len))
        return false;
    encode_u64(&r->batch, row->due);
    encode_u64(&r->batch, row->kind);
    encode_bytes(&r->batch, row->value);
    return true;
}

/* ---- an entire space ---- */

static struct partition owner_of(const struct restoring *r, struct arena *arena, struct bytes name)
{
    return (struct partition){ .space = account_space(r->service->name, r->account),
                               .key = r->service->restore->folds_case
                                          ? arena_copy_lower(arena, name)
                                          : name };
}

struct finding {
    struct restoring *restoring;
    struct guid *space;
    bool is_found;
};

static bool find_space(void *context, enum record_family family, const struct record *record)
{
    struct finding *finding = context;
    struct restoring *r = finding->restoring;
    const struct space_record at = { .record_key = record->key, .value = record->value };
    uint64_t quota;

    finding->is_found = family == RECORD_LISTED && r->service->restore->is_owner(record->key) &&
                        r->service->usage->container(&at, finding->space, &quota);
    r->has_part =
        finding->is_found && r->service->parts && r->service->parts->of_container(&at, &r->part);
    return !finding->is_found;
}

enum store_result restoring_find(struct restoring *r, struct bytes name, struct guid *ret_space)
{
    struct arena *arena = arena_new(1u << 20);
    struct finding finding = { r, ret_space, false };
    enum store_result result;

    archive_select(r->archive, owner_of(r, arena, name));
    result = archive_records(r->archive, find_space, &finding);
    arena_free(arena);
    if (result)
        return result;
    return finding.is_found ? STORE_OK : STORE_NOT_FOUND;
}

static bool read_owner(void *context, enum record_family family, const struct record *record)
{
    struct restoring *r = context;

    if (family != RECORD_LISTED || !r->service->restore->is_owner(record->key))
        return true;
    if (!restoring_begin_entry(r, RESTORE_OWNER, record->key.len + record->value.len))
        return false;
    encode_bytes(&r->batch, record->key);
    encode_bytes(&r->batch, record->value);
    r->records++;
    return true;
}

static void begin(struct restoring *r)
{
    r->arena = arena_new((size_t)256 << 20);
    r->buffer = xmalloc(PIECE_MAX_BYTES);
    r->is_cut = false;
    r->failed = STORE_OK;
    r->finder = (struct part_finder){ .functions = r->service->parts,
                                      .read = read_above,
                                      .context = r,
                                      .arena = arena_new(1u << 20) };
    text_init(&r->batch, r->arena, 2 * BATCH_BYTES + RESTORE_OWNER_BYTES_MAX);
}

static enum store_result end(struct restoring *r, enum store_result result)
{
    if (!result)
        (void)restoring_flush(r);
    if (r->is_cut)
        result = STORE_BUSY;
    if (r->failed)
        result = r->failed;
    arena_free(r->finder.arena);
    free(r->pieces);
    free(r->buffer);
    r->pieces = NULL;
    r->piece_room = 0;
    arena_free(r->arena);
    return result;
}

static enum store_result read_space(struct restoring *r, struct guid space)
{
    enum store_result result;

    r->space = space;
    result = read_partitions(r, space);
    if (!result)
        result = archive_index(r->archive, space, read_index, r);
    if (!result && !r->has_part)
        result = archive_counters(r->archive, space, read_counter, r);
    return result ? result : archive_tasks(r->archive, space, read_task, r);
}

enum store_result restoring_read(struct restoring *r, struct bytes name, struct guid space)
{
    enum store_result result;

    begin(r);
    archive_select(r->archive, owner_of(r, r->arena, name));
    result = archive_records(r->archive, read_owner, r);
    return end(r, result ? result : read_space(r, space));
}

enum store_result restoring_read_space(struct restoring *r, struct guid space)
{
    begin(r);
    return end(r, read_space(r, space));
}

/* ---- changes ---- */

/* Sends a changed record as a removal followed by the new value, so that the receiver releases the
 * pieces of the old value. */
static enum store_result read_changed_record(struct pass *pass, const struct archive_change *change)
{
    struct restoring *r = pass->restoring;
    enum store_result result;

    if (!restoring_begin_entry(r, RESTORE_REMOVE, change->key.len))
        return STORE_BUSY;
    encode_u8(&r->batch, (uint8_t)change->family);
    encode_bytes(&r->batch, change->key);
    result = archive_record(r->archive, change->family, change->key, read_record, pass);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Reads changed records of one family of a partition. */
static enum store_result read_changed_records(struct restoring *r, struct guid space,
                                              const struct archive_change *changes, size_t count)
{
    struct pass pass = { .restoring = r };
    enum store_result result = STORE_OK;

    if (!begin_partition(r, (struct partition){ space, changes[0].partition_key }))
        return STORE_BUSY;
    for (size_t i = 0; i < count && !result && !pass.result; i++) {
        result = archive_record(r->archive, changes[i].family, changes[i].key, read_pieces, &pass);
        result = result == STORE_NOT_FOUND ? STORE_OK : result;
    }
    for (size_t i = 0; i < count && !result && !pass.result; i++)
        result = read_changed_record(&pass, &changes[i]);
    return result ? result : pass.result;
}

static enum store_result read_changed_row(struct restoring *r, const struct archive_change *change)
{
    bool is_index = change->kind == CHANGED_INDEX;
    enum store_result result =
        archive_changed_row(r->archive, change, is_index ? read_index : read_task, r);

    if (result != STORE_NOT_FOUND)
        return result;
    if (!is_index)
        return STORE_OK; /* the task is done; the receiver's copy will find nothing to do */
    if (!restoring_add_partition(r, change->partition_key) ||
        !restoring_begin_entry(r, RESTORE_UNINDEX, change->key.len))
        return STORE_BUSY;
    encode_bytes(&r->batch, change->key);
    return STORE_OK;
}

static bool are_together(const struct archive_change *a, const struct archive_change *b)
{
    return a->kind == b->kind && a->family == b->family &&
           bytes_equal(a->partition_key, b->partition_key);
}

static enum store_result read_changes(struct restoring *r, struct guid space)
{
    struct archive_change *changes;
    size_t count, next;
    enum store_result result = archive_take_changes(r->archive, r->arena, &changes, &count);

    for (size_t i = 0; i < count && !result; i = next) {
        next = i + 1;
        while (changes[i].kind == CHANGED_RECORD && next < count &&
               are_together(&changes[i], &changes[next]))
            next++;
        if (changes[i].kind == CHANGED_RECORD)
            result = read_changed_records(r, space, &changes[i], next - i);
        else
            result = read_changed_row(r, &changes[i]);
    }
    return result ? result : archive_counters(r->archive, space, read_counter, r);
}

enum store_result restoring_read_changes(struct restoring *r, struct guid space)
{
    begin(r);
    return end(r, read_changes(r, space));
}
