/* See front.h. */
#include "cluster/front.h"

#include <stdio.h>

#include "base/thread.h"
#include "cluster/envelope.h"
#include "cluster/lease.h"
#include "cluster/refusal.h"
#include "cluster/visit.h"
#include "net/connection.h"

#define PATH_LIVE "/-/live"
#define STEP_MS   2u

/* ---- the ports of the services ---- */

static enum http_step tell_owners(struct exchange *exchange, struct front *front)
{
    char status[sizeof front->status];

    lock_acquire(&front->lock);
    memcpy(status, front->status, sizeof status);
    lock_release(&front->lock);
    return refusal_respond(exchange, 503, "text/plain",
                           arena_copy(exchange->arena, bytes_from_string(status)));
}

/* Responds whether all cells are served. */
static enum http_step tell_cluster(struct exchange *exchange, struct front *front)
{
    uint32_t cells[CLUSTER_CELLS_MAX];
    unsigned count = route_unserved(&front->route, cells);
    struct text body;

    if (count == 0)
        return refusal_respond(exchange, 200, "text/plain", bytes_from_string("ready\n"));
    text_init(&body, exchange->arena, 64);
    for (unsigned i = 0; i < count; i++)
        text_printf(&body, "cell %u has no owner that executes requests\n", (unsigned)cells[i]);
    return refusal_respond(exchange, 503, "text/plain", text_bytes(&body));
}

static bool is_get(const struct request *request)
{
    return request->method == METHOD_GET || request->method == METHOD_HEAD;
}

/* Returns true for health checks of this process. */
static bool is_health(const struct request *request)
{
    return is_get(request) &&
           (bytes_is(request->path, PATH_LIVE) || bytes_is(request->path, FORWARD_PATH_READY));
}

static struct forward_to *to_root(struct exchange *exchange)
{
    struct forward_to *to = arena_alloc(exchange->arena, sizeof *to);

    to->cell = CLUSTER_ROOT;
    return to;
}

/* Responds to a health check while the front end serves no cell. */
static enum http_step stand_by_health(struct exchange *exchange, const struct front_door *door)
{
    const struct request *request = &exchange->request;

    if (bytes_is(request->path, PATH_LIVE))
        return refusal_respond(exchange, 200, "text/plain", bytes_from_string("live\n"));
    if (bytes_is(request->query, "cell") || !door->front->forwards)
        return tell_owners(exchange, door->front);
    return forward_head(exchange, &door->forwarding, to_root(exchange));
}

static enum http_step execute(struct exchange *exchange, const struct front_door *door)
{
    exchange_answers_by(exchange, door->front->tenure);
    return exchange_pass_on(exchange, door->application, door->tag);
}

/* Responds to a health check. */
static enum http_step check_health(struct exchange *exchange, const struct front_door *door,
                                   bool serves)
{
    if (serves)
        exchange_answers_by(exchange, door->front->tenure);
    if (bytes_is(exchange->request.path, FORWARD_PATH_READY) &&
        bytes_is(exchange->request.query, "cluster"))
        return tell_cluster(exchange, door->front);
    return serves && forward_cancel(exchange, CLUSTER_ROOT) ? execute(exchange, door)
                                                            : stand_by_health(exchange, door);
}

/* Returns true for control requests of test builds, which concern one process (base/gate.h). */
static bool is_control(const struct request *request)
{
#ifdef LAGRA_GATES
    return bytes_has_prefix(request->path, bytes_from_string("/$lagra/"));
#else
    (void)request;
    return false;
#endif
}

static enum http_step on_head(struct exchange *exchange)
{
    const struct front_door *door = exchange->request.listener_tag;
    struct front *front;
    bool serves, is_local;

    if (exchange->guide)
        return visit_head(exchange, NULL);
    front = door->front;
    serves = atomic_load(&front->serves);
    if (is_health(&exchange->request))
        return check_health(exchange, door, serves);
    if (serves && is_control(&exchange->request))
        return execute(exchange, door);
    if (!exchange->application && route_is_divided(&front->route))
        return visit_head(exchange, door);
    is_local = serves && front->cell == CLUSTER_ROOT;
    if (is_local && forward_cancel(exchange, CLUSTER_ROOT))
        return execute(exchange, door);
    if ((exchange->server_is_busy && !exchange->application) || !front->forwards)
        return refusal_busy(exchange, door->forwarding.is_json);
    return forward_head(exchange, &door->forwarding, to_root(exchange));
}

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    return exchange->guide ? visit_body(exchange, data, ret_taken)
                           : forward_body(exchange, data, ret_taken);
}

static enum http_step on_end(struct exchange *exchange)
{
    return exchange->guide ? visit_end(exchange) : forward_end(exchange);
}

static void on_done(struct exchange *exchange)
{
    if (exchange->guide)
        visit_done(exchange);
    else
        forward_done(exchange);
}

/* ---- another port ---- */

static enum http_step on_relay_head(struct exchange *exchange)
{
    return visit_head(exchange, exchange->request.listener_tag);
}

const struct http_application front_relay_application = {
    .head = on_relay_head,
    .body = visit_body,
    .end = visit_end,
    .done = visit_done,
};

/* ---- the internal endpoint ---- */

static enum http_introduced introduce(struct bytes input, struct http_introduction *ret_said)
{
    struct envelope envelope;
    enum http_introduced introduced = envelope_read(input, &envelope);

    *ret_said = envelope.said;
    return introduced;
}

static enum http_step refuse(struct exchange *exchange, struct front *front,
                             const struct envelope *envelope)
{
    bool leaves = atomic_load(&front->serves) &&
                  (atomic_load(&front->hands_over) || envelope->incarnation < front->incarnation);

    if (leaves)
        response_header_string(&exchange->response, FORWARD_LEAVES, FORWARD_LEAVES_SAYS);
    return refusal_respond(exchange, FORWARD_NOT_OWNER, "text/plain", bytes_from_string(""));
}

/* The number of a door is that of its service in an envelope. */
_Static_assert(FORWARD_SERVICES == ENVELOPE_OF_PEER, "each service has a number of its own");

static bool is_owner(struct front *front, const struct envelope *envelope)
{
    return atomic_load(&front->serves) && !atomic_load(&front->hands_over) &&
           envelope->cell == front->cell && envelope->incarnation == front->incarnation;
}

/* Returns true while the lease lasts that the front end knew when its client was still waiting.
 * Later the client may have repeated its request elsewhere (lease invariant 5). */
static bool is_in_time(const struct envelope *envelope)
{
    return clock_boot_ns() - envelope->renewed_ns < LEASE_MS * NS_PER_MS;
}

static bool is_loopback(const uint8_t address[ADDRESS_SIZE])
{
    static const uint8_t v6[ADDRESS_SIZE] = { [ADDRESS_SIZE - 1] = 1 };

    return address_is_v4(address) ? address[ADDRESS_V4_BEGIN] == 127
                                  : memcmp(address, v6, sizeof v6) == 0;
}

/* Returns true if the client runs on this machine and sent the request to a front end on this
 * machine. Everything confined to the machine, such as the published development key, is refused to
 * all other clients, whatever address the owner itself listens on. */
static bool is_of_this_machine(const struct request *request, const struct http_introduction *said)
{
    uint8_t peer[ADDRESS_SIZE];
    uint16_t port;

    return said->client_is_known && is_loopback(said->client) &&
           address_read(request->via, peer, &port) && is_loopback(peer);
}

/* Counts a request of another front end until it has ended. Called before hands_over is read: see
 * front_hand_over(). */
static void count_executing(struct exchange *exchange, struct front *front)
{
    atomic_fetch_add(&front->executing, 1);
    exchange->counted_in = &front->executing;
}

/* Starts a front end's own request. */
static enum http_step on_peer_head(struct exchange *exchange, struct front *front,
                                   const struct envelope *envelope)
{
    if (exchange->server_is_busy)
        return refusal_busy(exchange, false);
    count_executing(exchange, front);
    if (!is_owner(front, envelope) || !is_in_time(envelope) || !front->peer_application)
        return refusal_respond(exchange, FORWARD_NOT_OWNER, "text/plain", bytes_from_string(""));
    exchange_answers_by(exchange, front->tenure);
    return exchange_pass_on(exchange, front->peer_application, front->peer_tag);
}

static enum http_step on_internal_head(struct exchange *exchange)
{
    struct front *front = exchange->request.listener_tag;
    struct envelope envelope;
    const struct front_door *door;
    bool is_executed;

    /* A link that has ended; the clients of its front end repeat their requests. */
    if (envelope_read(exchange->introduction, &envelope) != INTRODUCTION_WHOLE ||
        exchange_connection(exchange)->ended)
        return HTTP_CUT;
    if (!connection_key_is_valid(exchange_connection(exchange)))
        return refusal_respond(exchange, FORWARD_NOT_OWNER, "text/plain", bytes_from_string(""));
    if (envelope.service == ENVELOPE_OF_PEER)
        return on_peer_head(exchange, front, &envelope);
    door = &front->doors[envelope.service];
    exchange->request.is_forwarded |= !is_of_this_machine(&exchange->request, &envelope.said);
    exchange_authenticate(exchange);
    if (exchange->server_is_busy)
        return refusal_busy(exchange, door->forwarding.is_json);
    count_executing(exchange, front);
    is_executed = is_owner(front, &envelope) && is_in_time(&envelope);
    forward_count_received(envelope.service, is_executed);
    if (!is_executed)
        return refuse(exchange, front, &envelope);
    exchange_answers_by(exchange, front->tenure);
    return exchange_pass_on(exchange, door->application, door->tag);
}

/* ---- both ---- */

static void set_round(struct http_application *application, const struct http_application *service)
{
    application->round = service->round; /* belongs to a worker, not to an exchange */
}

struct http_application front_application_for(const struct http_application *service)
{
    struct http_application application = {
        .head = on_head,
        .body = on_body,
        .end = on_end,
        .done = on_done,
    };

    set_round(&application, service);
    return application;
}

/* Discards the body of a refused request. */
static enum http_step on_internal_body(struct exchange *exchange, struct bytes data,
                                       size_t *ret_taken)
{
    (void)exchange;
    *ret_taken = data.len;
    return HTTP_RESPOND;
}

static enum http_step on_internal_end(struct exchange *exchange)
{
    (void)exchange;
    return HTTP_RESPOND;
}

static void on_internal_done(struct exchange *exchange)
{
    (void)exchange;
}

struct http_application front_internal_application_for(const struct http_application *service)
{
    struct http_application application = {
        .introduce = introduce,
        .head = on_internal_head,
        .body = on_internal_body,
        .end = on_internal_end,
        .done = on_internal_done,
    };

    set_round(&application, service);
    return application;
}

/* ---- the front ---- */

void front_init(struct front *front, const struct http_application *service,
                const char *const names[FORWARD_SERVICES], struct net_key *key,
                void (*log)(const struct forward_logged *logged))
{
    forward_metrics_start(names);
    route_init(&front->route);
    placements_init(&front->placements);
    lock_init(&front->lock, RANK_CELLS);
    front_set_status(front, "standing by: no owner is known", "");
    front->forwards = key != NULL;
    for (unsigned i = 0; i < FORWARD_SERVICES; i++)
        front->doors[i] = (struct front_door){
            .front = front,
            .application = service,
            .forwarding = { .route = &front->route,
                            .key = key,
                            .service = i,
                            .name = names[i],
                            .log = log },
        };
}

void front_release(struct front *front)
{
    placements_release(&front->placements);
    route_release(&front->route);
}

void front_use_names(struct front *front, front_names_fn *names, void *const tags[FORWARD_SERVICES])
{
    front->names = names;
    for (unsigned i = 0; i < FORWARD_SERVICES; i++)
        front->doors[i].names_tag = tags[i];
}

void front_serve_peers(struct front *front, const struct http_application *application, void *tag)
{
    front->peer_application = application;
    front->peer_tag = tag;
}

void front_set_status(struct front *front, const char *status, const char *more)
{
    lock_acquire(&front->lock);
    snprintf(front->status, sizeof front->status, "%s%s\n", status, more);
    lock_release(&front->lock);
}

void front_serve(struct front *front, const struct tenure *tenure, uint32_t cell,
                 uint64_t incarnation)
{
    front->tenure = tenure;
    front->cell = cell;
    front->incarnation = incarnation;
    atomic_store(&front->serves, true);
}

bool front_hand_over(struct front *front, unsigned ms)
{
    atomic_store(&front->hands_over, true);
    for (unsigned waited = 0; atomic_load(&front->executing) > 0; waited += STEP_MS) {
        if (waited >= ms)
            return false;
        thread_sleep_ns(STEP_MS * NS_PER_MS);
    }
    return true;
}
