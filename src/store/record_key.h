/* Full keys: the one ordered key space of an engine. Bytewise order is the order of
 * (kind, space, partition key, record key).
 *
 *   kind  what                      the rest of the key           value
 *   'L'   a LISTED record           16 space, partition, record   record_value.h
 *   'I'   an INNER record           the same                      record_value.h
 *   'X'   a record of an index      16 space, index key, partition   the value as given
 *   'N'   a counter                 16 space, name                8 le, added by merges
 *   'P'   a piece                   4 extent, 8 offset, be        piece_row (record_value.h)
 *   'T'   a deferred task       deferred.h
 *   'W'   their low-water mark      deferred.h
 *   'D'   a dropped space           16 space                      version byte
 *   'C'   a bound of the clock      2 stripe be, or FFFF of none  clock_row (record_value.h)
 *
 * A partition key, and an index key, is written with each 00 as 00 FF and ends with 00 01; a record
 * key and a name are raw.
 * A change here is a change of the format on disk: version up in open.c, old reader kept, image
 * added in tests/unit/store/images. Any thread. */
#ifndef LAGRA_STORE_RECORD_KEY_H
#define LAGRA_STORE_RECORD_KEY_H

#include "store/store.h"

#define KEY_KIND_LISTED    'L'
#define KEY_KIND_INNER     'I'
#define KEY_KIND_PIECE     'P'
#define KEY_KIND_INDEX     'X'
#define KEY_KIND_COUNTER   'N'
#define KEY_KIND_TASK      'T'
#define KEY_KIND_TASK_MARK 'W'
#define KEY_KIND_DROPPED   'D'
#define KEY_KIND_CLOCK     'C'

#define KEY_SPACE_SIZE     17 /* kind and space */
#define KEY_PIECE_SIZE     13
#define KEY_CLOCK_SIZE     3

/* A key being made: in place while short, on the heap when long. */
struct key {
    char *ptr;
    size_t len;
    size_t capacity;
    char fixed[320];
};
void key_init(struct key *key);
void key_release(struct key *key);
static inline struct bytes key_bytes(const struct key *key)
{
    return (struct bytes){ key->ptr, key->len };
}

/* All keys of one kind in a space. */
void key_set_space(struct key *key, char kind, const struct guid *space);
/* All keys of a family in a partition. */
void key_set_partition(struct key *key, enum record_family family, struct partition partition);
/* A record (or, with an end of its key cut off, all records that begin so), from the prefix of its
 * partition in any family. */
void key_set_record(struct key *key, enum record_family family, struct bytes partition_prefix,
                    struct bytes record_key);
/* As both above in one. */
void key_set_place(struct key *key, enum record_family family, struct partition partition,
                   struct bytes record_key);
/* A record of an index, of the partition with this prefix in any family. */
void key_set_index(struct key *key, struct bytes partition_prefix, struct bytes index_key);
/* Where the records of an index whose keys begin so, or are at or after it, begin in a space. */
void key_set_index_from(struct key *key, const struct guid *space, struct bytes index_key);
/* Where the records of an index with this key begin that are of this partition or of one after
 * it. */
void key_set_index_place(struct key *key, const struct guid *space, struct bytes index_key,
                         struct bytes partition);
void key_set_counter(struct key *key, const struct guid *space, struct bytes name);
/* A copy of a full key. */
void key_set_raw(struct key *key, struct bytes full);
/* Makes it the next key in order. */
void key_set_next(struct key *key);
/* Makes it the first key after all those that begin with it. */
void key_set_end(struct key *key);

void key_write_piece(char to[KEY_PIECE_SIZE], uint32_t extent, uint64_t offset);
/* False when it is no key of a piece. */
bool key_read_piece(struct bytes key, uint32_t *ret_extent, uint64_t *ret_offset);

/* Takes the full key of a record apart. The partition key is still escaped. Of a record of an
 * index: the index key, and the partition key with its end; both still escaped.
 * False when it is not of that form. */
bool key_split(struct bytes key, struct bytes *ret_escaped, struct bytes *ret_record_key);
/* Writes the partition key (at most escaped.len bytes) and returns its length. False: malformed. */
bool key_unescape(struct bytes escaped, char *to, size_t *ret_length);

#endif
