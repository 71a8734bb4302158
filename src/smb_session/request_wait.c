/* Requests that wait: without a thread until they are posted, or in the pool for a step that may
 * block. */
#include "smb_session/message.h"
#include "smb_session/service.h"
#include "smb_session/sessions.h"

#include "service/waiting.h"

static struct smb_connection *connection_of(const struct smb_request *request)
{
    return request->message->connection;
}

static void wake(struct waiter *waiter)
{
    struct pause *pause = (struct pause *)(void *)waiter;
    struct smb_request *request =
        (struct smb_request *)(void *)((char *)pause - offsetof(struct smb_request, driver.pause));
    struct smb_connection *connection = connection_of(request);

    /* The owner may resume and free the request as soon as the pause has ended or it is posted. */
    atomic_fetch_add(&connection->posters, 1);
    if (pause_end(pause))
        smb_post(connection, request);
    atomic_fetch_sub(&connection->posters, 1);
}

void request_init_pause(struct smb_request *request)
{
    pause_init(&request->driver.pause, wake);
    request->driver.decision = &request->decision;
}

struct waiter *request_arm(struct smb_request *request)
{
    return pause_arm(&request->driver.pause);
}

enum request_state request_wait(struct smb_request *request)
{
    request->waits = true;
    if (pause_begin(&request->driver.pause))
        smb_post(connection_of(request), request);
    return WAITING;
}

enum request_state request_to_pool(struct smb_request *request, void (*step)(struct driver *driver))
{
    if (request->session)
        request->driver.job.owner.account =
            pool_owner_number(0, bytes_from_string(request->session->account));
    driver_run_in(&request->driver,
                  request->pool ? request->pool : connection_of(request)->service->pool, step);
    return request_wait(request);
}

/* ---- waking ---- */

void request_wake(struct smb_request *request)
{
    request->is_woken = true;
    if (request->waits && (request->state == HELD || request->state == AWAITS))
        pause_wake(&request->driver.pause);
}

void request_hurry(struct smb_request *request)
{
    if (request->waits && waiters_remove(&request->driver.pause.waiter))
        pause_wake(&request->driver.pause);
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
        (request->driver.state == DRIVE_AWAITED && waiters_remove(&request->driver.pause.waiter)))
        pause_wake(&request->driver.pause);
}
