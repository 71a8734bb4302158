/* Rows of the object in the pool of records that all front ends share (BEAT_OBJECT), but for the heartbeats (beat.h). Any
 * thread.
 *
 *   'b' incarnation            the heartbeat of a front end
 *   'i' incarnation first      an intent: the numbers of pieces from `first` on (INTENT_NUMBERS) may be used by it
 *   'l' incarnation            it lives. Who is taken for dead finds that row gone, whatever it does next
 *   'r' incarnation            it was taken for dead: what it left is looked for
 *   'f', 'k' incarnation       the format that all write by, and the newest that it knows: formats.h
 *
 * Incarnations are 8 hex digits, numbers 16. Values, with a CRC-32C behind each (shard_rows.h):
 *
 *   'i'  1 looks that have been done
 *   'r'  1 looks that have been done, 8 be when the last one ended */
#ifndef LAGRA_STORE_RADOS_FRONT_END_ROWS_H
#define LAGRA_STORE_RADOS_FRONT_END_ROWS_H

#include "store/rados/port.h"
#include "store/store.h"

#define BEAT_OBJECT    "front_ends"
/* Of one intent. The first number is 1. */
#define INTENT_NUMBERS 1024u

struct bytes beat_key(struct arena *arena, uint32_t incarnation);
struct bytes living_key(struct arena *arena, uint32_t incarnation);
struct bytes living_value(void);
struct bytes retired_key(struct arena *arena, uint32_t incarnation);
struct bytes intent_key(struct arena *arena, uint32_t incarnation, uint64_t first);
/* All of a front end begin so; and the least key behind them. */
struct bytes intent_prefix(struct arena *arena, uint32_t incarnation);
struct bytes intent_end(struct arena *arena, uint32_t incarnation);
/* The first number of the intent that a number is of. */
uint64_t intent_first(uint64_t number);

/* The incarnation of a row of a kind that has nothing else in its key. False: malformed. */
bool front_end_of_key(struct bytes key, uint32_t *ret_incarnation);

struct intent {
    uint64_t first;
    unsigned looks;
};
struct bytes intent_write(struct arena *arena, unsigned looks);
/* False: the row is damaged. */
bool intent_read(const struct port_row *row, struct intent *ret_intent);

struct retired {
    unsigned looks;
    instant at;
};
struct bytes retired_write(struct arena *arena, const struct retired *retired);
bool retired_read(struct bytes row, struct retired *ret_retired);

#endif
