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
    bool is_told;           /* of all so far */
};

/* ---- one piece ---- */

struct look {
    struct arrival *arrival; /* all below points into it */
    struct port_step *bounds, *header, *row, *fence;
    char object[SHARD_NAME_SIZE];
};

static struct look ask(struct shards *shards, const struct partition *owner, uint32_t incarnation,
                       uint64_t number)
{
    struct port_op *op = arrival_op();
    struct look look = {
        .bounds = port_get(op, row_key_bounds()),
        .header = port_get(op, row_key_header(op->arena, owner->key)),
        .row = port_get(op, row_key_piece(op->arena, owner->key, incarnation, number)),
        .fence = port_get(op, row_key_fence(op->arena, incarnation)),
    };

    shards_place(shards, owner, look.object);
    look.arrival = send_block(shards_port(shards), look.object, op);
    return look;
}

/* What a look says, or why there is to be another. */
enum told { TOLD, TOLD_LOCKED, TOLD_ELSEWHERE, TOLD_UNFENCED };

static enum told take_look(struct shards *shards, const struct partition *owner,
                           const struct look *look, bool is_fenced, enum leftover_fate *ret_fate)
{
    enum port_result result = arrival_answer(look->arrival)->result;
    enum store_result there = STORE_IO;
    struct partition_header header;
    struct shard_bounds bounds;

    *ret_fate = PIECE_UNREADABLE;
    if (result == PORT_ABSENT) {
        *ret_fate = PIECE_LEFT;
        return is_fenced ? TOLD_UNFENCED : TOLD;
    }
    if (result == PORT_OK)
        there = shard_bounds_read(port_value(look->bounds), &bounds);
    if (!there)
        there = shards_arrive(shards, owner, &bounds);
    if (there == STORE_CONFLICT)
        return TOLD_ELSEWHERE;
    if (there || partition_header_read(port_value(look->header), &header)) {
        log_line(LOG_ERROR, "shard %s: what refers to a piece is unknown", look->object);
        return TOLD;
    }
    if (look->row->row_count == 0 && is_fenced && look->fence->row_count == 0)
        return TOLD_UNFENCED;
    if (look->row->row_count == 0 && partition_is_locked(&header))
        return TOLD_LOCKED;
    *ret_fate = look->row->row_count > 0       ? PIECE_REFERRED
                : bounds.state == SHARD_SEALED ? PIECE_DROPPED
                                               : PIECE_LEFT;
    return TOLD;
}

/* is_fenced: only in a shard that has the fence; *ret_is_unfenced: it was none. */
static enum leftover_fate find_fate(struct shards *shards, const struct partition *owner,
                                    uint32_t incarnation, uint64_t number, bool is_fenced,
                                    bool *ret_is_unfenced)
{
    enum leftover_fate fate = PIECE_UNREADABLE;
    enum told told = TOLD_LOCKED;

    for (unsigned tries = 0; tries < TRIES_MAX && told != TOLD && told != TOLD_UNFENCED;) {
        struct look look = ask(shards, owner, incarnation, number);

        told = take_look(shards, owner, &look, is_fenced, &fate);
        arrival_drop(look.arrival);
        tries += told != TOLD_ELSEWHERE;
        if (told == TOLD_LOCKED) {
            struct arrival *resolved = resolve_start(shards, owner);

            arrival_block(resolved);
            arrival_drop(resolved);
        }
    }
    *ret_is_unfenced = told == TOLD_UNFENCED;
    return told == TOLD ? fate : PIECE_UNREADABLE;
}

enum leftover_fate leftovers_fate(struct shards *shards, const struct partition *owner,
                                  uint32_t incarnation, uint64_t number)
{
    bool is_unfenced;

    return find_fate(shards, owner, incarnation, number, false, &is_unfenced);
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

    return change(c, owner, &set, NULL);
}

/* What refers to it, looked for where no commit of the front end goes through. Partitions may be moved to another shard
 * meanwhile: the fence is set in the one that the look was at. */
static enum leftover_fate fenced_fate(struct collecting *c, const struct partition *owner,
                                      uint64_t number)
{
    enum leftover_fate fate = PIECE_UNREADABLE;
    bool is_unfenced = true;

    for (unsigned tries = 0; tries < TRIES_MAX && is_unfenced; tries++) {
        fate =
            find_fate(c->of->shards, owner, c->incarnation, number, c->of->is_fenced, &is_unfenced);
        if (is_unfenced && !fence(c, owner))
            return PIECE_UNREADABLE;
    }
    return is_unfenced ? PIECE_UNREADABLE : fate;
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
    enum leftover_fate fate;
    enum port_result claimed = PORT_OK;
    struct piece_label label;

    if (!piece_label_read(row, &label)) {
        log_line(LOG_ERROR, "rados: the label of piece %s is damaged: it stays", object);
        return true;
    }
    piece.length = label.length;
    fate = fenced_fate(c, &label.owner, number);
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
