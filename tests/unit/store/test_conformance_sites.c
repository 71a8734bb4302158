/* Stores on disk: each call that changes the disk, one after the other, fails once, or is the last
 * thing the process does, or the last before the power goes. Whatever the call was, what was
 * acknowledged is there after the next start, commits are whole, and no bytes are lost. store
 * invariants 1, 2, 3 and 6
 *
 * This program has its own write(), pwrite(), fdatasync() and so on, which the store's library and
 * its record engine call instead of libc's. */
#include "conformance_child.h"
#include "conformance_numbers.h"
#include "conformance_power.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"

enum fault { NO_FAULT, FAIL, DIE, CUT };
static const char *const fault_names[] = { "", "fail", "die", "cut" };

static enum fault fault;           /* what happens at the site; set before any thread */
static atomic_long calls_to_fault; /* it happens when this falls to 0 */
static int pipe_to_parent = -1;    /* not of the store */

/* True when this call is to fail. */
static bool site(int fd)
{
    if (fault == NO_FAULT || fd <= STDERR_FILENO || fd == pipe_to_parent)
        return false;
    if (atomic_fetch_sub(&calls_to_fault, 1) != 1)
        return false;
    if (fault != FAIL)
        raise(SIGKILL);
    errno = EIO;
    return true;
}

/* Under the names of the C library; some have a second one, for offsets of 64 bits, which the
 * headers may give the first one as well. So each is defined by the name that the linker sees. */
#define SITE(c_name, linker_name, call, parameters, fd, ...)                                       \
    ssize_t c_name parameters __asm__(linker_name);                                                \
    ssize_t c_name parameters                                                                      \
    {                                                                                              \
        return site(fd) ? -1 : (ssize_t)syscall(call, __VA_ARGS__);                                \
    }
#define SITE_INT(c_name, linker_name, call, parameters, fd, ...)                                   \
    int c_name parameters __asm__(linker_name);                                                    \
    int c_name parameters                                                                          \
    {                                                                                              \
        return site(fd) ? -1 : (int)syscall(call, __VA_ARGS__);                                    \
    }

/* clang-format off */
SITE(site_write, "write", SYS_write, (int fd, const void *from, size_t size), fd, fd, from, size)
SITE(site_pwrite, "pwrite", SYS_pwrite64,
     (int fd, const void *from, size_t size, int64_t at), fd, fd, from, size, at)
SITE(site_pwrite64, "pwrite64", SYS_pwrite64,
     (int fd, const void *from, size_t size, int64_t at), fd, fd, from, size, at)
SITE(site_pwritev, "pwritev", SYS_pwritev,
     (int fd, const struct iovec *from, int count, int64_t at), fd, fd, from, count, at, 0)
SITE(site_pwritev64, "pwritev64", SYS_pwritev,
     (int fd, const struct iovec *from, int count, int64_t at), fd, fd, from, count, at, 0)
SITE_INT(site_ftruncate, "ftruncate", SYS_ftruncate, (int fd, int64_t size), fd, fd, size)
SITE_INT(site_ftruncate64, "ftruncate64", SYS_ftruncate, (int fd, int64_t size), fd, fd, size)
SITE_INT(site_fallocate, "fallocate", SYS_fallocate,
         (int fd, int mode, int64_t at, int64_t size), fd, fd, mode, at, size)
SITE_INT(site_fallocate64, "fallocate64", SYS_fallocate,
         (int fd, int mode, int64_t at, int64_t size), fd, fd, mode, at, size)
/* clang-format on */

static int sync_file(long call, int fd)
{
    if (site(fd))
        return -1;
    power_sync(fd);
    return (int)syscall(call, fd);
}

int fsync(int fd)
{
    return sync_file(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_file(SYS_fdatasync, fd);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    if (site(INT32_MAX))
        return -1;
    power_keep_inode(to_fd, to);
    if (syscall(SYS_renameat, from_fd, from, to_fd, to) != 0)
        return -1;
    power_renamed(to_fd, to);
    return 0;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlinkat(int fd, const char *path, int flags)
{
    if (site(INT32_MAX))
        return -1;
    power_keep_inode(fd, path);
    return (int)syscall(SYS_unlinkat, fd, path, flags);
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

/* The record engine has asserts that a failing disk can reach: the process may stop by one of
 * them, which is an end like any other, but not by one of ours. */
noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
                            const char *function)
{
    bool ours = strstr(file, "src/") || strstr(file, "tests/");

    (void)fprintf(stderr, "%s:%u: %s: %s\n", file, line, function, expression);
    if (!ours)
        raise(SIGKILL);
    abort();
}

/* ---- the load ---- */

#define COMMITS     6
#define FINISHED    UINT64_MAX /* told when the load ended before the fault */
#define SITES_MAX   2000
#define SITE_NAME   "LAGRA_TEST_SITE"
#define FAULT_NAME  "LAGRA_TEST_FAULT"
#define NUMBER_SIZE 24

static const char *shadow_of(struct fixture *f)
{
    return arena_printf(f->arena, "%s.shadow%c", f->folder, 0).ptr;
}

/* Opens, commits, collects and closes, with the fault that the parent asks for; tells what is
 * acknowledged. */
static void work_until_fault(struct fixture *f, int to_parent)
{
    uint64_t sequence, first;

    pipe_to_parent = to_parent;
    atomic_store(&calls_to_fault, strtol(getenv(SITE_NAME), NULL, 10));
    for (enum fault i = FAIL; i <= CUT; i++)
        if (strcmp(getenv(FAULT_NAME), fault_names[i]) == 0)
            fault = i;
    if (fault == CUT && !power_begin(f->folder, shadow_of(f)))
        abort();
    if (f->engine->open(f->folder, &f->store) != STORE_OK)
        return;
    first = numbers_newest(f) + 1;
    for (uint64_t number = first; number < first + COMMITS; number++) {
        if (numbers_commit(f, number, &sequence) != STORE_OK)
            break;
        wait_durable(f->store, sequence);
        if (store_durable(f->store, sequence) != STORE_OK)
            break;
        child_tell(to_parent, number);
    }
    (void)usage_now(f->store);
    store_close(f->store);
    if (atomic_load(&calls_to_fault) > 0)
        child_tell(to_parent, FINISHED);
}

/* One run with the fault at one site. False when the load ended before it. */
static bool run_with_fault(struct fixture *f, enum fault asked, long where)
{
    const char *action = fault_names[asked];
    char number[NUMBER_SIZE];
    uint64_t acknowledged = 0, heard = 0;
    int from_child;
    pid_t child;

    (void)snprintf(number, sizeof number, "%ld", where);
    setenv(SITE_NAME, number, 1);
    setenv(FAULT_NAME, action, 1);
    child = child_start(f, "work_until_fault", &from_child);
    while (child_hear(from_child, &heard) && heard != FINISHED)
        acknowledged = heard;
    if (!child_end(child, from_child))
        fail_msg("the process ended at call %ld (%s) in a way that was not meant", where, action);
    if (asked == CUT)
        assert_true(power_restore(f->folder, shadow_of(f)));
    fixture_reopen(f);
    if (numbers_check(f) < acknowledged)
        fail_msg("an acknowledged commit is lost after call %ld (%s)", where, action);
    return heard != FINISHED;
}

static void run_with_each(struct fixture *f, enum fault asked)
{
    long where = 1;

    while (run_with_fault(f, asked, where)) {
        where++;
        assert_true(where < SITES_MAX);
    }
    assert_true(where > 20); /* the calls were seen at all */
    print_message("%ld calls\n", where - 1);
}

/* Rule: whichever call fails, nothing acknowledged is lost and nothing is half done. */
static void any_call_may_fail(void **state)
{
    run_with_each(*state, FAIL);
}

/* Rule: the same when the process is killed at any call. */
static void any_call_may_be_the_last(void **state)
{
    run_with_each(*state, DIE);
}

/* Rule: the same when the power goes at any call: what was not synced is lost. */
static void power_may_go_at_any_call(void **state)
{
    run_with_each(*state, CUT);
}

int main(int argc, char **argv)
{
    static const struct conformance_child children[] = { CHILD(work_until_fault) };
    static const struct conformance_test tests[] = {
        TEST(any_call_may_fail, STORES_ON_DISK),
        TEST(any_call_may_be_the_last, STORES_ON_DISK),
        TEST(power_may_go_at_any_call, STORES_ON_DISK),
    };

    if (!log_open(LOG_ERROR, "/dev/null")) /* it returns each failure */
        return 1;
    /* What is lost is decided here, so the fastest of file systems will do. */
    if (access("/dev/shm", W_OK) == 0 && setenv("LAGRA_TEST_FOLDERS", "/dev/shm", 0) != 0)
        return 1;
    child_main(argc, argv, children, sizeof children / sizeof children[0]);
    return conformance_run("sites", tests, sizeof tests / sizeof tests[0]);
}
