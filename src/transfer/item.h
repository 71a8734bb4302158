/* Internal to transfer/: the items of an account, as listed by sources and created by sinks.
 * Headers of an item are those of the request that creates it. */
#ifndef LAGRA_TRANSFER_ITEM_H
#define LAGRA_TRANSFER_ITEM_H

#include "fetch/fetch.h"
#include "transfer/endpoint.h"

enum item_kind {
    ITEM_SERVICE,   /* parent: its name; body: service properties, XML */
    ITEM_CONTAINER, /* parent; body: access policies, XML */
    ITEM_BLOB,      /* parent, name */
    ITEM_QUEUE,     /* parent; followed by its messages, and its end */
    ITEM_MESSAGE,   /* parent; body: text */
    ITEM_QUEUE_END, /* parent; body: policies */
    ITEM_TABLE,     /* parent; body: policies */
    ITEM_ENTITY,    /* parent; body: JSON for Insert Entity */
    ITEM_SHARE,     /* parent; body: policies */
    ITEM_DIRECTORY, /* parent, name: path */
    ITEM_FILE,      /* parent, name: path */
    ITEM_FOLDER, /* directory of a hierarchical container: parent, name: path, empty for its root */
    ITEM_KINDS
};
extern const char *const item_kind_names[ITEM_KINDS];
/* Returns true for items recorded in the journal; others are simply created again, which costs one
 * request. */
bool item_is_noted(enum item_kind kind);
/* Returns true for items that one thread creates in order, because other items depend on them or
 * their order matters. */
bool item_is_ordered(enum item_kind kind);

/* Headers of files and directories of a hierarchical account that a flat one does not have.
 * x-ms-permissions exists only with a sticky bit, which is not part of the list. */
#define ITEM_OWNER        "x-ms-owner"
#define ITEM_GROUP        "x-ms-group"
#define ITEM_ACL          "x-ms-acl"
#define ITEM_PERMISSIONS  "x-ms-permissions"
#define ITEM_EXPIRY       "x-ms-expiry-time"
#define ITEM_CONTEXT      "x-ms-encryption-context"
#define ITEM_CONTENT_TYPE "x-ms-blob-content-type"
/* The default type. Items that are directories omit it. */
#define ITEM_DEFAULT_TYPE "application/octet-stream"
/* Metadata that marks a directory in a flat account. */
#define ITEM_FOLDER_MARK  "x-ms-meta-hdi_isfolder"

/* Metadata that marks a queue whose messages are incomplete. */
#define ITEM_QUEUE_MARK   "x-ms-meta-lagra_unfinished"

struct header_list {
    struct fetch_header *of;
    size_t count, capacity;
};

#define ITEM_MD5_SIZE 16u

/* A part of a blob or file that is not zeros. */
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
    /* Blob: its snapshot or version at the source; ptr NULL for the blob itself. */
    struct bytes state;
    uint64_t moment; /* when that snapshot or version was created, in ticks; 0 if unknown */
    /* Changes with every write at the source: ETag; empty if unknown. */
    struct bytes version;
    uint64_t size; /* of a blob or file */
    struct header_list headers;
    struct bytes body;
    struct bytes place; /* location of its bytes, defined by the source */
    /* File: last write; message: expiry, in HTTP's form; ptr NULL if unknown, or never. */
    struct bytes date;
    bool is_sealed;            /* sealed append blob */
    struct item_ranges ranges; /* if the source lists them with the item */
    bool has_md5;
    uint8_t md5[ITEM_MD5_SIZE];
    /* Blob: next newer state. The blob itself is last. */
    struct item *next;
};

/* Adds a range, merging adjacent ones. Returns false if it starts before the end of the last one,
 * or ends past `size`. */
bool item_ranges_add(struct arena *arena, struct item_ranges *ranges, uint64_t at, uint64_t length,
                     uint64_t size);

/* Adds a header. name: static, or in the item's arena. A value with ptr NULL is omitted. */
void item_header(struct arena *arena, struct item *item, struct bytes name, struct bytes value);
void item_header_string(struct arena *arena, struct item *item, const char *name,
                        struct bytes value);
/* Returns the header's value (name in lower case); ptr NULL if none exists. */
struct bytes item_find_header(const struct item *item, const char *name);
/* Returns true for the headers that only hierarchical accounts have. */
bool item_is_tree_header(struct bytes name);
/* Copies the item in the form that it has in a flat account: without these headers, and a directory
 * as the blob that marks it. Returns NULL for the root of a container, which does not exist there.
 * Sets *ret_lost if the item had such headers. */
struct item *item_flatten(struct arena *arena, const struct item *item, bool *ret_lost);
/* Copies the item and its states into the arena. */
struct item *item_copy(struct arena *arena, const struct item *item);
/* Returns the total size of the item and its states. */
uint64_t item_bytes(const struct item *item);

#define ITEM_HASH_SIZE 32u
struct item_hash {
    uint8_t of[ITEM_HASH_SIZE];
};
/* Hashes the item's state at the source; unchanged as long as it need not be copied again. */
void item_hash_source(const struct item *item, struct item_hash *ret_hash);
/* Hashes an item for the journal: like item_hash_source(), but a queue and its end by name only. */
void item_hash_noted(const struct item *item, struct item_hash *ret_hash);
/* Hashes the properties of one state that both services list equally: size, headers in any order,
 * an entity's values; not names, ETags, times or MD5s. */
void item_hash_alike(struct arena *arena, const struct item *item, struct item_hash *ret_hash);
/* Hashes kind, parent and name, or the keys of an entity. */
void item_hash_name(struct arena *arena, const struct item *item, struct item_hash *ret_hash);
/* Returns "container/blob", "queue", "table(PartitionKey='..',RowKey='..')", for messages. */
struct bytes item_text(struct arena *arena, const struct item *item);
/* Returns true if it is a snapshot or version of a blob. */
bool item_is_state(const struct item *item);

/* ---- JSON: item_json.c ---- */

/* Writes a line without line end. Returns false if a value is not UTF-8. */
bool item_write_json(struct text *to, const struct item *item);
/* Returns NULL with *ret_problem, static, if the line is not an item. */
struct item *item_read_json(struct arena *arena, struct bytes line, const char **ret_problem);

#endif
