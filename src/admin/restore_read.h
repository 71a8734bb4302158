/* Reads one container, queue, table or share from a backup or a running store, and sends it in
 * batches to a server (restore_state.h), for `lagra restore` and for moves to another cell. */
#ifndef LAGRA_ADMIN_RESTORE_READ_H
#define LAGRA_ADMIN_RESTORE_READ_H

#include "service/operation.h"
#include "service/space_parts.h"
#include "store/archive.h"

struct restoring {
    struct archive *archive;
    const struct service *service;
    struct bytes account; /* account in the backup */
    /* Sends a batch to the server. Returns false after reporting why it failed. */
    bool (*send)(struct restoring *restoring, struct bytes batch);
    void *context;
    struct arena *arena;
    uint64_t records, bytes; /* read so far */
    /* internal to restore_read.c and restore_batch.c */
    struct text batch;
    struct piece_number
        /* hash table of the partition's pieces by extent and offset, with open addressing */
        *pieces;
    size_t piece_count, piece_room;
    char *buffer;
    bool has_part; /* only a part of the space is read (service/space_parts.h): */
    struct guid part, space;
    struct part_finder finder;
    struct bytes partition;   /* of the records being read, if it belongs to no part */
    enum store_result failed; /* while reading rows */
    bool is_cut;              /* set if sending failed */
};

/* Finds the space in the backup. Returns  STORE_OK; STORE_NOT_FOUND if the backup has no such name;
 * else like archive_records(). */
enum store_result restoring_find(struct restoring *restoring, struct bytes name,
                                 struct guid *ret_space);
/* Reads and sends everything. Returns STORE_OK, an error of archive_records(), or STORE_BUSY if
 * sending failed. */
enum store_result restoring_read(struct restoring *restoring, struct bytes name, struct guid space);

/* Like restoring_read(), but only for the records in the space, without those of the account that
 * refer to it. */
enum store_result restoring_read_space(struct restoring *restoring, struct guid space);
/* Reads and sends all counters, and the changes in the space that the archive watches. Returns
 * STORE_FULL if more records have changed than the archive can list. */
enum store_result restoring_read_changes(struct restoring *restoring, struct guid space);

#endif
