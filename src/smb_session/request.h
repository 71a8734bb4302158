/* A request and its states, drawn in README.md. request.c */
#ifndef LAGRA_SMB_SESSION_REQUEST_H
#define LAGRA_SMB_SESSION_REQUEST_H

#include <stddef.h>

#include "service/driver.h"
#include "smb_session/command_row.h"
#include "smb_protocol/status.h"
#include "smb_protocol/wire.h"

struct smb_message;
struct smb_open;
struct smb_session;
struct smb_tree;

enum request_state {
    ADMIT,    /* validation: request_validation.c */
    PACED,    /* delayed by the rate limits of its account */
    BEGIN,    /* row->begin */
    DECIDE,   /* the driver decides and commits (service/driver.h) */
    DECIDED,  /* the decision is committed: row->decided */
    DURABLE,  /* waits until what was read and written is durable */
    ANSWER,   /* writes the response */
    GOING_ON, /* row->go_on */
    HELD,     /* parked until request_wake() */
    AWAITS,   /* like HELD, for a short time: not parked */
    ANSWERED, /* done */
    WAITING,  /* result of a step: continues in request->state after a post */
};

struct smb_request {
    struct smb_message *message;
    struct smb_request *next_woken;
    struct driver driver;
    enum request_state state;
    bool waits; /* must be woken before it resumes */

    struct smb_header header;
    struct bytes bytes; /* from its header to the next one */
    uint64_t began_ns;
    const struct smb_row *row;
    struct smb_session *session; /* held */
    struct smb_tree *tree;       /* held */
    struct smb_open *open;       /* held */
    bool is_in_work;             /* counted in open->in_work */
    bool has_sequence;           /* counted in open->channel */
    uint64_t sequence_change;    /* for channel_sequence_end() */
    bool is_related;
    bool is_signed; /* the request was signed, so the response is */
    bool is_parked; /* interim response sent or due; counted in connection->parked_count */
    bool is_cancelled;
    enum nt_status cancelled_with;
    bool was_paced;             /* delayed by the rate limits of its account */
    bool is_woken;              /* by request_wake() */
    uint64_t async_id;          /* 0 until parked */
    struct decision_pool *pool; /* pool that runs STEP_LOAD; NULL for the service's */
    enum smb_lasting lasting;   /* the row's unless the command changes it */
    bool has_body;              /* writes row->answer even with an error status */
    enum nt_status status;

    /* The decision. */
    struct problem problem;
    struct input input;
    attempt_fn *attempt;
    void *of;
    enum error error;          /* result, valid in DECIDED */
    void *parameters;          /* of the command */
    const struct bytes *names; /* path of a CREATE, for the logs */
    size_t name_count;
    struct decision decision; /* must be last: see struct flow */
};

/* ---- waiting: request_wait.c ---- */

void request_init_pause(struct smb_request *request);
static inline struct smb_request *request_of_driver(struct driver *driver)
{
    return (struct smb_request *)(void *)((char *)driver - offsetof(struct smb_request, driver));
}
/* Suspends the request, whose waiter is registered, until it is woken. Returns WAITING. */
enum request_state request_wait(struct smb_request *request);
/* Runs the step in the pool. Returns WAITING. */
enum request_state request_to_pool(struct smb_request *request,
                                   void (*step)(struct driver *driver));
/* Returns the waiter to register before STEP_WAIT. */
struct waiter *request_arm(struct smb_request *request);
/* Wakes a request in STEP_HOLD or STEP_AWAIT. Called on the owner's thread. */
void request_wake(struct smb_request *request);
/* Ends the request's wait (service/waiting.h) early. Called on the owner's thread. */
void request_hurry(struct smb_request *request);
/* Cancels a request on CANCEL, or at the end of its session, tree or connection. A parked request
 * soon gets STATUS_CANCELLED; others continue. */
void request_cancel(struct smb_request *request, enum nt_status status);
/* Logs the response. log.c */
void smb_log(const struct smb_request *request, enum nt_status status);
/* Counts the request in Storage Analytics if its account has metrics enabled. answered: size of the
 * response */
void smb_count(const struct smb_request *request, enum nt_status status, size_t answered);

/* ---- account limits: account_limits.c ---- */

/* Counts the request. Returns how long it must be delayed, in ns, or 0. */
uint64_t smb_pace(const struct smb_request *request);
/* Counts the size of the response. */
void smb_pay(const struct smb_request *request, size_t answered);
/* Reserves capacity of the account. Returns false if it is exhausted. */
bool smb_may_keep(const struct smb_request *request, uint64_t bytes);
/* Returns whether the account has reached its capacity. */
bool smb_is_full(const struct smb_request *request);
/* Requests a recount of the account's bytes after a decision failed with
 * E_InsufficientAccountCapacity. */
void smb_refused_full(const struct smb_request *request);

/* Sets the status of the response; a command's functions return the result. */
static inline enum smb_step smb_refuse(struct smb_request *request, enum nt_status status)
{
    request->status = status;
    return STEP_ANSWER;
}
/* Starts a decision. of: parameters of the attempt, in the message's arena */
static inline enum smb_step smb_decide(struct smb_request *request, attempt_fn *attempt, void *of)
{
    request->attempt = attempt;
    request->of = of;
    return STEP_DECIDE;
}
static inline struct arena *request_arena(const struct smb_request *request)
{
    return request->decision.arena;
}

#endif
