/* The list of system calls, entered by a process of its own: what serving takes goes on, what takes a machine over
 * is refused. sandbox.h */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "server/sandbox.h"

/* returns 0 when it is as it should be */
typedef int try_call(void);

static int run_program(void)
{
    char name[] = "/bin/true";
    char *const words[] = { name, NULL };

    execv(name, words);
    return errno != ENOSYS;
}

static int make_process(void)
{
    return fork() >= 0 || errno != ENOSYS;
}

static int trace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 || errno != ENOSYS;
}

static int open_packets(void)
{
    return socket(AF_PACKET, SOCK_RAW, 0) >= 0 || errno != ENOSYS;
}

static int mount_something(void)
{
    return syscall(SYS_mount, "none", "/mnt", "tmpfs", 0, NULL) == 0 || errno != ENOSYS;
}

static int kill_others(void)
{
#ifdef LAGRA_GATES
    return 0; /* a test build may */
#else
    return syscall(SYS_kill, getppid(), 0) == 0 || errno != ENOSYS;
#endif
}

static void *nothing(void *argument)
{
    return argument;
}

static int make_thread(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0;
}

static int listen_and_write(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *memory = malloc(8u << 20);
    int failed = fd < 0 || listen(fd, 1) != 0 || !memory;

    free(memory);
    close(fd);
    return failed;
}

/* In a child, which has the list. */
static void expect(try_call *call, bool logs)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        unsigned count;

        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (!sandbox_calls_enter(logs, &count) || count < 80)
            _exit(2);
        _exit(call());
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void dangerous_calls_are_refused(void **state)
{
    static try_call *const calls[] = { run_program,  make_process,    trace,
                                       open_packets, mount_something, kill_others };

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        expect(calls[i], false);
}

static void required_calls_are_allowed(void **state)
{
    (void)state;
    expect(make_thread, false);
    expect(listen_and_write, false);
}

static int make_process_or_not(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    return child < 0 || waitpid(child, NULL, 0) != child;
}

/* Rule: what is only logged is done. */
static void logged_calls_are_executed(void **state)
{
    (void)state;
    expect(make_process_or_not, true);
    expect(make_thread, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dangerous_calls_are_refused),
        cmocka_unit_test(required_calls_are_allowed),
        cmocka_unit_test(logged_calls_are_executed),
    };

    return cmocka_run_group_tests_name("sandbox_calls", tests, NULL, NULL);
}
