/* Reads one container, queue, table or share of a backup, or of a running store, into batches (restore_state.h) for a server:
 * for `lagra restore`, and for moving it to another cell. */
#ifndef LAGRA_ADMIN_RESTORE_READ_H
#define LAGRA_ADMIN_RESTORE_READ_H

#include "service/operation.h"
#include "store/archive.h"

struct restoring {
    struct archive *archive;
    const struct service *service;
    struct bytes account; /* in the backup */
    /* Takes a batch to the server. False: it said why not. */
    bool (*send)(struct restoring *restoring, struct bytes batch);
    void *context;
    struct arena *arena;
    uint64_t records, bytes; /* that were read */
    /* of restore_read.c */
    struct text batch;
    struct piece_number *pieces; /* of the partition, by extent and offset: open addressing */
    size_t piece_count, piece_room;
    char *buffer;
    bool is_cut; /* sending failed */
};

/* Its space in the backup. returns STORE_OK, STORE_NOT_FOUND: the backup has none of that name, as archive_records() */
enum store_result restoring_find(struct restoring *restoring, struct bytes name,
                                 struct guid *ret_space);
/* Reads and sends all of it. Returns STORE_OK; as archive_records(); STORE_BUSY: sending failed. */
enum store_result restoring_read(struct restoring *restoring, struct bytes name, struct guid space);

/* Like restoring_read(), but only what the space has, without the records of the account's space that name it. */
enum store_result restoring_read_space(struct restoring *restoring, struct guid space);

#endif
