/* Opens of files and directories. opens.c, closing.c, disconnect.c */
#ifndef LAGRA_SMB_SESSION_OPENS_H
#define LAGRA_SMB_SESSION_OPENS_H

#include <assert.h>

#include "handles/handle_names.h"
#include "handles/handle_open.h"
#include "smb_session/command_row.h"
#include "smb_session/durable.h"
#include "smb_protocol/replay.h"
#include "smb_session/sessions.h"

struct smb_caching; /* caching.h */
struct smb_watch;   /* change_notify.c */

/* Durability granted to an open. durable.h */
struct smb_durable {
    enum durable_kind kind;
    uint32_t timeout_ms;
};

struct smb_open {
    struct smb_tree *tree; /* held */
    unsigned holders;
    unsigned in_work;              /* requests in progress on it, except parked ones */
    struct smb_request *closed_by; /* CLOSE waiting for the other requests, or NULL */
    bool is_open; /* false while it is being created or closed; open_find() ignores it */
    struct smb_open *next_leaving; /* in connection->leaving */
    uint64_t volatile_id;
    struct held_handle handle;
    struct smb_durable durable;
    bool is_fresh; /* no request has used it, so the client may not have received its FileId */
    /* CreateGuid, which identifies a replayed create. */
    bool has_create;
    struct guid create;
    struct smb_open *next_create; /* in the hash bucket */
    uint32_t action;              /* CreateAction, as sent */
    struct channel_sequence channel;
    uint8_t *locks;    /* owned; LOCK_SEQUENCES entries, or NULL */
    uint64_t position; /* CurrentByteOffset: end of the last read or write */
    /* AllocationSize requested by the client, in whole clusters: reported while the file is
     * smaller, but not reserved. decision: 568 */
    uint64_t allocated;
    uint32_t mode;     /* FILE_MODE_* of FileModeInformation, from CreateOptions */
    struct bytes path; /* owned; only in a snapshot: UTF-8, separated by '/'; else ptr NULL */
    bool has_written;  /* the close must wait until the writes are durable */
    struct smb_caching *caching;                          /* NULL if nothing is cached */
    struct smb_open *next_of_caching, *before_of_caching; /* other opens of the caching */
    /* Position of QUERY_DIRECTORY. */
    struct {
        bool has_begun;
        struct bytes pattern;    /* owned */
        struct list_position at; /* its name is owned */
    } listing;
    struct smb_watch *watch; /* NULL before the first CHANGE_NOTIFY */
};
static inline uint64_t open_persistent_id(const struct smb_open *open)
{
    return open->handle.id ? open->handle.id : open->volatile_id;
}

struct open_table;
struct open_table *open_table_new(void);
void open_table_free(struct open_table *table);
/* Ends the request's use of request->open, and resumes a CLOSE that waits for this. */
void open_ends_work(struct smb_request *request);
/* Returns a pending open, to be freed by open_gone() on failure. Returns NULL if SMB_OPENS_MAX is
 * reached. */
struct smb_open *open_new(struct smb_tree *tree);
/* Looks up an open by its FileId. tree: NULL for any tree of the session */
struct smb_open *open_find(const struct smb_session *session, const struct smb_tree *tree,
                           uint64_t persistent, uint64_t volatile_id);
/* Registers the open under its CreateGuid. */
void open_set_create(struct smb_open *open, const struct guid *create);
/* Sets the allocation size requested by the client. Ignores 0, and sizes above the maximum of a
 * file. */
void open_allocate(struct smb_open *open, uint64_t bytes);
void open_show_allocated(const struct smb_open *open, struct handle_info *info);
/* Returns the session's open with this CreateGuid, which may be pending or closing, or NULL. */
struct smb_open *open_find_create(const struct smb_session *session, const struct guid *create);
/* Returns the lock sequence entries, allocating them on first use. */
uint8_t *open_lock_sequences(struct smb_open *open);
static inline struct smb_open *open_hold(struct smb_open *open)
{
    assert(open->holders > 0);
    open->holders++;
    return open;
}
void open_release(struct smb_open *open);
/* Removes the open from the table and wakes the requests that wait for that. Called by open_gone()
 * only. */
void open_remove(struct smb_open *open);
/* Iterates over the opens of the table; returns NULL at the end. *slot: 0 at first */
struct smb_open *opens_next(const struct open_table *table, uint32_t *slot);
/* Sets request->open from the FileId at an offset in the body, or from the previous request of a
 * compound. Returns STATUS_SUCCESS, STATUS_FILE_CLOSED, STATUS_FILE_NOT_AVAILABLE or
 * STATUS_INVALID_PARAMETER. */
enum nt_status request_find_open(struct smb_request *request, size_t file_at);

/* ---- closing: closing.c, disconnect.c ---- */

/* Encodes the stored state of a durable open in the arena. */
struct bytes open_encode_durable(const struct smb_open *open, struct arena *arena);
/* Ends the caching and watches of an open that is closed or failed to open, and removes it. */
void open_gone(struct smb_open *open);
/* Hides the open and closes it later. */
void open_close(struct smb_open *open);
/* Like open_close(), but preserves the open for a reconnect if it is durable. */
void open_leave(struct smb_open *open);
/* Like open_close() and open_leave(), for an open whose is_open is already false. */
void open_close_unfound(struct smb_open *open);
void open_leave_unfound(struct smb_open *open);
/* Removes an open whose close has been decided. */
enum smb_step open_closed(struct smb_request *request);
/* Makes the server retry a close that the store rejected after the decision
 * (scavenger_close_later()). */
void open_closes_later(struct smb_request *request);

/* Creates an internal request for an open, to be run by smb_run(). request_new.c */
struct smb_request *request_of_own(struct smb_open *open, const struct smb_row *row);

/* ---- watches: change_notify.c ---- */

/* Completes pending CHANGE_NOTIFY requests with STATUS_NOTIFY_CLEANUP. */
void watch_end(struct smb_open *open);
/* Completes CHANGE_NOTIFY requests of watches that have changes. */
void watches_answer(struct smb_connection *connection);

#endif
