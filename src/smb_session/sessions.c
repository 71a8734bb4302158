/* Sessions and tree connects of a connection: lookup by id, references. */
#include "smb_session/sessions.h"

#include <assert.h>
#include <stdlib.h>

#include "smb_session/channels.h"
#include "smb_session/service.h"
#include "smb_protocol/spnego.h"

struct smb_session *session_new(struct smb_connection *connection)
{
    struct smb_session *session = xcalloc(1, sizeof *session);

    session->connection = connection;
    session->preauth = connection->agreed.preauth;
    session->holders = 1; /* released by session_end() */
    atomic_init(&session->is_to_end, false);
    session->next = connection->sessions;
    connection->sessions = session;
    connection->session_count++;
    service_add_session(connection->service, session);
    return session;
}

struct smb_session *session_find(struct smb_connection *connection, uint64_t id)
{
    struct smb_session *session = connection->sessions;

    while (session && (session->id != id || session->state == SESSION_ENDS))
        session = session->next;
    for (const struct smb_channel *channel = connection->channels; channel && !session;
         channel = channel->next_of_connection)
        if (channel->session->id == id && channel->signer &&
            channel->session->state != SESSION_ENDS)
            session = channel->session;
    return session;
}

struct smb_session *session_hold(struct smb_session *session)
{
    assert(session->holders > 0);
    session->holders++;
    return session;
}

static void session_free(struct smb_session *session)
{
    struct smb_connection *connection = session->connection;
    struct smb_session **at = &connection->sessions;

    assert(session->state == SESSION_ENDS && !session->trees && session->open_count == 0);
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    connection->session_count--;
    while (session->channels)
        channel_free(session->channels);
    spnego_free(session->logon);
    signer_free(session->signer);
    sealer_free(session->sealer);
    sealer_free(session->opener);
    free(session);
    /* The session's home has ended before it and can now be freed. */
    if (connection->ends && connection->depth == 0)
        smb_post(connection, NULL);
}

void session_release(struct smb_session *session)
{
    assert(session->holders > 0);
    if (--session->holders == 0)
        session_free(session);
}

/* ---- tree connects ---- */

struct smb_tree *smb_tree_new(struct smb_session *session)
{
    struct smb_tree *tree = xcalloc(1, sizeof *tree);

    tree->session = session_hold(session);
    tree->holders = 1; /* released by smb_tree_end() */
    tree->id = ++session->next_tree_id;
    tree->next = session->trees;
    session->trees = tree;
    session->tree_count++;
    return tree;
}

struct smb_tree *smb_tree_find(struct smb_session *session, uint32_t id)
{
    struct smb_tree *tree = session->trees;

    while (tree && tree->id != id)
        tree = tree->next;
    return tree;
}

struct smb_tree *smb_tree_hold(struct smb_tree *tree)
{
    assert(tree->holders > 0);
    tree->holders++;
    return tree;
}

void smb_tree_release(struct smb_tree *tree)
{
    struct smb_session *session = tree->session;

    assert(tree->holders > 0);
    if (--tree->holders > 0)
        return;
    free((char *)(uintptr_t)tree->tree_connect.share.ptr);
    free(tree);
    session_release(session);
}
