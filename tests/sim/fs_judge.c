/* See fs_judge.h. */
#include "fs_judge.h"

#include <inttypes.h>
#include <string.h>

#include "base/dates.h"
#include "commits.h"
#include "fs_away.h"
#include "fs_copy.h"
#include "fs_late.h"
#include "fs_list.h"
#include "fs_opens.h"
#include "fs_seen.h"
#include "judge.h"
#include "sm_judge.h"
#include "sm_model.h"
#include "sm_watch.h"
#include "world.h"

static struct fs_slot slots[SLOTS_MAX];

struct fs_slot *fs_judge_slot(unsigned number)
{
    return &slots[number];
}

void fs_judge_begin(void)
{
    fs_model_begin();
    sm_judge_begin();
}

void fs_judge_begin_life(void)
{
    memset(slots, 0, sizeof slots);
    fs_copies_begin_life();
    sm_judge_begin_life();
}

noreturn void fs_judge_fail(const struct fs_slot *slot, const struct reply *answer, const char *why)
{
    char asked[400];

    ask_format(slot->ask, asked, sizeof asked);
    world_fail("%s\n  asked:    %s\n  answered: %d %s status %08X etag %" PRIX64 " length %" PRIu64
               "\n  commits before %" PRIu64 ", its own %" PRIu64 ", after %" PRIu64 "\n  %.*s",
               why, asked, answer ? answer->status : 0, answer ? answer->code : "",
               answer ? answer->smb.status : 0, answer ? answer->etag : 0,
               answer ? answer->length : 0, slot->before, slot->commit, world->commits,
               answer && slot->ask->fs.op >= FS_LIST_RANGES ? (int)answer->body_size : 0,
               answer ? (const char *)answer->body : "");
}

/* ---- commits ---- */

void fs_judge_asked(unsigned slot, const struct ask *ask)
{
    slots[slot] = (struct fs_slot){ .ask = ask,
                                    .order = sm_watch_order(),
                                    .before = world->commits,
                                    .wall_steps = world->wall_steps };
    fs_seen_clear(slot);
    if (ask->smb.then_count > 0)
        sm_judge_asked(&slots[slot], slot);
}

bool fs_judge_has_committed(unsigned slot)
{
    return slots[slot].commit > 0 && slots[slot].ask && slots[slot].ask->smb.op == SM_NOTHING;
}

bool fs_may_pass_quota(const struct fs_slot *slot)
{
    const struct fs_state *state = fs_state_at(world->commits);

    while (fs_used_bytes(state) > (uint64_t)state->quota << 29 && state->since > slot->before &&
           state->older)
        state = state->older;
    return fs_used_bytes(state) <= (uint64_t)state->quota << 29;
}

/* Whether a permission that a crash may have taken is there, nobody knows. */
static bool is_doubtful(const struct fs_ask *ask)
{
    return fs_state_at(world->commits)->doubtful >> ask->permission & 1 &&
           (ask->op == FS_CREATE_PERMISSION || ask->op == FS_GET_PERMISSION);
}

/* What it has copied. */
static const struct fs_node *source_of(const struct fs_slot *slot, unsigned number)
{
    const struct fs_ask *ask = &slot->ask->fs;
    const struct fs_node *source = ask->is_remote
                                       ? fs_remote_source(ask)
                                       : fs_find_source(ask, fs_seen(number).read, slot->before);

    if (!source)
        fs_judge_fail(slot, NULL, "copies a version of its source that there was not");
    return source;
}

static const char *date_snapshot(uint64_t commit, instant date)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(date, text);
    return fs_date_snapshot(commit, text);
}

/* Then the commit is what it asks of them. Of what copies the source is looked at first. */
static bool waits_for_others(const struct fs_ask *ask, unsigned number)
{
    const struct fs_state *newest = fs_state_at(world->commits);
    struct fs_seen seen = fs_seen(number);
    /* Its source, which clients may have cached again since. */
    bool has_read = seen.written != 0 || seen.waits_to_write;

    if (fs_has_source(ask->op) && !has_read && fs_expect_source(ask, newest).waits) {
        const struct fs_passes passes = fs_passes();

        if (fs_asks_anything(newest, &passes))
            return true;
    }
    return fs_expect(ask, newest).waits;
}

static bool waits_in(const struct fs_slot *slot, const struct fs_state *state, bool has_waited)
{
    const struct fs_ask *ask = &slot->ask->fs;

    (void)has_waited; /* matters to opens over SMB only */
    return fs_expect(ask, state).waits ||
           (fs_has_source(ask->op) && fs_expect_source(ask, state).waits);
}

void fs_judge_ask_others(const struct fs_slot *slot, unsigned number)
{
    const struct fs_passes passes = fs_passes();
    uint64_t commit = ++world->commits;
    char asked[400];

    fs_ask_others(fs_next_state(commit), &passes, true);
    if (!world->plan.verbose)
        return;
    ask_format(slot->ask, asked, sizeof asked);
    world_say("%.6f commit %" PRIu64 " of client %u: asks others for what they cache: %s",
              (double)world->now_ns / 1e9, commit, number, asked);
}

void fs_judge_committed(unsigned slot_number)
{
    struct fs_slot *slot = &slots[slot_number];
    struct fs_ask ask = slot->ask ? slot->ask->fs : (struct fs_ask){ .op = FS_OPS };
    const struct fs_node *source = NULL;
    struct fs_expected expected;
    struct fs_passes passes;
    const char *why = NULL;

    if (!slot->ask) { /* a look at what is there after all have left */
        (void)fs_next_state(++world->commits);
        return;
    }
    if (slot->ask->smb.op != SM_NOTHING) {
        sm_judge_committed(slot, slot_number);
        return;
    }
    if (slot->commit > 0)
        return; /* clears away what its first commit left; nobody sees that */
    if (waits_for_others(&ask, slot_number)) {
        fs_judge_ask_others(slot, slot_number);
        return;
    }
    fs_judge_lateness(slot, waits_in, false);
    if (fs_has_source(ask.op))
        source = source_of(slot, slot_number);
    if (ask.op == FS_COPY_FILE)
        ask.length = source->length;
    expected = fs_expect(&ask, fs_state_at(world->commits));
    if (!expected.changes && !is_doubtful(&ask) &&
        !(expected.code && strcmp(expected.code, "ShareSizeLimitReached") == 0 &&
          fs_may_pass_quota(slot)))
        fs_judge_fail(slot, NULL,
                      expected.code ? expected.code : "commits what should change nothing");
    slot->commit = ++world->commits;
    slot->status = expected.code ? 0 : expected.status;
    passes = fs_passes();
    if (ask.op == FS_COPY_FILE)
        slot->copy = fs_copy_new(&ask, source, slot_number);
    fs_apply(&ask, slot->commit, source, slot->copy, &passes);
    sm_watches_see(slot->order);
    fs_copies_watch();
    if (fs_writes_node(ask.op))
        why = fs_fill(slot->commit, fs_seen(slot_number).written);
    if (ask.op == FS_SNAPSHOT_SHARE)
        why = date_snapshot(slot->commit, fs_seen(slot_number).snapshot);
    if (why)
        fs_judge_fail(slot, NULL, why);
    world_trace(slot->commit << 8 | ask.op);
    judge_say_commit(slot->ask, slot->commit, slot_number);
}

void fs_judge_committed_behind(void)
{
    if (!fs_away_committed())
        fs_copies_committed();
}

void fs_acknowledge(uint64_t commit)
{
    commits_acknowledge(commit);
}

/* Of the share that is there. */
static bool known_snapshot(struct fs_snapshot *ret_snapshot)
{
    const struct fs_state *state = fs_state_at(world->commits);
    const struct fs_state *kept = fs_next_snapshot(state, state->share, NULL);

    if (!kept)
        return false;
    ret_snapshot->commit = kept->made;
    memcpy(ret_snapshot->date, kept->date, FS_DATE_SIZE);
    return true;
}

/* What can be deleted of snapshots, so that the census shows whether all that they kept goes. */
void fs_judge_check_end(struct server *server)
{
    struct ask ask = { .op = OPS, .fs = { .op = FS_DELETE_SNAPSHOT } };
    struct reply answer;

    while ((!commits_are_divided() || fs_is_here()) && known_snapshot(&ask.fs.snapshot)) {
        fs_judge_asked(SLOTS_MAX - 1, &ask);
        if (!judge_ask_until_told(server, &ask, true, &answer))
            return;
        /* Asked again after the wall clock was set, it is gone already. */
        if (fs_judge_has_committed(SLOTS_MAX - 1) && answer.status == 404)
            fs_acknowledge(world->commits);
        else
            fs_judge_answered(SLOTS_MAX - 1, &answer, true);
        answer_release(&answer);
        fs_prune(world->commits);
    }
}

/* The lease that it has now, under the ETag that the file had. */
static const char *judge_lease(const struct fs_slot *slot, const struct reply *answer)
{
    const struct fs_ask *ask = &slot->ask->fs;
    const struct fs_state *state = fs_state_at(slot->commit);
    bool is_held = ask->act == ACT_ACQUIRE || ask->act == ACT_CHANGE;

    if (is_held && strcmp(answer->lease_id, lease_texts[ask->proposed]) != 0)
        return "another lease than was asked for";
    if (ask->op == FS_LEASE_SHARE || state->since != slot->commit)
        return NULL;
    return fs_may_have(&state->nodes[fs_find(state, &ask->path)], answer->etag);
}

static const char *judge_change(const struct fs_slot *slot, const struct reply *answer)
{
    const struct fs_ask *ask = &slot->ask->fs;
    const char *why = slot->copy ? fs_judge_copy(slot->copy, answer) : NULL;

    if (slot->status > 0 ? answer->status != slot->status : answer->status >= 300)
        return "another status than of this change";
    if (ask->op == FS_SNAPSHOT_SHARE)
        return strcmp(answer->snapshot, fs_snapshot_date(slot->commit)) == 0
                   ? NULL
                   : "another date than that of the snapshot";
    if (ask->op == FS_CREATE_PERMISSION)
        return fs_tell_key(ask->permission, answer->fs.permission_key);
    if (ask->op == FS_LEASE_FILE || ask->op == FS_LEASE_SHARE)
        return judge_lease(slot, answer);
    return why || ask->op == FS_ABORT_COPY || !fs_writes_node(ask->op)
               ? why
               : fs_fill(slot->commit, answer->etag);
}

static void judge_commit(const struct fs_slot *slot, const struct reply *answer)
{
    const char *why = judge_change(slot, answer);

    if (why)
        fs_judge_fail(slot, answer, why);
    fs_acknowledge(slot->commit);
}

/* ---- the answer of one that changed nothing ---- */

/* A read that fits a state tells the ETag of what it read there, and ids. */
static const char *learn(const struct fs_slot *slot, const struct reply *answer,
                         const struct fs_state *state)
{
    const struct fs_ask *ask = &slot->ask->fs;
    struct fs_expected expected = fs_expect(ask, state);
    const struct fs_node *node;
    const char *why;

    if (expected.code)
        return NULL;
    if (ask->op == FS_LIST_FILES)
        return fs_learn_files(ask, state, answer);
    if (ask->op == FS_LIST_SHARES)
        return fs_learn_shares(ask, state, answer);
    if (ask->op < FS_GET_FILE || ask->op > FS_LIST_RANGES || expected.node == FS_ROOT)
        return NULL;
    node = &fs_view(&ask->snapshot, state)->nodes[expected.node];
    why = fs_fill(node->version, answer->etag);
    if (!why && ask->op != FS_LIST_RANGES)
        why = fs_tell_id(node, answer->fs.file_id);
    return why || ask->op == FS_LIST_RANGES || node->permission == 0
               ? why
               : fs_tell_key(node->permission, answer->fs.permission_key);
}

/* Beside a state; of what copies, with its source in any state before it. */
static const char *compare_at(const struct fs_slot *slot, const struct reply *answer,
                              const struct fs_state *state)
{
    const struct fs_ask *ask = &slot->ask->fs;
    const char *first = NULL;

    if (slot->ask->smb.op != SM_NOTHING)
        return sm_compare(&slot->ask->smb, answer, state);
    if (!fs_has_source(ask->op))
        return fs_compare(ask, answer, state);
    for (const struct fs_state *source = state;; source = source->older) {
        const char *why = fs_compare_copy(ask, answer, source, state);

        if (!why)
            return NULL;
        first = first ? first : why;
        if (source->since <= slot->before || !source->older)
            return first;
    }
}

/* The oldest state that gave this answer, of those without a gap behind one that did: what it differs by from the
 * one before was seen. */
static const struct fs_state *first_shown(const struct fs_slot *slot, const struct reply *answer,
                                          const struct fs_state *state)
{
    while (state->older && !commits_is_acknowledged(state->since) &&
           !compare_at(slot, answer, state->older))
        state = state->older;
    return state;
}

void fs_judge_view(struct fs_slot *slot, const struct reply *answer, bool is_shown)
{
    const struct fs_state *state = fs_state_at(world->commits), *fitting = NULL;
    const char *first = NULL;
    unsigned fit = 0;

    for (;;) {
        const char *why = compare_at(slot, answer, state);

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
        fs_judge_fail(slot, answer, first);
    first = fit == 1 && slot->ask->smb.op == SM_NOTHING ? learn(slot, answer, fitting) : NULL;
    if (first)
        fs_judge_fail(slot, answer, first);
    /* What was shown by then is durable: of the oldest state that it may have been of. */
    fitting = first_shown(slot, answer, fitting);
    if (is_shown && fitting->older)
        fs_acknowledge(fitting->since);
}

static void judge_view(struct fs_slot *slot, const struct reply *answer)
{
    if (!judge_clock_may_refuse(slot->wall_steps, answer) && !is_doubtful(&slot->ask->fs))
        fs_judge_view(slot, answer, true);
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

void fs_judge_answered(unsigned slot_number, const struct reply *answer, bool may_fail)
{
    struct fs_slot *slot = &slots[slot_number];

    world->requests++;
    if (world->plan.verbose) {
        char asked[400];

        ask_format(slot->ask, asked, sizeof asked);
        world_say("%.6f client %u: %s -> %d %s %" PRIX64 " id %" PRIX64 " status %08X",
                  (double)world->now_ns / 1e9, slot_number, asked, answer->status, answer->code,
                  answer->etag, answer->fs.file_id, answer->smb.status);
    }
    world_trace((uint64_t)((unsigned)answer->status | answer->smb.status) << 16 ^ answer->etag ^
                slot->commit);
    if (slot->ask->smb.op != SM_NOTHING) {
        sm_judge_answered(slot, slot_number, answer, may_fail);
    } else if (answer->came) {
        world->checks++;
        if (judge_says_cannot(answer) && may_fail)
            world->refused++;
        else if (slot->commit > 0)
            judge_commit(slot, answer);
        else
            judge_view(slot, answer);
    }
    slot->ask = NULL;
    if (world->requests % 16 == 0) {
        sm_watches_see(0);
        fs_prune(oldest_under_way());
    }
}
