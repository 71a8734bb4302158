/* Deciding: what a decide function is given and may do.
 *
 * An operation is decided by a pure function of (what is asked, one state of its partition, an
 * instant) to (a result, changes). It knows no protocol: this header and all that it includes have
 * nothing of HTTP, XML or JSON (`make check` proves it of every file that decides), so that another
 * protocol can call the same functions.
 *
 * Each operation OP has its own types, and functions that the compiler checks against them:
 *
 *   struct OP_parameters { struct parameters base; ... };   what is asked in particular
 *   struct OP_result { struct result base; ... };           what came of it
 *   enum error OP_decide(struct decision *, const struct OP_parameters *, struct OP_result *);
 *
 * service/operation.h says how a table's row is made of them. Decide functions run on an HTTP
 * worker or, when they may wait for a disk, on a thread of service/decide_pool.h; perhaps
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

struct operation;
struct service;

/* What every operation's parameters and result begin with; zeroed before its functions see them. */
struct parameters {
    const struct operation *operation;
};
struct result {
    instant now; /* the instant of the decision */
    /* What the decision leaves of d->subject, answered where the row says that an ETag is; 0: none. */
    struct etag etag;
    instant modified;
    struct placement
        placed; /* a container that is to be created in another cell; cell 0: in this one */
};

/* What a request names. A service derives its own type from it, which its read_resource() fills. */
struct resource {
    unsigned level; /* 0: the service itself; each service numbers its own levels */
};

/* What every operation may be asked with, whatever protocol it came by. */
struct input {
    struct bytes account; /* name */
    struct identity identity;
    struct demands demands; /* beside the row's rights; by check() */
    const struct resource *resource;
    struct conditions conditions;
    const struct guid *lease_id; /* NULL: none was sent */
    uint32_t timeout_s;          /* that the client gives it; 0: says nothing */
    bool is_source;              /* of a copy: its bytes are read, too, after its head */
    bool may_be_elsewhere; /* of a source: a container that is not here may be in another cell */
    bool is_before_append_blobs; /* the request's version does not know them */
    bool by_service; /* nobody asks but the service itself: it may write what it alone writes */
    uint64_t
        placement; /* incarnation under which the container was placed in this cell; 0: this is the root */
    uint32_t place_in;          /* cell for a container that is created; 0: this one */
    struct body body;           /* complete when decide runs; in memory unless it was staged */
    struct merged_pages merged; /* of a list over all cells */
};

/* What subject() or locate() of a service finds, for its decide functions: a type of its own that
 * begins so. */
struct subject_state {
    const struct resource *resource;
};

/* No decision is over more partitions: a rename has two directories and what it replaces, each perhaps
 * under rules that another partition holds; a file that grows has eight sums beside it. */
#define DECISION_PARTS_MAX 15u
_Static_assert(DECISION_PARTS_MAX <= COMMIT_PARTS_MAX, "a decision is one commit");

/* A partition that a decision is over. */
struct decision_part {
    struct partition partition;
    struct snapshot *before; /* as it is */
    struct changes *changes; /* NULL: a guard: unchanged when the others' changes are committed */
};

/* Something that this process is to learn of once the changes are committed. In the arena of the attempt. */
struct decision_news {
    /* Called once, on the thread that has committed; no lock is held. May neither block nor decide. */
    void (*tell)(struct decision_news *news);
    struct decision_news *next; /* the decision's */
};

struct decision {
    /* ---- given ---- */
    const struct service *service;
    const struct operation *operation; /* the row; NULL: what is decided is not an operation */
    struct parameters *parameters;     /* of the operation, by check and parse */
    const struct input *input;
    uint32_t level; /* of the resource; 0 for rows of every level, which are about the service */
    enum error
        malformed; /* what OP_parse refused, for what `malformed_because` says; OK: nothing */
    const struct problem *malformed_because;
    struct arena *arena;
    struct store *store;
    struct store_access access; /* of every read and commit of this decision */
    bool always_waits; /* test builds: where it may not block, as if nothing were in memory */
    uint64_t returns;  /* of the attempt: store_returns() */
    instant now;       /* above every instant that the parts hold; 0: none was open yet */
    /* ---- the partitions: by decision_open() and its kin, anew in each attempt ---- */
    unsigned part_count;        /* of `parts` */
    struct partition partition; /* that the operation is about: located anew in each attempt */
    struct snapshot *before;    /* of the part that the operation is about */
    struct changes *changes;    /* of the same */
    /* ---- by subject() ---- */
    struct subject subject; /* decide updates its ETag and time to those that it writes */
    struct lease lease;
    enum lease_resource lease_resource;
    struct subject_state *state;
    /* ---- what comes of it ---- */
    struct result *result;   /* of the newest attempt */
    bool renders_long;       /* the result is long: rendered in the pool, not on a worker */
    bool leaves_more;        /* the changes leave something to content_collect() */
    uint64_t seen;           /* newest sequence of anything read: by decision_saw() */
    struct problem *problem; /* what the error's answer says */
    /* ---- its attempts: service/deciding.h ---- */
    struct arena_mark attempt; /* where they begin: rewound for each */
    unsigned attempts;
    instant waits_until;          /* for others: kept over attempts; 0: it has not waited yet */
    struct waiting_key waits_for; /* of the newest DECIDE_WAITS */
    const struct decision_wake *wakes; /* decision_wakes() */
    struct decision_news *news;        /* the newest first; of an attempt, until it is committed */
    uint64_t seen_before;              /* newest sequence of what was read before the first */
    /* Those that are open. At the end, since what lies behind them need not be zeroed: struct flow. */
    struct decision_part parts[DECISION_PARTS_MAX];
};
_Static_assert(offsetof(struct decision, parts) +
                       sizeof(struct decision_part[DECISION_PARTS_MAX]) ==
                   sizeof(struct decision),
               "arena_alloc_head() zeroes what is before the parts");

/* Wakes the waiters for the key, once the changes of the decision are committed. */
struct decision_wake {
    const struct decision_wake *next;
    struct waiting_key key;
};
void decision_wakes(struct decision *d, const struct waiting_key *key);

/* Opens one more partition as it is now, until the attempt ends. With `changes` (changes_new()) it is
 * changed by them; with NULL it is a guard. The newest part may be closed again by decision_leave(). */
struct decision_part *decision_open(struct decision *d, struct partition partition,
                                    struct changes *changes);
/* The part that it is already; NULL: none. */
struct decision_part *decision_find_part(struct decision *d, struct partition partition);
/* Opens the partition that the operation is about: d->before, and d->changes are its. In the place of
 * one that was opened so before. */
void decision_open_subject(struct decision *d, struct partition partition);
/* By subject(), when the operation is about another part than the one that locate() named: d->before
 * and d->changes are that part's, and the other one stays as a guard. */
void decision_move_subject(struct decision *d, struct decision_part *part);
/* Closes the newest part: what was read there stays read, and nothing rests on it. */
void decision_leave(struct decision *d, struct decision_part *newest);
/* The same, but the snapshot stays open: the caller closes it. */
struct snapshot *decision_detach(struct decision *d, struct decision_part *newest);
/* Looks whether one of the parts may have changed since it was opened, or its space been dropped: then what was read of another one
 * later need not agree with it. A commit finds that by itself; this is for what is refused, or looks damaged,
 * because two parts do not agree. returns STORE_OK, STORE_CONFLICT; that rarely when nothing has changed, too */
enum store_result decision_confirm(const struct decision *d);
/* Of one part. */
enum store_result decision_confirm_part(const struct decision *d, const struct decision_part *part);
/* Moves the parts of one decision to another, which goes on with them. */
void decision_move_parts(struct decision *to, struct decision *from);
/* Takes the snapshot of the subject out of the decision: it is the caller's to close. */
struct snapshot *decision_take_snapshot(struct decision *d);
/* Reads the clock: above all that the parts hold, so that an ETag made of it is newer than all that
 * its name ever had. After they were opened. */
void decision_read_clock(struct decision *d);
/* The same where the clock was read in this attempt, and parts were opened since: only if they hold what is newer. */
void decision_keep_above(struct decision *d);
/* Something of another partition was read: its sequence must be durable before the answer goes. */
void decision_saw(struct decision *d, uint64_t sequence);
/* The value of one entry of a space's index, in the arena. returns as index_iterator_next() */
enum store_result decision_index_get(struct decision *d, struct guid space, struct bytes key,
                                     struct bytes *ret_value);
/* Tells it once this attempt's changes are committed, in the order in which it was added. */
void decision_tell(struct decision *d, struct decision_news *news);
/* Does a stored access policy permit the operation, if anything does? */
bool decision_rests_on_policy(const struct decision *d);
/* By locate(), when it has read what the operation's partition belongs to (a container of a blob, a
 * queue of messages, a table of entities), which it opened last: leaves it, or keeps it as a guard when
 * a stored access policy there is what permits the operation. */
void decision_leave_owner(struct decision *d, struct decision_part *owner);
/* Adds a deferred task that deletes, step by step, what the changes leave to content_collect(). */
void decision_defer_collection(struct decision *d);
enum { TASK_COLLECT_CONTENT = 1 }; /* its kind, see service/deferred_tasks.h */
/* Is the operation one that writes? By its row. */
bool decision_may_change(const struct decision *d);
/* The action that a token's owner has to be allowed (ACTION_ of auth/rights.h), by its row. */
unsigned decision_action(const struct decision *d);
/* What its row says for struct service, enter; 0: nothing. */
unsigned decision_passes(const struct decision *d);
/* return decision_fail(d, E_X, "..."): the code with a sentence for the client (printf). */
enum error decision_fail(struct decision *d, enum error e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* It changes nothing, whatever it was about to: a refusal, for one. */
void decision_drop_changes(struct decision *d);
/* A store result that is not STORE_OK as a wire error (the one place): CORRUPT and IO are 500
 * InternalError, but for what is missing in a space that has been dropped: DECIDE_AGAIN. STORE_WAIT of reads becomes DECIDE_BLOCKING, and STORE_CONFLICT, of what does not agree, DECIDE_AGAIN,
 * which a decide function returns as it returns errors: it is then run again. What the decision has
 * in d->changes by now is dropped. */
enum error decision_fail_store(struct decision *d, enum store_result result);
/* The error, for what is found when there are changes already: they are dropped. */
enum error decision_take_back(struct decision *d, enum error e);
/* What a content function or a record returned, as a wire error: a part that is missing is damage. */
enum error decision_fail_content(struct decision *d, enum store_result result);
/* Neither an answer nor an error: to be decided again. */
static inline bool decision_is_unfinished(enum error e)
{
    return e > ERROR_COUNT;
}

/* ---- declaring the functions of an operation ---- */

struct call;
struct answer;

/* What is asked, and what came of it, in particular: nothing. */
#define OPERATION_NO_PARAMETERS(op)                                                                \
    struct op##_parameters {                                                                       \
        struct parameters base;                                                                    \
    }
#define OPERATION_NO_RESULT(op)                                                                    \
    struct op##_result {                                                                           \
        struct result base;                                                                        \
    }
/* OP_check, OP_decide and OP_answer; one that also looks at the body has OP_parse,
 * one that gets bytes from elsewhere OP_gather. */
#define OPERATION_DECLARE(op)                                                                      \
    enum error op##_check(struct call *call, struct op##_parameters *parameters);                  \
    enum error op##_decide(struct decision *d, const struct op##_parameters *parameters,           \
                           struct op##_result *result);                                            \
    void op##_answer(struct answer *a, const struct op##_parameters *parameters,                   \
                     const struct op##_result *result)
struct gathering;
#define OPERATION_DECLARE_GATHER(op)                                                               \
    enum error op##_gather(struct gathering *g, struct op##_parameters *parameters)
/* An operation that is asked, decided and answered as the operation `as`, once OP_gather has got what
 * OP_check found: these two are its own. */
#define OPERATION_DECLARE_GATHERED(op, as)                                                         \
    enum error op##_check(struct call *call, struct as##_parameters *parameters);                  \
    enum error op##_gather(struct gathering *g, struct as##_parameters *parameters)
#define OPERATION_DECLARE_PARSE(op)                                                                \
    enum error op##_parse(struct call *call, struct op##_parameters *parameters)

#endif
