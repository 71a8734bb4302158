/* Sessions and their tree connects. README.md describes ownership. */
#ifndef LAGRA_SMB_SESSION_SESSIONS_H
#define LAGRA_SMB_SESSION_SESSIONS_H

#include <stdatomic.h>

#include "auth/auth.h"
#include "handles/tree_connect.h"
#include "smb_protocol/crypto.h"
#include "smb_protocol/limits.h"

struct smb_connection;
struct smb_request;

enum session_state {
    SESSION_IN_PROGRESS, /* not authenticated */
    SESSION_VALID,
    /* logged off or ended: cannot be found; its opens are being closed */
    SESSION_ENDS,
};

struct smb_session {
    struct smb_session *next;          /* in the connection's list */
    struct smb_session *next_id;       /* in the hash bucket */
    struct smb_connection *connection; /* home: created on it; constant */
    struct smb_channel *channels;      /* additional connections; linked by next */
    unsigned channel_count;
    uint64_t id;
    enum session_state state;
    atomic_bool is_to_end; /* another connection has requested its end */
    struct spnego *logon;  /* authentication in progress, or NULL */
    /* Protected by the service's lock: */
    bool is_known; /* can be found by id: until its last handle is closed */
    /* has been valid: a new authentication cannot change its account */
    bool was_valid;
    bool is_listed;                /* valid; may be ended by another connection */
    struct session_wait *awaiting; /* requests that wait for its end; linked by next */
    struct smb_session *next_of_client, *before_of_client; /* in struct smb_client_sessions */
    uint64_t place;                     /* order in that list; 0 if not added yet */
    struct smb_request *awaited_by;     /* LOGOFF waiting for the last open */
    struct preauth preauth;             /* for 3.1.1 */
    char account[ACCOUNT_NAME_MAX + 1]; /* account name, once valid */
    const struct account *of;           /* that account */
    bool requires_signing;
    bool seals;            /* EncryptData: all messages must be encrypted */
    bool has_sealed;       /* the client has sent an encrypted message: breaks are encrypted too */
    struct signer *signer; /* NULL until valid */
    struct sealer *sealer, *opener; /* encryption and decryption, or NULL */
    struct smb_tree *trees;
    unsigned tree_count;
    uint32_t next_tree_id;
    unsigned open_count;
    unsigned holders; /* requests and opens that refer to it */
};

struct smb_session *session_new(struct smb_connection *connection);
/* Finds a session created on the connection, or bound to it. */
struct smb_session *session_find(struct smb_connection *connection, uint64_t id);
struct smb_session *session_hold(struct smb_session *session);
void session_release(struct smb_session *session);
/* Hides the session; closes its tree connects and opens step by step. */
void session_end(struct smb_session *session);
/* Closes up to SMB_CLOSED_AT_ONCE handles of ended sessions and tree connects. Posts the connection
 * if more remain. */
void connection_close_some(struct smb_connection *connection);

/* ---- tree connects: tree_connect.c ---- */

struct smb_tree {
    struct smb_tree *next; /* in the session's list */
    struct smb_session *session;
    uint32_t id;
    bool is_pipes;                    /* IPC$ */
    struct tree_connect tree_connect; /* owns its share name */
    struct access_token token;        /* tree connect.token may point to it */
    bool ends;
    unsigned holders, open_count;
    struct smb_request *awaited_by; /* TREE_DISCONNECT waiting for the last open */
};
struct smb_tree *smb_tree_new(struct smb_session *session);

struct smb_tree *smb_tree_find(struct smb_session *session, uint32_t id);
struct smb_tree *smb_tree_hold(struct smb_tree *tree);
void smb_tree_release(struct smb_tree *tree);
/* Returns whether the share is continuously available and grants persistent handles. */
bool smb_tree_is_available(const struct smb_tree *tree);
/* Hides the tree connect; its opens are closed step by step. */
void smb_tree_end(struct smb_tree *tree);

#endif
