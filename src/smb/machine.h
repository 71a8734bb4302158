/* Inside smb/ only: a connection, whose outside is connection.h. connection.c, post.c, answer.c */
#ifndef LAGRA_SMB_MACHINE_H
#define LAGRA_SMB_MACHINE_H

#include <stdatomic.h>

#include "smb/commands.h"
#include "smb/connection.h"
#include "smb/credits.h"
#include "smb/crypto.h"
#include "smb/limits.h"

struct smb_message;
struct smb_session;

/* What was agreed on. ms-smb2: 3.3.1.7 */
struct smb_agreement {
    enum smb_dialect dialect; /* SMB_NO_DIALECT: nothing yet */
    bool from_smb1;           /* it has answered an SMB1 negotiation with the wildcard */
    enum smb_cipher cipher;   /* CIPHER_NONE: cannot seal */
    enum smb_signing signing;
    uint32_t capabilities;        /* the server's, as answered */
    uint16_t security_mode;       /* the server's, as answered */
    uint32_t client_capabilities; /* for VALIDATE_NEGOTIATE_INFO */
    struct guid client_guid;
    uint16_t client_security_mode;
    bool client_requires_signing;
    bool multi_credit; /* requests may cost more than one */
    struct preauth preauth;
};

#define LEASE_BUCKETS 256u

struct smb_connection {
    struct smb_service *service;
    struct smb_host *host;
    struct smb_agreement agreed;
    struct credit_window window;
    struct smb_session *sessions; /* that began on it; linked by next */
    unsigned session_count;
    struct smb_channel *channels; /* to sessions of others; linked by next_of_connection */
    struct open_table *opens;
    struct smb_open *leaving, *last_leaving; /* handles for connection_close_some() */
    struct smb_message *messages;            /* in work; linked by next */
    struct smb_request *own, **last_own;     /* queue of smb_run(); linked by next_woken */
    bool runs_own;
    size_t work_bytes;   /* of them */
    size_t unsent_bytes; /* of packets that the host has */
    unsigned parked_count;
    uint64_t next_async_id;
    struct bytes peer;           /* owned */
    struct memory_holder memory; /* that its messages are charged to */
    bool is_authenticated;
    bool holds_logon; /* one waits, since too many have failed */
    bool ends;        /* smb_connection_end() was called */
    bool has_ended;   /* host->ended() was called */
    bool is_broken;   /* a step found that it has to be closed */
    unsigned depth;   /* of calls into the machine: the outermost reports the end */
    struct smb_caching *leases[LEASE_BUCKETS]; /* by their keys; linked by next_lease */
    atomic_bool breaks_come;                   /* the queue below is not empty */
    unsigned unflushed; /* number of messages that delay breaks: message_holds_breaks() */
    _Atomic(struct smb_caching *) asked; /* leases and oplocks with a break, newest first */
    struct smb_caching *due;             /* removed from there by the owner; linked by next_asked */
    struct client_break *first_break, *last_break; /* under the service's lock: clients.h */
    atomic_bool client_breaks_come;                /* there are such */
    struct smb_watch *watches;                     /* linked by next */
    atomic_bool changes_come;                      /* one of them has a change to report */
    atomic_size_t changes_bytes;                   /* that they keep */
    /* From any thread: requests that were woken, the last first; whether sessions are to be ended. */
    _Atomic(struct smb_request *) woken;
    atomic_bool sessions_end;
    atomic_uint posters; /* threads inside smb_post() */
    /* From any thread: the request that wants it on its own thread, and the place of that. NULL: none */
    _Atomic(struct smb_request *) called_by;
    _Atomic(const void *) called_to;
};

/* To be closed, with this in the log. returns false */
bool smb_break(struct smb_connection *connection, const char *why);
/* Any thread: has the owner run it. The request, unless NULL, may go on from then on: touch it no more. */
void smb_post(struct smb_connection *connection, struct smb_request *request);
/* Not the owner: has it look at breaks and changes that have come, and waits with its end until that is over. It has not ended when
 * this is called. */
void smb_post_news(struct smb_connection *connection);

#endif
