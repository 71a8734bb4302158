/* Work that is refused for a while because something has run out: a line in the log when that begins,
 * and one when it is over, with how many were refused; not a line for each, which clients could fill
 * a disk with. Whatever refuses for want of something notes it here, in one of the classes below.
 *
 * An episode begins with the first note and is over when EPISODE_QUIET_MS have passed without another.
 * Any thread. */
#ifndef LAGRA_BASE_EPISODE_H
#define LAGRA_BASE_EPISODE_H

#define EPISODE_QUIET_MS 10000

enum episode {
    EPISODE_DISK,        /* less than the reserve is free: what grows is 507 */
    EPISODE_SHORTAGE,    /* the store lacks descriptors or memory: 503 */
    EPISODE_MEMORY,      /* of the budget for what clients make it hold: 503 */
    EPISODE_CONNECTIONS, /* more than it takes: 503 */
    EPISODE_ADDRESS,     /* more than one address may have: 503 */
    EPISODE_DESCRIPTORS, /* none for a connection that waits: it waits on */
    EPISODE_GATHER,      /* more requests than may wait for the source of a copy: 503 */
    EPISODE_JOBS,        /* more copies than may go on in the background: they wait */
    EPISODE_CONFLICTS,   /* others kept changing what was decided on: 503 */
    EPISODE_LOGONS,      /* more logons have failed from an address than may: refused unseen */
    EPISODE_PROXY, /* a proxy that is to introduce its clients did not: its connection is closed */
    EPISODE_LOGS,  /* events are left out of a log (base/event_log.h) */
    EPISODES,
};

/* One was refused. */
void episode_refused(enum episode episode);
/* It begins, or goes on, whether anything is refused or not. detail: for the line when it begins, or NULL. */
void episode_goes_on(enum episode episode, const char *detail);
/* Says of those that are over that they are. Called once a second by one thread. */
void episodes_look(void);

#endif
