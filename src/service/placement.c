/* See placement.h. */
#include "service/placement.h"

#include "base/codec.h"
#include "base/endian.h"
#include "service/operation.h"
#include "service/placement_private.h"
#include "service/small_record.h"

/* Delay before the first check of a row. If the container does not exist by then, the front end
 * that should have created it has failed. */
#define CHECKED_AFTER_S 30u
/* Delay before the root is notified. Until then the container's cell needs the record of the recent
 * deletion. */
#define TOLD_AFTER_S    30u

static const struct bytes row_key = BYTES("m");
static const struct bytes released_key = BYTES("n");

/* ---- records ---- */

enum store_result placement_read(struct read_view *of, struct arena *arena,
                                 struct placement *ret_placement)
{
    uint64_t numbers[2];
    enum store_result result =
        small_record_read(of, arena, row_key, "the record of a placement", numbers, 2);

    *ret_placement = (struct placement){ .cell = (uint32_t)numbers[0], .incarnation = numbers[1] };
    if (!result && (numbers[0] == 0 || numbers[0] > PLACEMENT_CELL_MAX || numbers[1] == 0))
        return record_is_unknown("the record of a placement", bytes_from_string(""));
    return result;
}

#define COUNTER_BYTES 5u

static struct bytes counter_of(uint32_t cell, char name[COUNTER_BYTES])
{
    name[0] = 'm';
    be32_put(name + 1, cell);
    return bytes_of(name, COUNTER_BYTES);
}

void placement_write(struct changes *changes, struct arena *arena, struct placement row)
{
    const uint64_t numbers[] = { row.cell, row.incarnation };
    char name[COUNTER_BYTES];

    small_record_write(changes, arena, row_key, numbers, 2);
    changes_count(changes, counter_of(row.cell, name), 1);
}

void placement_remove(struct changes *changes, const struct placement *row)
{
    char name[COUNTER_BYTES];

    changes_delete(changes, RECORD_INNER, row_key);
    changes_count(changes, counter_of(row->cell, name), -1);
}

enum store_result placement_count(struct store *store, struct guid space, uint32_t cell,
                                  struct store_access access, int64_t *ret_count)
{
    char name[COUNTER_BYTES];
    uint64_t sequence;

    return store_count(store, space, counter_of(cell, name), access, ret_count, &sequence);
}

/* Checks a release. Returns STORE_NOT_FOUND unless the name was released up to this incarnation. */
static enum store_result find_released(struct decision *d, struct read_view *of,
                                       uint64_t incarnation)
{
    uint64_t numbers[2];
    enum store_result result =
        small_record_read(of, d->arena, released_key, "the record of a release", numbers, 2);

    if (!result && (incarnation > numbers[0] || d->now >= numbers[1]))
        return STORE_NOT_FOUND;
    return result;
}

/* ---- containers that do not exist here ---- */

static enum error misdirected(struct decision *d, struct placement where)
{
    d->problem->elsewhere = where;
    return E_MisdirectedRequest;
}

enum error placement_missing(struct decision *d, struct read_view *of, enum error missing)
{
    struct placement row;
    bool is_sealed;
    enum store_result result;

    if (d->input->may_be_elsewhere)
        return misdirected(d, (struct placement){ .cell = 0 });
    result = placement_sealed(d, of, d->input->placement, &is_sealed);
    if (result)
        return decision_fail_store(d, result);
    if (is_sealed)
        return E_ServerBusy;
    if (d->input->placement > 0) {
        result = find_released(d, of, d->input->placement);
        if (!result)
            return misdirected(d, (struct placement){ .cell = 0 });
    } else {
        result = placement_read(of, d->arena, &row);
        if (!result)
            return misdirected(d, row);
    }
    return result == STORE_NOT_FOUND ? missing : decision_fail_store(d, result);
}

enum store_result placement_is_used(struct read_view *of, bool *ret_is_used)
{
    const struct bytes all = BYTES("");
    struct scan *scan = scan_open(of, RECORD_LISTED, all, all);
    struct record record;
    enum store_result result = scan_next(scan, NULL, &record);

    scan_close(scan);
    *ret_is_used = !result;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Determines whether the name may be in another cell, that is, this cell has neither a container
 * nor the record of a recent deletion, which a second Delete Container needs. */
static enum store_result is_unused(struct decision *d, bool *ret_is_unused)
{
    bool is_used = true;
    enum store_result result = placement_is_used(d->before, &is_used);

    *ret_is_unused = false;
    if (result || is_used)
        return result;
    result = recent_deletion_find(d->before, d->arena, d->now);
    *ret_is_unused = result == STORE_NOT_FOUND;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Determines whether the container may be placed in another cell. The service's own names, such as
 * $root and $logs, must be in the root; so must a name with a retained deleted container in the
 * root, because Restore Container needs both in one cell. */
static enum store_result may_be_elsewhere(struct decision *d, bool *ret_may)
{
    struct bytes name = d->partition.key;

    *ret_may = false;
    if (d->input->place_in == 0 || (name.len > 0 && name.ptr[0] == '$'))
        return STORE_OK;
    return is_unused(d, ret_may);
}

enum error placement_of_new(struct decision *d, bool *ret_is_elsewhere)
{
    enum error e = placement_missing(d, d->before, OK);
    enum store_result result;
    bool may;

    *ret_is_elsewhere = false;
    if (e)
        return e;
    if (d->input->placement > 0) {
        changes_put(d->changes, RECORD_INNER, placement_own_key,
                    placement_payload(d->arena, service_data_name(d->service), d->input->account),
                    NULL, 0);
        return OK;
    }
    result = may_be_elsewhere(d, &may);
    if (result)
        return decision_fail_store(d, result);
    if (!may)
        return OK;
    d->result->placed =
        (struct placement){ .cell = d->input->place_in, .incarnation = (uint64_t)d->now };
    placement_write(d->changes, d->arena, d->result->placed);
    changes_defer(d->changes, d->now + CHECKED_AFTER_S * (uint64_t)TICKS_PER_SECOND,
                  TASK_CHECK_PLACEMENT,
                  placement_payload(d->arena, service_data_name(d->service), d->input->account));
    *ret_is_elsewhere = true;
    return OK;
}

/* ---- deletion and release ---- */

enum store_result placement_deleted(struct decision *d)
{
    struct record record;
    enum store_result result =
        read_view_get(d->before, RECORD_INNER, placement_own_key, d->arena, &record);

    if (!result)
        changes_defer(d->changes, d->now + TOLD_AFTER_S * (uint64_t)TICKS_PER_SECOND,
                      TASK_TELL_ROOT, record.value);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result placement_write_released(struct decision *d, uint64_t incarnation)
{
    const uint64_t until = d->now + PLACEMENT_RELEASED_S * (uint64_t)TICKS_PER_SECOND;
    uint64_t numbers[2];
    enum store_result result =
        small_record_read(d->before, d->arena, released_key, "the record of a release", numbers, 2);

    if (result && result != STORE_NOT_FOUND)
        return result;
    numbers[0] = incarnation > numbers[0] ? incarnation : numbers[0];
    numbers[1] = until;
    small_record_write(d->changes, d->arena, released_key, numbers, 2);
    changes_defer(d->changes, until, TASK_FORGET_RELEASE, bytes_from_string(""));
    return STORE_OK;
}

enum store_result placement_forget_release(struct decision *d, instant now)
{
    uint64_t numbers[2];
    enum store_result result =
        small_record_read(d->before, d->arena, released_key, "the record of a release", numbers, 2);

    if (!result && now >= numbers[1]) /* otherwise a later release has its own task */
        changes_delete(d->changes, RECORD_INNER, released_key);
    return result;
}

enum store_result placement_release(struct decision *d, uint64_t incarnation,
                                    enum placement_release *ret_release)
{
    enum store_result result;
    bool is_unused_here, is_sealed = false;

    *ret_release = PLACEMENT_IN_USE;
    result = is_unused(d, &is_unused_here);
    if (!result && is_unused_here)
        result = placement_sealed(d, d->before, incarnation, &is_sealed);
    if (result || !is_unused_here || is_sealed)
        return result;
    *ret_release = PLACEMENT_RELEASED;
    result = placement_write_released(d, incarnation);
    if (result)
        return result;
    changes_delete(d->changes, RECORD_INNER, placement_own_key);
    return STORE_OK;
}
