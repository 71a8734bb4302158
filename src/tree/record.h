/* Records of a tree in the partitions of its space.
 *
 *   partition     what                    family, key          value
 *   8 be id       a node                  LISTED "n"           u8 1; u8 kind; 8 be id of parent;
 *                                                              bytes name, as given
 *   8 be id       an entry of a directory INNER 'e', key       varint generation; u8 1; u8 kind;
 *                                         of the name          8 be id; bytes name, as given
 *   8 be id       number of entries       INNER "E"            u8 1; varint
 *   8 be id       a version that          INNER 'V', key of a  like the record's
 *                 snapshots see           record, 8 be until
 *   8 be id       a mark: has versions    LISTED "v"           u8 1
 *   ""            number of directory     INNER "m"            u8 1; 5 varints
 *                 moves; generations;
 *                 1 if it is closed; the
 *                 instant when it was reopened
 *   ""            retained generations    INNER "k"            u8 1; varint count, varints
 *   "c"           no records: tasks that delete versions are decided here (versions.h)
 *
 * Each version also has a record in the space's index: 8 be until, 8 be id, key of the record.
 *
 * The root has the id TREE_ROOT and no node record. Absent numbers are 0, but the first generation
 * is 1. All other records of a node's partition belong to its service and content; none of their
 * keys starts with 'e', 'E', 'V' or 'v'.
 *
 * No record is trusted: malformed ones are logged here and are STORE_CORRUPT. Reads return like
 * read_view_get(), or STORE_CONFLICT if the space was dropped. Thread-safe. */
#ifndef LAGRA_TREE_RECORD_H
#define LAGRA_TREE_RECORD_H

#include "store/store.h"
#include "tree/path.h"

#define TREE_ROOT      UINT64_C(0)
/* Keys of the records of a node, and of the number of entries. */
#define TREE_NODE_KEY  "n"
#define TREE_COUNT_KEY "E"

enum tree_kind { TREE_FILE = 1, TREE_DIRECTORY = 2 };

/* Entry of a directory: a name and its node. */
struct tree_entry {
    uint64_t id;
    uint64_t written; /* generation */
    enum tree_kind kind;
    struct tree_name name;
};

/* Name and parent of a node other than the root. */
struct tree_node {
    enum tree_kind kind;
    uint64_t parent;
    struct tree_name name;
};

/* Decodes an entry. key: the record's key without its 'e'. Names point into key and value. */
bool tree_entry_decode(struct arena *arena, enum tree_case rule, struct bytes key,
                       struct bytes value, struct tree_entry *ret_entry);
bool tree_node_decode(struct arena *arena, enum tree_case rule, struct bytes value,
                      struct tree_node *ret_node);

/* Returns the partition of a node; its key is in the arena. */
struct partition tree_partition(struct arena *arena, struct guid space, uint64_t id);
/* Returns the partition of the tree as a whole. */
struct partition tree_stamp_partition(struct guid space);
/* Returns the partition of the tree's tasks. */
struct partition tree_task_partition(struct guid space);

/* Reads the entry whose name has the same key, even if it differs in case. */
enum store_result tree_entry_read(struct read_view *before, struct arena *arena,
                                  enum tree_case rule, const struct tree_name *name,
                                  struct tree_entry *ret_entry);
void tree_entry_put(struct changes *changes, const struct tree_entry *entry);
void tree_entry_delete(struct changes *changes, struct bytes key);
/* Record of an entry. */
#define TREE_ENTRY_PREFIX 'e'
struct bytes tree_entry_key(struct arena *arena, struct bytes key);
struct bytes tree_entry_encode(struct arena *arena, const struct tree_entry *entry);

enum store_result tree_node_read(struct read_view *before, struct arena *arena, enum tree_case rule,
                                 struct tree_node *ret_node);
void tree_node_put(struct changes *changes, const struct tree_node *node);
void tree_node_delete(struct changes *changes);

enum store_result tree_count_read(struct read_view *before, struct arena *arena,
                                  uint64_t *ret_count);
/* Writes the number of entries; 0 deletes the record. */
void tree_count_put(struct changes *changes, uint64_t count);
/* Returns the value of the record. count: not 0 */
struct bytes tree_count_encode(struct arena *arena, uint64_t count);

/* Maximum generation. It keeps the first byte of `until` in a 'V' key 0, which no name contains, so
 * that versions sort in the order of their records' keys. */
#define TREE_GENERATION_MAX (UINT64_C(1) << 48)

/* The state of the tree as a whole. */
struct tree_state {
    uint64_t moves;      /* number of moves of directories so far */
    uint64_t generation; /* generation of records written now: 1..TREE_GENERATION_MAX */
    /* newest generation retained by a snapshot, less than `generation`; 0 if none */
    uint64_t last_retained;
    bool closed;      /* the tree is closed (tree_close()) and must not be used */
    instant reopened; /* last time it was reopened after being closed; 0 if never */
};
enum store_result tree_state_read(struct read_view *before, struct arena *arena,
                                  struct tree_state *ret_state);
void tree_state_put(struct changes *changes, const struct tree_state *state);

/* The generations retained by snapshots, in order. */
struct retained_generations {
    uint64_t *generations; /* in the arena, with space for one more */
    size_t count;
};
enum store_result retained_generations_read(struct read_view *before, struct arena *arena,
                                            struct retained_generations *ret_retained);
void retained_generations_put(struct changes *changes, const struct retained_generations *retained);

#endif
