/* See service.h. */
#include "smb_session/service.h"

#include <assert.h>
#include <stdlib.h>

#include "auth/logons.h"
#include "base/endian.h"
#include "smb_session/durable_scavenger.h"
#include "smb_session/message.h"
#include "smb_session/sessions.h"

struct smb_service *smb_service_new(const struct smb_options *options, struct store *store,
                                    const struct accounts *accounts, struct decision_pool *pool)
{
    struct smb_service *service = xcalloc(1, sizeof *service);

    service->options = *options;
    service->store = store;
    service->accounts = accounts;
    service->pool = pool;
    service->guid = guid_new();
    service->started = clock_wall();
    service->logons = logons_new();
    service->uses = account_uses_new();
    service->scavenger = scavenger_new(store, service->uses);
    lock_init(&service->lock, RANK_SMB);
    return service;
}

void smb_service_free(struct smb_service *service)
{
    assert(service->session_count == 0);
    scavenger_stop(service->scavenger);
    scavenger_free(service->scavenger);
    account_uses_free(service->uses);
    logons_free(service->logons);
    lock_destroy(&service->lock);
    free(service);
}

bool smb_service_start(struct smb_service *service)
{
    return !service->store || scavenger_start(service->scavenger);
}

const struct tenure *smb_service_tenure(const struct smb_service *service)
{
    return service->options.tenure;
}

static struct smb_session **bucket_of(struct smb_service *service, uint64_t id)
{
    return &service->buckets[id % SMB_SESSION_BUCKETS];
}

static struct smb_session *find(struct smb_service *service, uint64_t id)
{
    struct smb_session *session = *bucket_of(service, id);

    lock_assert_held(&service->lock);
    while (session && session->id != id)
        session = session->next_id;
    return session;
}

/* Returns a random number, of which session ids use 32 bits, as some clients expect (smbtorture
 * smb2.session-id). */
static uint64_t random_id(void)
{
    struct guid guid = guid_new();

    return le64_get(guid.b + 8) ^ le64_get(guid.b);
}

void service_add_session(struct smb_service *service, struct smb_session *session)
{
    lock_acquire(&service->lock);
    do
        session->id = random_id() & UINT32_MAX;
    while (session->id == 0 || find(service, session->id));
    session->next_id = *bucket_of(service, session->id);
    *bucket_of(service, session->id) = session;
    session->is_known = true;
    service->session_count++;
    lock_release(&service->lock);
}

/* ---- sessions of a client ---- */

static struct smb_client_sessions *client_bucket(struct smb_service *service,
                                                 const struct guid *guid)
{
    return &service->clients[guid_hash(guid) % SMB_CLIENT_BUCKETS];
}

static void add_to_client(struct smb_service *service, struct smb_session *session)
{
    struct smb_client_sessions *bucket =
        client_bucket(service, &session->connection->agreed.client_guid);

    session->place = ++service->listed_count;
    session->before_of_client = bucket->last;
    *(bucket->last ? &bucket->last->next_of_client : &bucket->first) = session;
    bucket->last = session;
}

static void remove_from_client(struct smb_service *service, const struct smb_session *session)
{
    struct smb_client_sessions *bucket =
        client_bucket(service, &session->connection->agreed.client_guid);
    struct smb_session *before = session->before_of_client, *next = session->next_of_client;

    *(before ? &before->next_of_client : &bucket->first) = next;
    *(next ? &next->before_of_client : &bucket->last) = before;
}

static bool is_of_client(const struct smb_session *session, const struct smb_client *client)
{
    const struct smb_agreement *agreed = &session->connection->agreed;

    return guid_equal(&agreed->client_guid, &client->guid) && agreed->dialect == client->dialect &&
           strcmp(session->account, client->account) == 0;
}

struct smb_session *service_next_session(struct smb_service *service,
                                         const struct smb_client *client, uint64_t place)
{
    struct smb_session *session = client_bucket(service, &client->guid)->first;

    lock_assert_held(&service->lock);
    while (session && (session->place <= place || !is_of_client(session, client)))
        session = session->next_of_client;
    return session;
}

void service_list_session(struct smb_service *service, struct smb_session *session)
{
    lock_acquire(&service->lock);
    session->is_listed = session->was_valid = true;
    add_to_client(service, session);
    lock_release(&service->lock);
}

void service_unlist_session(struct smb_service *service, struct smb_session *session)
{
    lock_acquire(&service->lock);
    if (session->is_listed)
        remove_from_client(service, session);
    session->is_listed = false;
    lock_release(&service->lock);
}

/* Removes the session from its bucket. Returns the requests that wait for its end. */
static struct session_wait *forget(struct smb_service *service, struct smb_session *session)
{
    struct smb_session **at = bucket_of(service, session->id);
    struct session_wait *awaiting = session->awaiting;

    lock_assert_held(&service->lock);
    assert(!session->is_listed && service->session_count > 0);
    while (*at != session)
        at = &(*at)->next_id;
    *at = session->next_id;
    service->session_count--;
    session->is_known = false;
    session->awaiting = NULL;
    return awaiting;
}

void service_remove_session(struct smb_service *service, struct smb_session *session)
{
    struct session_wait *awaiting = NULL, *next;

    assert(session->state == SESSION_ENDS && session->open_count == 0);
    lock_acquire(&service->lock);
    if (session->is_known)
        awaiting = forget(service, session);
    lock_release(&service->lock);
    for (; awaiting; awaiting = next) {
        next = awaiting->next; /* `awaiting` may be freed once it is woken */
        awaiting->waiter->wake(awaiting->waiter);
    }
}

/* Has the connection move to the caller's thread and then wake the caller. Returns false if another
 * request is doing so. */
static bool call(struct smb_connection *connection, struct smb_request *by, const void *place)
{
    struct smb_request *nobody = NULL;

    if (!atomic_compare_exchange_strong(&connection->called_by, &nobody, by))
        return false;
    atomic_store(&connection->called_to, place);
    smb_post_news(connection);
    return true;
}

enum found service_find_session(struct smb_request *request, uint64_t id, enum who_moves who,
                                struct smb_session **ret_session)
{
    struct smb_connection *connection = request->message->connection;
    struct smb_service *service = connection->service;
    struct smb_host *host = connection->host;
    enum found found = FOUND_NOTHING;
    struct smb_session *session;

    lock_acquire(&service->lock);
    session = find(service, id);
    if (session && session->is_listed) {
        const void *here = host->place(host);
        const void *there = session->connection->host->place(session->connection->host);

        found = here == there ? FOUND_HERE : FOUND_ELSEWHERE;
        if (found == FOUND_ELSEWHERE && who == IT_MOVES)
            found = call(session->connection, request, here) ? FOUND_ELSEWHERE : FOUND_NOTHING;
        else if (found == FOUND_ELSEWHERE && who == WE_MOVE)
            host->move(host, there);
        *ret_session = session;
    }
    lock_release(&service->lock);
    return found;
}

/* The fields read here are set before the session is listed as valid. Its connection exists as long
 * as the session is known. */
bool service_end_previous(struct smb_service *service, uint64_t id, const struct smb_session *by,
                          struct session_wait *wait)
{
    struct smb_connection *connection = NULL;
    struct smb_session *session;

    lock_acquire(&service->lock);
    session = find(service, id);
    if (session && session != by && session->was_valid &&
        strcmp(session->account, by->account) == 0) {
        wait->next = session->awaiting;
        session->awaiting = wait;
        connection = session->connection;
        atomic_store(&session->is_to_end, true);
        atomic_store(&connection->sessions_end, true);
        atomic_fetch_add(&connection->posters, 1);
    }
    lock_release(&service->lock);
    if (!connection)
        return false;
    smb_post(connection, NULL);
    atomic_fetch_sub(&connection->posters, 1);
    return true;
}
