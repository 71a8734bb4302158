/* What session_setup.c and bind.c share. */
#ifndef LAGRA_SMB_SESSION_SETUP_H
#define LAGRA_SMB_SESSION_SETUP_H

#include "smb/message.h"
#include "smb/service.h"
#include "smb/sessions.h"

struct spnego;

struct session_setup {
    bool awaits_previous; /* all is done, once the client's previous session has ended */
    struct session_wait previous_end;
    bool binds;
    unsigned moves;     /* of one that binds */
    uint8_t mode;       /* SecurityMode */
    uint64_t previous;  /* PreviousSessionId */
    instant held_until; /* where it waits its turn, as the connection's one that does; else 0 */
    struct bytes given; /* the client's token */
    struct bytes token; /* of the answer */
};

/* Where so many logons have failed that no more are looked at for a while: false. */
bool session_setup_may_try(const struct smb_connection *connection);
/* Then: has it wait, and looked at again, one of a connection at a time. False: it has waited long
 * enough, and is to be refused. decision: 359 */
bool session_setup_hold(struct smb_request *request);
/* The status of one that is refused so, which is counted. */
enum nt_status session_setup_locked_out(void);
/* Takes the client's token, by setup->given; *logon is made at the first one. preauth: what the keys are made of in
 * 3.1.1 grows by it and by the answer; NULL: the keys stay.
 * returns STATUS_SUCCESS: *logon has the account, which may use this connection
 *         STATUS_MORE_PROCESSING_REQUIRED; others: it is refused */
enum nt_status session_setup_step(struct smb_request *request, struct spnego **logon,
                                  struct preauth *preauth);
/* Somebody was authenticated on it. */
void connection_authenticated(struct smb_connection *connection, const struct account *account);

/* The setup binds the connection to a session of another one. */
enum smb_step bind_go_on(struct smb_request *request);

#endif
