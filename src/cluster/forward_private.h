/* Internal to cluster/forward*.c: state of a forwarded request. See forward.h. */
#ifndef LAGRA_CLUSTER_FORWARD_PRIVATE_H
#define LAGRA_CLUSTER_FORWARD_PRIVATE_H

#include "cluster/direct.h"
#include "cluster/forward.h"
#include "cluster/link.h"
#include "http/response_head.h"

/* "\r\n", a size in hex, "\r\n" */
#define FRAME_BYTES 24u

struct forward {
    struct link_user user; /* first */
    struct waiter waiter;  /* waits for another read of the owner's record */
    struct body_source source;
    struct exchange *exchange;
    const struct forwarding *of;
    struct forward_to *to;
    unsigned moves; /* number of moves to other cells */
    /* set if the root and a cell disagree, which lasts only a moment; waits before the next
     * attempt */
    bool rests;
    struct owner_target target; /* owner used by the last attempt */
    struct link *link;          /* or NULL */
    uint64_t began_ns, deadline_ns;
    uint64_t waited_ns;          /* from the beginning until the last attempt could send */
    struct owner_target avoided; /* could not be reached; tried again after its next renewal */
    uint64_t after_ns; /* the record must have been read after this time; 0 and 1: at any time */
    bool is_tried;     /* an attempt was made */
    /* The request. */
    struct bytes unsent; /* rest of envelope and header */
    struct bytes frame;  /* unsent framing of a chunked body */
    char frame_text[FRAME_BYTES];
    size_t chunk_left;   /* unsent bytes of the current chunk */
    uint64_t taken;      /* body bytes read from the client */
    bool has_chunk;      /* a chunk was sent */
    bool has_last_chunk; /* the frame of the last chunk was created */
    bool is_sent;        /* some of it may have been sent */
    bool is_complete;    /* all of it was sent */
    bool is_broken;      /* sending failed, but a response may still arrive */
    bool is_lost;        /* the link was closed */
    bool in_body;        /* the next call is body(), or body() is paused */
    bool is_paused;      /* the exchange waits for the link or an owner, until its next call */
    bool is_resumed;     /* that call is due */
    bool is_closed;      /* nothing is forwarded any more; it may be executed here */
    /* The response. */
    size_t searched; /* bytes of its header that were searched */
    struct response_head head;
    bool has_continue, has_response;
    bool is_busy;  /* this front end responds with 503 itself */
    uint64_t left; /* remaining bytes of its body */
    /* A body that this front end reads from files. */
    bool asks_pieces; /* the envelope asks for a list */
    bool is_refused;  /* a direct read has failed; the owner sends the body */
    char *list;       /* the list; `listed` bytes of it have arrived */
    size_t listed;
    struct direct_read *direct;
    struct waiter direct_waiter;
    uint64_t direct_length;
    struct net_tick tick; /* sends receipts, from the response header to the end */
};

/* Additional value of enum http_step: try again. */
#define AGAIN ((enum http_step)99)

static inline struct forward *forward_of(struct exchange *exchange)
{
    return exchange->application;
}

static inline bool has_body(const struct forward *f)
{
    return f->exchange->request.content_length != 0;
}

static inline bool is_chunked(const struct forward *f)
{
    return f->exchange->request.content_length == HTTP_LENGTH_UNKNOWN;
}

/* Returns true for a health check, which reports the current state and does not wait. */
static inline bool is_probe(const struct forward *f)
{
    return bytes_is(f->exchange->request.path, FORWARD_PATH_READY);
}

/* Returns true if the body is sent only after the receiver has asked for it (100 response). */
static inline bool is_announced(const struct forward *f)
{
    uint64_t length = f->exchange->request.content_length;

    return f->exchange->request.expects || (f->to->is_divided && length > f->to->kept_max);
}

static inline enum http_step pause_exchange(struct forward *f)
{
    f->is_paused = true;
    exchange_suspend(f->exchange);
    return HTTP_WAIT;
}

static inline void resume(struct forward *f)
{
    if (!f->is_paused || f->is_resumed)
        return;
    f->is_resumed = true;
    exchange_resume(f->exchange);
}

/* Marks the start of the next call of the exchange, perhaps after a pause. */
static inline void begin_call(struct forward *f)
{
    f->is_paused = f->is_resumed = false;
}

/* ---- forward_send.c ---- */

/* Prepares envelope and header for f->target. Returns false if the authority is too long. */
bool forward_prepare(struct forward *f);
/* Marks the owner of the last attempt as unreachable, unless the failed link was a reused one,
 * which the owner may have closed as idle. */
void forward_avoid(struct forward *f);
/* Returns the part of the run to send next, framed as a chunk if the client sent chunks. */
struct bytes forward_next_run(struct forward *f, struct bytes data);
/* Prepares the end of a chunked body. */
void forward_end_chunks(struct forward *f);
/* Sends the rest of header and framing, then from the run. Returns HTTP_WANT_BODY if something was
 * sent, HTTP_WAIT, or AGAIN after a failure. */
enum http_step forward_send(struct forward *f, struct bytes run, size_t *ret_taken);
/* Sends the rest of header and framing. Returns HTTP_WANT_BODY when all is sent, HTTP_WAIT, or
 * AGAIN after a failure. */
enum http_step forward_flush(struct forward *f);

/* Receives 1..max bytes of the response's body (forward_link.c). Returns them, 0 if none are there yet, or
 * BODY_FAILED. */
long forward_receive_body(struct forward *f, char *to, size_t max);
/* Returns the link for reuse, or closes it if it cannot be reused. */
void forward_finish_link(struct forward *f);
/* Forgets the response, so that the request can be sent again. */
void forward_forget_response(struct forward *f);

/* Returns true if the owner is asked for a list of pieces (forward_direct.c). */
bool forward_may_read(const struct forward *f, const struct owner_target *target);
/* Returns true if the response is a list of pieces. */
bool forward_is_list(const struct forward *f);
/* Receives the list and starts to read. Returns HTTP_RESPOND once the first bytes were read and the
 * response is complete; HTTP_WAIT; AGAIN if the request must be sent again, for the body itself. */
enum http_step forward_read_list(struct forward *f);
/* Ends the read, if there is one, and sends the last receipt. Returns true if there was one. */
bool forward_end_direct(struct forward *f, uint64_t passed_on);

/* ---- forward_response.c ---- */

/* Responds that the request was not executed. */
enum http_step forward_refuse(struct forward *f);
/* Reads response headers from the link, up to that of the final response. Returns false if the link
 * must be closed. Called in the link's turn. */
bool forward_receive_head(struct forward *f);
/* Returns true if the response allows the request to be sent elsewhere. */
bool forward_may_move(const struct forward *f);
/* Passes the response on, once its header has arrived. Returns AGAIN if the request may be tried
 * again. */
enum http_step forward_respond(struct forward *f);

#endif
