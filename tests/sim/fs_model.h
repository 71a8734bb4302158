/* The File service as the reference describes it: one share with a tree of directories and files. It
 * shares no code with src/. Each commit makes a state of its own, whole: there are few nodes. */
#ifndef LAGRA_SIM_FS_MODEL_H
#define LAGRA_SIM_FS_MODEL_H

#include "request.h"

#define FS_NODES 64u
#define FS_ROOT  0u /* is there as soon as the share is */

struct fs_node {
    bool exists, is_directory;
    unsigned char name;
    unsigned parent;
    uint64_t id;      /* never used again */
    uint64_t version; /* the commit that wrote it last */
    uint64_t etag;    /* of that version; 0: nobody was told yet */
    uint64_t above;   /* an ETag that it must be above */
    unsigned metadata;
    unsigned length;          /* slots */
    unsigned slots[FS_SLOTS]; /* the seed that wrote each; 0: zeros */
};

struct fs_state {
    struct fs_state *older;
    uint64_t since;          /* the commit that made it */
    bool exists;             /* the share */
    bool is_kept;            /* as a snapshot, made by the commit `made` */
    uint64_t made, gone;     /* the commit that deleted it; 0: none */
    char date[FS_DATE_SIZE]; /* empty: nobody was told */
    uint64_t ids;            /* given so far */
    struct fs_node nodes[FS_NODES];
};

struct fs_expected {
    int status;
    const char *code; /* NULL: success */
    bool changes;
    unsigned node; /* that is read; of changes: see fs_changed_node() */
};

void fs_model_begin(void);
/* The state right after a commit; the oldest that is kept, if that is newer. */
const struct fs_state *fs_state_at(uint64_t commit);
/* What an ask is answered in a state. */
struct fs_expected fs_expect(const struct fs_ask *ask, const struct fs_state *state);
/* Makes it the newest state. */
void fs_apply(const struct fs_ask *ask, uint64_t commit);
/* The node that a state's commit has written; NULL: none, it was deleted. */
const struct fs_node *fs_changed_node(const struct fs_state *state);
/* An answer tells the ETag of a version. NULL, or what is wrong with it. */
const char *fs_fill(uint64_t version, uint64_t etag);
/* Whether that may be the ETag of a node's version, by those of its others. NULL, or why not. */
const char *fs_may_have(const struct fs_node *node, uint64_t etag);
/* The node that a path names; FS_NODES: none. */
unsigned fs_find(const struct fs_state *state, const struct fs_path *path);
/* The tree that an ask is about, in a state: its own, or that of the snapshot; NULL: that is not there. */
const struct fs_state *fs_view(const struct fs_ask *ask, const struct fs_state *state);
/* An answer tells the date of the snapshot that a commit made. NULL, or what is wrong with it. */
const char *fs_tell_snapshot(uint64_t commit, const char *date);
/* One of the snapshots that are there and known, by a drawn number. False: there is none. */
bool fs_known_snapshot(unsigned random, struct fs_snapshot *ret_snapshot);
/* How many there are, known or not. */
unsigned fs_snapshot_count(void);
/* The path of a node. False: it is longer than FS_DEPTH. */
bool fs_path_of(const struct fs_state *state, unsigned node, struct fs_path *ret_path);
unsigned fs_node_count(const struct fs_state *state);
/* Forgets states that nobody can ask for any more. */
void fs_prune(uint64_t oldest_commit);
/* A crash: what came after the commit did not happen. */
void fs_roll_back(uint64_t commit);

#endif
