/* Records of moves, and decisions about them in the source and for lists. See placement_move.h. */
#include "service/placement_move.h"

#include "base/crc.h"
#include "service/names.h"
#include "service/operation.h"
#include "service/placement.h"
#include "service/placement_private.h"
#include "service/small_record.h"

#define VERSION 1

const struct bytes move_cancelled_key = BYTES("x");
const struct bytes move_incoming_key = BYTES("w");

static const struct bytes seals_counter = BYTES("v");
static const struct bytes finished_counter = BYTES("vf");
static const struct bytes switches_counter = BYTES("vs");

/* ---- encoding ---- */

void move_write(struct text *out, const struct move *move)
{
    encode_u8(out, VERSION);
    encode_bytes(out, move->service);
    encode_bytes(out, move->account);
    encode_bytes(out, move->key);
    encode_u64(out, move->before);
    encode_u64(out, move->incarnation);
    encode_u64(out, move->from);
    encode_u64(out, move->to);
}

static bool read_cell(struct decoder *in, uint32_t *ret_cell)
{
    uint64_t cell = decode_u64(in);

    *ret_cell = (uint32_t)cell;
    return cell <= PLACEMENT_CELL_MAX;
}

bool move_read(struct decoder *in, struct move *ret_move)
{
    if (decode_u8(in) != VERSION)
        return false;
    ret_move->service = decode_bytes(in);
    ret_move->account = decode_bytes(in);
    ret_move->key = decode_bytes(in);
    ret_move->before = decode_u64(in);
    ret_move->incarnation = decode_u64(in);
    return read_cell(in, &ret_move->from) && read_cell(in, &ret_move->to) && !in->bad &&
           ret_move->account.len > 0 && ret_move->key.len > 0;
}

struct partition move_partition(const char *service, const struct move *move)
{
    return (struct partition){ .space = account_space(service, move->account), .key = move->key };
}

void moved_write(struct text *out, const struct moved *moved)
{
    encode_u64(out, moved->record_count);
    for (size_t i = 0; i < moved->record_count; i++) {
        encode_u8(out, (uint8_t)moved->records[i].family);
        encode_bytes(out, moved->records[i].key);
        encode_bytes(out, moved->records[i].value);
    }
    encode_u64(out, moved->task_count);
    for (size_t i = 0; i < moved->task_count; i++) {
        encode_u64(out, moved->tasks[i].due);
        encode_u64(out, moved->tasks[i].kind);
        encode_bytes(out, moved->tasks[i].payload);
    }
    encode_u64(out, moved->space_count);
    for (size_t i = 0; i < moved->space_count; i++) {
        encode_fixed(out, moved->spaces[i].space.b, sizeof moved->spaces[i].space.b);
        encode_fixed(out, moved->spaces[i].task.b, sizeof moved->spaces[i].task.b);
        encode_u64(out, moved->spaces[i].due);
    }
}

/* Reads the number of entries. Each has at least one byte, which limits the number. */
static size_t read_count(struct decoder *in)
{
    uint64_t count = decode_u64(in);

    if (in->bad || count > (uint64_t)(in->end - in->at))
        in->bad = true;
    return in->bad ? 0 : (size_t)count;
}

bool moved_read(struct decoder *in, struct arena *arena, struct moved *ret_moved)
{
    struct moved m = { .record_count = read_count(in) };

    m.records = arena_array(arena, m.record_count, sizeof *m.records);
    for (size_t i = 0; i < m.record_count; i++) {
        m.records[i].family = decode_u8(in) == RECORD_LISTED ? RECORD_LISTED : RECORD_INNER;
        m.records[i].key = decode_bytes(in);
        m.records[i].value = decode_bytes(in);
    }
    m.task_count = read_count(in);
    m.tasks = arena_array(arena, m.task_count, sizeof *m.tasks);
    for (size_t i = 0; i < m.task_count; i++) {
        m.tasks[i].due = decode_u64(in);
        m.tasks[i].kind = (uint32_t)decode_u64(in);
        m.tasks[i].payload = decode_bytes(in);
    }
    m.space_count = read_count(in);
    m.spaces = arena_array(arena, m.space_count, sizeof *m.spaces);
    for (size_t i = 0; i < m.space_count; i++) {
        decode_fixed(in, m.spaces[i].space.b, sizeof m.spaces[i].space.b);
        decode_fixed(in, m.spaces[i].task.b, sizeof m.spaces[i].task.b);
        m.spaces[i].due = decode_u64(in);
    }
    *ret_moved = m;
    return decoder_ok(in);
}

/* ---- records ---- */

bool placement_is_own_record(struct bytes key)
{
    static const char own[] = "monvxw";

    return key.len == 1 && memchr(own, key.ptr[0], sizeof own - 1);
}

bool placement_is_own_task(uint32_t kind)
{
    return kind == TASK_CHECK_PLACEMENT || kind == TASK_TELL_ROOT || kind == TASK_FORGET_RELEASE ||
           kind == TASK_FINISH_MOVE || kind == TASK_CHECK_INCOMING;
}

static void write_sealed(struct decision *d, const struct move *move)
{
    const uint64_t numbers[] = { move->from, move->to, move->before, move->incarnation };

    small_record_write(d->changes, d->arena, move_sealed_key, numbers, 4);
}

/* ---- sealing ---- */

typedef void visit_fn(void *context, enum record_family family, const struct record *record);

/* Visits the records of a partition that move with the name. */
static enum store_result each_record(struct read_view *of, struct arena *arena, visit_fn *visit,
                                     void *context)
{
    static const enum record_family families[] = { RECORD_LISTED, RECORD_INNER };
    const struct bytes all = BYTES("");
    enum store_result result = STORE_NOT_FOUND;

    for (size_t i = 0; i < 2 && result == STORE_NOT_FOUND; i++) {
        struct scan *scan = scan_open(of, families[i], all, all);
        struct record record;

        while (!(result = scan_next(scan, arena, &record)))
            if (families[i] == RECORD_LISTED || !placement_is_own_record(record.key))
                visit(context, families[i], &record);
        scan_close(scan);
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static void add_to_digest(void *context, enum record_family family, const struct record *record)
{
    uint64_t *digest = context;
    char head[1 + 2 * sizeof(uint64_t)];

    head[0] = (char)family;
    memcpy(head + 1, &record->key.len, sizeof(uint64_t));
    memcpy(head + 1 + sizeof(uint64_t), &record->value.len, sizeof(uint64_t));
    *digest = crc64(*digest, head, sizeof head);
    *digest = crc64(*digest, record->key.ptr, record->key.len);
    *digest = crc64(*digest, record->value.ptr, record->value.len);
}

enum store_result placement_digest(struct read_view *of, struct arena *arena, uint64_t *ret_digest)
{
    *ret_digest = 0;
    return each_record(of, arena, add_to_digest, ret_digest);
}

static void delete_record(void *context, enum record_family family, const struct record *record)
{
    changes_delete(context, family, record->key);
}

/* Determines whether the move may be sealed: it was not cancelled and the name has not changed
 * since it was prepared. */
static enum store_result may_seal(struct decision *d, const struct seal *seal, bool *ret_may)
{
    uint64_t cancelled, digest = 0;
    struct move sealed;
    enum store_result result = small_record_read(d->before, d->arena, move_cancelled_key,
                                                 "the record of a cancelled move", &cancelled, 1);

    *ret_may = false;
    if (result == STORE_NOT_FOUND)
        cancelled = 0;
    else if (result)
        return result;
    result = move_read_sealed(d->before, d->arena, &sealed);
    if (result != STORE_NOT_FOUND)
        return result;
    result = placement_digest(d->before, d->arena, &digest);
    *ret_may = !result && cancelled < seal->move.incarnation && digest == seal->digest;
    return result;
}

enum error placement_seal(struct decision *d, void *of)
{
    struct seal *seal = of;
    enum store_result result;
    bool may;

    decision_open_subject(d, move_partition(d->service->name, &seal->move));
    decision_read_clock(d);
    result = may_seal(d, seal, &may);
    seal->is_done = may;
    if (!result && may)
        result = each_record(d->before, d->arena, delete_record, d->changes);
    if (result)
        return decision_fail_store(d, result);
    if (!may)
        return OK;
    changes_delete(d->changes, RECORD_INNER, placement_own_key);
    changes_delete(d->changes, RECORD_INNER, move_cancelled_key);
    for (size_t i = 0; i < seal->dropped_count; i++)
        changes_drop_space(d->changes, seal->dropped[i]);
    write_sealed(d, &seal->move);
    changes_count(d->changes, seals_counter, 1);
    changes_defer(d->changes, d->now, TASK_FINISH_MOVE,
                  placement_payload(d->arena, d->service->name, seal->move.account));
    return OK;
}

/* ---- lists ---- */

void move_count_finished(struct changes *changes)
{
    changes_count(changes, finished_counter, 1);
}

void move_count_switch(struct changes *changes)
{
    changes_count(changes, switches_counter, 1);
}

enum store_result placement_count_moves(struct store *store, const char *service,
                                        struct bytes account, struct store_access access,
                                        struct move_count *ret_count)
{
    struct guid space = account_space(service, account);
    uint64_t sequence;
    enum store_result result =
        store_count(store, space, finished_counter, access, &ret_count->finished, &sequence);

    if (!result)
        result =
            store_count(store, space, switches_counter, access, &ret_count->switches, &sequence);
    if (!result)
        result = store_count(store, space, seals_counter, access, &ret_count->seals, &sequence);
    ret_count->is_known = !result;
    return result;
}

enum error placement_check_list(struct decision *d)
{
    const struct move_count *before = &d->input->merged.moves;
    struct move_count now;
    enum store_result result;

    if (!before->is_known)
        return OK;
    result = placement_count_moves(d->store, service_data_name(d->service), d->input->account,
                                   d->access, &now);
    if (result)
        return decision_fail_store(d, result);
    return now.seals != before->finished || now.switches != before->switches ? E_ServerBusy : OK;
}
