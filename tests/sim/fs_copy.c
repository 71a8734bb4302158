/* See fs_copy.h. */
#include "fs_copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ids.h"
#include "faults.h"
#include "fs_away.h"
#include "fs_change.h"
#include "fs_copy_steps.h"
#include "fs_opens.h"
#include "fs_seen.h"
#include "scheduler.h"
#include "world.h"

#define SECOND_NS  UINT64_C(1000000000)
#define ENDS_MAX_S 300 /* it is looked after every 5 s, every 30 s where there are many */
/* The most that is copied while the request waits. decision: 304 */
#define AT_ONCE    (UINT64_C(256) << 20)

/* In the world; set before any life begins. The newest first. */
static struct fs_copies {
    struct fs_copy *newest;
} * all;

void fs_copies_begin(void)
{
    all = world_alloc(sizeof *all);
}

/* Whatever was read is read anew. */
void fs_copies_begin_life(void)
{
    for (struct fs_copy *copy = all->newest; copy; copy = copy->older)
        copy->was_there = copy->was_away = false;
}

static struct fs_copy *find(const struct copy_id *id)
{
    struct fs_copy *copy = all->newest;

    while (copy && memcmp(&copy->id, id, sizeof *id) != 0)
        copy = copy->older;
    return copy;
}

uint64_t fs_copy_bytes(const struct fs_copy *copy)
{
    return (uint64_t)copy->length * fs_slot_bytes();
}

/* ---- how it begins ---- */

const struct fs_node *fs_remote_source(const struct fs_ask *ask)
{
    static _Thread_local struct fs_node source;

    source = (struct fs_node){ .exists = true, .length = ask->source_length };
    for (unsigned i = 0; i < FS_SLOTS && i < source.length; i++)
        source.slots[i] = fs_slot_value(ask->seed, i);
    return &source;
}

const struct fs_copy *fs_copy_new(const struct fs_ask *ask, const struct fs_node *source,
                                  unsigned slot)
{
    struct fs_copy *copy = world_alloc(sizeof *copy);
    const struct fs_seen seen = fs_seen(slot);

    *copy = (struct fs_copy){ .older = all->newest,
                              .id = seen.copy,
                              .was_pending = seen.copy_is_pending,
                              .is_dense = seen.copy_is_dense,
                              .ask = *ask,
                              .version = ask->is_remote ? 0 : source->version,
                              .length = source->length };
    if (find(&copy->id))
        world_fail("two copies of one id");
    if (copy->was_pending && fs_copy_bytes(copy) <= AT_ONCE)
        world_fail("a copy of %" PRIu64 " bytes is pending", fs_copy_bytes(copy));
    memcpy(copy->slots, source->slots, sizeof copy->slots);
    all->newest = copy;
    return copy;
}

/* ---- while it is pending ---- */

bool fs_is_copied_to(const struct fs_node *node)
{
    return node->exists && node->copy && node->copied_as == FS_COPIES_STILL;
}

const struct fs_node *fs_pending(unsigned random)
{
    const struct fs_state *state = fs_state_at(world->commits);
    const struct fs_node *pending[FS_NODES];
    unsigned count = 0;

    for (unsigned i = 0; i < FS_NODES && state->exists; i++) {
        if (fs_is_copied_to(&state->nodes[i]))
            pending[count++] = &state->nodes[i];
    }
    return count > 0 ? pending[random % count] : NULL;
}

/* Is its source in a state what it was when the copy began? */
static bool has_source(const struct fs_copy *copy, const struct fs_state *state)
{
    if (copy->ask.is_remote)
        return copy->ask.fate == FATE_STAYS;
    return !fs_expect_source(&copy->ask, state).code &&
           fs_source_node(&copy->ask, state)->version == copy->version;
}

static void watch(struct fs_copy *copy)
{
    bool is_there = has_source(copy, fs_state_at(world->commits));

    copy->was_there = copy->was_there || is_there;
    copy->was_away = copy->was_away || !is_there;
}

void fs_copies_watch(void)
{
    for (struct fs_copy *copy = all->newest; copy; copy = copy->older) {
        if (copy->was_pending)
            watch(copy);
    }
}

void fs_copy_reads(const struct copy_id *id)
{
    struct fs_copy *copy = find(id);

    if (!copy)
        world_fail("a copy is read that nobody has begun");
    copy->was_there = copy->was_away = false;
    watch(copy);
}

void fs_copy_saw(struct fs_copy_step *step)
{
    const struct fs_copy *copy = find(&step->id);

    step->was_there = copy && copy->was_there;
    step->was_away = copy && copy->was_away;
}

/* ---- what its jobs commit ---- */

static struct fs_node *find_pending(const struct copy_id *id, struct fs_state *state)
{
    for (unsigned i = 0; i < FS_NODES && state->exists; i++) {
        struct fs_node *node = &state->nodes[i];

        if (fs_is_copied_to(node) && memcmp(&node->copy->id, id, sizeof *id) == 0)
            return node;
    }
    world_fail("a copy goes on that is not pending");
}

static void step(const struct fs_copy_step *step, struct fs_node *node)
{
    if (!step->was_there)
        world_fail("a copy reads a source that is gone, or another");
    if (step->from != node->copied || step->to <= step->from ||
        step->to > fs_copy_bytes(node->copy))
        world_fail("a step of a copy from %" PRIu64 " to %" PRIu64 " of %" PRIu64
                   " bytes at %" PRIu64,
                   step->from, step->to, fs_copy_bytes(node->copy), node->copied);
    node->copied = step->to;
}

/* SMB clients let it write to the file, and lose what they have cached. decision: 500 */
static void pass(struct fs_state *state, const struct fs_node *node, bool waits)
{
    const struct fs_use writes = {
        .access = MAY_W, .share = MAY_RWD, .breaks_caching = CACHES_ALL, .waits_for = CACHES_W
    };
    enum fs_bar expected = waits ? FS_OTHERS_CACHE : FS_NOTHING_BARS;
    struct fs_passes passes;
    enum fs_bar bar;
    bool is_locked;

    do {
        fs_passes_begin();
        bar = fs_beside_opens(state, node, &writes);
        is_locked = !waits && fs_locks_bar_write(state, node, 0, 0, 0);
    } while ((bar != expected || is_locked) && fs_end_overdue(state));
    if (bar != expected)
        world_fail("a copy ends beside who has its file open: %s", fs_bar_code(bar));
    if (is_locked)
        world_fail("a copy ends beside who has locked bytes of its file");
    passes = fs_passes();
    fs_ask_others(state, &passes, waits);
}

static void complete(struct fs_state *state, struct fs_node *node)
{
    const struct fs_copy *copy = node->copy;

    if (node->copied != fs_copy_bytes(copy))
        world_fail("a copy has succeeded at %" PRIu64 " of %" PRIu64 " bytes", node->copied,
                   fs_copy_bytes(copy));
    pass(state, node, false);
    fs_write_node(state, node);
    node->content = state->since;
    for (unsigned i = 0; i < FS_SLOTS; i++) {
        node->slots[i] = copy->slots[i];
        node->written[i] = copy->slots[i] > 0 ? state->since : 0;
    }
    node->copied_as = FS_COPIED;
}

static void fail(const struct fs_copy_step *step, struct fs_state *state, struct fs_node *node)
{
    if (!step->was_away && !faults_were_seen() && !(world->plan.faults & FAULT_CLOCK))
        world_fail("a copy has failed without a reason");
    pass(state, node, false);
    fs_end_copy(node, FS_COPY_HAS_FAILED, state->since);
    fs_write_node(state, node);
}

/* What is asked of who caches the source, which no pending file need be there for any more. */
static void wait_to_read(const struct copy_id *id)
{
    struct fs_state *state = fs_next_state(++world->commits);
    struct fs_passes passes;

    if (!fs_expect_source(&find(id)->ask, state).waits)
        world_fail("a copy waits for who does not cache its source");
    passes = fs_passes();
    fs_ask_others(state, &passes, true);
}

void fs_copies_committed(void)
{
    static const char *const words[] = { "", "goes on", "is complete", "has failed",
                                         "asks others for what they cache" };
    const struct fs_copy_step about = fs_copy_step();
    char text[GUID_TEXT_SIZE];
    struct fs_state *state;
    const char *why;
    struct fs_node *node;
    struct guid id;

    if (about.kind == FS_COPY_WAITS_TO_READ)
        wait_to_read(&about.id);
    if (about.kind == FS_COPIES_NOTHING || about.kind == FS_COPY_WAITS_TO_READ)
        return;
    state = fs_next_state(++world->commits);
    node = find_pending(&about.id, state);
    if (about.kind == FS_COPIES_STEP)
        step(&about, node);
    else if (about.kind == FS_COPIES_ALL)
        complete(state, node);
    else if (about.kind == FS_COPY_WAITS)
        pass(state, node, true);
    else
        fail(&about, state, node);
    why = about.kind == FS_COPIES_STEP || about.kind == FS_COPY_WAITS
              ? NULL
              : fs_fill(world->commits, about.etag);
    if (why)
        world_fail("a copy %s: %s", words[about.kind], why);
    fs_copies_watch();
    world_trace(world->commits << 8 | 0xFE);
    memcpy(id.b, about.id.bytes, sizeof id.b);
    guid_format(&id, text);
    world_say("%.6f commit %" PRIu64 ": copy %s %s, at %" PRIu64, (double)world->now_ns / 1e9,
              world->commits, text, words[about.kind], node->copied);
}

bool fs_copies_wait(const struct server *server)
{
    for (unsigned seconds = 0; seconds < ENDS_MAX_S; seconds++) {
        if (!fs_pending(0))
            return true;
        if (!server_healthy(server))
            return false;
        sched_sleep(SECOND_NS);
    }
    world_fail("a pending copy has not ended after %d s", ENDS_MAX_S);
}

/* ---- what is told ---- */

static const char *const texts[] = {
    [FS_COPIED] = "success",
    [FS_COPIES_STILL] = "pending",
    [FS_COPY_WAS_ABORTED] = "aborted",
    [FS_COPY_HAS_FAILED] = "failed",
};

static const char *compare(const struct fs_copy *copy, enum fs_copied how,
                           const struct reply *answer)
{
    char text[GUID_TEXT_SIZE];
    struct guid id;

    memcpy(id.b, copy->id.bytes, sizeof id.b);
    guid_format(&id, text);
    if (strcmp(answer->copy_status, texts[how]) != 0)
        return "another status of the copy";
    return strcmp(answer->fs.copy_id, text) == 0 ? NULL : "the id of another copy";
}

const char *fs_judge_copy(const struct fs_copy *copy, const struct reply *answer)
{
    return compare(copy, copy->was_pending ? FS_COPIES_STILL : FS_COPIED, answer);
}

const char *fs_compare_copied(const struct fs_node *node, const struct reply *answer)
{
    char progress[sizeof answer->fs.copy_progress];
    const char *why;

    if (!node->copy)
        return answer->copy_status[0] ? "a copy that did not make these bytes" : NULL;
    why = compare(node->copy, node->copied_as, answer);
    (void)snprintf(progress, sizeof progress, "%" PRIu64 "/%" PRIu64, node->copied,
                   fs_copy_bytes(node->copy));
    if (!why && strcmp(answer->fs.copy_progress, progress) != 0)
        why = "another progress of the copy";
    return why;
}
