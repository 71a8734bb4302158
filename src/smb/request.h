/* Inside smb/ only: a request on its way, whose states README.md draws. request.c */
#ifndef LAGRA_SMB_REQUEST_H
#define LAGRA_SMB_REQUEST_H

#include <stddef.h>

#include "service/driver.h"
#include "smb/commands.h"
#include "smb/status.h"
#include "smb/wire.h"

struct smb_message;
struct smb_open;
struct smb_session;
struct smb_tree;

enum request_state {
    ADMIT,    /* what every command needs: admit.c */
    PACED,    /* waits until the rates of its account allow it */
    BEGIN,    /* its own function reads it */
    DECIDE,   /* the driver decides and commits (service/driver.h) */
    DECIDED,  /* or committed: the command goes on, or is done */
    DURABLE,  /* wait until what was seen and done is on disk */
    ANSWER,   /* write the body */
    GOING_ON, /* the command has a step of its own */
    HELD,     /* it waits for something in this process, which wakes it: parked */
    AWAITS,   /* the same, for so short a time that it is not parked */
    ANSWERED, /* it is over */
    WAITING,  /* only as a step's result: woken by a post; request->state is entered again */
};

struct smb_request {
    struct smb_message *message;
    struct smb_request *next_woken;
    struct driver driver;
    enum request_state state;
    bool waits; /* it is woken before it goes on */

    struct smb_header header;
    struct bytes bytes; /* from its header to the next one's */
    uint64_t began_ns;
    const struct smb_row *row;
    struct smb_session *session; /* held */
    struct smb_tree *tree;       /* held */
    struct smb_open *open;       /* held */
    bool is_in_work;             /* counts as one of open->in_work */
    bool has_sequence;           /* counts in open->channel */
    uint64_t sequence_change;    /* for channel_sequence_end() */
    bool is_related;
    bool is_signed; /* the request was: so is the answer */
    bool
        is_parked; /* an interim answer was sent, or is due: counts as one of connection->parked_count */
    bool is_cancelled;
    enum nt_status cancelled_with;
    bool was_paced;           /* waited for the rate of its account */
    bool is_woken;            /* by request_wake() */
    uint64_t async_id;        /* once parked */
    enum smb_lasting lasting; /* the row's, unless it asks for more */
    bool has_body;            /* with an error, too */
    enum nt_status status;

    /* Of one that decides. */
    struct problem problem;
    struct input input;
    attempt_fn *attempt;
    void *of;
    enum error error;         /* of the newest decision, once DECIDED */
    void *parameters;         /* the command's own */
    struct decision decision; /* the last: see struct flow */
};

/* Begins or goes on, until it is answered or waits. */
void request_run(struct smb_request *request);

/* ---- how it waits: request_wait.c ---- */

void request_init_pause(struct smb_request *request);
static inline struct smb_request *request_of_driver(struct driver *driver)
{
    return (struct smb_request *)(void *)((char *)driver - offsetof(struct smb_request, driver));
}
/* After the waiter was kept: until it is woken. returns WAITING */
enum request_state request_wait(struct smb_request *request);
/* Runs the step in the pool. returns WAITING */
enum request_state request_to_pool(struct smb_request *request,
                                   void (*step)(struct driver *driver));
/* The waiter for whatever wakes it: before STEP_WAIT. */
struct waiter *request_arm(struct smb_request *request);
/* Wakes one after STEP_HOLD or STEP_AWAIT. Owner's thread. */
void request_wake(struct smb_request *request);
/* One that waits in service/waiting.h goes on now. Owner's thread. */
void request_hurry(struct smb_request *request);
/* CANCEL, or its session, tree or connection ends: one that is parked is answered with STATUS_CANCELLED soon;
 * others go on. */
void request_cancel(struct smb_request *request, enum nt_status status);
/* Releases what it holds. */
void request_over(struct smb_request *request);
/* It is answered so: to the logs that want it. log.c */
void smb_log(const struct smb_request *request, enum nt_status status);
/* The same to Storage Analytics, where its account asked for metrics. answered: bytes of the answer */
void smb_count(const struct smb_request *request, enum nt_status status, size_t answered);

/* ---- limits of its account: account_limits.c ---- */

/* Counts the request. Returns 0, or how long it has to wait before it may ask again, in ns. */
uint64_t smb_pace(const struct smb_request *request);
/* Counts the bytes of its response. */
void smb_pay(const struct smb_request *request, size_t answered);
/* Returns whether the account has room for the bytes, and counts them if so. */
bool smb_may_keep(const struct smb_request *request, uint64_t bytes);
/* Returns whether the account has reached its capacity. */
bool smb_is_full(const struct smb_request *request);
/* Requests a new count of the account's bytes, after a decision failed with E_InsufficientAccountCapacity. */
void smb_refused_full(const struct smb_request *request);

/* What a command's functions return. */
static inline enum smb_step smb_refuse(struct smb_request *request, enum nt_status status)
{
    request->status = status;
    return STEP_ANSWER;
}
/* Decides next: the attempt, on parameters that lie in the message's arena. */
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

/* ---- admission: admit.c ---- */

/* returns STATUS_SUCCESS, or what it is refused with. A compound's first failure counts for those related to
 * it. *ret_breaks: the connection is to be closed, without an answer */
enum nt_status request_admit(struct smb_request *request, bool *ret_breaks);

/* The file that a request names at an offset in its body, or the one that goes on in a compound: request->open.
 * returns STATUS_SUCCESS, STATUS_FILE_CLOSED, STATUS_INVALID_PARAMETER */
enum nt_status request_find_open(struct smb_request *request, size_t file_at);

#endif
