/* See states.h. */
#include "states.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "admin/saved_states.h"
#include "commits.h"
#include "faults.h"
#include "restored.h"
#include "scheduler.h"
#include "services.h"
#include "world.h"

#define SECOND_NS UINT64_C(1000000000)
#define NAMES     3u

static const char *const names[NAMES] = { "a", "b", "c" };

/* Of this process: saved states end with it. */
static struct saved_states saved;
static uint64_t
    commit_of[NAMES]; /* right after which the state was saved; UINT64_MAX: it was not */
static struct server *used;
static pthread_t thread;
static bool ends;
static const uint64_t *returns_to; /* while the thread returns to a state */
static uint64_t returned;          /* commit of the return */

bool states_are_used(void)
{
    bool has = world->plan.service < SIM_FILE || world->plan.service == SIM_PROTECT;

    return has && world->plan.fronts == 0 && world_mix(world->plan.seed ^ 0x57A7E) % 5 == 0;
}

void states_draw(struct ask *ask)
{
    if (states_are_used() && sim_is_of_blobs() && (ask->op == OP_COPY || ask->op == OP_SET_TIER))
        *ask = (struct ask){
            .op = OP_HEAD_BLOB, .container = ask->container, .blob = ask->blob, .break_s = -1
        };
}

/* The state is that of one commit, unless the thread had to wait and others have committed. */
static void save(unsigned i)
{
    uint64_t before;
    bool is_saved;

    sched_hold();
    before = world->commits;
    is_saved = saved_states_save(&saved, bytes_from_string(names[i])) == SAVED_DONE;
    if (is_saved && world->commits == before) {
        commit_of[i] = before;
    } else {
        commit_of[i] = UINT64_MAX;
        saved_states_drop(&saved, bytes_from_string(names[i]));
    }
    sched_release();
    world_say("%.6f saves the state of commit %" PRIu64, (double)world->now_ns / 1e9, before);
}

static bool is_excused(enum saved_result result)
{
    return faults_were_seen() || world->was_damaged || !server_healthy(used) ||
           result == SAVED_NO_ROOM;
}

/* What was reported must survive a power cut, before anybody else syncs it. */
static void lose_power(void)
{
    if (!(world->plan.faults & FAULT_POWER) || world->life >= world->plan.lives ||
        !world_once_in(STREAM_CRASH, 8))
        return;
    world->power_lost = true;
    world_end(OUTCOME_KILLED);
}

static void load(unsigned i)
{
    enum saved_result result;

    if (commit_of[i] == UINT64_MAX)
        return;
    returned = 0;
    returns_to = &commit_of[i];
    result = saved_states_load(&saved, bytes_from_string(names[i]));
    returns_to = NULL;
    world_say("%.6f has returned to commit %" PRIu64 ": %d", (double)world->now_ns / 1e9,
              commit_of[i], (int)result);
    if (result == SAVED_DONE && returned == 0)
        world_fail("a return to a state that commits nothing");
    if (result == SAVED_DONE) {
        commits_acknowledge(returned);
        lose_power();
    } else if (!is_excused(result)) {
        world_fail("no return to a saved state: %d", (int)result);
    }
}

bool states_committed(void)
{
    if (!used || !pthread_equal(pthread_self(), thread))
        return false;
    if (!returns_to)
        return restored_committed();
    returned = ++world->commits;
    sim_service()->return_to(*returns_to, returned, ALL_NAMES);
    return true;
}

static void change(unsigned kind, unsigned i)
{
    if (kind < 2)
        load(i);
    else if (kind < 5)
        save(i);
    else if (kind < 6)
        restored_read(used);
    else if (restored_put(used))
        lose_power();
}

static void *change_states(void *unused)
{
    (void)unused;
    sched_name("states");
    while (!ends) {
        change(world_draw(STREAM_SYSTEM, 8), world_draw(STREAM_SYSTEM, NAMES));
        sched_sleep(world_draw(STREAM_SYSTEM, 2) == 0
                        ? world_draw(STREAM_SYSTEM, 20000) * UINT64_C(1000)
                        : world_draw(STREAM_SYSTEM, 3000) * (SECOND_NS / 1000));
    }
    return NULL;
}

void states_start(struct server *server)
{
    if (!states_are_used())
        return;
    for (unsigned i = 0; i < NAMES; i++)
        commit_of[i] = UINT64_MAX;
    saved.store = server_store(server);
    used = server;
    pthread_create(&thread, NULL, change_states, NULL);
}

void states_end(void)
{
    if (!used || ends)
        return;
    ends = true;
    pthread_join(thread, NULL);
    saved_states_release(&saved);
    restored_end();
    for (unsigned i = 0; i < NAMES; i++)
        commit_of[i] = UINT64_MAX;
}

uint64_t states_oldest(uint64_t commit)
{
    commit = restored_oldest(commit);
    for (unsigned i = 0; used && i < NAMES; i++)
        commit = commit_of[i] < commit ? commit_of[i] : commit;
    return commit;
}
