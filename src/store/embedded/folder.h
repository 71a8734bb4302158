/* The data folder: what is where in it, which format it has, and the lock that keeps a second
 * process out.
 *
 *   lock       held with flock() while a process has the folder
 *   format     one line of text, "lagra store 1"
 *   synced     see syncer.h
 *   records/   the key space, see keyspace.h and record_key.h
 *   extents/   see extent_file.h
 *   manifest-NNNNNN   see manifest_guard.h
 *   aside/     files of records/ that a start did not need, see records_files.h
 *   ballast    see disk_space.h
 *   backup.tmp/   while a backup runs, see backup.h
 *
 * Whose folder it is, its names say, before anything is written: somebody else's is left as it is.
 * decision: 271
 *
 * Folders in it are 0700 and files 0600, whatever the umask: opening sets it to 077 for the
 * process, and takes from older files what others may do. */
#ifndef LAGRA_STORE_EMBEDDED_FOLDER_H
#define LAGRA_STORE_EMBEDDED_FOLDER_H

#include "store/store.h"

struct folder {
    int fd;
    int lock_file; /* the caller's from now on */
    int extents;   /* of the folder extents/; as above once extents_open() has it */
    char *records_path;
};

enum folder_use {
    FOLDER_SERVE, /* one of ours, or a new one: not there, or empty but for what is harmless */
    FOLDER_CHECK, /* one of ours */
    FOLDER_FILL,  /* a new one */
};
/* Makes what is missing.
 *
 * known_files   as in struct store_options
 * *ret_problem  with the system's reason; nothing is in the log
 * returns       STORE_OK, STORE_BUSY, STORE_IO
 *               STORE_CORRUPT  not for this use, or not of this format: nothing was written
 * Start-up thread. */
enum store_result folder_open(const char *location, enum folder_use use,
                              const char *const *known_files, struct folder *ret_folder,
                              const char **ret_problem);
/* Whether there is something to salvage in it. Writes nothing.
 *
 * ret_doubt  what is wrong with its format, which damage may have done; NULL: nothing
 * returns    as folder_open() */
enum store_result folder_is_ours(int folder, const char **ret_problem, const char **ret_doubt);
/* Makes the names in it durable, and its own. returns STORE_OK, STORE_IO */
enum store_result folder_sync(const struct folder *folder, const char **ret_problem);
/* Makes the file `format`, durably, whole or not at all. False: see errno. */
bool folder_write_format(int folder);
/* Of what the caller has not taken over. */
void folder_release(struct folder *folder);

#endif
