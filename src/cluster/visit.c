/* See visit.h. */
#include "cluster/visit.h"

#include "base/clock.h"
#include "cluster/refusal.h"

struct visit {
    const struct front_door *door;
    struct forward_to to;
    bool is_local; /* executed in this process */
};

/* ---- destination ---- */

/* Returns the key "service account container"; only the container may contain any character except
 * a slash. Returns an empty key if the request names no container, or one that is too long to
 * exist. */
static struct bytes key_of(struct exchange *exchange, const struct front_door *door)
{
    struct bytes account, container;
    struct bytes key;

    if (!door->front->names || !door->front->names(door->names_tag, exchange, &account, &container))
        return bytes_of("", 0);
    key = arena_printf(exchange->arena, "%c%.*s/%.*s", '0' + (int)door->forwarding.service,
                       BYTES_ARG(account), BYTES_ARG(container));
    return key.len <= PLACEMENT_KEY_MAX ? key : bytes_of("", 0);
}

/* Returns how much of the body may be kept. An entity group transaction names its table only in its
 * body. */
static size_t kept_max(const struct request *request, const struct front_door *door)
{
    static const struct bytes batch = BYTES("/$batch");
    size_t max = door->forwarding.is_json && bytes_has_suffix_nocase(request->path, batch)
                     ? FORWARD_BATCH_MAX
                     : FORWARD_KEPT_MAX;

    return request->content_length <= max ? max : 0;
}

static struct visit *visit_new(struct exchange *exchange, const struct front_door *door)
{
    struct front *front = door->front;
    struct visit *visit = arena_alloc(exchange->arena, sizeof *visit);
    struct placed placed = { .cell = CLUSTER_ROOT };

    visit->door = door;
    visit->to = (struct forward_to){ .is_divided = true,
                                     .key = key_of(exchange, door),
                                     .placements = &front->placements,
                                     .kept_max = kept_max(&exchange->request, door),
                                     .is_kept = true };
    if (visit->to.key.len > 0)
        (void)placements_find(&front->placements, visit->to.key, clock_monotonic_ms() / 1000,
                              &placed);
    visit->to.cell = placed.cell;
    visit->to.placement = placed.incarnation;
    exchange->guide = visit;
    exchange->request.id = guid_new();
    return visit;
}

/* ---- local execution ---- */

static void begin_here(struct visit *visit, struct exchange *exchange)
{
    visit->is_local = true;
    exchange_answers_by(exchange, visit->door->front->tenure);
    exchange->request.listener_tag = visit->door->tag;
    exchange->request.placement = visit->to.placement;
}

/* Returns true if the request must be forwarded after all, because the response reports where its
 * container is. */
static bool is_elsewhere(struct visit *visit, struct exchange *exchange, enum http_step step)
{
    if (step != HTTP_RESPOND || exchange->response.status != FORWARD_NOT_OWNER ||
        !forward_learn(&visit->to, &exchange->response))
        return false;
    visit->door->application->done(exchange);
    exchange->application = NULL;
    response_init(&exchange->response, exchange->arena);
    exchange->request.listener_tag = (void *)(uintptr_t)visit->door;
    exchange->request.placement = 0;
    exchange->tenure = NULL;
    visit->is_local = false;
    return true;
}

static enum http_step head_here(struct visit *visit, struct exchange *exchange)
{
    enum http_step step = visit->door->application->head(exchange);

    return is_elsewhere(visit, exchange, step)
               ? forward_head(exchange, &visit->door->forwarding, &visit->to)
               : step;
}

/* ---- the application ---- */

enum http_step visit_head(struct exchange *exchange, const struct front_door *new_at)
{
    struct visit *visit = exchange->guide ? exchange->guide : visit_new(exchange, new_at);
    const struct front_door *door = visit->door;
    struct front *front = door->front;

    if (visit->is_local)
        return head_here(visit, exchange);
    if (atomic_load(&front->serves) && visit->to.cell == front->cell &&
        forward_cancel(exchange, front->cell)) {
        begin_here(visit, exchange);
        return head_here(visit, exchange);
    }
    if ((exchange->server_is_busy && !exchange->application) || !front->forwards)
        return refusal_busy(exchange, door->forwarding.is_json);
    return forward_head(exchange, &door->forwarding, &visit->to);
}

enum http_step visit_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct visit *visit = exchange->guide;
    enum http_step step;

    if (!visit->is_local)
        return forward_body(exchange, data, ret_taken);
    step = visit->door->application->body(exchange, data, ret_taken);
    forward_keep(&visit->to, exchange, bytes_of(data.ptr, *ret_taken));
    return step;
}

enum http_step visit_end(struct exchange *exchange)
{
    struct visit *visit = exchange->guide;
    enum http_step step;

    if (!visit->is_local)
        return forward_end(exchange);
    step = visit->door->application->end(exchange);
    if (!is_elsewhere(visit, exchange, step))
        return step;
    if (!visit->to.is_kept)
        return refusal_busy(exchange, visit->door->forwarding.is_json);
    forward_begin(exchange, &visit->door->forwarding, &visit->to);
    return forward_end(exchange);
}

void visit_done(struct exchange *exchange)
{
    struct visit *visit = exchange->guide;

    if (visit->is_local)
        visit->door->application->done(exchange);
    else
        forward_done(exchange);
    if (visit->to.kept_arena)
        arena_free(visit->to.kept_arena);
}
