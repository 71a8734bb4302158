/* The lifetime of an exchange: start, end, memory and pauses. Its steps are in exchange.c. */
#include "http/http_private.h"

#include <assert.h>

#include "base/memory_budget.h"
#include "http/forwarded.h"
#include "http/tokens.h"

#define EXCHANGE_MAGIC    0x6C786368u
/* The memory budget allows no more */
#define ARENA_LIMIT_BYTES (MEMORY_BUDGET_BYTES + MEMORY_LARGE_BYTES)

static struct live *live_of(struct exchange *exchange)
{
    assert(exchange->magic == EXCHANGE_MAGIC);
    return (struct live *)(void *)exchange;
}

void assert_live(const struct live *live)
{
    assert(live->exchange.magic == EXCHANGE_MAGIC && live->exchange.arena);
    assert(live->connection && live->connection->live == live);
    assert(!live->block || live->block_at <= live->block_size);
    assert(live->stage == STAGE_HEAD || live->known || live->closes);
}

/* ---- pause ---- */

void exchange_suspend(struct exchange *exchange)
{
    struct live *live = live_of(exchange);
    bool was_suspended = atomic_exchange_explicit(&live->suspended, true, memory_order_relaxed);

    assert(!was_suspended && !live->connection->is_paused);
    connection_pauses(&live->connection->net);
    live->connection->is_paused = true;
}

void exchange_resume(struct exchange *exchange)
{
    struct live *live = live_of(exchange);
    struct http_connection *connection = live->connection;
    bool was_suspended = atomic_exchange_explicit(&live->suspended, false, memory_order_relaxed);

    assert(was_suspended);
    /* Start the clock for the client's body, since no received byte may wake the worker. */
    if (live->stage == STAGE_BODY)
        connection_resumes_body(&connection->net);
    connection_post(&connection->net);
}

void exchange_authenticate(struct exchange *exchange)
{
    connection_trust(&live_of(exchange)->connection->net);
}

void exchange_serves_for(struct exchange *exchange, const void *whose)
{
    struct live *live = live_of(exchange);

    connection_serves_for(&live->connection->net, whose);
    arena_charge_to(exchange->arena,
                    (struct memory_holder){ .account = memory_share_of_account(whose),
                                            .client = memory_share_of_client(live->connection) });
}

bool exchange_take_file(struct exchange *exchange)
{
    struct live *live = live_of(exchange);
    struct http_server *server = live->connection->server;

    if (live->has_file)
        return true;
    if (atomic_fetch_add(&server->answer_files, 1) < server->limits.answer_files_max) {
        live->has_file = true;
        return true;
    }
    atomic_fetch_sub(&server->answer_files, 1);
    return false;
}

void exchange_cut_behind(struct exchange *exchange)
{
    live_of(exchange)->is_cut_behind = true;
}

struct exchange_sent exchange_sent(const struct exchange *exchange)
{
    const struct live *live = (const struct live *)(const void *)exchange;

    assert(exchange->magic == EXCHANGE_MAGIC);
    return (struct exchange_sent){
        .body_bytes = exchange->response.described_length > 0 ? live->passed_on : live->sent,
        .head_bytes = live->head_bytes,
        .is_whole = live->is_sent,
    };
}

struct connection *exchange_connection(struct exchange *exchange)
{
    return &live_of(exchange)->connection->net;
}

void exchange_end_body(struct exchange *exchange, enum http_step step)
{
    struct live *live = live_of(exchange);

    assert(live->stage == STAGE_BODY && !live->connection->is_paused);
    assert(step == HTTP_RESPOND || step == HTTP_CUT);
    live->is_early = true;
    live->early_step = step;
    connection_wake(&live->connection->net);
}

/* ---- memory ---- */

bool live_charge(struct live *live)
{
    size_t unread = input_bytes(&live->connection->net.input).len;

    if (unread <= ARENA_FREE_BYTES || unread <= live->charged)
        return !arena_is_exhausted(live->exchange.arena);
    if (!memory_budget_charge(live->holder, MEMORY_REQUEST, unread - live->charged)) {
        memory_budget_refused();
        return false;
    }
    live->charged = unread;
    return !arena_is_exhausted(live->exchange.arena);
}

/* Returns true if the body is independent of other memory in the arena, unlike a file or source. */
static bool has_own_body(const struct response *response)
{
    return response->body_kind == BODY_NONE || response->body_kind == BODY_BYTES;
}

bool exchange_charge(struct exchange *exchange, const struct arena_mark *scratch)
{
    const struct response *response = &exchange->response;

    return scratch && has_own_body(response)
               ? arena_end_decision_except(exchange->arena, *scratch, response->body)
               : arena_end_decision(exchange->arena);
}

void exchange_drop_scratch(struct exchange *exchange, struct arena_mark mark)
{
    struct response *response = &exchange->response;
    struct arena *kept;

    if (arena_held(exchange->arena) <= ARENA_FREE_BYTES || !has_own_body(response))
        return;
    kept = arena_new(ARENA_LIMIT_BYTES);
    response_copy_headers(response, kept);
    arena_rewind_except(exchange->arena, mark, response->body);
    response_copy_headers(response, exchange->arena);
    arena_free(kept);
}

/* ---- begin and end ---- */

/* Takes an arena of an ended exchange from the worker's stack, if there is one: cheaper than
 * malloc(), and warm in its caches. */
static struct arena *take_arena(struct http_worker *worker)
{
    return worker->spare_count > 0 ? worker->spares[--worker->spare_count]
                                   : arena_new_charged(ARENA_LIMIT_BYTES, MEMORY_REQUEST);
}

/* Returns an arena to the worker. fresh: mark of the empty arena. */
static void give_arena(struct http_worker *worker, struct arena *arena, struct arena_mark fresh)
{
    assert(worker->spare_count <= WORKER_SPARES);
    if (worker->spare_count == WORKER_SPARES || arena_holds_secret(arena)) {
        arena_free(arena);
        return;
    }
    arena_rewind(arena, fresh);
    arena_end_decision(arena);
    worker->spares[worker->spare_count++] = arena;
}

struct live *exchange_begin(struct http_connection *connection)
{
    struct arena *arena = take_arena(connection->worker);
    struct arena_mark fresh = arena_mark(arena);
    struct live *live = arena_alloc(arena, sizeof *live);
    struct request *request = &live->exchange.request;

    assert(!connection->live && !connection->is_paused);
    live->exchange.magic = EXCHANGE_MAGIC;
    live->exchange.arena = arena;
    live->exchange.server_is_busy = connection->net.refused;
    live->closes = connection->net.refused;
    live->fresh = fresh;
    live->connection = connection;
    live->holder.client = memory_share_of_client(connection);
    arena_charge_to(arena, live->holder);
    request->peer = bytes_from_string(connection->net.peer);
    request->is_forwarded = connection->net.is_forwarded;
    request->secure = connection->net.tls || connection->net.is_forwarded_tls;
    request->listener_tag = connection->server->tag;
    response_init(&live->exchange.response, arena);
    connection->live = live;
    connection_is_ours(&connection->net);
    assert_live(live);
    return live;
}

/* ---- behind a proxy ---- */

/* Sets the client's address and counts it towards the limit per address. address: NULL if
 * unknown. */
static void serve_client(struct live *live, const uint8_t *address, uint16_t port)
{
    struct request *request = &live->exchange.request;
    char peer[ADDRESS_TEXT_MAX] = "unknown:0";

    if (address)
        address_write(address, port, peer);
    request->peer = arena_copy(live->exchange.arena, bytes_from_string(peer));
    if (address && !connection_serves(&live->connection->net, address))
        live->exchange.server_is_busy = true;
}

int live_read_forwarded(struct live *live)
{
    struct connection *connection = &live->connection->net;
    struct request *request = &live->exchange.request;
    struct forwarded forwarded;
    int refusal;

    if (!connection->speaks_for_others || !request->is_forwarded)
        return 0;
    refusal = forwarded_read(request, &connection_proxies(connection)->trusted, &forwarded);
    if (refusal != 0)
        return refusal;
    /* Never fall back to properties of the proxy's own connection. */
    request->secure = forwarded.is_tls;
    if (forwarded.host.ptr)
        request->authority = forwarded.host;
    if (forwarded.has_client)
        serve_client(live, forwarded.client_is_known ? forwarded.client : NULL, forwarded.port);
    return 0;
}

int live_read_introduction(struct live *live)
{
    struct exchange *exchange = &live->exchange;
    struct request *request = &exchange->request;
    struct http_introduction said;

    if (live->connection->server->application->introduce(exchange->introduction, &said) !=
        INTRODUCTION_WHOLE)
        return 400;
    request->via = bytes_from_string(live->connection->net.peer);
    request->secure = said.is_tls;
    request->is_forwarded |= said.is_forwarded;
    request->placement = said.placement;
    request->takes_pieces = said.takes_pieces;
    request->id = said.request;
    live->is_announced = said.expects;
    if (said.authority.ptr && !http_is_host(said.authority))
        return 400;
    if (said.authority.ptr)
        request->authority = said.authority;
    serve_client(live, said.client_is_known ? said.client : NULL, said.port);
    return 0;
}

void exchange_over(struct http_connection *connection)
{
    struct live *live = connection->live;

    if (!live)
        return;
    assert_live(live);
    assert(!connection->is_paused);
    if (live->known)
        live_application(live)->done(&live->exchange);
    if (live->exchange.counted_in)
        atomic_fetch_sub(live->exchange.counted_in, 1);
    answer_over(live);
    connection_served(&connection->net);
    assert(!live->has_file && !live->block);
    connection->live = NULL;
    connection_awaits_request(&connection->net);
    memory_budget_release(live->holder, MEMORY_REQUEST, live->charged);
    live->exchange.magic = 0;
    give_arena(connection->worker, live->exchange.arena, live->fresh);
}
