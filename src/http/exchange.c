/* The way of an exchange: MHD's calls turned into the application's.
 *
 *   exchange_begin   request line seen (MHD's URI callback)           -> STAGE_BEGUN
 *   exchange_step    head complete                                    -> head()
 *                    a run of body bytes, as often as there are any   -> body()
 *                    request complete                                 -> end(), then the answer
 *   exchange_over    answered, or the connection is gone              -> done()
 *
 * MHD closes a connection whose answer is queued before the request was read to its end. So an
 * answer is queued in the call that comes after the last byte, also for requests without a body;
 * the exceptions are refusals of a malformed head and of an Expect: 100-continue, where closing is
 * right because what the client sends next cannot be known.
 *
 * Pausing. Only the worker moves a connection into and out of MHD's list of suspended ones, so
 * MHD's own word for it (exchange_is_paused) cannot change under the worker's feet; a resume only
 * asks for it. MHD may call once more for data it already holds (chunked bodies) while the
 * connection is suspended: such a call is turned away (private invariant 3).
 *
 * Half-closed clients. A client may close its side once it has sent its request (rfc: 9112 9.6),
 * and is owed the answer. MHD 0.9.75 reads first after a resume, and closes the connection at an
 * end of the stream, whatever it still has to do with what it read before. But connections with a
 * timeout of their own it looks after before any reading. So a paused connection gets one, until
 * the call after the resume.
 *
 * After MHD_resume_connection() the worker may end the exchange at any time, so the resumer touches
 * nothing but the server after it, and http_stop() waits for the resumers.
 */
#include "http/http_private.h"

#include <assert.h>

#include "base/memory_budget.h"

#define EXCHANGE_MAGIC  0x6C786368u
/* Finds bugs, limits nothing that is asked for: the block list of a blob of 1 TiB takes 300 MB. */
#define ARENA_CAP_BYTES ((size_t)4 << 30)

static struct live *live_of(struct exchange *exchange)
{
    assert(exchange->magic == EXCHANGE_MAGIC);
    return (struct live *)(void *)exchange;
}

/* ---- pause ---- */

bool exchange_is_paused(const struct live *live)
{
    return MHD_get_connection_info(live->mhd, MHD_CONNECTION_INFO_CONNECTION_SUSPENDED)
               ->suspended == MHD_YES;
}

static void set_timeout(const struct live *live, unsigned seconds)
{
    enum MHD_Result set =
        MHD_set_connection_option(live->mhd, MHD_CONNECTION_OPTION_TIMEOUT, seconds);

    assert(set == MHD_YES);
}

void exchange_suspend(struct exchange *exchange)
{
    struct live *live = live_of(exchange);
    bool was_suspended = atomic_exchange_explicit(&live->suspended, true, memory_order_relaxed);

    assert(!was_suspended);
    connection_pauses(live->connection);
    MHD_suspend_connection(live->mhd);
    if (live->stage < STAGE_QUEUED) {
        live->goes_first = true;
        set_timeout(live, server_timeout_s(&live->connection->server->limits) + 1);
    }
}

void exchange_resume(struct exchange *exchange)
{
    struct live *live = live_of(exchange);
    struct http_server *server = live->connection->server;
    bool was_suspended = atomic_exchange_explicit(&live->suspended, false, memory_order_relaxed);

    assert(was_suspended);
    /* From now on bytes are owed, even if none come to tell exchange_step() of it. The worker
     * leaves the connection alone until it is resumed below. */
    if (live->stage == STAGE_BODY)
        connection_resumes_body(live->connection);
    atomic_fetch_add(&server->resumers, 1);
    MHD_resume_connection(live->mhd);
    atomic_fetch_sub(&server->resumers, 1);
}

void exchange_trust(struct exchange *exchange)
{
    connection_trust(live_of(exchange)->connection);
}

/* ---- memory ---- */

bool exchange_charge(struct exchange *exchange)
{
    struct live *live = live_of(exchange);
    size_t held = arena_held(exchange->arena);

    if (held <= MEMORY_FREE_BYTES || held <= live->charged)
        return true;
    if (!memory_budget_charge(held - live->charged))
        return false;
    live->charged = held;
    return true;
}

void exchange_drop_scratch(struct exchange *exchange, struct arena_mark mark)
{
    struct live *live = live_of(exchange);
    struct response *response = &exchange->response;
    struct arena *kept;
    size_t held;

    if (arena_held(exchange->arena) <= MEMORY_FREE_BYTES || response->body_kind != BODY_BYTES)
        return;
    kept = arena_new(ARENA_CAP_BYTES);
    response_copy_headers(response, kept);
    arena_rewind_except(exchange->arena, mark, response->body);
    response_copy_headers(response, exchange->arena);
    arena_free(kept);
    held = arena_held(exchange->arena);
    if (held < live->charged) {
        memory_budget_release(live->charged - held);
        live->charged = held;
    }
}

/* ---- begin and end ---- */

/* A worker keeps a few arenas of ended exchanges for the next ones, the last used first: cheaper
 * than malloc, and warm in its caches. */
static struct arena *take_arena(struct worker *worker)
{
    return worker->spare_count > 0 ? worker->spares[--worker->spare_count]
                                   : arena_new(ARENA_CAP_BYTES);
}

/* fresh: what arena_mark() said of it when it was taken. */
static void give_arena(struct worker *worker, struct arena *arena, struct arena_mark fresh)
{
    if (worker->spare_count == WORKER_SPARES) {
        arena_free(arena);
        return;
    }
    arena_rewind(arena, fresh);
    worker->spares[worker->spare_count++] = arena;
}

/* Spares MHD the query: it would split it into parts that nobody reads, and when those outgrow the
 * connection's memory, MHD queues a refusal but forgets that it did, and the client waits in vain.
 * `target` lies in MHD's buffer, which MHD itself cuts into pieces right after; a NUL after the '?'
 * leaves no parts. */
static void hide_query(const char *target)
{
    char *query = strchr((char *)(uintptr_t)target, '?');

    if (query && query[1] != '\0')
        query[1] = '\0';
}

void *exchange_begin(void *server, const char *target, struct MHD_Connection *mhd)
{
    struct connection *connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct arena *arena = take_arena(connection->worker);
    struct arena_mark fresh = arena_mark(arena);
    struct live *live = arena_alloc(arena, sizeof *live);

    (void)server;
    live->exchange.magic = EXCHANGE_MAGIC;
    live->exchange.arena = arena;
    live->fresh = fresh;
    live->mhd = mhd;
    live->connection = connection;
    live->exchange.server_is_busy = connection->refused;
    live->closes = connection->refused;
    live->target = arena_copy(arena, bytes_from_string(target));
    live->target_end = target + live->target.len;
    hide_query(target);
    response_init(&live->exchange.response, arena);
    return live;
}

void exchange_over(void *server, struct MHD_Connection *mhd, void **state,
                   enum MHD_RequestTerminationCode how)
{
    struct live *live = *state;

    (void)mhd;
    (void)how;
    if (!live)
        return;
    *state = NULL;
    live_of(&live->exchange);
    assert(!exchange_is_paused(live)); /* MHD ends no suspended connection, but when stopped */
    if (live->known)
        ((struct http_server *)server)->application->done(&live->exchange);
    response_over(live);
    connection_awaits_head(live->connection);
    memory_budget_release(live->charged);
    live->exchange.magic = 0;
    give_arena(live->connection->worker, live->exchange.arena, live->fresh);
}

/* ---- steps ---- */

/* The application's answer to head(), body() or end(), turned into what comes next. */
static enum MHD_Result after(struct live *live, enum http_step step, enum stage when_wanting)
{
    assert(exchange_is_paused(live) == (step == HTTP_WAIT));
    switch (step) {
    case HTTP_RESPOND:
        live->stage = STAGE_DISCARD;
        return MHD_YES;
    case HTTP_WANT_BODY:
        assert(when_wanting == STAGE_BODY);
        live->stage = STAGE_BODY;
        return MHD_YES;
    case HTTP_WAIT:
        return MHD_YES;
    case HTTP_CUT:
        return MHD_NO;
    }
    assert(false); /* no such step */
    return MHD_NO;
}

/* Whether an answer has to go before the body is read: what was announced with Expect is then not
 * sent, and what is too long to be thrown away may meet a client that reads while it sends. */
static bool answers_before_body(const struct live *live)
{
    uint64_t length = live->exchange.request.content_length;

    if (live->expects)
        return true;
    return length != HTTP_LENGTH_UNKNOWN &&
           length > live->connection->server->limits.discard_max_bytes;
}

static enum MHD_Result step_head(struct live *live, const struct http_application *application)
{
    enum http_step step;
    enum MHD_Result result;

    live->known = true;
    step = application->head(&live->exchange);
    result = after(live, step, STAGE_BODY);
    if (step == HTTP_RESPOND && answers_before_body(live)) {
        live->closes = true;
        return response_send(live);
    }
    if (step != HTTP_WAIT && live->exchange.request.content_length != 0)
        connection_awaits_body(live->connection);
    return result;
}

/* Throws bytes of a refused body away; cuts the connection when there are too many. */
static enum MHD_Result discard(struct live *live, size_t bytes)
{
    live->discarded += bytes;
    return live->discarded <= live->connection->server->limits.discard_max_bytes ? MHD_YES : MHD_NO;
}

/* Passes all of data to the application, unless it waits or has seen enough. */
static enum MHD_Result step_body(struct live *live, const struct http_application *application,
                                 const char *data, size_t *data_size)
{
    size_t given = 0;
    enum MHD_Result result = MHD_YES;

    while (given < *data_size && live->stage == STAGE_BODY) {
        size_t taken = 0;
        size_t left = *data_size - given;
        enum http_step step =
            application->body(&live->exchange, bytes_of(data + given, left), &taken);

        assert(taken <= left);
        assert(taken > 0 || step != HTTP_WANT_BODY); /* it would never end */
        given += taken;
        result = after(live, step, STAGE_BODY);
        if (step == HTTP_WAIT || result != MHD_YES)
            break;
    }
    if (!exchange_charge(&live->exchange))
        live->exchange.server_is_busy = true;
    if (live->stage == STAGE_DISCARD && result == MHD_YES) {
        result = discard(live, *data_size - given);
        given = *data_size;
    }
    connection_got_body(live->connection, given);
    *data_size -= given;
    return result;
}

static enum MHD_Result step_end(struct live *live, const struct http_application *application)
{
    enum MHD_Result result;

    connection_is_ours(live->connection);
    if (live->stage == STAGE_BODY)
        live->stage = STAGE_END;
    if (live->stage == STAGE_END) {
        result = after(live, application->end(&live->exchange), STAGE_END);
        if (result != MHD_YES || live->stage == STAGE_END)
            return result;
    }
    assert(live->stage == STAGE_DISCARD);
    return response_send(live);
}

enum MHD_Result exchange_step(void *server, struct MHD_Connection *mhd, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **state)
{
    const struct http_application *application = ((struct http_server *)server)->application;
    struct live *live = *state;
    int refusal;

    (void)mhd;
    (void)url;
    live_of(&live->exchange);
    if (exchange_is_paused(live))
        return MHD_YES;
    if (live->goes_first) {
        live->goes_first = false;
        set_timeout(live, server_timeout_s(&live->connection->server->limits));
    }
    if (live->stage == STAGE_BEGUN) {
        connection_is_ours(live->connection);
        refusal = request_read(live, method, version);
        if (refusal != 0)
            return response_refuse(live, refusal);
        live->stage = STAGE_HEAD;
    }
    if (live->stage == STAGE_HEAD)
        return step_head(live, application);
    if (*data_size == 0)
        return step_end(live, application);

    connection_resumes_body(live->connection);
    return step_body(live, application, data, data_size);
}
