/* Durable and persistent handles of disconnected SMB clients. Their state is in the records of
 * the file (open_record.h), where a reconnect reads it. Persistent handles also survive a
 * restart of the server. MS-SMB2 3.3.7.1, 3.3.5.9.7, 3.3.5.9.12 */
#ifndef LAGRA_HANDLES_DURABLE_HANDLE_H
#define LAGRA_HANDLES_DURABLE_HANDLE_H

#include "handles/handle_open.h"

/* Called when the client's connection is lost. Retains the handle or, if that is not possible
 * (open_state_disconnect()), closes it like CLOSE. Returns like handle_close_attempt. */
struct handle_disconnect {
    struct handle_close close;
    struct durable_handle_state durable;

    /* ---- results ---- */
    bool stays;
    instant until; /* if it stays */
};
attempt_fn handle_disconnect_attempt;

/* Finds a disconnected handle of the share by its id.
 * Returns OK; E_ResourceNotFound: not disconnected, or expired. */
struct disconnected_handle {
    const struct tree_connect *tree_connect;
    uint64_t id;

    /* ---- results ---- */
    struct held_handle handle;
    struct durable_handle_state durable;
    bool persists;
};
attempt_fn disconnected_handle_attempt;

/* Reconnects to a handle. The caller must have added the listener for its caching.
 * Returns OK, E_ResourceNotFound
 *         E_InvalidInput  the handle exists, but its file has another name. */
struct handle_reconnect {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    /* path sent by the client, or NULL if it need not be checked */
    const struct bytes *names;
    size_t name_count;
    uint64_t session;
    struct bytes client_address, client_name;

    /* ---- results ---- */
    struct handle_info info;
    struct caching_given given; /* current caching */
};
attempt_fn handle_reconnect_attempt;

/* Returns the information and caching of an existing handle, for a replayed create.
 * Returns OK, E_ResourceNotFound. */
struct handle_replay {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;

    /* ---- results ---- */
    struct handle_info info;
    struct caching_given given;
};
attempt_fn handle_replay_attempt;

/* Closes a disconnected handle that has expired. Returns OK. */
struct handle_overdue {
    struct handle_close close;
};
attempt_fn handle_overdue_attempt;

#endif
