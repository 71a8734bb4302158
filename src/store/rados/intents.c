#include "store/rados/intents.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "store/rados/front_end_rows.h"

/* The next intent is reserved when fewer numbers are left. */
#define FEW (INTENT_NUMBERS / 4)

/* An intent whose row is there. */
struct range {
    struct range *next; /* the newest first */
    uint64_t first;
    unsigned taken, settled;
};

struct waiting {
    struct waiting *next;
    struct arrival *arrival;
};

struct intents {
    struct port *records;
    uint32_t incarnation;
    struct lock lock;
    pthread_cond_t is_idle;
    struct range *ranges; /* all below under lock */
    uint64_t reserving;   /* the first number of the intent that is being reserved; 0: none is */
    uint64_t newest;      /* number up to which intents were reserved, or tried */
    enum store_result failed; /* the last reservation */
    uint64_t failed_ms;
    struct waiting *waiting;
    unsigned sent;
};

struct intents *intents_new(struct port *records, uint32_t incarnation)
{
    struct intents *intents = xcalloc(1, sizeof *intents);

    intents->records = records;
    intents->incarnation = incarnation;
    lock_init(&intents->lock, RANK_SYNCER);
    lock_condition_init(&intents->is_idle);
    return intents;
}

void intents_free(struct intents *intents)
{
    assert(intents->sent == 0 && !intents->waiting);
    while (intents->ranges) {
        struct range *range = intents->ranges;

        intents->ranges = range->next;
        free(range);
    }
    pthread_cond_destroy(&intents->is_idle);
    lock_release(&intents->lock);
    free(intents);
}

/* Under the lock: one op less. */
static void answered(struct intents *intents)
{
    lock_assert_held(&intents->lock);
    if (--intents->sent == 0)
        pthread_cond_broadcast(&intents->is_idle);
}

void intents_wait(struct intents *intents)
{
    lock_take(&intents->lock);
    while (intents->sent > 0)
        lock_wait(&intents->lock, &intents->is_idle, -1);
    lock_give(&intents->lock);
}

/* ---- reserving ---- */

static enum store_result result_of(enum port_result result)
{
    if (result == PORT_REFUSED)
        log_line(LOG_ERROR, "rados: others have taken this front end for dead");
    else if (result)
        log_line(LOG_ERROR, "rados: numbers for pieces: %s", port_result_text(result));
    return result == PORT_OK ? STORE_OK : result == PORT_FULL ? STORE_FULL : STORE_IO;
}

static void reserved(struct port_op *op)
{
    struct intents *intents = op->context;
    enum store_result result = result_of(op->result);
    struct range *range = result ? NULL : xcalloc(1, sizeof *range);
    struct waiting *waiting;

    port_op_free(op);
    lock_take(&intents->lock);
    if (range) {
        *range = (struct range){ .next = intents->ranges, .first = intents->reserving };
        intents->ranges = range;
    }
    intents->reserving = 0;
    intents->failed = result;
    intents->failed_ms = clock_monotonic_ms();
    waiting = intents->waiting;
    intents->waiting = NULL;
    lock_give(&intents->lock);
    while (waiting) {
        struct waiting *first = waiting;

        waiting = first->next;
        arrival_tell(first->arrival);
        free(first);
    }
    lock_take(&intents->lock);
    answered(intents);
    lock_give(&intents->lock);
}

/* Under the lock. A number whose reservation has failed is not tried again: its row may be there. Returns the op to be
 * sent. */
static struct port_op *begin_reserving(struct intents *intents)
{
    struct port_op *op = port_op_new(reserved, intents);

    lock_assert_held(&intents->lock);
    intents->reserving = intents->newest + 1;
    intents->newest += INTENT_NUMBERS;
    intents->sent++;
    port_compare(op, living_key(op->arena, intents->incarnation), living_value());
    port_set(op, intent_key(op->arena, intents->incarnation, intents->reserving),
             intent_write(op->arena, 0));
    return op;
}

/* Under the lock: the one to take numbers of, the oldest that has some; *ret_left: of all. */
static struct range *open_range(struct intents *intents, unsigned *ret_left)
{
    struct range *found = NULL;

    *ret_left = 0;
    for (struct range *range = intents->ranges; range; range = range->next)
        if (range->taken < INTENT_NUMBERS) {
            found = range;
            *ret_left += INTENT_NUMBERS - range->taken;
        }
    return found;
}

static bool has_failed(const struct intents *intents)
{
    return intents->failed && clock_monotonic_ms() - intents->failed_ms < INTENTS_PAUSE_MS;
}

/* Under the lock. */
static struct arrival *wait_for_reservation(struct intents *intents)
{
    struct waiting *waiting = xmalloc(sizeof *waiting);

    lock_assert_held(&intents->lock);
    *waiting = (struct waiting){ intents->waiting, arrival_new() };
    intents->waiting = waiting;
    return waiting->arrival;
}

enum store_result intents_take(struct intents *intents, uint64_t *ret_number,
                               struct arrival **ret_arrival)
{
    struct port_op *op = NULL;
    enum store_result result = STORE_OK;
    struct range *range;
    unsigned left;

    lock_take(&intents->lock);
    range = open_range(intents, &left);
    if (left < FEW && intents->reserving == 0 && !has_failed(intents))
        op = begin_reserving(intents);
    if (range) {
        *ret_number = range->first + range->taken++;
    } else if (intents->reserving > 0) {
        *ret_arrival = wait_for_reservation(intents);
        result = STORE_WAIT;
    } else {
        result = intents->failed;
    }
    lock_give(&intents->lock);
    if (op)
        port_send(intents->records, BEAT_OBJECT, op);
    return result;
}

/* ---- settling ---- */

static void removed(struct port_op *op)
{
    struct intents *intents = op->context;

    if (op->result && op->result != PORT_ABSENT)
        log_line(LOG_ERROR, "rados: an intent stays: %s", port_result_text(op->result));
    port_op_free(op);
    lock_take(&intents->lock);
    answered(intents);
    lock_give(&intents->lock);
}

void intents_settle(struct intents *intents, uint64_t number)
{
    struct range **at = &intents->ranges, *over = NULL;
    struct port_op *op;

    lock_take(&intents->lock);
    while (*at && (*at)->first != intent_first(number))
        at = &(*at)->next;
    assert(*at && (*at)->settled < (*at)->taken);
    if (++(*at)->settled == INTENT_NUMBERS) {
        over = *at;
        *at = over->next;
        intents->sent++;
    }
    lock_give(&intents->lock);
    if (!over)
        return;
    op = port_op_new(removed, intents);
    port_remove(op, intent_key(op->arena, intents->incarnation, over->first));
    port_send(intents->records, BEAT_OBJECT, op);
    free(over);
}
