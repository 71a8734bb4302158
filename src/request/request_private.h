/* Internal to request/: the state of an exchange, and the functions of each file. */
#ifndef LAGRA_REQUEST_REQUEST_PRIVATE_H
#define LAGRA_REQUEST_REQUEST_PRIVATE_H

#include <stdatomic.h>
#include <stddef.h>

#include "properties/cors_rules.h"
#include "service/driver.h"
#include "request/faults.h"
#include "observe/observed_request.h"
#include "request/request.h"

/* Effect of the account's CORS rules on a response. */
struct cors {
    bool enabled;  /* the account has rules that may apply */
    bool has_rule; /* `rule` applies to this request */
    struct cors_rule rule;
    uint64_t seen; /* sequence at which the rules were read, after the commit */
};

/* ---- from an authenticated call to a decision: prepare.c ---- */

/* Initializes the zeroed call and decision. The caller retains ownership of request and problem.
 * The decision must not block. */
void prepare_init(struct call *call, struct decision *d, const struct endpoint *endpoint,
                  struct arena *arena, const struct request *request, struct problem *problem);
/* Makes reads of the secondary endpoint use the secondary's state. Called once the account is
 * known. */
void prepare_secondary(const struct call *call, struct decision *d);
/* Finds the operation and checks the headers; sets d->operation and d->parameters. */
enum error prepare_head(struct call *call, struct decision *d);
/* Lets the operation fetch data that its request refers to. Called once the request body is
 * complete, on a thread that may block.
 *
 * stage  set to the stage of the data; the caller must close it, also after an error */
enum error prepare_gather(struct call *call, struct decision *d, struct stage **stage);
/* Lets the operation parse the complete body. Errors in the body are reported after decide has
 * checked existence, lease and conditions (decision: 2). Each attempt rewinds the arena to this
 * point. */
void prepare_body(struct call *call, struct decision *d);

/* ---- execution of an operation: work.c ---- */

/* An operation from its request to its response, independent of the exchange. Never suspends. */
struct work {
    struct transaction *transaction; /* for an all-or-nothing batch (transaction.c); else NULL */
    struct call call;
    struct problem problem;
    struct logged_part *logged; /* parts of a batch that have a response */
    /* part of a batch that was decided and will be committed with others */
    bool is_grouped;
    bool is_elsewhere; /* part of a batch that the owner of another cell executes */
    enum error error;  /* error instead of a result; OK if none */
    struct cors cors;
    struct answer answer;
    struct decision decision; /* must be last; see struct flow */
};

/* Returns true if the operation must stop at a gate (test builds). */
static inline bool work_is_gated(const struct work *work)
{
#ifdef LAGRA_GATES
    return work->call.gate.action != GATE_PASS;
#else
    (void)work;
    return false;
#endif
}
/* Initializes a zeroed work for a request. */
void work_init(struct work *work, const struct endpoint *endpoint, struct arena *arena,
               const struct request *request, struct response *response);
/* Initializes the work of a part of a batch. The part's request takes the connection's properties
 * from the batch's request. */
void work_init_part(struct work *part, const struct work *whole, struct request *request,
                    struct response *response);
/* Routes a part and finds its operation, which may be NULL. Returns the error of the part. */
enum error work_route_part(struct work *part, const struct call *whole);
/* Moves a part to this arena, authenticates it and checks its headers. Returns the error of the
 * part. */
enum error work_begin_part(struct work *part, struct arena *arena);
/* Renders the response to a part, without the headers of all responses. */
void work_answer_part(struct work *part);
/* Resets the error and calls deciding_check(). */
enum error work_check(struct work *work);
/* Returns true if work_check() and work_find_key() must precede the body, because it may have to be
 * encrypted with the key of a scope. decision: 1424 */
bool call_needs_scope(struct call *call);
/* Finds the key of the encryption scope that work_check() has determined for what the operation
 * writes, if there is one, and lets the body be encrypted with it. Returns OK,
 * E_EncryptionScopeNotAvailable. */
enum error work_find_key(struct work *work);
/* Calls work_check() until it has a result, and then work_find_key(). The decision may block. */
enum error work_check_before_body(struct work *work);

/* ---- request body: body_intake.c ---- */

struct body_intake {
    struct arena_mark before; /* arena position before the first byte */
    bool was_refused;         /* the body was refused before its last byte */
    struct text memory;       /* a small body, or the bytes received before a stage was opened */
    size_t staged_bytes;      /* bytes of `memory` already written to the stage */
    struct stage *stage;
    uint64_t received;
    uint64_t crc64;
    struct structured_reader *structured; /* NULL unless the body is structured */
    bool is_hashed;                       /* by body_hash() */
    enum error failure;                   /* set with BODY_NOT_TAKEN */
};

/* ---- state of an exchange: exchange.c ---- */

struct flow;
struct batch;

/* Next step of an exchange. DECIDE and APPLIED apply to the operation, or to one part of a
 * batch. */
enum state {
    HEALTH,         /* respond to a health request */
    HELD,           /* account exceeds its limits; refuse after a delay */
    FIND_VERSION,   /* find the version of a request without x-ms-version */
    FIND_OPERATION, /* find the operation and check the headers */
    FAULT,          /* apply the part of a test's fault that precedes the operation */
    ADMIT,          /* check the account's limits */
    EARLY_CHECK,    /* refuse early what can be refused without the body */
    WANT_BODY,      /* admitted; receive the body */
    FINISH_BODY,    /* receive the body, make it durable once complete, parse it */
    PARSED,
    BATCH,               /* check, route and admit the operations of a batch */
    BATCH_BEGIN_IN_POOL, /* like BATCH, in the pool, where it may block */
    BATCH_IN_POOL,       /* run the parts in the pool */
    BATCH_ELSEWHERE,     /* send the parts for other cells to their owners */
    PART,                /* select the next part of the batch */
    PART_FOUND,          /* part is authenticated and checked */
    DECIDE,              /* the driver decides and commits (driver.h) */
    DECIDE_IN_POOL,      /* like DECIDE, for long decisions */
    APPLIED,             /* committed */
    PART_DONE,           /* render the part's response */
    BATCH_APPLIED,
    CORS,    /* find the CORS rule for the response */
    DURABLE, /* wait until everything read and changed is durable */
    ANSWER,  /* render the result */
    BODY,    /* prepare to send a blob's bytes */
    RESPOND,
    CUT,     /* close the connection without a response, for a test's fault */
    POOLED,  /* a step runs in the pool, or has completed there */
    WAITING, /* only returned by steps: suspended; the state is entered again */
};

struct flow;
/* A step of an exchange. Returns the next state. */
typedef enum state state_fn(struct flow *flow);

#define FLOW_MAGIC 0x4c574f46u

/* Response body that is read from a blob's content while it is sent. */
struct content_body {
    struct body_source source;
    struct flow *flow;
    struct structured_writer *structured; /* NULL unless the body is structured */
};

/* Response body with a fault: sent slowly or not to its end. */
struct fault_body {
    struct body_source source;
    struct flow *flow;
    struct body_source *inner; /* NULL if the body is `bytes` */
    struct bytes bytes;
    /* number of bytes to send; the connection is closed there if the body is longer */
    uint64_t end;
    uint64_t run_max;   /* maximum number of bytes per read */
    uint64_t run_ticks; /* duration of each read; 0 for no delay */
    instant next;       /* time of the next read */
    bool is_due;        /* a read is due and the inner source waits */
};
struct flow_fault {
    struct fault what;
    bool is_delayed; /* the delay has started or ended */
    struct fault_body body;
};

struct flow {
    unsigned magic;
    struct exchange *exchange;
    struct work *current; /* being decided: `work`, or a part of the batch */
    struct batch *batch;  /* NULL unless the request is a batch */
    struct driver driver; /* for the decision of `current` */
    enum state state;
    bool was_held;    /* see limits.c */
    state_fn *pooled; /* step that runs in the pool */
    enum state pooled_next;
    enum request_stage pooled_stage;
    struct body_intake intake;
    struct content_reader *reader;
    enum store_result map_result; /* result of the last read of the content's map in the pool */
    struct content_body body;
    struct flow_fault *fault; /* NULL if no test requested a fault */
    struct observed_request observed;
    size_t body_read; /* bytes of a small body read into the arena so far */
    char *body_bytes;
    /* what answer_list() has described so far */
    struct text list;
    uint64_t listed;
    unsigned listed_parts;
    bool is_not_listed; /* it cannot be described */
    /* Must be last, like its decision and the parts of that decision. Each request has a flow, but
     * hardly any decision has more than two parts. Zeroing the space for all parts would cost more
     * than they do. */
    struct work work;
};

/* ---- waiting: wait.c ---- */

/* Makes a work (the flow's own, or a part of its batch) the one that the DECIDE states run. */
void flow_set_current(struct flow *flow, struct work *work);
/* Wakes the flow; function of its waiter. */
void flow_wake(struct waiter *waiter);
/* Returns the waiter to pass to a function that may return STORE_WAIT. */
static inline struct waiter *flow_arm(struct flow *flow)
{
    return pause_arm(&flow->driver.pause);
}
/* Suspends the exchange until the waiter is woken. Called on a worker. Returns WAITING. */
enum state flow_wait(struct flow *flow);
/* Returns `next`, or first stops at a gate if the request asked for it (test builds;
 * base/gate.h). */
enum state flow_at_gate(struct flow *flow, enum gate gate, enum state next);
/* Suspends the exchange and runs the step on a thread of the pool, where decisions may block. The
 * step must not suspend. */
void flow_run_in_pool(struct flow *flow, state_fn *step);
/* Like flow_run_in_pool(), in another pool. */
void flow_run_in(struct flow *flow, struct decision_pool *pool, state_fn *step);
/* Like flow_run_in_pool(), from within a step; the result of `step` is the next state. Returns
 * WAITING. */
enum state flow_to_pool(struct flow *flow, state_fn *step);
/* Runs `step` like flow_to_pool(), in the pool for steps that may wait for other machines. The
 * caller has set driver.job.owner. Returns the result of `refused` if too many requests wait for
 * that pool. */
enum state flow_to_gather_pool(struct flow *flow, state_fn *step, state_fn *refused);

/* Suspends the exchange until everything that the response reports is durable: data read, changes
 * committed and the CORS rules. durable.c
 * returns ANSWER, also with an error if the store has failed; WAITING */
enum state durable_await(struct flow *flow);

/* ---- batches of operations: batch.c ---- */

/* Checks the batch, and routes and admits its parts.
 * Returns  BATCH_IN_POOL, PART; BATCH: call again; BATCH_BEGIN_IN_POOL;
 *          BATCH_APPLIED: refused with a batch response; CORS: refused. */
enum state batch_begin(struct flow *flow);
/* Makes the next unfinished part the current one.
 * Returns PART_FOUND; PART_DONE: refused; BATCH_ELSEWHERE: only parts for other cells are left;
 *         BATCH_APPLIED: all parts are done. */
enum state batch_next(struct flow *flow);
/* Sends the parts for other cells to their owners.
 * Returns WAITING; then PART; CUT if it is unknown which of them were executed. */
enum state batch_send(struct flow *flow);
/* Called once the current part was decided in the pool. Adds its changes to the group if they may
 * be committed together. If the part depends on changes of the group, it is decided again.
 * Returns PART; DECIDE: the driver continues with the part. */
enum state batch_part_decided(struct flow *flow, bool has_changes);
/* Renders the response to the current part. Returns PART, or CORS if the batch belongs to another
 * cell. */
enum state batch_part_done(struct flow *flow);
/* Frees the batch, if there is one. */
void batch_free(struct flow *flow);

/* ---- transactions: transaction.c ---- */

/* Checks the batch; routes, checks, parses and admits its parts.
 * Returns DECIDE, DECIDE_IN_POOL; BATCH: call again; BATCH_BEGIN_IN_POOL; CORS: refused. */
enum state transaction_begin(struct flow *flow);
/* Renders the responses to the parts, or only to the part that was refused. */
void transaction_answer(struct work *work);

/* Results of intake_take(). */
enum body_taken {
    BODY_TAKEN,
    BODY_PAUSED,    /* *ret_taken bytes were taken; the pause is armed */
    BODY_TOO_LARGE, /* longer than the operation accepts */
    BODY_NOT_TAKEN, /* the error is in body_intake.failure */
};
void intake_init(struct flow *flow);
enum body_taken intake_take(struct flow *flow, struct bytes data, size_t *ret_taken);
/* Completes the body. Returns STORE_OK once it is durable (or in memory) and call->input.body is
 * complete. */
enum store_result intake_finish(struct flow *flow);
/* Hashes the bodies that wait. Called as http_application.round. */
void body_hash_round(void);
/* Verifies Content-MD5 and x-ms-content-crc64 of the request against the received content, and that
 * a structured body is complete. */
enum error intake_check_sums(struct flow *flow);

/* ---- after the body: gather.c ---- */

/* Runs state FINISH_BODY.
 * Returns PARSED; CORS: refused; WAITING: for the body, or for a pool that gathers or parses. */
enum state body_finish(struct flow *flow);

/* ---- response body: answer_body.c ---- */

/* Bodies up to this size are read before the response headers are sent. */
#define SMALL_BODY_MAX (64u << 10)
/* Runs state BODY: prepares the response's body.
 * Returns RESPOND; WAITING if bytes must be read first. */
enum state answer_body(struct flow *flow);
/* Describes a large body for a front end that reads it from files itself. Called repeatedly until
 * the description is complete, or the body turns out to be one that cannot be described.
 * Returns  LIST_DONE: the response is complete; LIST_NONE: the body must be read; LIST_WAITS: the
 *          flow's reader lacks a part of the map; LIST_FAILED: *ret_result */
enum list_state { LIST_DONE, LIST_NONE, LIST_WAITS, LIST_FAILED };
enum list_state answer_list(struct flow *flow, enum store_result *ret_result);
/* Charges the memory that the response holds to the budget. A read fails with ServerBusy if there
 * is not enough memory. */
void answer_charge_memory(struct flow *flow);
/* Frees memory left over from the attempts. */
void answer_drop_scratch(struct flow *flow);

/* ---- routing: route.c ---- */

/* Fills the call from the request: account, names, query, conditions, lease id, version. Returns OK
 * or the error of the request, with the problem set. */
enum error route_request(struct call *call);
/* Fills in only the account and the names. The endpoint has no accounts; see request.h. */
enum error route_names(struct call *call);
/* Like route_request(), for a part of a batch. Account, version and host are those of the batch.
 * The path may start with the account's name, as in path style, or omit it. decision: 61 */
enum error route_part(struct call *part, const struct call *batch);

/* Parses the conditional headers into the call's input.
 * Returns  OK, E_InvalidHeaderValue; E_InvalidInput in the Table service. */
enum error route_conditions(struct call *call);

/* ---- account and names of a request: route_target.c ---- */

/* Finds the account, and whether the request is for a website. Called first and refuses nothing,
 * because the account's CORS rules also apply to responses of refused requests. Returns OK. */
enum error route_account(struct call *call);
/* Reads the names after the account. */
enum error route_target(struct call *call);
/* Reads the names of a part of a batch. The path may repeat the batch's account, as in path style;
 * clients that have the account in the host name omit it. decision: 61 */
enum error route_part_target(struct call *call);

/* ---- authentication: authenticate.c ---- */

/* Authenticates the request for its target; sets the identity in the call's input. */
enum error route_authenticate(struct call *call);

/* ---- limits of an account: limits.c ---- */

/* Counts a request of an account with limits, and charges the bytes of its body if their number is
 * known from the headers.
 * Returns OK; E_ServerBusyOperations, E_ServerBusyIngress or E_ServerBusyEgress, with retry_after_s
 * in the problem. */
enum error limits_admit(struct call *call);
/* Returns true for the errors that limits_admit() returns. */
bool limits_refused(enum error e);
/* Runs state HELD. Returns CORS; WAITING. */
enum state limits_hold(struct flow *flow);
/* Checks the account's capacity limit, and optionally reserves the bytes of the request. The
 * operation and the caller must be known. Returns OK, E_InsufficientAccountCapacity. */
enum error limits_check_capacity(const struct call *call, bool reserves);
/* Checks the account's limit on containers, for an operation that creates one. May block. Returns
 * OK, E_InsufficientAccountContainers, or an error of the store. */
enum error limits_check_containers(struct work *work);
/* Charges the bytes that were not charged yet. Called for a response to a call with limits. */
void limits_pay(const struct flow *flow, uint64_t sent, uint64_t now_ns);

/* ---- responses: error_answer.c ---- */

/* Replaces the response with the error's: status, code, and a body with the details in the
 * problem. */
void answer_error(struct answer *a, enum error e, const struct problem *problem);
/* Adds x-ms-request-id, x-ms-version, x-ms-client-request-id and Server. */
void answer_common(struct work *work);

/* ---- between authentication and the body: before_body.c ---- */

/* Returns true if the account's default version may apply to the request. */
bool default_version_matters(const struct work *work);
/* Runs state FIND_VERSION. Returns FIND_OPERATION; CORS: refused; WAITING. */
enum state default_version_find(struct flow *flow);
/* Chooses a cell for the container to be created. Only in the root; a name that is placed already
 * stays in its cell. */
void choose_cell(struct call *call);
/* Runs state FIND_OPERATION: finds the operation and checks the headers. Returns FAULT, or a result
 * of operation_admit(). */
enum state operation_find_step(struct flow *flow);
/* Runs state ADMIT. Returns WANT_BODY, EARLY_CHECK; CORS: refused; WAITING. */
enum state operation_admit(struct flow *flow);
/* Runs state EARLY_CHECK. Returns WANT_BODY; EARLY_CHECK: call again; CORS: refused; WAITING. */
enum state early_check(struct flow *flow);

/* ---- faults requested by tests: fault.c ---- */

/* Runs state FAULT: finds the fault of a request whose operation is known, and applies the part
 * that precedes the operation.
 * Returns ADMIT; CUT; CORS: the operation is not executed; WAITING. */
enum state fault_begin(struct flow *flow);
/* Returns true if the connection must be closed once `more` bytes of the request body have
 * arrived. */
bool fault_cuts_body(const struct flow *flow, size_t more);
/* Renders the error that replaces the response. Returns false if no error is to be sent. */
bool fault_answer(struct flow *flow);
/* Applies the fault to a complete response. Returns true if the connection must be closed before it
 * is sent. */
bool fault_spoils_answer(struct flow *flow);

/* ---- /-/live and /-/ready: health.c ---- */

/* Runs state HEALTH. Returns RESPOND, WAITING. */
enum state health_find(struct flow *flow);

/* ---- CORS: cors.c ---- */

/* Runs state CORS: finds the rule for the response, if any. The response also waits until the CORS
 * rules that it used are durable.
 * Returns DURABLE; WAITING. */
enum state cors_find(struct flow *flow);
/* Adds the CORS headers. Called after all other headers were added. */
void cors_answer(struct work *work);

#endif
