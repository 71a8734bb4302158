/* What session_setup.c and bind.c share. */
#ifndef LAGRA_SMB_SESSION_SETUP_H
#define LAGRA_SMB_SESSION_SETUP_H

#include "smb/smb_private.h"

struct session_setup {
    bool binds;
    unsigned moves;     /* of one that binds */
    struct bytes given; /* the client's token */
    struct bytes token; /* of the answer */
};

/* Where so many logons have failed that no more are looked at for a while: false. */
bool session_setup_may_try(const struct smb_connection *connection);
void session_setup_failed(struct smb_connection *connection);
/* Somebody was authenticated on it. */
void connection_authenticated(struct smb_connection *connection);

/* The setup binds the connection to a session of another one. */
enum smb_step bind_go_on(struct smb_request *request);

#endif
