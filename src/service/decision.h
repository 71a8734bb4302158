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

#include "auth/permit.h"
#include "concurrency/conditions.h"
#include "concurrency/lease.h"
#include "content/content.h"
#include "service/problem.h"

struct operation;
struct service;

/* What every operation's parameters and result begin with; zeroed before its functions see them. */
struct parameters {
    const struct operation *operation;
};
struct result {
    instant now; /* the instant of the decision */
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
    struct body body;            /* complete when decide runs; in memory unless it was staged */
};

/* What subject() or locate() of a service finds, for its decide functions: a type of its own that
 * begins so. */
struct subject_state {
    const struct resource *resource;
};

struct decision {
    /* ---- given ---- */
    const struct service *service;
    const struct operation *operation; /* the row */
    const struct input *input;
    uint32_t level; /* of the resource; 0 for rows of every level, which are about the service */
    enum error
        malformed; /* what OP_parse refused, for what `malformed_because` says; OK: nothing */
    const struct problem *malformed_because;
    struct arena *arena;
    struct store *store;
    enum store_access access; /* of every read and commit of this decision */
    struct snapshot *before;  /* of the partition that the operation is about */
    /* Another partition that was read and must be unchanged when the changes are committed, as a
     * stored access policy that permits them; NULL: none. By locate(); closed with `before`. */
    struct snapshot *guard;
    instant now;
    /* ---- by subject() ---- */
    struct subject subject;
    struct lease lease;
    enum lease_resource lease_resource;
    struct subject_state *state;
    /* ---- what comes of it ---- */
    struct changes *changes;
    bool renders_long;       /* the result is long: rendered in the pool, not on a worker */
    bool leaves_more;        /* the changes leave something to content_collect() */
    uint64_t seen;           /* newest sequence of anything read: by decision_saw() */
    struct problem *problem; /* what the error's answer says */
};

/* Something of another partition was read: its sequence must be durable before the answer goes. */
void decision_saw(struct decision *d, uint64_t sequence);
/* Does a stored access policy permit the operation, if anything does? */
bool decision_rests_on_policy(const struct decision *d);
/* By locate(), when it has read what the operation's partition belongs to (a container of a blob, a
 * queue of messages, a table of entities): closes the snapshot, or keeps it as the guard when a
 * stored access policy there is what permits the operation. */
void decision_leave_owner(struct decision *d, struct snapshot *owner);
/* Is the operation one that writes? By its row. */
bool decision_may_change(const struct decision *d);
/* return decision_fail(d, E_X, "..."): the code with a sentence for the client (printf). */
enum error decision_fail(struct decision *d, enum error e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A store result that is not STORE_OK as a wire error (the one place): CORRUPT and IO are 500
 * InternalError. STORE_WAIT and STORE_CONFLICT of reads become DECIDE_BLOCKING and DECIDE_AGAIN,
 * which a decide function returns as it returns errors: it is then run again. What the decision has
 * in d->changes by now is dropped. */
enum error decision_fail_store(struct decision *d, enum store_result result);
/* What keeps losing against others is decided so often, and then given up or left for a while: far
 * above what racing threads can cause. */
#define DECISION_ATTEMPTS_MAX 1000
/* Neither an answer nor an error: to be decided again. */
static inline bool decision_is_unfinished(enum error e)
{
    return e == DECIDE_BLOCKING || e == DECIDE_AGAIN;
}

/* ---- declaring the functions of an operation ---- */

struct call;
struct answer;

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
#define OPERATION_DECLARE_PARSE(op)                                                                \
    enum error op##_parse(struct call *call, struct op##_parameters *parameters)

#endif
