/* Request processing, top down, from header to response.
 *
 *     admit -> begin -> (decide -> decided) for each step of the command -> durable -> answer
 *
 * These are the states of a request, drawn in README.md. A request that has to wait returns WAITING
 * and enters its state again after a post, so that the connection's thread never blocks. */
#include "smb/dispatch.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"
#include "smb_session/service.h"

#include <assert.h>

#include "file/file.h"
#include "service/waiting.h"

static struct smb_connection *connection_of(const struct smb_request *request)
{
    return request->message->connection;
}

/* ---- BEGIN ---- */

/* Prepares a decision, whose attempts allocate after the parameters in the arena. */
static void prepare(struct smb_request *request)
{
    const struct smb_service *service = connection_of(request)->service;
    struct decision *d = &request->decision;
    uint64_t seen = d->seen;

    driver_begin(&request->driver, d, request->attempt, request->of);
    if (d->store) { /* a further decision of the command: keep the sequence that it depends on */
        deciding_end(d);
        d->seen_before = seen;
        d->attempts = 0;
        d->waits_until = 0;
        d->attempt = arena_mark(d->arena);
        return;
    }
    request->input = (struct input){
        .account =
            request->session ? bytes_from_string(request->session->account) : bytes_of("", 0),
        .identity = { .kind = IDENTITY_ACCOUNT_KEY, .at = clock_wall() },
    };
    *d = (struct decision){
        .service = &file_service,
        .input = &request->input,
        .arena = request->message->arena,
        .store = service->store,
        .access = STORE_NO_WAIT,
        .always_waits = service->options.always_wait,
        .problem = &request->problem,
        .now = clock_now(),
    };
    d->attempt = arena_mark(d->arena);
}

static void load_in_pool(struct driver *driver)
{
    struct smb_request *request = request_of_driver(driver);

    request->row->load(request);
}

/* Returns the state that follows a step of the command. */
static enum request_state after(struct smb_request *request, enum smb_step step)
{
    switch (step) {
    case STEP_DECIDE:
        prepare(request);
        return DECIDE;
    case STEP_HOLD:
        return HELD;
    case STEP_AWAIT:
        return AWAITS;
    case STEP_WAIT:
        request->state = GOING_ON;
        return request_wait(request);
    case STEP_LOAD:
        request->state = GOING_ON;
        return request_to_pool(request, load_in_pool);
    case STEP_GO_ON:
        return GOING_ON;
    case STEP_FAILED:
        if (!request->decision.store)
            prepare(request);
        decision_saw_failure(&request->decision);
        break;
    case STEP_ANSWER:
        break;
    }
    if (!request->decision.store)
        return ANSWER;
    return request->lasting != COMMITTED || request->decision.failed_ns > 0 ? DURABLE : ANSWER;
}

static enum request_state refuse(struct smb_request *request, enum nt_status status)
{
    return after(request, smb_refuse(request, status));
}

static enum request_state admit(struct smb_request *request)
{
    bool breaks = false;
    enum nt_status status = request_admit(request, &breaks);

    if (breaks) {
        smb_break(connection_of(request), "a message that violates the protocol");
        return ANSWERED;
    }
    if (status)
        return refuse(request, status);
    return request->header.command == SMB_CANCEL ? ANSWERED : PACED;
}

/* ---- PACED: the account exceeds its rate ---- */

/* Interval at which a delayed request checks whether its connection has ended. */
#define PACE_MAX_NS UINT64_C(500000000)

/* Returns an error if the session, tree connect or open has ended while the request was delayed. */
static enum nt_status what_ended(const struct smb_request *request)
{
    if (request->session->state != SESSION_VALID)
        return STATUS_USER_SESSION_DELETED;
    if (request->tree && request->tree->ends)
        return STATUS_NETWORK_NAME_DELETED;
    return request->open && !request->open->is_open ? STATUS_FILE_CLOSED : STATUS_SUCCESS;
}

static enum request_state pace(struct smb_request *request)
{
    bool is_free = request->message->is_own || connection_of(request)->ends;
    uint64_t wait_ns = is_free ? 0 : smb_pace(request);
    enum nt_status status;

    if (wait_ns > 0) {
        instant until = clock_now() + (wait_ns < PACE_MAX_NS ? wait_ns : PACE_MAX_NS) / 100 + 1;

        request->was_paced = true;
        if (waiters_delay(until, request_arm(request)))
            return request_wait(request);
    }
    status = request->was_paced ? what_ended(request) : STATUS_SUCCESS;
    return status ? refuse(request, status) : BEGIN;
}

static enum request_state begin(struct smb_request *request)
{
    struct wire_reader r;

    request->lasting = request->row->lasting;
    if (!request->row->begin)
        return refuse(request, STATUS_NOT_SUPPORTED);
    wire_reader_init(&r, request->bytes);
    wire_skip(&r, request->bytes.len > 0 ? SMB_HEADER_SIZE + 2 : 0);
    return after(request, request->row->begin(request, &r));
}

/* ---- DECIDE ---- */

/* Parks the request, which may wait for a long time: sends an interim response and makes it
 * cancellable. Returns STATUS_SUCCESS, or an error if it cannot be parked. ms-smb2: 3.3.4.2 */
static enum nt_status park(struct smb_request *request)
{
    struct smb_connection *connection = connection_of(request);

    if (request->is_parked || request->message->is_own)
        return STATUS_SUCCESS;
    if (request->message->rest.len > 0 && request->row->compounding == LAST)
        return STATUS_INTERNAL_ERROR;
    if (connection->parked_count >= SMB_PARKED_MAX ||
        !account_use_begin(connection->service->uses, request->tree->tree_connect.account,
                           USES_PARKED))
        return STATUS_INSUFFICIENT_RESOURCES;
    connection->parked_count++;
    request->is_parked = true;
    open_ends_work(request);
    request->async_id = ++connection->next_async_id;
    message_interim(request);
    return STATUS_SUCCESS;
}

/* Waits for others unless the wait has timed out. Returns DECIDE to continue at once. */
static enum request_state await_others(struct smb_request *request)
{
    enum nt_status status;

    if (request->is_cancelled)
        return refuse(request, request->cancelled_with);
    if (driver_is_over(&request->driver)) {
        request->driver.state = DRIVE_DECIDE;
        return DECIDE;
    }
    status = park(request);
    if (status)
        return refuse(request, status);
    return driver_wait(&request->driver, request_arm(request)) ? request_wait(request) : DECIDE;
}

static void step_in_pool(struct driver *driver)
{
    driver_step(driver);
}

static enum request_state decide(struct smb_request *request)
{
    struct driver *driver = &request->driver;
    enum drive reached;

    if (driver->state == DRIVE_AWAITED && request->is_cancelled)
        return refuse(request, request->cancelled_with);
    driver->at_leisure = request->lasting == COMMITTED;
    reached = driver_run(driver);
    if (reached == DRIVE_OTHERS)
        return await_others(request);
    if (reached == DRIVE_BLOCKED)
        return request_to_pool(request, step_in_pool);
    assert(driver_is_done(driver));
    request->error = driver->error;
    return DECIDED;
}

/* Lets the command handle the result of its decision. */
static enum request_state conclude(struct smb_request *request)
{
    if (request->row->decided)
        return after(request, request->row->decided(request));
    return refuse(request, nt_status_of(request->error));
}

/* ---- GOING_ON: steps of a command between its decisions ---- */

static enum request_state go_on_with(struct smb_request *request)
{
    return after(request, request->row->go_on(request));
}

/* ---- HELD, AWAITS: woken by request_wake() ---- */

static enum request_state hold(struct smb_request *request)
{
    enum nt_status status = STATUS_SUCCESS;

    if (request->is_woken || request->is_cancelled) {
        request->is_woken = false;
        return GOING_ON;
    }
    deciding_end(&request->decision); /* so that no read view is held while it waits */
    arena_end_decision(request->message->arena);
    if (request->state == HELD)
        status = park(request);
    if (status)
        return refuse(request, status);
    request_arm(request);
    return request_wait(request);
}

/* ---- DURABLE: a crash must not undo what was reported ---- */

static enum request_state become_durable(struct smb_request *request)
{
    struct decision *d = &request->decision;
    uint64_t awaited = request->lasting == LASTING ? d->seen : request->driver.seen;
    enum store_result result = driver_durable(&request->driver, awaited);

    if (result == STORE_WAIT)
        return request_wait(request);
    if (result) {
        request->error = decision_fail_store(d, result);
        request->status = nt_status_of(request->error);
    }
    return ANSWER;
}

/* ---- ANSWER ---- */

static void empty_body(struct smb_request *request, struct wire_writer *w)
{
    (void)request;
    wire_put_u16(w, 4); /* StructureSize */
    wire_put_u16(w, 0);
}

static bool has_body(const struct smb_request *request)
{
    return !nt_status_is_error(request->status) || request->has_body ||
           request->status == STATUS_MORE_PROCESSING_REQUIRED;
}

/* Returns the status with which related requests fail: that of the failed request, unless they have
 * an open to continue with; STATUS_INVALID_PARAMETER if it had no session. ms-smb2: 3.3.5.2.7.2 */
static enum nt_status what_follows(const struct smb_request *request)
{
    if (!nt_status_is_error(request->status) || request->message->open)
        return STATUS_SUCCESS;
    return request->session ? request->status : STATUS_INVALID_PARAMETER;
}

static enum request_state answer(struct smb_request *request)
{
    enum nt_status status = request->status;
    smb_body_fn *body = answer_error_body;

    if (has_body(request))
        body = request->row->answer ? request->row->answer : empty_body;
    message_answer(request, status, body);
    request->message->failed = what_follows(request);
    return ANSWERED;
}

/* ---- state machine ---- */

static enum request_state enter(struct smb_request *request)
{
    switch (request->state) {
    case ADMIT:
        return admit(request);
    case PACED:
        return pace(request);
    case BEGIN:
        return begin(request);
    case DECIDE:
        return decide(request);
    case DECIDED:
        return conclude(request);
    case GOING_ON:
        return go_on_with(request);
    case HELD:
    case AWAITS:
        return hold(request);
    case DURABLE:
        return become_durable(request);
    case ANSWER:
        return answer(request);
    case ANSWERED:
    case WAITING:
        break;
    }
    assert(false); /* never entered */
    return ANSWERED;
}

void request_run(struct smb_request *request)
{
    request->waits = false;
    while (request->state != ANSWERED) {
        enum request_state next = enter(request);

        if (next == WAITING)
            return;
        request->state = next;
    }
    deciding_end(&request->decision);
    if (request->is_parked) {
        account_use_end(connection_of(request)->service->uses, request->tree->tree_connect.account,
                        USES_PARKED);
        connection_of(request)->parked_count--;
        request->is_parked = false;
    }
}

void request_over(struct smb_request *request)
{
    if (request->parameters && request->row->over)
        request->row->over(request);
    request->parameters = NULL;
    deciding_end(&request->decision);
    request->decision.store = NULL;
    open_ends_work(request);
    if (request->has_sequence)
        channel_sequence_end(&request->open->channel, request->sequence_change);
    request->has_sequence = false;
    if (request->open)
        open_release(request->open);
    if (request->tree)
        smb_tree_release(request->tree);
    if (request->session)
        session_release(request->session);
    request->open = NULL;
    request->tree = NULL;
    request->session = NULL;
}
