/* See sm_judge.h. */
#include "sm_judge.h"

#include <inttypes.h>
#include <string.h>

#include "commits.h"
#include "fs_late.h"
#include "fs_opens.h"
#include "judge.h"
#include "sm_lies.h"
#include "sm_link.h"
#include "sm_model.h"
#include "sm_plain.h"
#include "sm_request.h"
#include "sm_script.h"
#include "sm_seen.h"
#include "sm_watch.h"
#include "world.h"

#define GRANT_MAX_NS UINT64_C(1000000000)

void sm_judge_begin(void)
{
    sm_plain_begin();
    sm_script_begin();
}

void sm_judge_begin_life(void)
{
    sm_script_begin_life();
    sm_watches_begin_life();
}

/* ---- commits ---- */

/* An open rests on the file alone: the path may have led to it a moment ago. The file that it was is known by the
 * server's id, once that was told. Where no handle was made it asks others, and waits. */
static struct sm_expected expect_open(const struct fs_slot *slot, const struct sm_ask *ask,
                                      const struct sm_seen *seen)
{
    const struct fs_state *newest = fs_state_at(world->commits), *state = newest;
    struct sm_expected expected;

    if (seen->action == SM_CREATED) /* it rests on the names of the directory, too */
        return sm_expect(ask, newest, seen->has_waited);
    for (;; state = state->older) {
        unsigned at = fs_find(state, &ask->path);
        const struct fs_node *node = at < FS_NODES ? fs_node_of(newest, state->nodes[at].id) : NULL;

        if (node && (node->file_id == 0 || node->file_id == seen->node)) {
            expected =
                sm_expect_at(ask, newest, (unsigned)(node - newest->nodes), seen->has_waited);
            if (expected.waits || (expected.changes && seen->handle != 0))
                return expected;
        }
        if (state->since <= slot->before || !state->older)
            return sm_expect(ask, newest, seen->has_waited);
    }
}

/* The handles that a rename of a directory looks at are those that there were when it began. */
static bool was_closed_below(const struct fs_slot *slot, uint64_t directory)
{
    const struct fs_state *state = fs_state_at(world->commits);

    while (sm_is_open_below(state, directory)) {
        if (state->since <= slot->before || !state->older)
            return false;
        state = state->older;
    }
    return true;
}

/* ---- several in one frame: each is a request of its own ---- */

static struct sm_frame {
    struct ask asks[SM_PARTS];
    struct fs_slot slots[SM_PARTS];
} frames[CLIENTS_MAX];

void sm_judge_asked(const struct fs_slot *slot, unsigned number)
{
    static const struct sm_handle none = { .open = 0 };
    struct sm_frame *frame = &frames[number];

    for (unsigned i = 0; i <= slot->ask->smb.then_count; i++) {
        frame->asks[i] = *slot->ask;
        frame->asks[i].smb = sm_part(&slot->ask->smb, i, &none);
        frame->slots[i] = *slot;
        frame->slots[i].ask = &frame->asks[i];
        frame->slots[i].is_later_part = i > 0;
    }
}

/* By the handle that the open has made. */
static struct fs_slot *part_of(struct fs_slot *slot, unsigned number, unsigned part)
{
    struct sm_frame *frame = &frames[number];

    if (slot->ask->smb.then_count == 0)
        return slot;
    if (part > 0)
        frame->asks[part].smb.handle.open = frame->slots[0].open;
    return &frame->slots[part];
}

/* The version that the commit has made of the file, by what the server has decided. */
static const char *tell(const struct sm_seen *seen, uint64_t commit, bool writes, uint64_t node_id)
{
    const struct fs_node *node = fs_node_of(fs_state_at(commit), node_id);
    const char *why = writes ? fs_fill(commit, seen->etag) : NULL;

    if (!why && node && seen->node != 0)
        why = fs_tell_id(node, seen->node);
    return why;
}

/* A close changes the file where it has written twice and more than two seconds apart, which shows in the times; the
 * ETag says whether it has. decision: 357 */
static bool writes_by_close(const struct fs_node *node, const struct sm_seen *seen)
{
    return node->etag != 0 && node->etag != seen->etag;
}

static bool writes(const struct sm_ask *ask, const struct sm_expected *expected,
                   const struct fs_state *state, const struct sm_seen *seen)
{
    switch ((int)ask->op) {
    case SM_RETURN:
        return false;
    case SM_OPEN:
        return expected->action != SM_OPENED;
    case SM_CLOSE:
        return writes_by_close(&state->nodes[expected->node], seen);
    case SM_WRITE:
    case SM_SET_LENGTH:
    case SM_RENAME:
        return true;
    default:
        return false;
    }
}

static uint64_t apply(const struct sm_ask *ask, const struct sm_expected *expected,
                      const struct sm_seen *seen)
{
    const struct fs_state *state = fs_state_at(world->commits);
    bool is_written = writes(ask, expected, state, seen);
    uint64_t commit = ++world->commits;
    uint64_t open = sm_apply(ask, expected, commit, seen, is_written && ask->op != SM_OPEN);
    uint64_t node = expected->node < FS_NODES ? state->nodes[expected->node].id : 0;
    const char *why;

    if (open > 0)
        node = fs_open_of(fs_state_at(commit), open)->node;
    why = tell(seen, commit, is_written, node);
    if (why) {
        char asked[300];

        sm_ask_format(ask, asked, sizeof asked);
        world_fail("%s: ETag %" PRIX64 ", id %" PRIX64 ", commit %" PRIu64 " of client %u: %s", why,
                   seen->etag, seen->node, commit, seen->client, asked);
    }
    return open;
}

static bool waits_in(const struct fs_slot *slot, const struct fs_state *state, bool has_waited)
{
    const struct sm_expected expected = sm_expect(&slot->ask->smb, state, has_waited);

    /* An open that fills the file does not wake a waiting open, which is refused once its break is acknowledged. */
    return expected.waits || expected.status == SM_NO_RESOURCES;
}

/* That of a client's request. */
static void committed(struct fs_slot *slot, unsigned number, const struct sm_seen *seen)
{
    const struct sm_ask *ask = &slot->ask->smb;
    const struct fs_node *node = fs_opened_node(fs_state_at(world->commits), ask->handle.open);
    struct sm_expected expected;

    fs_judge_lateness(slot, waits_in,
                      seen->has_waited); /* before what is expected, which remembers what passes */
    expected = ask->op == SM_OPEN ? expect_open(slot, ask, seen)
                                  : sm_expect(ask, fs_state_at(world->commits), seen->has_waited);

    if (slot->commit > 0)
        fs_judge_fail(slot, NULL, "a second commit of an SMB request");
    if (expected.waits) {
        fs_judge_ask_others(slot, number);
        return;
    }
    if (expected.status == SM_DISK_FULL && fs_may_pass_quota(slot))
        expected =
            (struct sm_expected){ .changes = true,
                                  .node = (unsigned)(node - fs_state_at(world->commits)->nodes) };
    if (expected.is_by_below && was_closed_below(slot, node->id))
        expected =
            (struct sm_expected){ .changes = true,
                                  .node = (unsigned)(node - fs_state_at(world->commits)->nodes) };
    if (!expected.changes)
        fs_judge_fail(slot, NULL, "commits what should change nothing");
    slot->action = expected.action;
    slot->open = apply(ask, &expected, seen);
    slot->commit = world->commits;
    sm_watches_see(slot->order);
    slot->granted = slot->open > 0 ? fs_open_of(fs_state_at(slot->commit), slot->open)->holds : 0;
    slot->has_deleted =
        ask->op == SM_CLOSE && node && !fs_node_of(fs_state_at(slot->commit), node->id);
    world_trace(slot->commit << 8 | (200u + slot->ask->smb.op));
    judge_say_commit(slot->ask, slot->commit, number);
}

void sm_judge_committed(struct fs_slot *all, unsigned number)
{
    struct sm_seen seen = sm_seen(number);

    if (sm_is_lying(number))
        world_fail("what client %u lied about is committed", number);

    committed(part_of(all, number, sm_link_part_of(number, seen.message_id)), number, &seen);
}

/* What has come by a channel is what the client asks. */
static void open_by_channel(const struct sm_seen *seen)
{
    struct fs_slot *slot = fs_judge_slot(seen->client);

    if (!slot->ask || slot->ask->smb.op != SM_OPEN || !slot->ask->smb.replays)
        world_fail("an open of client %u is committed after it was answered", seen->client);
    committed(slot, seen->client, seen);
}

/* A client's answer to a break, or the server's own in its place. */
static void answer_break(const struct sm_seen *seen)
{
    struct fs_state *state = fs_next_state(world->commits + 1);
    const struct fs_open *open = fs_open_of_client(state, seen->client, seen->volatile_id);
    unsigned keeps = 0;

    if (seen->own == SM_OWN_ANSWER)
        open = sm_link_answer(seen->client, seen->message_id, state, &keeps);
    if (!open || !fs_acknowledge_break(fs_open_in(state, open->id), keeps))
        world_fail("an answer to a break is taken that client %u was not asked for", seen->client);
    world->commits++;
    if (world->plan.verbose)
        world_say("%.6f commit %" PRIu64 " of client %u: %s a break of open %" PRIu64 ", keeps %u",
                  (double)world->now_ns / 1e9, world->commits, seen->client,
                  seen->own == SM_OWN_ANSWER ? "answers" : "is too late for", open->id, keeps);
}

/* The handle of a lost connection is kept. */
static bool leaves(uint64_t id, unsigned client)
{
    struct fs_state *state = fs_next_state(world->commits + 1);

    if (!sm_leave(state, id)) {
        fs_drop_newest();
        return false;
    }
    world->commits++;
    if (world->plan.verbose)
        world_say("%.6f commit %" PRIu64 " of the server: keeps open %" PRIu64 " of client %u",
                  (double)world->now_ns / 1e9, world->commits, id, client);
    return true;
}

void sm_judge_own_committed(unsigned number)
{
    const struct sm_seen seen = sm_seen_own(number);
    const struct fs_state *state = fs_state_at(world->commits);
    const struct fs_open *open = fs_open_of_client(state, seen.client, seen.volatile_id);
    struct sm_ask ask = { .op = SM_CLOSE };
    struct sm_expected expected;

    if (seen.own == SM_OWN_ANSWER || seen.own == SM_OWN_OVERDUE) {
        answer_break(&seen);
        return;
    }
    if (seen.own == SM_OWN_OPEN) {
        open_by_channel(&seen);
        return;
    }
    if (seen.own == SM_OWN_LEAVE && open && leaves(open->id, seen.client))
        return;
    if ((seen.own != SM_OWN_CLOSE && seen.own != SM_OWN_LEAVE) || !open)
        world_fail("the server commits for itself what nobody knows, of an open of client %u",
                   seen.client);
    ask.handle.open = open->id;
    expected = sm_expect(&ask, state, false);
    apply(&ask, &expected, &seen);
    if (world->plan.verbose)
        world_say("%.6f commit %" PRIu64 " of the server: closes open %" PRIu64 " of client %u",
                  (double)world->now_ns / 1e9, world->commits, ask.handle.open, seen.client);
}

/* ---- answers ---- */

static bool says_cannot(uint32_t status)
{
    return status == SM_IO_ERROR || status == SM_NO_RESOURCES || status == SM_NO_SERVER_RESOURCE ||
           status == SM_DATA_ERROR || status == SM_IO_TIMEOUT || status == SM_DISK_FULL;
}

/* In the same frame. */
static bool has_written_before(const struct fs_slot *slot, unsigned number)
{
    const struct sm_frame *frame = &frames[number];
    bool has_written = false;

    for (unsigned i = 0; i < SM_PARTS; i++) {
        const struct fs_slot *at = &frame->slots[i];

        if (at == slot)
            return has_written;
        has_written = has_written || (at->ask && at->ask->smb.op == SM_WRITE && at->commit > 0);
    }
    return false;
}

/* Then a crash must leave it. */
static bool persists(uint64_t id)
{
    const struct fs_open *open = fs_open_of(fs_state_at(world->commits), id);

    return open && open->persists;
}

/* Is the commit durable when it is answered? */
static bool is_lasting(const struct fs_slot *slot, unsigned number)
{
    const struct sm_ask *ask = &slot->ask->smb;

    switch ((int)ask->op) {
    case SM_RETURN:
        return false;
    case SM_OPEN:
        return slot->action != SM_OPENED || persists(slot->open);
    case SM_WRITE:
        return ask->write_through;
    case SM_CLOSE:
        return sm_script_has_written(number, ask->handle.open) || slot->has_deleted ||
               has_written_before(slot, number);
    case SM_LOCK:
        return persists(ask->handle.open);
    case SM_UNLOCK:
    case SM_SET_DELETE:
        return false;
    default:
        return true;
    }
}

/* Whoever asks once more is told what it caches by then. */
static bool may_be_given(const struct fs_slot *slot, unsigned caching)
{
    const struct fs_state *state = fs_state_at(world->commits);

    if (caching == slot->granted)
        return true;
    for (; slot->ask->smb.replays && state->since > slot->commit; state = state->older) {
        const struct fs_open *open = fs_open_of(state, slot->open);

        if (open && open->holds == caching)
            return true;
    }
    return false;
}

static void judge_commit(const struct fs_slot *slot, unsigned number, const struct reply *answer)
{
    const struct sm_ask *ask = &slot->ask->smb;

    if (answer->smb.status != SM_SUCCESS)
        fs_judge_fail(slot, answer, "an error of what was committed");
    if (ask->op == SM_OPEN && answer->smb.action != slot->action)
        fs_judge_fail(slot, answer, "another action of an open");
    if ((ask->op == SM_OPEN || ask->op == SM_RETURN) && !may_be_given(slot, answer->smb.caching))
        fs_judge_fail(slot, answer, "another caching was given than may be");
    if (is_lasting(slot, number))
        fs_acknowledge(slot->commit);
    else if (ask->op == SM_WRITE)
        sm_plain_note(slot->commit);
}

/* All that was written to the file before the flush began. */
static void acknowledge_flushed(const struct fs_slot *slot)
{
    const struct fs_state *state = fs_state_at(slot->before);
    const struct fs_node *node = fs_opened_node(state, slot->ask->smb.handle.open);

    if (node)
        fs_acknowledge(node->version);
}

/* A lock that waits is granted soon after it could be. */
static void judge_wait(const struct fs_slot *slot, const struct reply *answer)
{
    const struct fs_state *state = fs_state_at(world->commits);
    uint64_t until_ns = answer->ended_ns;

    if (answer->smb.status != SM_CANCELLED || (world->plan.faults & FAULTS_OF_TIME))
        return;
    for (; state; state = state->older) {
        if (sm_expect(&slot->ask->smb, state, false).status == SM_CANCELLED)
            return;
        if (state->at_ns + GRANT_MAX_NS < until_ns)
            fs_judge_fail(slot, answer, "a lock that could be granted for a second was not");
    }
}

/* Refused by what the handle is, which is no look at the file: a handle that does not outlive a crash need not be durable
 * when it is told. */
static bool is_by_handle_alone(const struct fs_slot *slot, const struct reply *answer)
{
    const struct fs_state *state = fs_state_at(world->commits);

    if (answer->smb.status == SM_CANNOT_DELETE) /* the root is never deleted */
        return fs_opened_node(state, slot->ask->smb.handle.open) == &state->nodes[FS_ROOT];
    return answer->smb.status == SM_ACCESS_DENIED || answer->smb.status == SM_FILE_CLOSED;
}

/* A rename looks at the path of its new name first: where it leads nowhere, nobody has looked at the handle. */
static bool is_by_path_alone(const struct fs_slot *slot, const struct reply *answer)
{
    return slot->ask->smb.op == SM_RENAME && answer->smb.status == SM_PATH_NOT_FOUND;
}

/* The oldest state that may have shown it, as fs_judge_view() has it of a whole answer. */
static void acknowledge_path(const struct fs_slot *slot)
{
    const struct fs_path *path = &slot->ask->smb.path;
    const struct fs_state *fitting = NULL;

    for (const struct fs_state *state = fs_state_at(world->commits); state; state = state->older) {
        bool fits = fs_find_parent(state, path) == FS_NODES;

        if (fits)
            fitting = state;
        if (state->since <= slot->before && (!fits || state->since <= commits_acknowledged()))
            break;
    }
    if (fitting && fitting->older)
        fs_acknowledge(fitting->since);
}

static void judge_view(struct fs_slot *slot, const struct reply *answer)
{
    enum sm_op op = slot->ask->smb.op;
    bool by_path = is_by_path_alone(slot, answer);
    bool is_shown = op != SM_WRITE && op != SM_LOCK && op != SM_UNLOCK && op != SM_NOTIFY &&
                    !by_path && !is_by_handle_alone(slot, answer);

    judge_wait(slot, answer);
    fs_judge_view(slot, answer, is_shown);
    if (by_path)
        acknowledge_path(slot);
    if (slot->ask->smb.op == SM_FLUSH && answer->smb.status == SM_SUCCESS)
        acknowledge_flushed(slot);
}

/* It has no connection. */
static void judge_cut(const struct fs_slot *slot, const struct reply *answer, bool may_fail)
{
    uint32_t status = answer->smb.status;

    if (status == SM_BAD_NETWORK_NAME && !fs_state_at(slot->before)->exists)
        return;
    if (!may_fail)
        fs_judge_fail(slot, answer, "an SMB client is cut off");
}

static void judge_one(struct fs_slot *slot, unsigned number, const struct reply *answer,
                      bool may_fail)
{
    world->checks++;
    if (says_cannot(answer->smb.status) && may_fail)
        world->refused++;
    else if (slot->commit > 0)
        judge_commit(slot, number, answer);
    else
        judge_view(slot, answer);
}

/* What is asked by an open that has failed fails as it did. */
static void judge_all(struct fs_slot *slot, unsigned number, const struct reply *answer,
                      bool may_fail)
{
    for (unsigned i = 0; i <= slot->ask->smb.then_count; i++) {
        struct reply of = *answer;

        of.smb.status = slot->ask->smb.then_count > 0 ? answer->smb.statuses[i] : of.smb.status;
        if (i == 0 || answer->smb.statuses[0] == SM_SUCCESS)
            judge_one(part_of(slot, number, i), number, &of, may_fail);
        else if (of.smb.status != answer->smb.statuses[0] && !may_fail)
            fs_judge_fail(slot, &of, "another status than that of the open before it");
    }
}

void sm_judge_answered(struct fs_slot *slot, unsigned number, const struct reply *answer,
                       bool may_fail)
{
    sm_plain_lives();
    if (!answer->came) {
        judge_cut(slot, answer, may_fail);
    } else if (slot->ask->smb.op != SM_HANG_UP && slot->ask->smb.op != SM_LISTEN &&
               slot->ask->smb.op != SM_STOP) {
        judge_all(slot, number, answer, may_fail);
    }
    sm_script_answered(number, &slot->ask->smb, answer, part_of(slot, number, 0)->open);
}
