/* See fleet_parts.h. */
#include "request/cell_parts.h"
#include "request/request_private.h"

#include "fleet_parts.h"

#include "cluster/forward_metrics.h"
#include "fleet.h"
#include "judge.h"
#include "moves.h"

/* What the calling thread executes for another front end. */
static _Thread_local struct {
    bool is_serving;
    int slot; /* -1: not known yet */
    unsigned part;
} served;

int fleet_part(void)
{
    return served.is_serving && served.slot >= 0 ? (int)served.part : -1;
}

static const struct fleet_part *find(const struct guid *id)
{
    for (unsigned i = 0; i < FLEET_PARTS_MAX; i++)
        if (guid_equal(&world->fleet->parts[i].id, id))
            return &world->fleet->parts[i];
    return NULL;
}

static int slot_of(const struct call *whole)
{
    uint64_t slot = 0;
    bool is_known = bytes_parse_u64(
        request_find_header(whole->request, bytes_from_string("x-ms-client-request-id")),
        CLIENTS_MAX - 1, &slot);

    return is_known && fleet_is_running() ? (int)slot : -1;
}

/* At the root: records the request to which the parts belong. The batch continues afterwards. */
/* ---- direct reads ---- */

__typeof__(forward_count) __real_forward_count, __wrap_forward_count;
void __wrap_forward_count(enum forward_counter event)
{
    if (fleet_is_running() && event == FORWARD_DIRECT_FAILED)
        fleet_count(FLEET_DIRECT_FAILED);
    __real_forward_count(event);
}

__typeof__(forward_count_direct) __real_forward_count_direct, __wrap_forward_count_direct;
void __wrap_forward_count_direct(unsigned service, uint64_t bytes)
{
    if (fleet_is_running())
        fleet_count(FLEET_DIRECT);
    __real_forward_count_direct(service, bytes);
}

/* ---- batches ---- */

__typeof__(cell_parts_run) __real_cell_parts_run, __wrap_cell_parts_run;
bool __wrap_cell_parts_run(const struct call *whole, const struct batch_parameters *asked,
                           struct work *works)
{
    int slot = slot_of(whole);

    if (slot >= 0) {
        judge_list_goes_on((unsigned)slot);
        request_set_slot(slot);
    }
    for (size_t i = 0; slot >= 0 && i < asked->count; i++)
        if (works[i].is_elsewhere) {
            world->fleet->parts[world->fleet->part_count++ % FLEET_PARTS_MAX] =
                (struct fleet_part){ works[i].call.request_id, (unsigned)slot, (unsigned)i };
            fleet_count(FLEET_PARTS);
        }
    return __real_cell_parts_run(whole, asked, works);
}

__typeof__(cell_parts_serve) __real_cell_parts_serve, __wrap_cell_parts_serve;
int __wrap_cell_parts_serve(void *context, struct bytes body, struct arena *arena,
                            struct text *ret_body)
{
    int status;

    moves_linger(3); /* containers are moved meanwhile */
    served.is_serving = true;
    served.slot = -1;
    status = __real_cell_parts_serve(context, body, arena, ret_body);
    served.is_serving = false;
    request_set_slot(-1);
    if (served.slot >= 0)
        fleet_machine(fleet_self())->executing[served.slot]--;
    return status;
}

__typeof__(work_begin_part) __real_work_begin_part, __wrap_work_begin_part;
enum error __wrap_work_begin_part(struct work *part, struct arena *arena)
{
    const struct fleet_part *found =
        served.is_serving && fleet_is_running() ? find(&part->call.request_id) : NULL;

    if (found && served.slot < 0)
        fleet_machine(fleet_self())->executing[found->slot]++;
    if (found) {
        served.slot = (int)found->slot;
        served.part = found->part;
        request_set_slot(served.slot);
    }
    return __real_work_begin_part(part, arena);
}
