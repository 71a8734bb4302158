/* Keys of the rows of a shard object. Bytewise order is the order of what they name.
 *
 *   'A'                                the bounds of the shard: sorts first, and is never deleted, so
 *                                      that a scan has a live row to begin at
 *   'F' incarnation, 8 hex digits      a fence: the front end of that number may not commit
 *   'L' partition END record           a LISTED record; apart, so that an iterator reads nothing else
 *   'P' partition END 'h'              the header of a partition
 *   'P' partition END 'i' record       an INNER record
 *
 * Keys must not contain 00, as librados takes some of them as C strings. So partition and record keys
 * are written with 00 as 01 02 and 01 as 01 03, and END is 01 01. Any thread. */
#ifndef LAGRA_STORE_RADOS_ROW_KEY_H
#define LAGRA_STORE_RADOS_ROW_KEY_H

#include "store/store.h"

/* "s.", space, lane, number of the shard; NUL included. */
#define SHARD_NAME_SIZE (2 + 32 + 1 + 2 + 1 + 16 + 1)

enum row_kind { ROW_BOUNDS, ROW_FENCE, ROW_LISTED, ROW_HEADER, ROW_INNER };

struct bytes row_key_bounds(void);
/* The others are made in the arena. */
struct bytes row_key_fence(struct arena *arena, uint32_t incarnation);
struct bytes row_key_header(struct arena *arena, struct bytes partition_key);
struct bytes row_key_record(struct arena *arena, enum record_family family,
                            struct bytes partition_key, struct bytes record_key);

struct row_name {
    enum row_kind kind;
    uint32_t incarnation;                   /* of a fence */
    struct bytes partition_key, record_key; /* in the arena; where the kind has them */
};
/* False: not of that form. */
bool row_key_read(struct bytes key, struct arena *arena, struct row_name *ret_name);

/* Lanes: a partition's lane never changes. The low 3 bits of a space's id are log2 of how many it has
 * (16 at most). */
unsigned space_lanes(const struct guid *space);
unsigned partition_lane(const struct guid *space, struct bytes partition_key);
void shard_name(const struct guid *space, unsigned lane, uint64_t number,
                char ret_name[SHARD_NAME_SIZE]);

#endif
