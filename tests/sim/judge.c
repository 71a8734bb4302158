/* The order of commits, the comparison with the model, and what a crash may leave. */
#include "judge.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "commits.h"
#include "engine.h"
#include "compare.h"
#include "origins.h"
#include "faults.h"
#include "fleet.h"
#include "fleet_shared.h"
#include "linear.h"
#include "listing.h"
#include "malformed.h"
#include "model.h"
#include "moves.h"
#include "pending.h"
#include "pooled.h"
#include "protect.h"
#include "roles.h"
#include "scheduler.h"
#include "search.h"
#include "services.h"
#include "sm_judge.h"
#include "states.h"
#include "throttle.h"
#include "times.h"
#include "world.h"

/* A request under way. Dies with the process. */
static struct slot {
    const struct ask *ask;
    uint64_t began_ns;
    uint64_t before;     /* commits when it began */
    uint64_t commit;     /* its own; 0: none */
    uint64_t wall_steps; /* of the wall clock when it began */
    struct expected expected;
    /* Of a batch. */
    unsigned committing[PARTS_MAX], committing_count;
    bool list_ended;
} slots[SLOTS_MAX];
/* The parts of the slots' batches, each as if it were asked alone. */
static struct slot parts[SLOTS_MAX][PARTS_MAX];

void judge_begin_life(void)
{
    memset(slots, 0, sizeof slots);
}

static noreturn void fail(const struct slot *slot, const struct reply *answer, const char *why)
{
    char asked[400];

    ask_format(slot->ask, asked, sizeof asked);
    world_fail("%s\n  asked:    %s\n  answered: %d %s etag %" PRIX64
               " %s %s\n  commits before %" PRIu64 ", its own %" PRIu64 ", after %" PRIu64,
               why, asked, answer ? answer->status : 0, answer ? answer->code : "",
               answer ? answer->etag : 0, answer ? answer->lease_state : "",
               answer ? answer->lease_id : "", slot->before, slot->commit, world->commits);
}

void judge_say_commit(const struct ask *ask, uint64_t commit, unsigned slot)
{
    char asked[400];

    if (!world->plan.verbose)
        return;
    ask_format(ask, asked, sizeof asked);
    world_say("%.6f commit %" PRIu64 " of client %u: %s", (double)world->now_ns / 1e9, commit, slot,
              asked);
}

void judge_say_answer(const struct ask *ask, const struct reply *answer, unsigned slot)
{
    char asked[400];

    if (!world->plan.verbose)
        return;
    ask_format(ask, asked, sizeof asked);
    world_say("%.6f client %u: %s -> %d %s %" PRIX64, (double)world->now_ns / 1e9, slot, asked,
              answer->status, answer->code, answer->etag);
}

static struct doubt doubt_of(struct kept_view kept, unsigned bits)
{
    return (struct doubt){ .late = bits & 1,
                           .tag_fits = bits & 2,
                           .is_modified = bits & 4,
                           .is_modified_too = bits & 8,
                           .came_back = bits & 16,
                           .source_came_back = bits & 32,
                           .kept = kept,
                           .source_at = world->commits };
}

/* Parts of batches read no policy in runs that have one. */
static struct kept_view kept_of_slot(const struct slot *slot)
{
    bool is_part = slot < slots || slot >= slots + SLOTS_MAX;

    return is_part ? (struct kept_view){ .now = 0 } : kept_of((unsigned)(slot - slots));
}

/* ---- commits ---- */

/* Does the request look at a state that it does not commit upon: the account's settings, or the blobs of a container? */
static bool looks_elsewhere(const struct ask *ask)
{
    return ask->op == OP_COPY || ask->op == OP_PROTECT || ask->protect.by_operator;
}

/* The doubt under which the request may commit on the newest state; the source of a copy was read
 * at some commit since it began. False: none. */
static bool find_doubt(const struct slot *slot, const struct container_state *container,
                       const struct blob_state *blob, struct kept_view kept,
                       struct doubt *ret_doubt)
{
    struct expected expected;
    uint64_t at = world->commits;

    for (;;) {
        for (unsigned bits = 0; bits < DOUBTS; bits++) {
            *ret_doubt = doubt_of(kept, bits);
            ret_doubt->source_at = at;
            model_expect(slot->ask, container, blob, *ret_doubt, slot->began_ns, world->now_ns,
                         false, &expected);
            if (expected.changes && !expected.code)
                return true;
        }
        if (!looks_elsewhere(slot->ask) || at == slot->before)
            return false;
        at--;
    }
}

/* The same as find_doubt(). Until the operator is told that a container is protected, a write that began before may still
 * commit. decision: 1410 */
static bool find_protection(const struct slot *slot, struct container_state *container,
                            const struct blob_state *blob, struct kept_view kept,
                            struct doubt *ret_doubt)
{
    const struct protection newest = container->protection;

    if (find_doubt(slot, container, blob, kept, ret_doubt))
        return true;
    for (unsigned i = 0; i < SLOTS_MAX && slot->ask->op >= OP_PUT_BLOB; i++) {
        const struct slot *other = &slots[i];
        const struct container_state *before;

        if (!other->ask || other->ask->op != OP_PROTECT || other->commit <= slot->before ||
            other->ask->container != slot->ask->container)
            continue;
        before = model_container_at(slot->ask->container, other->commit - 1);
        container->protection = before->protection;
        if (before->incarnation == container->incarnation &&
            find_doubt(slot, container, blob, kept, ret_doubt))
            return true;
    }
    container->protection = newest;
    return false;
}

/* Returns the next older container of the name that a request for a blob may have found since its start; NULL if there
 * is no other. */
static const struct container_state *next_found(const struct slot *slot,
                                                const struct container_state *newest,
                                                const struct container_state *after)
{
    const struct container_state *state = after;

    while (kept_has_containers() && state->since > slot->before && state->older) {
        state = state->older;
        if (state->exists && state->incarnation != newest->incarnation)
            return state;
    }
    return NULL;
}

/* Returns the container that the server found for the blob. It may have been deleted since, and retained. */
static const struct container_state *found_container(const struct slot *slot, uint64_t server_space)
{
    const struct container_state *newest = model_container_at(slot->ask->container, world->commits);
    const struct container_state *found = newest;

    if (!kept_has_containers() || slot->ask->op < OP_PUT_BLOB)
        return newest;
    while (found && (!found->exists || found->server_space != server_space))
        found = next_found(slot, newest, found);
    if (!found)
        fail(slot, NULL, "commits into a container that there was not");
    return found;
}

/* Versions whose tags were set last: nothing else that stock is taken of shows these tags. */
#define TAGGED_MAX 8u

static void note_tagged(const struct ask *ask, uint64_t commit)
{
    if (ask->op != OP_SET_TAGS || !ask->is_version)
        return;
    if (!world->tagged)
        world->tagged = world_alloc(TAGGED_MAX * sizeof *world->tagged);
    world->tagged[commit % TAGGED_MAX] = *ask;
}

/* The calling thread's request has committed: it must be one that may, on the newest state. */
static void committed(struct slot *slot)
{
    const struct container_state *found;
    struct container_state container;
    const struct blob_state *blob;
    struct kept_view kept;
    struct doubt doubt;

    if (slot->commit > 0)
        return; /* clears away what its first commit left; nobody sees that */
    found = found_container(slot, kept_here()->space);
    kept = kept_committed_in(slot->before, found->protection.has_versions);
    container = *found;
    blob = model_blob_in(container.space, slot->ask->blob, world->commits);
    if (!find_protection(slot, &container, blob, kept, &doubt)) {
        model_expect(slot->ask, found, blob, doubt_of(kept, 0), slot->began_ns, world->now_ns,
                     false, &slot->expected);
        fail(slot, NULL,
             slot->expected.code ? slot->expected.code : "commits what should change nothing");
    }
    model_expect(slot->ask, &container, blob, doubt, slot->began_ns, world->now_ns, true,
                 &slot->expected);
    if (slot->ask->op >= OP_PUT_BLOB)
        slot->expected.container.protection = found->protection;
    if (slot->expected.blob.copy == COPIES_STILL && slot->ask->op == OP_COPY)
        slot->expected.blob.pending.id = pending_begun();
    if (slot->ask->op == OP_ABORT_COPY) {
        pending_fill(slot->expected.filled);
        slot->expected.filled = NULL; /* the answer does not tell */
    }
    slot->commit = ++world->commits;
    model_apply(slot->ask, &slot->expected, slot->commit);
    note_tagged(slot->ask, slot->commit);
    world_trace(slot->commit << 8 | slot->ask->op);
    judge_say_commit(slot->ask, slot->commit, (unsigned)request_slot());
}

unsigned judge_parts(unsigned slot)
{
    return slots[slot].ask->part_count;
}

void judge_commits_parts(unsigned slot, const unsigned *numbers, unsigned count)
{
    memcpy(slots[slot].committing, numbers, count * sizeof numbers[0]);
    slots[slot].committing_count = count;
}

unsigned judge_committing(unsigned slot, unsigned ret_numbers[PARTS_MAX])
{
    memcpy(ret_numbers, slots[slot].committing, sizeof slots[slot].committing);
    return slots[slot].committing_count;
}

void judge_list_ends(unsigned slot)
{
    slots[slot].list_ended = true;
}

void judge_list_goes_on(unsigned slot)
{
    slots[slot].list_ended = false;
}

/* Parts of a batch have places of their own in the order, also where they are committed as one. */
void judge_committed(unsigned slot_number)
{
    struct slot *slot = &slots[slot_number];

    if (slot->ask->op != OP_BATCH) {
        committed(slot);
        return;
    }
    for (unsigned i = 0; i < slot->committing_count; i++)
        committed(&parts[slot_number][slot->committing[i]]);
    slot->committing_count = 0;
}

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;
typedef struct rocksdb_writebatch_t rocksdb_writebatch_t;
void rocksdb_write(rocksdb_t *db, const rocksdb_writeoptions_t *options,
                   rocksdb_writebatch_t *batch, char **ret_error);

static void note_commit(int slot)
{
    if (slot >= (int)SLOTS_MAX) {
        sm_judge_own_committed((unsigned)slot - SLOTS_MAX);
    } else if (slot < 0 && moves_committed()) {
        return;
    } else if (slot >= 0 && fleet_commits_placement((unsigned)slot)) {
        return;
    } else if (slot >= 0) {
        framing_committed((unsigned)slot);
        roles_committed((unsigned)slot);
        sim_service()->committed((unsigned)slot);
    } else if (!states_committed() && sim_service()->committed_behind) {
        sim_service()->committed_behind();
    }
}

/* Commits come one after the other, and between a commit being seen by others and being noted here
 * no other thread runs: so the order noted is the true one. */
void rocksdb_write(rocksdb_t *db, const rocksdb_writeoptions_t *options,
                   rocksdb_writebatch_t *batch, char **ret_error)
{
    typedef void write_fn(rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_writebatch_t *,
                          char **);
    static write_fn *real;
    static bool busy OF_PROCESS;
    int slot = request_slot();
    uint64_t before;

    if (!real)
        *(void **)&real = sched_real("rocksdb_write");
    sched_point();
    while (busy)
        sched_wait(WAIT_EVENT, &busy, 0);
    busy = true;
    sched_hold();
    real(db, options, batch, ret_error);
    before = world->commits;
    if (!*ret_error && !fleet_is_cut_off())
        note_commit(slot);
    commits_note(before);
    throttle_committed();
    sched_release();
    busy = false;
    sched_wake(WAIT_EVENT, &busy, 1);
    sched_point();
}

bool judge_has_committed(unsigned slot)
{
    const struct ask *ask = slots[slot].ask;

    if (ask && ask->op == OP_BATCH)
        return slots[slot].list_ended;
    return slots[slot].commit > 0;
}

/* ---- answers ---- */

void judge_asked(unsigned slot, const struct ask *ask)
{
    pooled_forget_list(slot);
    kept_forget(slot);
    slots[slot] = (struct slot){ .ask = ask,
                                 .began_ns = world->now_ns,
                                 .before = world->commits,
                                 .wall_steps = world->wall_steps };
    for (unsigned i = 0; i < ask->part_count; i++) {
        parts[slot][i] = slots[slot];
        parts[slot][i].ask = &ask->parts[i];
    }
}

static uint64_t oldest_under_way(void)
{
    uint64_t oldest = commits_oldest_survivor();

    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        if (slots[i].ask && slots[i].before < oldest)
            oldest = slots[i].before;
    }
    return oldest;
}

/* Nothing that was told or shown may be lost by a crash from now on. */
static void acknowledge(uint64_t commit)
{
    commits_acknowledge(commit);
}

static void fill_unknown(struct stamp *stamp, const struct reply *answer)
{
    stamp->etag = answer->etag;
    stamp->modified_s = answer->modified_s;
}

/* An ETag is known now. It lies between its neighbours. */
static const char *fill(struct stamp *stamp, const struct reply *answer)
{
    const struct stamp *before = stamp->before, *next = stamp->next;

    stamp->etag = answer->etag;
    stamp->modified_s = answer->modified_s;
    if (answer->etag == 0 || answer->etag_is_odd)
        return "no ETag, or one that is not of the service's form";
    if (before && before->etag >= stamp->etag)
        return "an ETag that is not above the one before";
    if (next && next->etag != 0 && next->etag <= stamp->etag)
        return "an ETag that is not below the one after";
    return NULL;
}

static const char *fill_snapshot(const struct slot *slot, const struct reply *answer)
{
    struct stamp *time = slot->expected.filled_time;
    const struct stamp *base = slot->expected.blob.stamp;

    if (time->snapshot[0] && strcmp(time->snapshot, answer->snapshot) != 0)
        return "another time of the snapshot";
    memcpy(time->snapshot, answer->snapshot, sizeof time->snapshot);
    if (times_ticks(answer->snapshot) == 0)
        return "no time of the snapshot";
    if (base && base->etag > times_ticks(answer->snapshot))
        return "a snapshot is older than what it holds";
    return NULL;
}

/* The answer to a request whose commit was seen. */
static void judge_commit(struct slot *slot, const struct reply *answer)
{
    const char *why = compare_answer(slot->ask, &slot->expected, answer, (struct doubt){ 0 });

    if (!why && slot->expected.filled)
        why = fill(slot->expected.filled, answer);
    if (!why && slot->expected.filled_time)
        why = fill_snapshot(slot, answer);
    if (why)
        fail(slot, answer, why);
    acknowledge(slot->commit);
}

static const char *compare_states(const struct slot *slot, const struct reply *answer,
                                  const struct container_state *container,
                                  const struct blob_state *blob, uint64_t source_at)
{
    const char *first = NULL;

    for (unsigned bits = 0; bits < DOUBTS; bits++) {
        struct doubt doubt = doubt_of(kept_of_slot(slot), bits);
        struct expected expected;
        const char *why;

        doubt.source_at = source_at;
        model_expect(slot->ask, container, blob, doubt, slot->began_ns, world->now_ns, false,
                     &expected);
        why = !expected.code && expected.changes
                  ? "success without a commit"
                  : compare_answer(slot->ask, &expected, answer, doubt);
        if (!why)
            return NULL;
        first = first ? first : why;
    }
    return first;
}

/* Does what the container says decide who may? */
static bool rests_on_container(const struct ask *ask)
{
    return ask->signature == UNSIGNED || ask->signature == SIGNED_BY_POLICY ||
           (protect_is_on() && ask->op >= OP_PUT_BLOB);
}

/* The source of a copy was read at some commit since it began. */
static const char *compare_sources(const struct slot *slot, const struct reply *answer,
                                   const struct container_state *container,
                                   const struct blob_state *blob, uint64_t commit)
{
    const char *first = compare_states(slot, answer, container, blob, commit);

    for (uint64_t at = world->commits; first && looks_elsewhere(slot->ask); at--) {
        if (!compare_states(slot, answer, container, blob, at))
            return NULL;
        if (at == slot->before)
            break;
    }
    return first;
}

static const char *compare_service(const struct reply *answer, uint64_t commit)
{
    const char *why = origins_compare(answer, commit);

    return why ? why : kept_compare(answer, commit);
}

/* A blob is read a moment after its container: in between, what is public, or what a policy
 * permits, may have changed. */
static const char *compare_at(const struct slot *slot, const struct reply *answer, uint64_t commit)
{
    const struct blob_state *blob = model_blob_at(slot->ask->container, slot->ask->blob, commit);
    struct container_state container = *model_container_at(slot->ask->container, commit);
    const char *first = compare_sources(slot, answer, &container, blob, commit);

    for (uint64_t at = commit; first && rests_on_container(slot->ask) && at > slot->before;) {
        const struct container_state *earlier = model_container_at(slot->ask->container, --at);

        container.access = earlier->access;
        memcpy(container.policies, earlier->policies, sizeof container.policies);
        container.protection = earlier->protection;
        if (!compare_sources(slot, answer, &container, blob, commit))
            return NULL;
    }
    if (!first && slot->ask->op == OP_GET_SERVICE)
        return compare_service(answer, commit);
    return first;
}

static bool is_paged(const struct ask *ask)
{
    return ask->op == OP_LIST_BLOBS || ask->op == OP_LIST_CONTAINERS || ask->op == OP_FIND;
}

static enum paging paging_of(enum op op)
{
    return op == OP_FIND ? OF_SEARCH : op == OP_LIST_BLOBS ? OF_BLOBS : OF_CONTAINERS;
}

static void judge_page(struct slot *slot, const struct reply *answer)
{
    struct page_ask *next = &world->model->next_pages[paging_of(slot->ask->op)][slot - slots];
    uint64_t commit;
    const char *why;

    if (slot->ask->op == OP_FIND)
        why = search_compare(slot->ask, answer, slot->before, world->commits, &commit, next);
    else
        why = listing_compare(slot->ask, answer, kept_of_slot(slot).now, slot->before,
                              world->commits, &commit, next);

    if (why) {
        world_say("%.6000s", (const char *)answer->body);
        fail(slot, answer, why);
    }
    acknowledge(commit);
}

bool judge_clock_may_refuse(uint64_t wall_steps, const struct reply *answer)
{
    return wall_steps != world->wall_steps && strcmp(answer->code, "AuthenticationFailed") == 0;
}

/* Compares the response with the blob in containers that were deleted and retained since the request started, where
 * other clients may have written to it. Returns the commit of the state that fits; UINT64_MAX if none does. */
static uint64_t find_late_view(const struct slot *slot, const struct reply *answer)
{
    const struct container_state *newest = model_container_at(slot->ask->container, world->commits);
    const struct container_state *found = newest;

    while (slot->ask->op >= OP_PUT_BLOB && (found = next_found(slot, newest, found))) {
        const struct blob_state *blob =
            model_blob_in(found->space, slot->ask->blob, world->commits);

        for (; blob; blob = blob->since > slot->before ? blob->older : NULL)
            if (!compare_sources(slot, answer, found, blob, world->commits))
                return blob->since;
    }
    return UINT64_MAX;
}

/* One without a commit: a state between its beginning and its end must give this answer. */
static void judge_view(struct slot *slot, const struct reply *answer)
{
    const struct malformed *malformed = slot->ask->malformed;
    uint64_t at = world->commits;
    const char *why, *first = NULL;
    uint64_t fitting = UINT64_MAX;

    if (judge_clock_may_refuse(slot->wall_steps, answer))
        return;
    if (kept_is_on() && strcmp(answer->code, "ServerBusy") == 0)
        return; /* too many changes of all snapshots of a blob are under way (decision 792) */
    if (malformed && malformed->of_body && strcmp(answer->code, malformed->code) == 0)
        return;
    for (;;) {
        uint64_t changed = model_changed_before(slot->ask, slot->before, at);

        why = compare_at(slot, answer, at);
        if (!why)
            fitting = changed;
        else if (!first)
            first = why;
        if (changed == 0)
            break;
        at = changed - 1;
    }
    if (fitting == UINT64_MAX)
        fitting = find_late_view(slot, answer);
    if (fitting == UINT64_MAX)
        fail(slot, answer, first);
    if (is_paged(slot->ask) && answer->status == 200) {
        judge_page(slot, answer);
        return;
    }
    /* What was shown by then is durable. */
    acknowledge(fitting);
}

bool judge_says_cannot(const struct reply *answer)
{
    /* In a cluster a read fails only at an owner that was evicted, and no client is told. */
    return (answer->status == 500 && !world->fleet) || answer->status == 503 ||
           answer->status == 507;
}

bool judge_reports_damage(const struct reply *answer)
{
    return world->was_damaged && (!answer->came || judge_says_cannot(answer));
}

/* Each part had an answer of its own, which must be that of a request alone. */
static void judge_batch(const struct slot *slot, const struct reply *answer, bool may_fail)
{
    if (judge_clock_may_refuse(slot->wall_steps, answer))
        return;
    for (unsigned i = 0; i < slot->ask->part_count; i++) {
        struct slot *part = &parts[slot - slots][i];
        struct reply reply;

        if (answer->status != 202 || !batch_reply(answer, i, &reply))
            fail(slot, answer, "no answer to a part of a batch");
        if (judge_says_cannot(&reply) && may_fail)
            world->refused++;
        else if (part->commit > 0)
            judge_commit(part, &reply);
        else
            judge_view(part, &reply);
    }
}

/* Which rules there are is read when the answer is made. Where they cannot be read it goes without. */
static void judge_origin(const struct slot *slot, const struct reply *answer, bool may_fail)
{
    uint64_t commit;
    const char *why;

    if (slot->ask->origin == 0 || slot->ask->op == OP_SET_SERVICE || slot->ask->malformed)
        return; /* what is malformed may be refused before the account is looked at */
    if (may_fail && judge_says_cannot(answer) && !answer->origin[0])
        return; /* nothing was seen */
    why = origins_find(slot->ask, answer, slot->before, &commit);
    if (!why)
        acknowledge(commit);
    else if (answer->origin[0] || !may_fail)
        fail(slot, answer, why);
}

void judge_answered(unsigned slot_number, const struct reply *answer, bool may_fail)
{
    struct slot *slot = &slots[slot_number];

    world->requests++;
    judge_say_answer(slot->ask, answer, slot_number);
    world_trace((uint64_t)(unsigned)answer->status << 16 ^ answer->etag ^ slot->commit);
    if (answer->came) {
        world->checks++;
        if (judge_says_cannot(answer) && may_fail)
            world->refused++;
        else if (slot->ask->op == OP_BATCH)
            judge_batch(slot, answer, may_fail);
        else if (slot->commit > 0)
            judge_commit(slot, answer);
        else
            judge_view(slot, answer);
        judge_origin(slot, answer, may_fail);
        if (!judge_says_cannot(answer) && !states_are_used())
            linear_note(slot->ask, answer);
    } else if (slot->commit > 0 && answer->etag > 0) {
        /* Nobody was told, but it is no secret of ours. */
        if (slot->expected.filled && slot->expected.filled->etag == 0)
            fill_unknown(slot->expected.filled, answer);
        if (slot->expected.filled_time && !slot->expected.filled_time->snapshot[0])
            memcpy(slot->expected.filled_time->snapshot, answer->snapshot, SNAPSHOT_SIZE);
    }
    slot->ask = NULL;
    if (world->requests % 64 == 0)
        model_prune(oldest_under_way());
}

/* ---- after a crash ---- */

#define STOCK_MAX (2 + TAGGED_MAX + CONTAINERS * (4 + LEASE_IDS + BLOBS * (3 + LEASE_IDS + KEYS)))

struct stock {
    struct ask ask;
    struct reply answer;
    struct kept_view kept;
};

/* The root of a cluster has no such container, but a row that it may be in another cell. Nor has a cell that is moving it
 * to another one. */
static void read_misdirected(struct reply *answer)
{
    static const char *const codes[SIM_SERVICES] = { [SIM_BLOB] = "ContainerNotFound",
                                                     [SIM_QUEUE] = "QueueNotFound",
                                                     [SIM_TABLE] = "TableNotFound",
                                                     [SIM_FILE] = "ShareNotFound",
                                                     [SIM_PROTECT] = "ContainerNotFound" };

    if (!commits_are_divided() ||
        (answer->status != 421 && (answer->status != 503 || !moves_have_sealed_here())))
        return;
    answer->status = 404;
    (void)snprintf(answer->code, sizeof answer->code, "%s", codes[world->plan.service]);
}

bool judge_ask_until_told(struct server *server, const struct ask *ask, bool may_fail,
                          struct reply *ret_answer)
{
    char asked[300];

    /* Faults of a life stop within a minute. */
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t steps = world->wall_steps;

        request_send(server, SLOTS_MAX - 1, ask, ret_answer);
        read_misdirected(ret_answer);
        if (steps != world->wall_steps) {
            answer_release(ret_answer);
            continue; /* it may have become too old, or too young */
        }
        if (world->was_damaged || (ret_answer->came && !judge_says_cannot(ret_answer)))
            return true;
        ask_format(ask, asked, sizeof asked);
        if (ret_answer->came && !may_fail && !faults_were_seen() && server_healthy(server))
            world_fail("after a start %s is answered %d", asked, ret_answer->status);
        answer_release(ret_answer);
        if (!server_healthy(server))
            return false;
        sched_sleep(100000000);
    }
    world_fail("after a start %s is never answered", asked);
}

static bool is_elsewhere(unsigned container, uint64_t survivor)
{
    return commits_are_divided() && !model_is_here_at(container, survivor);
}

static const char *stock_differs(const struct stock *stock, uint64_t commit)
{
    const char *why = NULL;
    struct page_ask next;
    uint64_t unused;

    if (judge_reports_damage(&stock->answer))
        return NULL;
    if (stock->ask.op != OP_GET_SERVICE && stock->ask.op != OP_LIST_CONTAINERS &&
        is_elsewhere(stock->ask.container, commit))
        return stock->answer.status == 404 ? NULL : "a container of another cell is here";
    for (unsigned bits = 0; bits < DOUBTS; bits++) {
        struct expected expected;

        model_expect(&stock->ask, model_container_at(stock->ask.container, commit),
                     model_blob_at(stock->ask.container, stock->ask.blob, commit),
                     doubt_of(stock->kept, bits), stock->answer.began_ns, world->now_ns, false,
                     &expected);
        why = compare_answer(&stock->ask, &expected, &stock->answer, doubt_of(stock->kept, bits));
        if (!why)
            break;
    }
    if (!why && stock->ask.op == OP_GET_SERVICE)
        why = compare_service(&stock->answer, commit);
    if (!why && is_paged(&stock->ask) && stock->answer.status == 200)
        why = listing_compare(&stock->ask, &stock->answer, stock->kept.now, commit, commit, &unused,
                              &next);
    return why;
}

/* ETags that nobody had been told are told now. */
static void adopt(const struct stock *stock, uint64_t commit)
{
    struct expected expected;

    if (is_elsewhere(stock->ask.container, commit))
        return;
    if (stock->ask.op == OP_LIST_BLOBS && stock->answer.status == 200)
        listing_adopt(&stock->ask, &stock->answer, stock->kept.now, commit);
    model_expect(&stock->ask, model_container_at(stock->ask.container, commit),
                 model_blob_at(stock->ask.container, stock->ask.blob, commit),
                 doubt_of(stock->kept, 0), stock->answer.began_ns, world->now_ns, false, &expected);
    if (expected.stamp && expected.stamp->etag == 0 && stock->answer.etag != 0)
        fill_unknown((struct stamp *)(uintptr_t)expected.stamp, &stock->answer);
}

static bool is_state(const struct stock *stock, unsigned count, uint64_t commit,
                     const struct stock **ret_odd, const char **ret_why)
{
    for (unsigned i = 0; i < count; i++) {
        const char *differs = stock_differs(&stock[i], commit);

        if (differs) {
            *ret_odd = &stock[i];
            *ret_why = differs;
            if (world->plan.verbose) {
                char asked[300];

                ask_format(&stock[i].ask, asked, sizeof asked);
                world_say("not commit %" PRIu64 ": %s: %s", commit, differs, asked);
            }
            return false;
        }
    }
    return true;
}

/* Returns the newest commit that may have survived. The record engine knows it after a crash; what is in a retained
 * container cannot be asked for. */
static uint64_t newest_survivor(void)
{
    uint64_t survivor;

    if (commits_are_divided() || commits_here()->has_started || engine_opened_at() == 0)
        return commits_newest();
    survivor = commits_survivor();
    if (survivor < commits_acknowledged() && !world->was_damaged)
        world_fail("after a %s commit %" PRIu64 " is the newest, and %" PRIu64 " was acknowledged",
                   world->power_lost ? "power cut" : "kill", survivor, commits_acknowledged());
    return survivor;
}

/* The newest commit that the crash may have left whose state is the one that was found. */
static bool find_state(const struct stock *stock, unsigned count, uint64_t *ret_commit,
                       const struct stock **ret_odd, const char **ret_why)
{
    for (uint64_t commit = newest_survivor();; commit = commits_previous(commit)) {
        *ret_commit = commit;
        if (is_state(stock, count, commit, ret_odd, ret_why))
            return true;
        if (commit <= commits_acknowledged())
            return false;
    }
}

/* First with leases that end when our clock says so: else the end of one would look like the break
 * that was lost. */
static uint64_t find_survivor(const struct stock *stock, unsigned count)
{
    const struct stock *odd = &stock[0];
    const char *why = "?";
    char asked[300];
    uint64_t commit;
    bool found;

    leases_trust_clock(true);
    found = find_state(stock, count, &commit, &odd, &why);
    leases_trust_clock(false);
    if (found || find_state(stock, count, &commit, &odd, &why))
        return commit;
    ask_format(&odd->ask, asked, sizeof asked);
    world_fail("after a %s the state is none that there was since commit %" PRIu64
               ", the newest acknowledged; %" PRIu64 " was the last\n  %s: %d %s etag %" PRIX64
               " length %" PRIu64 "\n  %s",
               world->power_lost ? "power cut" : "kill", commits_acknowledged(), world->commits,
               asked, odd->answer.status, odd->answer.code, odd->answer.etag, odd->answer.length,
               why);
}

/* All that can be asked without changing anything; ids of leases show by those that are refused. */
static unsigned list_stock(struct stock *stock)
{
    unsigned count = 0;

    memset(stock, 0, STOCK_MAX * sizeof *stock);
    stock[count++].ask = (struct ask){ .op = OP_GET_SERVICE };
    for (unsigned i = 0; world->tagged && i < TAGGED_MAX; i++) {
        const struct ask *tagged = &world->tagged[i];

        if (!tagged->is_version)
            continue;
        stock[count].ask = (struct ask){ .op = OP_GET_TAGS,
                                         .container = tagged->container,
                                         .blob = tagged->blob,
                                         .is_version = true };
        memcpy(stock[count++].ask.snapshot, tagged->snapshot, SNAPSHOT_SIZE);
    }
    if (!commits_are_divided())
        stock[count++].ask = (struct ask){
            .op = OP_LIST_CONTAINERS,
            .page = { .include = INCLUDE_METADATA | (kept_has_containers() ? INCLUDE_DELETED : 0) }
        };
    for (unsigned c = 0; c < CONTAINERS; c++) {
        if (!model_may_be_here(c)) {
            stock[count++].ask = (struct ask){ .op = OP_GET_CONTAINER, .container = c };
            continue;
        }
        stock[count++].ask = (struct ask){ .op = OP_LIST_BLOBS,
                                           .container = c,
                                           .page = { .include = INCLUDES - 1 } };
        if (protect_is_on()) {
            stock[count - 1].ask.page.include |= INCLUDE_PROTECTION;
            stock[count++].ask = (struct ask){ .op = OP_SHOW_PROTECTION, .container = c };
        }
        stock[count++].ask = (struct ask){ .op = OP_GET_ACL, .container = c };
        for (unsigned id = 0; id <= LEASE_IDS; id++)
            stock[count++].ask =
                (struct ask){ .op = OP_GET_CONTAINER, .container = c, .lease_id = id };
        for (unsigned b = 0; b < BLOBS; b++) {
            stock[count++].ask = (struct ask){ .op = OP_GET_BLOB, .container = c, .blob = b };
            for (unsigned key = 1; key <= KEYS && protect_has_keys(); key++)
                stock[count++].ask = (struct ask){
                    .op = OP_GET_BLOB, .container = c, .blob = b, .protect.key = key
                };
            stock[count++].ask = (struct ask){ .op = OP_GET_BLOCK_LIST, .container = c, .blob = b };
            stock[count++].ask = (struct ask){ .op = OP_GET_TAGS, .container = c, .blob = b };
            for (unsigned id = 1; id <= LEASE_IDS; id++)
                stock[count++].ask =
                    (struct ask){ .op = OP_HEAD_BLOB, .container = c, .blob = b, .lease_id = id };
        }
    }
    return count;
}

bool judge_take_stock(struct server *server, bool may_fail)
{
    static struct stock stock[STOCK_MAX];
    const struct stock *odd;
    const char *why;
    unsigned count;
    uint64_t survivor;

    if (commits_here()->has_started && !pending_wait(server))
        return false;
    count = list_stock(stock);
    for (unsigned i = 0; i < count; i++) {
        if (!judge_ask_until_told(server, &stock[i].ask, may_fail, &stock[i].answer)) {
            while (i > 0)
                answer_release(&stock[--i].answer);
            return false;
        }
        stock[i].kept = kept_of(SLOTS_MAX - 1);
    }
    for (unsigned i = 0; i < count && world->was_damaged; i++) {
        if (!stock[i].answer.came || judge_says_cannot(&stock[i].answer)) {
            world->damage_told = 1;
            break;
        }
    }
    survivor = find_survivor(stock, count);
    world_say("commit %" PRIu64 " of %" PRIu64 " survived, %" PRIu64 " was acknowledged", survivor,
              world->commits, commits_acknowledged());
    for (uint64_t commit = survivor; commit > commits_acknowledged();) {
        commit = commits_previous(commit);
        if (is_state(stock, count, commit, &odd, &why))
            model_widen(survivor, commit); /* nobody can see which of them it is */
    }
    for (unsigned i = 0; i < count; i++)
        adopt(&stock[i], survivor);
    model_roll_back(survivor);
    if (!commits_are_divided()) /* else requests to other cells are in progress */
        model_prune(survivor);
    commits_roll_back(survivor);
    for (unsigned i = 0; i < count; i++)
        answer_release(&stock[i].answer);
    return true;
}

/* ---- what a client may know ---- */

/* Two tasks, each after the 30 seconds of a deletion or a second later. */
#define RESTS_NS (UINT64_C(36) * 1000000000)

bool judge_rests(unsigned container)
{
    const struct container_state *state = model_container_at(container, world->commits);

    return !state->exists && state->forgotten.to_ns > 0 &&
           world->now_ns < state->forgotten.from_ns + RESTS_NS - UINT64_C(30) * 1000000000;
}

uint64_t judge_known_etag(unsigned container, unsigned blob)
{
    const struct blob_state *state = model_blob_at(container, blob, world->commits);

    return state->exists && state->stamp ? state->stamp->etag : 0;
}

int64_t judge_known_date(const struct ask *ask)
{
    const struct stamp *stamp =
        ask->op < OP_LIST_BLOBS ? model_container_at(ask->container, world->commits)->stamp
                                : model_blob_at(ask->container, ask->blob, world->commits)->stamp;

    return stamp ? stamp->modified_s : 0;
}

const struct page_ask *judge_next_page(unsigned client, enum op op)
{
    return &world->model->next_pages[paging_of(op)][client];
}

const char *judge_known_snapshot(unsigned container, unsigned blob, unsigned number)
{
    static const char none[SNAPSHOT_SIZE];
    const struct blob_state *state = model_blob_at(container, blob, world->commits);

    if (state->snapshot_count == 0)
        return none;
    number = number < state->snapshot_count ? number : state->snapshot_count - 1;
    return state->snapshots[number].time->snapshot;
}

bool judge_is_version(unsigned container, unsigned blob, const char *time)
{
    const struct blob_state *state = model_blob_at(container, blob, world->commits);

    if (!time[0])
        return false;
    for (unsigned i = 0; i < state->snapshot_count; i++)
        if (state->snapshots[i].is_version && strcmp(state->snapshots[i].time->snapshot, time) == 0)
            return true;
    return strcmp(judge_current_version(container, blob), time) == 0;
}

const char *judge_current_version(unsigned container, unsigned blob)
{
    static char text[SNAPSHOT_SIZE];
    const struct blob_state *state = model_blob_at(container, blob, world->commits);

    text[0] = '\0';
    if (state->exists && state->version > 0)
        times_format(state->version, text);
    return text;
}

bool judge_draw_deleted(unsigned container, unsigned random, char to[DELETED_SIZE])
{
    const struct container_state *state = model_container_at(container, world->commits);

    if (state->kept_count == 0)
        return false;
    times_deleted(state->kept[random % state->kept_count].deleted, to);
    return true;
}

unsigned judge_known_deleted(unsigned container)
{
    return model_container_at(container, world->commits)->kept_count;
}

const char *judge_gone_snapshot(unsigned container, unsigned blob)
{
    return model_blob_at(container, blob, world->commits)->gone;
}

void judge_aim(struct ask *ask, enum blob_kind kind, unsigned random)
{
    for (unsigned i = 0; i < CONTAINERS * BLOBS; i++) {
        unsigned at = (random + i) % (CONTAINERS * BLOBS), c = at / BLOBS, b = at % BLOBS;
        const struct container_state *container = model_container_at(c, world->commits);
        const struct blob_state *blob = model_blob_at(c, b, world->commits);

        if (!container->exists || !blob->exists || blob->incarnation != container->incarnation ||
            blob->contents.kind != kind || blob->contents.sealed ||
            (blob->tier == AT_ARCHIVE && ask->op != OP_COPY &&
             (ask->op != OP_SET_TIER || random % 2 == 0)))
            continue;
        ask->container = c;
        ask->blob = b;
        ask->lease_id = blob->lease.kind == LEASE_HELD ? blob->lease.id : 0;
        ask->snapshot[0] = '\0';
        return;
    }
}

uint32_t judge_known_length(unsigned container, unsigned blob)
{
    const struct blob_state *state = model_blob_at(container, blob, world->commits);

    return state->exists ? contents_length(&state->contents) : 0;
}

unsigned judge_known_snapshots(unsigned container, unsigned blob)
{
    return model_blob_at(container, blob, world->commits)->snapshot_count;
}

unsigned judge_known_blocks(unsigned container, unsigned blob)
{
    const struct blob_state *state = model_blob_at(container, blob, world->commits);
    unsigned known = 0;

    if (state->contents.kind != KIND_BLOCKS)
        return 0;
    for (unsigned i = 0; i < state->staged_count; i++)
        known |= 1u << (state->staged[i].block - 1);
    for (unsigned i = 0; i < state->contents.segment_count; i++)
        if (state->contents.segments[i].block > 0)
            known |= 1u << (state->contents.segments[i].block - 1);
    return known;
}

bool judge_comes_back(unsigned container, unsigned blob)
{
    return model_blob_at(container, blob, world->commits)->comes_back != AT_INFERRED;
}

void judge_aim_pending(struct ask *ask, unsigned random)
{
    for (unsigned i = 0; i < CONTAINERS * BLOBS; i++) {
        unsigned at = (random + i) % (CONTAINERS * BLOBS), c = at / BLOBS, b = at % BLOBS;
        const struct blob_state *blob = model_blob_at(c, b, world->commits);

        if (blob->copy != COPIES_STILL)
            continue;
        ask->container = c;
        ask->blob = b;
        ask->lease_id = blob->lease.kind == LEASE_HELD ? blob->lease.id : 0;
        ask->copy_id = blob->pending.id;
        return;
    }
}
