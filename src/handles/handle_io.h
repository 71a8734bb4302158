/* Reading, writing and flushing an open file. ms-smb2: 3.3.5.11 to 3.3.5.13; MS-FSA 2.1.5.3,
 * 2.1.5.4 */
#ifndef LAGRA_HANDLES_HANDLE_IO_H
#define LAGRA_HANDLES_HANDLE_IO_H

#include "handles/handle.h"

/* ---- reading ----
 *
 *     handle_read_attempt            checks locks, returns the readable length
 *     handle_reading_begin()         takes the state that was read out of the decision
 *     handle_reading_go_on()         until it returns OK: the bytes are in the buffer
 *     handle_reading_end()
 *
 * All bytes are from the state that was decided on, whatever is written concurrently (promise
 * 4). */

struct handle_read {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    uint64_t offset, length;

    /* ---- results ---- */
    struct content content;
    uint64_t readable; /* bytes readable from offset, up to length; 0 at or beyond the end */
};
/* returns OK, E_FileLockConflict, E_ResourceTypeMismatch: a directory */
attempt_fn handle_read_attempt;

struct handle_reading {
    struct decision *d;
    struct content_reader *reader; /* NULL if there is nothing to read */
    char *to;
    size_t length, done;
};
/* Starts the read, after handle_read_attempt() has returned OK. to: buffer of read->readable bytes,
 * valid until handle_reading_end(). */
void handle_reading_begin(struct decision *d, const struct handle_read *read, char *to,
                          struct handle_reading *ret_reading);
/* Continues the read. waiter: NULL to block the thread instead
 * returns  OK               complete
 *          DECIDE_WAITS     call again when the waiter is woken
 *          DECIDE_BLOCKING  no waiter was armed: call again after handle_reading_load()
 *          E_InternalError  corruption or a disk error
 *          E_ServerBusy */
enum error handle_reading_go_on(struct handle_reading *reading, struct waiter *waiter);
/* Loads data after DECIDE_BLOCKING. May block. Returns OK, E_InternalError, E_ServerBusy. */
enum error handle_reading_load(struct handle_reading *reading);
/* Ends the read. No waiter may be armed. */
void handle_reading_end(struct handle_reading *reading);

/* ---- writing ----
 *
 * Up to STORE_INLINE_BYTES are part of the decision. Longer data is first written to pieces,
 * which are on disk before the decision:
 *
 *     write_staging_begin()
 *     write_staging_go_on()          until it returns STORE_OK: *ret_body is the data to write
 *     handle_write_attempt, commit
 *     write_staging_end()            after the commit, or when the write is abandoned */

struct write_staging {
    struct stage *stage; /* NULL means the data is inline */
    struct bytes bytes;  /* data to write */
    size_t taken;
};
/* Starts staging. bytes: valid until write_staging_end() */
void write_staging_begin(struct store *store, struct bytes bytes,
                         struct write_staging *ret_staging);
/* Continues staging. Returns STORE_OK; STORE_WAIT: call again when the waiter is woken; as
 * stage_write(). */
enum store_result write_staging_go_on(struct write_staging *staging, struct waiter *waiter,
                                      struct body *ret_body);
void write_staging_end(struct write_staging *staging);

struct handle_write {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    uint64_t offset;
    bool at_end; /* append; offset is ignored */
    const struct body *body;

    /* ---- results ---- */
    struct handle_times times; /* new times of the handle */
};
/* Writes to the file and extends it if necessary. Breaks the data caching of others without
 * waiting. An empty write changes nothing. The caller may respond once the change is committed; it
 * becomes durable no later than the next flush, close or set on the handle (docs/smb.md).
 * Returns OK, E_FileLockConflict, E_ResourceTypeMismatch
 *         E_InvalidRange           ends beyond FILE_LENGTH_MAX
 *         E_ShareSizeLimitReached, E_InsufficientStorage, E_ServerBusy. */
attempt_fn handle_write_attempt;

/* FSCTL_SET_ZERO_DATA: zeroes [offset, end) within the file's length. MS-FSA 2.1.5.9.36
 * Returns like handle_write_attempt. */
struct handle_zero {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    uint64_t offset, end;

    /* ---- results ---- */
    struct handle_times times;
};
attempt_fn handle_zero_attempt;

/* Flushes the file: before the response, the caller waits until d->seen, which covers all commits
 * to the file by any client, is durable. The handle shows current times afterwards. Returns OK. */
struct handle_flush {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;

    /* ---- results ---- */
    struct handle_times times;
};
attempt_fn handle_flush_attempt;

#endif
