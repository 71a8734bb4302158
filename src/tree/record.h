/* Records of a tree, as they lie in the partitions of its space.
 *
 *   partition     what                    family, key          value
 *   8 be id       a node                  LISTED "n"           u8 1; u8 kind; 8 be id of its parent;
 *                                                              bytes name, as given
 *   8 be id       an entry of a directory INNER 'e', key       varint generation; u8 1; u8 kind;
 *                                         of the name          8 be id; bytes name, as given
 *   8 be id       how many entries        INNER "E"            u8 1; varint
 *   8 be id       a version that          INNER 'V', key of a  as the record's
 *                 snapshots see           record, 8 be until
 *   8 be id       a mark: has versions    LISTED "v"           u8 1
 *   ""            how often directories   INNER "m"            u8 1; 5 varints
 *                 have moved; generations;
 *                 1 if it is closed; the
 *                 instant when it was reopened
 *   ""            generations that are    INNER "k"            u8 1; varint count, varints
 *                 kept
 *   "c"           no records: the tasks that collect versions are decided here (versions.h)
 *
 * Each version has a record of the space's index, too: 8 be until, 8 be id, key of the record.
 *
 * The root has the id TREE_ROOT and no node record. Absent numbers are 0, but the first generation is
 * 1. All other records of a node's partition are its service's and content's; no key of theirs begins
 * with 'e', 'E', 'V' or 'v'.
 *
 * No record is trusted: malformed ones are logged here, and STORE_CORRUPT. Reads return as snapshot_get(),
 * and STORE_CONFLICT where the space is gone. Any thread. */
#ifndef LAGRA_TREE_RECORD_H
#define LAGRA_TREE_RECORD_H

#include "store/store.h"
#include "tree/path.h"

#define TREE_ROOT UINT64_C(0)

enum tree_kind { TREE_FILE = 1, TREE_DIRECTORY = 2 };

/* A name in a directory, and the node that it names. */
struct tree_entry {
    uint64_t id;
    uint64_t written; /* generation */
    enum tree_kind kind;
    struct tree_name name;
};

/* The place of a node. The root has none. */
struct tree_node {
    enum tree_kind kind;
    uint64_t parent;
    struct tree_name name;
};

/* key: of the record, without its 'e'. Names point into key and value. */
bool tree_entry_decode(struct arena *arena, enum tree_case rule, struct bytes key,
                       struct bytes value, struct tree_entry *ret_entry);
bool tree_node_decode(struct arena *arena, enum tree_case rule, struct bytes value,
                      struct tree_node *ret_node);

/* The partition of a node; its key in the arena. */
struct partition tree_partition(struct arena *arena, struct guid space, uint64_t id);
/* The partition of the tree as a whole. */
struct partition tree_stamp_partition(struct guid space);
/* The partition of its tasks. */
struct partition tree_task_partition(struct guid space);

/* The entry of what has the key of this name, however it is given there. */
enum store_result tree_entry_read(struct snapshot *before, struct arena *arena, enum tree_case rule,
                                  const struct tree_name *name, struct tree_entry *ret_entry);
void tree_entry_put(struct changes *changes, const struct tree_entry *entry);
void tree_entry_delete(struct changes *changes, struct bytes key);
/* Its record. */
#define TREE_ENTRY_PREFIX 'e'
struct bytes tree_entry_key(struct arena *arena, struct bytes key);
struct bytes tree_entry_encode(struct arena *arena, const struct tree_entry *entry);

enum store_result tree_node_read(struct snapshot *before, struct arena *arena, enum tree_case rule,
                                 struct tree_node *ret_node);
void tree_node_put(struct changes *changes, const struct tree_node *node);
void tree_node_delete(struct changes *changes);

enum store_result tree_count_read(struct snapshot *before, struct arena *arena,
                                  uint64_t *ret_count);
/* 0 deletes the record. */
void tree_count_put(struct changes *changes, uint64_t count);

/* Below this the first byte of `until` in a 'V' key is 0, which no name contains. So versions are in the
 * order of the keys of their records. */
#define TREE_GENERATION_MAX (UINT64_C(1) << 48)

/* The state of the tree as a whole. */
struct tree_state {
    uint64_t moves;      /* number of moves of directories so far */
    uint64_t generation; /* of records that are written now: 1..TREE_GENERATION_MAX */
    uint64_t kept;       /* the newest that is kept by a snapshot, below it; 0: none is */
    bool closed;         /* nobody may use it as it is now: tree_close() */
    instant reopened;    /* the last time, after it was closed; 0: never */
};
enum store_result tree_state_read(struct snapshot *before, struct arena *arena,
                                  struct tree_state *ret_state);
void tree_state_put(struct changes *changes, const struct tree_state *state);

/* The generations that snapshots keep, in order. */
struct tree_kept {
    uint64_t *generations; /* in the arena, with room for one more */
    size_t count;
};
enum store_result tree_kept_read(struct snapshot *before, struct arena *arena,
                                 struct tree_kept *ret_kept);
void tree_kept_put(struct changes *changes, const struct tree_kept *kept);

#endif
