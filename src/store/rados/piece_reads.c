#include "store/rados/piece_reads.h"

#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"
#include "store/rados/patience.h"
#include "store/rados/staged.h"

struct reading {
    struct reading *next; /* the newest first */
    struct arrival *arrival;
    struct waiter *waiter; /* for it */
    uint32_t offset, length;
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
static struct arrival *take_waited(struct piece_reads *reads, const char *object, uint32_t offset,
                                   uint32_t length, const struct waiter *waiter)
{
    struct arrival *arrival = NULL;
    struct reading *found = NULL;

    lock_take(&reads->lock);
    for (struct reading **at = &reads->first; *at; at = &(*at)->next) {
        struct reading *reading = *at;

        if (reading->offset != offset || reading->length != length ||
            strcmp(reading->object, object) != 0 ||
            (!arrival_has_come(reading->arrival) && reading->waiter != waiter))
            continue;
        found = reading;
        *at = reading->next;
        reads->count--;
        break;
    }
    lock_give(&reads->lock);
    if (found)
        arrival = found->arrival;
    free(found);
    return arrival;
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

static void keep(struct piece_reads *reads, const char *object, uint32_t offset, uint32_t length,
                 struct arrival *arrival, struct waiter *waiter)
{
    struct reading *added = xcalloc(1, sizeof *added), *old;

    *added = (struct reading){
        .arrival = arrival, .waiter = waiter, .offset = offset, .length = length
    };
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

struct arrival *piece_reads_take(struct piece_reads *reads, struct port *pieces, const char *object,
                                 uint32_t offset, uint32_t length, struct waiter *waiter,
                                 bool *ret_is_late)
{
    struct arrival *arrival = take_waited(reads, object, offset, length, waiter);
    struct port_op *op;

    *ret_is_late = arrival && !arrival_has_come(arrival);
    if (*ret_is_late) {
        log_line(LOG_ERROR, "rados: the cluster does not answer for piece %s", object);
        arrival_drop(arrival);
        return NULL;
    }
    if (arrival)
        return arrival;
    op = arrival_op();
    (void)port_read(op, offset, length);
    arrival = arrival_send(pieces, object, op);
    if (!waiter) {
        arrival_block(arrival);
        return arrival;
    }
    /* Kept with its waiter: nobody takes it before it has come, and it is not woken before it is kept. It may come, and be
     * taken by another reader, before it is waited for. */
    (void)arrival_share(arrival);
    keep(reads, object, offset, length, arrival, waiter);
    patience_wait(reads->patience, arrival, waiter);
    arrival_drop(arrival);
    return NULL;
}
