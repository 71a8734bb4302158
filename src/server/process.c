/* Process-wide checks and settings: see process.h. Also handles failed assertions, ours and
 * RocksDB's. */
#include "server/process.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/thread.h"

/* ---- a trial of the resources that a start needs ---- */

/* Held by the main thread while the trial's threads must stay alive. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_gate(void *unused)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return unused;
}

#define TRIAL_STACK_BYTES ((size_t)64 << 10)

/* Returns the stack size of the trial's threads. The stacks of the real ones are only mapped:
 * starting 43 threads with stacks in one mapping takes half the CPU time. Arm64 requires at least
 * 128 KiB. */
static size_t trial_stack_bytes(void)
{
    long least = sysconf(_SC_THREAD_STACK_MIN);

    return least > (long)TRIAL_STACK_BYTES ? (size_t)least : TRIAL_STACK_BYTES;
}

/* Returns the bytes that the stacks of this many threads take, at the default size. */
static size_t stacks_bytes(const pthread_attr_t *attributes, unsigned threads)
{
    size_t size = 0, least = trial_stack_bytes();

    (void)pthread_attr_getstacksize(attributes, &size);
    return threads * (size > least ? size : least);
}

/* Starts and ends threads. Returns 0, or the error of the first thread that could not be
 * started. */
static int try_threads(pthread_attr_t *attributes, char *stacks, unsigned threads,
                       unsigned *ret_count)
{
    pthread_t *started = xcalloc(threads, sizeof *started);
    size_t size = trial_stack_bytes();
    unsigned count = 0;
    int error = 0;

    pthread_mutex_lock(&gate);
    while (count < threads && !error) {
        error = pthread_attr_setstack(attributes, stacks + count * size, size);
        if (!error)
            error = pthread_create(&started[count], attributes, wait_for_gate, NULL);
        count += !error;
    }
    pthread_mutex_unlock(&gate);
    *ret_count = count;
    while (count > 0)
        pthread_join(started[--count], NULL);
    free(started);
    return error;
}

bool start_check(unsigned threads, size_t memory_bytes)
{
    pthread_attr_t attributes;
    unsigned count;
    size_t bytes;
    char *memory;
    int error;

    pthread_attr_init(&attributes);
    bytes = stacks_bytes(&attributes, threads) + memory_bytes;
    /* Not reserved: the kernel could refuse in one piece what threads get piece by piece. */
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "lagra: cannot get %zu MiB of memory: %s (ulimit -v)\n", bytes >> 20,
                strerror(errno));
        pthread_attr_destroy(&attributes);
        return false;
    }
    error = try_threads(&attributes, memory, threads, &count);
    if (error)
        fprintf(stderr,
                "lagra: cannot start the %u threads that are needed, only %u: %s (ulimit -u)\n",
                threads, count, strerror(error));
    munmap(memory, bytes);
    pthread_attr_destroy(&attributes);
    return !error;
}

/* ---- the allocator ---- */

/* Read by jemalloc when it is loaded. */
extern const char *malloc_conf;
const char *malloc_conf = "dirty_decay_ms:2000,muzzy_decay_ms:0";

/* jemalloc(3); missing under sanitizers */
extern int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
    __attribute__((weak));

bool allocator_start(void)
{
    bool enabled = true;

    return !mallctl || mallctl("background_thread", NULL, NULL, &enabled, sizeof enabled) == 0;
}

/* ---- a store that failed ---- */

static bool keeps_reading;

void ending_keep_reading(bool keep)
{
    keeps_reading = keep;
}

_Noreturn void ending_of_failed_store(void)
{
    log_line(LOG_ERROR,
             "lagra exits with code %d: a disk write or sync failed. Acknowledged data is "
             "on disk; check the disk, then start Lagra again",
             EXIT_STORE_FAILED);
    _exit(EXIT_STORE_FAILED);
}

_Noreturn void ending_of_lost_cell(unsigned cell, const char *why)
{
    log_line(LOG_ERROR,
             "lagra exits with code %d: it has lost cell %u: %s. Acknowledged data is in "
             "the cell; start it again, and it stands by",
             EXIT_STORE_FAILED, cell, why);
    _exit(EXIT_STORE_FAILED);
}

static void *end_late(void *argument)
{
    const unsigned *seconds = argument;

    sleep(*seconds);
    log_line(LOG_ERROR,
             "lagra exits with code %d: the file system of its cell does not respond. "
             "Acknowledged data is in the cell; the outcome of unanswered requests is unknown",
             EXIT_STORE_AWAY);
    _exit(EXIT_STORE_AWAY);
    return NULL;
}

void ending_within(unsigned seconds)
{
    static struct thread thread;
    static unsigned bound;

    bound = seconds;
    (void)thread_start(&thread, end_late, &bound);
}

void ending_store_failed(void)
{
    if (!keeps_reading)
        ending_of_failed_store();
    log_line(LOG_ERROR,
             "reads continue (--keepReading); writes fail with 500 until the next start");
}

static bool is_of_rocksdb(const void *address)
{
    Dl_info found;

    return dladdr(address, &found) != 0 && found.dli_fname && strstr(found.dli_fname, "librocksdb");
}

/* Replaces the C library's function. After a failed write, RocksDB asserts that the file is not
 * used again but does so itself: in another thread, in closing, and when opening fails half-way.
 * Debian builds it with assertions. Its writes belong to the store, so the process ends like after
 * a failed write, without an abort. */
_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
                             const char *function)
{
    if (is_of_rocksdb(__builtin_return_address(0))) {
        log_line(LOG_ERROR, "store: RocksDB failed: %s:%u: %s: %s", file, line, function,
                 expression);
        ending_of_failed_store();
    }
    fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name, file,
            line, function, expression);
    abort();
}

unsigned descriptors_allow(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur < UINT_MAX ? (unsigned)limit.rlim_cur : UINT_MAX;
}

bool descriptors_are_free(size_t count)
{
    int files[DESCRIPTORS_ASKED_MAX];
    size_t opened = 0;

    assert(count <= DESCRIPTORS_ASKED_MAX);
    while (opened < count) {
        files[opened] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (files[opened] < 0)
            break;
        opened++;
    }
    for (size_t i = 0; i < opened; i++)
        close(files[i]);
    return opened == count;
}

void supervisor_notify(const char *state)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = name ? strlen(name) : 0;
    int to;

    if (length < 2 || length >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@'))
        return;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0'; /* an abstract address */
    to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (to < 0 || sendto(to, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
        log_errno("notify the supervisor of %s", state);
    if (to >= 0)
        close(to);
}
