/* How a request waits: without a thread, for a post of whoever wakes it; or in the pool, where it may block. */
#include "smb/message.h"
#include "smb/service.h"
#include "smb/sessions.h"

#include "service/waiting.h"

enum { PAUSE_IDLE, PAUSE_SUSPENDED, PAUSE_WOKEN };

static struct smb_connection *connection_of(const struct smb_request *request)
{
    return request->message->connection;
}

static struct smb_request *request_of_waiter(struct waiter *waiter)
{
    return (struct smb_request *)(void *)((char *)waiter -
                                          offsetof(struct smb_request, pause.waiter));
}

static void wake(struct waiter *waiter)
{
    struct smb_request *request = request_of_waiter(waiter);
    struct smb_connection *connection = connection_of(request);

    /* Once it says WOKEN, or is posted, the owner may go on and end all of it: touch nothing after. */
    atomic_fetch_add(&connection->posters, 1);
    if (atomic_exchange(&request->pause.state, PAUSE_WOKEN) == PAUSE_SUSPENDED)
        smb_post(connection, request);
    atomic_fetch_sub(&connection->posters, 1);
}

struct waiter *request_arm(struct smb_request *request)
{
    atomic_store(&request->pause.state, PAUSE_IDLE);
    return &request->pause.waiter;
}

/* After the waiter was kept. */
enum request_state request_wait(struct smb_request *request)
{
    request->waits = true;
    if (atomic_exchange(&request->pause.state, PAUSE_SUSPENDED) == PAUSE_WOKEN)
        smb_post(connection_of(request), request);
    return WAITING;
}

void request_init_pause(struct smb_request *request)
{
    request->pause.waiter.wake = wake;
    atomic_init(&request->pause.state, PAUSE_IDLE);
}

/* ---- a step on a thread of the pool ---- */

static void run_pooled(struct pool_job *job)
{
    struct smb_request *request =
        (struct smb_request *)(void *)((char *)job - offsetof(struct smb_request, job));

    request->decision.access.may_block = true;
    request->pooled_next = request->pooled(request);
    request->decision.access.may_block = false;
    request->pause.waiter.wake(
        &request->pause.waiter); /* the owner has it now: touch nothing after */
}

enum request_state request_to_pool(struct smb_request *request,
                                   enum request_state (*step)(struct smb_request *request))
{
    request->pooled = step;
    request->job = (struct pool_job){ .run = run_pooled };
    if (request->session)
        request->job.owner.account =
            pool_owner_number(0, bytes_from_string(request->session->account));
    request->state = POOLED;
    request_arm(request);
    decide_pool_submit(connection_of(request)->service->pool, &request->job);
    return request_wait(request);
}

/* ---- woken by name ---- */

void request_wake(struct smb_request *request)
{
    request->is_woken = true;
    if (request->waits && (request->state == HELD || request->state == AWAITS))
        wake(&request->pause.waiter);
}

void request_hurry(struct smb_request *request)
{
    if (request->waits && waiting_leave(&request->pause.waiter))
        wake(&request->pause.waiter);
}

void request_cancel(struct smb_request *request, enum nt_status status)
{
    if (!request->is_parked || request->is_cancelled)
        return;
    request->is_cancelled = true;
    request->cancelled_with = status;
    if (!request->waits)
        return;
    if (request->state == HELD ||
        (request->state == OTHERS && waiting_leave(&request->pause.waiter)))
        wake(&request->pause.waiter);
}
