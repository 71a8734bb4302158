/* Measures the embedded store alone: how many durable commits and how many reads a second it gives,
 * and what each costs in processor time. Not a test; the figures of src/store/README.md are its.
 *
 *   measure_embedded FOLDER [SECONDS] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "store/store.h"

#define WORKERS       2
#define WAITERS_MAX   32 /* a worker */
#define KEYS          100000u
#define CONTENT_BYTES 1024
#define RECORD_BYTES  200

struct worker;

/* One change on its way: decided, committed, waiting to be durable, and again. */
struct waiting {
    struct waiter waiter; /* first */
    struct worker *worker;
    struct waiting *next;
};

struct worker {
    struct store *store;
    struct guid space;
    unsigned number;
    double until;
    uint64_t done;
    size_t waiters;
    unsigned keys; /* that there are to read */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    struct waiting *ready; /* under the mutex */
    struct waiting all[WAITERS_MAX];
};

static char content[CONTENT_BYTES];

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void wake(struct waiter *waiter)
{
    struct waiting *waiting = (struct waiting *)waiter;
    struct worker *worker = waiting->worker;

    pthread_mutex_lock(&worker->mutex);
    waiting->next = worker->ready;
    worker->ready = waiting;
    pthread_cond_signal(&worker->condition);
    pthread_mutex_unlock(&worker->mutex);
}

static struct partition partition_at(const struct worker *worker, struct arena *arena, unsigned key)
{
    return (struct partition){ worker->space,
                               arena_printf(arena, "blob-%u-%06u", worker->number, key) };
}

static void put(struct worker *worker, struct arena *arena, struct waiting *waiting)
{
    struct partition partition = partition_at(worker, arena, (unsigned)(worker->done % KEYS));
    struct read_view *snapshot = read_view_open(worker->store, partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct record record;
    uint64_t sequence;
    enum store_result result;

    result = read_view_get(snapshot, RECORD_LISTED, bytes_of("", 0), arena, &record);
    assert(result == STORE_OK || result == STORE_NOT_FOUND);
    changes_put(changes, RECORD_LISTED, bytes_of("", 0), bytes_of(content, RECORD_BYTES), NULL, 0);
    changes_put(changes, RECORD_INNER, bytes_of("c", 1), bytes_of(content, CONTENT_BYTES), NULL, 0);
    result = store_commit(worker->store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                          STORE_MAY_BLOCK, &sequence);
    assert(result == STORE_OK);
    read_view_close(snapshot);
    worker->done++;
    waiting->waiter.wake = wake;
    store_wait_durable(worker->store, sequence, &waiting->waiter);
}

static void *put_over_and_over(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = arena_new(1u << 20);
    struct arena_mark mark = arena_mark(arena);
    size_t left = worker->waiters;

    while (left > 0) {
        struct waiting *ready;

        pthread_mutex_lock(&worker->mutex);
        while (!worker->ready)
            pthread_cond_wait(&worker->condition, &worker->mutex);
        ready = worker->ready;
        worker->ready = NULL;
        pthread_mutex_unlock(&worker->mutex);
        for (struct waiting *next; ready; ready = next) {
            next = ready->next;
            if (now_s() >= worker->until)
                left--;
            else
                put(worker, arena, ready);
            arena_rewind(arena, mark);
        }
    }
    arena_free(arena);
    return NULL;
}

static void *get_over_and_over(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = arena_new(1u << 20);
    struct arena_mark mark = arena_mark(arena);

    for (; now_s() < worker->until; worker->done++) {
        unsigned key = (unsigned)(worker->done * 7919 % worker->keys);
        struct read_view *snapshot =
            read_view_open(worker->store, partition_at(worker, arena, key), STORE_MAY_BLOCK);
        struct record record;
        enum store_result result;

        result = read_view_get(snapshot, RECORD_LISTED, bytes_of("", 0), arena, &record);
        assert(result == STORE_OK);
        result = read_view_get(snapshot, RECORD_INNER, bytes_of("c", 1), arena, &record);
        assert(result == STORE_OK && record.value.len == CONTENT_BYTES);
        read_view_close(snapshot);
        arena_rewind(arena, mark);
    }
    arena_free(arena);
    return NULL;
}

/* Runs all workers and prints what they did; gives the fewest operations of one. */
static uint64_t measure(struct worker *workers, const char *what, double seconds,
                        void *(*run)(void *argument))
{
    double begin = now_s(), cpu = cpu_s();
    uint64_t done = 0, fewest = UINT64_MAX;

    for (int i = 0; i < WORKERS; i++) {
        workers[i].done = 0;
        workers[i].until = begin + seconds;
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0)
            abort();
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        done += workers[i].done;
        if (workers[i].done < fewest)
            fewest = workers[i].done;
    }
    printf("%-36s %9.0f /s %7.1f us of CPU each\n", what, (double)done / (now_s() - begin),
           (cpu_s() - cpu) / (double)done * 1e6);
    return fewest;
}

static uint64_t measure_puts(struct worker *workers, size_t waiters, double seconds)
{
    char what[64];

    for (int i = 0; i < WORKERS; i++) {
        struct worker *worker = &workers[i];

        worker->waiters = waiters / WORKERS;
        worker->ready = NULL;
        for (size_t w = 0; w < worker->waiters; w++) {
            worker->all[w].worker = worker;
            worker->all[w].next = worker->ready;
            worker->ready = &worker->all[w];
        }
    }
    (void)snprintf(what, sizeof what, "durable puts of 1 KiB, %zu waiters", waiters);
    return measure(workers, what, seconds, put_over_and_over);
}

int main(int argc, char **argv)
{
    struct store_options options = { .location = argc > 1 ? argv[1] : NULL, .sync = true };
    double seconds = argc > 2 ? atof(argv[2]) : 5;
    static struct worker workers[WORKERS];
    const char *problem;
    uint64_t keys = 0;
    struct store *store;

    if (!options.location || store_open_embedded(&options, &store, &problem)) {
        fprintf(stderr, "usage: measure_embedded FOLDER [SECONDS]; the folder must be usable\n");
        return 2;
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){ .store = store, .space = guid_new(), .number = i };
        pthread_mutex_init(&workers[i].mutex, NULL);
        pthread_cond_init(&workers[i].condition, NULL);
    }
    for (size_t waiters = 2; waiters <= 32; waiters *= 4)
        keys = measure_puts(workers, waiters, seconds);
    for (int i = 0; i < WORKERS; i++)
        workers[i].keys = keys < KEYS ? (unsigned)keys : KEYS;
    measure(workers, "snapshot and two gets", seconds, get_over_and_over);
    store_close(store);
    return 0;
}
