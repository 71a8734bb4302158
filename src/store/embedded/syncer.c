/* The thread that syncs the log, and its waiters. */
#include "store/embedded/syncer.h"

#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/gate.h"
#include "base/log.h"
#include "base/metrics.h"
#include "store/embedded/measured.h"

#define SYNCED_SIZE  16
#define GATE_POLL_MS 2
#define GATHER_FROM  4 /* waiters woken by one sync */
#define GATHER_US    200
#define SLACK_BYTES                                                                                \
    (512u << 10) /* of the log; a commit that finds its buffer full would write it itself */

enum store_result syncer_open_record(int folder, int *ret_synced, uint64_t *ret_sequence)
{
    unsigned char record[SYNCED_SIZE];
    ssize_t size = -1;
    int fd = openat(folder, "synced", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd >= 0)
        size = file_read_at(fd, record, sizeof record, 0);
    if (size < 0) {
        log_errno("store: open the record of the durable sequence");
        if (fd >= 0)
            close(fd);
        return STORE_IO;
    }
    /* A short or torn record is ignored, because it is only used for a check. */
    *ret_sequence = 0;
    if (size == SYNCED_SIZE && le64_get(record) == ~le64_get(record + 8))
        *ret_sequence = le64_get(record);
    else if (size > 0)
        log_line(LOG_WARN, "store: the record of the durable sequence, `synced`, is damaged");
    *ret_synced = fd;
    return STORE_OK;
}

static bool write_note(int synced, uint64_t sequence)
{
    unsigned char bytes[SYNCED_SIZE];

    le64_put(bytes, sequence);
    le64_put(bytes + 8, ~sequence);
    if (pwrite(synced, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes)
        return true;
    log_errno("store: record the durable sequence");
    return false;
}

static void write_record(const struct syncer *syncer, uint64_t sequence)
{
    /* a failure only weakens the check of the next start */
    (void)write_note(syncer->synced, sequence);
}

enum store_result syncer_record_start(int folder, int synced, uint64_t sequence)
{
    if (!write_note(synced, sequence))
        return STORE_IO;
    if (fdatasync(synced) == 0 && fsync(folder) == 0)
        return STORE_OK;
    log_errno("store: sync the record of the durable sequence");
    return STORE_IO;
}

bool syncer_covers(const struct syncer *syncer, uint64_t sequence)
{
    return !syncer->sync || atomic_load(&syncer->durable) >= sequence;
}

/* Removes the waiters that are done from the list. Caller holds the lock. */
static struct waiter *take_ready(struct syncer *syncer)
{
    bool all = atomic_load(&syncer->broken);
    uint64_t durable = atomic_load(&syncer->durable);
    struct waiter *ready = NULL;
    struct waiter **link = &syncer->waiters;

    lock_assert_held(&syncer->lock);
    while (*link) {
        struct waiter *waiter = *link;

        if (!all && waiter->sequence > durable) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        assert(syncer->waiting > 0);
        syncer->waiting--;
        waiter->next = ready;
        ready = waiter;
    }
    assert(!syncer->waiters == (syncer->waiting == 0));
    return ready;
}

/* Wakes them; returns their number. */
static size_t wake_ready(struct syncer *syncer)
{
    struct waiter *ready;
    size_t count = 0;

    lock_acquire(&syncer->lock);
    ready = take_ready(syncer);
    lock_release(&syncer->lock);
    while (ready) {
        struct waiter *next = ready->next;

        ready->wake(ready);
        ready = next;
        count++;
    }
    return count;
}

/* A sync costs as much CPU time as several requests. If many requests wait, those just woken will
 * soon be followed by others, so the next sync is delayed a little, until half of them wait again.
 * It serves that half, while the workers serve the other. */
static void let_gather(struct syncer *syncer, size_t woken)
{
    if (woken < GATHER_FROM)
        return;
    lock_acquire(&syncer->lock);
    syncer->gathering = (syncer->waiting + woken) / 2;
    if (syncer->waiting < syncer->gathering && !syncer->stopping)
        lock_wait_us(&syncer->lock, &syncer->work, GATHER_US);
    syncer->gathering = 0;
    lock_release(&syncer->lock);
}

/* A test build may stop the syncer; nothing becomes durable then. */
static bool held_by_gate(void)
{
#ifdef LAGRA_GATES
    return gate_syncer_held();
#else
    return false;
#endif
}

/* Returns true if there is something to sync now. with_slack: including writes without waiters */
static bool has_work(const struct syncer *syncer, bool with_slack)
{
    return (atomic_load(&syncer->dirty) || (with_slack && atomic_load(&syncer->slack))) &&
           !atomic_load(&syncer->broken);
}

/* Waits for work; returns false if no work is left and the thread must end. */
static bool wait_for_work(struct syncer *syncer, bool *ret_stopping)
{
    bool dirty, is_late = false;

    lock_acquire(&syncer->lock);
    syncer->idle = true;
    for (;;) {
        bool held = held_by_gate() && !syncer->stopping;
        bool has_slack = atomic_load(&syncer->slack);

        dirty = has_work(syncer, is_late || syncer->stopping);
        if (!held && (dirty || syncer->stopping))
            break;
        /* A thread that is woken and finds no work starts waiting again: only
         * syncer_wrote_at_leisure() causes that, once between two syncs. */
        is_late = !lock_wait(&syncer->lock, &syncer->work,
                             held        ? GATE_POLL_MS
                             : has_slack ? STORE_LEISURE_MS
                                         : -1) &&
                  has_slack && !held;
    }
    syncer->idle = false;
    *ret_stopping = syncer->stopping;
    lock_release(&syncer->lock);
    return dirty;
}

static void *sync_over_and_over(void *argument)
{
    struct syncer *syncer = argument;
    bool stopping;

    while (wait_for_work(syncer, &stopping)) {
        uint64_t target, began, took;
        size_t woken;

        if (syncer->sync)
            log_space_prepare(&syncer->log_space, syncer->keyspace);
        atomic_store(&syncer->begun, keyspace_logged(syncer->keyspace));
        atomic_store(&syncer->slack, false);
        atomic_store(&syncer->dirty, false);
        target = keyspace_sequence(syncer->keyspace);
        /* Checked again after the target was read, so that data written after the start of the hold
         * is not synced. */
        if (held_by_gate() && !stopping) {
            atomic_store(&syncer->dirty, true);
            continue;
        }
        began = clock_monotonic_ns();
        /* A failed sync is never retried, because the kernel does not report which data it lost
         * (store invariant 6). */
        if (keyspace_write_log(syncer->keyspace, syncer->sync)) {
            syncer->failed(syncer->context);
            syncer_break(syncer);
            continue;
        }
        /* Recorded before any waiter is woken, so that everything acknowledged is covered by the
         * record, even after a crash. */
        assert(target >= atomic_load(&syncer->durable));
        write_record(syncer, target);
        atomic_store(&syncer->durable, target);
        took = clock_monotonic_ns() - began;
        woken = wake_ready(syncer);
        measured_sync(took, woken);
        manifest_guard_look(syncer->guard);
        let_gather(syncer, woken);
    }
    return NULL;
}

bool syncer_start(struct syncer *syncer, const struct keyspace *keyspace,
                  struct manifest_guard *guard, bool sync, int synced,
                  void (*failed)(void *context), void *context)
{
    syncer->keyspace = keyspace;
    syncer->sync = sync;
    syncer->guard = guard;
    syncer->synced = synced;
    syncer->failed = failed;
    syncer->context = context;
    log_space_open(&syncer->log_space, guard->records);
    lock_init(&syncer->lock, RANK_SYNCER);
    lock_condition_init(&syncer->work);
    /* Opening has replayed and synced everything. */
    atomic_store(&syncer->durable, keyspace_sequence(keyspace));
    write_record(syncer, keyspace_sequence(keyspace));
    return thread_start(&syncer->thread, sync_over_and_over, syncer);
}

void syncer_stop(struct syncer *syncer)
{
    lock_acquire(&syncer->lock);
    syncer->stopping = true;
    pthread_cond_signal(&syncer->work);
    lock_release(&syncer->lock);
    thread_join(&syncer->thread);
    log_space_close(&syncer->log_space);
    assert(!syncer->waiters && syncer->waiting == 0);
    pthread_cond_destroy(&syncer->work);
    lock_destroy(&syncer->lock);
}

void syncer_wrote(struct syncer *syncer)
{
    if (atomic_exchange(&syncer->dirty, true))
        return;
    lock_acquire(&syncer->lock);
    if (syncer->idle)
        pthread_cond_signal(&syncer->work);
    lock_release(&syncer->lock);
}

/* Caller holds the lock. */
static void hurry(struct syncer *syncer)
{
    lock_assert_held(&syncer->lock);
    if (!atomic_exchange(&syncer->dirty, true) && syncer->idle)
        pthread_cond_signal(&syncer->work);
}

/* Either the first writer sees a waiter, or the waiter sees the write: both check under the lock,
 * after their own update. */
void syncer_wrote_at_leisure(struct syncer *syncer)
{
    if (atomic_load(&syncer->dirty))
        return;
    if (keyspace_logged(syncer->keyspace) - atomic_load(&syncer->begun) >= SLACK_BYTES) {
        syncer_wrote(syncer);
        return;
    }
    if (atomic_exchange(&syncer->slack, true))
        return;
    lock_acquire(&syncer->lock);
    if (syncer->waiting > 0)
        hurry(syncer);
    else if (syncer->idle)
        pthread_cond_signal(&syncer->work);
    lock_release(&syncer->lock);
}

void syncer_wait(struct syncer *syncer, uint64_t sequence, struct waiter *waiter)
{
    bool done = syncer_covers(syncer, sequence);

    assert(waiter->wake);
    if (!done) {
        lock_acquire(&syncer->lock);
        done = syncer_covers(syncer, sequence) || atomic_load(&syncer->broken);
        if (!done) {
            waiter->sequence = sequence;
            waiter->next = syncer->waiters;
            syncer->waiters = waiter;
            if (atomic_load(&syncer->slack))
                hurry(syncer);
            if (++syncer->waiting == syncer->gathering)
                pthread_cond_signal(&syncer->work);
        }
        lock_release(&syncer->lock);
    }
    if (done)
        waiter->wake(waiter);
}

void syncer_break(struct syncer *syncer)
{
    atomic_store(&syncer->broken, true);
    wake_ready(syncer);
}
