/* See event_log.h. A ring has one writer, its thread, and one reader, the log thread. Positions
 * only grow. An event is contiguous, so bytes at the end of a ring may be skipped. */
#include "base/event_log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/episode.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"

/* Size of a ring: enough for a twelfth of a second at 30,000 requests/s of 400 bytes, which is
 * several times the interval between two rounds. */
#define RING_BYTES     ((size_t)1 << 20)
/* Pause after a round that found events. Events recorded during the pause go into one write, and
 * their threads need not wake the log thread. */
#define ROUND_MS       5
/* Size of the buffer for lines that are written together. */
#define WRITE_BYTES    ((size_t)64 * 1024)
#define LINE_BYTES_MAX ((size_t)32 * 1024)
/* Time after which the pending output for a stalled pipe is dropped. */
#define PIPE_MS        1000

struct event_head {
    uint32_t size; /* size of the event; 0 means that the rest of the ring is unused */
    uint32_t logs;
};

struct ring {
    struct ring *next; /* in the list of all rings; constant once listed */
    bool is_left;      /* under lock; its thread has ended */
    char *bytes;
    _Alignas(64) _Atomic uint64_t end; /* end of the events; written by the owning thread */
    uint64_t begun;                    /* next `end`, while an event is being filled */
    uint64_t known_begin;              /* `begin` as last read by the owning thread */
    /* position of the first unwritten event; written by the log thread */
    _Alignas(64) _Atomic uint64_t begin;
};

struct sink {
    const char *path;
    event_format *format;
    event_take *take; /* NULL for a log of lines */
    int fd;
    bool is_torn; /* its last line was truncated */
    struct text lines;
    size_t line_count;
    metric_slot written, left_out;
};

static struct {
    struct lock lock;
    struct ring *rings; /* under lock */
    pthread_key_t key;
    unsigned on; /* bits 1 << EVENTS_..; constant while threads are logging */
    struct sink sinks[EVENT_LOGS];
    struct arena *arena;
    struct thread thread;
    int wake;
    _Atomic bool sleeps, ends, reopens;
} all = { .wake = -1 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local struct ring *mine;

static const char *const names[EVENT_LOGS] = {
    [EVENTS_ACCESS] = "access",
    [EVENTS_AUDIT] = "audit",
    [EVENTS_SLOW] = "slow",
    [EVENTS_ANALYTICS] = "analytics",
};
static const struct metric_family written = { "lagra_log_events_total", "Events written to a log.",
                                              METRIC_COUNTER };
static const struct metric_family left_out = {
    "lagra_log_events_dropped_total",
    "Events dropped because a ring buffer was full or a write failed.", METRIC_COUNTER
};

/* ---- rings ---- */

static void leave_ring(void *ring)
{
    lock_acquire(&all.lock);
    ((struct ring *)ring)->is_left = true;
    lock_release(&all.lock);
}

static void init(void)
{
    lock_init(&all.lock, RANK_EVENTS);
    if (pthread_key_create(&all.key, leave_ring) != 0)
        abort();
}

/* Reuses the ring of a thread that has ended, or creates one. */
static struct ring *take_ring(void)
{
    struct ring *ring;

    lock_acquire(&all.lock);
    ring = all.rings;
    while (ring && !ring->is_left)
        ring = ring->next;
    if (ring) {
        ring->is_left = false;
    } else {
        ring = aligned_alloc(_Alignof(struct ring), sizeof *ring);
        if (!ring)
            out_of_memory(sizeof *ring);
        memset(ring, 0, sizeof *ring);
        ring->bytes = xmalloc(RING_BYTES);
        ring->next = all.rings;
        all.rings = ring;
    }
    lock_release(&all.lock);
    pthread_setspecific(all.key, ring);
    mine = ring;
    return ring;
}

static struct ring *first_ring(void)
{
    struct ring *ring;

    lock_acquire(&all.lock);
    ring = all.rings;
    lock_release(&all.lock);
    return ring;
}

/* ---- recording an event ---- */

unsigned event_logs_on(void)
{
    return all.on;
}

static void leave_out(unsigned logs)
{
    for (unsigned i = 0; i < EVENT_LOGS; i++) {
        if (logs & 1u << i)
            metric_add(all.sinks[i].left_out, 1);
    }
    episode_goes_on(EPISODE_LOGS, "the ring buffer is full");
}

static bool has_room(struct ring *ring, uint64_t end)
{
    if (end - ring->known_begin <= RING_BYTES)
        return true;
    ring->known_begin = atomic_load_explicit(&ring->begin, memory_order_acquire);
    return end - ring->known_begin <= RING_BYTES;
}

void *event_begin(unsigned logs, size_t size)
{
    struct ring *ring = mine ? mine : take_ring();
    uint64_t end = atomic_load_explicit(&ring->end, memory_order_relaxed);
    size_t at = end % RING_BYTES, needed = (sizeof(struct event_head) + size + 7) & ~(size_t)7;
    struct event_head head = { .size = (uint32_t)size, .logs = logs };
    const struct event_head passed = { .size = 0 };
    size_t skipped = at + needed > RING_BYTES ? RING_BYTES - at : 0;

    assert(size > 0 && size <= EVENT_BYTES_MAX && logs != 0 && ring->begun == 0);
    if (!has_room(ring, end + skipped + needed)) {
        leave_out(logs);
        return NULL;
    }
    if (skipped > 0) {
        memcpy(ring->bytes + at, &passed, sizeof passed);
        at = 0;
    }
    memcpy(ring->bytes + at, &head, sizeof head);
    ring->begun = end + skipped + needed;
    return ring->bytes + at + sizeof head;
}

static void wake(void)
{
    const uint64_t one = 1;

    if (write(all.wake, &one, sizeof one) != sizeof one)
        log_errno("write an eventfd");
}

/* The log thread announces that it will sleep and then checks for events; a thread that records an
 * event then checks whether the log thread sleeps, and wakes it. On both sides, the store precedes
 * the load, so no event is missed. */
void event_finish(void)
{
    assert(mine && mine->begun > 0);
    atomic_store(&mine->end, mine->begun);
    mine->begun = 0;
    if (atomic_load(&all.sleeps) && atomic_exchange(&all.sleeps, false))
        wake();
}

/* ---- the log thread ---- */

static int open_sink(const char *path)
{
    /* Fails for a pipe without a reader. With O_NONBLOCK, a slow reader cannot block the
     * thread. */
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, LOG_FILE_MODE);
}

static void fail(struct sink *sink, const char *why)
{
    char detail[256];

    snprintf(detail, sizeof detail, "%s: %s", sink->path, why);
    metric_add(sink->left_out, (int64_t)sink->line_count);
    episode_goes_on(EPISODE_LOGS, detail);
}

static bool write_all(struct sink *sink, struct bytes rest)
{
    while (rest.len > 0) {
        ssize_t n = write(sink->fd, rest.ptr, rest.len);
        struct pollfd ready = { .fd = sink->fd, .events = POLLOUT };

        if (n > 0)
            rest = bytes_from(rest, (size_t)n);
        else if (n < 0 && errno != EINTR && (errno != EAGAIN || poll(&ready, 1, PIPE_MS) <= 0))
            return false;
        if (n > 0)
            sink->is_torn = rest.len > 0 && rest.ptr[-1] != '\n';
    }
    return true;
}

static void flush(struct sink *sink)
{
    struct bytes lines = text_bytes(&sink->lines);

    if (lines.len == 0)
        return;
    if (sink->fd < 0)
        fail(sink, "the file is not open");
    else if ((sink->is_torn && !write_all(sink, bytes_from_string("\n"))) ||
             !write_all(sink, lines))
        fail(sink, strerrordesc_np(errno));
    else
        metric_add(sink->written, (int64_t)sink->line_count);
    sink->lines.len = 0;
    sink->line_count = 0;
}

static void hand(const struct sink *sink, struct bytes event)
{
    bool is_taken = sink->take(event);

    metric_add(is_taken ? sink->written : sink->left_out, 1);
    if (!is_taken)
        episode_goes_on(EPISODE_LOGS, "the receiver has no space");
}

void event_log_lost(enum event_log log, size_t count, const char *why)
{
    metric_add(all.sinks[log].left_out, (int64_t)count);
    episode_goes_on(EPISODE_LOGS, why);
}

static void write_line(enum event_log log, struct bytes event)
{
    struct sink *sink = &all.sinks[log];
    size_t before = sink->lines.len;

    if (sink->take) {
        hand(sink, event);
        return;
    }
    sink->format(log, event, &sink->lines);
    sink->line_count++;
    assert(sink->lines.len - before <= LINE_BYTES_MAX);
    if (sink->path) {
        text_add_char(&sink->lines, '\n');
        if (sink->lines.len >= WRITE_BYTES)
            flush(sink);
        return;
    }
    log_line(LOG_WARN, "%.*s", (int)sink->lines.len, sink->lines.ptr);
    metric_add(sink->written, 1);
    sink->lines.len = 0;
    sink->line_count = 0;
}

/* Writes or passes on the events of a ring. Returns true if there were any. */
static bool drain(struct ring *ring)
{
    uint64_t begin = atomic_load_explicit(&ring->begin, memory_order_relaxed);
    uint64_t end = atomic_load(&ring->end);
    bool found = begin < end;

    while (begin < end) {
        size_t at = begin % RING_BYTES;
        struct event_head head;

        memcpy(&head, ring->bytes + at, sizeof head);
        if (head.size == 0) {
            begin += RING_BYTES - at;
            continue;
        }
        for (unsigned i = 0; i < EVENT_LOGS; i++) {
            if (head.logs & 1u << i)
                write_line((enum event_log)i, bytes_of(ring->bytes + at + sizeof head, head.size));
        }
        begin += (sizeof head + head.size + 7) & ~(size_t)7;
        atomic_store_explicit(&ring->begin, begin, memory_order_release);
    }
    atomic_store_explicit(&ring->begin, begin, memory_order_release);
    return found;
}

static bool drain_all(void)
{
    bool found = false;

    for (struct ring *ring = first_ring(); ring; ring = ring->next)
        found |= drain(ring);
    for (unsigned i = 0; i < EVENT_LOGS; i++)
        flush(&all.sinks[i]);
    return found;
}

/* Reopens all files. A file that cannot be reopened remains in use. */
static void reopen_all(void)
{
    for (unsigned i = 0; i < EVENT_LOGS; i++) {
        struct sink *sink = &all.sinks[i];
        int fd = sink->path ? open_sink(sink->path) : -1;

        if (sink->path && fd < 0)
            log_errno("reopen %s", sink->path);
        if (fd < 0)
            continue;
        if (sink->fd >= 0)
            close(sink->fd);
        sink->fd = fd;
        sink->is_torn = false;
    }
}

static void sleep_for(int timeout_ms)
{
    struct pollfd woken = { .fd = all.wake, .events = POLLIN };
    uint64_t count;

    if (poll(&woken, 1, timeout_ms) > 0 && read(all.wake, &count, sizeof count) < 0 &&
        errno != EAGAIN)
        log_errno("read an eventfd");
}

static void *run(void *argument)
{
    (void)argument;
    pthread_setname_np(pthread_self(), "event-logs");
    for (;;) {
        bool ends = atomic_load(&all.ends);

        if (atomic_exchange(&all.reopens, false))
            reopen_all();
        if (drain_all()) {
            sleep_for(ROUND_MS);
            continue;
        }
        if (ends)
            return NULL;
        atomic_store(&all.sleeps, true);
        if (!drain_all() && !atomic_load(&all.ends) && !atomic_load(&all.reopens))
            sleep_for(-1);
        atomic_store(&all.sleeps, false);
    }
}

/* ---- start and stop ---- */

static void init_sink(enum event_log log, const struct sink *as)
{
    struct sink *sink = &all.sinks[log];
    char labels[32];

    pthread_once(&once, init);
    assert(!all.thread.running && !(all.on & 1u << log));
    if (!all.arena)
        all.arena = arena_new((size_t)16 << 20);
    snprintf(labels, sizeof labels, "log=\"%s\"", names[log]);
    *sink = *as;
    sink->written = metric_series(&written, labels);
    sink->left_out = metric_series(&left_out, labels);
    all.on |= 1u << log;
}

bool event_log_open(enum event_log log, const char *path, event_format *format)
{
    int fd = path ? open_sink(path) : -1;

    if (path && fd < 0)
        return false;
    init_sink(log, &(struct sink){ .path = path, .format = format, .fd = fd });
    text_init(&all.sinks[log].lines, all.arena, WRITE_BYTES + LINE_BYTES_MAX);
    return true;
}

void event_log_hand(enum event_log log, event_take *take)
{
    init_sink(log, &(struct sink){ .take = take, .fd = -1 });
}

bool event_logs_start(void)
{
    if (!all.arena)
        return true;
    atomic_store(&all.ends, false);
    all.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return all.wake >= 0 && thread_start(&all.thread, run, NULL);
}

void event_logs_reopen(void)
{
    if (!all.thread.running)
        return;
    atomic_store(&all.reopens, true);
    wake();
}

void event_logs_stop(void)
{
    if (!all.arena)
        return;
    if (all.thread.running) {
        atomic_store(&all.ends, true);
        wake();
        thread_join(&all.thread);
    }
    if (all.wake >= 0)
        close(all.wake);
    for (unsigned i = 0; i < EVENT_LOGS; i++) {
        if (all.on & 1u << i && all.sinks[i].fd >= 0)
            close(all.sinks[i].fd);
        all.sinks[i] = (struct sink){ .path = NULL };
    }
    all.on = 0;
    arena_free(all.arena);
    all.arena = NULL;
    all.wake = -1;
}
