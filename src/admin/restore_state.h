/* A container, queue, table or share being restored from a backup, or moved from another cell
 * (move_in.h): its records are put into a space
 * that nothing refers to yet. Internal to admin/.
 *
 * (1) The record that refers to the space is committed last, in one commit with the deletion of
 *     what it replaces; until then nothing of it is visible.
 * (2) The first commit creates a deferred task that drops the space after RESTORE_DAYS_MAX; the
 *     last one removes it. So a kill leaves nothing behind for longer.
 * (3) Within a partition the pieces come first, then the records that refer to them by number.
 * Used by one thread at a time, which may block. */
#ifndef LAGRA_ADMIN_RESTORE_STATE_H
#define LAGRA_ADMIN_RESTORE_STATE_H

#include "service/operation.h"
#include "service/server.h"
#include "store/piece.h"

#define RESTORE_DAYS_MAX        1u
/* Maximum batch size: the largest piece, or the largest record. */
#define RESTORE_BATCH_MAX       ((size_t)8 << 20)
/* Limits for records in the container's own partition. */
#define RESTORE_OWNERS_MAX      1024u
#define RESTORE_OWNER_BYTES_MAX (64u << 10)

/* Entries of a batch, each followed by the given data (base/codec.h). */
enum restore_entry {
    RESTORE_OWNER =
        1, /* key, value: a record of the container's partition in the account's space */
    RESTORE_PARTITION, /* key: partition of the following entries */
    RESTORE_PIECE,     /* bytes */
    RESTORE_RECORD,    /* u8 family; key, value; number of pieces, index of each in the partition */
    RESTORE_INDEX,     /* key, value */
    RESTORE_COUNTER,   /* name; u64: its sum */
    RESTORE_TASK,      /* u64 due, u64 kind; payload */
    RESTORE_REMOVE,    /* u8 family; key: of a record that may exist */
    RESTORE_UNINDEX,   /* key: of an index record that may exist */
};

struct restore {
    struct arena *arena; /* for data as long-lived as the restore */
    const struct endpoint *endpoint;
    struct bytes account, name;
    bool replaces;
    struct placement where; /* after E_MisdirectedRequest: the cell that has the name */
    /* From another cell: leases are retained, and the space is held until the restore is freed, so
     * that no task changes it. */
    bool is_move;
    struct guid id, space;
    struct deferred_task task; /* see (2) */
    uint64_t heard_ms;
    struct record *owners;
    size_t owner_count;
    /* The current partition. */
    bool has_partition;
    struct arena *part; /* for its key */
    struct bytes key;
    struct stage *stage;
    const struct piece *pieces; /* of the stage, once it is finished */
    size_t piece_count;
    struct arena *batch;     /* for the changes */
    struct changes *changes; /* not committed yet; NULL if none */
    const char *problem;     /* why a function returned false: a static sentence */
};

/* Starts a restore. account, name: copied. ret_restore: set on failure too, with its problem. */
bool restore_begin(const struct endpoint *endpoint, struct bytes account, struct bytes name,
                   bool replaces, struct restore **ret_restore);
/* Returns false if the batch is malformed, or cannot be written. */
bool restore_put(struct restore *restore, struct bytes batch);
/* Makes the restored resource visible, see (1).
 *
 * cell     this cell, which must have the root's placement first; 0 in the root or without cells
 * returns  OK; E_ContainerAlreadyExists; E_MisdirectedRequest if the name is in another cell; like
 *          placement_claim() or decision_fail_store() */
enum error restore_publish(struct restore *restore, uint32_t cell);
/* Returns true once all that was put is committed. */
bool restore_complete(struct restore *restore);
/* Frees the restore, and drops its data unless published. */
void restore_free(struct restore *restore, bool published);

#endif
