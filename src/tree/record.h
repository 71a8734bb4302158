/* Records of a tree, as they lie in the partitions of its space.
 *
 *   partition     what                    family, key          value
 *   8 be id       a node                  LISTED "n"           u8 1; u8 kind; 8 be id of its parent;
 *                                                              bytes name, as given
 *   8 be id       an entry of a directory INNER 'e', key       u8 1; u8 kind; 8 be id; bytes name,
 *                                         of the name          as given
 *   8 be id       how many entries        INNER "E"            u8 1; varint
 *   ""            how often directories   INNER "m"            u8 1; varint
 *                 have moved
 *
 * The root has the id TREE_ROOT and no node record. Absent counts are 0. All other records of a node's
 * partition are its service's and content's; no key of theirs begins with 'e' or 'E'.
 *
 * Nothing that is read is trusted: what makes no sense is logged here, and STORE_CORRUPT. Reads return
 * as snapshot_get(), and STORE_CONFLICT where the space is gone. Any thread. */
#ifndef LAGRA_TREE_RECORD_H
#define LAGRA_TREE_RECORD_H

#include "store/store.h"
#include "tree/path.h"

#define TREE_ROOT UINT64_C(0)

enum tree_kind { TREE_FILE = 1, TREE_DIRECTORY = 2 };

/* A name in a directory, and what has it. */
struct tree_entry {
    uint64_t id;
    enum tree_kind kind;
    struct tree_name name;
};

/* Where a node is; not of the root. */
struct tree_node {
    enum tree_kind kind;
    uint64_t parent;
    struct tree_name name;
};

/* key: of the record, without its 'e'. Names lie in what is decoded. */
bool tree_entry_decode(struct arena *arena, enum tree_case rule, struct bytes key,
                       struct bytes value, struct tree_entry *ret_entry);
bool tree_node_decode(struct arena *arena, enum tree_case rule, struct bytes value,
                      struct tree_node *ret_node);

/* The partition of a node; its key in the arena. */
struct partition tree_partition(struct arena *arena, struct guid space, uint64_t id);
/* That of the tree as a whole. */
struct partition tree_stamp_partition(struct guid space);

enum store_result tree_entry_read(struct snapshot *before, struct arena *arena, enum tree_case rule,
                                  struct bytes key, struct tree_entry *ret_entry);
void tree_entry_put(struct changes *changes, const struct tree_entry *entry);
void tree_entry_delete(struct changes *changes, struct bytes key);
/* The key of an entry's record. */
struct bytes tree_entry_key(struct arena *arena, struct bytes key);

enum store_result tree_node_read(struct snapshot *before, struct arena *arena, enum tree_case rule,
                                 struct tree_node *ret_node);
void tree_node_put(struct changes *changes, const struct tree_node *node);
void tree_node_delete(struct changes *changes);

enum store_result tree_count_read(struct snapshot *before, struct arena *arena,
                                  uint64_t *ret_count);
/* 0: none. */
void tree_count_put(struct changes *changes, uint64_t count);

enum store_result tree_moves_read(struct snapshot *before, struct arena *arena,
                                  uint64_t *ret_moves);
void tree_moves_put(struct changes *changes, uint64_t moves);

#endif
