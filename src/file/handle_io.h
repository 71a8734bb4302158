/* Bytes of an open file: read, written, flushed. ms-smb2: 3.3.5.11 to 3.3.5.13; MS-FSA 2.1.5.3, 2.1.5.4 */
#ifndef LAGRA_FILE_HANDLE_IO_H
#define LAGRA_FILE_HANDLE_IO_H

#include "file/handle.h"

/* ---- reading ----
 *
 *     handle_read_attempt            how much there is, and no lock is on it
 *     handle_reading_begin()         takes the state that was decided on out of the decision
 *     handle_reading_go_on()         until it returns OK: the bytes are in the buffer
 *     handle_reading_end()
 *
 * All bytes are of the state that was decided on, whatever is written meanwhile (promise 4). */

struct handle_read {
    const struct mount *mount;
    const struct held_handle *handle;
    uint64_t offset, length;

    /* ---- what comes of it ---- */
    struct content content;
    uint64_t readable; /* bytes from offset on, of length; 0: at its end, or behind it */
};
/* returns OK, E_FileLockConflict; E_ResourceTypeMismatch: it is a directory */
attempt_fn handle_read_attempt;

struct handle_reading {
    struct decision *d;
    struct content_reader *reader; /* NULL: nothing to be read */
    char *to;
    size_t length, done;
};
/* After handle_read_attempt() returned OK. to: room for read->readable bytes, and kept until handle_reading_end(). */
void handle_reading_begin(struct decision *d, const struct handle_read *read, char *to,
                          struct handle_reading *ret_reading);
/* waiter: NULL: waits itself, on a thread that may block.
 * returns OK               all of it is read
 *         DECIDE_WAITS     the waiter will be woken: call again then
 *         DECIDE_BLOCKING  no waiter was armed: call again after handle_reading_load()
 *         E_InternalError  damage, or the disk failed; E_ServerBusy */
enum error handle_reading_go_on(struct handle_reading *reading, struct waiter *waiter);
/* After DECIDE_BLOCKING. returns OK, E_InternalError, E_ServerBusy. May block. */
enum error handle_reading_load(struct handle_reading *reading);
/* No waiter may be armed. */
void handle_reading_end(struct handle_reading *reading);

/* ---- writing ----
 *
 * What is at most STORE_INLINE_BYTES long goes into the decision as it is. More is written to
 * pieces first, which are on the disk before the decision:
 *
 *     write_staging_begin()
 *     write_staging_go_on()          until it returns STORE_OK: *ret_body is what is to be written
 *     handle_write_attempt, commit
 *     write_staging_end()            when all of that is done, or the write is given up */

struct write_staging {
    struct stage *stage; /* NULL: it lies in the bytes alone */
    struct bytes bytes;  /* to be written */
    size_t taken;
};
/* bytes: stay where they are until the end. */
void write_staging_begin(struct store *store, struct bytes bytes,
                         struct write_staging *ret_staging);
/* returns STORE_OK; STORE_WAIT: call again when the waiter has been woken; as stage_write() */
enum store_result write_staging_go_on(struct write_staging *staging, struct waiter *waiter,
                                      struct body *ret_body);
void write_staging_end(struct write_staging *staging);

struct handle_write {
    const struct mount *mount;
    const struct held_handle *handle;
    uint64_t offset;
    bool at_end; /* in the place of the offset */
    const struct body *body;

    /* ---- what comes of it ---- */
    struct handle_times times; /* of the handle, from now on */
};
/* Beyond its end the file grows. Others lose what they have cached of the data, and nobody waits for that.
 * No bytes change nothing. The change may be answered when it is committed: it is durable at the latest with
 * the next flush, close or set by the handle (docs/smb.md).
 * returns OK, E_FileLockConflict, E_ResourceTypeMismatch
 *         E_InvalidRange           ends behind FILE_LENGTH_MAX
 *         E_ShareSizeLimitReached, E_InsufficientStorage, E_ServerBusy */
attempt_fn handle_write_attempt;

/* FSCTL_SET_ZERO_DATA: what lies in the file of [offset, end). MS-FSA 2.1.5.9.36
 * returns as handle_write_attempt() */
struct handle_zero {
    const struct mount *mount;
    const struct held_handle *handle;
    uint64_t offset, end;

    /* ---- what comes of it ---- */
    struct handle_times times;
};
attempt_fn handle_zero_attempt;

/* d->seen is what has to be durable then: all that was committed of the file, by whom it ever was. Its times
 * are shown as they are from now on.
 * returns OK */
struct handle_flush {
    const struct mount *mount;
    const struct held_handle *handle;

    /* ---- what comes of it ---- */
    struct handle_times times;
};
attempt_fn handle_flush_attempt;

#endif
