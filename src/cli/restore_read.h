/* Reading one container, queue, table or share of a backup into batches for a server. Inside program/ only, of
 * restore.c. */
#ifndef LAGRA_CLI_RESTORE_READ_H
#define LAGRA_CLI_RESTORE_READ_H

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
/* All of it. returns STORE_OK; as archive_records(); STORE_CONFLICT: sending failed */
enum store_result restoring_read(struct restoring *restoring, struct bytes name, struct guid space);

#endif
