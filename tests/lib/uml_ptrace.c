/* Preloaded into User-Mode Linux 6.1, which knows vector registers up to AVX-512 and gives the machine's kernel 2,696
 * bytes of them back. Where a processor has more (AMX), the kernel takes all of them or none (EFAULT), and the guest
 * panics at its first program. Here what UML does not know stays as it is. Linux, arch/x86/kernel/fpu/regset.c */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { REGISTERS_MAX = 64 * 1024 };

typedef long ptrace_function(enum __ptrace_request, ...);

/* Not on the stack, which is one of the guest's kernel, 16 KiB. One thread alone traces. */
static char registers[REGISTERS_MAX] __attribute__((aligned(64)));

long ptrace(enum __ptrace_request request, ...)
{
    static ptrace_function *next;
    va_list list;
    int pid;
    void *address, *data;
    struct iovec whole = { registers, sizeof registers };

    va_start(list, request);
    pid = va_arg(list, int);
    address = va_arg(list, void *);
    data = va_arg(list, void *);
    va_end(list);
    if (!next)
        next = (ptrace_function *)dlsym(RTLD_NEXT, "ptrace");
    if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE &&
        next(PTRACE_GETREGSET, pid, address, &whole) == 0) {
        const struct iovec *given = data;

        if (given->iov_len < whole.iov_len) {
            memcpy(registers, given->iov_base, given->iov_len);
            data = &whole;
        }
    }
    return next(request, pid, address, data);
}
