/* See front.h. */
#include "cluster/front.h"

#include <stdio.h>

#include "base/thread.h"
#include "cluster/envelope.h"
#include "cluster/lease.h"
#include "cluster/refusal.h"

#define PATH_LIVE "/-/live"
#define STEP_MS   2u

/* ---- the ports of the services ---- */

static enum http_step tell_cluster(struct exchange *exchange, struct front *front)
{
    char status[sizeof front->status];

    lock_take(&front->lock);
    memcpy(status, front->status, sizeof status);
    lock_give(&front->lock);
    return refusal_respond(exchange, 503, "text/plain",
                           arena_copy(exchange->arena, bytes_from_string(status)));
}

static enum http_step stand_by(struct exchange *exchange, const struct front_door *door)
{
    const struct request *request = &exchange->request;
    bool is_get = request->method == METHOD_GET || request->method == METHOD_HEAD;
    bool is_ready = is_get && bytes_is(request->path, FORWARD_PATH_READY);

    if (is_get && bytes_is(request->path, PATH_LIVE))
        return refusal_respond(exchange, 200, "text/plain", bytes_from_string("live\n"));
    if (is_ready && (bytes_is(request->query, "cluster") || !door->front->forwards))
        return tell_cluster(exchange, door->front);
    if ((exchange->server_is_busy && !exchange->application) || !door->front->forwards)
        return refusal_busy(exchange, door->forwarding.is_json);
    return forward_head(exchange, &door->forwarding);
}

static enum http_step on_head(struct exchange *exchange)
{
    const struct front_door *door = exchange->request.listener_tag;

    if (!atomic_load(&door->front->serves) || !forward_cancel(exchange))
        return stand_by(exchange, door);
    exchange_answers_by(exchange, door->front->tenure);
    return exchange_pass_on(exchange, door->application, door->tag);
}

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

static bool is_owner(struct front *front, const struct envelope *envelope)
{
    return atomic_load(&front->serves) && !atomic_load(&front->hands_over) &&
           envelope->cell == front->cell && envelope->incarnation == front->incarnation;
}

static bool is_loopback(const uint8_t address[ADDRESS_SIZE])
{
    static const uint8_t v6[ADDRESS_SIZE] = { [ADDRESS_SIZE - 1] = 1 };

    return address_is_v4(address) ? address[ADDRESS_V4_BEGIN] == 127
                                  : memcmp(address, v6, sizeof v6) == 0;
}

/* Does the client sit on this machine, and has it asked a front end of this machine? What is confined to the machine, such as
 * the published development key, is refused to all others, whatever address the owner itself listens on. */
static bool is_of_this_machine(const struct request *request, const struct http_introduction *said)
{
    uint8_t peer[ADDRESS_SIZE];
    uint16_t port;

    return said->client_is_known && is_loopback(said->client) &&
           address_read(request->via, peer, &port) && is_loopback(peer);
}

static enum http_step on_internal_head(struct exchange *exchange)
{
    struct front *front = exchange->request.listener_tag;
    struct envelope envelope;
    const struct front_door *door;
    bool is_executed;

    if (envelope_read(exchange->introduction, &envelope) != INTRODUCTION_WHOLE)
        return HTTP_CUT; /* a malformed head */
    door = &front->doors[envelope.service];
    exchange->request.is_forwarded |= !is_of_this_machine(&exchange->request, &envelope.said);
    exchange_authenticate(exchange);
    if (exchange->server_is_busy)
        return refusal_busy(exchange, door->forwarding.is_json);
    atomic_fetch_add(&front->executing, 1); /* before hands_over is read: see front_hand_over() */
    exchange->counted_in = &front->executing;
    is_executed = is_owner(front, &envelope);
    forward_count_received(envelope.service, is_executed);
    if (!is_executed)
        return refuse(exchange, front, &envelope);
    exchange_answers_by(exchange, front->tenure);
    return exchange_pass_on(exchange, door->application, door->tag);
}

/* ---- both ---- */

static void set_round(struct http_application *application, const struct http_application *service)
{
    application->round = service->round; /* it is of a worker, not of an exchange */
}

struct http_application front_application_for(const struct http_application *service)
{
    struct http_application application = {
        .head = on_head,
        .body = forward_body,
        .end = forward_end,
        .done = forward_done,
    };

    set_round(&application, service);
    return application;
}

/* Bodies of refused requests only. */
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
    lock_init(&front->lock, RANK_CELLS);
    front_set_status(front, "stands by: no owner is known");
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

void front_set_status(struct front *front, const char *status)
{
    lock_take(&front->lock);
    snprintf(front->status, sizeof front->status, "%s\n", status);
    lock_give(&front->lock);
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
