/* The file `owner` of a cell: its lock and its record. All functions may block for as long as the
 * file system does, so they must not be called on a worker.
 *
 * The lock is an exclusive open file description lock (fcntl(2)) on the entire file. Unlike a
 * classic POSIX lock, it is not dropped when the process closes another descriptor of the file
 * (`lagra cluster status` reads it), and several front ends in one process or on one mount exclude
 * each other. It ends when the last copy of the descriptor is closed, so the descriptor is
 * close-on-exec and is never passed to a child process. CephFS holds the lock at the MDS, which
 * frees it when the process ends, or when the session of its client ends or is evicted. On eviction
 * CephFS also blocklists the client, so that none of its writes reaches a disk any more.
 *
 * Reads and writes bypass the page cache (O_DIRECT) where the file system supports it. With
 * ceph-fuse, the kernel's cache keeps showing an old record to a machine that has the file open,
 * however often another machine writes to it. A direct read of an open descriptor also needs
 * nothing from the owner's machine, so it works while that machine hangs; fstat() and open() do
 * not. */
#ifndef LAGRA_CLUSTER_OWNER_FILE_H
#define LAGRA_CLUSTER_OWNER_FILE_H

#include "cluster/owner_record.h"

struct owner_file {
    int fd;
    char *buffer; /* OWNER_FILE_BYTES, aligned for direct I/O */
};

enum owner_result {
    OWNER_OK,
    OWNER_HELD,    /* locked by another front end */
    OWNER_DAMAGED, /* no valid record in the file */
    OWNER_FAILED,  /* see errno */
};

/* Creates the file with this record, durably. The file must not exist. Returns false with errno. */
bool owner_file_create(int folder, const char *name, const struct owner_record *record);
/* Opens a file for the functions below. The caller must call owner_file_close(), even after a
 * failure. for_lock: also open for writing. Returns false with errno. */
bool owner_file_open(const char *path, bool for_lock, struct owner_file *ret_file);
/* Tries to lock the file, without waiting. Returns OWNER_OK, OWNER_HELD or OWNER_FAILED. */
enum owner_result owner_file_lock(struct owner_file *file);
void owner_file_unlock(struct owner_file *file);
/* Reads the newest record. Returns OWNER_OK, OWNER_DAMAGED or OWNER_FAILED. */
enum owner_result owner_file_read(struct owner_file *file, struct owner_record *ret_record);
/* Writes a record and syncs it. Caller holds the lock. Returns OWNER_OK or OWNER_FAILED. */
enum owner_result owner_file_write(struct owner_file *file, const struct owner_record *record);
/* Syncs the file's metadata as well, after a write. On CephFS this makes the MDS flush its journal
 * at once. Without it, a client that opens or stats a file which another client had open waits for
 * the next tick of the MDS, up to 5 s. Caller holds the lock. decision: 943 */
void owner_file_settle(struct owner_file *file);
/* Closes the file, which also releases the lock. */
void owner_file_close(struct owner_file *file);
/* Fills in the caller's identity: machine, process, and the CephFS client of the mount that the
 * open file is on. Truncates `address` if it is too long. */
void owner_file_identify(const struct owner_file *file, const char *address,
                         struct owner_identity *ret_owner);

#endif
