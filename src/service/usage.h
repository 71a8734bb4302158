/* Usage of accounts, for operators and capacity limits: number and size of the objects in each
 * container, queue, table and share. It is computed by reading their current records; requests do
 * not maintain counters, and nothing is stored. decision: 461
 *
 * Bytes are those visible to clients: lengths of blobs, snapshots and files; records of entities
 * and messages. May block. */
#ifndef LAGRA_SERVICE_USAGE_H
#define LAGRA_SERVICE_USAGE_H

#include "store/store.h"

struct service;

struct usage {
    uint64_t objects;     /* blobs, messages, entities, files */
    uint64_t uncommitted; /* blobs with only uncommitted blocks; not counted as objects */
    uint64_t bytes;
    uint64_t quota_bytes; /* of a share; 0 if none */
    bool is_kept;         /* deleted and retained (kept_deletion.h): has bytes, but no objects */
};

/* A service's functions for usage.c. */
struct usage_functions {
    /* Returns true if a LISTED record in an account's space belongs to an existing container,
     * queue, table or share, and sets *ret_space to the space of its contents. *ret_quota_bytes is
     * initially 0. */
    bool (*container)(const struct space_record *record, struct guid *ret_space,
                      uint64_t *ret_quota_bytes);
    /* Returns the container's name as it was created. NULL if that is the partition's name. */
    struct bytes (*name)(const struct space_record *record);
    /* Like container(), for a deleted and retained container. NULL if none are retained. */
    bool (*kept)(const struct space_record *record, struct guid *ret_space);
    /* Adds the usage of a content record. NULL if each record is an object whose size is the
     * record's length. */
    void (*record)(const struct space_record *record, struct usage *usage);
    /* Adds the bytes of a space whose records do not contain the sizes; otherwise NULL. */
    enum store_result (*sum)(struct store *store, struct arena *arena, struct guid space,
                             struct usage *usage);
    /* count the INNER records of partition "" with this prefix; NULL to count all LISTED records */
    const char *inner_prefix;
};

/* Receives an existing or retained container. Its name and usage are valid during the call. Returns
 * false to stop. */
typedef bool usage_found(void *context, struct bytes name, const struct usage *usage);
/* Called periodically; may wait to limit the load. Returns false to stop. */
typedef bool usage_pace(void *context, uint64_t records);

struct usage_walk {
    struct store *store;
    const struct service *service;
    struct bytes account;
    usage_pace *pace; /* NULL to skip the contents */
    usage_found *found;
    void *context;
};
/* Finds the containers of an account in one service, in order of name.
 * Returns STORE_OK; STORE_CORRUPT, STORE_IO. */
enum store_result usage_look(const struct usage_walk *walk);

#endif
