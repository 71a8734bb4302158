/* See placement_release.h. */
#include "service/placement_release.h"

#include "base/codec.h"
#include "base/gate.h"
#include "service/deciding.h"
#include "service/driver.h"
#include "service/names.h"
#include "service/server.h"
#include "service/placement.h"
#include "service/placement_private.h"

#define VERSION 1

/* Subject of a request. */
struct about {
    struct bytes service, account, name;
    uint64_t number; /* incarnation; of a claim, the cell */
    enum placement_release release;
    struct placement where; /* of a claim: the cell that has the name */
};

static bool read_about(struct bytes body, struct about *ret_about)
{
    struct decoder in;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return false;
    ret_about->service = decode_bytes(&in);
    ret_about->account = decode_bytes(&in);
    ret_about->name = decode_bytes(&in);
    ret_about->number = decode_u64(&in);
    return decoder_ok(&in) && ret_about->account.len > 0 && ret_about->name.len > 0 &&
           ret_about->number > 0;
}

static struct bytes write_about(const struct about *about, struct arena *arena)
{
    struct text body;

    text_init(&body, arena, PLACEMENT_BODY_MAX);
    encode_u8(&body, VERSION);
    encode_bytes(&body, about->service);
    encode_bytes(&body, about->account);
    encode_bytes(&body, about->name);
    encode_u64(&body, about->number);
    return text_bytes(&body);
}

/* Sends a request to the owner of another cell. Returns the response's status, or 0 on failure. */
static int ask(const struct endpoint *endpoint, uint32_t cell, const char *path,
               const struct about *about, struct arena *arena)
{
    return placement_ask(endpoint, cell, path, write_about(about, arena), arena);
}

/* ---- tasks ---- */

enum store_result placement_check_task(struct decision *d, const struct deferred_task *task,
                                       const struct endpoint *endpoint)
{
    struct about about = { .name = task->partition.key };
    struct placement row;
    enum store_result result = placement_read(d->before, d->arena, &row);

    if (result)
        return result;
    if (!placement_payload_read(task->payload, &about.service, &about.account))
        return STORE_CORRUPT;
    about.number = row.incarnation;
    job_gate_pass(JOB_RELEASES);
    switch (ask(endpoint, row.cell, PLACEMENT_RELEASE_PATH, &about, d->arena)) {
    case 200:
        job_gate_pass(JOB_RELEASED);
        placement_remove(d->changes, &row);
        return STORE_OK;
    case 409:
        return STORE_OK;
    default:
        return STORE_BUSY;
    }
}

enum store_result placement_tell_root_task(struct decision *d, const struct deferred_task *task,
                                           const struct endpoint *endpoint)
{
    struct about about = { .name = task->partition.key, .number = 1 };

    if (!placement_payload_read(task->payload, &about.service, &about.account))
        return STORE_CORRUPT;
    job_gate_pass(JOB_TELLS);
    if (ask(endpoint, CLUSTER_ROOT, PLACEMENT_CHECK_PATH, &about, d->arena) != 200)
        return STORE_BUSY;
    job_gate_pass(JOB_TOLD);
    return STORE_OK;
}

enum store_result placement_forget_release_task(struct decision *d,
                                                const struct deferred_task *task,
                                                const struct endpoint *endpoint)
{
    (void)endpoint;
    return placement_forget_release(d, task->due);
}

/* ---- requests ---- */

/* Decides on the name's partition and waits until the result is durable. Returns a status. */
static int decide(const struct endpoint_set *all, struct about *about, struct arena *arena,
                  attempt_fn *attempt)
{
    const struct endpoint *endpoint = endpoint_find(all, about->service);
    enum error e;

    if (!endpoint)
        return 400;
    e = deciding_run_in(endpoint->store, endpoint->service, arena, attempt, about);
    return e ? 503 : 200;
}

static void open_name(struct decision *d, const struct about *about)
{
    decision_open_subject(d, (struct partition){
                                 .space = account_space(d->service->name, about->account),
                                 .key = about->name,
                             });
    decision_read_clock(d);
}

static enum error attempt_release(struct decision *d, void *of)
{
    struct about *about = of;
    enum store_result result;

    open_name(d, about);
    result = placement_release(d, about->number, &about->release);
    return result ? decision_fail_store(d, result) : OK;
}

int placement_release_serve(void *context, struct bytes body, struct arena *arena,
                            struct text *ret_body)
{
    struct about about = { .number = 0 };
    int status;

    (void)ret_body;
    if (!read_about(body, &about))
        return 400;
    status = decide(context, &about, arena, attempt_release);
    return status == 200 && about.release == PLACEMENT_IN_USE ? 409 : status;
}

static enum error attempt_check(struct decision *d, void *of)
{
    struct about *about = of;
    struct placement row;
    enum store_result result;

    open_name(d, about);
    result = placement_read(d->before, d->arena, &row);
    if (!result)
        changes_defer(d->changes, d->now, TASK_CHECK_PLACEMENT,
                      placement_payload(d->arena, d->service->name, about->account));
    return result && result != STORE_NOT_FOUND ? decision_fail_store(d, result) : OK;
}

int placement_check_serve(void *context, struct bytes body, struct arena *arena,
                          struct text *ret_body)
{
    struct about about = { .number = 0 };

    (void)ret_body;
    return read_about(body, &about) ? decide(context, &about, arena, attempt_check) : 400;
}

/* ---- claims ---- */

/* Claims the name for the cell, unless another cell has it. */
static enum error attempt_claim(struct decision *d, void *of)
{
    struct about *about = of;
    const struct input input = { .account = about->account, .place_in = (uint32_t)about->number };
    struct result result = { .now = 0 };
    bool is_elsewhere;
    enum error e;

    open_name(d, about);
    d->input = &input;
    d->result = &result;
    e = placement_of_new(d, &is_elsewhere);
    if (e == E_MisdirectedRequest)
        about->where = d->problem->elsewhere;
    else if (!e)
        about->where = is_elsewhere ? result.placed : (struct placement){ .cell = CLUSTER_ROOT };
    d->input = NULL;
    d->result = NULL;
    return e == E_MisdirectedRequest ? OK : e;
}

int placement_claim_serve(void *context, struct bytes body, struct arena *arena,
                          struct text *ret_body)
{
    struct about about = { .number = 0 };
    int status;

    if (!read_about(body, &about) || about.number == CLUSTER_ROOT ||
        about.number > PLACEMENT_CELL_MAX)
        return 400;
    status = decide(context, &about, arena, attempt_claim);
    encode_u8(ret_body, VERSION);
    encode_u64(ret_body, about.where.cell);
    encode_u64(ret_body, about.where.incarnation);
    return status;
}

enum error placement_claim(const struct endpoint *endpoint, const struct partition *name,
                           struct bytes account, uint32_t cell, struct arena *arena,
                           struct placement *ret_where)
{
    const struct about about = { .service = bytes_from_string(endpoint->service->name),
                                 .account = account,
                                 .name = name->key,
                                 .number = cell };
    const struct peer_request request = { .cell = CLUSTER_ROOT,
                                          .path = PLACEMENT_CLAIM_PATH,
                                          .body = write_about(&about, arena),
                                          .response_max = PLACEMENT_BODY_MAX,
                                          .is_repeatable = true };
    struct peer_response response;
    struct decoder in;
    uint64_t found;

    if (!endpoint->peers || peer_ask(endpoint->peers, &request, arena, &response) != PEER_OK ||
        response.status == 503)
        return E_ServerBusy;
    decoder_init(&in, response.body);
    if (response.status != 200 || decode_u8(&in) != VERSION)
        return E_InternalError;
    found = decode_u64(&in);
    ret_where->incarnation = decode_u64(&in);
    if (!decoder_ok(&in) || found == 0 || found > PLACEMENT_CELL_MAX)
        return E_InternalError;
    ret_where->cell = (uint32_t)found;
    return ret_where->cell == cell ? OK : E_MisdirectedRequest;
}
