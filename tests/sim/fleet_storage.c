/* The shared file system: sessions of machines, their locks and eviction, and the fence command. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "commits.h"
#include "disk.h"
#include "files_private.h"
#include "fleet.h"
#include "scheduler.h"

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS     UINT64_C(1000000)
/* First process id of fence commands, one for each front end. */
#define FENCE_PID 30000

unsigned fleet_new_session(unsigned front)
{
    struct fleet *fleet = world->fleet;
    unsigned session = ++fleet->session_count;

    if (session == SESSIONS_MAX)
        world_fail("more than %u sessions", SESSIONS_MAX);
    fleet->sessions[session] = (struct session){ .front = front };
    return session;
}

bool fleet_is_evicted(unsigned session)
{
    return fleet_self() > 0 && world->fleet->sessions[session].is_evicted;
}

bool fleet_is_cut_off(void)
{
    return fleet_self() > 0 && fleet_is_evicted(fleet_machine(fleet_self())->cell_session);
}

/* Calls within a commit do not block, since the judge must see commit and note as one. */
int fleet_storage_call(unsigned session)
{
    struct machine *machine = fleet_machine(fleet_self());

    while (!sched_is_held() && !fleet_is_evicted(session) && machine->away_until_ns > world->now_ns)
        sched_wait(WAIT_EVENT, machine, machine->away_until_ns);
    if (!sched_is_held() && !fleet_is_evicted(session) && machine->slow_until_ns > world->now_ns &&
        world_once_in(STREAM_FAULTS, 4))
        sched_sleep(world_random(STREAM_FAULTS) % (3 * SECOND_NS));
    return fleet_is_evicted(session) ? ESHUTDOWN : 0;
}

static bool hangs(unsigned session)
{
    const struct session *of = &world->fleet->sessions[session];

    return !of->is_evicted &&
           (of->is_orphan || fleet_machine(of->front)->away_until_ns > world->now_ns);
}

/* The file system waits for the machine that holds the file. */
void fleet_storage_open(const struct inode *inode)
{
    while (fleet_self() > 0 && inode && inode->locked &&
           inode->locked != fleet_machine(fleet_self())->session && hangs(inode->locked) &&
           !fleet_is_evicted(fleet_machine(fleet_self())->session))
        sched_sleep(20 * MS_NS);
}

void fleet_evict(unsigned session)
{
    struct session *of = &world->fleet->sessions[session];
    unsigned cell;

    if (of->is_evicted)
        return;
    of->is_evicted = true;
    if (fleet_machine(of->front)->session == session)
        fleet_machine(of->front)->mounts_ns =
            world->now_ns + 2 * SECOND_NS + world_random(STREAM_FAULTS) % (10 * SECOND_NS);
    fleet_count(FLEET_EVICTIONS);
    world_say("%.6f session %u of front end %u is evicted", (double)world->now_ns / 1e9, session,
              of->front);
    cell = disk_unlock(session);
    if (cell > 0) { /* only owners write */
        world->power_lost = true;
        disk_lose_unsynced(commits_are_divided() ? cell : 0);
    }
    sched_wake(WAIT_EVENT, fleet_machine(of->front), UINT32_MAX);
}

void fleet_storage_end(unsigned session)
{
    unsigned cell;

    if (world->fleet->sessions[session].is_evicted)
        return;
    cell = disk_unlock(session);
    if (cell > 0) {
        world->power_lost = false;
        disk_sync_cell(commits_are_divided() ? cell : 0);
    }
}

/* ---- fence commands, which are not processes here ---- */

static bool is_busy(unsigned session)
{
    unsigned front = world->fleet->sessions[session].front;

    return world->fleet->is_taking_stock || sched_is_inside(front);
}

void fleet_run_fences(void)
{
    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        struct machine *machine = fleet_machine(i);

        if (machine->fences == 0 || machine->fence_has_ended ||
            world->now_ns < machine->fences_ns ||
            (machine->fence_evicts && is_busy(machine->fences)))
            continue;
        if (machine->fence_evicts)
            fleet_evict(machine->fences);
        machine->fence_has_ended = true;
    }
}

int posix_spawn(pid_t *restrict ret_pid, const char *restrict path,
                const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *restrict attributes, char *const words[restrict],
                char *const environment[restrict])
{
    struct machine *machine = fleet_machine(fleet_self());
    unsigned fate = world_draw(STREAM_FAULTS, 8);

    (void)path, (void)actions, (void)attributes, (void)environment;
    if (strncmp(words[4], "client", 6) != 0)
        return ENOENT;
    machine->fences = (unsigned)strtoul(words[4] + 6, NULL, 10);
    machine->fences_ns = world->now_ns + world_random(STREAM_FAULTS) % (2 * SECOND_NS);
    machine->fence_evicts = fate != 0;
    machine->fence_status = fate < 2 ? 1 : 0; /* also for one that has evicted */
    machine->fence_has_ended = false;
    *ret_pid = FENCE_PID + (pid_t)fleet_self();
    world_say("%.6f front end %u fences session %u", (double)world->now_ns / 1e9, fleet_self(),
              machine->fences);
    return 0;
}

pid_t waitpid(pid_t pid, int *ret_status, int flags)
{
    struct machine *machine;

    if (!sched_is_on() || pid < FENCE_PID)
        return (pid_t)syscall(SYS_wait4, pid, ret_status, flags, NULL);
    sched_point();
    machine = fleet_machine(fleet_self());
    if (!machine->fence_has_ended)
        return 0;
    machine->fences = 0;
    *ret_status = machine->fence_status << 8;
    return pid;
}

int kill(pid_t pid, int signal)
{
    if (sched_is_on())
        return 0; /* of a fence command after its time limit */
    return (int)syscall(SYS_kill, pid, signal);
}

/* ---- attributes of a mount ---- */

CALL(ssize_t, fgetxattr, int fd, const char *name, void *value, size_t size)
{
    char text[32];
    int length;

    if (!file_of(fd) || fleet_self() == 0 || strcmp(name, "ceph.client_id") != 0)
        return fail_call(ENODATA);
    length = snprintf(text, sizeof text, "client%u", file_of(fd)->session);
    if ((size_t)length > size)
        return fail_call(ERANGE);
    memcpy(value, text, (size_t)length);
    return length;
}
