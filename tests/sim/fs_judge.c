/* See fs_judge.h. */
#include "fs_judge.h"

#include <inttypes.h>
#include <string.h>

#include "fs_model.h"
#include "judge.h"
#include "world.h"

/* A request under way. Dies with the process. */
static struct slot {
    const struct ask *ask;
    uint64_t before; /* commits when it began */
    uint64_t commit; /* its own; 0: none */
    uint64_t wall_steps;
} slots[SLOTS_MAX];

void fs_judge_begin(void)
{
    fs_model_begin();
}

void fs_judge_begin_life(void)
{
    memset(slots, 0, sizeof slots);
}

static noreturn void fail(const struct slot *slot, const struct reply *answer, const char *why)
{
    char asked[400];

    ask_format(slot->ask, asked, sizeof asked);
    world_fail("%s\n  asked:    %s\n  answered: %d %s etag %" PRIX64 " length %" PRIu64
               "\n  commits before %" PRIu64 ", its own %" PRIu64 ", after %" PRIu64,
               why, asked, answer ? answer->status : 0, answer ? answer->code : "",
               answer ? answer->etag : 0, answer ? answer->length : 0, slot->before, slot->commit,
               world->commits);
}

/* ---- commits ---- */

void fs_judge_asked(unsigned slot, const struct ask *ask)
{
    slots[slot] =
        (struct slot){ .ask = ask, .before = world->commits, .wall_steps = world->wall_steps };
}

bool fs_judge_has_committed(unsigned slot)
{
    return slots[slot].commit > 0;
}

void fs_judge_committed(unsigned slot_number)
{
    struct slot *slot = &slots[slot_number];
    struct fs_expected expected;

    if (slot->commit > 0)
        return; /* clears away what its first commit left; nobody sees that */
    expected = fs_expect(&slot->ask->fs, fs_state_at(world->commits));
    if (!expected.changes)
        fail(slot, NULL, expected.code ? expected.code : "commits what should change nothing");
    slot->commit = ++world->commits;
    fs_apply(&slot->ask->fs, slot->commit);
    world_trace(slot->commit << 8 | slot->ask->fs.op);
    if (world->plan.verbose) {
        char asked[400];

        ask_format(slot->ask, asked, sizeof asked);
        world_say("%.6f commit %" PRIu64 " of client %u: %s", (double)world->now_ns / 1e9,
                  slot->commit, slot_number, asked);
    }
}

/* What can be deleted of snapshots, so that the census shows whether all that they kept goes. */
void fs_judge_check_end(struct server *server)
{
    struct ask ask = { .op = OPS, .fs = { .op = FS_DELETE_SNAPSHOT } };
    struct reply answer;

    while (fs_known_snapshot(0, &ask.fs.snapshot)) {
        fs_judge_asked(SLOTS_MAX - 1, &ask);
        if (!judge_ask_until_told(server, &ask, true, &answer))
            return;
        fs_judge_answered(SLOTS_MAX - 1, &answer, true);
        answer_release(&answer);
        fs_prune(world->commits);
    }
}

/* Nothing that was told or shown may be lost by a crash from now on. */
static void acknowledge(uint64_t commit)
{
    if (commit > world->acknowledged)
        world->acknowledged = commit;
}

static int status_of_change(enum fs_op op)
{
    switch ((int)op) {
    case FS_DELETE_FILE:
    case FS_DELETE_DIRECTORY:
    case FS_DELETE_SNAPSHOT:
        return 202;
    case FS_SET_LENGTH:
    case FS_SET_METADATA:
    case FS_SET_DIRECTORY_METADATA:
    case FS_RENAME_FILE:
    case FS_RENAME_DIRECTORY:
        return 200;
    default:
        return 201;
    }
}

static void judge_commit(const struct slot *slot, const struct reply *answer)
{
    enum fs_op op = slot->ask->fs.op;
    const char *why = NULL;

    if (answer->status != status_of_change(op))
        why = "another status than of this change";
    else if (op == FS_SNAPSHOT_SHARE)
        why = fs_tell_snapshot(slot->commit, answer->snapshot);
    else if (op > FS_DELETE_SNAPSHOT && op != FS_DELETE_FILE && op != FS_DELETE_DIRECTORY)
        why = fs_fill(slot->commit, answer->etag);
    if (why)
        fail(slot, answer, why);
    acknowledge(slot->commit);
}

/* ---- the answer of one that changed nothing ---- */

/* A read that fits a state tells the ETag of what it read there. */
static void learn(const struct slot *slot, const struct reply *answer, const struct fs_state *state)
{
    struct fs_expected expected = fs_expect(&slot->ask->fs, state);
    const struct fs_node *node;
    const char *why;

    if (expected.code || slot->ask->fs.op < FS_GET_FILE || expected.node == FS_ROOT)
        return;
    node = &fs_view(&slot->ask->fs, state)->nodes[expected.node];
    why = fs_fill(node->version, answer->etag);
    if (why)
        fail(slot, answer, why);
}

/* A state between its beginning and its end must give this answer. */
static void judge_view(const struct slot *slot, const struct reply *answer)
{
    const struct fs_state *state = fs_state_at(world->commits), *fitting = NULL;
    const char *first = NULL;
    unsigned fit = 0;

    if (judge_clock_may_refuse(slot->wall_steps, answer))
        return;
    for (;;) {
        const char *why = fs_compare(&slot->ask->fs, answer, state);

        fit += !why;
        if (!why)
            fitting = state;
        else if (!first)
            first = why;
        if (state->since <= slot->before || !state->older)
            break;
        state = state->older;
    }
    if (!fitting)
        fail(slot, answer, first);
    if (fit == 1)
        learn(slot, answer, fitting);
    /* What was shown by then is durable: of the oldest state that it may have been of. */
    if (fitting->since > slot->before)
        acknowledge(fitting->since);
}

static uint64_t oldest_under_way(void)
{
    uint64_t oldest = world->acknowledged;

    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        if (slots[i].ask && slots[i].before < oldest)
            oldest = slots[i].before;
    }
    return oldest;
}

void fs_judge_answered(unsigned slot_number, const struct reply *answer, bool may_fail)
{
    struct slot *slot = &slots[slot_number];

    world->requests++;
    if (world->plan.verbose) {
        char asked[400];

        ask_format(slot->ask, asked, sizeof asked);
        world_say("%.6f client %u: %s -> %d %s %" PRIX64, (double)world->now_ns / 1e9, slot_number,
                  asked, answer->status, answer->code, answer->etag);
    }
    world_trace((uint64_t)(unsigned)answer->status << 16 ^ answer->etag ^ slot->commit);
    if (answer->came) {
        world->checks++;
        if (judge_says_cannot(answer) && may_fail)
            world->refused++;
        else if (slot->commit > 0)
            judge_commit(slot, answer);
        else
            judge_view(slot, answer);
    }
    slot->ask = NULL;
    if (world->requests % 16 == 0)
        fs_prune(oldest_under_way());
}
