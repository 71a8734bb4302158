/* Periods in which requests are refused because a resource is exhausted. Only the start, and the
 * end with the number of refusals, are logged, because clients could fill the disk with a line per
 * refusal. Code that refuses a request for lack of a resource reports it here, as one of the
 * classes below.
 *
 * An episode starts with the first report and ends after EPISODE_QUIET_MS without another.
 * Thread-safe. */
#ifndef LAGRA_BASE_EPISODE_H
#define LAGRA_BASE_EPISODE_H

#define EPISODE_QUIET_MS 10000

enum episode {
    EPISODE_DISK,     /* free space is below the reserve: 507 for requests that need space */
    EPISODE_SHORTAGE, /* the store is short of descriptors or memory: 503 */
    /* the budget for memory that clients make the server hold is used up: 503 */
    EPISODE_MEMORY,
    EPISODE_CONNECTIONS, /* connection limit: 503 */
    EPISODE_ADDRESS,     /* connection limit of an address: 503 */
    EPISODE_DESCRIPTORS, /* no descriptor for a new connection, which waits */
    EPISODE_GATHER,      /* too many requests wait for the source of a copy: 503 */
    EPISODE_JOBS,        /* too many background copies: new ones wait */
    EPISODE_CONFLICTS,   /* a decision keeps conflicting with other changes: 503 */
    /* too many failed logons from an address: further ones are refused unchecked */
    EPISODE_LOGONS,
    EPISODE_PROXY, /* a proxy sent no PROXY header: its connection is closed */
    EPISODE_LOGS,  /* events are missing from a log (base/event_log.h) */
    EPISODES,
};

/* Counts a refusal, starting or extending the episode. */
void episode_refused(enum episode episode);
/* Starts or extends an episode without counting a refusal. detail: appended to the first log line,
 * or NULL. */
void episode_goes_on(enum episode episode, const char *detail);
/* Logs the end of episodes that have ended. Called once a second by one thread. */
void episodes_look(void);

#endif
