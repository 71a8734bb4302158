/* Inside smb/ only: what all connections share. service.c */
#ifndef LAGRA_SMB_SERVICE_H
#define LAGRA_SMB_SERVICE_H

#include "base/lock.h"
#include "smb/connection.h"

struct smb_request;
struct smb_session;

#define SMB_SESSION_BUCKETS 1024u

struct smb_service {
    struct smb_options options;
    struct store *store;
    bool settles_later; /* of its limits */
    const struct accounts *accounts;
    struct decide_pool *pool;
    struct guid guid; /* ServerGuid: of the process */
    instant started;
    struct logons *logons; /* that failed, by address */
    struct kept_handles *kept;
    struct lock lock; /* RANK_SMB */
    /* Under the lock: sessions by id, for PreviousSessionId. */
    struct smb_session *buckets[SMB_SESSION_BUCKETS];
    unsigned session_count;
};

/* A session id that nobody has, and no one can guess; lists the session by it. Any thread. */
void service_add_session(struct smb_service *service, struct smb_session *session);
/* It is valid: its account is known. */
void service_list_session(struct smb_service *service, struct smb_session *session);
void service_remove_session(struct smb_service *service, struct smb_session *session);
enum found { FOUND_HERE, FOUND_ELSEWHERE, FOUND_NOTHING };
enum who_moves { NOBODY_MOVES, WE_MOVE, IT_MOVES };
/* A session of another connection that is valid. FOUND_HERE: it is of the same thread, and *ret_session is valid as long
 * as that does not end it. FOUND_ELSEWHERE: with WE_MOVE the request's connection goes to its thread when it is posted;
 * with IT_MOVES it comes here if it can, and the request, whose waiter is armed, is woken then. */
enum found service_find_session(struct smb_request *request, uint64_t id, enum who_moves who,
                                struct smb_session **ret_session);
/* Ends a session of another connection, if it is of this account; it goes by and by.
 * ms-smb2: 3.3.5.5.3 step 10 */
void service_end_previous(struct smb_service *service, uint64_t id, const struct smb_session *by);

#endif
