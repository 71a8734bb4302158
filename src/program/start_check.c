/* A trial of what a start takes. */
#include "program/start_check.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"

/* Held by the main thread for as long as the trial's threads are to stay. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_gate(void *unused)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return unused;
}

static bool memory_suffices(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        fprintf(stderr, "lagra: cannot get %zu MiB of memory: %s (ulimit -v)\n", bytes >> 20,
                strerror(errno));
        return false;
    }
    munmap(memory, bytes);
    return true;
}

bool start_check(unsigned threads, size_t memory_bytes)
{
    pthread_t *started = xcalloc(threads, sizeof *started);
    unsigned count = 0;
    int error = 0;
    bool suffices;

    pthread_mutex_lock(&gate);
    while (count < threads && !error) {
        error = pthread_create(&started[count], NULL, wait_for_gate, NULL);
        count += !error;
    }
    if (error)
        fprintf(stderr,
                "lagra: cannot start the %u threads that are needed, only %u: %s (ulimit -u, -v)\n",
                threads, count, strerror(error));
    suffices = !error && memory_suffices(memory_bytes);
    pthread_mutex_unlock(&gate);
    while (count > 0)
        pthread_join(started[--count], NULL);
    free(started);
    return suffices;
}
