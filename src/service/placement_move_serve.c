/* Steps of moves in the destination and the root, and the tasks that repeat them. See
 * placement_move.h. */
#include "cluster/folder.h"
#include "service/driver.h"
#include "service/names.h"
#include "service/operation.h"
#include "service/server.h"
#include "service/placement.h"
#include "service/placement_private.h"
#include "service/small_record.h"

/* Delay before a task is attempted again. */
#define AGAIN_AFTER_S 1u
/* Delay before a prepared move is checked. It is normally sealed right after it was prepared,
 * unless its source has failed. */
#define CHECK_AFTER_S 30u
/* A space that will be dropped within this time is not accepted. */
#define SPACE_LEFT_S  3600u

/* A step requested by another cell. */
struct step {
    struct move move;
    struct decoder in; /* rest of the request after the move */
    struct bytes body;
    int status;
};

static int run_in(const struct endpoint *endpoint, struct arena *arena, attempt_fn *attempt,
                  struct step *step)
{
    enum error e;

    step->status = 200;
    e = deciding_run_in(endpoint->store, endpoint->service, arena, attempt, step);
    return e ? 503 : step->status;
}

static int run(void *context, struct bytes body, struct arena *arena, attempt_fn *attempt,
               struct step *step)
{
    const struct endpoint *endpoint;

    step->body = body;
    decoder_init(&step->in, body);
    if (!move_read(&step->in, &step->move))
        return 400;
    endpoint = endpoint_find(context, step->move.service);
    return endpoint ? run_in(endpoint, arena, attempt, step) : 400;
}

static void open_name(struct decision *d, const struct move *move)
{
    decision_open_subject(d, move_partition(d->service->name, move));
    decision_read_clock(d);
}

static enum error ended(struct decision *d, enum store_result result)
{
    return result ? decision_fail_store(d, result) : OK;
}

/* Sets the status of the response, without changes. */
static enum error respond(struct step *step, int status)
{
    step->status = status;
    return OK;
}

/* ---- locate ---- */

static enum error attempt_locate(struct decision *d, void *of)
{
    struct step *step = of;
    struct move *move = &step->move;
    struct placement row;
    enum store_result result;
    bool used = false, sealed = false;

    open_name(d, move);
    result = placement_read(d->before, d->arena, &row);
    if (result == STORE_NOT_FOUND) {
        result = placement_is_used(d->before, &used);
        if (!result)
            result = placement_sealed(d, d->before, 0, &sealed);
        row = (struct placement){ .cell = CLUSTER_ROOT };
    } else {
        used = true;
    }
    if (result)
        return decision_fail_store(d, result);
    if (sealed)
        return respond(step, 503);
    if (!used)
        return respond(step, 404);
    if (move->key.ptr[0] == '$' || row.cell == move->to)
        return respond(step, 409);
    move->from = row.cell;
    move->before = row.incarnation;
    move->incarnation = (uint64_t)d->now;
    return OK;
}

int move_locate_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct step step = { .status = 0 };
    int status = run(context, body, arena, attempt_locate, &step);

    if (status == 200 || status == 409)
        move_write(ret_body, &step.move);
    return status;
}

/* ---- prepare ---- */

static struct partition account_partition(const struct decision *d, const struct move *move)
{
    return (struct partition){ .space = account_space(d->service->name, move->account),
                               .key = BYTES("") };
}

static bool has_time(const struct decision *d, const struct moved *moved)
{
    for (size_t i = 0; i < moved->space_count; i++)
        if (moved->spaces[i].due < d->now + SPACE_LEFT_S * (uint64_t)TICKS_PER_SECOND)
            return false;
    return true;
}

/* Reads the prepared move. Returns STORE_NOT_FOUND if none exists. */
static enum store_result read_incoming(struct decision *d, struct move *ret_move,
                                       struct moved *ret_moved)
{
    struct record record;
    struct decoder in;
    enum store_result result =
        read_view_get(d->before, RECORD_INNER, move_incoming_key, d->arena, &record);

    if (result)
        return result;
    decoder_init(&in, record.value);
    if (!move_read(&in, ret_move) || !moved_read(&in, d->arena, ret_moved))
        return record_is_unknown("the record of a move to this cell", record.value);
    return STORE_OK;
}

static bool has_space(const struct moved *moved, const struct guid *space)
{
    for (size_t i = 0; i < moved->space_count; i++)
        if (guid_equal(&moved->spaces[i].space, space))
            return true;
    return false;
}

/* Drops the spaces of an earlier prepared move from the same cell, which has promised not to seal
 * it. Returns STORE_NOT_FOUND if no prepared move remains that must be kept. The same move may be
 * prepared again after the name was changed, and may then have fewer spaces. */
static enum store_result replace_incoming(struct decision *d, const struct move *move,
                                          const struct moved *by)
{
    struct move other;
    struct moved moved;
    enum store_result result = read_incoming(d, &other, &moved);

    if (result)
        return result;
    if (other.from != move->from || other.incarnation > move->incarnation)
        return STORE_OK;
    for (size_t i = 0; i < moved.space_count; i++)
        if (!has_space(by, &moved.spaces[i].space))
            changes_drop_space(d->changes, moved.spaces[i].space);
    return STORE_NOT_FOUND;
}

/* Finds conflicts with a move. Returns STORE_NOT_FOUND if no other move is sealed or prepared here
 * and the name is not in use. */
static enum store_result find_conflict(struct decision *d, const struct move *move,
                                       const struct moved *moved)
{
    struct move other;
    bool used = false;
    enum store_result result = move_read_sealed(d->before, d->arena, &other);

    if (result == STORE_NOT_FOUND)
        result = replace_incoming(d, move, moved);
    if (result != STORE_NOT_FOUND)
        return result;
    result = placement_is_used(d->before, &used);
    return !result && !used ? STORE_NOT_FOUND : result;
}

static enum error attempt_prepare(struct decision *d, void *of)
{
    struct step *step = of;
    struct decoder in = step->in;
    struct decision_part *account;
    struct moved moved;
    enum store_result result;

    if (!moved_read(&in, d->arena, &moved))
        return respond(step, 400);
    decision_open_subject(d, move_partition(d->service->name, &step->move));
    account = decision_open(d, account_partition(d, &step->move), changes_new(d->arena));
    decision_read_clock(d);
    result = find_conflict(d, &step->move, &moved);
    if (result && result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    if (!result || !has_time(d, &moved))
        return respond(step, 409);
    for (size_t i = 0; i < moved.space_count; i++)
        changes_task_done(account->changes,
                          &(struct deferred_task){ .due = moved.spaces[i].due,
                                                   .partition = account->partition,
                                                   .id = moved.spaces[i].task });
    changes_put(d->changes, RECORD_INNER, move_incoming_key, step->body, NULL, 0);
    changes_defer(d->changes, d->now + CHECK_AFTER_S * (uint64_t)TICKS_PER_SECOND,
                  TASK_CHECK_INCOMING,
                  placement_payload(d->arena, d->service->name, step->move.account));
    return OK;
}

int move_prepare_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct step step = { .status = 0 };

    (void)ret_body;
    return run(context, body, arena, attempt_prepare, &step);
}

/* ---- activate ---- */

static void put_moved(struct decision *d, const struct moved *moved)
{
    for (size_t i = 0; i < moved->record_count; i++)
        changes_put(d->changes, moved->records[i].family, moved->records[i].key,
                    moved->records[i].value, NULL, 0);
    for (size_t i = 0; i < moved->task_count; i++)
        changes_defer(d->changes, moved->tasks[i].due, moved->tasks[i].kind,
                      moved->tasks[i].payload);
}

/* Removes the row in the same commit, if the root is the destination. */
static enum store_result remove_row(struct decision *d, const struct move *move)
{
    struct placement row;
    enum store_result result = placement_read(d->before, d->arena, &row);

    if (result)
        return result == STORE_NOT_FOUND ? STORE_CORRUPT : result;
    if (row.cell != move->from || row.incarnation != move->before)
        return STORE_CORRUPT; /* the source is sealed, so nothing else can have changed the row */
    placement_remove(d->changes, &row);
    move_count_switch(d->changes);
    return STORE_OK;
}

static enum error attempt_activate(struct decision *d, void *of)
{
    struct step *step = of;
    struct move incoming;
    struct moved moved;
    enum store_result result;

    open_name(d, &step->move);
    result = read_incoming(d, &incoming, &moved);
    if (result == STORE_NOT_FOUND || (!result && incoming.incarnation != step->move.incarnation))
        return OK; /* already done */
    if (!result && incoming.to == CLUSTER_ROOT)
        result = remove_row(d, &incoming);
    if (result)
        return decision_fail_store(d, result);
    put_moved(d, &moved);
    changes_delete(d->changes, RECORD_INNER, move_incoming_key);
    if (incoming.to != CLUSTER_ROOT)
        changes_put(d->changes, RECORD_INNER, placement_own_key,
                    placement_payload(d->arena, d->service->name, incoming.account), NULL, 0);
    return OK;
}

int move_activate_serve(void *context, struct bytes body, struct arena *arena,
                        struct text *ret_body)
{
    struct step step = { .status = 0 };

    (void)ret_body;
    return run(context, body, arena, attempt_activate, &step);
}

/* ---- switch ---- */

static enum error attempt_switch(struct decision *d, void *of)
{
    struct step *step = of;
    const struct move *move = &step->move;
    struct placement row;
    enum store_result result;

    open_name(d, move);
    result = placement_read(d->before, d->arena, &row);
    if (result == STORE_NOT_FOUND)
        return OK; /* already done, and the container has since been deleted */
    if (result)
        return decision_fail_store(d, result);
    if (row.cell != move->from || row.incarnation != move->before)
        return OK;
    placement_remove(d->changes, &row);
    placement_write(d->changes, d->arena,
                    (struct placement){ .cell = move->to, .incarnation = move->incarnation });
    move_count_switch(d->changes);
    return OK;
}

int move_switch_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct step step = { .status = 0 };

    (void)ret_body;
    return run(context, body, arena, attempt_switch, &step);
}

/* ---- cancel ---- */

static enum error attempt_cancel(struct decision *d, void *of)
{
    struct step *step = of;
    struct move sealed;
    uint64_t cancelled;
    enum store_result result;

    open_name(d, &step->move);
    result = move_read_sealed(d->before, d->arena, &sealed);
    if (!result && sealed.incarnation <= step->move.incarnation)
        return respond(step, 409);
    if (!result || result == STORE_NOT_FOUND)
        result = small_record_read(d->before, d->arena, move_cancelled_key,
                                   "the record of a cancelled move", &cancelled, 1);
    if (result == STORE_NOT_FOUND || (!result && cancelled < step->move.incarnation)) {
        small_record_write(d->changes, d->arena, move_cancelled_key, &step->move.incarnation, 1);
        result = STORE_OK;
    }
    return ended(d, result);
}

bool move_cancel_earlier(const struct endpoint *endpoint, const struct move *move)
{
    struct arena *arena = arena_new(MOVE_PREPARE_MAX);
    struct step step = { .move = *move };
    int status;

    step.move.incarnation--;
    status = run_in(endpoint, arena, attempt_cancel, &step);
    arena_free(arena);
    return status == 200;
}

int move_cancel_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct step step = { .status = 0 };

    (void)ret_body;
    return run(context, body, arena, attempt_cancel, &step);
}

/* ---- tasks ---- */

/* Requests a step from another cell. Returns the response's status, or 0 on failure. */
static int ask(const struct endpoint *endpoint, uint32_t cell, const char *path,
               const struct move *move, struct arena *arena)
{
    struct text body;

    text_init(&body, arena, 256);
    move_write(&body, move);
    return placement_ask(endpoint, cell, path, text_bytes(&body), arena);
}

static enum store_result again(struct decision *d, const struct deferred_task *task)
{
    changes_defer(d->changes, d->now + AGAIN_AFTER_S * (uint64_t)TICKS_PER_SECOND, task->kind,
                  task->payload);
    return STORE_OK;
}

/* Runs step (5). */
static enum store_result finish(struct decision *d, const struct move *move)
{
    changes_delete(d->changes, RECORD_INNER, move_sealed_key);
    move_count_finished(d->changes);
    if (move->from != CLUSTER_ROOT)
        return placement_write_released(d, move->before);
    placement_write(d->changes, d->arena,
                    (struct placement){ .cell = move->to, .incarnation = move->incarnation });
    move_count_switch(d->changes);
    return STORE_OK;
}

enum store_result move_finish_task(struct decision *d, const struct deferred_task *task,
                                   const struct endpoint *endpoint)
{
    struct move move = { .key = task->partition.key };
    enum store_result result = move_read_sealed(d->before, d->arena, &move);

    if (result)
        return result;
    if (!placement_payload_read(task->payload, &move.service, &move.account))
        return STORE_CORRUPT;
    /* If the seal could still be lost, both cells would have the name. */
    result = store_await(d->store, read_view_sequence(d->before));
    if (result)
        return result;
    if (ask(endpoint, move.to, MOVE_ACTIVATE_PATH, &move, d->arena) != 200)
        return again(d, task);
    if (move.from != CLUSTER_ROOT && move.to != CLUSTER_ROOT &&
        ask(endpoint, CLUSTER_ROOT, MOVE_SWITCH_PATH, &move, d->arena) != 200)
        return again(d, task);
    return finish(d, &move);
}

enum store_result move_check_incoming_task(struct decision *d, const struct deferred_task *task,
                                           const struct endpoint *endpoint)
{
    struct move move;
    struct moved moved;
    enum store_result result = read_incoming(d, &move, &moved);

    if (result)
        return result;
    /* it is sealed and will be activated, or its owner cannot be reached */
    if (ask(endpoint, move.from, MOVE_CANCEL_PATH, &move, d->arena) != 200)
        return again(d, task);
    changes_delete(d->changes, RECORD_INNER, move_incoming_key);
    for (size_t i = 0; i < moved.space_count; i++)
        changes_drop_space(d->changes, moved.spaces[i].space);
    return STORE_OK;
}
