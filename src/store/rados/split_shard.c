#include "store/rados/split_shard.h"

#include <assert.h>

#include "base/log.h"
#include "store/rados/blocking.h"
#include "store/rados/limb_cut.h"
#include "store/rados/move.h"
#include "store/rados/resolve.h"
#include "store/rados/slot.h"
#include "store/rados/split_survey.h"

#define BEGIN_ARENA_MAX  (4u << 20)
/* Bounds that change again and again, or a partition that is found locked so often. */
#define BEGIN_TRIES_MAX  16u
#define FINISH_TRIES_MAX 4u

/* What is to be moved next. */
struct portion {
    struct bytes from, hi;
    uint64_t to; /* number of a shard */
};

struct splitting {
    struct shards *shards;
    const char *object;
    bool has_moved; /* some of its partitions */
    struct guid space;
    struct arena *arena; /* of one look */
    struct bytes row;
    struct shard_bounds bounds;
    struct port_row slots[ROW_SLOTS];
    uint32_t slot_count;
};

/* ---- beginning a move ---- */

static bool look(struct splitting *s)
{
    struct port_op *op = arrival_op();
    struct port_step *bounds = port_get(op, row_key_bounds());
    struct port_step *slots = port_list(op, (struct bytes){ NULL, 0 }, bytes_of("X", 1), ROW_SLOTS);
    struct arrival *arrival = send_block(shards_port(s->shards), s->object, op);
    bool is_read = op->result == PORT_OK;

    if (is_read) {
        s->row = arena_copy(s->arena, port_value(bounds));
        is_read = !shard_bounds_read(s->row, &s->bounds);
        s->slot_count = slots->row_count;
    }
    for (uint32_t i = 0; is_read && i < s->slot_count; i++)
        s->slots[i] = (struct port_row){ arena_copy(s->arena, slots->rows[i].key),
                                         arena_copy(s->arena, slots->rows[i].value) };
    arrival_drop(arrival);
    return is_read;
}

/* Partitions from one on that are locked are settled, or rolled back. True: there were some. */
static bool resolve_locks(struct splitting *s, struct bytes from)
{
    bool were_locked = false;

    for (uint32_t i = 0; i < s->slot_count; i++) {
        struct partition locked = { .space = s->space };
        struct arrival *resolved;
        struct slot slot;

        if (s->slots[i].value.len == 0)
            continue;
        were_locked = were_locked || !slot_read(s->slots[i].value, &slot);
        if (!slot_read(s->slots[i].value, &slot) || bytes_compare(slot.partition_key, from) < 0)
            continue;
        were_locked = true;
        locked.key = slot.partition_key;
        resolved = resolve_start(s->shards, &locked);
        arrival_block(resolved);
        arrival_drop(resolved);
    }
    return were_locked;
}

/* As all slots were read: one that was never used is not there. */
static void compare_slots(struct splitting *s, struct port_op *op)
{
    for (unsigned number = 0; number < ROW_SLOTS; number++) {
        struct bytes key = row_key_slot_number(s->arena, number), value = { NULL, 0 };

        for (uint32_t i = 0; i < s->slot_count; i++)
            if (bytes_equal(s->slots[i].key, key))
                value = s->slots[i].value;
        port_compare(op, key, value);
    }
}

static bool is_begun(const struct splitting *s, const struct portion *portion)
{
    return s->bounds.is_moving && s->bounds.move_to == portion->to &&
           bytes_equal(s->bounds.move_from, portion->from);
}

/* May partitions from that one on, and only those that were counted, be moved? */
static bool may_begin(const struct splitting *s, const struct portion *portion)
{
    return s->bounds.state == SHARD_LIVE && !s->bounds.is_moving && !s->bounds.is_empty &&
           bytes_equal(s->bounds.hi, portion->hi) && bytes_compare(s->bounds.lo, portion->from) < 0;
}

static bool begin(struct splitting *s, const struct portion *portion)
{
    for (unsigned tries = 0; tries < BEGIN_TRIES_MAX; tries++) {
        struct shard_bounds after;
        struct port_op *op;

        arena_free(s->arena);
        s->arena = arena_new(BEGIN_ARENA_MAX);
        if (!look(s))
            return false;
        if (is_begun(s, portion))
            return true; /* the op was sent again, and its first answer lost */
        if (!may_begin(s, portion))
            return false;
        if (resolve_locks(s, portion->from))
            continue;
        after = s->bounds;
        after.is_moving = true;
        after.epoch++;
        after.move_from = portion->from;
        after.move_to = portion->to;
        op = arrival_op();
        port_compare(op, row_key_bounds(), s->row);
        compare_slots(s, op);
        port_set(op, row_key_bounds(), shard_bounds_write(op->arena, &after));
        if (run_block(shards_port(s->shards), s->object, op) == PORT_OK)
            return true;
    }
    return false;
}

static bool move(struct splitting *s, const struct portion *portion)
{
    if (!begin(s, portion))
        return false;
    for (unsigned tries = 0; tries < FINISH_TRIES_MAX && look(s) && is_begun(s, portion); tries++) {
        struct arrival *finished = move_finish(s->shards, s->object);

        arrival_block(finished);
        arrival_drop(finished);
    }
    return look(s) && !s->bounds.is_moving && bytes_equal(s->bounds.hi, portion->from);
}

/* ---- what to move ---- */

static uint64_t new_number(void)
{
    const struct guid random = guid_new();
    uint64_t number;

    memcpy(&number, random.b, sizeof number);
    return number > 0 ? number : 1;
}

static bool is_more(struct split_size size, uint64_t rows)
{
    return size.rows > rows || size.bytes > rows * SPLIT_ROW_BYTES;
}

/* Rows of indexes, and tasks. */
static struct split_size scattered(const struct split_survey *survey)
{
    const struct split_marks *marks = survey->marks;

    return (struct split_size){
        survey->total.rows - marks[0].total.rows - marks[1].total.rows,
        survey->total.bytes - marks[0].total.bytes - marks[1].total.bytes,
    };
}

static bool is_within(struct split_size size, uint64_t rows, uint64_t bytes)
{
    return size.rows <= rows && size.bytes <= bytes;
}

static bool may_move(const struct split_survey *survey, struct split_size size)
{
    return is_within(size, SPLIT_SMALL_ROWS, SPLIT_SMALL_BYTES) ||
           (is_within(size, SPLIT_PARTITION_ROWS, SPLIT_PARTITION_BYTES) &&
            is_within(scattered(survey), SPLIT_SCATTERED_ROWS, SPLIT_SCATTERED_BYTES));
}

/* The partitions below `hi` that go together in one move. False: there are none, or they are too large. */
static bool next_portion(const struct split_survey *survey, uint64_t rows, struct bytes hi,
                         struct portion *ret_portion)
{
    const struct split_mark *mark = split_mark_below(survey, hi), *more;
    struct split_size size;

    if (!mark)
        return false;
    while ((more = split_mark_below(survey, mark->key)) &&
           !is_more(split_size_between(survey, more->key, hi), rows))
        mark = more;
    size = split_size_between(survey, mark->key, hi);
    *ret_portion = (struct portion){ .from = mark->key, .hi = hi };
    return may_move(survey, size);
}

/* Moves partitions until half of what a shard may have is left. */
static bool move_half(struct splitting *s, const struct split_survey *survey, uint32_t rows)
{
    struct split_size left = survey->total, there = { 0, 0 };
    uint64_t half = rows / 2, at_once = rows / 4 < SPLIT_MOVE_ROWS ? rows / 4 : SPLIT_MOVE_ROWS;
    struct bytes hi = survey->hi;
    struct portion portion;
    uint64_t to = 0;

    while (is_more(left, half) && next_portion(survey, at_once, hi, &portion)) {
        struct split_size size = split_size_between(survey, portion.from, hi);

        there.rows += size.rows;
        there.bytes += size.bytes;
        if (to == 0 || is_more(there, half)) {
            to = new_number();
            there = size;
        }
        portion.to = to;
        if (!move(s, &portion))
            return false;
        s->has_moved = true;
        left.rows -= size.rows < left.rows ? size.rows : left.rows;
        left.bytes -= size.bytes < left.bytes ? size.bytes : left.bytes;
        hi = portion.from;
    }
    return true;
}

/* Of a large partition, if there is one, rows go to limbs. True: the shard has become smaller. */
static bool cut_largest(struct shards *shards, const char *object, uint32_t rows,
                        const struct split_survey *survey)
{
    return rows > 0 && is_more(survey->total, rows) && is_more(survey->largest_size, rows / 2) &&
           limbs_cut(shards, object, survey->kind, survey->largest, rows);
}

static bool split_counted(struct splitting *s, const struct split_survey *survey, uint32_t rows)
{
    bool is_done;

    s->arena = arena_new(BEGIN_ARENA_MAX);
    is_done = move_half(s, survey, rows);
    arena_free(s->arena);
    log_line(s->has_moved ? LOG_INFO : LOG_DEBUG, "shard %s: it had %llu rows, %llu bytes: %s",
             s->object, (unsigned long long)survey->total.rows,
             (unsigned long long)survey->total.bytes,
             !is_done       ? "it could not be split now"
             : s->has_moved ? "its last partitions were moved"
                            : "they stay together");
    return is_done;
}

bool split_shard(struct shards *shards, const char *object, uint32_t rows, uint32_t cut_rows)
{
    const struct split_size step = { rows / 64 + 1, (uint64_t)(rows / 64 + 1) * SPLIT_ROW_BYTES };
    struct splitting s = { .shards = shards, .object = object };
    struct split_survey survey;
    bool is_done, is_shard = shard_name_space(object, &s.space);

    assert(is_shard);
    (void)is_shard;
    is_done = split_survey(shards, object, step, &survey);
    for (unsigned i = 0; is_done && i < survey.limb_count; i++)
        limb_forget_empty(shards, object, &survey.limbs[i]);
    while (is_done && cut_largest(shards, object, cut_rows, &survey)) {
        split_survey_release(&survey);
        is_done = split_survey(shards, object, step, &survey);
    }
    if (is_done && is_more(survey.total, rows))
        is_done = split_counted(&s, &survey, rows);
    split_survey_release(&survey);
    return is_done;
}
