/* Versions of queues and messages, and the operations' rules.
 * rest: Queue-Service-REST-API; semantics 7; decision: 120, 121, 122, 123 */
#include "queue_model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "commits.h"
#include "engine.h"
#include "fleet_shared.h"
#include "moves.h"
#include "services.h"
#include "world.h"

static struct queue_model *model(void)
{
    return world->queues;
}

void queue_model_begin(void)
{
    world->queues = world_alloc(sizeof *world->queues);
    for (unsigned q = 0; q < QUEUES; q++)
        model()->queues[q] = world_alloc(sizeof *model()->queues[q]);
}

/* ---- versions ---- */

const struct sim_queue *queue_at(unsigned queue, uint64_t commit)
{
    const struct sim_queue *state = model()->queues[queue];

    while (state->since > commit && state->older)
        state = state->older;
    return state;
}

const struct message_state *message_at(const struct sim_message *message, uint64_t commit)
{
    const struct message_state *state = message->state;

    while (state && state->since > commit)
        state = state->older;
    return state;
}

struct sim_message *message_of(unsigned queue, const unsigned char *id)
{
    struct sim_message *message = model()->messages[queue];

    while (message && memcmp(message->id, id, MESSAGE_ID_SIZE) != 0)
        message = message->next;
    return message;
}

static void note_commit(uint64_t commit, struct commit_note note)
{
    if (commit >= model()->notes_max) {
        size_t more = model()->notes_max ? 2 * model()->notes_max : 1024;
        struct commit_note *notes = world_alloc(more * sizeof *notes);

        if (model()->notes)
            memcpy(notes, model()->notes, model()->notes_max * sizeof *notes);
        world_free(model()->notes, model()->notes_max * sizeof *notes);
        model()->notes = notes;
        model()->notes_max = more;
    }
    model()->notes[commit] = note;
}

uint64_t queue_changed_before(const struct ask *ask, uint64_t from, uint64_t to)
{
    while (to > from && ask->queue.op != QUEUE_LIST && model()->notes[to].queue != ask->container &&
           model()->notes[to].queue != QUEUES)
        to--;
    return to > from ? to : 0;
}

uint64_t queue_list_changed(unsigned queue, uint64_t from, uint64_t to)
{
    const struct sim_queue *state = queue_at(queue, to);

    return state->since > from ? state->since : 0;
}

unsigned queue_cell_of(unsigned queue)
{
    const struct sim_queue *state = model()->queues[queue];

    return state->exists ? moves_cell_of(queue, state->since) : 0;
}

bool queue_is_here(unsigned queue)
{
    return moves_are_here(queue, model()->queues[queue]->since);
}

uint64_t queue_commit_of(uint64_t sequence)
{
    uint64_t commit = commits_newest();

    while (commit > 0 && model()->notes[commit].sequence > sequence)
        commit = commits_previous(commit);
    return commit;
}

void queue_committed_move(void)
{
    note_commit(world->commits,
                (struct commit_note){ .queue = QUEUES,
                                      .sequence = engine_sequence(),
                                      .wall_known = queue_wall_known(commits_newest()) });
}

uint64_t queue_wall_known(uint64_t commit)
{
    return commit > 0 ? model()->notes[commit].wall_known : 0;
}

static void push(struct sim_message *message, struct shown *shown, uint64_t commit)
{
    struct message_state *state = world_alloc(sizeof *state);

    *state = shown->state;
    state->since = commit;
    state->version = ++model()->versions;
    state->older = message->state;
    message->state = state;
    shown->made = state;
}

void queue_apply(const struct ask *ask, struct queue_expected *expected, const unsigned char *id,
                 uint64_t inserted, struct commit_note note)
{
    uint64_t known = queue_wall_known(commits_newest()), commit = ++world->commits;

    if (note.wall_known < known)
        note.wall_known = known;
    note_commit(commit, note);
    if (expected->changes_queue) {
        struct sim_queue *queue = world_alloc(sizeof *queue);

        *queue = expected->queue;
        queue->since = commit;
        queue->older = model()->queues[ask->container];
        model()->queues[ask->container] = queue;
        if (ask->queue.op == QUEUE_CREATE || ask->queue.op == QUEUE_CLEAR)
            queue->incarnation = ++model()->incarnations;
    }
    for (unsigned i = 0; i < expected->count; i++) {
        struct shown *shown = &expected->shown[i];

        if (!shown->message) {
            shown->message = world_alloc(sizeof *shown->message);
            shown->message->next = model()->messages[ask->container];
            model()->messages[ask->container] = shown->message;
            shown->message->incarnation = expected->queue.incarnation;
            shown->message->inserted = inserted;
            shown->message->expires = expected->expires;
            memcpy(shown->message->id, id, MESSAGE_ID_SIZE);
        }
        push(shown->message, shown, commit);
    }
}

static void free_states(struct message_state *state)
{
    while (state) {
        struct message_state *older = state->older;

        world_free(state, sizeof *state);
        state = older;
    }
}

/* Returns the queue of the oldest messages that there are at the commit or later: a return to a saved state brings a
 * queue back. */
static const struct sim_queue *oldest_since(unsigned queue, uint64_t commit)
{
    const struct sim_queue *oldest = queue_at(queue, commit);

    for (const struct sim_queue *at = model()->queues[queue]; at && at->since > commit;
         at = at->older)
        oldest = at->incarnation < oldest->incarnation ? at : oldest;
    return oldest;
}

/* Whatever goes of the states goes by `drop`; a message without any goes too. */
static void each_message(unsigned queue, uint64_t commit,
                         void (*drop)(struct sim_message *message, uint64_t commit,
                                      const struct sim_queue *of))
{
    struct sim_message **link = &model()->messages[queue];

    while (*link) {
        struct sim_message *message = *link;

        drop(message, commit, oldest_since(queue, commit));
        if (message->state) {
            link = &message->next;
            continue;
        }
        *link = message->next;
        world_free(message, sizeof *message);
    }
}

/* Keeps the newest version that is not after the commit, and all after it; none of what is gone. */
static void prune_message(struct sim_message *message, uint64_t commit, const struct sim_queue *of)
{
    struct message_state *state = message->state;
    bool is_old = of->incarnation > message->incarnation;

    while (state->since > commit && state->older)
        state = state->older;
    free_states(state->older);
    state->older = NULL;
    if (state == message->state && state->since <= commit && (!state->exists || is_old)) {
        free_states(state);
        message->state = NULL;
    }
}

static void roll_back_message(struct sim_message *message, uint64_t commit,
                              const struct sim_queue *of)
{
    (void)of;
    while (message->state && commits_is_lost(message->state->since, commit))
        message->state = message->state->older;
}

void queue_prune(uint64_t oldest_commit)
{
    for (unsigned q = 0; q < QUEUES; q++) {
        struct sim_queue *state = model()->queues[q];

        each_message(q, oldest_commit, prune_message);
        while (state->since > oldest_commit && state->older)
            state = state->older;
        while (state->older) {
            struct sim_queue *old = state->older;

            state->older = old->older;
            world_free(old, sizeof *old);
        }
    }
}

void queue_roll_back(uint64_t commit)
{
    for (unsigned q = 0; q < QUEUES; q++) {
        while (commits_is_lost(model()->queues[q]->since, commit))
            model()->queues[q] = model()->queues[q]->older;
        each_message(q, commit, roll_back_message);
    }
}

static void return_message(struct sim_message *message, uint64_t older, uint64_t commit)
{
    const struct message_state *at = message_at(message, older);
    struct message_state *made;

    if (at == message->state)
        return;
    made = world_alloc(sizeof *made);
    if (at)
        *made = *at;
    made->since = commit;
    made->older = message->state;
    message->state = made;
}

void queue_return_to(uint64_t older, uint64_t commit, unsigned name)
{
    struct commit_note note = { .queue = name == ALL_NAMES ? QUEUES : name,
                                .sequence = engine_sequence(),
                                .wall_known = queue_wall_known(commit - 1) };

    note_commit(commit, note);
    for (unsigned q = 0; q < QUEUES; q++) {
        const struct sim_queue *at = queue_at(q, older);
        struct sim_queue *made;

        if (name != ALL_NAMES && q != name)
            continue;
        for (struct sim_message *message = model()->messages[q]; message; message = message->next)
            return_message(message, older, commit);
        made = world_alloc(sizeof *made);
        *made = *at;
        made->since = commit;
        made->older = model()->queues[q];
        model()->queues[q] = made;
    }
}

/* ---- rules ---- */

const char *const queue_letters[SAS_LETTERS] = { "", "r", "ra", "a", "raup", "pu", "p", "u" };

struct run {
    const struct ask *ask;
    const struct queue_ask *asked;
    uint64_t commit, now;
    struct queue_expected *out;
};

static void refuse(struct run *run, int status, const char *code)
{
    run->out->status = status;
    run->out->code = code;
    run->out->commits = run->out->may_commit = run->out->changes_queue = false;
    run->out->count = 0;
}

static void succeed(struct run *run, int status, bool commits)
{
    run->out->status = status;
    run->out->commits = commits;
}

static uint64_t after(const struct run *run, int seconds)
{
    return run->now + (uint64_t)seconds * INSTANTS_A_SECOND;
}

/* rest: Create-service-SAS "Permissions for a queue"; NULL: not with one of a queue. */
static const char *letter_of(enum queue_op op)
{
    static const char *const letters[QUEUE_OPS] = {
        [QUEUE_GET_METADATA] = "r", [QUEUE_PUT] = "a",    [QUEUE_GET] = "p",
        [QUEUE_PEEK] = "r",         [QUEUE_UPDATE] = "u", [QUEUE_DELETE_MESSAGE] = "p",
    };

    return letters[op];
}

static bool check_signature(struct run *run)
{
    const struct ask *ask = run->ask;
    const char *letter = letter_of(run->asked->op);

    switch (ask->signature) {
    case SIGNED:
        return true;
    case UNSIGNED:
        refuse(run, 401, "NoAuthenticationInformation");
        return false;
    case SIGNED_WRONGLY:
    case SIGNED_LONG_AGO:
        refuse(run, 403, "AuthenticationFailed");
        return false;
    case SIGNED_BY_SAS:
    case SIGNED_BY_POLICY:
        break;
    case SIGNED_BY_USER:
    case SIGNED_BY_ACCOUNT_SAS:
        assert(!"not drawn for queues");
    }
    if (!letter)
        refuse(run, 403, "AuthorizationFailure");
    else if (ask->signature == SIGNED_BY_SAS && !strstr(queue_letters[ask->sas], letter))
        refuse(run, 403, "AuthorizationPermissionMismatch");
    else if (ask->terms.letters > 0 && !strstr(queue_letters[ask->terms.letters], letter))
        refuse(run, 403, "AuthorizationPermissionMismatch");
    else
        return true;
    return false;
}

/* What is wrong in itself, before the state is looked at. */
static bool check_form(struct run *run)
{
    const struct queue_ask *asked = run->asked;
    int ttl_s = asked->ttl_s == NOT_SENT ? WEEK_S : asked->ttl_s;

    if (!check_signature(run))
        return false;
    if (asked->malformed && !asked->malformed->body)
        refuse(run, asked->malformed->status, asked->malformed->code);
    else if (asked->op == QUEUE_PUT && asked->visibility_s != NOT_SENT && ttl_s > 0 &&
             asked->visibility_s >= ttl_s)
        refuse(run, 400, "InvalidQueryParameterValue");
    else
        return true;
    return false;
}

static bool check_policy(struct run *run, const unsigned *policies)
{
    const char *letter = letter_of(run->asked->op);
    /* A policy says letters, and never beside the signature. decision: 70 */
    unsigned letters = run->ask->terms.letters > 0 ? 0 : policies[run->ask->sas % POLICIES];

    if (run->ask->signature != SIGNED_BY_POLICY)
        return true;
    if (run->out->queue.exists && letters && strstr(queue_letters[letters], letter))
        return true;
    refuse(run, 403,
           run->out->queue.exists && letters ? "AuthorizationPermissionMismatch"
                                             : "AuthenticationFailed");
    return false;
}

/* ---- messages ---- */

static int compare_shown(const void *left, const void *right)
{
    const struct shown *a = left, *b = right;

    if (a->state.visible != b->state.visible)
        return a->state.visible < b->state.visible ? -1 : 1;
    return a->message->inserted < b->message->inserted ? -1 : 1;
}

/* Those that are visible, in the order of visibility, then of insertion; and how many there are. */
static unsigned find_visible(struct run *run, struct shown **ret_all)
{
    static struct shown *all OF_PROCESS;
    static unsigned room OF_PROCESS;
    unsigned count = 0;

    for (struct sim_message *m = model()->messages[run->ask->container]; m; m = m->next) {
        const struct message_state *state = message_at(m, run->commit);

        if (!state || !state->exists || m->incarnation != run->out->queue.incarnation)
            continue;
        run->out->count_most++;
        run->out->count_least += m->expires > run->now;
        if (m->expires <= run->now || state->visible > run->now)
            continue;
        if (count == room)
            all = realloc(all, (room = room ? 2 * room : 256) * sizeof *all);
        all[count++] = (struct shown){ .message = m, .state = *state };
    }
    if (count > 1)
        qsort(all, count, sizeof *all, compare_shown);
    *ret_all = all;
    return count;
}

static void show(struct run *run)
{
    const struct queue_ask *asked = run->asked;
    unsigned wanted = asked->count ? asked->count : 1;
    struct shown *all;
    unsigned count = find_visible(run, &all);

    run->out->count = count < wanted ? count : wanted;
    if (run->out->count > 0)
        memcpy(run->out->shown, all, run->out->count * sizeof *all);
    succeed(run, 200, asked->op == QUEUE_GET && run->out->count > 0);
    if (asked->op != QUEUE_GET)
        return;
    run->out->may_commit = true; /* it may clear away what has expired, or note where it begins */
    for (unsigned i = 0; i < run->out->count; i++) {
        struct message_state *state = &run->out->shown[i].state;

        state->visible = after(run, asked->visibility_s == NOT_SENT ? 30 : asked->visibility_s);
        state->dequeued++;
    }
}

static void put(struct run *run)
{
    const struct queue_ask *asked = run->asked;
    int ttl_s = asked->ttl_s == NOT_SENT ? WEEK_S : asked->ttl_s;

    run->out->expires = ttl_s == NEVER_EXPIRES ? NEVER : after(run, ttl_s);
    run->out->count = 1;
    run->out->shown[0] = (struct shown){
        .state = { .exists = true,
                   .visible = after(run, asked->visibility_s == NOT_SENT ? 0 : asked->visibility_s),
                   .text = asked->text,
                   .text_length = asked->text_length },
    };
    succeed(run, 201, true);
}

/* By its id, with the receipt of its last change. */
static void change(struct run *run)
{
    const struct queue_ask *asked = run->asked;
    struct sim_message *message =
        asked->id_is_odd ? NULL : message_of(run->ask->container, asked->id);
    const struct message_state *state = message ? message_at(message, run->commit) : NULL;
    struct shown *shown = &run->out->shown[0];

    if (asked->receipt_is_odd) {
        refuse(run, 400, "InvalidQueryParameterValue");
        return;
    }
    if (!state || !state->exists || message->incarnation != run->out->queue.incarnation ||
        message->expires <= run->now || state->version != asked->version) {
        refuse(run, 404, "MessageNotFound");
        return;
    }
    *shown = (struct shown){ .message = message, .state = *state };
    run->out->count = 1;
    succeed(run, 204, true);
    if (asked->op == QUEUE_DELETE_MESSAGE) {
        shown->state.exists = false;
        return;
    }
    shown->state.visible = after(run, asked->visibility_s);
    if (asked->has_text) {
        shown->state.text = asked->text;
        shown->state.text_length = asked->text_length;
    }
}

/* ---- queues ---- */

static void create(struct run *run)
{
    struct sim_queue *queue = &run->out->queue;

    if (queue->exists) {
        if (queue->metadata == run->ask->metadata)
            succeed(run, 204, false);
        else
            refuse(run, 409, "QueueAlreadyExists");
        return;
    }
    *queue = (struct sim_queue){ .exists = true, .metadata = run->ask->metadata };
    run->out->changes_queue = true;
    succeed(run, 201, true);
}

static void change_queue(struct run *run)
{
    struct sim_queue *queue = &run->out->queue;

    run->out->changes_queue = true;
    succeed(run, 204, true);
    if (run->asked->op == QUEUE_DELETE)
        *queue = (struct sim_queue){ .incarnation = queue->incarnation };
    else if (run->asked->op == QUEUE_SET_METADATA)
        queue->metadata = run->ask->metadata;
    else if (run->asked->op == QUEUE_SET_ACL)
        memcpy(queue->policies, run->ask->queue.policies, sizeof queue->policies);
}

static void perform(struct run *run)
{
    struct shown *all;

    switch (run->asked->op) {
    case QUEUE_GET_METADATA:
        find_visible(run, &all);
        succeed(run, 200, false);
        break;
    case QUEUE_GET_ACL:
        succeed(run, 200, false);
        break;
    case QUEUE_PUT:
        put(run);
        break;
    case QUEUE_GET:
    case QUEUE_PEEK:
        show(run);
        break;
    case QUEUE_UPDATE:
    case QUEUE_DELETE_MESSAGE:
        change(run);
        break;
    case QUEUE_LIST:
    case QUEUE_CREATE:
    case QUEUE_DELETE:
    case QUEUE_SET_METADATA:
    case QUEUE_SET_ACL:
    case QUEUE_CLEAR:
    case QUEUE_OPS:
        change_queue(run);
        break;
    }
}

void queue_expect(const struct ask *ask, uint64_t commit, const unsigned *policies, uint64_t now,
                  struct queue_expected *ret_expected)
{
    struct run run = {
        .ask = ask, .asked = &ask->queue, .commit = commit, .now = now, .out = ret_expected
    };

    *ret_expected = (struct queue_expected){ .queue = *queue_at(ask->container, commit) };
    if (!check_form(&run))
        return;
    if (run.asked->op == QUEUE_LIST) {
        succeed(&run, 200, false);
        return;
    }
    if (run.asked->op == QUEUE_CREATE) {
        create(&run);
        return;
    }
    if (!ret_expected->queue.exists && ask->signature != SIGNED_BY_POLICY) {
        refuse(&run, 404, "QueueNotFound");
        return;
    }
    if (!check_policy(&run, policies ? policies : ret_expected->queue.policies))
        return;
    if (run.asked->malformed)
        refuse(&run, run.asked->malformed->status, run.asked->malformed->code);
    else
        perform(&run);
}

/* ---- texts ---- */

char queue_text_char(uint64_t seed, uint32_t at)
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyz0123456789&<>\"' ";

    return all[(world_mix(seed + at / 8) >> at % 8 * 8 & 0xFF) % (sizeof all - 1)];
}
