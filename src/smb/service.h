/* Inside smb/ only: what all connections share. service.c */
#ifndef LAGRA_SMB_SERVICE_H
#define LAGRA_SMB_SERVICE_H

#include "auth/auth.h"
#include "base/lock.h"
#include "smb/account_uses.h"
#include "smb/connection.h"
#include "smb/wire.h"

struct smb_request;
struct smb_session;

#define SMB_SESSION_BUCKETS 1024u
#define SMB_CLIENT_BUCKETS  1024u

/* A client says its GUID itself, so the account has to be the same one, too. */
struct smb_client {
    struct guid guid;
    enum smb_dialect dialect;
    char account[ACCOUNT_NAME_MAX + 1];
};
/* Valid sessions of clients, in the order in which they became so. */
struct smb_client_sessions {
    struct smb_session *first, *last;
};

struct smb_service {
    struct smb_options options;
    struct store *store;
    const struct accounts *accounts;
    struct decide_pool *pool;
    struct guid guid; /* ServerGuid: of the process */
    instant started;
    struct logons *logons; /* that failed, by address */
    struct account_uses *uses;
    struct kept_handles *kept;
    struct lock lock; /* RANK_SMB */
    /* Under the lock: sessions by id, for PreviousSessionId. */
    struct smb_session *buckets[SMB_SESSION_BUCKETS];
    unsigned session_count;
    struct smb_client_sessions clients[SMB_CLIENT_BUCKETS];
    uint64_t listed_count; /* sessions that were ever valid */
};

/* A session id that nobody has, and no one can guess; lists the session by it. Any thread. */
void service_add_session(struct smb_service *service, struct smb_session *session);
/* It is valid: its account is known. */
void service_list_session(struct smb_service *service, struct smb_session *session);
/* It ends: no break goes to it, and no connection is bound to it from now on. */
void service_unlist_session(struct smb_service *service, struct smb_session *session);
/* It has ended, and its last handle is closed: wakes the requests that wait for that. Owner's thread */
void service_remove_session(struct smb_service *service, struct smb_session *session);
/* The client's next valid session behind that place; NULL: none. Under the service's lock */
struct smb_session *service_next_session(struct smb_service *service,
                                         const struct smb_client *client, uint64_t place);
enum found { FOUND_HERE, FOUND_ELSEWHERE, FOUND_NOTHING };
enum who_moves { NOBODY_MOVES, WE_MOVE, IT_MOVES };
/* A session of another connection that is valid. FOUND_HERE: it is of the same thread, and *ret_session is valid as long
 * as that does not end it. FOUND_ELSEWHERE: with WE_MOVE the request's connection goes to its thread when it is posted;
 * with IT_MOVES it comes here if it can, and the request, whose waiter is armed, is woken then. */
enum found service_find_session(struct smb_request *request, uint64_t id, enum who_moves who,
                                struct smb_session **ret_session);
/* A request that waits for the end of another session. */
struct session_wait {
    struct session_wait *next;
    struct waiter *waiter; /* armed */
};
/* Ends a session of another connection if it belongs to the account of `by`. Returns true if some of its handles may still be
 * open; the waiter is woken once the last one is closed or disconnected. ms-smb2: 3.3.5.5.3 step 10 */
bool service_end_previous(struct smb_service *service, uint64_t id, const struct smb_session *by,
                          struct session_wait *wait);

#endif
