/* Counters, each with the time of its last note. */
#include "base/episode.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/log.h"

static const char *const begins[EPISODES] = {
    [EPISODE_DISK] = "the disk is low: what grows is refused (507), deletes are not",
    [EPISODE_SHORTAGE] = "the store lacks descriptors or memory: requests are refused (503)",
    [EPISODE_MEMORY] = "the memory budget is used up: requests are refused (503)",
    [EPISODE_CONNECTIONS] = "all connections are taken and none is idle: more are refused (503)",
    [EPISODE_ADDRESS] = "one address has as many connections as it may: more are refused (503)",
    [EPISODE_DESCRIPTORS] = "there is no descriptor for a new connection: it waits",
    [EPISODE_GATHER] = "too many requests wait for the source of a copy: more are refused (503)",
    [EPISODE_JOBS] = "too many copies go on in the background: more wait",
    [EPISODE_CONFLICTS] = ("requests change the same faster than they can be decided: some are "
                           "refused (503)"),
    [EPISODE_LOGONS] =
        "too many SMB logons have failed from one address: more wait, and are refused unseen",
    [EPISODE_PROXY] = "connections of --proxyProtocol begin without its header: they are closed",
    [EPISODE_LOGS] = "events are left out of a log",
};
static const char *const ends[EPISODES] = {
    [EPISODE_DISK] = "the disk is no longer low",
    [EPISODE_SHORTAGE] = "the store has descriptors and memory again",
    [EPISODE_MEMORY] = "the memory budget has space again",
    [EPISODE_CONNECTIONS] = "there are connections again",
    [EPISODE_ADDRESS] = "no address has too many connections any longer",
    [EPISODE_DESCRIPTORS] = "there are descriptors for connections again",
    [EPISODE_GATHER] = "requests for copies find their place again",
    [EPISODE_JOBS] = "copies go on in the background again",
    [EPISODE_CONFLICTS] = "requests are decided again at the first attempts",
    [EPISODE_LOGONS] = "SMB logons are looked at again",
    [EPISODE_PROXY] = "connections of --proxyProtocol begin with its header again",
    [EPISODE_LOGS] = "logs have all events again",
};

static struct {
    atomic_bool goes_on;
    _Atomic uint64_t refused;
    _Atomic uint64_t noted_ms;
} states[EPISODES];

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void episode_goes_on(enum episode episode, const char *detail)
{
    atomic_store(&states[episode].noted_ms, now_ms());
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
        log_line(LOG_WARN, "%s; refused were %" PRIu64, what, refused);
    else
        log_line(LOG_WARN, "%s", what);
}

void episodes_look(void)
{
    uint64_t now = now_ms();

    for (size_t i = 0; i < EPISODES; i++) {
        uint64_t noted = atomic_load(&states[i].noted_ms);

        if (!atomic_load(&states[i].goes_on) || now < noted + EPISODE_QUIET_MS)
            continue;
        /* In this order a note that comes now begins another episode, whose count may have one of this. */
        atomic_store(&states[i].goes_on, false);
        say_end(ends[i], atomic_exchange(&states[i].refused, 0));
    }
}
