/* Model of a hierarchical account, from the reference: the expected response and the changes of a
 * request. It shares no code with src/. There is one state of the entire tree for each commit
 * (model.h). */
#ifndef LAGRA_SIM_PATH_MODEL_H
#define LAGRA_SIM_PATH_MODEL_H

#include "path_view.h"
#include "request.h"

#define PATH_PARTS_MAX      48u
#define PATH_STAGED_MAX     64u
/* Files with this many snapshots get no more, unless several clients create them at the same time. */
#define PATH_SNAPSHOTS_MANY 3u
#define PATH_SNAPSHOTS_MAX  24u
/* Files whose content has more parts than this are replaced. */
#define PATH_PARTS_MANY     12u

struct path_stamp {
    uint64_t etag;      /* ticks; 0 if not known yet */
    uint64_t above;     /* previous ETag of the path; 0 if not known */
    int64_t modified_s; /* Unix seconds; 0 if not known yet */
};

struct path_time {
    char text[PATH_TIME_SIZE]; /* empty if not known yet */
};

/* A file or directory. Never changed, except that its stamp is filled in, and the end of its lease widened. */
struct path_node {
    uint64_t id; /* the same in all states */
    bool is_directory;
    bool is_uncommitted; /* has only staged blocks: most requests do not find it */
    bool is_put;         /* its content was not appended */
    struct path_stamp *stamp;
    unsigned value;
    struct path_acl acl;
    bool
        acl_is_unknown; /* except its owner: its file was overwritten while the list of the directory changed */
    bool has_record; /* of the root: its list was set, so that it has a record */
    struct model_lease lease;
    struct path_content parts[PATH_PARTS_MAX];
    unsigned part_count;
    struct path_staged {
        uint32_t position;
        struct path_content content;
    } staged[PATH_STAGED_MAX]; /* ordered by position */
    unsigned staged_count;
    struct path_content blocks[PATH_BLOCK_IDS]; /* staged ones, by id; of others `block` is 0 */
    struct path_snapshot {
        const struct path_node *node; /* as it was */
        struct path_time *time;
    } snapshots[PATH_SNAPSHOTS_MAX]; /* ordered by time */
    unsigned snapshot_count;
    bool is_doubtful; /* a crash may have undone staged bytes, which no request shows */
    bool is_unknown;  /* its bytes are: they were flushed while it was doubtful */
    uint64_t expiry;  /* ticks; 0 if it does not expire */
};

/* When a request is decided, and what leaves more than one response possible. */
enum {
    PATH_LATE = 1,        /* a lease that may have ended has */
    PATH_SOURCE_LATE = 2, /* the same of the source of a rename */
    PATH_IS_MODIFIED = 4, /* an unknown date is after that of the condition */
    PATH_SOURCE_IS_MODIFIED = 8,
    PATH_REFUSED = 16,      /* lists do not permit it to the user */
    PATH_MORE_REFUSED = 32, /* nor the source of a rename, or the contents of a deleted directory */
    PATH_NOW_LATE = 64,     /* it is decided at the end of the moment */
    PATH_COLLECTED = 128,   /* expired files have lost their names */
    PATH_NOT_HELD = 256,    /* a hold has been set that the operator does not know of yet */
    PATH_DOUBTS = 512
};
struct path_moment {
    uint64_t from_ns, to_ns;
    uint64_t from_commit, to_commit; /* lists are read at any time between these */
    struct path_view view;           /* first and last are the server's times */
};
static inline uint64_t path_now(const struct path_moment *moment, unsigned doubts)
{
    return doubts & PATH_NOW_LATE ? moment->view.last : moment->view.first;
}

/* A task may have deleted what has expired in the meantime. path_kept.c */
void path_moment_widen(struct path_moment *moment);

struct path_expected {
    int status;
    const char *code; /* NULL if it succeeds */
    bool changes, may_change_nothing;
    const char *or_code;  /* the error it may also be, or NULL */
    const char *existing; /* x-ms-existing-resource-type, or NULL */
    unsigned place;       /* of the ETag in the response */
};

void path_model_begin(void);
/* Returns whether the filesystem of the place exists. */
bool path_filesystem_exists(unsigned place, uint64_t commit);
/* Returns whether the filesystem of the place has a legal hold. */
bool path_is_held(unsigned place, uint64_t commit);
/* Returns whether filesystems get holds in this run. */
bool path_holds(void);
/* Returns NULL if there is none. */
const struct path_node *path_node_at(unsigned place, uint64_t commit);
uint32_t path_length(const struct path_node *node);
/* Returns the newest commit in (from, to], or 0 if there is none. */
uint64_t path_changed_before(uint64_t from, uint64_t to);
/* Sets *ret_possible to the doubts that may apply, and *ret_certain to those that must. path_expect.c */
void path_find_doubts(const struct path_ask *ask, uint64_t commit, const struct path_moment *moment,
                      unsigned *ret_possible, unsigned *ret_certain);
/* doubts: those that apply */
struct path_expected path_expect(const struct path_ask *ask, uint64_t commit,
                                 const struct path_moment *moment, unsigned doubts);
/* Executes the request on the newest state, which gives the new newest state. */
void path_apply(const struct path_ask *ask, uint64_t commit, const struct path_moment *moment,
                unsigned doubts);
/* A commit before that of the request has deleted the expired file at the place. Returns NULL, or why it may not.
 * path_kept.c */
const char *path_clear(const struct path_ask *ask, uint64_t commit, uint64_t now);
/* Returns whether deleted paths are retained, and files expire, in this run. path_kept.c */
bool path_retains(void);
unsigned path_days(uint64_t commit);
/* Returns whether soft delete had these days at some time between the two commits. path_kept.c */
bool path_had_days(unsigned days, uint64_t from, uint64_t to);
/* Returns the number-th deletion that is retained, in any order, or 0 if there are not so many. path_kept.c */
uint64_t path_kept_at(unsigned number, uint64_t commit, unsigned *ret_place);
/* Like path_compare_answer(), for a list of deleted paths that succeeded. path_kept.c */
const char *path_compare_deleted(const struct path_ask *ask, const struct reply *answer,
                                 uint64_t commit, uint64_t now);
/* Sets *ret_next to the request for the next page of such a list. Returns false if there is none. path_kept.c */
bool path_next_deleted(const struct path_ask *ask, const struct reply *answer,
                       struct path_ask *ret_next);
/* Compares the soft-delete policy in a response of Get Blob Service Properties. path_kept.c */
const char *path_compare_policy(const struct reply *answer, uint64_t commit);
/* Records the ETag and date in a response. Returns NULL, or the defect of the ETag. */
const char *path_fill(const struct path_node *node, const struct reply *answer);
/* Returns the number of the snapshot, or PATH_SNAPSHOTS_MAX. path_blocks.c */
unsigned path_find_snapshot(const struct path_node *node, const char *time);
unsigned path_count_blocks(const struct path_node *node);
/* Returns the file that the request names, or its snapshot; NULL if there is none. path_blocks.c */
const struct path_node *path_named(const struct path_ask *ask, const struct path_node *node);
/* Leases of the one state may end as those of the other: a renewal does not show. */
void path_widen(uint64_t commit, uint64_t other);
/* acknowledged: the newest commit that no crash may undo */
void path_roll_back(uint64_t commit, uint64_t acknowledged);
/* Removes the states that a crash of the calling process's cell has lost, if there are several cells. Returns whether the
 * filesystem exists and is in this cell. */
bool path_roll_back_cell(uint64_t survivor);
/* Returns the cell of the only filesystem, or 0 if it does not exist or is between two cells. */
unsigned path_cell(void);

#endif
