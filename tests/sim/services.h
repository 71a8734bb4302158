/* The services that a run can be of: one, drawn from the seed (services.c), or given by --service.
 * Each has asks of its own, their way onto the wire, and a judge with a model of its own. Threads,
 * disk, faults, clients and sockets know nothing of it.
 *
 * To add one: its row in services.c, its place among what seeds draw, and an ask of its own in
 * struct ask (request.h), whose `op` is OPS then. */
#ifndef LAGRA_SIM_SERVICES_H
#define LAGRA_SIM_SERVICES_H

#include <limits.h>

#include "request.h"

struct arena;
struct http_header;
struct service;
struct draft; /* draft.h */

#define NAMES_MAX 3u
#define ALL_NAMES UINT_MAX

struct sim_service {
    const char *name;
    const struct service *service; /* the server's */
    /* That it serves, too; NULL: none. Is the ask one of that? Such requests do not go by the wire. */
    const struct service *beside;
    bool (*is_beside)(const struct ask *ask);

    /* ---- of its containers, queues, tables or shares ---- */
    const char *const *names;
    unsigned name_count; /* at most NAMES_MAX */
    /* Returns the cell in which the newest of that name is, or 0 if it does not exist. */
    unsigned (*cell_of)(unsigned name);

    /* ---- of clients ---- */
    /* What a client does next: from the seed, the client's number and the request's. */
    void (*draw)(unsigned client, unsigned number, struct ask *ret_ask);
    void (*format)(const struct ask *ask, char *to, size_t size);
    /* NULL: as blobs, whose requests request.c knows. */
    void (*write)(const struct ask *ask, struct arena *arena, struct draft *ret_draft);
    bool signs_as_table; /* Shared Key has a form of its own for the Table service */
    /* Headers that request.c does not read for every service; NULL: there are none. */
    void (*read_header)(const struct http_header *header, struct reply *reply);

    /* ---- of the judge: see judge.h, whose functions are those of blobs ---- */
    void (*begin)(void); /* an empty model, in the world */
    void (*begin_life)(void);
    void (*asked)(unsigned slot, const struct ask *ask);
    /* The calling thread has committed for the request: a moment ago, and nobody else ran since. */
    void (*committed)(unsigned slot);
    /* The calling process has committed a step of a move (moves.h), which changes nothing for clients; NULL: the judge does not look. */
    void (*committed_move)(void);
    /* A thread that works on no request has; NULL: the judge does not look. */
    void (*committed_behind)(void);
    /* The request is done but for what clears away behind it. */
    bool (*has_committed)(unsigned slot);
    void (*answered)(unsigned slot, const struct reply *answer, bool may_fail);
    bool (*take_stock)(struct server *server, bool may_fail);
    /* Makes the state of an older commit that of this one, the newest (states.h): of all names, or of
     * one, without leases (restored.h). NULL if the service
     * has no such runs */
    void (*return_to)(uint64_t older, uint64_t commit, unsigned name);
    /* When all is quiet, and stock was taken; NULL: nothing is left to check. */
    void (*check_end)(struct server *server);
};

/* Of this run. */
const struct sim_service *sim_service(void);
/* Its number; SIM_SERVICES: there is none of that name. */
unsigned sim_service_named(const char *name);
const char *sim_service_name(unsigned number);
/* The number that a seed draws. */
unsigned sim_service_of(uint64_t random);

/* SIM_PROTECT: blobs, too (protect.h). */
enum { SIM_BLOB, SIM_QUEUE, SIM_TABLE, SIM_FILE, SIM_PATH, SIM_PROTECT, SIM_SERVICES };

/* Is this run one of blobs? */
bool sim_is_of_blobs(void);

#endif
