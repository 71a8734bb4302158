/* The File service as the reference describes it: one share with a tree of directories and files. It
 * shares no code with src/. Each commit makes a state of its own, whole: there are few nodes. */
#ifndef LAGRA_SIM_FS_MODEL_H
#define LAGRA_SIM_FS_MODEL_H

#include "fs_lease.h"
#include "request.h"

#define FS_NODES         64u
#define FS_ROOT          0u /* is there as soon as the share is */
#define FS_QUOTA_DEFAULT 5120u
#define FS_OPENS         96u
#define FS_LOCKS         128u

/* A file that an SMB client has open. */
struct fs_open {
    uint64_t id;   /* never used again; 0: there is none */
    uint64_t node; /* its id */
    unsigned client;
    uint64_t volatile_id;   /* by which the client's connection knows it */
    uint64_t handle;        /* by which the server does */
    unsigned access, share; /* MAY_* of sm_ask.h */
    bool deletes;           /* the file, when it is closed */
    /* What its client caches: by a lease of its own, or an oplock. CACHES_*: until the client has answered it holds
     * more than it was told that it may keep; what is asked of it meanwhile it is told then. */
    uint64_t key; /* of the lease; 0: none */
    bool is_oplock;
    unsigned holds, told, breaks_to;
    bool is_durable, persists;
    uint64_t create;           /* by which its client asks for it again */
    bool is_of_before;         /* its process has ended, and its client has not come back */
    bool may_have_ended;       /* its time was nearly over when the last process started */
    bool is_away;              /* its client has lost the connection, and may come back */
    uint64_t away_ns, kept_ns; /* since when, and how long */
};

/* That it has locked of its file. */
struct fs_lock {
    uint64_t open;     /* 0: there is none */
    unsigned from, to; /* slots */
    bool is_exclusive;
    uint64_t since; /* the commit */
};

enum fs_copied { FS_COPIED, FS_COPIES_STILL, FS_COPY_WAS_ABORTED, FS_COPY_HAS_FAILED };

struct fs_copy; /* fs_copy.h */
struct fs_node {
    bool exists, is_directory;
    unsigned char name;
    bool is_other_case; /* as it was given */
    unsigned parent;
    uint64_t id;      /* never used again */
    uint64_t content; /* the commit that made its bytes anew: what is compared with a snapshot */
    uint64_t file_id; /* the server's; 0: nobody was told yet */
    bool is_delete_pending;
    uint64_t version; /* the commit that wrote it last */
    uint64_t etag;    /* of that version; 0: nobody was told yet */
    uint64_t above;   /* an ETag that it must be above */
    unsigned metadata;
    unsigned length;            /* slots */
    unsigned slots[FS_SLOTS];   /* fs_slot_value(); 0: zeros */
    uint64_t written[FS_SLOTS]; /* the commit that wrote or cleared each; 0: never */
    struct fs_lease lease;
    unsigned permission; /* of fs_permissions, that was given; 0: another */
    const struct fs_copy
        *copy; /* that made it; NULL: none, or its bytes or length were changed since */
    enum fs_copied copied_as;
    uint64_t copied; /* bytes of the source */
};

struct fs_state {
    struct fs_state *older;
    uint64_t since;          /* the commit that made it */
    bool exists;             /* the share */
    uint64_t share;          /* the commit that created it */
    unsigned retention;      /* days that deleted shares are kept from now on; 0: they are not */
    bool is_kept;            /* as a snapshot, made by the commit `made` */
    bool is_deleted;         /* a share that was deleted by the commit `made`, and is kept */
    uint64_t made, gone;     /* the commit that deleted or restored it; 0: none */
    char date[FS_DATE_SIZE]; /* or version; empty: nobody was told */
    uint64_t ids;            /* given so far */
    unsigned quota;          /* GiB */
    unsigned permissions;    /* bits of those that were given */
    unsigned doubtful;       /* of these: a crash may have taken them */
    struct fs_lease lease;
    struct fs_node nodes[FS_NODES];
    bool has_container; /* of blobs, which are files in no directory */
    struct fs_node blobs[FS_BLOBS];
    struct fs_open opens[FS_OPENS];
    struct fs_lock locks[FS_LOCKS];
    uint64_t at_ns;    /* when it began */
    uint64_t sequence; /* of the record engine, once it was committed */
};

struct fs_expected {
    int status;
    const char *code; /* NULL: success */
    bool changes;
    bool waits;    /* for SMB clients; the code if it has waited in vain */
    unsigned node; /* that is read, or leased */
};

/* What lies in a slot: bytes of the pattern of a seed, as it has them at the slot `from`. */
#define FS_ZEROS 1u /* bytes that are all 0 */
unsigned fs_slot_value(unsigned seed, unsigned from);
/* Its bytes. */
void fs_slot_fill(unsigned value, unsigned char *to);

void fs_model_begin(void);
/* Returns the cell in which the share is, or 0; and whether that is the calling process's. */
unsigned fs_cell_of(unsigned share);
bool fs_is_here(void);
/* Returns the newest state after a crash of that cell that leaves its commits up to `survivor`; NULL: the share is in another
 * cell then. */
struct fs_state *fs_state_left(uint64_t survivor);
/* The state right after a commit; the oldest that is kept, if that is newer. */
const struct fs_state *fs_state_at(uint64_t commit);
/* To be changed after a start, by what it has shown. */
struct fs_state *fs_newest_state(void);
/* What an ask is answered in a state. Of what copies: if nothing is wrong with its source. */
struct fs_expected fs_expect(const struct fs_ask *ask, const struct fs_state *state);
bool fs_has_source(enum fs_op op);
/* What is wrong with the source in a state; code NULL: nothing. */
struct fs_expected fs_expect_source(const struct fs_ask *ask, const struct fs_state *state);
/* What it copies, if nothing is wrong with that. Not of another server. */
const struct fs_node *fs_source_node(const struct fs_ask *ask, const struct fs_state *state);
/* The version with this ETag of what the ask copies, in the states since a commit; NULL: none. */
const struct fs_node *fs_find_source(const struct fs_ask *ask, uint64_t etag, uint64_t since);
/* Makes it the newest state. source: what was copied; NULL: nothing. copy: of Copy File. passes: beside what is
 * open (fs_opens.h) */
struct fs_passes;
void fs_apply(const struct fs_ask *ask, uint64_t commit, const struct fs_node *source,
              const struct fs_copy *copy, const struct fs_passes *passes);
uint64_t fs_used_bytes(const struct fs_state *state);
/* Does a file that was of a length become longer than the share has room for? was, length: slots */
bool fs_is_full(const struct fs_state *state, unsigned was, unsigned length);
bool fs_has_children(const struct fs_state *state, unsigned node);
bool fs_is_below(const struct fs_state *state, unsigned node, unsigned above);
/* The entry of that name in a directory; FS_NODES: none. */
unsigned fs_child_of(const struct fs_state *state, unsigned parent, unsigned char name);
/* The node of that id; NULL: it is not there. */
const struct fs_node *fs_node_of(const struct fs_state *state, uint64_t id);
/* An answer tells the ETag of a version. NULL, or what is wrong with it. */
const char *fs_fill(uint64_t version, uint64_t etag);
/* Whether that may be the ETag of a node's version, by those of its others. NULL, or why not. */
const char *fs_may_have(const struct fs_node *node, uint64_t etag);
/* The node that a path names; FS_NODES: none. */
unsigned fs_find(const struct fs_state *state, const struct fs_path *path);
/* The directory that what a path names lies in, or would; FS_NODES: there is none. Of the root: itself. */
unsigned fs_find_parent(const struct fs_state *state, const struct fs_path *path);
/* The tree of a state, or that of the snapshot; NULL: that is not there. */
const struct fs_state *fs_view(const struct fs_snapshot *snapshot, const struct fs_state *state);
/* One that is there in a state: the newest, or the next older than `after`; NULL: there are no more.
 * share: whose, by its creation. */
const struct fs_state *fs_next_snapshot(const struct fs_state *state, uint64_t share,
                                        const struct fs_state *after);
/* An answer tells the server's id of a node, or the key of a permission. NULL, or what is wrong with it. */
const char *fs_tell_id(const struct fs_node *node, uint64_t file_id);
const char *fs_tell_key(unsigned permission, const char *key);
/* Empty: nobody was told it. */
const char *fs_known_key(unsigned permission);
/* The date of the snapshot that the newest commit made. NULL, or what is wrong with it. */
const char *fs_date_snapshot(uint64_t commit, const char *date);
const char *fs_snapshot_date(uint64_t commit);
/* One of the snapshots that are there and known, by a drawn number. False: there is none. */
bool fs_known_snapshot(unsigned random, struct fs_snapshot *ret_snapshot);
/* How many there are, known or not. */
unsigned fs_snapshot_count(void);
/* The path of a node. False: it is longer than FS_DEPTH. */
bool fs_path_of(const struct fs_state *state, unsigned node, struct fs_path *ret_path);
unsigned fs_node_count(const struct fs_state *state);
/* Of all states, when a process has begun: nothing is open but what persists, and its clients are away. When the last
 * client has left: nothing is open any more. */
void fs_forget_opens(void);
/* Inside the model: a state after the newest, as that is; of its snapshots. */
struct fs_state *fs_next_state(uint64_t commit);
/* Nobody has seen it. */
void fs_drop_newest(void);
void fs_keep_snapshot(const struct fs_state *state);
void fs_end_snapshot(uint64_t made, uint64_t commit);
/* All that the share of that creation has. */
void fs_end_snapshots_of(uint64_t share, uint64_t commit);

/* Forgets states that nobody can ask for any more. */
void fs_prune(uint64_t oldest_commit);
/* A crash: what came after the commit did not happen. */
void fs_roll_back(uint64_t commit);

#endif
