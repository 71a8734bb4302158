/* Inside service/ only: the state of an exchange on its way, and the files' shares of that way. */
#ifndef LAGRA_REQUEST_REQUEST_PRIVATE_H
#define LAGRA_REQUEST_REQUEST_PRIVATE_H

#include <stdatomic.h>
#include <stddef.h>

#include "properties/cors_rules.h"
#include "service/driver.h"
#include "request/faults.h"
#include "observe/observed_request.h"
#include "request/request.h"

/* What the account's CORS rules say of an answer. */
struct cors {
    bool enabled;  /* the account has rules that may matter */
    bool has_rule; /* `rule` is the one for this request */
    struct cors_rule rule;
    uint64_t seen; /* where the rules were read, after the commit */
};

/* ---- from a call that is routed and authenticated to a decision: prepare.c ---- */

/* call, d: zeroed. request, problem: stay the caller's. The decision may not block. */
void prepare_init(struct call *call, struct decision *d, const struct endpoint *endpoint,
                  struct arena *arena, const struct request *request, struct problem *problem);
/* Once it is known whose account it names, and how: a read of the secondary endpoint is of what that shows. */
void prepare_secondary(const struct call *call, struct decision *d);
/* Finds the operation and lets it check the head: d->operation, d->parameters. */
enum error prepare_head(struct call *call, struct decision *d);
/* Once the body of the request itself has come: lets the operation get what it names elsewhere. Thread
 * that may block. stage: where it is staged; to be closed by the caller, whatever is returned */
enum error prepare_gather(struct call *call, struct decision *d, struct stage **stage);
/* Once all of the body has come: lets the operation parse it. What is wrong with it is kept until
 * decide has looked at what comes before: existence, lease, conditions (decision: 2). Attempts begin
 * behind what is in the arena then. */
void prepare_body(struct call *call, struct decision *d);

/* ---- an operation on its way: work.c ---- */

/* From a request to an answer, whatever exchange it is part of. Nothing of it suspends. */
struct work {
    struct transaction *transaction; /* if it is all or none: transaction.c; else NULL */
    struct call call;
    struct problem problem;
    struct logged_part *logged; /* of a batch: its parts that were answered */
    bool is_grouped;            /* part of a batch: decided, and to be committed with others */
    enum error error;           /* what it ended in instead of a result; OK: nothing */
    struct cors cors;
    struct answer answer;
    struct decision decision; /* the last: struct flow */
};

/* Is it to stop somewhere (test builds)? */
static inline bool work_is_gated(const struct work *work)
{
#ifdef LAGRA_GATES
    return work->call.gate.action != GATE_PASS;
#else
    (void)work;
    return false;
#endif
}
/* Prepares a zeroed work for a request. */
void work_init(struct work *work, const struct endpoint *endpoint, struct arena *arena,
               const struct request *request, struct response *response);
/* The same for a part of a batch, whose request came as that of the whole did. */
void work_init_part(struct work *part, const struct work *whole, struct request *request,
                    struct response *response);
/* As deciding_check(). */
enum error work_check(struct work *work);
/* From now on memory for the work comes from this arena, and its response is empty. */
void work_move(struct work *work, struct arena *arena);

/* ---- the body of a request: body_intake.c ---- */

struct body_intake {
    struct arena_mark before; /* the first byte */
    bool was_refused;         /* before the last */
    struct text memory;       /* small bodies, or what came before a stage was opened */
    size_t staged_bytes;      /* of memory: already given to the stage */
    struct stage *stage;
    uint64_t received;
    uint64_t crc64;
    bool is_hashed;     /* body_hash() */
    enum error failure; /* after BODY_NOT_TAKEN */
};

/* ---- an exchange on its way: exchange.c ---- */

struct flow;
struct batch;

/* What is to be done next. DECIDE and APPLIED are of the operation, or of one part of a batch. */
enum state {
    HEALTH,         /* it is about the server itself */
    HELD,           /* its account has asked for too much: it is refused after a while */
    FIND_VERSION,   /* which one the request is served by that says none */
    FIND_OPERATION, /* by what it asks for; check the head */
    FAULT,          /* a test may have asked for one: the part that comes before the operation */
    ADMIT,          /* what its account may still do */
    EARLY_CHECK,    /* refuse what can be refused before the body comes */
    WANT_BODY,      /* admitted: let the body come */
    FINISH_BODY,    /* take the body; when all has come, make it durable; parse it */
    PARSED,
    BATCH, /* what is asked for is a batch of operations: check, route and admit them */
    BATCH_BEGIN_IN_POOL, /* ... where it may wait */
    BATCH_IN_POOL,       /* its parts are run in the pool */
    PART,                /* the next part of the batch */
    PART_FOUND,          /* authenticated and checked */
    DECIDE,              /* the driver decides and commits (driver.h) */
    DECIDE_IN_POOL,      /* the same of what takes long */
    APPLIED,             /* committed */
    PART_DONE,           /* its answer is rendered */
    BATCH_APPLIED,
    CORS,    /* find what CORS rules say of the answer */
    DURABLE, /* wait until what was seen and done is on disk */
    ANSWER,  /* render what came of it */
    BODY,    /* get ready to send a blob's bytes */
    RESPOND,
    CUT,     /* the connection, without an answer: a fault that a test has asked for */
    POOLED,  /* a step runs in the pool, or has run there */
    WAITING, /* only as a step's result: suspended; the same state is entered again */
};

struct flow;
/* A step of an exchange: returns the state that comes next. */
typedef enum state state_fn(struct flow *flow);

#define FLOW_MAGIC 0x4c574f46u

/* A body that is read from a content while it is sent. */
struct content_body {
    struct body_source source;
    struct flow *flow;
};

/* The same of an answer with a fault: slowly, or not to its end. */
struct fault_body {
    struct body_source source;
    struct flow *flow;
    struct body_source *inner; /* NULL: the bytes below */
    struct bytes bytes;
    uint64_t end;       /* bytes that go out; fewer than there are: it is cut there */
    uint64_t run_max;   /* bytes that go out at a time.. */
    uint64_t run_ticks; /* ..and how long that takes; 0: no time */
    instant next;       /* when the next run is due */
    bool is_due;        /* it is, and the inner source waits */
};
struct flow_fault {
    struct fault what;
    bool is_delayed; /* the delay is over, or has begun */
    struct fault_body body;
};

struct flow {
    unsigned magic;
    struct exchange *exchange;
    struct work *current; /* what is decided: `work`, or a part of the batch */
    struct batch *batch;  /* of operations; NULL: one operation */
    struct driver driver; /* of the decision of `current` */
    enum state state;
    bool was_held;    /* limits.c */
    state_fn *pooled; /* the step that is in the pool */
    enum state pooled_next;
    enum request_stage pooled_stage;
    struct body_intake intake;
    struct content_reader *reader;
    enum store_result map_result; /* of the last part of its map that was read in the pool */
    struct content_body body;
    struct flow_fault *fault; /* NULL: nobody asked for one */
    struct observed_request observed;
    size_t body_read; /* of a small body that is read into the arena */
    char *body_bytes;
    /* The last, as its decision is, and that one's parts: each request has a flow, hardly any a
     * decision of more than two parts, and zeroing room for the others costs more than they do. */
    struct work work;
};

/* ---- how it waits: wait.c ---- */

/* Sets the work to decide next, as an operation: the flow's own, or a part of its batch. */
void flow_set_current(struct flow *flow, struct work *work);
/* The waiter's function. */
void flow_wake(struct waiter *waiter);
/* Returns the waiter to pass to a function that may return STORE_WAIT. */
static inline struct waiter *flow_arm(struct flow *flow)
{
    return pause_arm(&flow->driver.pause);
}
/* Suspends the exchange until the waiter is woken. Called on a worker. returns WAITING */
enum state flow_wait(struct flow *flow);
/* Returns `next`, or stops at a gate first if the request asked for it (test builds; base/gate.h). */
enum state flow_at_gate(struct flow *flow, enum gate gate, enum state next);
/* Suspends the exchange and runs the step on a thread of the pool, where decisions may block. The step must
 * not suspend. */
void flow_run_in_pool(struct flow *flow, state_fn *step);
/* The same in another pool. */
void flow_run_in(struct flow *flow, struct decide_pool *pool, state_fn *step);
/* The same as a step of its own: what `step` returns is the next state. returns WAITING */
enum state flow_to_pool(struct flow *flow, state_fn *step);

/* Suspends the exchange until all that its answer reports is durable: what it read, what it committed, the
 * CORS rules. durable.c
 * returns ANSWER, also with an error when the store has failed; WAITING */
enum state durable_await(struct flow *flow);

/* ---- batches of operations: batch.c ---- */

/* The batch as a whole is checked, its parts are routed and admitted.
 * returns BATCH_IN_POOL, PART; BATCH: again; BATCH_BEGIN_IN_POOL; BATCH_APPLIED: refused as a whole;
 *         CORS: refused */
enum state batch_begin(struct flow *flow);
/* The next part that is not done yet becomes the current one.
 * returns PART_FOUND; PART_DONE: refused; BATCH_APPLIED: none */
enum state batch_next(struct flow *flow);
/* The current part has been decided in the pool. Its changes are committed together with others, if they may be; if it
 * rests on what those change, it is decided again.
 * returns PART; DECIDE: the driver goes on with it */
enum state batch_part_decided(struct flow *flow, bool has_changes);
/* Renders the answer to the current part. returns PART */
enum state batch_part_done(struct flow *flow);
/* Ends the batch, if there is one. */
void batch_free(struct flow *flow);

/* ---- transactions: transaction.c ---- */

/* The list is checked, its parts are routed, checked, parsed and admitted.
 * returns DECIDE, DECIDE_IN_POOL; BATCH: again; BATCH_BEGIN_IN_POOL; CORS: refused */
enum state transaction_begin(struct flow *flow);
/* The answers of the parts, or of the one that was refused. */
void transaction_answer(struct work *work);

/* What became of a run of the body. */
enum body_taken {
    BODY_TAKEN,
    BODY_PAUSED,    /* what *ret_taken says was taken; the pause is armed */
    BODY_TOO_LARGE, /* longer than its operation takes */
    BODY_NOT_TAKEN, /* body_intake.failure says how */
};
void intake_init(struct flow *flow);
enum body_taken intake_take(struct flow *flow, struct bytes data, size_t *ret_taken);
/* All has come: STORE_OK when it is durable (or in memory) and call->input.body is complete. */
enum store_result intake_finish(struct flow *flow);
/* The MD5 of a body that is in memory, into the call's body.
 * returns STORE_OK; STORE_WAIT: others are hashed with it: the pause is armed. body_hash.c */
enum store_result body_hash(struct flow *flow);
/* Hashes those that wait for it. For struct http_application. */
void body_hash_round(void);
/* Content-MD5 and x-ms-content-crc64 of the request against what came. */
enum error intake_check_sums(struct flow *flow);

/* ---- behind the body: after_body.c ---- */

/* State FINISH_BODY. returns PARSED; CORS: refused; WAITING: for the body, or for a pool that gathers or
 * parses */
enum state body_finish(struct flow *flow);

/* ---- the body of an answer: answer_body.c ---- */

/* State BODY: makes the response's body from what the answer is to send.
 * returns RESPOND; WAITING when bytes have to be read first */
enum state answer_body(struct flow *flow);
/* Before it is sent: what it holds is counted, and a read for which there is no memory is ServerBusy. */
void answer_charge_memory(struct flow *flow);
/* Frees what the attempts left behind. */
void answer_drop_scratch(struct flow *flow);

/* ---- routing: route.c ---- */

/* Fills the call from the request: account, names, query, conditions, lease id, version.
 * returns OK or what is wrong with the request (the problem set). */
enum error route_request(struct call *call);
/* Account and names only, of an endpoint without accounts: request_names.h. */
enum error route_names(struct call *call);
/* The same for a part of a batch: account, version and host are those of the batch. A path may begin with
 * the account's name, as in path style, or below it. decision: 61 */
enum error route_part(struct call *part, const struct call *batch);

/* ---- conditional headers: condition_headers.c ---- */

/* Parses them into the call's input.
 * returns  OK, E_InvalidHeaderValue; E_InvalidInput in the Table service */
enum error route_conditions(struct call *call);
/* Adds the rules of the request's version, once that and the operation are known, and refuses dates
 * that cannot be read, unless the operation is a read, which ignores them. decisions: 848, 881
 * returns  OK, E_InvalidHeaderValue */
enum error conditions_of_operation(struct call *call);

/* ---- what a request is about: route_target.c ---- */

/* Whose account, and whether it is a website's. Comes first, and refuses nothing: what its account's
 * CORS rules say of a request is said of refused ones too. returns OK */
enum error route_account(struct call *call);
/* The names below the account. */
enum error route_target(struct call *call);
/* The same of a part of a batch: below the batch's account, whether that is named once more, as in path
 * style, or not: clients of the service, where the host names it, do not. decision: 61 */
enum error route_part_target(struct call *call);

/* ---- who asks: authenticate.c ---- */

/* authenticate() with what the route found, into the call's input. */
enum error route_authenticate(struct call *call);

/* ---- what an account may use: limits.c ---- */

/* One request more of an account with limits; the bytes of its body, where the head says how many, are paid for.
 * returns OK; E_ServerBusyOperations and its kin, the problem says until when */
enum error limits_admit(struct call *call);
/* Is it one of these? */
bool limits_refused(enum error e);
/* State HELD. returns CORS; WAITING */
enum state limits_hold(struct flow *flow);
/* Of one whose operation is known, and who asks. returns OK, E_InsufficientAccountCapacity */
enum error limits_check_capacity(const struct call *call);
/* Of one that makes a container. Thread that may block. returns OK, E_InsufficientAccountContainers, of the store */
enum error limits_check_containers(struct work *work);
/* Of a call with limits that is answered: what was not paid for yet. */
void limits_pay(const struct flow *flow, uint64_t sent, uint64_t now_ns);

/* ---- answers: error_answer.c ---- */

/* Replaces the response by the error's: status, code, and a body with what the problem says. */
void answer_error(struct answer *a, enum error e, const struct problem *problem);
/* x-ms-request-id, x-ms-version, x-ms-client-request-id, Server. */
void answer_common(struct work *work);

/* ---- between authentication and the body: before_body.c ---- */

/* May it be one that is set for the account? */
bool default_version_matters(const struct work *work);
/* State FIND_VERSION. returns FIND_OPERATION; CORS: refused; WAITING */
enum state default_version_find(struct flow *flow);
/* State FIND_OPERATION: finds it, and checks the head. returns FAULT, or as operation_admit() */
enum state operation_find_step(struct flow *flow);
/* State ADMIT. returns WANT_BODY, EARLY_CHECK; CORS: refused; WAITING */
enum state operation_admit(struct flow *flow);
/* State EARLY_CHECK. returns WANT_BODY; EARLY_CHECK: again; CORS: refused; WAITING */
enum state early_check(struct flow *flow);

/* ---- faults that tests ask for: fault.c ---- */

/* State FAULT: finds the fault of a request whose operation is known, and does what comes first of it.
 * returns ADMIT; CUT; CORS: the operation is not done; WAITING */
enum state fault_begin(struct flow *flow);
/* Is the connection to be cut when so many bytes more of the request's body have come? */
bool fault_cuts_body(const struct flow *flow, size_t more);
/* Renders the error that takes the place of the answer. False: there is none. */
bool fault_answer(struct flow *flow);
/* Of an answer that is complete, with a fault. True: the connection is cut before it. */
bool fault_spoils_answer(struct flow *flow);

/* ---- /-/live and /-/ready: health.c ---- */

/* State HEALTH. returns RESPOND, WAITING */
enum state health_find(struct flow *flow);

/* ---- CORS: cors.c ---- */

/* State CORS: which rule the answer follows, if any; it is part of what is seen.
 * returns DURABLE; WAITING */
enum state cors_find(struct flow *flow);
/* After all other headers: those of CORS. */
void cors_answer(struct work *work);

#endif
