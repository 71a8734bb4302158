/* Inside of program/ only, among check_restore*.c: a share whose tree is made whole again. */
#ifndef LAGRA_CHECK_RESTORE_H
#define LAGRA_CHECK_RESTORE_H

#include "tree/record.h"

/* A file or directory, by its node record. */
struct restore_node {
    struct tree_node at;
    uint64_t id, length;
    bool has_record;
    bool is_gone; /* a file that nobody can read */
    bool is_lost; /* see (3) */
};

struct restore {
    struct store *store;
    struct arena *arena; /* of the nodes */
    struct guid space;
    const char *share;          /* as it is shown */
    struct restore_node *nodes; /* by id */
    size_t count;
    uint64_t findings;
    uint64_t newest; /* generation that something was written in */
    uint64_t place;  /* "lost+found" */
    bool has_place;
};

/* ---- restore_parts.c ---- */

void restore_say(struct restore *r, const struct restore_node *node, const char *what);
/* By its id; NULL: there is none. */
struct restore_node *restore_find(const struct restore *r, uint64_t id);
/* Its entry, in the changes of its directory. */
void restore_put_entry(struct changes *changes, const struct restore *r,
                       const struct restore_node *node);

/* A partition of a node, and what is to be changed there. */
struct restore_part {
    struct arena *arena;
    struct snapshot *before;
    struct changes *changes;
};
struct restore_part restore_open(const struct restore *r, uint64_t id);
/* Commits the changes. */
void restore_close(const struct restore *r, struct restore_part *part);

/* ---- restore_entries.c ---- */

/* The entries of each directory, and their number, as its nodes say. What has a name that another has is lost
 * then. */
void restore_entries(struct restore *r);
/* The sums of the share. */
void restore_sums(const struct restore *r);

#endif
