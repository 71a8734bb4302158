/* A run of several front ends of one cluster: each is a process of its own, forked from that of the clients, with
 * the real code of src/cluster and src/program/cell.c in front of the real service and store. They share the
 * simulated disk, which is the shared file system; scheduler, sockets, disk and judges lie in memory that all
 * processes share (fleet_shared.h), so one thread of all of them runs at a time. See README.md. */
#ifndef LAGRA_SIM_FLEET_H
#define LAGRA_SIM_FLEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "request.h"
#include "world.h"

struct exchange;
struct inode;
struct plan;

#define FLEET_FOLDER   "/sim/cluster"
#define FLEET_LOCATION FLEET_FOLDER "/cells/0001/data"
#define SESSIONS_MAX   400u

/* How a front end is out of order; bits. */
enum {
    TROUBLE_PAUSED = 1,
    TROUBLE_AWAY = 2, /* its calls of the file system do not return */
    TROUBLE_SLOW = 4,
};

/* One machine with its front end. Number 0 is the clients'. */
struct machine {
    pid_t pid;        /* 0: it does not run */
    unsigned session; /* of its mount */
    uint16_t port, internal_port;
    bool has_exited; /* by itself */
    bool is_told_to_stop;
    bool serves;
    uint64_t incarnation;    /* under which it serves */
    unsigned cell_session;   /* that it has opened its cell in */
    uint64_t tenure_ends_ns; /* by its own clock, some milliseconds ago */
    unsigned trouble;
    uint64_t paused_until_ns, away_until_ns, slow_until_ns;
    uint64_t resumed_ns;             /* when it was started, or went on */
    uint64_t starts_ns;              /* the next time */
    uint64_t mounts_ns;              /* anew, after an eviction; 0: it need not */
    uint64_t vanished_ns;            /* its machine died, and others do not know; 0: not */
    int64_t boot_ns;                 /* its clocks: when its machine started, */
    int64_t skew_ns;                 /* what its wall clock is ahead of true time, */
    int64_t rate_ppm;                /* and how fast it counts durations */
    unsigned executing[CLIENTS_MAX]; /* requests of each client */
    /* Its fence command. */
    unsigned fences; /* the session; 0: none runs */
    uint64_t fences_ns;
    int fence_status;
    bool fence_evicts, fence_has_ended;
};

struct session {
    unsigned front;
    bool is_evicted;
    bool is_orphan;   /* its machine has died */
    uint64_t ends_ns; /* of an orphan: the file system ends it by itself */
};

/* What a client waits for. */
struct fleet_wish {
    struct ask ask;
    bool is_waiting;
    uint64_t since_ns;
    uint64_t reign;    /* it was judged to begin in */
    unsigned executed; /* session of the front end that executes it; 0: none yet */
};

struct fleet {
    pid_t clients_pid;
    struct machine fronts[FRONTS_MAX + 1];
    struct session sessions[SESSIONS_MAX];
    unsigned session_count; /* 0 is none */
    struct fleet_wish wishes[CLIENTS_MAX];
    uint64_t reign;  /* raised by each front end that takes stock */
    unsigned reigns; /* front end of this one */
    bool is_running;
    bool is_taking_stock;
    bool has_fence;
    uint64_t troubled_ns; /* the last time that something was out of order */
    uint64_t deaths, hangs, evictions, handovers, cuts, failovers, late;
};

/* The whole run; never returns. In the process of a life. */
_Noreturn void fleet_live(void);
/* Number of the calling process's front end; 0: it is the clients'. */
unsigned fleet_self(void);
/* Do front ends and clients go on beside whoever calls? */
bool fleet_is_running(void);
struct machine *fleet_machine(unsigned number);
/* Notes that something is out of order, so requests may fail. */
void fleet_trouble(const char *what);

/* ---- clocks ---- */

/* What CLOCK_BOOTTIME of a machine shows. */
int64_t fleet_boot_ns(unsigned number, int64_t ns);
/* What its wall clock is ahead of the world's. */
int64_t fleet_wall_ns(void);

/* ---- clients (wire.c) ---- */

/* The port that the client's next request goes to. */
uint16_t fleet_port(unsigned slot, unsigned *ret_front);
/* The calling thread begins to execute the client's request; of the first call for the exchange. */
void fleet_executes(const struct exchange *exchange, unsigned slot);
void fleet_executed(const struct exchange *exchange, unsigned slot);

/* ---- a front end (fleet_front.c) ---- */

/* Its process ends, since its store has failed. */
_Noreturn void fleet_give_up(void);
/* Its process, from its fork to its end. */
_Noreturn void fleet_front_run(unsigned number, unsigned thread);

/* ---- the shared file system (fleet_storage.c) ---- */

unsigned fleet_new_session(unsigned front);
/* Before each call of a front end for a file. Returns 0, or the errno that it fails with, since the session was
 * evicted. */
int fleet_storage_call(unsigned session);
bool fleet_is_evicted(unsigned session);
/* Does nothing reach the disk any more that the calling process has in memory? */
bool fleet_is_cut_off(void);
/* Waits while a machine hangs that has locked the file. */
void fleet_storage_open(const struct inode *inode);
/* No byte of the session reaches the disk any more; what it had not synced is lost in part. */
void fleet_evict(unsigned session);
/* A process has ended whose machine lives: its locks are free, and what it wrote is there. */
void fleet_storage_end(unsigned session);
/* Has the fence commands do what they are due to do. */
void fleet_run_fences(void);

#endif
