/* preadv2(2) with RWF_NOWAIT in the place of pread(2). */
#include "store/embedded/page_cache.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

static _Thread_local bool only_cached;

void page_cache_only(bool only)
{
    only_cached = only;
}

/* RocksDB 7.8 calls no other function to read its tables; the program's own reads are pread64(). */
ssize_t page_cache_pread(int fd, void *to, size_t size, off_t at) __asm__("pread")
    __attribute__((used));

ssize_t page_cache_pread(int fd, void *to, size_t size, off_t at)
{
    struct iovec all = { to, size };
    ssize_t done = preadv2(fd, &all, 1, at, only_cached ? RWF_NOWAIT : 0);

    if (done < 0 && errno == EOPNOTSUPP)
        errno = EAGAIN; /* a file system that cannot tell: it may wait */
    return done;
}
