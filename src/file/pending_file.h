/* A copy to a file that continues after the response. From the start, the file has its final
 * length and properties, and its data is zeros. The copied data goes to a second content of the
 * node's partition, which becomes the file's when the copy is complete.
 *
 *   partition <id>      INNER "Y"   see source/pending_source.h: contains the final record of the
 *                                   file (file_record.h), and its second content
 *
 * While this record exists, the partition has a deferred task. The task resumes the copy after a
 * restart, and deletes the record and the second content once the file is deleted or its copy has
 * ended in another way, so operations that end a copy need not know of the record. An open file
 * remains the same node when it is replaced (decision 338); the next copy to it deletes the
 * leftovers of the previous one, so a partition has at most one. decision: 304 */
#ifndef LAGRA_FILE_PENDING_FILE_H
#define LAGRA_FILE_PENDING_FILE_H

#include "file/file.h"
#include "service/deferred_tasks.h"
#include "source/copied_bytes.h"
#include "source/pending_source.h"

/* Deferred task, stored, so its value must not change. */
enum { TASK_COPY_FILE = 0x302 };

struct pending_file {
    struct pending_source source; /* must be first */
    struct file target;
};

/* Writes the record and starts the copy. *file: the record that the caller will write; its MD5 is
 * removed until the copy is complete. part: the node's, with changes. source->begun is not needed.
 * Returns OK, or an error of decision_fail_store(). */
enum error pending_file_begin(struct decision *d, struct decision_part *part,
                              const struct pending_source *source, struct file *file);
/* Reads the record. Returns STORE_OK, STORE_NOT_FOUND, as pending_record_read(). */
enum store_result pending_file_read(struct read_view *before, struct arena *arena,
                                    struct pending_file *ret_pending);
/* Deletes the record and the second content. */
void pending_file_delete(struct decision *d, const struct pending_file *pending);

/* ---- progress: in decisions of the copy job, which open the node's partition first ---- */

/* Checks that the copy with this id is still pending and reads its record. Sets d->state. returns
 * OK, E_NoPendingCopyOperation, or a read error */
enum error pending_file_find(struct decision *d, const struct guid *id,
                             struct pending_file *ret_pending);
/* Sets the copy's description: the last error, or empty. Called after pending_file_find(). */
void pending_file_show(struct decision *d, struct bytes description);
/* Writes a part of the source's data and records the progress. Returns OK; E_ServerBusy if another
 * part is next; as decision_fail_content(). */
enum error pending_file_step(struct decision *d, struct pending_file *pending,
                             const struct copied_step *step);
/* Completes the copy. Returns OK; E_ServerBusy if data is missing, or an SMB client has the file
 * open without write sharing (retry later); as open_state_check_rest(). */
enum error pending_file_complete(struct decision *d, const struct pending_file *pending);
/* Fails the copy and truncates the file. Returns OK; E_ServerBusy, like pending_file_complete();
 * as file_resize(). */
enum error pending_file_fail(struct decision *d, struct bytes description);

/* Aborts the copy and truncates the file, for Abort Copy File, which was already checked against
 * the file's opens. rest: Abort-Copy-File
 * returns OK, E_FileLockConflict, as file_resize() */
enum error pending_file_abort(struct decision *d);

/* Internal to file/: finds the entries of a page that have a pending delete, by the index of the
 * share's space (open_record.h). */

/* Removes entries with a pending delete from *page. May miss deletes that became pending after
 * the page was read. Costs one index read if none is pending.
 * Returns STORE_OK, as index_iterator_next(). */
enum store_result pending_leave_out(struct decision *d, struct tree_page *page);

#endif
