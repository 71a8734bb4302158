/* State shared by all connections. service.c */
#ifndef LAGRA_SMB_SESSION_SERVICE_H
#define LAGRA_SMB_SESSION_SERVICE_H

#include "auth/auth.h"
#include "base/lock.h"
#include "smb_session/account_uses.h"
#include "smb_session/host.h"
#include "smb_protocol/wire.h"

struct smb_request;
struct smb_session;

#define SMB_SESSION_BUCKETS 1024u
#define SMB_CLIENT_BUCKETS  1024u

/* A client, identified by its ClientGuid and its account, since the GUID is not authenticated. */
struct smb_client {
    struct guid guid;
    enum smb_dialect dialect;
    char account[ACCOUNT_NAME_MAX + 1];
};
/* Valid sessions of clients, in the order of their logon. */
struct smb_client_sessions {
    struct smb_session *first, *last;
};

struct smb_service {
    struct smb_options options;
    struct store *store;
    const struct accounts *accounts;
    struct decision_pool *pool;
    struct guid guid; /* ServerGuid, new in each process */
    instant started;
    struct logons *logons; /* failed logons by address */
    struct account_uses *uses;
    struct durable_scavenger *scavenger;
    struct lock lock; /* RANK_SMB */
    /* Protected by the lock: sessions by id, for PreviousSessionId and binding. */
    struct smb_session *buckets[SMB_SESSION_BUCKETS];
    unsigned session_count;
    struct smb_client_sessions clients[SMB_CLIENT_BUCKETS];
    uint64_t listed_count; /* number of sessions that were ever valid */
};

/* Assigns a new random session id and registers the session under it. Thread-safe. */
void service_add_session(struct smb_service *service, struct smb_session *session);
/* Adds a session that has become valid to the sessions of its client. */
void service_list_session(struct smb_service *service, struct smb_session *session);
/* Unregisters an ending session: it receives no breaks and accepts no new channels. */
void service_unlist_session(struct smb_service *service, struct smb_session *session);
/* Removes an ended session after its last handle is closed, and wakes requests that wait for this.
 * Called on the owner's thread. */
void service_remove_session(struct smb_service *service, struct smb_session *session);
/* Returns the client's next valid session after `place`, or NULL. Caller holds the service's
 * lock. */
struct smb_session *service_next_session(struct smb_service *service,
                                         const struct smb_client *client, uint64_t place);
enum found { FOUND_HERE, FOUND_ELSEWHERE, FOUND_NOTHING };
enum who_moves { NOBODY_MOVES, WE_MOVE, IT_MOVES };
/* Finds a valid session of another connection. FOUND_HERE: it runs on this thread, and *ret_session
 * is valid until this thread ends it. FOUND_ELSEWHERE: with WE_MOVE the request's connection moves
 * to the session's thread at the next post; with IT_MOVES the session's connection moves here if it
 * can, and then wakes the request, whose waiter is armed. */
enum found service_find_session(struct smb_request *request, uint64_t id, enum who_moves who,
                                struct smb_session **ret_session);
/* A request that waits for the end of another session. */
struct session_wait {
    struct session_wait *next;
    struct waiter *waiter; /* must be armed */
};
/* Ends a session of another connection if it has the same account as `by`. Returns true if some of
 * its handles may still be open; the waiter is woken once the last one is closed or disconnected.
 * ms-smb2: 3.3.5.5.3 step 10 */
bool service_end_previous(struct smb_service *service, uint64_t id, const struct smb_session *by,
                          struct session_wait *wait);

#endif
