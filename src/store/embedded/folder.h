/* The data folder: its layout, its format, and the lock that excludes a second process.
 *
 *   lock       held with flock() while a process has the folder
 *   format     one line of text, "lagra store 1"
 *   keys       if it is encrypted at rest: see keyring.h
 *   synced     see syncer.h
 *   records/   the key space, see keyspace.h and record_key.h
 *   extents/   see extent_file.h
 *   manifest-NNNNNN   see manifest_guard.h
 *   aside/     files of records/ that a start did not need, see records_files.h
 *   ballast    see disk_space.h
 *   backup.tmp/   while a backup runs, see backup.h
 *
 * A folder that contains other names does not belong to Lagra and is not changed. decision: 271
 *
 * Folders in it are 0700 and files 0600, regardless of the umask: opening sets the umask of the
 * process to 077, and removes the permissions of others from older files. */
#ifndef LAGRA_STORE_EMBEDDED_FOLDER_H
#define LAGRA_STORE_EMBEDDED_FOLDER_H

#include "store/store.h"

struct folder {
    int fd;
    int lock_file; /* owned by the caller from now on */
    int extents;   /* of the folder extents/; owned by the caller until extents_open() */
    char *records_path;
    /* of a folder that is encrypted at rest, else NULL; owned by the caller from now on */
    struct keyring *keyring;
};

enum folder_use {
    /* an existing store, or a new one in a missing or empty folder (harmless files may be there) */
    FOLDER_SERVE,
    FOLDER_CHECK, /* an existing store */
    FOLDER_FILL,  /* a new one */
};
/* Creates what is missing.
 *
 * options       location, known_files, and the keys
 * *ret_problem  with the system's reason; nothing is logged
 *
 * Returns STORE_OK, STORE_BUSY, STORE_IO
 *         STORE_CORRUPT  not suitable for this use, another format, or encrypted with another key:
 *                        nothing was written
 * Startup thread. */
enum store_result folder_open(const struct store_options *options, enum folder_use use,
                              struct folder *ret_folder, const char **ret_problem);
/* Checks that the folder has data to salvage. Writes nothing.
 *
 * ret_doubt  what is wrong with its format, possibly because of damage; NULL means nothing
 *
 * Returns the results of folder_open(). */
enum store_result folder_is_ours(int folder, const char **ret_problem, const char **ret_doubt);
/* Makes the names in the folder and the folder's own name durable. Returns STORE_OK, STORE_IO. */
enum store_result folder_sync(const struct folder *folder, const char **ret_problem);
/* Writes the file `format` atomically and durably. Returns false with errno. */
bool folder_write_format(int folder);
/* Releases the resources that the caller has not taken over. */
void folder_release(struct folder *folder);

#endif
