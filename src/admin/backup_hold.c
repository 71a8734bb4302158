/* Holds a snapshot for another process: see backup_hold.h. */
#include "admin/backup_hold.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/admin_private.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/metrics.h"

#define MS_PER_SECOND 1000u

static instant instant_of(int64_t unix_s)
{
    return INSTANT_UNIX_EPOCH + (uint64_t)unix_s * TICKS_PER_SECOND;
}

static int64_t unix_seconds(instant t)
{
    return t > INSTANT_UNIX_EPOCH ? (int64_t)((t - INSTANT_UNIX_EPOCH) / TICKS_PER_SECOND) : 0;
}

/* Sets the metric for the end of the last successful backup. Called by one thread at a time,
 * because only one backup runs at a time. */
static void show_end(int64_t unix_s)
{
    static const struct metric_family family = {
        "lagra_backup_last_end_timestamp_seconds",
        "Unix time at which the last successful backup had read all its data.", METRIC_GAUGE
    };
    static _Atomic int64_t shown_s;

    metric_add(metric_series(&family, ""), unix_s - atomic_exchange(&shown_s, unix_s));
}

/* File in the data directory with one line, "lagra backed up 1 SECONDS" (Unix time). It is
 * replaced atomically. */
#define NAME       "backed-up"
#define NAME_NEW   "backed-up.new"
#define BEGIN      "lagra backed up 1 "
#define LINE_BYTES 64

/* Reads the time of the last backup. Returns 0 if none exists, or it cannot be read. */
static int64_t backup_record_read(const char *location)
{
    char *path = file_path(location, NAME);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char line[LINE_BYTES];
    ssize_t size = fd >= 0 ? file_read_at(fd, line, sizeof line, 0) : 0;
    struct bytes text = bytes_of(line, size > 0 ? (size_t)size : 0);
    uint64_t seconds = 0;

    if (fd >= 0)
        close(fd);
    free(path);
    if (!bytes_has_prefix(text, (struct bytes)BYTES(BEGIN)) || text.ptr[text.len - 1] != '\n')
        return 0;
    text = bytes_of(text.ptr + strlen(BEGIN), text.len - strlen(BEGIN) - 1);
    return bytes_parse_u64(text, INT64_MAX, &seconds) ? (int64_t)seconds : 0;
}

void backup_hold_init(struct backup_hold *hold, struct store *store, const char *location)
{
    int64_t last_s = backup_record_read(location);

    *hold = (struct backup_hold){ .store = store, .location = location };
    lock_init(&hold->lock, RANK_BACKUP_HOLD);
    if (last_s <= 0)
        return;
    hold->ended = instant_of(last_s);
    hold->ended_well = true;
    show_end(last_s);
}

/* Reserves the snapshot for this thread, whether or not it is held. Returns false if another thread
 * has reserved it. */
static bool try_reserve(struct backup_hold *hold, bool *ret_was_held)
{
    bool taken;

    lock_acquire(&hold->lock);
    taken = hold->state != HOLD_BUSY;
    *ret_was_held = hold->state == HOLD_HELD;
    if (taken)
        hold->state = HOLD_BUSY;
    lock_release(&hold->lock);
    return taken;
}

/* Ends the reservation. id: id of the snapshot that is now held, or NULL */
static void set_state(struct backup_hold *hold, const struct guid *id)
{
    lock_acquire(&hold->lock);
    hold->state = id ? HOLD_HELD : HOLD_NONE;
    hold->heard_ms = clock_monotonic_ms();
    if (id)
        hold->id = *id;
    lock_release(&hold->lock);
}

static void record_start(struct backup_hold *hold, const struct backup_state *state)
{
    lock_acquire(&hold->lock);
    hold->began = clock_now();
    hold->last_extent = state->last_extent;
    hold->copied_extent = 0;
    lock_release(&hold->lock);
}

static void note_end(struct backup_hold *hold, bool is_good)
{
    instant now = clock_now();

    lock_acquire(&hold->lock);
    hold->ended = now;
    hold->ended_well = is_good;
    lock_release(&hold->lock);
    if (!is_good)
        return;
    backup_record_write(hold->location, unix_seconds(now));
    show_end(unix_seconds(now));
}

void backup_hold_expire(struct backup_hold *hold)
{
    bool is_late;

    lock_acquire(&hold->lock);
    is_late = hold->state == HOLD_HELD &&
              clock_monotonic_ms() - hold->heard_ms > BACKUP_HOLD_S * MS_PER_SECOND;
    if (is_late)
        hold->state = HOLD_BUSY;
    lock_release(&hold->lock);
    if (!is_late)
        return;
    log_line(LOG_WARN, "backup timed out after %d seconds without contact: snapshot released",
             BACKUP_HOLD_S);
    store_backup_end(hold->store);
    note_end(hold, false);
    set_state(hold, NULL);
}

void backup_hold_release(struct backup_hold *hold)
{
    if (hold->state == HOLD_HELD)
        store_backup_end(hold->store);
    lock_destroy(&hold->lock);
}

/* ---- the operations ---- */

static void fail_begin(struct admin_call *call, enum store_result result)
{
    if (result == STORE_NOT_FOUND)
        admin_fail(call, 400, "InMemory", "A server with its data in memory cannot be backed up.");
    else if (result == STORE_BUSY)
        admin_fail(call, 409, "BackupRunning", "Another backup is starting or ending.");
    else
        admin_fail(call, 500, "StoreFailed", "Cannot hold a snapshot: %s; see the server's log.",
                   store_result_text(result));
}

void admin_backup_begin(struct admin_call *call)
{
    struct backup_hold *hold = call->admin->backup;
    struct backup_state state;
    struct guid id = guid_new();
    enum store_result result = STORE_BUSY;
    char text[GUID_TEXT_SIZE];
    bool was_held;

    if (try_reserve(hold, &was_held)) {
        if (was_held)
            store_backup_end(hold->store);
        result = store_backup_begin(hold->store, &state);
        if (!result)
            record_start(hold, &state);
        set_state(hold, result ? NULL : &id);
    }
    if (result) {
        fail_begin(call, result);
        return;
    }
    guid_format(&id, text);
    json_write_member(&call->out, "id", bytes_from_string(text));
    json_write_number(&call->out, "lastExtent", state.last_extent);
    json_write_number(&call->out, "lastEnd", state.last_end);
}

/* Returns true if the caller holds the snapshot with the given id. If so, restarts its timeout and
 * sets its state to `next`. */
static bool is_held(struct admin_call *call, enum backup_hold_state next)
{
    struct backup_hold *hold = call->admin->backup;
    struct guid id;
    bool held;

    if (!guid_parse(call->given[0], &id)) {
        admin_fail(call, 400, "InvalidArgument",
                   "Invalid id: expected the id returned by backup-begin.");
        return false;
    }
    lock_acquire(&hold->lock);
    held = hold->state == HOLD_HELD && guid_equal(&hold->id, &id);
    if (held) {
        hold->heard_ms = clock_monotonic_ms();
        hold->state = next;
    }
    lock_release(&hold->lock);
    return held;
}

static void fail_lost(struct admin_call *call)
{
    if (call->status == 200)
        admin_fail(call, 410, "BackupLost",
                   "The snapshot was released: the space of data deleted since its creation was "
                   "needed, or there was no contact with the backup for a minute.");
}

static void note_copied(struct backup_hold *hold, uint32_t extent)
{
    lock_acquire(&hold->lock);
    if (extent > hold->copied_extent)
        hold->copied_extent = extent;
    lock_release(&hold->lock);
}

void admin_backup_hold(struct admin_call *call)
{
    uint64_t extent = 0;

    if (call->given[1].ptr && !bytes_parse_u64(call->given[1], UINT32_MAX, &extent))
        admin_fail(call, 400, "InvalidArgument", "The extent must be a number.");
    else if (!is_held(call, HOLD_HELD) ||
             !store_backup_copied(call->admin->backup->store, (uint32_t)extent))
        fail_lost(call);
    else
        note_copied(call->admin->backup, (uint32_t)extent);
}

void admin_backup_end(struct admin_call *call)
{
    struct backup_hold *hold = call->admin->backup;
    bool held = is_held(call, HOLD_BUSY);

    if (held) {
        held = store_backup_end(hold->store);
        note_end(hold, held);
        set_state(hold, NULL);
    }
    if (!held)
        fail_lost(call);
}

void admin_backup_state(struct admin_call *call)
{
    struct backup_hold *hold = call->admin->backup;

    lock_acquire(&hold->lock);
    json_write_bool(&call->out, "running", hold->state != HOLD_NONE);
    if (hold->state != HOLD_NONE)
        admin_write_instant(&call->out, "began", hold->began);
    json_write_number(&call->out, "extents", hold->last_extent);
    json_write_number(&call->out, "copied", hold->copied_extent);
    admin_write_instant(&call->out, "lastEnd", hold->ended);
    json_write_bool(&call->out, "lastWasWhole", hold->ended_well);
    lock_release(&hold->lock);
}

void backup_record_write(const char *location, int64_t seconds)
{
    char *path = file_path(location, NAME), *new_path = file_path(location, NAME_NEW);
    int fd = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, BEGIN "%" PRId64 "\n", seconds);
    bool written =
        fd >= 0 && write(fd, line, (size_t)length) == length && rename(new_path, path) == 0;

    if (!written)
        log_errno("record the time of the backup of %s", location);
    if (fd >= 0)
        close(fd);
    free(new_path);
    free(path);
}
