/* Full keys: the ordered key space of an engine. Bytewise order is the order of (kind, space,
 * partition key, record key).
 *
 *   kind  what                      the rest of the key           value
 *   'L'   a LISTED record           16 space, partition, record   record_value.h
 *   'I'   an INNER record           like 'L'                      record_value.h
 *   'X'   an index record           16 space, index key, partition   the value as given
 *   'N'   a counter                 16 space, name                8 le, added by merges
 *   'P'   a piece                   4 extent, 8 offset, be        piece_row (record_value.h)
 *   'T'   a deferred task           deferred.h
 *   'W'   their low-water mark      deferred.h
 *   'D'   a dropped space           16 space                      version byte
 *   'C'   a bound of the clock      2 stripe be, or FFFF if none  clock_row (record_value.h)
 *
 * In a partition key or an index key, each 00 is written as 00 FF, and 00 01 terminates it; record
 * keys and names are raw. A change here changes the format on disk: increment the version in
 * open.c, keep the old reader, add an image in tests/unit/store/images. Thread-safe. */
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

/* A key under construction: stored in place while short, on the heap if long. */
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

/* Sets the prefix of all keys of one kind in a space. */
void key_set_space(struct key *key, char kind, const struct guid *space);
/* Sets the prefix of all keys of a family in a partition. */
void key_set_partition(struct key *key, enum record_family family, struct partition partition);
/* Sets the key of a record (or, with a truncated record key, the prefix of all keys that start with
 * it). partition_prefix: of any family */
void key_set_record(struct key *key, enum record_family family, struct bytes partition_prefix,
                    struct bytes record_key);
/* Combines key_set_partition() and key_set_record(). */
void key_set_place(struct key *key, enum record_family family, struct partition partition,
                   struct bytes record_key);
/* Sets the key of an index record of the partition with this prefix in any family. */
void key_set_index(struct key *key, struct bytes partition_prefix, struct bytes index_key);
/* Sets the first key of the index records of a space whose keys begin with index_key or are
 * greater. */
void key_set_index_from(struct key *key, const struct guid *space, struct bytes index_key);
/* Sets the first key of the index records with this key that belong to this partition or a later
 * one. */
void key_set_index_place(struct key *key, const struct guid *space, struct bytes index_key,
                         struct bytes partition);
void key_set_counter(struct key *key, const struct guid *space, struct bytes name);
/* Copies a full key. */
void key_set_raw(struct key *key, struct bytes full);
/* Changes the key to the next key in order. */
void key_set_next(struct key *key);
/* Changes the key to the first key after all keys that begin with it. */
void key_set_end(struct key *key);

void key_write_piece(char to[KEY_PIECE_SIZE], uint32_t extent, uint64_t offset);
/* Returns false if it is not the key of a piece. */
bool key_read_piece(struct bytes key, uint32_t *ret_extent, uint64_t *ret_offset);

/* Splits the full key of a record; the partition key stays escaped. For an index record: the index
 * key, and the partition key with its terminator; both stay escaped. Returns false if the key is
 * malformed. */
bool key_split(struct bytes key, struct bytes *ret_escaped, struct bytes *ret_record_key);
/* Writes the partition key (at most escaped.len bytes) and its length. Returns false if it is
 * malformed. */
bool key_unescape(struct bytes escaped, char *to, size_t *ret_length);

#endif
