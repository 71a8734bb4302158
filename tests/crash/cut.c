/* Cuts an ext4 file system off, as a power cut would: what was not synced is lost, in its journal
 * too. cut MOUNT_POINT. Needs root. The kernel's EXT4_IOC_SHUTDOWN with
 * EXT4_GOING_FLAGS_NOLOGFLUSH. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#define SHUTDOWN    _IOR('X', 125, uint32_t)
#define NO_LOGFLUSH 2u

int main(int argc, char **argv)
{
    uint32_t how = NO_LOGFLUSH;
    int fd;

    if (argc != 2)
        return 2;
    fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, SHUTDOWN, &how) != 0) {
        fprintf(stderr, "cut: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    return 0;
}
