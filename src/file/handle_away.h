/* Handles of SMB whose client has lost its connection, and comes back to them: durable and persistent ones. What
 * such a handle is lies in the records of its file (open_record.h), so a client that comes back reads it there,
 * after a restart, too, if the handle persists. MS-SMB2 3.3.7.1, 3.3.5.9.7, 3.3.5.9.12 */
#ifndef LAGRA_FILE_HANDLE_AWAY_H
#define LAGRA_FILE_HANDLE_AWAY_H

#include "file/handle_open.h"

/* The client is gone: the handle is kept for it, or closed as by CLOSE where it cannot be kept (gate_leave()).
 * returns as handle_close_attempt */
struct handle_leave {
    struct handle_close close;
    struct handle_kept kept;

    /* ---- what comes of it ---- */
    bool stays;
    instant until; /* if it stays */
};
attempt_fn handle_leave_attempt;

/* What is kept by the id of a handle of the share.
 * returns OK, E_ResourceNotFound: nothing, or its time is over */
struct handle_away {
    const struct mount *mount;
    uint64_t id;

    /* ---- what comes of it ---- */
    struct held_handle handle;
    struct handle_kept kept;
    bool persists;
};
attempt_fn handle_away_attempt;

/* The client is there again: the handle is as it was. The listener of its caching is added before.
 * returns OK, E_ResourceNotFound
 *         E_InvalidInput  the handle is there, and the names are not those of its file */
struct handle_return {
    const struct mount *mount;
    const struct held_handle *handle;
    /* What the client says that its file is called; ptr NULL: that is not looked at. */
    const struct bytes *names;
    size_t name_count;
    uint64_t session;
    struct bytes client_address, client_name;

    /* ---- what comes of it ---- */
    struct handle_info info;
    struct caching_given given; /* what it has */
};
attempt_fn handle_return_attempt;

/* What a handle that is there shows, and has of its caching: for a create that comes once more.
 * returns OK, E_ResourceNotFound */
struct handle_again {
    const struct mount *mount;
    const struct held_handle *handle;

    /* ---- what comes of it ---- */
    struct handle_info info;
    struct caching_given given;
};
attempt_fn handle_again_attempt;

/* Closes the handle if it is away and its time is over. returns OK */
struct handle_overdue {
    struct handle_close close;
};
attempt_fn handle_overdue_attempt;

#endif
