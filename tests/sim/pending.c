/* See pending.h. */
#include "pending.h"

#include <string.h>

#include "copy_steps.h"
#include "faults.h"
#include "judge.h"
#include "scheduler.h"
#include "world.h"

#define SECOND_NS  UINT64_C(1000000000)
#define ENDS_MAX_S 300 /* it is looked after every 5 s, every 30 s where there are many */

/* A request may be decided on one thread and committed on another. */
struct copy_steps *copy_steps(void)
{
    static struct copy_steps of_requests[SLOTS_MAX];
    static _Thread_local struct copy_steps of_jobs;
    int slot = request_slot();

    return slot >= 0 ? &of_requests[slot] : &of_jobs;
}

struct copy_id pending_begun(void)
{
    struct copy_id id;

    memcpy(id.bytes, copy_steps()->begun, sizeof id.bytes);
    return id;
}

void pending_fill(struct stamp *stamp)
{
    stamp->etag = copy_steps()->etag;
    stamp->modified_s = copy_steps()->modified_s;
}

static const struct blob_state *state_of(unsigned i)
{
    return model_blob_at(i / BLOBS, i % BLOBS, world->commits);
}

static bool is_pending(unsigned i)
{
    const struct container_state *c = model_container_at(i / BLOBS, world->commits);
    const struct blob_state *b = state_of(i);

    return model_is_here(i / BLOBS) && c->exists && b->exists && b->incarnation == c->incarnation &&
           b->copy == COPIES_STILL;
}

static void check(const struct blob_state *b)
{
    bool succeeds = copy_steps()->succeeds;

    if (succeeds && b->pending.fate != FATE_STAYS)
        world_fail("a copy has succeeded whose source was gone, or another");
    if (!succeeds && b->pending.fate == FATE_STAYS && !faults_were_seen())
        world_fail("a copy has failed without a reason");
}

void pending_committed(void)
{
    struct copy_steps *steps = copy_steps();
    struct stamp written = { .etag = steps->etag, .modified_s = steps->modified_s };

    if (!steps->ends)
        return;
    steps->ends = false;
    for (unsigned i = 0; i < CONTAINERS * BLOBS; i++) {
        if (!is_pending(i) || memcmp(&state_of(i)->pending.id, steps->ended, COPY_ID_SIZE) != 0)
            continue;
        check(state_of(i));
        model_end_copy(i / BLOBS, i % BLOBS, steps->succeeds ? COPIED : COPY_HAS_FAILED,
                       ++world->commits, &written);
        world_trace(world->commits << 8 | 0xFE);
        world_say("%.6f commit %llu: a copy to %s/%s %s", (double)world->now_ns / 1e9,
                  (unsigned long long)world->commits, container_names[i / BLOBS],
                  blob_names[i % BLOBS], steps->succeeds ? "is complete" : "has failed");
        return;
    }
    world_fail("a copy has ended that was not pending");
}

bool pending_wait(const struct server *server)
{
    for (unsigned seconds = 0; seconds < ENDS_MAX_S; seconds++) {
        unsigned i = 0;

        while (i < CONTAINERS * BLOBS && !is_pending(i))
            i++;
        if (i == CONTAINERS * BLOBS)
            return true;
        if (!server_healthy(server))
            return false;
        sched_sleep(SECOND_NS);
    }
    world_fail("a pending copy has not ended after %d s", ENDS_MAX_S);
}
