/* Inside smb/ only: connections, sessions, trees, opens, messages and requests, and the files' shares of the
 * way of a message. README.md says who owns what. */
#ifndef LAGRA_SMB_SMB_PRIVATE_H
#define LAGRA_SMB_SMB_PRIVATE_H

#include <stdatomic.h>

#include "base/endian.h"
#include "base/lock.h"
#include "file/handle_names.h"
#include "file/handle_open.h"
#include "service/deciding.h"
#include "smb/commands.h"
#include "smb/connection.h"
#include "smb/credits.h"
#include "smb/crypto.h"
#include "smb/durable.h"
#include "smb/limits.h"
#include "smb/replay.h"
#include "smb/status.h"

struct smb_session;
struct smb_tree;
struct smb_open;
struct smb_message;

/* ---- what all connections share: service.c ---- */

#define SMB_SESSION_BUCKETS 1024u

struct smb_service {
    struct smb_options options;
    struct store *store;
    bool settles_later; /* of its limits */
    const struct accounts *accounts;
    struct decide_pool *pool;
    struct guid guid; /* ServerGuid: of the process */
    instant started;
    struct logons *logons; /* that failed, by address */
    struct kept_handles *kept;
    struct lock lock; /* RANK_SMB */
    /* Under the lock: sessions by id, for PreviousSessionId. */
    struct smb_session *buckets[SMB_SESSION_BUCKETS];
    unsigned session_count;
};

/* A session id that nobody has, and no one can guess; lists the session by it. Any thread. */
void service_add_session(struct smb_service *service, struct smb_session *session);
/* It is valid: its account is known. */
void service_list_session(struct smb_service *service, struct smb_session *session);
void service_remove_session(struct smb_service *service, struct smb_session *session);
enum found { FOUND_HERE, FOUND_ELSEWHERE, FOUND_NOTHING };
enum who_moves { NOBODY_MOVES, WE_MOVE, IT_MOVES };
/* A session of another connection that is valid. FOUND_HERE: it is of the same thread, and *ret_session is valid as long
 * as that does not end it. FOUND_ELSEWHERE: with WE_MOVE the request's connection goes to its thread when it is posted;
 * with IT_MOVES it comes here if it can, and the request, whose waiter is armed, is woken then. */
enum found service_find_session(struct smb_request *request, uint64_t id, enum who_moves who,
                                struct smb_session **ret_session);
/* Ends a session of another connection, if it is of this account; it goes by and by.
 * ms-smb2: 3.3.5.5.3 step 10 */
void service_end_previous(struct smb_service *service, uint64_t id, const struct smb_session *by);

/* ---- connections: connection.c ---- */

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

struct smb_connection {
    struct smb_service *service;
    struct smb_host *host;
    struct smb_agreement agreed;
    struct credit_window window;
    struct smb_session *sessions; /* that began on it; linked by next */
    unsigned session_count;
    struct smb_channel *channels; /* to sessions of others; linked by next_of_connection */
    struct open_table *opens;
    /* What the parts below the machine go up by. */
    void (*run_message)(struct smb_message *message);
    const struct smb_row *(*find_row)(uint16_t command);
    struct smb_message *messages; /* in work; linked by next */
    size_t work_bytes;            /* of them */
    size_t unsent_bytes;          /* of packets that the host has */
    unsigned parked_count;
    uint64_t next_async_id;
    struct bytes peer; /* owned */
    bool is_authenticated;
    bool holds_logon;             /* one waits, since too many have failed */
    bool ends;                    /* smb_connection_end() was called */
    bool has_ended;               /* host->ended() was called */
    bool is_broken;               /* a step found that it has to be closed */
    unsigned depth;               /* of calls into the machine: the end is told by the outermost */
    struct smb_caching *cachings; /* linked by next */
    atomic_bool breaks_come;      /* one of them was told to break */
    struct smb_watch *watches;    /* linked by next */
    atomic_bool changes_come;     /* one of them was told a change */
    /* From any thread: requests that were woken, the last first; whether sessions are to be ended. */
    _Atomic(struct smb_request *) woken;
    atomic_bool sessions_end;
    atomic_uint posters; /* threads inside smb_post() */
    /* From any thread: who wants it to be of his thread, and the place of that. NULL: nobody */
    _Atomic(struct smb_request *) called_by;
    _Atomic(const void *) called_to;
};

/* To be closed, with this in the log. returns false */
bool smb_break(struct smb_connection *connection, const char *why);
/* Any thread: has the owner run it. The request, unless NULL, may go on from then on: touch it no more. */
void smb_post(struct smb_connection *connection, struct smb_request *request);
/* Not the owner: has it look at what it was told, and waits with its end until that is over. It has not ended when
 * this is called. */
void smb_post_news(struct smb_connection *connection);

/* ---- sessions: sessions.c ---- */

enum session_state {
    SESSION_IN_PROGRESS, /* not authenticated yet */
    SESSION_VALID,
    SESSION_ENDS, /* logged off, or ended by another connection: nobody finds it, its opens are closed */
};

struct smb_session {
    struct smb_session *next;          /* of the connection */
    struct smb_session *next_id;       /* of the service's bucket */
    struct smb_connection *connection; /* that it began on: constant */
    struct smb_channel *channels;      /* other connections; linked by next */
    unsigned channel_count;
    uint64_t id;
    enum session_state state;
    atomic_bool is_to_end; /* another connection ended it */
    struct spnego *logon;  /* while it authenticates, also again; NULL: not */
    bool is_listed;        /* under the service's lock: it is valid, and may be ended by another */
    struct smb_request *awaited_by;     /* LOGOFF, until the last open is gone */
    struct preauth preauth;             /* 3.1.1 */
    char account[ACCOUNT_NAME_MAX + 1]; /* that it is of, once valid */
    const struct account *of;           /* the same */
    bool requires_signing;
    bool seals;                     /* all of it is sealed: SESSION_FLAG_ENCRYPT_DATA */
    bool has_sealed;                /* a sealed message has come: so what is told is sealed */
    struct signer *signer;          /* NULL: not valid yet */
    struct sealer *sealer, *opener; /* NULL: it cannot */
    struct smb_tree *trees;
    unsigned tree_count;
    uint32_t next_tree_id;
    unsigned open_count;
    unsigned holders; /* requests that use it, and its opens */
};

struct smb_session *session_new(struct smb_connection *connection);
/* One that began on the connection, or that it is a channel of. */
struct smb_session *session_find(struct smb_connection *connection, uint64_t id);
struct smb_session *session_hold(struct smb_session *session);
void session_release(struct smb_session *session);
/* Nobody finds it from now on; its trees and opens are closed by and by. */
void session_end(struct smb_session *session);

/* ---- trees: tree_connect.c ---- */

struct smb_tree {
    struct smb_tree *next; /* of the session */
    struct smb_session *session;
    uint32_t id;
    bool is_pipes;             /* IPC$ */
    struct mount mount;        /* its share's name is owned */
    struct access_token token; /* that mount.token may point to */
    bool ends;
    unsigned holders, open_count;
    struct smb_request *awaited_by; /* TREE_DISCONNECT, until the last open is gone */
};
struct smb_tree *smb_tree_new(struct smb_session *session);

struct smb_tree *smb_tree_find(struct smb_session *session, uint32_t id);
struct smb_tree *smb_tree_hold(struct smb_tree *tree);
void smb_tree_release(struct smb_tree *tree);
/* Its files may be opened with handles that persist. */
bool smb_tree_is_available(const struct smb_tree *tree);
/* Nobody finds it from now on. */
void smb_tree_end(struct smb_tree *tree);

/* ---- opens: opens.c ---- */

struct smb_caching; /* caching.h */
struct smb_watch;   /* change_notify.c */

/* What happens to it when its connection or session ends. durable.h */
struct smb_durable {
    enum durable_kind kind;
    uint32_t timeout_ms;
};

struct smb_open {
    struct smb_tree *tree; /* held */
    unsigned holders;
    unsigned in_work;              /* requests by it that are in work, but for parked ones */
    struct smb_request *closed_by; /* its CLOSE, which waits for them; NULL: not */
    bool is_open;                  /* false: it is being opened, or closed: nobody finds it */
    uint64_t volatile_id;
    struct held_handle handle;
    struct smb_durable durable;
    bool is_fresh; /* nobody has used it: its client may not know yet that it is there */
    /* The GUID of its create, by which that is found if it comes once more; zeros: none. */
    bool has_create;
    struct guid create;
    struct smb_open *next_create; /* of the bucket */
    uint32_t action;              /* CreateAction, as answered */
    struct channel_sequence channel;
    uint8_t *locks;    /* owned; LOCK_SEQUENCES of them; NULL: none yet */
    uint64_t position; /* behind what it read or wrote */
    /* Bytes that its client asked for, in whole clusters: shown while the file takes less, not reserved. decision: 568 */
    uint64_t allocated;
    uint32_t mode;     /* of its create options: FILE_MODE_.. of FileModeInformation */
    struct bytes path; /* owned; of one in a snapshot: UTF-8, '/' between names; else ptr NULL */
    bool has_written;  /* what has to be durable when it is closed */
    struct smb_caching *caching;                   /* NULL: it caches nothing */
    struct smb_open *next_of_caching;              /* the next one that has it */
    void (*leaves_caching)(struct smb_open *open); /* with caching */
    void (*ends_watch)(struct smb_open *open);     /* with watch */
    /* Where QUERY_DIRECTORY goes on. */
    struct {
        bool has_begun;
        struct bytes pattern;    /* owned */
        struct list_position at; /* its name is owned */
    } listing;
    struct smb_watch *watch; /* once CHANGE_NOTIFY was asked */
};
static inline uint64_t open_persistent_id(const struct smb_open *open)
{
    return open->handle.id ? open->handle.id : open->volatile_id;
}

struct open_table;
struct open_table *open_table_new(void);
void open_table_free(struct open_table *table);
/* The request is in work by request->open from now on; or not any more: its CLOSE may go on. */
void open_begins_work(struct smb_request *request);
void open_ends_work(struct smb_request *request);
/* A place for one that is being opened; open_gone() if that fails. NULL: there are SMB_OPENS_MAX. */
struct smb_open *open_new(struct smb_tree *tree);
/* tree: NULL: any of the session */
struct smb_open *open_find(const struct smb_session *session, const struct smb_tree *tree,
                           uint64_t persistent, uint64_t volatile_id);
/* It is found by the GUID of its create from now on. */
void open_set_create(struct smb_open *open, const struct guid *create);
/* Its client asks for so many bytes to be allocated; 0, or more than a file may have: for none. */
void open_allocate(struct smb_open *open, uint64_t bytes);
void open_show_allocated(const struct smb_open *open, struct handle_info *info);
/* One of the session, perhaps not open yet or any more; NULL: none. */
struct smb_open *open_find_create(const struct smb_session *session, const struct guid *create);
/* Memory for the sequences of its locks. */
uint8_t *open_lock_sequences(struct smb_open *open);
struct smb_open *open_hold(struct smb_open *open);
void open_release(struct smb_open *open);
/* It is closed, or was not opened: takes it out of the table, and wakes who waits for that. */
void open_gone(struct smb_open *open);
/* Nobody finds it from now on; it is closed by and by. */
void open_close(struct smb_open *open);
/* The same, but it is kept for its client where it can be. */
void open_leave(struct smb_open *open);
/* The request that closes it has been decided: it is gone. */
enum smb_step open_closed(struct smb_request *request);
/* Those that are open, one after the other; NULL: no more. *slot: 0 at first */
struct smb_open *opens_next(const struct open_table *table, uint32_t *slot);
/* Names between backslashes, as a create and a rename have them; none: the root. In the arena.
 * returns STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_OBJECT_NAME_INVALID */
enum nt_status smb_read_names(struct arena *arena, struct bytes path,
                              const struct bytes **ret_names, size_t *ret_count);
/* A request that no client sent, about an open. */
struct smb_request *request_of_own(struct smb_open *open, const struct smb_row *row);

/* ---- what it has beside: caching.c, change_notify.c ---- */

/* Requests that wait for changes are answered with STATUS_NOTIFY_CLEANUP. */
void watch_end(struct smb_open *open);
/* Answers those that have been told something. */
void watches_answer(struct smb_connection *connection);

/* ---- what SMB shows of a file: shown.c ---- */

/* CreationTime, LastAccessTime, LastWriteTime, ChangeTime */
void smb_put_info_times(struct wire_writer *w, const struct handle_info *info);
/* FileAttributes: FILE_ATTRIBUTE_NORMAL where there is no other. MS-FSCC 2.6 */
uint32_t smb_attributes(const struct handle_info *info);
/* The share's, as VolumeId and serial number. */
uint64_t smb_volume_id(const struct smb_tree *tree);

/* ---- requests: request.c ---- */

enum request_state {
    ADMIT,          /* what every command needs: admit.c */
    BEGIN,          /* its own function reads it */
    DECIDE,         /* an attempt */
    DECIDE_IN_POOL, /* something is not in memory */
    COMMIT,
    COMMIT_IN_POOL,
    ASK, /* what it asks of others is committed, then it waits for them */
    ASK_IN_POOL,
    OTHERS,         /* it waits for others (service/waiting.h) */
    SETTLES,        /* on a store that settles later: nothing goes on before it has */
    DECIDED,        /* or committed: the command goes on, or is done */
    DURABLE,        /* wait until what was seen and done is on disk */
    ANSWER,         /* write the body */
    GOING_ON,       /* the command has a step of its own */
    GOING_ON_LATER, /* the same, once the waiter that it has armed is woken */
    FETCHES,        /* the same, once something is in memory */
    LOADS,
    HELD,     /* it waits for something in this process, which wakes it: parked */
    AWAITS,   /* the same, for so short a time that it is not parked */
    POOLED,   /* a step runs in the pool, or has run there */
    CUT,      /* nobody knows what became of it: the connection is closed */
    ANSWERED, /* it is over */
    WAITING,  /* only as a step's result: woken by a post; the same state is entered again */
};

/* As struct pause of service/: arming may wake before the request is left to wait. */
struct request_pause {
    struct waiter waiter;
    atomic_int state;
};

struct smb_request {
    struct smb_message *message;
    struct smb_request *next; /* of the compound */
    struct smb_request *next_woken;
    struct request_pause pause;
    struct pool_job job;
    enum request_state state;
    bool waits; /* it is woken before it goes on */
    enum request_state (*pooled)(struct smb_request *request);
    enum request_state pooled_next;

    struct smb_header header;
    struct bytes bytes; /* from its header to the next one's */
    const struct smb_row *row;
    struct smb_session *session; /* held */
    struct smb_tree *tree;       /* held */
    struct smb_open *open;       /* held */
    bool is_in_work;             /* counts as one of open->in_work */
    bool has_sequence;           /* counts in open->channel */
    uint64_t sequence_change;    /* for channel_sequence_end() */
    bool is_related;
    bool is_signed; /* the request was: so is the answer */
    bool
        is_parked; /* an interim answer was sent, or is due: counts as one of connection->parked_count */
    bool is_cancelled;
    enum nt_status cancelled_with;
    bool is_woken;            /* by request_wake() */
    uint64_t async_id;        /* once parked */
    enum smb_lasting lasting; /* the row's, unless it asks for more */
    bool has_body;            /* with an error, too */
    enum nt_status status;

    /* Of one that decides. */
    struct problem problem;
    struct input input;
    attempt_fn *attempt;
    void *of;
    uint64_t turn;
    uint64_t seen;            /* what the newest decision rested on */
    enum error error;         /* of the newest decision, once DECIDED */
    void *parameters;         /* the command's own */
    struct decision decision; /* the last: see struct flow */
};

/* Begins or goes on, until it is answered or waits. */
void request_run(struct smb_request *request);
/* ---- how it waits: request_wait.c ---- */

void request_init_pause(struct smb_request *request);
/* After the waiter was kept: until it is woken. returns WAITING */
enum request_state request_wait(struct smb_request *request);
/* Runs the step in the pool, and what it returns is next. returns WAITING */
enum request_state request_to_pool(struct smb_request *request,
                                   enum request_state (*step)(struct smb_request *request));
/* Something is not in memory: waits for it where the store fetches it, else goes on with `in_pool`. */
enum request_state request_fetch_or(struct smb_request *request, enum request_state in_pool);
/* The waiter for whatever wakes it: before STEP_WAIT. */
struct waiter *request_arm(struct smb_request *request);
/* Wakes one after STEP_HOLD or STEP_AWAIT. Owner's thread. */
void request_wake(struct smb_request *request);
/* One that waits in service/waiting.h goes on now. Owner's thread. */
void request_hurry(struct smb_request *request);
/* CANCEL, or its session, tree or connection ends: one that is parked is answered with STATUS_CANCELLED soon;
 * others go on. */
void request_cancel(struct smb_request *request, enum nt_status status);
/* Releases what it holds. */
void request_over(struct smb_request *request);
/* It is answered so: to the logs that want it. log.c */
void smb_log(const struct smb_request *request, enum nt_status status);

/* What a command's functions return. */
static inline enum smb_step smb_refuse(struct smb_request *request, enum nt_status status)
{
    request->status = status;
    return STEP_ANSWER;
}
/* Decides next: the attempt, on parameters that lie in the message's arena. */
static inline enum smb_step smb_decide(struct smb_request *request, attempt_fn *attempt, void *of)
{
    request->attempt = attempt;
    request->of = of;
    return STEP_DECIDE;
}
static inline struct arena *request_arena(const struct smb_request *request)
{
    return request->decision.arena;
}

/* ---- admission: admit.c ---- */

/* returns STATUS_SUCCESS, or what it is refused with. A compound's first failure counts for those related to
 * it. *ret_breaks: the connection is to be closed, without an answer */
enum nt_status request_admit(struct smb_request *request, bool *ret_breaks);

/* The file that a request names at an offset in its body, or the one that goes on in a compound: request->open.
 * returns STATUS_SUCCESS, STATUS_FILE_CLOSED, STATUS_INVALID_PARAMETER */
enum nt_status request_find_open(struct smb_request *request, size_t file_at);

/* ---- messages: message.c ---- */

struct smb_message {
    struct smb_message *next; /* of the connection */
    struct smb_connection *connection;
    struct arena *arena; /* for all of it, but for the answer */
    size_t size;         /* counted in work_bytes */
    struct smb_request *first, *current;
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
    uint32_t bytes_asked;     /* by its requests, as their credits pay for */
    struct arena_mark before; /* of the arena, when its current request began */
};

/* arena: see smb_connection_take()
 * returns false: it is to be closed */
bool message_take(struct smb_connection *connection, struct bytes bytes, struct arena *arena);
/* A message without requests. arena: is the message's from now on; size: what it counts in work_bytes. */
struct smb_message *message_new(struct smb_connection *connection, struct arena *arena,
                                size_t size);
/* One more request of it, behind the last one; NULL: its first. */
struct smb_request *message_add(struct smb_message *message, struct smb_request *last);
/* Related requests that follow are about this open. */
void message_set_open(struct smb_message *message, struct smb_open *open);
/* Goes on with its current request, and those after it; frees it after the last one. */
void message_run(struct smb_message *message);

/* Sends what there is of the answer. */
void message_flush(struct smb_message *message);
/* Runs one of request_of_own(). */
static inline void smb_run(struct smb_request *request)
{
    request->message->connection->run_message(request->message);
}

typedef void smb_body_fn(struct smb_request *request, struct wire_writer *w);
/* Adds the answer of a request; that of one that was parked is sent at once. */
void message_answer(struct smb_request *request, enum nt_status status, smb_body_fn *body);
/* Room in the answer for `size` bytes, which are `fixed` bytes behind its header: a body that has filled it does not
 * copy them, but passes over them with wire_put_placed(). Another call, and an interim answer, make it void. */
char *message_room(struct smb_request *request, size_t fixed, size_t size);
/* Sends what was answered before it, and STATUS_PENDING. */
void message_interim(struct smb_request *request);
/* A message of the server's own: a break. body: from StructureSize on. */
void smb_tell(struct smb_connection *connection, struct smb_session *session, uint16_t command,
              struct bytes body);
/* The error body. ms-smb2: 2.2.2 */
smb_body_fn answer_error_body;

/* ---- negotiate.c ---- */

/* The message is an SMB1 negotiation: gets a request that answers it. returns false: it is none, or comes too
 * late. ms-smb2: 3.3.5.3 */
bool negotiate_smb1(struct smb_message *message, struct bytes bytes);

#endif
