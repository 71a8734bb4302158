/* What the sandbox's list adds to a system call: nanoseconds of each of those that a request makes, before and behind it, the
 * least of many rounds, which other work on the machine does not change. Times the calls of a request (strace -c) it is
 * what a request pays. docs/sandbox.md */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/sandbox.h"

#define ROUNDS 400
#define CALLS  5000

static int set, ends[2];

static long call_getpid(void)
{
    return syscall(SYS_getpid);
}

static long call_epoll_wait(void)
{
    struct epoll_event event;

    return epoll_wait(set, &event, 1, 0);
}

static long call_recv(void)
{
    char byte;

    return recv(ends[0], &byte, 1, MSG_DONTWAIT);
}

static long call_preadv2(void)
{
    char byte;
    const struct iovec part = { &byte, 1 };

    return preadv2(ends[0], &part, 1, 0, RWF_NOWAIT);
}

static const struct {
    const char *name;
    long (*call)(void);
} calls[] = {
    { "getpid", call_getpid },
    { "epoll_wait", call_epoll_wait },
    { "recvfrom", call_recv },
    { "preadv2", call_preadv2 },
};
#define CALLS_COUNT (sizeof calls / sizeof calls[0])

static void measure(double ns[CALLS_COUNT])
{
    for (size_t i = 0; i < CALLS_COUNT; i++) {
        uint64_t least = UINT64_MAX;

        for (int round = 0; round < ROUNDS; round++) {
            uint64_t began = clock_monotonic_ns(), took;

            for (int n = 0; n < CALLS; n++)
                (void)calls[i].call(); /* most have nothing to do */
            took = clock_monotonic_ns() - began;
            if (took < least)
                least = took;
        }
        ns[i] = (double)least / CALLS;
    }
}

int main(void)
{
    double before[CALLS_COUNT], behind[CALLS_COUNT];
    unsigned count;

    set = epoll_create1(0);
    if (set < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return EXIT_FAILURE;
    measure(before);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !sandbox_calls_enter(false, &count))
        return EXIT_FAILURE;
    measure(behind);
    for (size_t i = 0; i < CALLS_COUNT; i++)
        printf("%-10s %.0f ns, behind the list of %u calls %.0f: %.0f more\n", calls[i].name,
               before[i], count, behind[i], behind[i] - before[i]);
    return EXIT_SUCCESS;
}
