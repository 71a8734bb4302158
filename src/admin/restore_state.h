/* A container, queue, table or share that is being restored from a backup: its records are put into a space that nothing
 * names yet. Inside admin/ only.
 *
 * (1) What names the space is committed last, in one commit with what it replaces: until then nothing of it is seen.
 * (2) From the first commit on a deferred task is there that drops the space after RESTORE_DAYS_MAX; that last commit
 *     removes it. So a kill leaves nothing behind for longer.
 * (3) Within a partition its pieces come first, then the records that refer to them by number.
 * Thread that may block; one at a time. */
#ifndef LAGRA_ADMIN_RESTORE_STATE_H
#define LAGRA_ADMIN_RESTORE_STATE_H

#include "service/operation.h"
#include "service/server.h"
#include "store/piece.h"

#define RESTORE_DAYS_MAX        1u
/* The longest batch: the largest piece, or the largest record. */
#define RESTORE_BATCH_MAX       ((size_t)8 << 20)
/* Records of the container's own partition, and the most bytes of one. */
#define RESTORE_OWNERS_MAX      1024u
#define RESTORE_OWNER_BYTES_MAX (64u << 10)

/* Entries of a batch, each with what follows it (base/codec.h). */
enum restore_entry {
    RESTORE_OWNER =
        1, /* key, value: a record of the container's partition in the account's space */
    RESTORE_PARTITION, /* key: what follows is of it */
    RESTORE_PIECE,     /* bytes */
    RESTORE_RECORD, /* u8 family; key, value; count of pieces, the number of each in the partition */
    RESTORE_INDEX,  /* key, value */
    RESTORE_COUNTER, /* name; u64 */
    RESTORE_TASK,    /* u64 due, u64 kind; payload */
};

struct restore {
    struct arena *arena; /* of what lasts as long as it does */
    const struct endpoint *endpoint;
    struct bytes account, name;
    bool replaces;
    struct guid id, space;
    struct deferred_task task; /* (2) */
    instant began;
    uint64_t heard_ms;
    struct record *owners;
    size_t owner_count;
    /* The partition that is being put. */
    bool has_partition;
    struct arena *part; /* of its key */
    struct bytes key;
    struct stage *stage;
    const struct piece *pieces; /* of the stage, once it is finished */
    size_t piece_count;
    struct arena *batch;     /* of the changes */
    struct changes *changes; /* not committed yet; NULL: none */
    const char *problem;     /* why a function returned false: a sentence; static */
};

/* account, name: copied. ret_restore: also on failure, with its problem */
bool restore_begin(const struct endpoint *endpoint, struct bytes account, struct bytes name,
                   bool replaces, struct restore **ret_restore);
/* False: it is malformed, or cannot be written. */
bool restore_put(struct restore *restore, struct bytes batch);
/* (1). returns OK, E_ContainerAlreadyExists: there is one; of the store */
enum error restore_publish(struct restore *restore);
/* Drops what was put, and frees it. published: it stays. */
void restore_free(struct restore *restore, bool published);

#endif
