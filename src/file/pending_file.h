/* A copy to a file that goes on after its request was answered. The file has its length and its properties from
 * the beginning, and zeros for bytes; what has been copied lies in a second content of the node's partition,
 * which becomes the file's when all is there.
 *
 *   partition <id>      INNER "Y"   as source/pending_source.h has it: with the file's record as it will be
 *                                   (file_record.h), and its second content
 *
 * There is a task in the partition as long as there is this record. It begins the copy again after a restart,
 * and deletes both once the file is gone, or its copy has ended otherwise: so whatever ends a copy does not look
 * for the record. A file that is open stays the node that it was when it is replaced (decision 338): the next copy
 * to it deletes what is left of the one before, so a partition has at most one. decision: 304 */
#ifndef LAGRA_FILE_PENDING_FILE_H
#define LAGRA_FILE_PENDING_FILE_H

#include "file/file.h"
#include "service/deferred_tasks.h"
#include "source/copied_bytes.h"
#include "source/pending_source.h"

/* Of the list of deferred tasks; stored: never given to anything else. */
enum { TASK_COPY_FILE = 0x302 };

struct pending_file {
    struct pending_source source; /* first */
    struct file target;
};

/* Writes the record, and sees to it that the copy is begun. *file: as the caller writes it; its MD5 is kept
 * until it has the bytes. part: of its node, with changes. source->begun is not needed.
 * returns OK, as decision_fail_store() */
enum error pending_file_begin(struct decision *d, struct decision_part *part,
                              const struct pending_source *source, struct file *file);
/* returns STORE_OK, STORE_NOT_FOUND, or as the store */
enum store_result pending_file_read(struct snapshot *before, struct arena *arena,
                                    struct pending_file *ret_pending);
/* Deletes the record and the second content. */
void pending_file_delete(struct decision *d, const struct pending_file *pending);

/* ---- what becomes of it: in decisions that opened the node's partition first, and are not a request's ---- */

/* Is the copy of this id still pending? Sets d->state.
 * returns OK, E_NoPendingCopyOperation, as a read */
enum error pending_file_find(struct decision *d, const struct guid *id,
                             struct pending_file *ret_pending);
/* After it: shows what went wrong last (empty: nothing). */
void pending_file_show(struct decision *d, struct bytes description);
/* A part of the source is there. returns OK, E_ServerBusy: another part is expected, as
 * decision_fail_content() */
enum error pending_file_step(struct decision *d, struct pending_file *pending,
                             const struct copied_step *step);
/* All of it is. returns OK; E_ServerBusy: it is not, or an SMB client has the file open and does not let others write,
 * so it is to be tried again; as gate_pass() */
enum error pending_file_complete(struct decision *d, const struct pending_file *pending);
/* It has failed: the file is empty. returns OK, E_ServerBusy: as pending_file_complete(); as file_resize() */
enum error pending_file_fail(struct decision *d, struct bytes description);

/* In Abort Copy File, whose row passes the gate: the file is empty. rest: Abort-Copy-File
 * returns OK, E_FileLockConflict, as file_resize() */
enum error pending_file_abort(struct decision *d);

#endif
