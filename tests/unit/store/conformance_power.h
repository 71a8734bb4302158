/* A power cut without a disk to cut: of each file of a folder, what was last made durable is kept
 * in a second folder, the shadow; after the process was killed, the folder is put back to that.
 *
 * The strictest disk that POSIX allows: the bytes of a file are durable as they were when an
 * fsync() of it began, a name when its directory was synced after it was made. Names that were
 * changed or removed are taken to be durable at once, and with a changed one all names made before
 * it in its directory: file systems keep that order. Needs no privilege.
 *
 * In the process that is to be cut, from its start: power_begin(), then the others as they say.
 * They make no call that the test may count. */
#ifndef LAGRA_TESTS_STORE_CONFORMANCE_POWER_H
#define LAGRA_TESTS_STORE_CONFORMANCE_POWER_H

#include <stdbool.h>

/* The shadow must not be there yet. All that lies in the folder is durable. */
bool power_begin(const char *folder, const char *shadow);
/* Before an fsync() of a file or a directory. Any thread. */
void power_sync(int fd);
/* Before a name is removed or given to another file: keeps the inode (for the life of this
 * process), so that its number is not used again. Any thread. */
void power_keep_inode(int folder_fd, const char *path);
/* After a file got a new name. Any thread. */
void power_renamed(int folder_fd, const char *path);

/* Later, in another process: makes the folder what the disk would have, and removes the shadow. */
bool power_restore(const char *folder, const char *shadow);

#endif
