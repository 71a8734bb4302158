/* Internal to restore.c: reads a container, queue, table or share of a backup into batches for a
 * server. */
#ifndef LAGRA_CLI_RESTORE_READ_H
#define LAGRA_CLI_RESTORE_READ_H

#include "service/operation.h"
#include "store/archive.h"

struct restoring {
    struct archive *archive;
    const struct service *service;
    struct bytes account; /* account in the backup */
    /* Sends a batch to the server. Returns false after printing why it cannot. */
    bool (*send)(struct restoring *restoring, struct bytes batch);
    void *context;
    struct arena *arena;
    uint64_t records, bytes; /* read so far */
    /* internal to restore_read.c */
    struct text batch;
    struct piece_number
        *pieces; /* hash table of the partition's pieces, by extent and offset; open addressing */
    size_t piece_count, piece_room;
    char *buffer;
    bool is_cut; /* set if sending failed */
};

/* Finds the space in the backup.
 * returns  STORE_OK; STORE_NOT_FOUND if the backup has no such name; else like archive_records() */
enum store_result restoring_find(struct restoring *restoring, struct bytes name,
                                 struct guid *ret_space);
/* Reads all records.
 * returns  STORE_OK; STORE_CONFLICT if sending failed; else like archive_records() */
enum store_result restoring_read(struct restoring *restoring, struct bytes name, struct guid space);

#endif
