#include "store/rados/departed.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/rados/blocking.h"
#include "store/rados/formats.h"
#include "store/rados/front_end_rows.h"

/* Retired front ends that are known at once: the oldest. */
#define RETIRED_MAX 64u

bool departed_retire(struct port *records, uint32_t incarnation, const struct beat_row *seen)
{
    struct port_op *op = arrival_op();
    const struct retired retired = { .looks = 0, .at = clock_now() };
    enum port_result result;

    port_compare(op, beat_key(op->arena, incarnation), beat_write(op->arena, seen));
    port_remove(op, beat_key(op->arena, incarnation));
    port_remove(op, living_key(op->arena, incarnation));
    port_remove(op, known_key(op->arena, incarnation));
    port_set(op, retired_key(op->arena, incarnation), retired_write(op->arena, &retired));
    result = run_block(records, BEAT_OBJECT, op);
    if (result == PORT_OK)
        log_line(LOG_WARN, "rados: front end %08x is taken for dead", incarnation);
    else if (result != PORT_REFUSED) /* it lives, or another was faster */
        log_line(LOG_ERROR, "rados: front end %08x cannot be retired: %s", incarnation,
                 port_result_text(result));
    return result == PORT_OK || result == PORT_REFUSED;
}

/* ---- rows ---- */

/* A change of rows of the retired. False: it failed, logged. */
static bool run(const struct departed *d, struct port_op *op)
{
    enum port_result result = run_block(d->records, BEAT_OBJECT, op);

    if (result)
        log_line(LOG_ERROR, "rados: what was done for a dead front end cannot be noted: %s",
                 port_result_text(result));
    return result == PORT_OK;
}

static bool end_look(const struct departed *d, uint32_t incarnation, const struct retired *retired,
                     instant now, bool is_last)
{
    const struct retired after = { retired->looks + 1, now };
    struct port_op *op = arrival_op();

    if (is_last)
        port_remove(op, retired_key(op->arena, incarnation));
    else
        port_set(op, retired_key(op->arena, incarnation), retired_write(op->arena, &after));
    return run(d, op);
}

static bool end_intent(const struct departed *d, struct bytes key, unsigned looks)
{
    struct port_op *op = arrival_op();

    if (looks == 0)
        port_set(op, key, intent_write(op->arena, 1));
    else
        port_remove(op, key);
    return run(d, op);
}

/* ---- looks ---- */

/* The first intent that has not been looked at this time; *ret_count: how many there are up to it. False: they cannot be
 * read. */
static bool next_intent(const struct departed *d, uint32_t incarnation, unsigned looks,
                        struct arena *arena, struct port_row *ret_row, struct intent *ret_intent,
                        size_t *ret_count)
{
    struct bytes after = { NULL, 0 };
    bool is_cut = true, is_read = true;

    *ret_row = (struct port_row){ .key = { NULL, 0 } };
    *ret_count = 0;
    while (is_cut && is_read && !ret_row->key.ptr) {
        struct port_op *op = arrival_op();
        struct port_step *list =
            port_list(op, after, intent_prefix(op->arena, incarnation), PORT_ROWS_MAX);
        struct arrival *arrival = send_block(d->records, BEAT_OBJECT, op);

        is_read = op->result == PORT_OK;
        is_cut = is_read && list->is_cut;
        for (uint32_t i = 0; is_read && i < list->row_count && !ret_row->key.ptr; i++) {
            after = arena_copy(arena, list->rows[i].key);
            ++*ret_count;
            if (!intent_read(&list->rows[i], ret_intent))
                log_line(LOG_ERROR, "rados: an intent of front end %08x is damaged", incarnation);
            else if (ret_intent->looks <= looks)
                ret_row->key = after;
        }
        arrival_drop(arrival);
    }
    return is_read;
}

static bool look_for(const struct departed *d, uint32_t incarnation, uint64_t first)
{
    uint64_t numbers[INTENT_NUMBERS];

    for (uint64_t i = 0; i < INTENT_NUMBERS; i++)
        numbers[i] = first + i;
    return leftovers_collect(&d->leftovers, incarnation, numbers, INTENT_NUMBERS);
}

/* True: something was done. */
static bool step_for(const struct departed *d, uint32_t incarnation, const struct retired *retired,
                     instant now)
{
    struct arena *arena = arena_new(16u << 20);
    struct port_row row;
    struct intent intent;
    size_t count;
    bool is_done = false;

    if (!next_intent(d, incarnation, retired->looks, arena, &row, &intent, &count))
        log_line(LOG_ERROR, "rados: the intents of front end %08x cannot be read", incarnation);
    else if (row.key.ptr)
        is_done = look_for(d, incarnation, intent.first) && end_intent(d, row.key, retired->looks);
    else
        is_done = end_look(d, incarnation, retired, now, retired->looks > 0 || count == 0);
    arena_free(arena);
    return is_done;
}

bool departed_step(const struct departed *d, instant now)
{
    struct port_op *op = arrival_op();
    struct port_step *list =
        port_list(op, (struct bytes){ NULL, 0 }, bytes_from_string("r"), RETIRED_MAX);
    struct arrival *arrival = send_block(d->records, BEAT_OBJECT, op);
    bool is_done = false;

    if (op->result && op->result != PORT_ABSENT)
        log_line(LOG_ERROR, "rados: the front ends that died cannot be read: %s",
                 port_result_text(op->result));
    for (uint32_t i = 0; !op->result && !is_done && i < list->row_count; i++) {
        uint32_t incarnation;
        struct retired retired;

        if (!front_end_of_key(list->rows[i].key, &incarnation) ||
            !retired_read(list->rows[i].value, &retired))
            log_line(LOG_ERROR, "rados: the row of a front end that died is damaged");
        else if (retired.looks == 0 || now >= retired.at + d->again)
            is_done = step_for(d, incarnation, &retired, now);
    }
    arrival_drop(arrival);
    return is_done;
}
