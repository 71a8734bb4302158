/* What is logged of a request: a struct that its worker fills (access_log.c) and the thread of the logs makes lines of
 * (access_line.c). Inside service/ only. */
#ifndef LAGRA_SERVICE_ACCESS_EVENT_H
#define LAGRA_SERVICE_ACCESS_EVENT_H

#include "base/event_log.h"
#include "service/service_private.h"

/* Of a text that a client chose so much is kept. */
#define EVENT_TEXT_MAX 1024u
#define SAS_HASH_SIZE  8u

/* In the order that they lie behind the struct. */
enum event_text {
    TEXT_ACCOUNT,
    TEXT_METHOD,
    TEXT_PATH,
    TEXT_CLIENT,
    TEXT_CLIENT_REQUEST,
    TEXT_TRACE,
    TEXT_OWNER,  /* of a bearer token: his id */
    TEXT_POLICY, /* of a SAS */
    TEXT_ETAG,   /* as answered, with its quotes */
    EVENT_TEXTS,
};

enum event_kind { EVENT_OF_REQUEST, EVENT_OF_SERVER };

struct access_event {
    enum event_kind kind;
    instant began;       /* by the wall clock */
    const char *what;    /* EVENT_OF_SERVER: static; then an account may follow, no more */
    const char *service; /* static */
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

/* event_format of all three logs. */
void access_line_write(enum event_log log, struct bytes event, struct text *to);

#endif
