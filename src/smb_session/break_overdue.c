/* Break acknowledgement timer: if the client does not acknowledge a break in time, acknowledges it
 * on the client's behalf and gives up all caching. ms-smb2: 3.3.2.1, 3.3.6.1 */
#include "smb_session/caching.h"

#include "service/waiting.h"

/* Time for a client to acknowledge a break. ms-smb2: 3.3.2.1 */
#define BREAK_ANSWER_S 35u

struct overdue {
    struct smb_caching *caching;
    instant until;
    struct handle_acknowledge acknowledge;
};

/* Returns whether break_await_end() has ended the wait. */
static bool is_ended(const struct smb_request *request)
{
    return !request->open->caching || request->open->caching->overdue != request;
}

/* Waits until the break times out, or until break_await_end(). */
static enum smb_step wait_on(struct smb_request *request, const struct overdue *overdue)
{
    return waiters_delay(overdue->until, request_arm(request))
               ? STEP_WAIT
               : smb_refuse(request, STATUS_SUCCESS);
}

static enum smb_step overdue_begin(struct smb_request *request, struct wire_reader *r)
{
    struct overdue *overdue = arena_alloc(request->message->arena, sizeof *overdue);

    (void)r;
    if (is_ended(request))
        return smb_refuse(request, STATUS_SUCCESS);
    overdue->caching = request->open->caching;
    overdue->until = clock_now() + BREAK_ANSWER_S * TICKS_PER_SECOND;
    request->parameters = overdue;
    return wait_on(request, overdue);
}

static enum smb_step overdue_go_on(struct smb_request *request)
{
    struct overdue *overdue = request->parameters;
    struct smb_caching *caching = overdue->caching;

    if (is_ended(request))
        return smb_refuse(request, STATUS_SUCCESS);
    if (clock_now() < overdue->until)
        return wait_on(request, overdue);
    overdue->acknowledge = (struct handle_acknowledge){
        .tree_connect = &request->tree->tree_connect,
        .node = caching->node,
        .answer = { .key = caching->listener.key, .is_overdue = true, .epoch = caching->epoch },
    };
    return smb_decide(request, handle_acknowledge_attempt, &overdue->acknowledge);
}

static enum smb_step overdue_decided(struct smb_request *request)
{
    const struct overdue *overdue = request->parameters;
    struct smb_caching *caching = overdue->caching;

    if (!is_ended(request)) {
        caching->overdue = NULL;
        caching->is_breaking = false;
        caching->left = 0;
    }
    return smb_refuse(request, STATUS_SUCCESS);
}

static const struct smb_row overdue = {
    .command = SMB_OPLOCK_BREAK,
    .name = "overdue",
    .begin = overdue_begin,
    .decided = overdue_decided,
    .go_on = overdue_go_on,
};

void break_await_end(struct smb_caching *caching)
{
    struct smb_request *request = caching->overdue;

    caching->overdue = NULL;
    if (request)
        request_hurry(request);
}

void break_await(struct smb_open *open)
{
    struct smb_request *request = request_of_own(open, &overdue);

    open->caching->overdue = request;
    smb_run(request);
}
