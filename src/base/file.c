#include "base/file.h"

#include <errno.h>
#include <unistd.h>

ssize_t file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

struct dirent *file_next_entry(DIR *folder)
{
    errno = 0;
    return readdir(folder);
}
