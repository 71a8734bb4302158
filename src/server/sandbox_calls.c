/* System calls that a server and its libraries make. Others fail as on a kernel that lacks them, so
 * that libraries can fall back. */
#include <errno.h>
#include <linux/fs.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/file.h"
#include "server/sandbox.h"

/* Names, because some calls exist only on some processors and are skipped on others. */
static const char *const calls[] = {
    /* files */
    "access", "chmod", "close", "close_range", "copy_file_range", "dup", "dup2", "dup3",
    "faccessat", "faccessat2", "fadvise64", "fallocate", "fchmod", "fchmodat", "fcntl", "fdatasync",
    "fgetxattr", "flock", "fstat", "fstatfs", "fsync", "ftruncate", "getcwd", "getdents64", "link",
    "linkat", "lseek", "lstat", "mkdir", "mkdirat", "newfstatat", "open", "openat", "pread64",
    "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink",
    "readlinkat", "readv", "rename", "renameat", "renameat2", "rmdir", "sendfile", "stat", "statfs",
    "statx", "sync_file_range", "syncfs", "umask", "unlink", "unlinkat", "write", "writev",
    /* memory */
    "brk", "madvise", "mincore", "mlock", "mmap", "mprotect", "mremap", "munmap",
    /* threads and process identity */
    "arch_prctl", "exit", "exit_group", "futex", "get_robust_list", "getcpu", "getegid", "geteuid",
    "getgid", "getpid", "getpriority", "getrusage", "gettid", "getuid", "membarrier", "prctl",
    "prlimit64", "restart_syscall", "rseq", "sched_getaffinity", "sched_getattr", "sched_getparam",
    "sched_getscheduler", "sched_setaffinity", "sched_setattr", "sched_setscheduler", "sched_yield",
    "set_robust_list", "set_tid_address", "setpriority", "sysinfo", "tgkill", "uname",
    /* signals and time */
    "clock_getres", "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep", "rt_sigaction",
    "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "sigaltstack", "time",
    "times",
    /* sockets and waiting */
    "accept", "accept4", "bind", "connect", "epoll_create", "epoll_create1", "epoll_ctl",
    "epoll_pwait", "epoll_wait", "eventfd2", "getpeername", "getrandom", "getsockname",
    "getsockopt", "listen", "pipe", "pipe2", "poll", "ppoll", "pselect6", "recvfrom", "recvmmsg",
    "recvmsg", "select", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
#ifdef LAGRA_GATES
    "kill", /* a test's gate kills its own process */
#endif
};

/* Allows the named calls. Returns 0 or a negative errno, like libseccomp. */
static int allow_named(scmp_filter_ctx filter, unsigned *count)
{
    int result = 0;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0] && result == 0; i++) {
        int number = seccomp_syscall_resolve_name(calls[i]);

        if (number == __NR_SCMP_ERROR || number < 0)
            continue;
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
        *count += 1;
    }
    return result;
}

/* Allows some calls with certain arguments only. Threads can be created, processes cannot: a filter
 * cannot see the flags of clone3(), so it is refused, and the C library falls back to clone(). */
static int allow_parts(scmp_filter_ctx filter, bool logs, unsigned *count)
{
    static const uint64_t families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
    static const uint64_t controls[] = { FIONREAD, FIONBIO, TCGETS, FS_IOC_GETVERSION };
    int result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));

    for (size_t i = 0; i < sizeof families / sizeof families[0] && result == 0; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
                                  SCMP_A0(SCMP_CMP_EQ, families[i], 0));
    for (size_t i = 0; i < sizeof controls / sizeof controls[0] && result == 0; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                  SCMP_A1(SCMP_CMP_EQ, controls[i], 0));
    if (result == 0)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, FILE_CACHESTAT, 0);
    if (result == 0 && logs) /* else each new thread would be logged */
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone3), 0);
    *count += 4;
    return result;
}

bool sandbox_calls_enter(bool logs, unsigned *ret_count)
{
    scmp_filter_ctx filter = seccomp_init(logs ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(ENOSYS));
    int result;

    *ret_count = 0;
    if (!filter) {
        errno = ENOMEM;
        return false;
    }
    /* A binary tree instead of a list. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    result = allow_named(filter, ret_count);
    if (result == 0)
        result = allow_parts(filter, logs, ret_count);
    if (result == 0)
        result = seccomp_load(filter);
    seccomp_release(filter);
    errno = -result;
    return result == 0;
}
