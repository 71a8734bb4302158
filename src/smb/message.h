/* Inside smb/ only: messages, which are frames of requests, and their answers. message.c, answer.c */
#ifndef LAGRA_SMB_MESSAGE_H
#define LAGRA_SMB_MESSAGE_H

#include "smb/machine.h"
#include "smb/request.h"

struct smb_open;

struct smb_message {
    struct smb_message *next; /* of the connection */
    struct smb_connection *connection;
    struct arena *arena;         /* for all of it, but for the answer */
    size_t size;                 /* counted in work_bytes: its own bytes, and message_charge() */
    struct smb_request *current; /* NULL before the first and after the last request */
    struct bytes rest;           /* the requests after it, whose headers were checked */
    uint64_t began_ns;           /* time of arrival */
    bool runs;
    /* The answer that grows: several of a compound. */
    struct arena *answer_arena; /* NULL: nothing is written yet, and no room asked for */
    struct text answer;
    size_t last_at;                 /* where the header of the last one begins */
    struct smb_session *last_signs; /* held: whose signature it gets; NULL: none */
    struct signer *last_signer;     /* of that */
    struct preauth *adds_to;        /* what its bytes are a part of; NULL: nothing */
    struct smb_session
        *sealed_for; /* held: whose key it came under, and the answer goes; NULL: plain */
    bool is_own;     /* a request that no client sent: no answer */
    /* What goes on from one to the next: ms-smb2 3.3.5.2.7.2 */
    uint64_t session_id;
    uint32_t tree_id;
    struct smb_open *open; /* held; NULL: none */
    enum nt_status failed; /* the newest that was refused with an error; STATUS_SUCCESS: none */
    bool has_before;
    bool holds_breaks;        /* message_holds_breaks() */
    uint32_t bytes_asked;     /* by its requests, as their credits pay for */
    struct arena_mark before; /* of the arena, before the current request */
};

/* arena: see smb_connection_take()
 * returns false: it is to be closed */
bool message_take(struct smb_connection *connection, struct bytes bytes, struct arena *arena);
/* A message without requests. arena: is the message's from now on; size: what it counts in work_bytes. */
struct smb_message *message_new(struct smb_connection *connection, struct arena *arena,
                                size_t size);
/* One of its requests is about to hold so much, for its data or its answer: counted until the message is done. */
void message_charge(struct smb_message *message, size_t size);
/* Delays breaks on the connection until the message, which has written the response to an open with caching, is flushed. */
void message_holds_breaks(struct smb_message *message);
/* Creates the current request, after the one before is done. A compound has one request structure at a time, so that requests
 * that wait for their turn cost only the bytes received. */
struct smb_request *message_add(struct smb_message *message);
/* Related requests that follow are about this open. */
void message_set_open(struct smb_message *message, struct smb_open *open);
/* Goes on with its current request, and those after it; frees it after the last one. */
void message_run(struct smb_message *message);

/* Sends what there is of the answer. */
void message_flush(struct smb_message *message);
/* Runs the requests queued by smb_run(). */
void message_run_own(struct smb_connection *connection);
/* Queues a request of request_of_own(), which its connection runs as soon as the current step has returned. post.c */
void smb_run(struct smb_request *request);

typedef void smb_body_fn(struct smb_request *request, struct wire_writer *w);
/* Adds the answer of a request; that of one that was parked is sent at once. */
void message_answer(struct smb_request *request, enum nt_status status, smb_body_fn *body);
/* Returns NULL if the memory budget does not cover it. Else room in the answer for `size` bytes, which are `fixed` bytes behind its header: a body that has filled it does not
 * copy them, but passes over them with wire_put_placed(). Another call, and an interim answer, make it void. */
char *message_room(struct smb_request *request, size_t fixed, size_t size);
/* Sends what was answered before it, and STATUS_PENDING. */
void message_interim(struct smb_request *request);
/* A message of the server's own: a break. body: from StructureSize on. */
void smb_tell(struct smb_connection *connection, struct smb_session *session, uint16_t command,
              struct bytes body);
/* The error body. ms-smb2: 2.2.2 */
smb_body_fn answer_error_body;

#endif
