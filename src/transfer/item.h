/* Inside of transfer/ only: what an account is made of, one after the other, as sources list it and sinks make it. Its
 * headers are those of the request that makes it. */
#ifndef LAGRA_TRANSFER_ITEM_H
#define LAGRA_TRANSFER_ITEM_H

#include "fetch/fetch.h"
#include "transfer/endpoint.h"

enum item_kind {
    ITEM_SERVICE,   /* parent: its name; body: its properties, XML */
    ITEM_CONTAINER, /* parent; body: its access policies, XML */
    ITEM_BLOB,      /* parent, name */
    ITEM_QUEUE,     /* parent; its messages follow, and its end */
    ITEM_MESSAGE,   /* parent; body: its text */
    ITEM_QUEUE_END, /* parent; body: policies */
    ITEM_TABLE,     /* parent; body: policies */
    ITEM_ENTITY,    /* parent; body: JSON as Insert Entity takes it */
    ITEM_SHARE,     /* parent; body: policies */
    ITEM_DIRECTORY, /* parent, name: its path */
    ITEM_FILE,      /* parent, name: its path */
    ITEM_KINDS
};
extern const char *const item_kind_names[ITEM_KINDS];

/* Metadata of a queue whose messages are not all copied yet. */
#define ITEM_QUEUE_MARK "x-ms-meta-lagra_unfinished"

struct header_list {
    struct fetch_header *of;
    size_t count, capacity;
};

#define ITEM_MD5_SIZE 16u

/* A part of a blob's or file's bytes that is not zeros. */
struct item_range {
    uint64_t at, length;
};
struct item_ranges {
    struct item_range *of;
    size_t count, capacity;
};

struct item {
    enum item_kind kind;
    struct bytes parent, name;
    /* Of a blob: the snapshot or version that it is at the source; ptr NULL: the blob itself. */
    struct bytes state;
    uint64_t moment; /* when that snapshot or version was taken, in ticks; 0 if unknown */
    /* Changes at the source when it is written to: its ETag; empty: not known. */
    struct bytes version;
    uint64_t size; /* of a blob, a file */
    struct header_list headers;
    struct bytes body;
    struct bytes place; /* where the source has its bytes, in the source's words */
    /* Of a file: when it was written to last; of a message: when it expires, as HTTP has it; ptr NULL: not known, never. */
    struct bytes date;
    bool is_sealed;            /* an append blob */
    struct item_ranges ranges; /* where the source lists them with the item */
    bool has_md5;
    uint8_t md5[ITEM_MD5_SIZE];
    /* Of a blob: its next newer state. The blob itself is the last one. */
    struct item *next;
};

/* Parts that touch become one. False: it begins before the end of the last one, or ends past `size`. */
bool item_ranges_add(struct arena *arena, struct item_ranges *ranges, uint64_t at, uint64_t length,
                     uint64_t size);

/* name: static, or in the item's arena. A value whose ptr is NULL is left out. */
void item_header(struct arena *arena, struct item *item, struct bytes name, struct bytes value);
void item_header_string(struct arena *arena, struct item *item, const char *name,
                        struct bytes value);
/* ptr NULL: it has none of that name (lower case). */
struct bytes item_find_header(const struct item *item, const char *name);
/* A copy of it, and of the states behind it, all in that arena. */
struct item *item_copy(struct arena *arena, const struct item *item);
/* Bytes of it and of the states behind it. */
uint64_t item_bytes(const struct item *item);

#define ITEM_HASH_SIZE 32u
struct item_hash {
    uint8_t of[ITEM_HASH_SIZE];
};
/* Of what it is at the source: the same for as long as it need not be copied again. */
void item_hash_source(const struct item *item, struct item_hash *ret_hash);
/* Hashes an item for the journal: like item_hash_source(), but a queue and its end by the name only. */
void item_hash_noted(const struct item *item, struct item_hash *ret_hash);
/* Hashes what two services list alike of one state of an item: its size, headers in any order, an entity's values; not names,
 * ETags, times or MD5s. */
void item_hash_alike(struct arena *arena, const struct item *item, struct item_hash *ret_hash);
/* Hashes kind, parent and name, of an entity its keys. */
void item_hash_name(struct arena *arena, const struct item *item, struct item_hash *ret_hash);
/* "container/blob", "queue", "table(PartitionKey='..',RowKey='..')": for messages. */
struct bytes item_text(struct arena *arena, const struct item *item);
/* Returns whether it is a snapshot or version of a blob, and not the blob itself. */
bool item_is_state(const struct item *item);

/* ---- as a line of JSON: item_json.c ---- */

/* Without the line's end. False: a value is no UTF-8. */
bool item_write_json(struct text *to, const struct item *item);
/* NULL: the line is not one of an item; *ret_problem, static. */
struct item *item_read_json(struct arena *arena, struct bytes line, const char **ret_problem);

#endif
