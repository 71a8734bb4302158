/* A run with several front ends of one cluster. Each front end is a process, forked from the clients' process, with
 * the real code of src/cluster and src/server/cell.c in front of the real service and store. The simulated disk is
 * their shared file system. Scheduler, sockets, disk and judges are in memory shared by all processes
 * (fleet_shared.h), so only one thread of all of them runs at a time. See README.md. */
#ifndef LAGRA_SIM_FLEET_H
#define LAGRA_SIM_FLEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/ids.h"
#include "request.h"
#include "world.h"

struct exchange;
struct inode;
struct plan;

#define FLEET_FOLDER       "/sim/cluster"
/* Largest error of the rate of a machine's clock. */
#define FLEET_RATE_MAX_PPM 14000
#define SESSIONS_MAX       400u
#define FLEET_MOVES_MAX    256u
#define FLEET_HELD_MAX     8u
#define FLEET_PARTS_MAX    512u

/* Ways in which a front end is disturbed; bits. */
enum {
    TROUBLE_PAUSED = 1,
    TROUBLE_AWAY = 2, /* its file system calls block */
    TROUBLE_SLOW = 4,
};

/* A machine with its front end. Number 0 is the clients' process. */
struct machine {
    pid_t pid;        /* 0 if it does not run */
    unsigned session; /* of its mount */
    uint16_t port, internal_port;
    bool has_exited; /* by itself */
    bool is_told_to_stop;
    bool serves;
    unsigned cell;           /* number of its cell, or 0 */
    uint64_t incarnation;    /* of its tenure, while it serves */
    unsigned cell_session;   /* in which it opened its cell */
    uint64_t tenure_ends_ns; /* by its own clock; some milliseconds old */
    unsigned trouble;
    uint64_t paused_until_ns, away_until_ns, slow_until_ns;
    uint64_t resumed_ns;             /* start of the process, or end of the last pause */
    uint64_t starts_ns;              /* time of the next start */
    uint64_t mounts_ns;              /* time of the remount after an eviction, or 0 */
    uint64_t vanished_ns;            /* death of its machine, which peers have not noticed; or 0 */
    int64_t boot_ns;                 /* offset of CLOCK_BOOTTIME */
    int64_t skew_ns;                 /* lead of its wall clock over true time */
    int64_t rate_ppm;                /* of CLOCK_BOOTTIME, relative to true time */
    unsigned executing[CLIENTS_MAX]; /* number of requests in progress, by client */
    /* Spaces that a move holds, and since when. */
    struct guid held[FLEET_HELD_MAX];
    unsigned held_count;
    uint64_t held_ns;
    /* Fence command in progress. */
    unsigned fences; /* session to be evicted; 0 if no command runs */
    uint64_t fences_ns;
    int fence_status;
    bool fence_evicts, fence_has_ended;
};

struct session {
    unsigned front;
    bool is_evicted;
    bool is_orphan;   /* its machine is dead */
    uint64_t ends_ns; /* session timeout of an orphan */
};

/* Request of a client. */
struct fleet_wish {
    struct ask ask;
    bool is_waiting;
    uint64_t since_ns;
    unsigned executed; /* session of the executing front end; 0 if it was not executed yet */
    unsigned cell;     /* of that front end */
    uint64_t reign;    /* of the cell when it was executed there */
    bool is_placement; /* its decision has placed a container in another cell */
};

/* A cell of the cluster. */
struct fleet_cell {
    uint64_t reign;  /* raised by each takeover */
    unsigned reigns; /* front end of the current reign */
};

/* A move of a name to another cell (moves.h). */
struct fleet_move {
    unsigned name, from, to;
    uint64_t incarnation;
    uint64_t sealed, activated, finished; /* commits; 0: not yet */
};

/* A move that was prepared in a destination. */
struct fleet_incoming {
    uint64_t incarnation;
    uint64_t at_ns; /* 0: it was activated */
};

/* A space that a move has made in its destination. */
struct fleet_space {
    struct guid space;
    uint64_t incarnation; /* of the move, once it was prepared */
    uint64_t activated;   /* commit; 0: clients do not see it */
};

struct fleet_moves {
    struct fleet_move moves[FLEET_MOVES_MAX];
    unsigned count;
    struct fleet_space spaces[FLEET_MOVES_MAX]; /* a ring */
    unsigned space_count;
    struct fleet_incoming incoming[CLUSTER_CELLS + 1]; /* by cell; the newest */
    unsigned aimed;   /* front end to be disturbed now, since its cell takes part in a step; or 0 */
    uint64_t busy_ns; /* last time when a name was held or between two cells */
};

enum fleet_count {
    FLEET_TAKEOVERS,
    FLEET_HANDOVERS,
    FLEET_DEATHS,
    FLEET_HANGS,
    FLEET_EVICTIONS,
    FLEET_CUTS,
    FLEET_FORWARDED, /* executed for another front end */
    FLEET_LATE,      /* responses that the previous owner sent */
    FLEET_PLACED,    /* containers that were placed in another cell than the root */
    FLEET_MISPLACED, /* requests that a cell refused because their container is, or must be, in another one */
    FLEET_MOVED,
    FLEET_PARTS,
    FLEET_UNDONE, /* moves that were cancelled or have failed */
    FLEET_DIRECT, /* bodies that a front end read from the owner's files */
    FLEET_DIRECT_FAILED,
    FLEET_COUNTS,
};

/* A part of a client's batch, which the owner of another cell executes (fleet_parts.h). */
struct fleet_part {
    struct guid id;
    unsigned slot, part;
};

struct fleet_counts {
    uint64_t of[FLEET_COUNTS];
};

struct fleet {
    pid_t clients_pid;
    struct machine fronts[FRONTS_MAX + 1];
    struct session sessions[SESSIONS_MAX];
    unsigned session_count; /* session 0 is unused */
    struct fleet_wish wishes[CLIENTS_MAX];
    struct fleet_cell cells[CLUSTER_CELLS + 1];
    uint64_t takeovers; /* of all cells */
    bool is_running;
    bool is_taking_stock;
    bool has_fence;
    uint64_t troubled_ns; /* time of the last disturbance */
    struct fleet_moves moves;
    struct fleet_part parts[FLEET_PARTS_MAX]; /* a ring */
    unsigned part_count;
    struct fleet_counts counts;
};

/* Runs the whole plan in the process of a life. Never returns. */
_Noreturn void fleet_live(void);
/* Returns the number of the calling process's front end, or 0 in the clients' process. */
unsigned fleet_self(void);
/* Returns whether other front ends and clients run concurrently with the caller. */
bool fleet_is_running(void);
/* Returns whether one of several cells has no owner that serves. */
bool fleet_lacks_owner(void);
struct machine *fleet_machine(unsigned number);
void fleet_count(enum fleet_count count);
/* Notes a disturbance, after which requests may fail for a while. */
void fleet_trouble(const char *what);

/* ---- clocks ---- */

/* Returns CLOCK_BOOTTIME of a machine at a moment of true time. */
int64_t fleet_boot_ns(unsigned number, int64_t ns);
/* Returns the lead of the caller's wall clock over the world's. */
int64_t fleet_wall_ns(void);

/* Returns the cell in which the client's request was executed, or that of the calling process. */
unsigned fleet_cell_of(unsigned slot);
/* Returns whether the present commit of the client's request only places a container in another cell. */
bool fleet_commits_placement(unsigned slot);
/* Returns false if an earlier owner, whose clocks may differ, executes the client's request: until a new owner serves, it
 * may still send responses. */
bool fleet_decided_by_owner(unsigned slot);

/* ---- clients (wire.c) ---- */

/* Draws the front end for the client's next request. Returns its port. */
uint16_t fleet_port(unsigned slot, unsigned *ret_front);
/* Notes that the calling thread executes the client's request. Repeated calls for an exchange have no effect. */
void fleet_executes(const struct exchange *exchange, unsigned slot);
void fleet_executed(const struct exchange *exchange, unsigned slot);
/* Notes that the request was not executed, because its container is in another cell. */
void fleet_misplaced(unsigned slot);

/* ---- a front end (fleet_front.c) ---- */

/* Returns the end of the process's lease, by its own clock; 0 if it has none. */
uint64_t fleet_tenure_ends(void);
/* Terminates the process after a failure of its store. */
_Noreturn void fleet_give_up(void);
/* Runs the process of a front end, after its fork. */
_Noreturn void fleet_front_run(unsigned number, unsigned thread);

/* ---- the shared file system (fleet_storage.c) ---- */

unsigned fleet_new_session(unsigned front);
/* Called before each file system call of a front end. Returns 0, or ESHUTDOWN if the session was evicted. */
int fleet_storage_call(unsigned session);
bool fleet_is_evicted(unsigned session);
/* Returns whether the data that the calling process holds in memory can no longer reach the disk. */
bool fleet_is_cut_off(void);
/* Waits while the file is locked by a machine that hangs. */
void fleet_storage_open(const struct inode *inode);
/* Evicts a session. Part of its unsynced data is lost. */
void fleet_evict(unsigned session);
/* Frees the locks of a process that has ended on a running machine, and writes its data out. */
void fleet_storage_end(unsigned session);
/* Runs the fence commands that are due. */
void fleet_run_fences(void);

#endif
