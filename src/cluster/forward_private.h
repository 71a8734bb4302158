/* Internal to cluster/forward*.c: a request while it is forwarded. See forward.h. */
#ifndef LAGRA_CLUSTER_FORWARD_PRIVATE_H
#define LAGRA_CLUSTER_FORWARD_PRIVATE_H

#include "cluster/forward.h"
#include "cluster/link.h"
#include "http/response_head.h"

/* "\r\n", a size in hex, "\r\n" */
#define FRAME_BYTES 24u

struct forward {
    struct link_user user; /* first */
    struct waiter waiter;  /* for another read of the owner's record */
    struct body_source source;
    struct exchange *exchange;
    const struct forwarding *of;
    struct forward_to *to;
    unsigned moves;             /* to other cells */
    bool rests;                 /* the root and a cell do not agree: they will in a moment */
    struct owner_target target; /* of the last attempt */
    struct link *link;          /* or NULL */
    uint64_t began_ns, deadline_ns;
    uint64_t avoided;  /* incarnation that cannot be reached */
    uint64_t after_ns; /* the record must have been read later than this */
    bool is_tried;     /* there was an attempt */
    /* The request. */
    struct bytes unsent; /* of envelope and head */
    struct bytes frame;  /* of the framing of a chunked body, not sent yet */
    char frame_text[FRAME_BYTES];
    size_t chunk_left;   /* of the chunk that is being sent */
    uint64_t taken;      /* bytes of the body */
    bool has_chunk;      /* a chunk was sent */
    bool has_last_chunk; /* its frame was made */
    bool is_sent;        /* some of it may have been */
    bool is_complete;    /* all of it was */
    bool is_broken;      /* it cannot be sent any more; there may be a response */
    bool is_lost;        /* the link was closed */
    bool in_body;        /* body() comes next, or is paused */
    bool is_paused;      /* the exchange waits for the link or for an owner, until its next call */
    bool is_resumed;     /* that call is due */
    bool is_closed;      /* nothing is forwarded any more; perhaps it can be executed here */
    /* The response. */
    size_t searched; /* bytes of its head that were looked through */
    struct response_head head;
    bool has_continue, has_response;
    bool is_busy;  /* we respond 503 ourselves */
    uint64_t left; /* of its body */
};

/* Beside those of enum http_step: another attempt. */
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

/* A health check asks how things are now. */
static inline bool is_probe(const struct forward *f)
{
    return bytes_is(f->exchange->request.path, FORWARD_PATH_READY);
}

/* Is the body sent only after the receiver has asked for it? */
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

/* The next call of a function of the exchange, perhaps after a pause. */
static inline void begin_call(struct forward *f)
{
    f->is_paused = f->is_resumed = false;
}

/* ---- forward_send.c ---- */

/* Makes envelope and head ready to be sent to f->target. Returns false if the authority is too long. */
bool forward_prepare(struct forward *f);
/* Notes that the owner of the last attempt cannot be reached, unless it has only closed a link that was idle: nothing was
 * sent by it. */
void forward_avoid(struct forward *f);
/* Returns the part of the run that is sent next, in a chunk if the client sent chunks. */
struct bytes forward_next_run(struct forward *f, struct bytes data);
/* Makes the end of a chunked body ready to be sent. */
void forward_end_chunks(struct forward *f);
/* Sends the rest of head and framing, and from the run. Returns HTTP_WANT_BODY if something was sent, HTTP_WAIT, or AGAIN
 * after a failure. */
enum http_step forward_send(struct forward *f, struct bytes run, size_t *ret_taken);
/* Sends the rest of head and framing. Returns HTTP_WANT_BODY when it is sent, HTTP_WAIT, or AGAIN after a failure. */
enum http_step forward_flush(struct forward *f);

/* ---- forward_response.c ---- */

/* Responds ourselves: the request was not executed. */
enum http_step forward_refuse(struct forward *f);
/* Reads heads from the link, the last one of which is the response's. Returns false if the link must be closed. In its turn. */
bool forward_receive_head(struct forward *f);
/* Does the response say that the request may be sent elsewhere? */
bool forward_may_move(const struct forward *f);
/* Passes the response on, once its head is there. Returns AGAIN if the request may be tried again. */
enum http_step forward_respond(struct forward *f);

#endif
