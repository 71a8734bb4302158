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
    bool is_sealed;    /* the lease's session is encrypted: the sending session must be, too */
    uint64_t place;    /* position of the session that should send it */
    uint64_t of_lease; /* position of the session that holds the lease */
    unsigned refused;  /* sessions that could not send it */
    bool is_last;      /* all others could not: sent regardless of unsent bytes */
    uint8_t body[LEASE_BREAK_SIZE];
};

/* ---- choosing a session ---- */

/* Returns the session that holds the lease, or NULL if it has ended. */
static struct smb_session *last_session(struct smb_service *service,
                                        const struct client_break *news)
{
    struct smb_session *session = service_next_session(service, &news->of, news->of_lease - 1);

    return session && session->place == news->of_lease ? session : NULL;
}

/* Returns the next session to try, or NULL if all have been tried. */
static struct smb_session *next_session(struct smb_service *service, struct client_break *news)
{
    bool is_soon = news->refused >= CLIENT_REFUSALS_MAX;
    struct smb_session *session = NULL;

    if (news->is_last)
        return NULL;
    if (is_soon && news->place < news->of_lease)
        session = last_session(service, news);
    else if (!is_soon)
        session = service_next_session(service, &news->of, news->place);
    news->is_last = !session;
    return session ? session : last_session(service, news);
}

/* Sends and frees the break. Returns false if the session cannot send it. Called on the owner's
 * thread. */
static bool send_it(struct smb_session *session, struct client_break *news)
{
    struct smb_connection *way = session_way(session);

    if (session->state != SESSION_VALID || way->ends || way->is_broken ||
        (way->unsent_bytes >= SMB_UNSENT_BYTES_MAX && !news->is_last) ||
        (news->is_sealed && !session->has_sealed))
        return false;
    smb_tell(way, session, SMB_OPLOCK_BREAK, bytes_of((const char *)news->body, sizeof news->body));
    free(news);
    return true;
}

static void hand_over(struct smb_connection *connection, struct client_break *news)
{
    news->next = NULL;
    *(connection->first_break ? &connection->last_break->next : &connection->first_break) = news;
    connection->last_break = news;
    atomic_store(&connection->client_breaks_come, true);
    atomic_fetch_add(&connection->posters, 1);
}

/* Passes the break on to the next session. `here` is the connection of the calling thread. */
static void pass_on(struct smb_connection *here, struct client_break *news)
{
    struct smb_service *service = here->service;
    struct smb_connection *there = NULL;
    struct smb_session *session;

    do {
        lock_acquire(&service->lock);
        session = next_session(service, news);
        if (session) {
            news->place = session->place;
            there = session->connection;
            if (there != here)
                hand_over(there, news);
        }
        lock_release(&service->lock);
    } while (session && there == here && !send_it(session, news) && ++news->refused);
    if (!session) {
        free(news); /* the client has no sessions left */
    } else if (there != here) {
        smb_post(there, NULL);
        atomic_fetch_sub(&there->posters, 1);
    }
}

void client_break_lease(struct smb_session *session, const uint8_t *body)
{
    struct client_break *news = xcalloc(1, sizeof *news);

    news->of.guid = session->connection->agreed.client_guid;
    news->of.dialect = session->connection->agreed.dialect;
    memcpy(news->of.account, session->account, sizeof news->of.account);
    news->is_sealed = session->has_sealed;
    news->of_lease = session->place;
    memcpy(news->body, body, sizeof news->body);
    pass_on(session->connection, news);
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
    struct client_break *news;

    if (!atomic_exchange(&connection->client_breaks_come, false))
        return;
    lock_acquire(&connection->service->lock);
    news = connection->first_break;
    connection->first_break = NULL;
    lock_release(&connection->service->lock);
    while (news) {
        struct client_break *next = news->next;
        struct smb_session *session = session_at(connection, news->place);

        if (!session || !send_it(session, news)) {
            news->refused++;
            pass_on(connection, news);
        }
        news = next;
    }
}
