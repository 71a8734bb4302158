/* See clients.h. A break is queued on the home connection of its session, under the service's lock,
 * and only for listed sessions: a connection whose sessions have ended receives no more. */
#include "smb_session/clients.h"
#include "smb_session/channels.h"

#include <assert.h>
#include <stdlib.h>

#include "smb_session/service.h"

struct client_break {
    struct client_break *next; /* in the connection's list */
    struct smb_client of;
    bool is_sealed;    /* the lease's session is encrypted, so the sending session must be, too */
    uint64_t place;    /* position of the session that should send it */
    uint64_t of_lease; /* position of the session that holds the lease */
    unsigned refused;  /* sessions that could not send it */
    bool is_last;      /* no other session could send it, so unsent bytes are ignored */
    uint8_t body[LEASE_BREAK_SIZE];
};

/* ---- choosing a session ---- */

/* Returns the session that holds the lease, or NULL if it has ended. */
static struct smb_session *last_session(struct smb_service *service,
                                        const struct client_break *notice)
{
    struct smb_session *session = service_next_session(service, &notice->of, notice->of_lease - 1);

    return session && session->place == notice->of_lease ? session : NULL;
}

/* Returns the next session to try, or NULL if all have been tried. */
static struct smb_session *next_session(struct smb_service *service, struct client_break *notice)
{
    bool is_soon = notice->refused >= CLIENT_REFUSALS_MAX;
    struct smb_session *session = NULL;

    if (notice->is_last)
        return NULL;
    if (is_soon && notice->place < notice->of_lease)
        session = last_session(service, notice);
    else if (!is_soon)
        session = service_next_session(service, &notice->of, notice->place);
    notice->is_last = !session;
    return session ? session : last_session(service, notice);
}

/* Sends and frees the break. Returns false if the session cannot send it. Called on the owner's
 * thread. */
static bool send_it(struct smb_session *session, struct client_break *notice)
{
    struct smb_connection *way = session_way(session);

    if (session->state != SESSION_VALID || way->ends || way->is_broken ||
        (way->unsent_bytes >= SMB_UNSENT_BYTES_MAX && !notice->is_last) ||
        (notice->is_sealed && !session->has_sealed))
        return false;
    smb_tell(way, session, SMB_OPLOCK_BREAK,
             bytes_of((const char *)notice->body, sizeof notice->body));
    free(notice);
    return true;
}

static void hand_over(struct smb_connection *connection, struct client_break *notice)
{
    notice->next = NULL;
    *(connection->first_break ? &connection->last_break->next : &connection->first_break) = notice;
    connection->last_break = notice;
    atomic_store(&connection->has_client_breaks, true);
    atomic_fetch_add(&connection->posters, 1);
}

/* Passes the break on to the next session. `here` is the connection of the calling thread. */
static void pass_on(struct smb_connection *here, struct client_break *notice)
{
    struct smb_service *service = here->service;
    struct smb_connection *there = NULL;
    struct smb_session *session;

    do {
        lock_acquire(&service->lock);
        session = next_session(service, notice);
        if (session) {
            notice->place = session->place;
            there = session->connection;
            if (there != here)
                hand_over(there, notice);
        }
        lock_release(&service->lock);
    } while (session && there == here && !send_it(session, notice) && ++notice->refused);
    if (!session) {
        free(notice); /* the client has no sessions left */
    } else if (there != here) {
        smb_post(there, NULL);
        atomic_fetch_sub(&there->posters, 1);
    }
}

void client_break_lease(struct smb_session *session, const uint8_t *body)
{
    struct client_break *notice = xcalloc(1, sizeof *notice);

    notice->of.guid = session->connection->agreed.client_guid;
    notice->of.dialect = session->connection->agreed.dialect;
    memcpy(notice->of.account, session->account, sizeof notice->of.account);
    notice->is_sealed = session->has_sealed;
    notice->of_lease = session->place;
    memcpy(notice->body, body, sizeof notice->body);
    pass_on(session->connection, notice);
}

static struct smb_session *session_at(const struct smb_connection *connection, uint64_t place)
{
    struct smb_session *session = connection->sessions;

    while (session && session->place != place)
        session = session->next;
    return session;
}

void client_breaks_send(struct smb_connection *connection)
{
    struct client_break *notice;

    if (!atomic_exchange(&connection->has_client_breaks, false))
        return;
    lock_acquire(&connection->service->lock);
    notice = connection->first_break;
    connection->first_break = NULL;
    lock_release(&connection->service->lock);
    while (notice) {
        struct client_break *next = notice->next;
        struct smb_session *session = session_at(connection, notice->place);

        if (!session || !send_it(session, notice)) {
            notice->refused++;
            pass_on(connection, notice);
        }
        notice = next;
    }
}
