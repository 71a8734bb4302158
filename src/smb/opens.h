/* Inside smb/ only: opens of files and directories, and what they have beside. opens.c, closing.c, leaving.c, names.c */
#ifndef LAGRA_SMB_OPENS_H
#define LAGRA_SMB_OPENS_H

#include <assert.h>

#include "file/handle_names.h"
#include "file/handle_open.h"
#include "smb/commands.h"
#include "smb/durable.h"
#include "smb/replay.h"
#include "smb/sessions.h"

struct smb_caching; /* caching.h */
struct smb_watch;   /* change_notify.c */

/* What happens to it when its connection or session ends. durable.h */
struct smb_durable {
    enum durable_kind kind;
    uint32_t timeout_ms;
};

struct smb_open {
    struct smb_tree *tree; /* held */
    unsigned holders;
    unsigned in_work;              /* requests by it that are in work, but for parked ones */
    struct smb_request *closed_by; /* its CLOSE, which waits for them; NULL: not */
    bool is_open;                  /* false: it is being opened, or closed: nobody finds it */
    struct smb_open *next_leaving; /* in connection->leaving */
    uint64_t volatile_id;
    struct held_handle handle;
    struct smb_durable durable;
    bool is_fresh; /* nobody has used it: its client may not know yet that it is there */
    /* The GUID of its create, by which that is found if it comes once more; zeros: none. */
    bool has_create;
    struct guid create;
    struct smb_open *next_create; /* of the bucket */
    uint32_t action;              /* CreateAction, as answered */
    struct channel_sequence channel;
    uint8_t *locks;    /* owned; LOCK_SEQUENCES of them; NULL: none yet */
    uint64_t position; /* behind what it read or wrote */
    /* Bytes that its client asked for, in whole clusters: shown while the file takes less, not reserved. decision: 568 */
    uint64_t allocated;
    uint32_t mode;     /* of its create options: FILE_MODE_.. of FileModeInformation */
    struct bytes path; /* owned; of one in a snapshot: UTF-8, '/' between names; else ptr NULL */
    bool has_written;  /* what has to be durable when it is closed */
    struct smb_caching *caching;                          /* NULL: it caches nothing */
    struct smb_open *next_of_caching, *before_of_caching; /* others that have it */
    /* Where QUERY_DIRECTORY goes on. */
    struct {
        bool has_begun;
        struct bytes pattern;    /* owned */
        struct list_position at; /* its name is owned */
    } listing;
    struct smb_watch *watch; /* once CHANGE_NOTIFY was asked */
};
static inline uint64_t open_persistent_id(const struct smb_open *open)
{
    return open->handle.id ? open->handle.id : open->volatile_id;
}

struct open_table;
struct open_table *open_table_new(void);
void open_table_free(struct open_table *table);
/* Ends the use of request->open by the request, so that a CLOSE that waits for it continues. */
void open_ends_work(struct smb_request *request);
/* A place for one that is being opened; open_gone() if that fails. NULL: there are SMB_OPENS_MAX. */
struct smb_open *open_new(struct smb_tree *tree);
/* tree: NULL: any of the session */
struct smb_open *open_find(const struct smb_session *session, const struct smb_tree *tree,
                           uint64_t persistent, uint64_t volatile_id);
/* It is found by the GUID of its create from now on. */
void open_set_create(struct smb_open *open, const struct guid *create);
/* Its client asks for so many bytes to be allocated; 0, or more than a file may have: for none. */
void open_allocate(struct smb_open *open, uint64_t bytes);
void open_show_allocated(const struct smb_open *open, struct handle_info *info);
/* One of the session, perhaps not open yet or any more; NULL: none. */
struct smb_open *open_find_create(const struct smb_session *session, const struct guid *create);
/* Memory for the sequences of its locks. */
uint8_t *open_lock_sequences(struct smb_open *open);
static inline struct smb_open *open_hold(struct smb_open *open)
{
    assert(open->holders > 0);
    open->holders++;
    return open;
}
void open_release(struct smb_open *open);
/* Removes it from the table, and wakes the requests that wait for that. By open_gone() only. */
void open_remove(struct smb_open *open);
/* Those that are open, one after the other; NULL: no more. *slot: 0 at first */
struct smb_open *opens_next(const struct open_table *table, uint32_t *slot);
/* The file that a request names at an offset in its body, or the one that goes on in a compound: request->open.
 * returns STATUS_SUCCESS, STATUS_FILE_CLOSED, STATUS_INVALID_PARAMETER */
enum nt_status request_find_open(struct smb_request *request, size_t file_at);

/* ---- their end: closing.c, leaving.c ---- */

/* It is closed, or was not opened: it caches and watches nothing any more, and is removed. */
void open_gone(struct smb_open *open);
/* Nobody finds it from now on; it is closed by and by. */
void open_close(struct smb_open *open);
/* The same, but it is kept for its client where it can be. */
void open_leave(struct smb_open *open);
/* Like open_close() and open_leave(), for a handle whose is_open is false. */
void open_close_unfound(struct smb_open *open);
void open_leave_unfound(struct smb_open *open);
/* The request that closes it has been decided: it is gone. */
enum smb_step open_closed(struct smb_request *request);
/* Has the server close a handle whose close the store refused (kept_close_later()). Called once the close was
 * decided. */
void open_closes_later(struct smb_request *request);

/* ---- names.c ---- */

/* Names between backslashes, as a create and a rename have them; none: the root. In the arena.
 * returns STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_OBJECT_NAME_INVALID */
enum nt_status smb_read_names(struct arena *arena, struct bytes path,
                              const struct bytes **ret_names, size_t *ret_count);
/* A request that no client sent, about an open, for smb_run(). request_new.c */
struct smb_request *request_of_own(struct smb_open *open, const struct smb_row *row);

/* ---- what it has beside: caching.c, change_notify.c ---- */

/* Requests that wait for changes are answered with STATUS_NOTIFY_CLEANUP. */
void watch_end(struct smb_open *open);
/* Answers the watches to which changes have been reported. */
void watches_answer(struct smb_connection *connection);

#endif
