/* See restored.h. */
#include "restored.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "admin/restore_read.h"
#include "admin/restore_state.h"
#include "auth/auth.h"
#include "commits.h"
#include "faults.h"
#include "kept.h"
#include "protect.h"
#include "run.h"
#include "scheduler.h"
#include "services.h"
#include "world.h"

#define PAUSE_NS    UINT64_C(1000000)
#define BATCHES_MAX 4096u

/* The name that was read last, in this process. */
static struct {
    bool exists;
    unsigned name;
    uint64_t commit; /* of its state */
    struct {
        char *bytes;
        size_t size;
    } batches[BATCHES_MAX];
    size_t count;
} backup;
static bool is_reading;
/* While the end of a restore is in progress. */
static bool ends, replaces;
static uint64_t committed; /* by it; 0 if it has not */

void restored_wait(void)
{
    while (is_reading)
        sched_wait(WAIT_EVENT, &is_reading, 0);
}

void restored_end(void)
{
    for (size_t i = 0; i < backup.count; i++)
        free(backup.batches[i].bytes);
    backup.count = 0;
    backup.exists = false;
}

static bool keep(struct restoring *restoring, struct bytes batch)
{
    (void)restoring;
    if (backup.count == BATCHES_MAX)
        world_fail("a container is read in too many batches");
    backup.batches[backup.count].bytes = malloc(batch.len);
    memcpy(backup.batches[backup.count].bytes, batch.ptr, batch.len);
    backup.batches[backup.count++].size = batch.len;
    return true;
}

static bool exists(unsigned name)
{
    return sim_service()->cell_of(name) > 0;
}

/* The container, queue or table: blobs of others than the run's service are not restored. */
static enum store_result read_name(struct server *server, unsigned name)
{
    struct restoring restoring = { .archive = archive_of(server_store(server)),
                                   .service = sim_service()->service,
                                   .account = bytes_from_string(DEVELOPMENT_ACCOUNT),
                                   .send = keep };
    struct bytes text = bytes_from_string(sim_service()->names[name]);
    struct guid space;
    enum store_result result;

    result = restoring_find(&restoring, text, &space);
    if (!result)
        result = restoring_read(&restoring, text, space);
    archive_close(restoring.archive);
    return result;
}

void restored_read(struct server *server)
{
    unsigned name = world_draw(STREAM_SYSTEM, sim_service()->name_count);
    enum store_result result;

    if (kept_has_containers()) /* whose model identifies each by its space */
        return;
    restored_end();
    is_reading = true;
    while (!run_is_quiet())
        sched_sleep(PAUSE_NS);
    backup.commit = world->commits;
    result = read_name(server, name);
    world_say("%.6f reads %s at commit %" PRIu64 ": %s", (double)world->now_ns / 1e9,
              sim_service()->names[name], backup.commit, result ? "failed" : "ok");
    if (world->commits != backup.commit)
        world_fail("a commit while no request is in progress");
    backup.exists = !result && exists(name);
    backup.name = name;
    if (result == STORE_NOT_FOUND && exists(name))
        world_fail("%s is not found by a backup", sim_service()->names[name]);
    if (!result && !exists(name))
        world_fail("%s is in a backup, and does not exist", sim_service()->names[name]);
    is_reading = false;
    sched_wake(WAIT_EVENT, &is_reading, UINT_MAX);
}

/* Is the name that of a container which may not be replaced? decision: 1409 */
static bool is_protected(void)
{
    return protect_is_on() && exists(backup.name) && protect_forbids_replacing(backup.name);
}

bool restored_committed(void)
{
    if (!ends || committed > 0)
        return false;
    if (!replaces && exists(backup.name))
        world_fail("%s is restored over an existing one", sim_service()->names[backup.name]);
    if (replaces && is_protected())
        world_fail("%s is replaced although it is protected", sim_service()->names[backup.name]);
    committed = ++world->commits;
    sim_service()->return_to(backup.commit, committed, backup.name);
    return true;
}

/* Ends the restore, and judges the result. */
static enum error publish(struct server *server, struct restore *restore)
{
    bool has_existed = exists(backup.name), was_protected = is_protected();
    enum error e;

    committed = 0;
    ends = true;
    e = restore_publish(restore, 0);
    ends = false;
    world_say("%.6f restores %s of commit %" PRIu64 "%s: %d", (double)world->now_ns / 1e9,
              sim_service()->names[backup.name], backup.commit, replaces ? ", replacing" : "",
              (int)e);
    if (!e && committed == 0)
        world_fail("a restore that commits nothing");
    if (!e)
        commits_acknowledge(committed);
    if (e && !faults_were_seen() && server_healthy(server) && !world->was_damaged &&
        !(e == E_ContainerAlreadyExists && !replaces && (has_existed || exists(backup.name))) &&
        !(replaces && (was_protected || is_protected())))
        world_fail("a restore has failed: %d", (int)e);
    return e;
}

bool restored_put(struct server *server)
{
    const struct endpoint *endpoint = server_tag(server);
    struct restore *restore;
    bool is_put;
    enum error e = E_InvalidInput;

    if (!backup.exists)
        return false;
    replaces = world_draw(STREAM_SYSTEM, 2) == 0;
    is_put =
        restore_begin(endpoint, bytes_from_string(DEVELOPMENT_ACCOUNT),
                      bytes_from_string(sim_service()->names[backup.name]), replaces, &restore);
    for (size_t i = 0; is_put && i < backup.count; i++)
        is_put = restore_put(restore, bytes_of(backup.batches[i].bytes, backup.batches[i].size));
    is_put = is_put && restore_complete(restore);
    if (!is_put && !faults_were_seen() && server_healthy(server) && !world->was_damaged)
        world_fail("a restore has failed: %s", restore->problem);
    /* An operator may give up. */
    if (is_put && world_draw(STREAM_SYSTEM, 6) > 0)
        e = publish(server, restore);
    restore_free(restore, !e);
    return !e;
}

uint64_t restored_oldest(uint64_t commit)
{
    return backup.exists && backup.commit < commit ? backup.commit : commit;
}
