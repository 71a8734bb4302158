/* Restores a container, queue, table or share from a backup, or receives one from another cell
 * (move_in.h), by writing its records to a space that nothing refers to yet. Internal to admin/.
 * Used by one thread at a time, which may block.
 *
 * (1) The record that refers to the space is committed last, together with the deletion of the
 *     resource it replaces. Until then, nothing is visible.
 * (2) The first commit creates a deferred task that drops the space after RESTORE_DAYS_MAX, and the
 *     last commit removes the task. If the process is killed, its data is therefore deleted after
 *     that time.
 * (3) Within a partition, the pieces precede the records, which refer to them by index. */
#ifndef LAGRA_ADMIN_RESTORE_STATE_H
#define LAGRA_ADMIN_RESTORE_STATE_H

#include <stddef.h>

#include "service/operation.h"
#include "service/server.h"
#include "store/piece.h"

#define RESTORE_DAYS_MAX           1u
/* Maximum batch size: the largest piece, or the largest record. */
#define RESTORE_BATCH_MAX          ((size_t)8 << 20)
/* Limits for records in the container's own partition. */
#define RESTORE_OWNERS_MAX         1024u
#define RESTORE_OWNER_BYTES_MAX    (64u << 10)

/* Size of the salt and tags of a piece. */
#define RESTORE_SEAL_SIZE(sectors) (piece_seal_size(sectors) - offsetof(struct piece_seal, salt))

/* Entries of a batch, each followed by the data shown (base/codec.h). */
enum restore_entry {
    RESTORE_OWNER =
        1, /* key, value of a record of the container's partition in the account's space */
    RESTORE_PARTITION, /* key of the partition of the following entries */
    RESTORE_PIECE,     /* bytes */
    /* u8 family; key, value; number of pieces, and index of each piece in the partition */
    RESTORE_RECORD,
    RESTORE_INDEX,   /* key, value */
    RESTORE_COUNTER, /* name; u64 value */
    RESTORE_TASK,    /* u64 due, u64 kind; payload */
    RESTORE_REMOVE,  /* u8 family; key of a record that may exist */
    RESTORE_UNINDEX, /* key of an index record that may exist */
    RESTORE_SEALED,  /* bytes of a piece with the key of a customer; its salt and tags */
};

struct restore {
    struct arena *arena; /* memory with the lifetime of the restore */
    const struct endpoint *endpoint;
    struct bytes account, name;
    bool replaces;
    struct placement where; /* after E_MisdirectedRequest: cell that has the name */
    /* The data comes from another cell: retain leases, and hold the space until the restore is
     * freed, so that no task changes it. */
    bool is_move;
    struct guid id, space;
    struct deferred_task task; /* see (2) */
    uint64_t heard_ms;
    struct record *owners;
    size_t owner_count;
    /* The current partition. */
    bool has_partition;
    struct arena *part; /* memory for its key */
    struct bytes key;
    /* pieces without and with a seal, which are stored as they are; NULL if unused */
    struct stage *stages[2];
    const struct piece *pieces; /* pieces of both, in `part`, once they are finished */
    size_t piece_count;
    const struct piece_seal *
        *seals; /* of the pieces added so far, in `part`; NULL for those without */
    size_t added, seal_room;
    struct arena *batch;     /* memory for the changes */
    struct changes *changes; /* changes not committed yet; NULL if none */
    const char *problem;     /* why a function returned false (static) */
};

/* Starts a restore. account, name: copied. Sets *ret_restore even on failure, with `problem` set */
bool restore_begin(const struct endpoint *endpoint, struct bytes account, struct bytes name,
                   bool replaces, struct restore **ret_restore);
/* Writes the entries of a batch. Returns false if it is malformed or cannot be written. */
bool restore_put(struct restore *restore, struct bytes batch);
/* Makes the restored resource visible, see (1).
 *
 * cell     this cell, in which the root must have placed the name; 0 in the root or without cells
 * returns  OK; E_ContainerAlreadyExists; E_MisdirectedRequest if the name is in another cell; like
 *          placement_claim() or decision_fail_store() */
enum error restore_publish(struct restore *restore, uint32_t cell);
/* Commits everything written so far. Returns false on failure. */
bool restore_complete(struct restore *restore);
/* Frees the restore, and drops its data unless it was published. */
void restore_free(struct restore *restore, bool published);

#endif
