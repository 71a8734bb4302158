/* Internal to restore*.c: state of rebuilding the tree of a share. */
#ifndef LAGRA_CHECK_RESTORE_H
#define LAGRA_CHECK_RESTORE_H

#include "tree/record.h"

/* File or directory with a node record. */
struct restore_node {
    struct tree_node at;
    uint64_t id, length;
    bool has_record;
    bool is_unreadable; /* a file without a file record */
    bool is_lost;       /* see (3) in restore.c */
};

struct restore {
    struct store *store;
    struct arena *arena; /* contains the nodes' strings */
    struct guid space;
    const char *share;          /* name, escaped for printing */
    struct restore_node *nodes; /* ordered by id */
    size_t count;
    uint64_t findings;
    uint64_t newest; /* newest generation written */
    uint64_t place;  /* id of "lost+found" */
    bool has_lost_found;
};

/* ---- restore_entries.c ---- */

void restore_report(struct restore *r, const struct restore_node *node, const char *what);
/* Returns the node with this id, or NULL. */
struct restore_node *restore_find(const struct restore *r, uint64_t id);
/* Adds the directory entry of a node to the changes of its directory. */
void restore_put_entry(struct changes *changes, const struct restore *r,
                       const struct restore_node *node);

/* Partition of a node, with the changes to commit. */
struct restore_part {
    struct arena *arena;
    struct read_view *before;
    struct changes *changes;
};
struct restore_part restore_open(const struct restore *r, uint64_t id);
/* Commits the changes. */
void restore_close(const struct restore *r, struct restore_part *part);

/* Makes the entries of each directory, and their number, match its nodes. If two nodes have the
 * same name, marks one of them as lost. */
void restore_entries(struct restore *r);
/* Recomputes the totals of the share. */
void restore_totals(const struct restore *r);

#endif
