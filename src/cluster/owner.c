/* See owner.h. */
#include "cluster/owner.h"

#include <errno.h>
#include <string.h>

#include "base/gate.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cluster/lease.h"

/* Interval at which the thread checks whether it must end. */
#define STEP_MS         20u
/* While the store is being opened, for at most 10 s, renewals are more frequent and are also
 * settled: see owner_file_settle(). decision: 943 */
#define SETTLES         50u
#define SETTLE_EVERY_MS 200u

static const struct metric_family renewals = {
    "lagra_lease_renewals_total",
    "Renewals of the lease on the owned cell; late: after it had ended", METRIC_COUNTER
};
static const struct metric_family seconds = { "lagra_lease_renewal_seconds",
                                              "Time of a renewal on the shared file system",
                                              METRIC_HISTOGRAM };
static metric_slot in_time_slot, late_slot, failed_slot, seconds_slot;

enum renewal {
    RENEWED,
    RENEWAL_LOST,   /* the record belongs to another owner */
    RENEWAL_FAILED, /* the file system reported an error */
};

static bool is_ours(const struct owner *owner, const struct owner_record *record)
{
    return record->is_held && record->incarnation == owner->record.incarnation &&
           guid_equal(&record->cluster, &owner->record.cluster);
}

/* Returns true while renewals are settled: the store is being opened, and the limit is not
 * reached. */
static bool is_opening(const struct owner *owner)
{
    return owner->settles > 0 && !atomic_load(&owner->serves);
}

/* Renews the lease once. Sets errno on RENEWAL_FAILED. */
static enum renewal renew(struct owner *owner)
{
    uint64_t began_ns = clock_boot_ns();
    struct owner_record record;
    enum owner_result result = owner_file_read(&owner->file, &record);

    if (result == OWNER_FAILED)
        return RENEWAL_FAILED;
    if (result == OWNER_DAMAGED || !is_ours(owner, &record))
        return RENEWAL_LOST;
    record.renewal++;
    record.renewed = clock_wall();
    record.renewed_ns = began_ns;
    record.used_bytes = atomic_load(&owner->used_bytes);
    record.serves = atomic_load(&owner->serves);
    lock_acquire(&owner->lock);
    memcpy(record.move, owner->move, sizeof record.move);
    memcpy(record.keys, owner->keys, sizeof record.keys);
    lock_release(&owner->lock);
    if (owner_file_write(&owner->file, &record))
        return RENEWAL_FAILED;
    if (is_opening(owner)) {
        owner->settles--;
        owner_file_settle(&owner->file);
    }
    owner->record = record;
    owner->was_in_time = tenure_holds(&owner->tenure);
    metric_add(owner->was_in_time ? in_time_slot : late_slot, 1);
    metric_observe_ns(seconds_slot, clock_boot_ns() - began_ns);
    tenure_renew(&owner->tenure, began_ns, began_ns + record.lease_ms * NS_PER_MS);
    return RENEWED;
}

/* Logs once when slow renewals stop responses, and once when they resume. */
static void log_lapse(struct owner *owner)
{
    if (!owner->was_in_time && !owner->has_lapsed)
        log_line(LOG_WARN,
                 "cell %u: its lease was not renewed in time; connections were closed without a "
                 "response. The shared file system was slow, or the process was stopped",
                 owner->record.cell);
    else if (owner->was_in_time && owner->has_lapsed)
        log_line(LOG_INFO, "cell %u: its lease is being renewed in time again", owner->record.cell);
    owner->has_lapsed = !owner->was_in_time;
}

static void pause_renewals(const struct owner *owner)
{
    uint64_t end_ms = clock_monotonic_ms() + (is_opening(owner) ? SETTLE_EVERY_MS : LEASE_RENEW_MS);

    while (!atomic_load(&owner->ends) && clock_monotonic_ms() < end_ms)
        thread_sleep_ns(STEP_MS * NS_PER_MS);
    while (!atomic_load(&owner->ends) && gate_renewals_held())
        thread_sleep_ns(STEP_MS * NS_PER_MS);
}

static void *run(void *argument)
{
    struct owner *owner = argument;

    for (pause_renewals(owner); !atomic_load(&owner->ends); pause_renewals(owner)) {
        enum renewal renewal = renew(owner);

        if (renewal != RENEWED) {
            int error = errno;

            metric_add(failed_slot, 1);
            tenure_lose(&owner->tenure);
            owner->lost(owner->context, renewal == RENEWAL_LOST ? "another front end has taken it"
                                                                : strerrordesc_np(error));
            break;
        }
        log_lapse(owner);
        owner->renewed(owner->context);
    }
    return NULL;
}

bool owner_start(struct owner *owner, struct owner_file *file, const struct owner_record *record,
                 uint64_t began_ns, void (*lost)(void *context, const char *why),
                 void (*renewed)(void *context), void *context)
{
    in_time_slot = metric_series(&renewals, "result=\"in_time\"");
    late_slot = metric_series(&renewals, "result=\"late\"");
    failed_slot = metric_series(&renewals, "result=\"failed\"");
    seconds_slot = metric_series(&seconds, "");
    memset(owner, 0, sizeof *owner);
    owner->file = *file;
    owner->record = *record;
    owner->lost = lost;
    owner->renewed = renewed;
    owner->context = context;
    owner->settles = SETTLES;
    lock_init(&owner->lock, RANK_CELLS);
    atomic_init(&owner->used_bytes, record->used_bytes);
    tenure_start(&owner->tenure, began_ns, began_ns + record->lease_ms * NS_PER_MS);
    atomic_init(&owner->ends, false);
    atomic_init(&owner->serves, false);
    *file = (struct owner_file){ .fd = -1 };
    return thread_start(&owner->thread, run, owner);
}

void owner_set_keys(struct owner *owner, const uint32_t ids[NET_KEYS_MAX])
{
    lock_acquire(&owner->lock);
    memcpy(owner->keys, ids, sizeof owner->keys);
    lock_release(&owner->lock);
}

void owner_set_move(struct owner *owner, const char *move)
{
    size_t length = strnlen(move, OWNER_MOVE_MAX);

    lock_acquire(&owner->lock);
    memset(owner->move, 0, sizeof owner->move);
    for (size_t i = 0; i < length; i++) /* a record must not contain control characters */
        owner->move[i] = (unsigned char)move[i] < ' ' || move[i] == 0x7f ? '?' : move[i];
    lock_release(&owner->lock);
}

void owner_serves(struct owner *owner)
{
    atomic_store(&owner->serves, true);
}

void owner_release(struct owner *owner)
{
    struct owner_record record;

    atomic_store(&owner->ends, true);
    thread_join(&owner->thread);
    tenure_give_up(&owner->tenure);
    record = owner->record;
    record.renewal++;
    record.is_held = record.serves = false;
    record.move[0] = '\0';
    record.renewed = clock_wall();
    if (owner_file_write(&owner->file, &record))
        log_errno("cell %u: write that it is free", record.cell);
    owner_file_settle(&owner->file);
    owner_file_close(&owner->file);
}
