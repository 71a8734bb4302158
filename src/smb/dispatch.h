/* Runs messages and their requests. README.md has the path of a message and the states of a
 * request. message.c, request.c, request_validation.c */
#ifndef LAGRA_SMB_DISPATCH_H
#define LAGRA_SMB_DISPATCH_H

#include "smb_session/message.h"

/* arena: see smb_connection_take(). Returns false if the connection must be closed. */
bool message_take(struct smb_connection *connection, struct bytes bytes, struct arena *arena);
/* Runs the current request and the following ones. Frees the message after the last one. */
void message_run(struct smb_message *message);
/* Runs the requests queued by smb_run(). */
void message_run_own(struct smb_connection *connection);

/* Runs the request until it is done or waits. */
void request_run(struct smb_request *request);
/* Frees what the request holds. */
void request_over(struct smb_request *request);

/* Validates the request. Returns STATUS_SUCCESS or the error to respond with; requests related to a
 * failed request of their compound fail too. Sets *ret_breaks if the connection must be closed
 * without a response. */
enum nt_status request_admit(struct smb_request *request, bool *ret_breaks);

#endif
