/* Gathering: see gather.h; and the state after the body. */
#include "request/gather.h"

#include "base/crc.h"
#include "base/episode.h"
#include "base/sleeper.h"
#include "request/request_private.h"
#include "service/customer_key.h"
#include "service/other_cells.h"

#include <assert.h>
#include <stdlib.h>

#define CHUNK_BYTES (512u << 10)

void gather_saw(struct gathering *g, uint64_t sequence)
{
    if (sequence > *g->seen)
        *g->seen = sequence;
}

/* The body while it is filled. */
struct filling {
    struct gathering *g;
    struct gather_source *source;
    struct sleeper sleeper;
    struct text memory; /* before it is staged */
    struct stage *stage;
    size_t block;       /* index of the next block */
    uint64_t block_end; /* position at which the current block ends */
    uint64_t received;
    uint64_t crc64;
};

/* Ends the piece at the end of the current block. */
static void cut_block(struct filling *f)
{
    const struct gather_source *source = f->source;

    while (f->block < source->block_count && f->block_end == f->received) {
        uint64_t length = source->blocks[f->block++];

        f->block_end += length;
        if (length > 0)
            stage_cut(f->stage, length);
    }
}

static enum store_result stage_all(struct filling *f, struct bytes data)
{
    while (data.len > 0) {
        struct bytes part = data;
        enum store_result result;
        size_t taken = 0;

        cut_block(f);
        if (f->block_end > f->received && part.len > f->block_end - f->received)
            part.len = (size_t)(f->block_end - f->received);
        result = stage_write(f->stage, part, sleeper_arm(&f->sleeper), &taken);
        assert(taken <= part.len);
        f->received += taken;
        data = bytes_from(data, taken);
        if (result == STORE_WAIT)
            sleeper_wait(&f->sleeper);
        else if (result)
            return result;
    }
    return STORE_OK;
}

static void open_stage(struct filling *f)
{
    struct gathering *g = f->g;

    f->stage = stage_open(g->endpoint->store, f->source->length);
    assert(!*g->stage);
    *g->stage = f->stage;
    if (g->call->wants_md5)
        stage_want_md5(f->stage);
    if (g->call->input.key)
        stage_encrypt(f->stage, g->call->input.key->key);
}

static enum error take(struct filling *f, struct bytes data)
{
    enum store_result result = STORE_OK;

    assert((f->stage ? f->received : f->memory.len) <= f->source->max);
    if (data.len > f->source->max - (f->stage ? f->received : f->memory.len))
        return E_RequestBodyTooLarge;
    if (f->g->call->wants_crc64)
        f->crc64 = crc64(f->crc64, data.ptr, data.len);
    if (!f->stage && f->memory.len + data.len <= f->g->call->inline_max) {
        text_add(&f->memory, data);
        return OK;
    }
    if (!f->stage) {
        open_stage(f);
        result = stage_all(f, text_bytes(&f->memory));
    }
    if (!result)
        result = stage_all(f, data);
    return result ? decision_fail_store(f->g->decision, result) : OK;
}

static enum error read_all(struct filling *f, char *buffer)
{
    size_t count = 0;
    enum error e;

    do {
        e = f->source->read(f->source, buffer, CHUNK_BYTES, &count);
        assert(e || count <= CHUNK_BYTES);
        if (!e && count > 0)
            e = take(f, bytes_of(buffer, count));
    } while (!e && count > 0);
    return e;
}

static enum store_result finish_stage(struct filling *f)
{
    enum store_result result;

    while ((result = stage_finish(f->stage, sleeper_arm(&f->sleeper))) == STORE_WAIT)
        sleeper_wait(&f->sleeper);
    return result;
}

static enum error finish(struct filling *f)
{
    struct call *call = f->g->call;
    struct body *body = &call->input.body;
    enum store_result result = STORE_OK;

    if (f->stage) {
        result = finish_stage(f);
        if (result)
            return decision_fail_store(f->g->decision, result);
        body->stage = f->stage;
        body->pieces = stage_pieces(f->stage, &body->piece_count);
        body->length = f->received;
        if (call->wants_md5)
            stage_md5(f->stage, body->md5);
    } else {
        body->inline_bytes = text_bytes(&f->memory);
        body->length = f->memory.len;
        if (call->wants_md5)
            md5_of(body->inline_bytes, body->md5);
    }
    body->crc64 = f->crc64;
    return OK;
}

enum error gather_body(struct gathering *g, struct gather_source *source)
{
    struct filling f = { .g = g, .source = source };
    bool known = source->length != HTTP_LENGTH_UNKNOWN;
    char *buffer;
    enum error e;

    if (known && source->length > source->max)
        return E_RequestBodyTooLarge;
    text_init(&f.memory, g->call->arena,
              known && source->length <= g->call->inline_max ? (size_t)source->length : 0);
    buffer = xcalloc(1, CHUNK_BYTES);
    sleeper_init(&f.sleeper);
    e = read_all(&f, buffer);
    if (!e)
        e = finish(&f);
    sleeper_release(&f.sleeper);
    free(buffer);
    return e;
}

/* State FINISH_BODY, after the complete body has arrived. Makes the body durable before the
 * decision, gathers data that it only refers to, and parses it. */

/* Larger bodies are parsed in the pool. A list of 50,000 blocks takes longer than other requests
 * should wait for a worker. */
#define PARSED_BY_WORKER_MAX (64u << 10)

static enum state parse(struct flow *flow)
{
    prepare_body(&flow->work.call, &flow->work.decision);
    return PARSED;
}

/* Maximum number of requests that wait for a gathering thread. One account can have half of them,
 * and a third of those for one source. Further requests fail with ServerBusy. */
#define GATHERS_WAITING_MAX 512

enum state flow_to_gather_pool(struct flow *flow, state_fn *step, state_fn *refused)
{
    const struct endpoint *endpoint = flow->work.call.endpoint;
    struct decision_pool *pool = endpoint->gather_pool ? endpoint->gather_pool : endpoint->pool;

    if (!decision_pool_has_capacity(pool, &flow->driver.job.owner, GATHERS_WAITING_MAX)) {
        episode_refused(EPISODE_GATHER);
        return refused(flow);
    }
    flow->state = POOLED;
    flow_run_in(flow, pool, step);
    return WAITING;
}

static enum state refuse(struct flow *flow, enum error e)
{
    assert(e != OK && !decision_is_unfinished(e));
    flow->work.error = e;
    return CORS;
}

/* Runs the operation's gather function, on a thread that may block for a long time. */
static enum state gather(struct flow *flow)
{
    struct call *call = &flow->work.call;
    enum error e = other_cells_matter(call)
                       ? other_cells_fetch(call)
                       : prepare_gather(call, &flow->work.decision, &flow->intake.stage);

    return e ? refuse(flow, e) : parse(flow);
}

static enum state refuse_gather(struct flow *flow)
{
    return refuse(flow, E_ServerBusy);
}

static enum state gather_in_pool(struct flow *flow)
{
    flow->driver.job.owner = flow->work.call.gathers_for;
    return flow_to_gather_pool(flow, gather, refuse_gather);
}

enum state body_finish(struct flow *flow)
{
    enum store_result result = intake_finish(flow);
    enum error e;

    assert(flow->state == FINISH_BODY && flow->work.call.operation);
    if (result == STORE_WAIT) {
        return flow_wait(flow);
    }
    if (result)
        return refuse(flow, decision_fail_store(&flow->work.decision, result));
    e = intake_check_sums(flow);
    if (e)
        return refuse(flow, e);
    if (other_cells_matter(&flow->work.call))
        flow->work.call.gathers_for.account = pool_owner_number(0, flow->work.call.account_name);
    if (other_cells_matter(&flow->work.call) || flow->work.call.operation->functions->gather)
        return gather_in_pool(flow);
    if (flow->work.call.operation->functions->parse &&
        flow->work.call.input.body.length > PARSED_BY_WORKER_MAX)
        return flow_to_pool(flow, parse);
    return parse(flow);
}
