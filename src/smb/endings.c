/* The end of a session, and of a tree: what is parked in it is answered, and its handles are closed. */
#include "smb/smb_private.h"

#include <assert.h>

/* Answers what is parked, with the status that says why. */
static void cancel_parked(struct smb_session *session, const struct smb_tree *tree)
{
    for (struct smb_message *message = session->connection->messages; message;
         message = message->next) {
        struct smb_request *request = message->current;

        if (request && request->session == session && (!tree || request->tree == tree))
            request_cancel(request,
                           tree ? STATUS_NETWORK_NAME_DELETED : STATUS_USER_SESSION_DELETED);
    }
}

void session_end(struct smb_session *session)
{
    assert(session->state != SESSION_ENDS);
    session->state = SESSION_ENDS;
    service_remove_session(session->connection->service, session);
    cancel_parked(session, NULL);
    opens_close_all(session, NULL);
    while (session->trees)
        smb_tree_end(session->trees);
    session_release(session);
}

void smb_tree_end(struct smb_tree *tree)
{
    struct smb_session *session = tree->session;
    struct smb_tree **at = &session->trees;

    while (*at != tree)
        at = &(*at)->next;
    *at = tree->next;
    tree->ends = true;
    session->tree_count--;
    if (session->state != SESSION_ENDS) {
        cancel_parked(session, tree);
        opens_close_all(session, tree);
    }
    smb_tree_release(tree);
}
