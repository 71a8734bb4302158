/* What all lives of a simulated server have in common: one mapping at a fixed address that every
 * forked process shares. The disk, the model and the clients' knowledge lie in it; whatever lies
 * elsewhere dies with the process at a crash, as a server's memory does. */
#ifndef LAGRA_SIM_WORLD_H
#define LAGRA_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "cells.h"

/* Independent streams of random numbers: dropping operations does not move the faults. */
enum stream { STREAM_SCHEDULE, STREAM_SYSTEM, STREAM_FAULTS, STREAM_CRASH, STREAM_PLAN, STREAMS };

/* Which faults a run may have: bits, so that the shrinker can take them away one by one. */
enum {
    FAULT_KILL = 1,      /* the process dies, the page cache lives */
    FAULT_POWER = 2,     /* any part of what was not synced is lost */
    FAULT_ERRORS = 4,    /* EIO from reads, writes and syncs */
    FAULT_SPACE = 8,     /* ENOSPC by a budget of pages */
    FAULT_FILES = 16,    /* EMFILE by a budget of descriptors */
    FAULT_SHORT = 32,    /* short and interrupted calls */
    FAULT_LATENCY = 64,  /* calls that take up to 30 s */
    FAULT_DAMAGE = 128,  /* rot, lost and misdirected writes, stale reads */
    FAULT_CLIENTS = 256, /* clients that are slow, stop, or go away */
    FAULT_CLOCK = 512,   /* the wall clock is set, forward and back */
    FAULT_WIRE = 1024,   /* no fault: requests go through sockets and the http room */
    FAULT_SMB = 2048,    /* no fault: clients of files come by SMB, too */
    FAULT_ALL = 4095,
};

/* The numbers that make a run; printed by a failure, taken from the command line. */
struct plan {
    uint64_t seed;
    unsigned clients;
    unsigned operations;    /* of each client */
    unsigned lives;         /* of the server: crashes + 1 */
    unsigned faults;        /* FAULT_ bits */
    unsigned skip_clients;  /* bits of clients that do nothing */
    unsigned service;       /* of services.h */
    unsigned planted;       /* a defect that is built into the simulated server; 0: none */
    unsigned aim;           /* 1 + enum file_kind: only these fail, or are damaged; 0: as drawn */
    unsigned fronts;        /* front ends of a cluster (fleet.h); 0: a server of its own */
    unsigned cluster_cells; /* cells of that cluster */
    bool verbose;
};

#define FRONTS_MAX    4u
#define CLUSTER_CELLS 3u

/* Commits of a cell (commits.h). */
struct commit_order {
    uint64_t newest;
    uint64_t acknowledged; /* no crash may take back this commit or one before it */
    uint64_t opened_at;    /* see engine_opened_at(); 0 before the store was opened */
    bool has_started;      /* the store is open, and the state after the crash is known */
};

/* Where a commit was made, and the record engine's sequence number after it. */
struct commit_place {
    unsigned cell;
    uint64_t sequence;
};

enum outcome {
    OUTCOME_RUNNING,
    OUTCOME_DONE,    /* all clients have finished */
    OUTCOME_KILLED,  /* the plan's crash */
    OUTCOME_FINAL,   /* the store said that a fault is final: a restart must heal it */
    OUTCOME_REFUSED, /* the store did not open */
    OUTCOME_FAILED,  /* a judge spoke */
};

struct world {
    struct plan plan;
    uint64_t random[STREAMS];
    uint64_t now_ns;     /* virtual, monotonic */
    int64_t wall_ns;     /* what the wall clock is ahead of it */
    int64_t wall_set_ns; /* how much of that is because it was set */
    uint64_t wall_steps;
    uint64_t wall_set_at_ns; /* the last time */
    uint64_t trace;          /* hash of all that happened */
    uint64_t switches, points;
    enum outcome outcome;
    unsigned life;
    bool was_damaged; /* synced data was changed: wrong answers only must not be silent */
    bool power_lost;  /* how the last life ended */
    bool
        note_is_old; /* a power cut since the last start: the note of what is durable may be older */
    unsigned spoiled;   /* starts in a row that a crash has ended */
    uint64_t opened_at; /* see engine_opened_at(); 0: not yet */
    char failure[1024];
    uint64_t requests, commits, crashes, faults, refused, checks;
    uint64_t starts_spoiled;                       /* crashes while the server started */
    uint64_t spoiled_twice;                        /* and the start after that as well */
    uint64_t damaged, damage_refused, damage_told; /* disks; found at the start; by a request */
    uint64_t reached[CELLS][FILE_KINDS];
    bool may_be_final;         /* this life has met a fault that may end it */
    unsigned spoiled_by_power; /* power cuts in a row, none of whose starts was whole */
    struct disk *disk;
    struct model *model;
    struct ask *tagged; /* the last Set Tags of versions; judge.c */
    struct registers *registers;
    struct queue_model *queues;
    struct queue_history *queue_history;
    struct queue_clock *queue_clock;
    struct fleet *fleet; /* where plan.fronts is set */
    struct net *net;
    struct recorded *recorded;                     /* of Storage Analytics */
    unsigned next_request[48];                     /* of each client */
    struct commit_order orders[CLUSTER_CELLS + 1]; /* by cell, which begin at 1 */
    struct commit_place *places;                   /* by commit, if there are several cells */
    uint64_t places_max;
    /* Memory: below. */
    char *free_from;
    void *free_lists[40];
};
extern struct world *const world;

/* Maps the world, empty. Once in a process, before any fork. */
void world_map(void);
/* Does the object lie in it? */
bool world_has(const void *object);
/* Empties it and begins anew with this plan. */
void world_begin(const struct plan *plan);

/* Memory of the world, zeroed; freed memory is used again. */
void *world_alloc(size_t size);
void world_free(void *memory, size_t size);
char *world_string(const char *text);

uint64_t world_random(enum stream stream);
/* 0..below-1 */
unsigned world_draw(enum stream stream, unsigned below);
/* True once in `times`. */
bool world_once_in(enum stream stream, unsigned times);
void world_trace(uint64_t value);
uint64_t world_mix(uint64_t value);

/* A judge's verdict: the run is over. */
noreturn void world_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The life is over. */
noreturn void world_end(enum outcome outcome);
void world_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
