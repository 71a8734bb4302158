/* State of a connection, whose interface is connection.h. Used by connection.c, connection_events.c
 * and answer.c. */
#ifndef LAGRA_SMB_CONNECTION_PRIVATE_H
#define LAGRA_SMB_CONNECTION_PRIVATE_H

#include <stdatomic.h>

#include "smb_session/command_row.h"
#include "smb_session/host.h"
#include "smb_protocol/credits.h"
#include "smb_protocol/crypto.h"
#include "smb_protocol/limits.h"

struct smb_message;
struct smb_session;

/* Negotiated parameters. ms-smb2: 3.3.1.7 */
struct smb_agreement {
    enum smb_dialect dialect; /* SMB_NO_DIALECT before negotiation */
    bool from_smb1;           /* an SMB1 negotiation was answered with the wildcard revision */
    enum smb_cipher cipher;   /* CIPHER_NONE: no encryption */
    enum smb_signing signing;
    uint32_t capabilities;        /* of the server, as sent */
    uint16_t security_mode;       /* of the server, as sent */
    uint32_t client_capabilities; /* for VALIDATE_NEGOTIATE_INFO */
    struct guid client_guid;
    uint16_t client_security_mode;
    bool client_requires_signing;
    bool multi_credit; /* CreditCharge may exceed 1 */
    struct preauth preauth;
};

#define LEASE_BUCKETS 256u

struct smb_connection {
    struct smb_service *service;
    struct smb_host *host;
    struct smb_agreement agreed;
    struct credit_window window;
    struct smb_session *sessions; /* sessions created on it; linked by next */
    unsigned session_count;
    struct smb_channel *channels; /* to sessions of others; linked by next_of_connection */
    struct open_table *opens;
    struct smb_open *leaving, *last_leaving; /* opens for connection_close_some() */
    struct smb_message *messages;            /* in progress; linked by next */
    struct smb_request *own, **last_own;     /* queue of smb_run(); linked by next_woken */
    bool runs_own;
    size_t work_bytes;   /* of messages */
    size_t unsent_bytes; /* of packets passed to the host */
    unsigned parked_count;
    uint64_t next_async_id;
    struct bytes peer;           /* owned */
    struct memory_holder memory; /* budget that messages are charged to */
    bool is_authenticated;
    bool holds_logon; /* a logon is delayed after too many failures */
    bool ends;        /* smb_connection_end() was called */
    bool has_ended;   /* host->ended() was called */
    bool is_broken;   /* must be closed */
    unsigned depth;   /* nested calls into the machine; the outermost calls host->ended() */
    struct smb_caching *leases[LEASE_BUCKETS]; /* by lease key; linked by next_lease */
    atomic_bool has_posted_breaks;             /* `posted_breaks` is not empty */
    unsigned unflushed; /* messages that delay breaks: message_holds_breaks() */
    _Atomic(struct smb_caching *)
        posted_breaks;       /* leases and oplocks with a pending break, newest first */
    struct smb_caching *due; /* taken from `posted_breaks` by the owner; linked by next_queued */
    struct client_break *first_break, *last_break; /* protected by the service's lock: clients.h */
    atomic_bool has_client_breaks;                 /* that list is not empty */
    struct smb_watch *watches;                     /* linked by next */
    atomic_bool has_posted_changes;                /* a watch has a change to report */
    atomic_size_t changes_bytes;                   /* size of unreported changes */
    /* Written by any thread: woken requests, newest first; sessions to end. */
    _Atomic(struct smb_request *) woken;
    atomic_bool sessions_end;
    atomic_uint posters; /* threads posting to it; its end waits for them */
    /* Written by any thread: the request that wants the connection on its own thread, identified by
     * called_to; or NULL. */
    _Atomic(struct smb_request *) called_by;
    _Atomic(const void *) called_to;
};

/* Logs why the connection must be closed. Returns false. */
bool smb_break(struct smb_connection *connection, const char *why);
/* Schedules a run of the connection on its owner's thread. The request, unless NULL, may resume at
 * once, so the caller must not use it afterwards. Thread-safe. */
void smb_post(struct smb_connection *connection, struct smb_request *request);
/* Schedules sending of pending breaks and changes on the owner's thread. The connection must not
 * have ended, nor end during the call. Not called by the owner. */
void smb_post_news(struct smb_connection *connection);

#endif
