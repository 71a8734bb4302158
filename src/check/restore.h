/* Internal to restore*.c: state of rebuilding the tree of a share or of hierarchical containers. */
#ifndef LAGRA_CHECK_RESTORE_H
#define LAGRA_CHECK_RESTORE_H

#include "tree/record.h"

/* File or directory with a node record. */
struct restore_node {
    struct tree_node at;
    uint64_t id, length;
    bool has_record;
    bool is_nameless;   /* its node record is lost; only in hierarchical containers */
    bool is_unreadable; /* a file without a file record */
    bool is_lost;       /* see (3) in restore.c */
};

struct restore {
    struct store *store;
    struct arena *arena; /* contains the nodes' strings */
    struct guid space;
    enum tree_case rule;        /* TREE_CASE_EXACT: hierarchical containers */
    bool is_shared;             /* the root has the root directories of several containers */
    const char *share;          /* name of the share or container, escaped for printing */
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
/* Returns true if the file or directory has the record that a blob of a hierarchical container has,
 * or needs none: root directories, and the hidden directory. */
bool restore_has_path_record(const struct restore *r, const struct restore_part *part,
                             const struct tree_node *at);
/* Finds out what the partition of a blob whose node record is lost was. Returns false if it has a
 * node record, or its blob record cannot be read. */
bool restore_read_nameless(const struct restore_part *part, enum tree_kind *ret_kind);
/* Takes name and directory of nameless nodes from the entries of their directories. */
void restore_find_names(struct restore *r);
/* Creates the record of a directory of a hierarchical container, without properties. */
void restore_put_path_record(const struct restore *r, uint64_t id);
/* Creates a directory in the root directory of a container, unless it exists. Returns false on
 * failure. */
bool restore_make_path_directory(const struct restore *r, const char *name, uint64_t *ret_id);

#endif
