#include "store/rados/piece_reads.h"

#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"
#include "store/rados/patience.h"
#include "store/rados/staged.h"

struct reading {
    struct reading *next; /* the newest first */
    struct arrival *arrival;
    struct waiter *waiter; /* for it; NULL: nobody's */
    uint32_t offset, length;
    uint32_t at; /* in the bytes of the answer */
    char object[PIECE_OBJECT_SIZE];
};

struct piece_reads {
    struct patience *patience;
    struct lock lock;
    struct reading *first; /* under lock */
    unsigned count;        /* under lock */
};

struct piece_reads *piece_reads_new(struct patience *patience)
{
    struct piece_reads *reads = xcalloc(1, sizeof *reads);

    reads->patience = patience;
    lock_init(&reads->lock, RANK_PARTITION);
    return reads;
}

void piece_reads_free(struct piece_reads *reads)
{
    while (reads->first) {
        struct reading *reading = reads->first;

        reads->first = reading->next;
        arrival_drop(reading->arrival);
        free(reading);
    }
    lock_release(&reads->lock);
    free(reads);
}

/* One that has come, or that this waiter has waited for too long. */
static struct reading *take_waited(struct piece_reads *reads, const char *object, uint32_t offset,
                                   uint32_t length, const struct waiter *waiter)
{
    struct reading *found = NULL;

    lock_take(&reads->lock);
    for (struct reading **at = &reads->first; *at; at = &(*at)->next) {
        struct reading *reading = *at;

        if (reading->offset != offset || reading->length < length ||
            strcmp(reading->object, object) != 0 ||
            (!arrival_has_come(reading->arrival) && reading->waiter != waiter))
            continue;
        found = reading;
        *at = reading->next;
        reads->count--;
        break;
    }
    lock_give(&reads->lock);
    return found;
}

/* Takes the oldest one out that nobody has come for, if they are many. */
static struct reading *take_old(struct piece_reads *reads)
{
    struct reading **oldest = NULL, *old;

    lock_assert_held(&reads->lock);
    if (reads->count <= PIECE_READS_KEPT)
        return NULL;
    for (struct reading **at = &reads->first; *at; at = &(*at)->next)
        if (arrival_has_come((*at)->arrival))
            oldest = at;
    if (!oldest)
        return NULL;
    old = *oldest;
    *oldest = old->next;
    reads->count--;
    return old;
}

static void keep(struct piece_reads *reads, const char *object, struct reading reading)
{
    struct reading *added = xcalloc(1, sizeof *added), *old;

    *added = reading;
    memcpy(added->object, object, strlen(object) + 1);
    lock_take(&reads->lock);
    added->next = reads->first;
    reads->first = added;
    reads->count++;
    old = take_old(reads);
    lock_give(&reads->lock);
    if (old)
        arrival_drop(old->arrival);
    free(old);
}

static bool are_few(struct piece_reads *reads)
{
    bool are_few;

    lock_take(&reads->lock);
    are_few = reads->count < PIECE_AHEAD_READS;
    lock_give(&reads->lock);
    return are_few;
}

/* Of one that has come, or is late. */
static struct piece_read take_from(struct reading *reading)
{
    struct piece_read read = { .arrival = reading->arrival, .at = reading->at };

    read.is_late = !arrival_has_come(read.arrival);
    if (read.is_late) {
        log_line(LOG_ERROR, "rados: the cluster does not answer for piece %s", reading->object);
        arrival_drop(read.arrival);
        read.arrival = NULL;
    }
    free(reading);
    return read;
}

struct piece_read piece_reads_take(struct piece_reads *reads, struct port *pieces,
                                   const char *object, uint32_t offset, uint32_t length,
                                   uint32_t most, struct waiter *waiter)
{
    struct reading *reading = take_waited(reads, object, offset, length, waiter);
    struct arrival *arrival;
    struct port_op *op;

    if (reading)
        return take_from(reading);
    op = arrival_op();
    if (waiter && most > length && are_few(reads))
        length = most;
    (void)port_read(op, offset, length);
    arrival = arrival_send(pieces, object, op);
    if (!waiter) {
        arrival_block(arrival);
        return (struct piece_read){ .arrival = arrival };
    }
    /* Kept with its waiter: nobody takes it before it has come, and it is not woken before it is kept. It may come, and be
     * taken by another reader, before it is waited for. */
    (void)arrival_share(arrival);
    keep(reads, object,
         (struct reading){
             .arrival = arrival, .waiter = waiter, .offset = offset, .length = length });
    patience_wait(reads->patience, arrival, waiter);
    arrival_drop(arrival);
    return (struct piece_read){ .arrival = NULL };
}

void piece_reads_put_back(struct piece_reads *reads, const char *object, uint32_t offset,
                          struct piece_read read, uint32_t taken)
{
    uint32_t bytes = (uint32_t)arrival_answer(read.arrival)->first->rows[0].value.len;
    uint32_t at = read.at + taken;

    if (at >= bytes)
        arrival_drop(read.arrival);
    else
        keep(reads, object,
             (struct reading){
                 .arrival = read.arrival, .offset = offset, .length = bytes - at, .at = at });
}
