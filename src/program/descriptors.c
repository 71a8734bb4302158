/* See descriptors.h. */
#include "program/descriptors.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

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
