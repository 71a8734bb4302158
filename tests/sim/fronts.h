/* Front ends over one cluster (--fronts): several servers in this process, each with a store on the same RADOS in
 * memory (tests/rados/live.h) and with a clock of its own. One that is killed leaves what was on its way; its threads
 * never run again. One that is stopped goes on later, perhaps when others have taken it for dead.
 *
 * What a front end is, to the cluster and to clients, is what it sends. So a kill takes effect where its next op would
 * be sent, or its next answer told: any other moment in between could not be told from that. decision: 680 */
#ifndef LAGRA_SIM_FRONTS_H
#define LAGRA_SIM_FRONTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Machines that front ends run on. Each start of one is another front end: 1, 2, ... */
#define MACHINES_MAX 3u

struct server;

/* Makes the cluster, and starts a front end on each machine. Main thread. */
void fronts_begin(void);
/* The store of the front end that the calling thread starts. False: *ret_problem says why not. */
struct store;
bool fronts_open_store(struct store **ret_store, const char **ret_problem);
/* One that serves, drawn; waits until there is one. */
struct server *fronts_draw(unsigned *ret_front);
struct server *fronts_server(unsigned machine); /* NULL: it does not serve now */
unsigned fronts_front(unsigned machine);
/* It was killed, or has ended: nothing that was asked of it is answered. */
bool fronts_is_gone(unsigned front);
/* Something has happened by which a front end may say that it cannot. */
bool fronts_may_fail(void);
/* It was never stopped, and its clock is right enough: it has no reason to break off an answer. */
bool fronts_must_read(unsigned front);
/* False: clients ask nothing more. */
bool fronts_are_asked(void);
/* An op that decides such commits is sent by it, now. */
struct front_sent {
    bool has_pieces;
    bool decides_many; /* one over several partitions: the others are locked by now */
};
void fronts_sends(unsigned front, struct front_sent sent);
/* How far clocks are from each other at most. */
uint64_t fronts_skew_ns(void);
/* Of the clock of this front end. */
int64_t fronts_ahead_ns(unsigned front);
unsigned fronts_machine(unsigned front);

/* What goes wrong next, and when, drawn. Main thread, again and again until it returns false: then all front ends
 * run, and nothing goes wrong any more. is_asked: by clients; without them nothing goes wrong. */
bool fronts_go_on(bool is_asked);
/* All clocks are set to the true time. */
void fronts_set_clocks(void);
/* Since when that is so. */
uint64_t fronts_calm_ns(void);

/* ---- front_commits.c: which request each commit is of ---- */

struct port;
/* A port of this front end, over one of the cluster's. */
struct port *front_port_new(struct port *inner, unsigned front);
struct attempt;
struct guid;
struct transaction;
struct transaction_owner;
/* On the thread of its request (front_transactions.c). */
void front_commits_begun(struct attempt attempt, const struct transaction *transaction,
                         const struct transaction_owner *owner);
/* A partition of this space takes part; it drops these spaces. */
void front_commits_part(const struct transaction *transaction, const struct guid *space,
                        bool has_pieces);
void front_commits_drop_spaces(const struct transaction *transaction, const struct guid *spaces,
                               size_t count);
/* Its owner is told now. */
void front_commits_decided(const struct transaction_owner *owner);
/* It was not started. */
void front_commits_dropped(const struct transaction *transaction);
struct port_op;
/* An op was applied, a moment ago. */
void front_commits_applied(const struct port_op *op);
/* The slot asks something new, or has been answered: a commit of what it asked before may not come any more. */
void front_commits_asked(unsigned slot);
void front_commits_answered(unsigned slot);
/* Its commit went into a space that another has dropped since it was asked: as if it had come before that, for nobody
 * sees it later. (A space is dropped, then sealed, then that is answered: decision 481.) */
bool front_commits_into_void(unsigned slot);
/* Such commits so far. */
uint64_t front_commits_voids(void);
/* Is one that names pieces on its way from this front end? */
bool front_commits_pieces(unsigned front);
/* Is a commit of the slot on its way, that may or may not come to be? */
bool front_commits_open(unsigned slot);

/* ---- front_cluster.c: what lies in the cluster ---- */

/* Of nobody's. */
struct port *fronts_port(void);
/* Fails if anything stays of what was begun and has to have ended: locks, prepared changes, decisions. */
void front_cluster_check(void);

/* ---- front_run.c ---- */

/* The life of a run with front ends; ends by world_end(). */
void fronts_live(void) __attribute__((__noreturn__));

#endif
