/* The Blob service as the reference describes it, for one account with a few containers and blobs:
 * what a request must be answered, and what it changes. It shares no code with src/.
 *
 * States are kept as versions, one for each commit, so that an answer can be held against any state
 * that there was while it was under way. What only the server knows (an ETag, the time of a
 * snapshot) is in stamps that are filled when an answer tells. */
#ifndef LAGRA_SIM_MODEL_H
#define LAGRA_SIM_MODEL_H

#include "contents.h"
#include "kept.h"
#include "leases.h"
#include "protect.h"

#define STAGED_MAX      BLOCK_IDS
#define SNAPSHOTS_MAX   16u
/* The deleted containers of one name; all containers of a run that retains them. */
#define KEPT_CONTAINERS 16u
#define SPACES          160u

struct stamp {
    uint64_t container; /* of a blob's: the incarnation that it was made in */
    uint64_t etag;      /* 0: not known yet */
    int64_t modified_s; /* 0: not known yet */
    char snapshot[SNAPSHOT_SIZE];
    struct stamp *before, *next; /* the ETags below and above */
    uint64_t above;              /* what it must be above, of before a crash */
};

enum copy_state { IS_NO_COPY, COPIED, COPIES_STILL, COPY_HAS_FAILED, COPY_WAS_ABORTED };

/* Or a previous version, whose id is its time. */
struct snapshot_state {
    struct stamp *time, *stamp;
    bool is_version;
    uint64_t at; /* its time in ticks, where versions are; else 0 */
    unsigned metadata, type, tag;
    enum tier tier;
    enum copy_state copy;
    struct contents contents;
    uint64_t expires;           /* soft-deleted until then, in ticks; 0: it is not */
    uint64_t created, modified; /* in ticks, in runs of protection */
    struct shield shield;
};

/* What a copy that is pending is to make of the blob. */
struct pending_state {
    struct copy_id id;
    enum fate fate;
    unsigned metadata, type, tag;
    struct shield shield;
    struct contents contents;
};

struct blob_state {
    struct blob_state *older;
    uint64_t since;       /* the commit that made it */
    uint64_t incarnation; /* of the container it belongs to */
    bool exists;
    uint64_t expires; /* it does not, and is soft-deleted until then; 0: it is not */
    struct stamp *stamp;
    unsigned metadata, type, tag;
    enum tier tier, comes_back; /* comes_back: from the archive; AT_INFERRED: it does not */
    bool is_fast;               /* with high priority */
    struct ending back;
    enum copy_state copy;
    struct pending_state pending; /* while COPIES_STILL */
    bool is_place;                /* it is there only for that */
    struct contents contents;
    struct segment staged[STAGED_MAX];
    unsigned staged_count;
    struct model_lease lease;
    struct snapshot_state snapshots[SNAPSHOTS_MAX];
    unsigned snapshot_count;
    char gone[SNAPSHOT_SIZE]; /* a snapshot or version that was deleted; "" */
    /* In ticks: the id of the base, if it is the current version, and the newest that the name has given; 0: none. */
    uint64_t version, newest_version;
    const struct stamp
        *last_stamp; /* of what there was last, where only versions are left; NULL: not known */
    uint32_t last_length;
    uint64_t created, modified; /* in ticks, in runs of protection */
    struct shield shield;
};

/* A deleted container, which is retained with its blobs. */
struct kept_container {
    uint64_t deleted; /* when, in ticks: its version */
    unsigned days;
    uint64_t incarnation;
    unsigned space, metadata, access;
    uint64_t server_space;
    struct stamp *stamp;
    struct stored_policy policies[POLICIES];
    struct protection protection;
};

struct container_state {
    struct container_state *older;
    uint64_t since;
    bool exists;
    uint64_t incarnation;
    unsigned space;                              /* where its blobs are; */
    uint64_t server_space;                       /* of the server, as struct kept_view has it */
    struct kept_container kept[KEPT_CONTAINERS]; /* of its name, the oldest first */
    unsigned kept_count;
    struct stamp *stamp;
    unsigned metadata, access;
    struct stored_policy policies[POLICIES];
    struct protection protection;
    struct model_lease lease;
    struct ending forgotten; /* then a second Delete Container stops to succeed */
};

enum paging { OF_CONTAINERS, OF_BLOBS, OF_SEARCH, PAGINGS };

struct model {
    struct container_state *containers[CONTAINERS];
    struct blob_state *blobs[SPACES][BLOBS]; /* of others: each name has one space */
    unsigned spaces;
    uint64_t incarnations, writes;
    struct stamp *newest[CONTAINERS][BLOBS]; /* that a blob of that name ever had */
    struct page_ask next_pages[PAGINGS][CLIENTS_MAX];
};

#define DOUBTS 64u /* all combinations */

/* What leaves more than one answer possible. */
struct doubt {
    bool late;     /* a lease, or the end of a container, that may have ended has */
    bool tag_fits; /* an ETag that is not known is the one of the condition */
    /* A date that is not known is after that of If-Modified-Since, of If-Unmodified-Since. */
    bool is_modified, is_modified_too;
    bool
        came_back; /* an archived blob that is due to; where blobs have versions: what has expired is gone */
    bool source_came_back;
    struct kept_view kept; /* not in doubt: what was read */
    uint64_t source_at;    /* the commit at which the source of a copy was read */
};

struct expected {
    int status;
    const char *code; /* NULL: success */
    bool changes;
    bool either_status; /* 200 or 202: nobody knows whether an archived blob has come back */
    struct container_state container; /* after it */
    struct blob_state blob;
    const struct stamp *stamp; /* of the ETag in the answer; NULL: none */
    const struct snapshot_state *snapshot, *previous;
    struct stamp *filled; /* to be filled from the answer */
    struct stamp *filled_time;
};

void model_begin(void);
/* The states as they were right after the commit. */
const struct container_state *model_container_at(unsigned container, uint64_t commit);
const struct blob_state *model_blob_at(unsigned container, unsigned blob, uint64_t commit);
/* The same by the space of a container, which may have been deleted. */
const struct blob_state *model_blob_in(unsigned space, unsigned blob, uint64_t commit);
/* Returns whether `count` more containers can be created. */
bool model_has_spaces(unsigned count);
/* The newest commit in (from, to] that changed what the ask is about; 0: none. */
uint64_t model_changed_before(const struct ask *ask, uint64_t from, uint64_t to);

/* Pure but for new stamps, which are made only when `commits`. */
void model_expect(const struct ask *ask, const struct container_state *container,
                  const struct blob_state *blob, struct doubt doubt, uint64_t from_ns,
                  uint64_t to_ns, bool commits, struct expected *ret_expected);
/* A pending copy ends at this commit. */
void model_end_copy(unsigned container, unsigned blob, enum copy_state how, uint64_t commit,
                    const struct stamp *written);
/* Makes it the newest state. */
void model_apply(const struct ask *ask, const struct expected *expected, uint64_t commit);
/* Forgets what nobody can ask for any more. */
void model_prune(uint64_t oldest_commit);
/* Leases of the one state may end as those of the other: a renewal does not show. */
void model_widen(uint64_t commit, uint64_t other);
/* Returns the cell of the container, or 0 if it does not exist. */
unsigned model_cell_of(unsigned container);
/* Returns whether the newest container of the name is in the cell of the calling process (commits.h). */
bool model_is_here(unsigned container);
/* Returns whether it is there after a crash that leaves the commits up to `survivor`. */
bool model_is_here_at(unsigned container, uint64_t survivor);
/* Returns whether it may be there after a crash. */
bool model_may_be_here(unsigned container);
/* A crash: what came after the commit did not happen. */
void model_roll_back(uint64_t commit);
/* The commit returns to the state of an older one: of all containers, or of one without leases. */
void model_return_to(uint64_t older, uint64_t commit, unsigned container);
/* Does the name have versions, and no blob? One may be soft-deleted. model_version.c */
bool model_has_versions_only(const struct blob_state *b);

#endif
