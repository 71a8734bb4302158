/* What accounts keep, for operators and for limits of capacity: how many objects, and bytes of them, each container,
 * queue, table and share has. It is found by reading their records, as they are while that goes on: nothing is counted
 * on the way of a request, and nothing of it is stored. decision: 461
 *
 * Bytes are those that clients see: of blobs and their snapshots the lengths, of files too, of entities and messages
 * their records. Threads that may block. */
#ifndef LAGRA_SERVICE_USAGE_H
#define LAGRA_SERVICE_USAGE_H

#include "store/store.h"

struct service;

struct usage {
    uint64_t objects;     /* blobs, messages, entities, files */
    uint64_t uncommitted; /* blobs of uncommitted blocks alone: no objects */
    uint64_t bytes;
    uint64_t quota_bytes; /* of a share; 0: none */
    bool is_kept;         /* of what was deleted (kept_deletion.h): it has bytes, but no objects */
};

/* What a service has in struct service, to be read by usage.c. */
struct usage_functions {
    /* Of a LISTED record in the space of an account: is it a container, queue, table or share that is there now, and in
     * which space is what it holds? *ret_quota is 0 before. */
    bool (*container)(const struct space_record *record, struct guid *ret_space,
                      uint64_t *ret_quota_bytes);
    /* Returns the name of such a one as it was created. NULL: that of its partition. */
    struct bytes (*name)(const struct space_record *record);
    /* The same of one that was deleted and is kept. NULL: none are. */
    bool (*kept)(const struct space_record *record, struct guid *ret_space);
    /* Adds what a record in such a space counts. NULL: each is an object of its own length. */
    void (*record)(const struct space_record *record, struct usage *usage);
    /* Adds the bytes of what is in such a space, where its records do not say them. NULL: they do. */
    enum store_result (*sum)(struct store *store, struct arena *arena, struct guid space,
                             struct usage *usage);
    /* What is counted are the INNER records of partition "" that begin with this; NULL: all LISTED ones */
    const char *inner_prefix;
};

/* A container that was found, or one that is kept: its name and usage are valid during the call. False: it is enough. */
typedef bool usage_found(void *context, struct bytes name, const struct usage *usage);
/* Called now and then: may wait, so that others are not disturbed. False: stop. */
typedef bool usage_pace(void *context, uint64_t records);

struct usage_walk {
    struct store *store;
    const struct service *service;
    struct bytes account;
    usage_pace *pace; /* NULL: what they hold is not looked at */
    usage_found *found;
    void *context;
};
/* Finds the containers of an account in one service, in the order of their names.
 * returns STORE_OK; STORE_CORRUPT, STORE_IO */
enum store_result usage_look(const struct usage_walk *walk);

#endif
