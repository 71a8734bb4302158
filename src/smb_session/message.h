/* Messages (frames of one or more requests) and their responses. message.c, answer.c */
#ifndef LAGRA_SMB_SESSION_MESSAGE_H
#define LAGRA_SMB_SESSION_MESSAGE_H

#include "smb_session/connection_state.h"
#include "smb_session/request.h"

struct smb_open;

struct smb_message {
    struct smb_message *next; /* in the connection's list */
    struct smb_connection *connection;
    struct arena *arena;         /* for everything except the response */
    size_t size;                 /* charged to work_bytes: received bytes, and message_charge() */
    struct smb_request *current; /* NULL before the first and after the last request */
    struct bytes rest;           /* unread requests, whose headers are valid */
    uint64_t began_ns;           /* time of arrival */
    bool runs;
    /* The response being built; for a compound, it contains several responses. */
    struct arena *answer_arena; /* NULL until something is written or reserved */
    struct text answer;
    size_t last_at;                 /* offset of the last header */
    struct smb_session *last_signs; /* held; signs the last response, or NULL */
    struct signer *last_signer;     /* its key */
    struct preauth *adds_to;        /* preauthentication hash that includes the response, or NULL */
    struct smb_session *sealed_for; /* held; encrypts the response, or NULL */
    bool is_own;                    /* created by the server: no response */
    /* Context for related requests. ms-smb2: 3.3.5.2.7.2 */
    uint64_t session_id;
    uint32_t tree_id;
    struct smb_open *open; /* held, or NULL */
    enum nt_status failed; /* status for related requests to fail with, or STATUS_SUCCESS */
    bool has_before;
    bool holds_breaks;        /* set by message_holds_breaks() */
    uint32_t bytes_asked;     /* payload of the requests, as covered by their CreditCharge */
    struct arena_mark before; /* of the arena, before the current request */
};

/* Creates a message without requests. arena: then owned by the message. size: charged to
 * work_bytes */
struct smb_message *message_new(struct smb_connection *connection, struct arena *arena,
                                size_t size);
/* Charges memory for the data or response of a request until the message ends. */
void message_charge(struct smb_message *message, size_t size);
/* Delays breaks on the connection until the message, which contains the response to an open with
 * caching, is flushed. */
void message_holds_breaks(struct smb_message *message);
/* Creates the next request and makes it current. A compound has one request structure at a time, so
 * requests that wait for their turn cost only the bytes received. */
struct smb_request *message_add(struct smb_message *message);
/* Sets the open that following related requests use. */
void message_set_open(struct smb_message *message, struct smb_open *open);
/* Sends the response built so far. */
void message_flush(struct smb_message *message);
/* Queues a request of request_of_own(). Its connection runs it after the current step.
 * connection_events.c */
void smb_run(struct smb_request *request);

typedef void smb_body_fn(struct smb_request *request, struct wire_writer *w);
/* Appends the response to a request. The response to a parked request is sent at once. */
void message_answer(struct smb_request *request, enum nt_status status, smb_body_fn *body);
/* Reserves `size` bytes of the response, at offset `fixed` after its header, so that a body can
 * fill them without a copy and skip them with wire_put_placed(). Valid until the next call or an
 * interim response. Returns NULL if the memory budget is exhausted. */
char *message_room(struct smb_request *request, size_t fixed, size_t size);
/* Sends the responses before the request, and an interim response (STATUS_PENDING). */
void message_interim(struct smb_request *request);
/* Sends a notification, such as an oplock break. body: from StructureSize on */
void smb_tell(struct smb_connection *connection, struct smb_session *session, uint16_t command,
              struct bytes body);
/* Writes an ERROR Response. ms-smb2: 2.2.2 */
smb_body_fn answer_error_body;

#endif
