/* See route.h. */
#include "cluster/route.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/folder.h"
#include "cluster/forward_metrics.h"

/* If the file system hangs and no record is read, waiters are woken at this interval to check their
 * own deadlines. */
#define WAKE_NS          ((uint64_t)500000000)
/* Enough for nine million years if a cell is taken over each second. */
#define INCARNATION_BITS 48u

uint64_t route_tag(uint32_t cell, uint64_t incarnation)
{
    const uint64_t last = ((uint64_t)1 << INCARNATION_BITS) - 1;

    assert(cell <= OWNER_CELL_MAX + 1);
    return (uint64_t)cell << INCARNATION_BITS | (incarnation < last ? incarnation : last);
}

/* ---- cells ---- */

void route_init(struct route *route)
{
    memset(route, 0, sizeof *route);
    lock_init(&route->lock, RANK_CELLS);
    route->is_open = true;
}

/* Finds a cell. Returns NULL if it is not known. */
static struct route_cell *cell_of(struct route *route, uint32_t cell)
{
    lock_assert_held(&route->lock);
    for (unsigned i = 0; i < route->count; i++)
        if (route->cells[i].cell == cell)
            return &route->cells[i];
    return NULL;
}

void route_add(struct route *route, uint32_t cell)
{
    unsigned at;

    lock_acquire(&route->lock);
    if (!cell_of(route, cell) && route->count < CLUSTER_CELLS_MAX) {
        for (at = route->count; at > 0 && route->cells[at - 1].cell > cell; at--)
            route->cells[at] = route->cells[at - 1];
        route->cells[at] = (struct route_cell){ .cell = cell };
        route->count++;
        forward_metrics_add_cell(cell);
        atomic_store(&route->is_divided, route->count > 1);
    }
    lock_release(&route->lock);
}

bool route_is_divided(struct route *route)
{
    return atomic_load(&route->is_divided);
}

unsigned route_cells(struct route *route, uint32_t cells[CLUSTER_CELLS_MAX])
{
    unsigned count;

    lock_acquire(&route->lock);
    count = route->count;
    for (unsigned i = 0; i < count; i++)
        cells[i] = route->cells[i].cell;
    lock_release(&route->lock);
    return count;
}

unsigned route_unserved(struct route *route, uint32_t cells[CLUSTER_CELLS_MAX])
{
    unsigned count = 0;

    lock_acquire(&route->lock);
    for (unsigned i = 0; i < route->count; i++)
        if (!route->cells[i].serves)
            cells[count++] = route->cells[i].cell;
    lock_release(&route->lock);
    return count;
}

bool route_is_ours(struct route *route, uint32_t cell)
{
    const struct route_cell *known;
    bool is_ours;

    lock_acquire(&route->lock);
    known = cell_of(route, cell);
    is_ours = known && known->is_ours;
    lock_release(&route->lock);
    return is_ours;
}

enum route_found route_find(struct route *route, uint32_t cell, struct owner_target *ret_target,
                            uint64_t *ret_asked_ns)
{
    enum route_found found = ROUTE_CLOSED;
    const struct route_cell *known;

    *ret_target = (struct owner_target){ .cell = cell };
    *ret_asked_ns = 0;
    lock_acquire(&route->lock);
    known = cell_of(route, cell);
    if (route->is_open && !known)
        found = ROUTE_NO_OWNER;
    else if (route->is_open)
        found = known->has_target && known->target.incarnation > known->refused ? ROUTE_FOUND
                                                                                : ROUTE_NO_OWNER;
    if (known) {
        *ret_target = known->target;
        *ret_asked_ns = known->asked_ns;
        if (known->is_ours)
            *ret_asked_ns = ret_target->renewed_ns = clock_boot_ns();
    }
    lock_release(&route->lock);
    return found;
}

bool route_has_lost(struct route *route, uint32_t cell, uint64_t incarnation)
{
    const struct route_cell *known;
    bool is_lost;

    lock_acquire(&route->lock);
    known = cell_of(route, cell);
    is_lost = known && !known->is_ours &&
              (!known->has_target || known->target.incarnation != incarnation);
    lock_release(&route->lock);
    return is_lost;
}

bool route_find_smb(struct route *route, uint32_t cell, char ret_host[OWNER_SMB_MAX + 1])
{
    const struct route_cell *known;

    ret_host[0] = '\0';
    lock_acquire(&route->lock);
    known = cell_of(route, cell);
    if (known && known->has_target && !known->is_ours)
        memcpy(ret_host, known->smb, sizeof known->smb);
    lock_release(&route->lock);
    return ret_host[0];
}

/* Finds the cell with the fewest bytes that has an owner and is not drained. Returns NULL if there
 * is none. pins may be NULL. */
static const struct route_cell *least_used(const struct route *route, const struct pins *pins)
{
    const struct route_cell *least = NULL;

    for (unsigned i = 0; i < route->count; i++)
        if (route->cells[i].has_target && (!pins || !pins_is_drained(pins, route->cells[i].cell)) &&
            (!least || route->cells[i].used_bytes < least->used_bytes))
            least = &route->cells[i];
    return least;
}

uint32_t route_choose(struct route *route, struct bytes account)
{
    const struct route_cell *least;
    uint32_t cell;

    lock_acquire(&route->lock);
    cell = route->pins ? pins_find(route->pins, account) : 0;
    if (cell > 0 && pins_is_drained(route->pins, cell))
        cell = 0;
    least = least_used(route, route->pins);
    if (cell == 0 && least)
        cell = least->cell;
    lock_release(&route->lock);
    return cell == CLUSTER_ROOT ? 0 : cell;
}

uint32_t route_least_used(struct route *route, const struct pins *pins)
{
    const struct route_cell *least;
    uint32_t cell;

    lock_acquire(&route->lock);
    least = least_used(route, pins);
    cell = least ? least->cell : 0;
    lock_release(&route->lock);
    return cell;
}

void route_set_pins(struct route *route, struct pins *pins)
{
    struct pins *before;

    lock_acquire(&route->lock);
    before = route->pins;
    route->pins = pins;
    lock_release(&route->lock);
    free(before);
}

void route_release(struct route *route)
{
    free(route->pins);
    route->pins = NULL;
}

static void show(const struct route_cell *cell)
{
    forward_show_cell(cell->cell, &(struct cell_seen){ .is_owned = cell->is_ours,
                                                       .is_served = cell->serves,
                                                       .used_bytes = cell->used_bytes });
}

void route_set_used(struct route *route, uint32_t cell, uint64_t used_bytes)
{
    struct route_cell *known;

    lock_acquire(&route->lock);
    known = cell_of(route, cell);
    if (known) {
        known->used_bytes = used_bytes;
        show(known);
    }
    lock_release(&route->lock);
}

/* ---- waiters ---- */

void route_wait(struct route *route, struct waiter *waiter)
{
    bool waits;

    lock_acquire(&route->lock);
    waits = route->is_open;
    if (waits) {
        waiter->next = route->waiting;
        route->waiting = waiter;
    }
    lock_release(&route->lock);
    if (!waits)
        waiter->wake(waiter);
}

static void wake(struct waiter *waiter)
{
    while (waiter) {
        struct waiter *next = waiter->next; /* the waiter may be freed once woken */

        waiter->wake(waiter);
        waiter = next;
    }
}

static struct waiter *take_waiting(struct route *route)
{
    struct waiter *waiting = route->waiting;

    lock_assert_held(&route->lock);
    route->waiting = NULL;
    return waiting;
}

void route_wake(struct route *route)
{
    struct waiter *waiting;

    lock_acquire(&route->lock);
    waiting = take_waiting(route);
    lock_release(&route->lock);
    wake(waiting);
}

/* ---- owners ---- */

static bool find_target(const struct owner_record *record, struct owner_target *ret_target)
{
    *ret_target =
        (struct owner_target){ .cell = record->cell,
                               .incarnation = record->incarnation,
                               .renewed_ns = record->renewed_ns,
                               .version = protocol_common(protocol_own(), record->owner.protocol) };
    return record->is_held && ret_target->version > 0 &&
           address_read(bytes_from_string(record->owner.forward), ret_target->address,
                        &ret_target->port);
}

bool route_saw(struct route *route, uint32_t cell, const struct owner_record *record,
               uint64_t asked_ns)
{
    uint64_t now_ns = clock_boot_ns();
    bool is_new = false, is_other = false;
    struct waiter *waiting = NULL;
    struct owner_target target = { .cell = cell };
    bool has_target = record && find_target(record, &target);
    struct route_cell *known;

    lock_acquire(&route->lock);
    known = cell_of(route, cell);
    if (known && !known->is_ours) {
        is_new = asked_ns != known->asked_ns;
        known->asked_ns = asked_ns;
        is_other = has_target && target.incarnation != known->target.incarnation;
        known->has_target = has_target;
        known->serves = has_target && record->serves;
        if (has_target)
            known->target = target;
        if (record) {
            known->used_bytes = record->used_bytes;
            memcpy(known->smb, record->owner.smb, sizeof known->smb);
        }
        show(known);
    }
    if (is_new || is_other || now_ns > route->woken_ns + WAKE_NS) {
        waiting = take_waiting(route);
        route->woken_ns = now_ns;
    }
    lock_release(&route->lock);
    wake(waiting);
    return is_other;
}

void route_refused(struct route *route, uint32_t cell, uint64_t incarnation)
{
    struct route_cell *known;

    lock_acquire(&route->lock);
    known = cell_of(route, cell);
    if (known && incarnation > known->refused)
        known->refused = incarnation;
    lock_release(&route->lock);
}

void route_take(struct route *route, const struct owner_record *record)
{
    struct owner_target target;
    bool has_target = find_target(record, &target);
    struct route_cell *known;

    lock_acquire(&route->lock);
    known = cell_of(route, record->cell);
    if (known) {
        known->is_ours = known->serves = true;
        known->has_target = has_target;
        known->target = target;
        known->asked_ns = clock_boot_ns();
        show(known);
    }
    lock_release(&route->lock);
    route_wake(route);
}

void route_close(struct route *route)
{
    struct waiter *waiting;

    lock_acquire(&route->lock);
    route->is_open = false;
    waiting = take_waiting(route);
    lock_release(&route->lock);
    wake(waiting);
}

void route_reopen(struct route *route)
{
    lock_acquire(&route->lock);
    route->is_open = true;
    lock_release(&route->lock);
}
