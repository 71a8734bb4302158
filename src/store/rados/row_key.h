/* Keys of the rows of a shard object. Bytewise order is the order of what they name.
 *
 *   'A'                                the bounds of the shard: sorts first, and is never deleted, so
 *                                      that a scan has a live row to begin at
 *   'F' incarnation, 8 hex digits      a fence: the front end of that number may not commit
 *   'H'                                in a limb: of which partition it has rows (limb.h)
 *   'I' index key END partition END    a record of an index
 *   'L' partition END record           a LISTED record; apart, so that an iterator reads nothing else
 *   'L' partition END record END       up to that LISTED record, rows before this one are in a limb
 *   'N' name                           a counter
 *   'P' partition END 'c' transaction  a transaction that was decided here
 *   'P' partition END 'h'              the header of a partition
 *   'P' partition END 'i' record       an INNER record
 *   'P' partition END 'i' record END   the same of INNER records
 *   'P' partition END 'p' piece        references to a piece
 *   'P' partition END 'x' number       a part of the changes that a transaction has prepared
 *   'T' due, id                        a deferred task
 *   'W'                                up to when tasks have been looked for
 *   'X' slot, 2 hex digits             a partition that is locked, or none: overwritten, never deleted
 *
 * Keys must not contain 00, as librados takes some of them as C strings. So partition, record and index keys
 * and names are written with 00 as 01 02 and 01 as 01 03, and END is 01 01; numbers are in hex digits. Any
 * thread. */
#ifndef LAGRA_STORE_RADOS_ROW_KEY_H
#define LAGRA_STORE_RADOS_ROW_KEY_H

#include "store/store.h"

/* "s.", space, lane, number of the shard; NUL included. */
#define SHARD_NAME_SIZE (2 + 32 + 1 + 2 + 1 + 16 + 1)
#define ROW_SLOTS       64u
#define SPACE_LANES_MAX 16u

enum row_kind {
    ROW_BOUNDS,
    ROW_FENCE,
    ROW_HOME,
    ROW_INDEX,
    ROW_LIMB,
    ROW_LISTED,
    ROW_COUNTER,
    ROW_DECIDED,
    ROW_HEADER,
    ROW_INNER,
    ROW_PIECE,
    ROW_PREPARED,
    ROW_TASK,
    ROW_LOOKED,
    ROW_SLOT,
};

struct bytes row_key_bounds(void);
struct bytes row_key_looked(void);
struct bytes row_key_home(void);
/* The others are made in the arena. */
struct bytes row_key_fence(struct arena *arena, uint32_t incarnation);
struct bytes row_key_header(struct arena *arena, struct bytes partition_key);
struct bytes row_key_record(struct arena *arena, enum record_family family,
                            struct bytes partition_key, struct bytes record_key);
/* Where records up to that one are in a limb: behind its row, and before that of any greater record. */
struct bytes row_key_limb(struct arena *arena, enum record_family family,
                          struct bytes partition_key, struct bytes last);
struct bytes row_key_index(struct arena *arena, struct bytes index_key, struct bytes partition_key);
/* Where the records of an index whose keys begin so are. */
struct bytes row_key_index_prefix(struct arena *arena, struct bytes index_key);
struct bytes row_key_counter(struct arena *arena, struct bytes name);
struct bytes row_key_decided(struct arena *arena, struct bytes partition_key, uint32_t incarnation,
                             uint64_t number);
struct bytes row_key_piece(struct arena *arena, struct bytes partition_key, uint32_t extent,
                           uint64_t offset);
struct bytes row_key_prepared(struct arena *arena, struct bytes partition_key, uint32_t number);
/* All of a partition's. */
struct bytes row_key_prepared_prefix(struct arena *arena, struct bytes partition_key);
struct bytes row_key_task(struct arena *arena, instant due, const struct guid *id);
/* The slot that a partition has where that is free: slot.h. */
unsigned row_slot_of(struct bytes partition_key);
/* number: below ROW_SLOTS */
struct bytes row_key_slot_number(struct arena *arena, unsigned number);

/* Rows of a kind ('L', 'P') of partitions from this one on begin here; and the last place before that, so that what
 * row_key_behind() makes of it is where they begin. */
struct bytes row_key_begin(struct arena *arena, char kind, struct bytes partition_key);
struct bytes row_key_before(struct arena *arena, char kind, struct bytes partition_key);
/* Of a place among rows of such a kind: no partition before this one has a row at or behind it. */
struct bytes row_key_place(struct arena *arena, struct bytes place);
/* The first key behind one, since none has a byte of 00. */
struct bytes row_key_behind(struct arena *arena, struct bytes key);

struct row_name {
    enum row_kind kind;
    uint32_t incarnation; /* of a fence */
    /* In the arena, where the kind has them. */
    struct bytes partition_key;
    struct bytes
        record_key; /* also the key of an index, the name of a counter, and the last record of a limb */
    enum record_family family; /* of a limb */
    instant due;               /* of a task */
    struct guid id;            /* of a task */
};
/* False: not of that form. Of kinds that are not records only the partition is returned. */
bool row_key_read(struct bytes key, struct arena *arena, struct row_name *ret_name);
/* A number in hex digits, at most 16. False: it has others. */
bool row_key_hex(struct bytes digits, uint64_t *ret_value);

/* Lanes: a partition's lane never changes. The low 3 bits of a space's id are log2 of how many it has
 * (SPACE_LANES_MAX at most). */
unsigned space_lanes(const struct guid *space);
unsigned partition_lane(const struct guid *space, struct bytes partition_key);
void shard_name(const struct guid *space, unsigned lane, uint64_t number,
                char ret_name[SHARD_NAME_SIZE]);
/* The space in a shard's name; all that it says. False: malformed. */
bool shard_name_space(const char *name, struct guid *ret_space);
bool shard_name_read(const char *name, struct guid *ret_space, unsigned *ret_lane,
                     uint64_t *ret_number);
/* Is it the first shard of its lane, which the first commit makes? */
bool shard_name_is_first(const char *name);

#endif
