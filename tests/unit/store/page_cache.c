/* preadv2(2) in the place of the C library's. */
#include "page_cache.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

bool page_cache_is_empty;
bool page_cache_is_unknown;

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
    ssize_t done;

    if (page_cache_is_empty && (flags & RWF_NOWAIT)) {
        errno = EAGAIN;
        return -1;
    }
    done = syscall(SYS_preadv2, fd, parts, count, at, 0, flags);
    if (done < 0 && errno == EOPNOTSUPP)
        page_cache_is_unknown = true;
    return done;
}
