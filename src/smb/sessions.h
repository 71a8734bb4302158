/* Inside smb/ only: sessions, and trees of them. README.md says who owns what. */
#ifndef LAGRA_SMB_SESSIONS_H
#define LAGRA_SMB_SESSIONS_H

#include <stdatomic.h>

#include "auth/auth.h"
#include "file/mount.h"
#include "smb/crypto.h"
#include "smb/limits.h"

struct smb_connection;
struct smb_request;

enum session_state {
    SESSION_IN_PROGRESS, /* not authenticated yet */
    SESSION_VALID,
    SESSION_ENDS, /* logged off, or ended by another connection: nobody finds it, its opens are closed */
};

struct smb_session {
    struct smb_session *next;          /* of the connection */
    struct smb_session *next_id;       /* of the service's bucket */
    struct smb_connection *connection; /* that it began on: constant */
    struct smb_channel *channels;      /* other connections; linked by next */
    unsigned channel_count;
    uint64_t id;
    enum session_state state;
    atomic_bool is_to_end; /* another connection ended it */
    struct spnego *logon;  /* while it authenticates, also again; NULL: not */
    /* Under the service's lock: */
    bool is_known;                 /* found by its id: until its last handle is closed */
    bool was_valid;                /* its account is constant */
    bool is_listed;                /* it is valid, and may be ended by another */
    struct session_wait *awaiting; /* its end; linked by next */
    struct smb_session *next_of_client, *before_of_client; /* under that lock: service.h */
    uint64_t place;                                        /* in that order; 0: not yet */
    struct smb_request *awaited_by;                        /* LOGOFF, until the last open is gone */
    struct preauth preauth;                                /* 3.1.1 */
    char account[ACCOUNT_NAME_MAX + 1];                    /* that it is of, once valid */
    const struct account *of;                              /* the same */
    bool requires_signing;
    bool seals;                     /* all of it is sealed: SESSION_FLAG_ENCRYPT_DATA */
    bool has_sealed;                /* a sealed message has come: breaks are sent sealed, too */
    struct signer *signer;          /* NULL: not valid yet */
    struct sealer *sealer, *opener; /* NULL: it cannot */
    struct smb_tree *trees;
    unsigned tree_count;
    uint32_t next_tree_id;
    unsigned open_count;
    unsigned holders; /* requests that use it, and its opens */
};

struct smb_session *session_new(struct smb_connection *connection);
/* One that began on the connection, or that it is a channel of. */
struct smb_session *session_find(struct smb_connection *connection, uint64_t id);
struct smb_session *session_hold(struct smb_session *session);
void session_release(struct smb_session *session);
/* Nobody finds it from now on; its trees and opens are closed by and by. */
void session_end(struct smb_session *session);
/* Closes up to SMB_CLOSED_AT_ONCE handles of sessions and trees that have ended, and posts the connection if more remain. */
void connection_close_some(struct smb_connection *connection);

/* ---- trees: tree_connect.c ---- */

struct smb_tree {
    struct smb_tree *next; /* of the session */
    struct smb_session *session;
    uint32_t id;
    bool is_pipes;             /* IPC$ */
    struct mount mount;        /* its share's name is owned */
    struct access_token token; /* that mount.token may point to */
    bool ends;
    unsigned holders, open_count;
    struct smb_request *awaited_by; /* TREE_DISCONNECT, until the last open is gone */
};
struct smb_tree *smb_tree_new(struct smb_session *session);

struct smb_tree *smb_tree_find(struct smb_session *session, uint32_t id);
struct smb_tree *smb_tree_hold(struct smb_tree *tree);
void smb_tree_release(struct smb_tree *tree);
/* Its files may be opened with handles that persist. */
bool smb_tree_is_available(const struct smb_tree *tree);
/* Nobody finds it from now on. */
void smb_tree_end(struct smb_tree *tree);

#endif
