/* Log event of a request. The request's worker fills in the struct (access_log.c); the log thread
 * formats it as a line (access_line.c). Internal to observe/. */
#ifndef LAGRA_OBSERVE_ACCESS_EVENT_H
#define LAGRA_OBSERVE_ACCESS_EVENT_H

#include "base/event_log.h"
#include "observe/observed_request.h"

/* Maximum logged length of a string chosen by the client. */
#define EVENT_TEXT_MAX 1024u
#define SAS_HASH_SIZE  8u

/* Logs that consist of lines of text. */
#define ACCESS_LOGS    (1u << EVENTS_ACCESS | 1u << EVENTS_AUDIT | 1u << EVENTS_SLOW)

/* Strings, in the order in which they follow the struct. */
enum event_text {
    TEXT_ACCOUNT,
    TEXT_METHOD,
    TEXT_PATH,
    TEXT_CLIENT,
    TEXT_CLIENT_REQUEST,
    TEXT_TRACE,
    TEXT_OWNER,  /* object id of the bearer token */
    TEXT_POLICY, /* stored access policy of the SAS */
    TEXT_ETAG,   /* from the response, with its quotes */
    /* front end that forwarded the request; EVENT_OF_FORWARD: owner to which it was forwarded */
    TEXT_VIA,
    EVENT_TEXTS,
};

enum event_kind {
    EVENT_OF_REQUEST,
    EVENT_OF_PART, /* part of a batch */
    EVENT_OF_SMB,
    EVENT_OF_FORWARD, /* request that was forwarded to another front end */
    EVENT_OF_SERVER,
};

struct access_event {
    enum event_kind kind;
    instant began;       /* wall clock */
    const char *what;    /* static; EVENT_OF_SERVER: event; EVENT_OF_SMB: command */
    const char *service; /* static; NULL for an EVENT_OF_SERVER that concerns no service */
    const char *code;    /* static; EVENT_OF_SMB: name of the status; EVENT_OF_FORWARD: result */
    /* EVENT_OF_PART: request id of the batch; EVENT_OF_SERVER: id of a copy; zeros if none */
    struct guid other;
    uint32_t cell;      /* EVENT_OF_FORWARD */
    uint64_t waited_ns; /* EVENT_OF_FORWARD: until it was sent */
    bool is_direct;     /* likewise: the body was read from the files of the cell */
    uint64_t handle;    /* EVENT_OF_SMB: handle that the command names or creates; 0 if none */
    const struct operation *operation; /* NULL if not found */
    uint64_t spent_ns[REQUEST_STAGES]; /* zeros if not timed */
    uint64_t all_ns;
    uint64_t received, sent; /* bytes of bodies */
    struct guid request;
    int status;
    enum error error;
    unsigned attempts; /* number of decisions */
    enum identity_kind identity;
    enum sas_kind sas;
    uint8_t sas_hash[SAS_HASH_SIZE]; /* first bytes of the SHA-256 of its signature */
    bool is_timed, is_forwarded;
    bool was_cut; /* the client did not receive the complete response */
    uint16_t lengths[EVENT_TEXTS];
};
_Static_assert(sizeof(struct access_event) + 3 * EVENT_TEXT_MAX + 512 <= EVENT_BYTES_MAX,
               "the texts that clients choose, and the others, which are shorter");

/* Collects the strings of a request, or of a part of a batch, and of its response. Truncates each
 * to its maximum logged length. Returns their total size in bytes. */
size_t access_event_texts(const struct call *call, const struct response *response,
                          struct bytes texts[EVENT_TEXTS]);
/* Appends the strings to the struct. */
void access_event_put(struct access_event *event, const struct bytes texts[EVENT_TEXTS]);
/* Sets the fields that identify the caller. */
void access_event_identify(struct access_event *event, const struct call *call);

/* Formats an event of any of the three logs (event_format). */
void access_line_write(enum event_log log, struct bytes event, struct text *to);

#endif
