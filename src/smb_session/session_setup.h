/* Shared by session_setup.c and bind.c. */
#ifndef LAGRA_SMB_SESSION_SESSION_SETUP_H
#define LAGRA_SMB_SESSION_SESSION_SETUP_H

#include "smb_session/message.h"
#include "smb_session/service.h"
#include "smb_session/sessions.h"

struct spnego;

struct session_setup {
    bool awaits_previous; /* done once the client's previous session has ended */
    struct session_wait previous_end;
    bool binds;
    /* number of times that the connection or the session was moved to the other's worker so far */
    unsigned moves;
    uint8_t mode;       /* SecurityMode */
    uint64_t previous;  /* PreviousSessionId */
    instant held_until; /* end of its delay after failed logons; 0 if not delayed */
    struct bytes given; /* security token received */
    struct bytes token; /* security token to send */
};

/* Returns false while the address is locked out after too many failed logons. */
bool session_setup_may_try(const struct smb_connection *connection);
/* Delays a logon that is locked out; each connection delays at most one. Returns false if the
 * maximum delay has passed and it must be rejected. decision: 359 */
bool session_setup_hold(struct smb_request *request);
/* Returns the status for a locked-out logon. */
enum nt_status session_setup_locked_out(void);
/* Processes the client's token, setup->given; creates *logon for the first one. preauth: extended
 * by the request and the response, for the keys of 3.1.1; NULL to keep the keys. Returns
 * STATUS_SUCCESS if *logon has an account that may use the connection,
 * STATUS_MORE_PROCESSING_REQUIRED, or an error. */
enum nt_status session_setup_step(struct smb_request *request, struct spnego **logon,
                                  struct preauth *preauth);
/* Records the first authentication on the connection. */
void connection_authenticated(struct smb_connection *connection, const struct account *account);

/* Continues a SESSION_SETUP that binds the connection to an existing session. */
enum smb_step bind_go_on(struct smb_request *request);

#endif
