/* What is logged of a request: a struct that its worker fills (access_log.c) and the thread of the logs makes lines of
 * (access_line.c). Inside service/ only. */
#ifndef LAGRA_OBSERVE_ACCESS_EVENT_H
#define LAGRA_OBSERVE_ACCESS_EVENT_H

#include "base/event_log.h"
#include "observe/observed_request.h"

/* Of a text that a client chose so much is kept. */
#define EVENT_TEXT_MAX 1024u
#define SAS_HASH_SIZE  8u

/* Those that become lines of text. */
#define ACCESS_LOGS    (1u << EVENTS_ACCESS | 1u << EVENTS_AUDIT | 1u << EVENTS_SLOW)

/* In the order that they lie behind the struct. */
enum event_text {
    TEXT_ACCOUNT,
    TEXT_METHOD,
    TEXT_PATH,
    TEXT_CLIENT,
    TEXT_CLIENT_REQUEST,
    TEXT_TRACE,
    TEXT_OWNER,  /* of a bearer token: its object id */
    TEXT_POLICY, /* of a SAS */
    TEXT_ETAG,   /* as answered, with its quotes */
    TEXT_VIA, /* front end that forwarded it; EVENT_OF_FORWARD: the owner that it was forwarded to */
    EVENT_TEXTS,
};

enum event_kind {
    EVENT_OF_REQUEST,
    EVENT_OF_PART, /* of a batch */
    EVENT_OF_SMB,
    EVENT_OF_FORWARD, /* a request that another front end was asked to execute */
    EVENT_OF_SERVER,
};

struct access_event {
    enum event_kind kind;
    instant began;       /* by the wall clock */
    const char *what;    /* static; EVENT_OF_SERVER: what happened; EVENT_OF_SMB: the command */
    const char *service; /* static; NULL: EVENT_OF_SERVER that is of none */
    const char *code;    /* static; EVENT_OF_SMB: the status's name; EVENT_OF_FORWARD: the result */
    struct guid
        other;       /* EVENT_OF_PART: the batch's request; EVENT_OF_SERVER: a copy; zeros: none */
    uint64_t handle; /* EVENT_OF_SMB: that the command names or makes; 0: none */
    const struct operation *operation; /* NULL: none was found */
    uint64_t spent_ns[REQUEST_STAGES]; /* zeros: it was not timed */
    uint64_t all_ns;
    uint64_t received, sent; /* bytes of bodies */
    struct guid request;
    int status;
    enum error error;
    unsigned attempts; /* decisions */
    enum identity_kind identity;
    enum sas_kind sas;
    uint8_t sas_hash[SAS_HASH_SIZE]; /* the begin of SHA-256 of its signature */
    bool is_timed, is_forwarded;
    bool was_cut; /* the client did not get all of its answer */
    uint16_t lengths[EVENT_TEXTS];
};
_Static_assert(sizeof(struct access_event) + 3 * EVENT_TEXT_MAX + 512 <= EVENT_BYTES_MAX,
               "the texts that clients choose, and the others, which are shorter");

/* The texts of a request, or of a part of a batch, and its answer; each cut to what is kept of it.
 * returns their bytes */
size_t access_event_texts(const struct call *call, const struct response *response,
                          struct bytes texts[EVENT_TEXTS]);
/* Puts them behind the struct. */
void access_event_put(struct access_event *event, const struct bytes texts[EVENT_TEXTS]);
/* The caller. */
void access_event_identify(struct access_event *event, const struct call *call);

/* event_format of all three logs. */
void access_line_write(enum event_log log, struct bytes event, struct text *to);

#endif
