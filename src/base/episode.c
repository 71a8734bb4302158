/* Counts refusals per episode, with the time of the last one. */
#include "base/episode.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/log.h"

static const char *const begins[EPISODES] = {
    [EPISODE_DISK] = ("free disk space is below the reserve: requests that need space are refused "
                      "(507), deletes are not"),
    [EPISODE_SHORTAGE] = "the store is short of descriptors or memory: requests are refused (503)",
    [EPISODE_MEMORY] = "the memory budget is used up: requests are refused (503)",
    [EPISODE_CONNECTIONS] =
        "all connections are in use and none is idle: new ones are refused (503)",
    [EPISODE_ADDRESS] = "an address has reached its connection limit: new ones are refused (503)",
    [EPISODE_DESCRIPTORS] = "no file descriptors are left: new connections wait",
    [EPISODE_GATHER] =
        "too many requests wait for the source of a copy: new ones are refused (503)",
    [EPISODE_JOBS] = "too many copies are running in the background: new ones wait",
    [EPISODE_CONFLICTS] =
        "too many concurrent changes to the same data: some requests are refused (503)",
    [EPISODE_LOGONS] =
        ("too many SMB logons from one address have failed: further ones are delayed "
         "and refused unchecked"),
    [EPISODE_PROXY] =
        "connections to a --proxyProtocol port lack the PROXY header: they are closed",
    [EPISODE_LOGS] = "events are missing from a log",
};
static const char *const ends[EPISODES] = {
    [EPISODE_DISK] = "free disk space is above the reserve again",
    [EPISODE_SHORTAGE] = "the store has descriptors and memory again",
    [EPISODE_MEMORY] = "the memory budget has space again",
    [EPISODE_CONNECTIONS] = "new connections are accepted again",
    [EPISODE_ADDRESS] = "no address is at its connection limit",
    [EPISODE_DESCRIPTORS] = "file descriptors for new connections are available again",
    [EPISODE_GATHER] = "requests that wait for the source of a copy are accepted again",
    [EPISODE_JOBS] = "new background copies start again",
    [EPISODE_CONFLICTS] = "requests are no longer refused because of concurrent changes",
    [EPISODE_LOGONS] = "SMB logons are checked again",
    [EPISODE_PROXY] = "connections to --proxyProtocol ports have the PROXY header again",
    [EPISODE_LOGS] = "logs are complete again",
};

static struct {
    atomic_bool goes_on;
    _Atomic uint64_t refused;
    _Atomic uint64_t noted_ms;
} states[EPISODES];

void episode_goes_on(enum episode episode, const char *detail)
{
    atomic_store(&states[episode].noted_ms, clock_coarse_ms());
    if (atomic_exchange(&states[episode].goes_on, true))
        return;
    log_line(LOG_WARN, "%s%s%s", begins[episode], detail ? ": " : "", detail ? detail : "");
}

void episode_refused(enum episode episode)
{
    atomic_fetch_add(&states[episode].refused, 1);
    episode_goes_on(episode, NULL);
}

static void say_end(const char *what, uint64_t refused)
{
    if (refused > 0)
        log_line(LOG_WARN, "%s; %" PRIu64 " refused", what, refused);
    else
        log_line(LOG_WARN, "%s", what);
}

void episodes_look(void)
{
    uint64_t now = clock_coarse_ms();

    for (size_t i = 0; i < EPISODES; i++) {
        uint64_t noted = atomic_load(&states[i].noted_ms);

        if (!atomic_load(&states[i].goes_on) || now < noted + EPISODE_QUIET_MS)
            continue;
        /* The order matters: an event reported now starts a new episode, whose count may include
         * refusals of this one. */
        atomic_store(&states[i].goes_on, false);
        say_end(ends[i], atomic_exchange(&states[i].refused, 0));
    }
}
