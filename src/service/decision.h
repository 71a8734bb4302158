/* Decisions: the inputs of decide functions, and the functions that these may call.
 *
 * An operation is decided by a pure function of its parameters, a state of its partition and an
 * instant. Its outputs are a result and changes. It is independent of protocols: this header and
 * all its includes contain no HTTP, XML or JSON, which `make check` verifies for all files that
 * decide. Other protocols can therefore call the same functions.
 *
 * Each operation OP has its own types, and functions that the compiler checks against them:
 *
 *   struct OP_parameters { struct parameters base; ... };   parameters of the request
 *   struct OP_result { struct result base; ... };           results
 *   enum error OP_decide(struct decision *, const struct OP_parameters *, struct OP_result *);
 *
 * service/operation.h describes how a table row refers to them. Decide functions run on an HTTP
 * worker or, if they may wait for a disk, on a thread of service/decide_pool.h. They may run
 * several times. */
#ifndef LAGRA_SERVICE_DECISION_H
#define LAGRA_SERVICE_DECISION_H

#include <stddef.h>

#include "auth/permit.h"
#include "concurrency/conditions.h"
#include "concurrency/lease.h"
#include "content/content.h"
#include "service/cell_page.h"
#include "service/problem.h"
#include "service/waiting.h"

struct customer_key;
struct operation;
struct service;

/* First members of each operation's parameters and result, zeroed before its functions are
 * called. */
struct parameters {
    const struct operation *operation;
};
struct result {
    instant now; /* instant of the decision */
    /* ETag and time of d->subject after the decision, sent if the row has an ETag; 0 if none. */
    struct etag etag;
    instant modified;
    struct placement placed; /* cell in which a container must be created; cell 0 for this one */
};

/* Names in a request. Base of each service's own type, which read_resource() fills in. */
struct resource {
    unsigned level; /* 0 for the service itself; each service defines its own levels */
};

/* Input common to all operations and protocols. */
struct input {
    struct bytes account; /* name */
    struct identity identity;
    struct demands demands; /* in addition to the row's rights; set by check() */
    const struct resource *resource;
    struct conditions conditions;
    const struct guid *lease_id;    /* NULL if not sent */
    const struct customer_key *key; /* of the blob (customer_key.h); NULL if not sent */
    uint32_t timeout_s;             /* timeout requested by the client; 0 if none */
    bool is_source; /* source of a copy, whose content is read after its properties */
    /* for a copy source: a container that does not exist here may be in another cell */
    bool may_be_elsewhere;
    bool is_before_append_blobs; /* the request's version predates append blobs */
    bool tracks_access;          /* the account tracks when blobs are read (blob/access_time.h) */
    bool by_service;  /* internal request of the service, which may write its own resources */
    bool by_operator; /* internal request of the operator (admin/), not of a client */
    /* incarnation under which the container was placed in this cell; 0 in the root */
    uint64_t placement;
    uint32_t place_in;          /* cell for a new container; 0 for this one */
    struct body body;           /* complete when decide runs; in memory unless it was staged */
    struct merged_pages merged; /* for a list over all cells */
};

/* State found by subject() or locate() for the decide functions. Base of a service's own type. */
struct subject_state {
    const struct resource *resource;
};

/* Maximum number of partitions of a decision. A rename uses two directories and the replaced file,
 * each of which may depend on rules in another partition. A growing file also uses eight usage
 * counters. */
#define DECISION_PARTS_MAX 15u
_Static_assert(DECISION_PARTS_MAX <= COMMIT_PARTS_MAX, "a decision is one commit");

/* A partition used by a decision. */
struct decision_part {
    struct partition partition;
    struct read_view *before; /* state of the partition */
    /* NULL for a guard, which must be unchanged when the changes of other parts are committed */
    struct changes *changes;
};

/* A callback in this process after the commit. Allocated in the arena of the attempt. */
struct commit_callback {
    /* Called once, on the committing thread, without any locks. Must neither block nor decide. */
    void (*run)(struct commit_callback *callback);
    struct commit_callback *next; /* list of the decision */
};

struct decision {
    /* ---- input ---- */
    const struct service *service;
    const struct operation *operation; /* table row; NULL if the decision is not for an operation */
    struct parameters *parameters;     /* of the operation; set by check and parse */
    const struct input *input;
    uint32_t level; /* of the resource; 0 for rows of all levels, which apply to the service */
    enum error malformed; /* error of OP_parse, with details in `malformed_because`; OK if none */
    const struct problem *malformed_because;
    struct arena *arena;
    struct store *store;
    struct store_access access; /* for all reads and commits of this decision */
    /* test builds: attempts that may not block behave as if nothing were in memory */
    bool always_waits;
    uint64_t returns; /* store_returns() at the attempt */
    /* later than every instant in the parts; 0 before the first part is opened */
    instant now;
    /* ---- partitions, set by decision_open() etc. in each attempt ---- */
    unsigned part_count;        /* number of `parts` */
    struct partition partition; /* subject of the operation; located again in each attempt */
    struct read_view *before;   /* state of the subject's part */
    struct changes *changes;    /* changes of the subject's part */
    /* ---- set by subject() ---- */
    struct subject subject; /* decide sets ETag and time to the values it writes */
    struct lease lease;
    enum lease_resource lease_resource;
    struct subject_state *state;
    /* ---- results ---- */
    struct result *result; /* of the newest attempt */
    /* the result is long, so it is rendered in the pool and not on a worker */
    bool renders_long;
    bool leaves_more;        /* the changes leave work for content_collect() */
    uint64_t seen;           /* newest sequence of anything read; see decision_saw() */
    uint64_t failed_ns;      /* when the store failed (decision_saw_failure()), or 0 */
    struct problem *problem; /* details for the error response */
    /* ---- attempts: service/deciding.h ---- */
    struct arena_mark attempt; /* arena position at which each attempt starts */
    unsigned attempts;
    /* deadline for waiting, preserved across attempts; 0 before the first wait */
    instant waits_until;
    struct waiter_key waits_for;       /* of the newest DECIDE_WAITS */
    const struct decision_wake *wakes; /* see decision_wakes() */
    struct commit_callback *on_commit; /* newest first; for the current attempt until its commit */
    uint64_t seen_before;              /* newest sequence read before the first attempt */
    /* Open partitions. At the end because unused parts need not be zeroed; see struct flow. */
    struct decision_part parts[DECISION_PARTS_MAX];
};
_Static_assert(offsetof(struct decision, parts) +
                       sizeof(struct decision_part[DECISION_PARTS_MAX]) ==
                   sizeof(struct decision),
               "arena_alloc_head() zeroes what is before the parts");

/* Wakes the waiters for the key once the decision's changes are committed. */
struct decision_wake {
    const struct decision_wake *next;
    struct waiter_key key;
};
void decision_wakes(struct decision *d, const struct waiter_key *key);

/* Opens a partition in its current state until the attempt ends. `changes` (changes_new()) are
 * applied to it; NULL makes it a guard. decision_leave() can close the newest part again. */
struct decision_part *decision_open(struct decision *d, struct partition partition,
                                    struct changes *changes);
/* Returns the open part with this partition, or NULL. */
struct decision_part *decision_find_part(struct decision *d, struct partition partition);
/* Opens the subject's partition and sets d->before; d->changes apply to it. Replaces a subject that
 * was opened before. */
void decision_open_subject(struct decision *d, struct partition partition);
/* Makes another part the subject. Called by subject() or enter() if the subject is not in the
 * partition that locate() returned. d->before and d->changes become those of the part, which may
 * already have changes. The old part, which must have none, remains as a guard. */
void decision_move_subject(struct decision *d, struct decision_part *part);
/* Makes another part with changes the subject. The old one remains, with its changes. */
void decision_add_subject(struct decision *d, struct decision_part *part);
/* Closes the newest part. The data read there counts as read, but the decision does not depend on
 * it. */
void decision_leave(struct decision *d, struct decision_part *newest);
/* Like decision_leave(), but returns the snapshot, which the caller must close. */
struct read_view *decision_detach(struct decision *d, struct decision_part *newest);
/* Checks whether a part may have changed since it was opened, or its space was dropped. If so, data
 * read later from another part may be inconsistent with it. A commit detects this itself; call this
 * function before refusing a request or reporting damage because two parts are inconsistent.
 * Returns STORE_OK or STORE_CONFLICT; rarely STORE_CONFLICT although nothing has changed. */
enum store_result decision_confirm(const struct decision *d);
/* Checks a single part. */
enum store_result decision_confirm_part(const struct decision *d, const struct decision_part *part);
/* Moves the parts of a decision to another one, which continues to use them. */
void decision_move_parts(struct decision *to, struct decision *from);
/* Removes the subject's snapshot from the decision. The caller must close it. */
struct read_view *decision_take_snapshot(struct decision *d);
/* Reads the clock. Call it after opening the parts: the result is later than every instant in them,
 * so that an ETag derived from it is newer than any ETag the name has ever had. */
void decision_read_clock(struct decision *d);
/* Advances d->now if parts opened since decision_read_clock() contain a later instant. */
void decision_keep_above(struct decision *d);
/* Records that data of another partition was read. Its sequence must be durable before the response
 * is sent. */
void decision_saw(struct decision *d, uint64_t sequence);
/* Records that the store failed (STORE_CORRUPT, STORE_IO), which the response reports. It is sent
 * only if the data was still ours (store_failure_stands()). */
void decision_saw_failure(struct decision *d);
/* Records everything that a part of the request saw. */
void decision_saw_all(struct decision *d, const struct decision *part);
/* Reads the value of an entry of a space's index into the arena. Returns the results of
 * index_iterator_next(). */
enum store_result decision_index_get(struct decision *d, struct guid space, struct bytes key,
                                     struct bytes *ret_value);
/* Adds a callback. Callbacks run in order of addition, once the changes of this attempt are
 * committed. */
void decision_on_commit(struct decision *d, struct commit_callback *callback);
/* Returns true if only a stored access policy can permit the operation. */
bool decision_rests_on_policy(const struct decision *d);
/* Closes the part that locate() opened last: that of the owner of the operation's partition (a
 * blob's container, a message's queue, an entity's table). Keeps it as a guard if a stored access
 * policy there permits the operation. */
void decision_leave_owner(struct decision *d, struct decision_part *owner);
/* Adds a deferred task that deletes, in steps, the backlog that the changes leave for
 * content_collect(). */
void decision_defer_collection(struct decision *d);
enum { TASK_COLLECT_CONTENT = 1 }; /* kind of that task, see service/deferred_tasks.h */
/* Returns true if the operation writes, according to its row. */
bool decision_may_change(const struct decision *d);
/* Returns the action that a token's owner must be allowed (ACTION_ in auth/rights.h), according to
 * the row. */
unsigned decision_action(const struct decision *d);
/* Returns the row's `passes`, for service->enter; 0 if none. */
unsigned decision_passes(const struct decision *d);
/* Sets a sentence for the client (printf) and returns the code. */
enum error decision_fail(struct decision *d, enum error e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Drops all changes, for example of a refused request. */
void decision_drop_changes(struct decision *d);
/* Converts a store result other than STORE_OK to a wire error, and drops the changes. CORRUPT and
 * IO become 500 InternalError, except for CORRUPT after a space was dropped, which becomes
 * DECIDE_AGAIN. STORE_WAIT of reads becomes DECIDE_BLOCKING. STORE_CONFLICT, for inconsistent data,
 * becomes DECIDE_AGAIN. A decide function returns these like errors and is then run again. This is
 * the only such conversion. */
enum error decision_fail_store(struct decision *d, enum store_result result);
/* Drops the changes and returns the error, for an error found after changes were made. */
enum error decision_take_back(struct decision *d, enum error e);
/* Converts the result of a content function or a record to a wire error. A missing part counts as
 * damage. */
enum error decision_fail_content(struct decision *d, enum store_result result);
/* Returns true if the code is neither success nor an error, so the decision must be repeated. */
static inline bool decision_is_unfinished(enum error e)
{
    return e > ERROR_COUNT;
}

/* ---- declaring the functions of an operation ---- */

struct call;
struct answer;

/* For operations without parameters or results of their own. */
#define OPERATION_NO_PARAMETERS(op)                                                                \
    struct op##_parameters {                                                                       \
        struct parameters base;                                                                    \
    }
#define OPERATION_NO_RESULT(op)                                                                    \
    struct op##_result {                                                                           \
        struct result base;                                                                        \
    }
/* OP_check, OP_decide and OP_answer. An operation that parses its body also has OP_parse; one that
 * fetches data from elsewhere has OP_gather. */
#define OPERATION_DECLARE(op)                                                                      \
    enum error op##_check(struct call *call, struct op##_parameters *parameters);                  \
    enum error op##_decide(struct decision *d, const struct op##_parameters *parameters,           \
                           struct op##_result *result);                                            \
    void op##_answer(struct answer *a, const struct op##_parameters *parameters,                   \
                     const struct op##_result *result)
struct gathering;
#define OPERATION_DECLARE_GATHER(op)                                                               \
    enum error op##_gather(struct gathering *g, struct op##_parameters *parameters)
/* For an operation that is decided like the operation `as`, after OP_gather has fetched the data
 * that OP_check found. Only these two functions are its own. */
#define OPERATION_DECLARE_GATHERED(op, as)                                                         \
    enum error op##_check(struct call *call, struct as##_parameters *parameters);                  \
    enum error op##_gather(struct gathering *g, struct as##_parameters *parameters)
/* For an operation that is decided as the operation `as`. */
#define OPERATION_DECLARE_AS(op, as)                                                               \
    enum error op##_check(struct call *call, struct as##_parameters *parameters);                  \
    void op##_answer(struct answer *a, const struct as##_parameters *parameters,                   \
                     const struct as##_result *result)
#define OPERATION_DECLARE_PARSE(op)                                                                \
    enum error op##_parse(struct call *call, struct op##_parameters *parameters)

#endif
