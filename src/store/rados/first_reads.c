#include "store/rados/first_reads.h"

#include <stdlib.h>

static const struct bytes none;

static struct first_reading *reading_new(struct first_reads *reads, struct shards *shards,
                                         const struct partition *partition,
                                         struct first_read_rows rows)
{
    struct first_reading *reading = xcalloc(1, sizeof *reading + partition->key.len);

    *reading = (struct first_reading){ .reads = reads, .shards = shards, .rows = rows };
    if (partition->key.len > 0)
        memcpy(reading->key, partition->key.ptr, partition->key.len);
    reading->partition =
        (struct partition){ partition->space, bytes_of(reading->key, partition->key.len) };
    return reading;
}

/* ---- the op ---- */

static void list(struct port_op *op, const struct first_reading *reading, enum record_family family,
                 uint32_t rows)
{
    (void)port_list(op, none, row_key_record(op->arena, family, reading->partition.key, none),
                    rows);
}

static void came(struct waiter *waiter);

static void send(struct first_reading *reading)
{
    struct port_op *op = arrival_op();
    char object[SHARD_NAME_SIZE];

    (void)port_get(op, row_key_bounds());
    (void)port_get(op, row_key_header(op->arena, reading->partition.key));
    list(op, reading, RECORD_LISTED, reading->rows.listed);
    list(op, reading, RECORD_INNER, reading->rows.inner);
    shards_place(reading->shards, &reading->partition, object);
    reading->waiter.wake = came;
    reading->in_flight = arrival_send(shards_port(reading->shards), object, op);
    arrival_wait(reading->in_flight, &reading->waiter); /* may free it */
}

struct first_read first_read_answer(const struct port_op *op)
{
    const struct port_step *bounds = op->first, *header = bounds->next, *listed = header->next;

    return (struct first_read){ bounds, header, { listed, listed->next } };
}

/* ---- sharing ---- */

/* The next, if somebody waits for it. */
static bool take_waiting(struct first_reading *reading)
{
    struct first_reads *reads = reading->reads;
    bool goes_on;

    lock_take(&reads->lock);
    reading->sharing = reading->waiting;
    reading->waiting = NULL;
    goes_on = reading->sharing;
    if (!goes_on)
        *first_reads_find(reads, &reading->partition, reading->rows) = reading->next;
    lock_give(&reads->lock);
    return goes_on;
}

static void came(struct waiter *waiter)
{
    struct first_reading *reading = (struct first_reading *)(void *)waiter;
    struct shards *shards = reading->shards;
    struct arrival *answer = reading->in_flight;
    struct first_read_asker *askers = reading->sharing;
    bool goes_on = take_waiting(reading);

    if (goes_on)
        send(reading);
    else
        free(reading);
    while (askers) {
        struct first_read_asker *asker = askers;

        askers = asker->next;
        arrival_pass(asker->arrival, answer);
        free(asker);
    }
    arrival_drop(answer);
    if (!goes_on)
        shards_leave(shards);
}

struct arrival *first_reads_ask(struct first_reads *reads, struct shards *shards,
                                const struct partition *partition, struct first_read_rows rows)
{
    struct arrival *arrival = arrival_new();
    struct first_read_asker *asker = xcalloc(1, sizeof *asker);
    struct first_reading **at, *fresh = NULL;

    asker->arrival = arrival;
    lock_take(&reads->lock);
    at = first_reads_find(reads, partition, rows);
    if (*at) {
        asker->next = (*at)->waiting;
        (*at)->waiting = asker;
    } else {
        *at = fresh = reading_new(reads, shards, partition, rows);
        fresh->sharing = asker;
    }
    lock_give(&reads->lock);
    if (fresh) {
        shards_enter(shards);
        send(fresh);
    }
    return arrival;
}
