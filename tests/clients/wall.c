/* To be preloaded into a server: its wall clock, ahead of the machine's by as many seconds as the
 * file that WALL_FILE names says (a decimal number, read at each look). Other clocks are as they
 * are. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef int clock_fn(clockid_t id, struct timespec *ret_now);

static long long ahead_s(void)
{
    const char *path = getenv("WALL_FILE");
    char text[32];
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t size;

    if (fd < 0)
        return 0;
    size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    return strtoll(text, NULL, 10);
}

int clock_gettime(clockid_t id, struct timespec *ret_now)
{
    clock_fn *real;
    int result;

    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    result = real(id, ret_now);
    if (result == 0 && id == CLOCK_REALTIME)
        ret_now->tv_sec += ahead_s();
    return result;
}
