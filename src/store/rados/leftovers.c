#include "store/rados/leftovers.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/rados/blocking.h"
#include "store/rados/front_end_rows.h"
#include "store/rados/part_work.h"
#include "store/rados/piece_label.h"
#include "store/rados/piece_rows.h"
#include "store/rados/resolve.h"
#include "store/rados/task_row.h"

/* Labels that are asked for at once. */
#define WAVE          64u
/* A partition that is found locked again so often is left for later. */
#define TRIES_MAX     8u
#define COLLECT_ARENA (64u << 20)
/* Names of pieces in one task. */
#define NAMES_MAX     (64u << 10)

/* One run of leftovers_collect(). */
struct collecting {
    const struct leftovers *of;
    uint32_t incarnation;
    struct arena *arena;
    struct partition owner; /* of those that are left; its key in the arena */
    struct text names;      /* those of them that no task has yet */
    char fenced[SHARD_NAME_SIZE];
    bool is_told; /* of all so far */
};

/* ---- one piece ---- */

/* Reports whether the owner is locked, where the fate is unknown because of that. */
static enum leftover_fate look(struct shards *shards, const struct partition *owner,
                               uint32_t incarnation, uint64_t number, bool *ret_is_locked)
{
    struct port_op *op = arrival_op();
    struct port_step *bounds_row = port_get(op, row_key_bounds());
    struct port_step *header_row = port_get(op, row_key_header(op->arena, owner->key));
    struct port_step *row = port_get(op, row_key_piece(op->arena, owner->key, incarnation, number));
    enum leftover_fate fate = PIECE_UNREADABLE;
    struct partition_header header;
    struct shard_bounds bounds;
    struct arrival *arrival;
    char object[SHARD_NAME_SIZE];

    *ret_is_locked = false;
    shards_place(shards, owner, object);
    arrival = send_block(shards_port(shards), object, op);
    if (op->result == PORT_ABSENT)
        fate = PIECE_LEFT;
    else if (op->result || shard_bounds_read(port_value(bounds_row), &bounds) ||
             partition_header_read(port_value(header_row), &header))
        log_line(LOG_ERROR, "shard %s: what refers to a piece is unknown", object);
    else if (row->row_count > 0)
        fate = PIECE_REFERRED;
    else if (partition_is_locked(&header))
        *ret_is_locked = true;
    else
        fate = bounds.state == SHARD_SEALED ? PIECE_DROPPED : PIECE_LEFT;
    arrival_drop(arrival);
    return fate;
}

enum leftover_fate leftovers_fate(struct shards *shards, const struct partition *owner,
                                  uint32_t incarnation, uint64_t number)
{
    enum leftover_fate fate = PIECE_UNREADABLE;
    bool is_locked = true;

    for (unsigned tries = 0; is_locked && tries < TRIES_MAX; tries++) {
        fate = look(shards, owner, incarnation, number, &is_locked);
        if (is_locked) {
            struct arrival *resolved = resolve_start(shards, owner);

            arrival_block(resolved);
            arrival_drop(resolved);
        }
    }
    return fate;
}

/* ---- changes of the owner's shard ---- */

static bool change(struct collecting *c, const struct partition *owner,
                   const struct shard_change *changes, struct shard_task *tasks)
{
    enum store_result result = change_block(
        c->of->shards, owner, (struct shard_commit){ .changes = changes, .tasks = tasks });

    if (result)
        log_line(LOG_ERROR, "rados: what a front end has left: %s", store_result_text(result));
    return result == STORE_OK;
}

/* Makes the shard, if it is not there: else a late commit would, without a fence. */
static bool fence(struct collecting *c, const struct partition *owner)
{
    struct shard_change set = { .key = row_key_fence(c->arena, c->incarnation),
                                .value = row_value_write(c->arena, bytes_from_string("1")) };
    char object[SHARD_NAME_SIZE];

    shards_place(c->of->shards, owner, object);
    if (strcmp(object, c->fenced) == 0)
        return true;
    if (!change(c, owner, &set, NULL))
        return false;
    memcpy(c->fenced, object, sizeof object);
    return true;
}

/* A task deletes those whose names have come together. */
static void add_task(struct collecting *c)
{
    struct task_row row = { .kind = TASK_COLLECT,
                            .payload = text_bytes(&c->names),
                            .partition_key = c->owner.key };
    struct shard_task task = { .due = clock_now() + c->of->grace,
                               .id = guid_new(),
                               .value = task_row_write(c->arena, &row) };

    if (row.payload.len > 0)
        c->is_told = change(c, &c->owner, NULL, &task) && c->is_told;
    text_init(&c->names, c->arena, 0);
}

static bool is_owner(const struct collecting *c, const struct partition *owner)
{
    return guid_equal(&c->owner.space, &owner->space) && bytes_equal(c->owner.key, owner->key);
}

static void add_name(struct collecting *c, const struct partition *owner,
                     const struct piece_change *piece)
{
    if (!is_owner(c, owner) || text_bytes(&c->names).len >= NAMES_MAX) {
        add_task(c);
        c->owner = (struct partition){ owner->space, arena_copy(c->arena, owner->key) };
    }
    piece_name_write(&c->names, piece);
}

/* ---- many ---- */

/* The piece, from now on, is nobody's who might change its label, and then commit it. */
static enum port_result claim(struct collecting *c, const char *object, struct bytes row,
                              struct piece_label label)
{
    struct port_op *op = arrival_op();

    label.state = PIECE_LEFT_OVER;
    port_compare_label(op, row);
    port_set_label(op, piece_label_write(op->arena, &label));
    return run_block(c->of->pieces, object, op);
}

/* By its label, as it was read. False: that has changed meanwhile. */
static bool judge(struct collecting *c, uint64_t number, const char *object, struct bytes row)
{
    struct piece_change piece = { .extent = c->incarnation, .offset = number };
    enum leftover_fate fate = PIECE_UNREADABLE;
    enum port_result claimed = PORT_OK;
    struct piece_label label;

    if (!piece_label_read(row, &label)) {
        log_line(LOG_ERROR, "rados: the label of piece %s is damaged: it stays", object);
        return true;
    }
    piece.length = label.length;
    if (!c->of->is_fenced || fence(c, &label.owner))
        fate = leftovers_fate(c->of->shards, &label.owner, c->incarnation, number);
    if ((fate == PIECE_LEFT || fate == PIECE_DROPPED) && label.state != PIECE_LEFT_OVER)
        claimed = claim(c, object, row, label);
    if (claimed == PORT_REFUSED)
        return false;
    if (claimed == PORT_OK && (fate == PIECE_LEFT || fate == PIECE_DROPPED))
        add_name(c, &label.owner, &piece);
    c->is_told =
        c->is_told && fate != PIECE_UNREADABLE && (claimed == PORT_OK || claimed == PORT_ABSENT);
    return true;
}

static struct arrival *ask_label(struct collecting *c, uint64_t number,
                                 char ret_object[PIECE_OBJECT_SIZE], struct port_step **ret_label)
{
    struct port_op *op = arrival_op();

    *ret_label = port_get_label(op);
    piece_object(c->incarnation, number, ret_object);
    return arrival_send(c->of->pieces, ret_object, op);
}

/* asked: its label. */
static void look_at_piece(struct collecting *c, uint64_t number, struct arrival *asked,
                          struct port_step *label)
{
    char object[PIECE_OBJECT_SIZE];
    bool is_judged = false;

    piece_object(c->incarnation, number, object);
    for (unsigned tries = 0; !is_judged; tries++) {
        enum port_result result;

        arrival_block(asked);
        result = arrival_answer(asked)->result;
        is_judged = result != PORT_OK || judge(c, number, object, port_value(label));
        arrival_drop(asked);
        if ((result && result != PORT_ABSENT) || (!is_judged && tries == TRIES_MAX)) {
            c->is_told = false;
            return;
        }
        if (!is_judged)
            asked = ask_label(c, number, object, &label);
    }
}

static void look_at_wave(struct collecting *c, const uint64_t *numbers, size_t count)
{
    struct arrival *asked[WAVE];
    struct port_step *labels[WAVE];
    char object[PIECE_OBJECT_SIZE];

    for (size_t i = 0; i < count; i++)
        asked[i] = ask_label(c, numbers[i], object, &labels[i]);
    for (size_t i = 0; i < count; i++)
        look_at_piece(c, numbers[i], asked[i], labels[i]);
}

bool leftovers_collect(const struct leftovers *leftovers, uint32_t incarnation,
                       const uint64_t *numbers, size_t count)
{
    struct collecting c = { .of = leftovers, .incarnation = incarnation, .is_told = true };

    c.arena = arena_new(COLLECT_ARENA);
    text_init(&c.names, c.arena, 0);
    for (size_t at = 0; at < count; at += WAVE)
        look_at_wave(&c, numbers + at, count - at < WAVE ? count - at : WAVE);
    add_task(&c);
    arena_free(c.arena);
    return c.is_told;
}
