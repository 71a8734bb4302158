/* The two rows that guards compare: the bounds of a shard, and the header of a partition. All numbers are
 * big-endian; each row ends with the CRC-32C of what is before it. Any thread.
 *
 *   bounds   1  version (2)
 *            1  state (enum shard_state)
 *            1  flags: 1 its last partitions are being moved, 2 it has none yet
 *            8  epoch: one more at each change, so that the bytes never return
 *            8  owner stamp: the version of the state of its container that the shard knows
 *            8  number of the shard that follows; 0: none
 *            4  incarnations below are refused (decision: 396)
 *            8  number of the shard that partitions are being moved to; 0: they are not
 *            4  length of lo, then lo: the least partition key
 *            4  length of hi, then hi: partition keys are below; empty: no end
 *            4  length of move_from, then that: partitions from this one on are being moved
 *   header   1  version (1)
 *            1  flags: 1 it is locked, 2 it may have limbs (limb.h). Others are refused
 *            8  version of the partition: never returns, 0 is an absent header
 *            4 x (4 incarnation, 8 number)  the newest attempt of each of the front ends that have written
 *               last, the newest first; 0, 0: none (decision: 480)
 *            if it is locked, by a transaction over several partitions:
 *            12 the attempt that is the transaction
 *            16 space of the partition that decides, its primary
 *            8  version of the primary, as it was seen
 *            8  version of this partition, once it is settled
 *            .. key of the primary
 *
 * The value of any other row is the bytes that were given and their CRC-32C. */
#ifndef LAGRA_STORE_RADOS_SHARD_ROWS_H
#define LAGRA_STORE_RADOS_SHARD_ROWS_H

#include "store/store.h"

enum shard_state { SHARD_LIVE = 1, SHARD_SEALED = 2 };

struct shard_bounds {
    enum shard_state state;
    bool is_moving; /* move.h: from move_from on, to move_to */
    bool is_empty;  /* made for such partitions, and none have come: lo says nothing */
    uint64_t epoch;
    uint64_t stamp;
    uint64_t next;
    uint32_t incarnation_floor;
    uint64_t move_to;
    struct bytes lo, hi, move_from;
};

struct bytes shard_bounds_write(struct arena *arena, const struct shard_bounds *bounds);
/* Keys point into the row. returns STORE_OK, STORE_CORRUPT (also: a version or a state that is not ours) */
enum store_result shard_bounds_read(struct bytes row, struct shard_bounds *ret_bounds);
/* Does the shard have the partition? And if so: is it being moved, so that nobody may write to it? */
bool shard_bounds_have(const struct shard_bounds *bounds, struct bytes partition_key);
bool shard_bounds_is_moving(const struct shard_bounds *bounds, struct bytes partition_key);
/* Has one become the other by its epoch alone? Who asks the others for a gap does that (turn.h). */
bool shard_bounds_were_touched(const struct shard_bounds *before, const struct shard_bounds *after);
/* Has `to`, to which those of `from` are being moved, got them? */
bool shard_bounds_are_filled(const struct shard_bounds *from, const struct shard_bounds *to);

/* The author of a commit: a front end, and the number of the commit in it, from 1. */
struct attempt {
    uint32_t incarnation;
    uint64_t number;
};
/* On the wire: 4 incarnation, 8 number. */
#define ATTEMPT_SIZE    12
#define HEADER_ATTEMPTS 4
void attempt_put(char to[ATTEMPT_SIZE], struct attempt attempt);
struct attempt attempt_get(const char *from);
bool attempt_equal(struct attempt a, struct attempt b);

struct partition_lock {
    struct attempt transaction; /* number 0: it is not locked */
    struct guid primary_space;
    struct bytes primary_key;
    uint64_t primary_version;
    uint64_t version_to_be;
};

struct partition_header {
    uint64_t version;
    struct attempt attempts[HEADER_ATTEMPTS];
    bool has_limbs; /* or had some: from the first on */
    struct partition_lock lock;
};
static inline bool partition_is_locked(const struct partition_header *header)
{
    return header->lock.transaction.number > 0;
}

/* Of an absent header: an empty row. */
struct bytes partition_header_write(struct arena *arena, const struct partition_header *header);
/* An empty row is an absent header. The key of a primary points into the row. returns STORE_OK,
 * STORE_CORRUPT */
enum store_result partition_header_read(struct bytes row, struct partition_header *ret_header);

/* The version that a commit leaves, and the header. now: its instant. */
uint64_t partition_version_after(const struct partition_header *seen, instant now);
struct partition_header partition_header_after(const struct partition_header *seen, instant now,
                                               struct attempt attempt);
/* The header that settling a locked one leaves, and the one that rolling it back does. */
struct partition_header partition_header_settled(const struct partition_header *locked);
struct partition_header partition_header_unlocked(const struct partition_header *locked);
bool partition_header_equal(const struct partition_header *a, const struct partition_header *b);
/* Has a later attempt of the same front end changed it? */
bool partition_header_is_later(const struct partition_header *header, struct attempt attempt);
bool partition_header_remembers(const struct partition_header *header, struct attempt attempt);
/* What became of an attempt to make `after` of `seen`, which was refused, by the header as it is now.
 *
 * returns STORE_OK        it was applied: it was resent, and its first answer lost
 *         STORE_WAIT      the partition has not changed: it was refused for another reason
 *         STORE_CONFLICT  the partition has changed, and not by it; or is locked
 *         STORE_UNKNOWN   more front ends have written since than the header remembers (decisions: 396, 480, 808, 823) */
enum store_result partition_header_outcome(const struct partition_header *now,
                                           const struct partition_header *seen,
                                           const struct partition_header *after,
                                           struct attempt attempt);

/* The value of a row that is not compared by guards, in the arena. */
struct bytes row_value_write(struct arena *arena, struct bytes value);
/* Points into the row. False: it is damaged. */
bool row_value_read(struct bytes row, struct bytes *ret_value);
/* Such a value that is a number: a counter, or up to when tasks have been looked for. False: as above, and it
 * is 0. */
struct bytes row_number_write(struct arena *arena, uint64_t number);
bool row_number_read(struct bytes row, uint64_t *ret_number);

#endif
