/* Versions of states, and the operations' rules. */
#include "model.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "commits.h"
#include "moves.h"
#include "origins.h"
#include "malformed.h"
#include "model_private.h"
#include "services.h"
#include "sim_limits.h"
#include "times.h"
#include "world.h"

/* ---- versions ---- */

static struct model *model(void)
{
    return world->model;
}

static unsigned new_space(void)
{
    if (model()->spaces == SPACES)
        world_fail("the model is too small for so many containers");
    for (unsigned b = 0; b < BLOBS; b++)
        model()->blobs[model()->spaces][b] = world_alloc(sizeof(struct blob_state));
    return model()->spaces++;
}

bool model_has_spaces(unsigned count)
{
    return model()->spaces + count <= SPACES;
}

void model_begin(void)
{
    world->model = world_alloc(sizeof *world->model);
    for (unsigned c = 0; c < CONTAINERS; c++) {
        model()->containers[c] = world_alloc(sizeof *model()->containers[c]);
        model()->containers[c]->space = new_space();
    }
}

const struct container_state *model_container_at(unsigned container, uint64_t commit)
{
    const struct container_state *state = model()->containers[container];

    while (state->since > commit && state->older)
        state = state->older;
    return state;
}

const struct blob_state *model_blob_at(unsigned container, unsigned blob, uint64_t commit)
{
    return model_blob_in(model_container_at(container, commit)->space, blob, commit);
}

const struct blob_state *model_blob_in(unsigned space, unsigned blob, uint64_t commit)
{
    const struct blob_state *state = model()->blobs[space][blob];

    while (state->since > commit && state->older)
        state = state->older;
    return state;
}

uint64_t model_changed_before(const struct ask *ask, uint64_t from, uint64_t to)
{
    uint64_t c = model_container_at(ask->container, to)->since;
    uint64_t b = model_blob_at(ask->container, ask->blob, to)->since;
    uint64_t newest = c > b ? c : b;

    if (ask->op == OP_GET_SERVICE)
        newest = origins_changed_before(from, to);
    return newest > from ? newest : 0;
}

static void apply_to_blob(unsigned space, unsigned number, const struct blob_state *state,
                          uint64_t commit)
{
    struct blob_state *blob = world_alloc(sizeof *blob);

    *blob = *state;
    blob->since = commit;
    blob->older = model()->blobs[space][number];
    model()->blobs[space][number] = blob;
    rule_forget_expired(blob, kept_latest());
}

/* Returns whether the write found its container before the deletion and commits into the retained one. decision: 811 */
static bool is_late(const struct ask *ask, const struct expected *expected)
{
    return kept_has_containers() && ask->op >= OP_PUT_BLOB &&
           expected->container.incarnation != model()->containers[ask->container]->incarnation;
}

void model_apply(const struct ask *ask, const struct expected *expected, uint64_t commit)
{
    struct container_state *container = world_alloc(sizeof *container);

    *container =
        is_late(ask, expected) ? *model()->containers[ask->container] : expected->container;
    container->since = commit;
    container->older = model()->containers[ask->container];
    model()->containers[ask->container] = container;
    if (ask->op >= OP_PUT_BLOB)
        apply_to_blob(expected->container.space, ask->blob, &expected->blob, commit);
    if (ask->op == OP_SET_SERVICE) {
        origins_apply(ask->origin, commit);
        kept_apply(ask, commit);
    }
}

/* Keeps the newest version that is not after the commit, and all after it. */
static void prune_blob(struct blob_state *blob, uint64_t oldest_commit)
{
    while (blob->since > oldest_commit && blob->older)
        blob = blob->older;
    while (blob->older) {
        struct blob_state *old = blob->older;

        blob->older = old->older;
        world_free(old, sizeof *old);
    }
}

void model_prune(uint64_t oldest_commit)
{
    for (unsigned c = 0; c < CONTAINERS; c++) {
        struct container_state *container = model()->containers[c];

        while (container->since > oldest_commit && container->older)
            container = container->older;
        while (container->older) {
            struct container_state *old = container->older;

            container->older = old->older;
            world_free(old, sizeof *old);
        }
    }
    for (unsigned space = 0; space < model()->spaces; space++)
        for (unsigned b = 0; b < BLOBS; b++)
            prune_blob(model()->blobs[space][b], oldest_commit);
}

void model_widen(uint64_t commit, uint64_t other)
{
    for (unsigned c = 0; c < CONTAINERS; c++) {
        struct container_state *to =
            (struct container_state *)(uintptr_t)model_container_at(c, commit);
        const struct container_state *from = model_container_at(c, other);

        if (!model_is_here_at(c, commit))
            continue;
        ending_widen(&to->lease.ends, &from->lease.ends);
        ending_widen(&to->forgotten, &from->forgotten);
        if (from->forgotten.to_ns == 0)
            to->forgotten.from_ns = 0; /* in the other there was nothing to be deleted yet */
    }
    for (unsigned space = 0; space < model()->spaces; space++)
        for (unsigned b = 0;
             b < BLOBS && (!commits_are_divided() || model_is_here_at(space, commit)); b++)
            ending_widen(
                &((struct blob_state *)(uintptr_t)model_blob_in(space, b, commit))->lease.ends,
                &model_blob_in(space, b, other)->lease.ends);
}

bool model_is_here(unsigned container)
{
    return moves_are_here(container, model()->containers[container]->since);
}

bool model_is_here_at(unsigned container, uint64_t survivor)
{
    const struct container_state *state = model()->containers[container];

    while (commits_is_lost(state->since, survivor))
        state = state->older;
    return moves_are_here_at(container, state->since, survivor);
}

bool model_may_be_here(unsigned container)
{
    return moves_may_be_here(container, model()->containers[container]->since);
}

unsigned model_cell_of(unsigned container)
{
    const struct container_state *state = model()->containers[container];

    return state->exists ? moves_cell_of(container, state->since) : 0;
}

/* Returns whether the next container of the name may be in another cell, whose clock may be behind. */
static bool may_be_elsewhere(void)
{
    return commits_are_divided();
}

void model_roll_back(uint64_t commit)
{
    if (!commits_are_divided()) { /* else no service properties are set */
        origins_roll_back(commit);
        kept_roll_back(commit);
    }
    for (unsigned c = 0; c < CONTAINERS; c++) {
        while (commits_is_lost(model()->containers[c]->since, commit))
            model()->containers[c] = model()->containers[c]->older;
    }
    for (unsigned space = 0; space < model()->spaces; space++) {
        for (unsigned b = 0; b < BLOBS; b++) {
            while (commits_is_lost(model()->blobs[space][b]->since, commit))
                model()->blobs[space][b] = model()->blobs[space][b]->older;
        }
    }
}

static void return_container(unsigned c, uint64_t older, uint64_t commit, bool is_restored)
{
    struct container_state *made = world_alloc(sizeof *made);

    *made = *model_container_at(c, older);
    if (is_restored)
        made->lease = (struct model_lease){ .kind = LEASE_FREE };
    made->since = commit;
    made->older = model()->containers[c];
    model()->containers[c] = made;
}

static void return_blob(unsigned space, unsigned b, uint64_t older, uint64_t commit,
                        bool is_restored)
{
    struct blob_state *made = world_alloc(sizeof *made);

    *made = *model_blob_in(space, b, older);
    if (is_restored)
        made->lease = (struct model_lease){ .kind = LEASE_FREE };
    made->since = commit;
    made->older = model()->blobs[space][b];
    model()->blobs[space][b] = made;
}

void model_return_to(uint64_t older, uint64_t commit, unsigned container)
{
    bool is_restored = container != ALL_NAMES;

    if (!is_restored) {
        origins_return_to(older, commit);
        kept_return_to(older, commit);
    }
    for (unsigned c = 0; c < CONTAINERS; c++)
        if (!is_restored || c == container)
            return_container(c, older, commit, is_restored);
    for (unsigned i = 0; i < model()->spaces * BLOBS; i++)
        if (!is_restored || i / BLOBS == model()->containers[container]->space)
            return_blob(i / BLOBS, i % BLOBS, older, commit, is_restored);
}

/* ---- endings ---- */

struct ending rule_ending_after(const struct run *run, uint64_t seconds)
{
    return ending_after(seconds, run->from_ns, run->to_ns);
}

bool rule_is_doubtful(const struct run *run, const struct ending *due)
{
    return ending_is_doubtful(due, run->from_ns, run->to_ns);
}

bool rule_came_back(const struct run *run, const struct ending *due)
{
    return rule_is_doubtful(run, due) && run->doubt.came_back;
}

/* ---- one request ---- */

void rule_refuse(struct run *run, int status, const char *code)
{
    run->out->status = status;
    run->out->code = code;
    run->out->changes = false;
}

void rule_succeed(struct run *run, int status, bool changes)
{
    run->out->status = status;
    run->out->code = NULL;
    run->out->changes = changes;
}

/* One that must be above the one before. */
static struct stamp *new_stamp(const struct run *run, struct stamp *before)
{
    static struct stamp none;
    struct stamp *stamp = run->commits ? world_alloc(sizeof *stamp) : &none;

    if (run->commits) {
        stamp->before = before;
        if (before)
            before->next = stamp;
    }
    return stamp;
}

struct stamp *rule_new_stamp(const struct run *run)
{
    return new_stamp(run, NULL);
}

static bool fits(const struct run *run, const struct stamp *stamp)
{
    if (stamp->etag == 0)
        return run->doubt.tag_fits;
    return !run->ask->is_weak && stamp->etag == run->ask->etag; /* ours are strong */
}

/* ---- conditions. rest: Specifying-Conditional-Headers-for-Blob-Service-Operations ---- */

/* READS: of the blob itself, which take any combination. */
enum class { READS, OTHER_READS, WRITES, CREATES, COPIES };
enum {
    IF_TAG = 1,
    IF_NO_TAG = 2,
    IF_NEWER = 4,
    IF_OLDER = 8,
    IF_DATES = 12,
    IF_HTTP = 15,
    IF_INDEXED = 16, /* x-ms-if-tags */
    IF_ALL = 31
};

static const struct {
    unsigned takes;
    enum class class;
} conditions[OPS] = {
    [OP_SET_CONTAINER_METADATA] = { IF_NEWER, WRITES },
    [OP_SET_ACL] = { IF_DATES, WRITES },
    [OP_DELETE_CONTAINER] = { IF_DATES, WRITES },
    [OP_LEASE_CONTAINER] = { IF_DATES, WRITES },
    [OP_RESTORE_CONTAINER] = { 0, WRITES },
    [OP_CREATE_CONTAINER] = { 0, WRITES },
    [OP_PUT_BLOB] = { IF_ALL, CREATES },
    [OP_PUT_BLOCK_LIST] = { IF_ALL, CREATES },
    [OP_PUT_BLOCK] = { 0, WRITES },
    [OP_GET_BLOB] = { IF_ALL, READS },
    [OP_HEAD_BLOB] = { IF_ALL, READS },
    [OP_GET_METADATA] = { IF_ALL, OTHER_READS },
    [OP_GET_TAGS] = { IF_INDEXED, OTHER_READS },
    [OP_SET_TAGS] = { IF_INDEXED, WRITES },
    [OP_GET_BLOCK_LIST] = { IF_INDEXED, OTHER_READS },
    [OP_SET_TIER] = { IF_INDEXED, WRITES },
    [OP_COPY] = { IF_ALL, COPIES },
    [OP_SET_METADATA] = { IF_ALL, WRITES },
    [OP_SET_PROPERTIES] = { IF_ALL, WRITES },
    [OP_LEASE_BLOB] = { IF_ALL, WRITES },
    [OP_SNAPSHOT] = { IF_ALL, WRITES },
    [OP_DELETE_BLOB] = { IF_ALL, WRITES },
    [OP_APPEND_BLOCK] = { IF_ALL, WRITES },
    [OP_SEAL] = { IF_HTTP, WRITES },
    [OP_PUT_PAGE] = { IF_ALL, WRITES },
    [OP_CLEAR_PAGE] = { IF_ALL, WRITES },
    [OP_PAGE_RANGES] = { IF_ALL, OTHER_READS },
};

static unsigned conditions_of(const struct ask *ask)
{
    unsigned bits = ask->condition == IF_NOTHING                                       ? 0
                    : ask->condition == IF_MATCH_TAG || ask->condition == IF_MATCH_ANY ? IF_TAG
                                                                                       : IF_NO_TAG;

    return bits | (ask->if_tag ? IF_INDEXED : 0) | (ask->modified_since ? IF_NEWER : 0) |
           (ask->unmodified_since ? IF_OLDER : 0);
}

/* Does the operation take them? True: go on. */
static bool check_combination(struct run *run)
{
    enum class class = conditions[run->ask->op].class;
    unsigned all = conditions_of(run->ask), given = all & IF_HTTP;
    bool reads = class == READS || class == OTHER_READS;
    const char *code = NULL;

    if (all & ~conditions[run->ask->op].takes)
        code = "ConditionHeadersNotSupported";
    else if (class != READS && given != (IF_TAG | IF_OLDER) && given != (IF_NO_TAG | IF_NEWER) &&
             (given & (given - 1)) != 0)
        code = "MultipleConditionHeadersNotSupported";
    else if (reads && run->ask->condition == IF_NONE_MATCH_ANY)
        code = "UnsatisfiableCondition";
    if (code)
        rule_refuse(run, 400, code);
    return !code;
}

static bool is_modified(const struct stamp *stamp, int64_t since, bool in_doubt)
{
    return stamp->modified_s == 0 ? in_doubt : stamp->modified_s > since;
}

/* Of the blob, or of the snapshot that is asked for. */
static bool has_index_tag(const struct run *run)
{
    unsigned tag = run->out->snapshot ? run->out->snapshot->tag : run->out->blob.tag;

    return tag == run->ask->if_tag;
}

/* Blocks that were never committed have a date, which no response shows. Returns true if the
 * conditions are met. */
static bool check_condition_of_missing(struct run *run, unsigned given, const char *not_met)
{
    bool has_date = run->out->blob.staged_count > 0;
    bool met = !(given & (IF_TAG | IF_INDEXED));

    if (has_date && given & IF_OLDER)
        met = met && !run->doubt.is_modified_too;
    if (has_date && given & IF_NEWER && !(given & IF_NO_TAG))
        met = met && run->doubt.is_modified;
    if (!met)
        rule_refuse(run, 412, not_met);
    return met;
}

/* True: go on. Where a tag and a date of one pair are given, reads look at both, others at the
 * tag. If-None-Match: * is ignored by writes that cannot create, and next to the id of the lease. */
static bool check_condition(struct run *run, bool exists, const struct stamp *stamp)
{
    const struct ask *ask = run->ask;
    enum class class = conditions[ask->op].class;
    bool ignores_any = class == WRITES || (class == CREATES && ask->lease_id > 0);
    unsigned given =
        conditions_of(ask) &
        ~(exists && ignores_any && ask->condition == IF_NONE_MATCH_ANY ? IF_NO_TAG : 0u);
    bool any = ask->condition == IF_MATCH_ANY || ask->condition == IF_NONE_MATCH_ANY;
    bool tag, before = true, changed = true;
    const char *not_met =
        class == COPIES && given != IF_INDEXED ? "TargetConditionNotMet" : "ConditionNotMet";
    bool newer = exists && is_modified(stamp, ask->modified_since, run->doubt.is_modified);
    bool too_new = exists && is_modified(stamp, ask->unmodified_since, run->doubt.is_modified_too);

    if (!exists)
        return check_condition_of_missing(run, given, not_met);
    tag = any || fits(run, stamp);
    if (given & IF_TAG)
        before = tag;
    if (given & IF_OLDER && (!(given & IF_TAG) || class == READS))
        before = before && !too_new;
    if (given & IF_NO_TAG)
        changed = !tag;
    if (given & IF_NEWER && !(given & IF_NO_TAG))
        changed = newer;
    else if (given & IF_NEWER && class == READS)
        changed = changed || newer;
    if (before && changed && !(given & IF_INDEXED && !has_index_tag(run)))
        return true;
    if (!before || changed)
        rule_refuse(run, 412, not_met);
    else if ((class == CREATES || class == COPIES) && ask->condition == IF_NONE_MATCH_ANY &&
             given & IF_NO_TAG)
        rule_refuse(run, 409, "BlobAlreadyExists");
    else
        rule_refuse(run, class == READS || class == OTHER_READS ? 304 : 412, not_met);
    return false;
}

static bool check_use(struct run *run, const struct model_lease *lease, bool is_write,
                      bool of_container)
{
    enum lease_now now = model_lease_now(lease, run->doubt.late, run->from_ns, run->to_ns);
    const char *code = model_lease_use(lease, now, run->ask->lease_id, is_write, of_container);

    if (code)
        rule_refuse(run, 412, code);
    return !code;
}

static void forget_lease(struct run *run, struct model_lease *lease)
{
    model_lease_forget(lease, model_lease_now(lease, run->doubt.late, run->from_ns, run->to_ns));
}

static void lease_action(struct run *run, struct model_lease *lease)
{
    enum lease_now now = model_lease_now(lease, run->doubt.late, run->from_ns, run->to_ns);
    const struct lease_terms terms = { .act = run->ask->act,
                                       .id = run->ask->lease_id,
                                       .proposed = run->ask->proposed,
                                       .duration_s = run->ask->duration_s,
                                       .break_s = run->ask->break_s };
    const char *code = model_lease_act(lease, now, &terms, run->from_ns, run->to_ns);

    if (code)
        rule_refuse(run, 409, code);
    else
        rule_succeed(run, model_lease_status(run->ask->act), true);
}

/* ---- containers ---- */

static void change_container(struct run *run, int status)
{
    struct container_state *c = &run->out->container;

    c->stamp = run->out->filled = new_stamp(run, c->stamp);
    run->out->stamp = c->stamp;
    rule_succeed(run, status, true);
}

/* Clears the state of the name except for its deleted containers. */
static void begin_anew(struct container_state *c)
{
    struct container_state anew = { .space = c->space, .kept_count = c->kept_count };

    memcpy(anew.kept, c->kept, sizeof anew.kept);
    *c = anew;
}

static void create_container(struct run *run)
{
    struct container_state *c = &run->out->container;

    if (c->exists) {
        rule_refuse(run, 409, "ContainerAlreadyExists");
        return;
    }
    begin_anew(c);
    if (may_be_elsewhere())
        c->stamp = NULL;
    c->exists = true;
    c->metadata = run->ask->metadata;
    c->incarnation = run->commits ? ++model()->incarnations : 0;
    if (run->commits && kept_has_containers())
        c->space = new_space();
    c->server_space = run->doubt.kept.space;
    change_container(run, 201);
}

/* rest: Delete-Container; decision: 811 */
static void keep_container(struct run *run)
{
    struct container_state *c = &run->out->container;
    struct kept_container *kept = &c->kept[c->kept_count];

    if (c->kept_count == KEPT_CONTAINERS)
        world_fail("the model is too small for so many deleted containers");
    *kept = (struct kept_container){ .deleted = run->doubt.kept.deleted_at,
                                     .days = kept_container_days(),
                                     .incarnation = c->incarnation,
                                     .space = c->space,
                                     .server_space = c->server_space,
                                     .metadata = c->metadata,
                                     .access = c->access,
                                     .stamp = new_stamp(run, c->stamp),
                                     .protection = c->protection };
    kept->protection.is_closed = false;
    memcpy(kept->policies, c->policies, sizeof kept->policies);
    if (run->commits && c->kept_count > 0 && kept[-1].deleted >= kept->deleted)
        world_fail("a container is deleted at an instant that is not after that of the one before");
    c->kept_count++;
}

static bool is_version_of(const struct kept_container *kept, const char *version)
{
    char text[DELETED_SIZE];

    times_deleted(kept->deleted, text);
    return strcmp(text, version) == 0;
}

/* With all that is in it, but without its lease. rest: Restore-Container */
static void restore_container(struct run *run)
{
    struct container_state *c = &run->out->container;
    struct kept_container kept;
    unsigned i = 0;

    if (c->exists) {
        rule_refuse(run, 409, "ContainerAlreadyExists");
        return;
    }
    while (i < c->kept_count && !is_version_of(&c->kept[i], run->ask->deleted))
        i++;
    if (i == c->kept_count) {
        rule_refuse(run, 404, "ContainerNotFound");
        return;
    }
    kept = c->kept[i];
    begin_anew(c);
    c->kept_count--;
    memmove(&c->kept[i], &c->kept[i + 1], (c->kept_count - i) * sizeof c->kept[0]);
    c->exists = true;
    c->incarnation = kept.incarnation;
    c->space = kept.space;
    c->server_space = kept.server_space;
    c->metadata = kept.metadata;
    c->access = kept.access;
    c->protection = kept.protection;
    memcpy(c->policies, kept.policies, sizeof c->policies);
    c->stamp = new_stamp(run, kept.stamp);
    run->out->stamp = NULL;
    rule_succeed(run, 201, true);
}

/* rest: Delete-Container, "Remarks": for 30 seconds the name is being deleted. */
static void delete_container(struct run *run)
{
    struct container_state *c = &run->out->container;

    if (!check_use(run, &c->lease, true, true) || !check_condition(run, true, c->stamp) ||
        !rule_check_drop(run))
        return;
    if (kept_container_days() > 0)
        keep_container(run);
    begin_anew(c);
    c->forgotten = ending_after(30, run->from_ns, run->to_ns);
    c->forgotten.life = UINT_MAX; /* steps of the wall clock do not move it, as they do leases */
    run->out->stamp = NULL;
    rule_succeed(run, 202, true);
}

static void on_missing_container(struct run *run)
{
    struct container_state *c = &run->out->container;

    if (run->ask->op != OP_DELETE_CONTAINER || c->forgotten.to_ns == 0 ||
        ending_is_over(&c->forgotten, run->doubt.late, run->from_ns, run->to_ns))
        rule_refuse(run, 404, "ContainerNotFound");
    else if (check_use(run, &c->lease, true, true))
        rule_succeed(run, 202, false);
}

static void on_container(struct run *run)
{
    struct container_state *c = &run->out->container;
    enum op op = run->ask->op;

    if (!check_combination(run))
        return;
    if (op == OP_CREATE_CONTAINER) {
        create_container(run);
        return;
    }
    if (!rule_check_permission(run, c->exists))
        return;
    if (op == OP_RESTORE_CONTAINER) {
        restore_container(run);
        return;
    }
    if (!c->exists) {
        on_missing_container(run);
        return;
    }
    run->out->stamp = c->stamp;
    if (op == OP_PROTECT) {
        rule_protect_container(run);
        return;
    }
    if (op == OP_LEASE_CONTAINER) {
        if (check_condition(run, true, c->stamp))
            lease_action(run, &c->lease);
        return;
    }
    if (op == OP_LIST_BLOBS || op == OP_FIND || op == OP_SHOW_PROTECTION) {
        run->out->stamp = NULL;
        rule_succeed(run, 200, false);
        return;
    }
    if (op == OP_DELETE_CONTAINER) {
        delete_container(run);
        return;
    }
    if (!check_use(run, &c->lease, false, true) || !check_condition(run, true, c->stamp))
        return;
    if (op == OP_GET_CONTAINER || op == OP_GET_ACL) {
        rule_succeed(run, 200, false);
        return;
    }
    if (op == OP_SET_CONTAINER_METADATA)
        c->metadata = run->ask->metadata;
    else {
        c->access = run->ask->access;
        memcpy(c->policies, run->ask->policies, sizeof c->policies);
    }
    change_container(run, 200);
}

/* ---- blobs ---- */

/* The newest that any blob of this name had: one that is made anew goes on above it. */
static struct stamp *newest_stamp(const struct run *run)
{
    struct stamp *newest = model()->newest[run->ask->container][run->ask->blob];
    bool is_other = newest && newest->container != run->out->container.incarnation;
    const struct blob_state *b = &run->out->blob;

    /* Versions may be ahead of the clock, which the name knows as long as something of it is left. decision: 804 */
    if (kept_has_versions() && (is_other || (!b->exists && b->snapshot_count == 0)))
        return NULL;
    if (is_other && may_be_elsewhere())
        return NULL;
    return newest;
}

void model_end_copy(unsigned container, unsigned blob, enum copy_state how, uint64_t commit,
                    const struct stamp *written)
{
    struct ask ask = { .op = OP_COPY, .container = container, .blob = blob };
    struct expected expected = { .container = *model()->containers[container],
                                 .blob = *model_blob_at(container, blob, world->commits) };
    struct run run = { .ask = &ask,
                       .doubt.kept =
                           kept_committed_in(0, expected.container.protection.has_versions),
                       .commits = true,
                       .out = &expected };

    rule_end_copy(&run, how);
    expected.filled->etag = written->etag;
    expected.filled->modified_s = written->modified_s;
    if (expected.filled->before && expected.filled->before->etag >= written->etag)
        world_fail("the end of a copy has an ETag that is not above the one before");
    model_apply(&ask, &expected, commit);
}

void rule_new_version(struct run *run)
{
    struct blob_state *b = &run->out->blob;

    b->stamp = run->out->filled = new_stamp(run, newest_stamp(run));
    if (run->commits) {
        b->stamp->container = run->out->container.incarnation;
        model()->newest[run->ask->container][run->ask->blob] = b->stamp;
    }
    run->out->stamp = b->stamp;
    b->modified = run->doubt.kept.now;
}

/* The blob's next version: a new ETag, above the one before. */
void rule_change_blob(struct run *run, int status)
{
    struct blob_state *b = &run->out->blob;

    forget_lease(run, &b->lease);
    rule_new_version(run);
    b->exists = true;
    rule_succeed(run, status, true);
}

uint64_t rule_next_write(const struct run *run)
{
    return run->commits ? ++model()->writes : UINT64_MAX;
}

static void put_blob(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    const struct ask *ask = run->ask;
    struct shield shield;

    if (!rule_check_archived(run, b) || !rule_give_shield(run, &shield) ||
        !rule_make_way(run, ask->kind))
        return;
    rule_set_created(run, ask->kind);
    rule_change_blob(run, 201);
    b->shield = shield;
    b->copy = IS_NO_COPY;
    b->metadata = ask->metadata;
    b->type = ask->type;
    b->tag = ask->tag;
    b->contents = (struct contents){ .kind = ask->kind,
                                     .made = rule_next_write(run),
                                     .key = ask->protect.key };
    if (ask->kind == KIND_PAGES) {
        contents_resize(&b->contents, ask->size, run->commits);
        b->contents.sequence = ask->sequence;
    } else if (ask->kind == KIND_BLOCKS) {
        b->contents.segments[0] = ask->content;
        b->contents.segment_count = 1;
    }
    b->staged_count = 0;
}

static const struct segment *find_block(const struct segment *segments, unsigned count,
                                        unsigned block)
{
    for (unsigned i = 0; i < count; i++) {
        if (segments[i].block == block + 1)
            return &segments[i];
    }
    return NULL;
}

/* rest: Blob-Service-Error-Codes "InvalidBlobType" */
bool rule_check_kind(struct run *run, enum blob_kind kind)
{
    const struct contents *contents =
        run->out->snapshot ? &run->out->snapshot->contents : &run->out->blob.contents;

    if ((!run->out->snapshot && !run->out->blob.exists) || contents->kind == kind)
        return true;
    rule_refuse(run, 409, "InvalidBlobType");
    return false;
}

static void put_block(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    const struct segment *was =
        find_block(b->staged, b->staged_count, run->ask->content.block - 1u);
    struct segment *staged;

    if (!rule_check_kind(run, KIND_BLOCKS) || !rule_check_archived(run, b))
        return;
    if (!was && b->staged_count >= limit_of(LIMIT_STAGED, STAGED_MAX)) {
        rule_refuse(run, 409, "BlockCountExceedsLimit");
        return;
    }
    if (!b->exists && !rule_make_place(run))
        return;
    staged = was ? &b->staged[was - b->staged] : &b->staged[b->staged_count++];
    *staged = run->ask->content;
    staged->key = (uint8_t)run->ask->protect.key;
    rule_succeed(run, 201, true);
}

static void put_block_list(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    const struct ask *ask = run->ask;
    struct segment chosen[SEGMENTS_MAX];
    unsigned keys[SEGMENTS_MAX];
    struct shield shield;

    if (!rule_check_kind(run, KIND_BLOCKS))
        return;
    for (unsigned i = 0; i < ask->list_count; i++) {
        const struct segment *staged = find_block(b->staged, b->staged_count, ask->list[i].block);
        const struct segment *committed = find_block(
            b->contents.segments, b->exists ? b->contents.segment_count : 0, ask->list[i].block);
        const struct segment *found = ask->list[i].source == FROM_COMMITTED     ? committed
                                      : ask->list[i].source == FROM_UNCOMMITTED ? staged
                                      : staged                                  ? staged
                                                                                : committed;

        if (!found) {
            rule_refuse(run, 400, "InvalidBlockList");
            return;
        }
        chosen[i] = *found;
        keys[i] = found == committed ? b->contents.key : found->key;
    }
    for (unsigned i = 0; i < ask->list_count; i++)
        if (!rule_check_key(run, keys[i]))
            return;
    if (!rule_check_archived(run, b) || !rule_give_shield(run, &shield) ||
        !rule_make_way(run, KIND_BLOCKS))
        return;
    rule_set_created(run, KIND_BLOCKS);
    rule_change_blob(run, 201);
    b->shield = shield;
    b->copy = IS_NO_COPY;
    b->contents = (struct contents){ .made = rule_next_write(run),
                                     .of_blocks = true,
                                     .key = ask->protect.key };
    memcpy(b->contents.segments, chosen, ask->list_count * sizeof chosen[0]);
    b->contents.segment_count = ask->list_count;
    b->staged_count = 0;
    b->metadata = ask->metadata;
    b->type = ask->type;
    b->tag = ask->tag;
}

static void snapshot_blob(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    struct snapshot_state *s;

    if (!rule_check_key(run, b->contents.key) || !rule_check_archived(run, b))
        return;
    s = rule_add_state(run, rule_begin_snapshot(run));
    run->out->filled_time = s->time;
    if (run->ask->metadata > 0) {
        s->metadata = run->ask->metadata;
        s->stamp = run->out->filled = new_stamp(run, b->stamp);
        s->modified = run->doubt.kept.now;
    }
    run->out->stamp = s->stamp;
    rule_succeed(run, 201, true);
}

static void delete_blob(struct run *run)
{
    run->out->stamp = NULL;
    if (!run->ask->is_permanent && !rule_check_deletion(run))
        return;
    if (run->ask->snapshot[0])
        rule_delete_snapshot(run);
    else
        rule_delete_base(run);
}

static void get_blob(struct run *run)
{
    const struct blob_state *b = &run->out->blob;
    const struct snapshot_state *s = run->out->snapshot;
    uint32_t length = contents_length(s ? &s->contents : &b->contents);

    if (!rule_check_key(run, (s ? &s->contents : &b->contents)->key) ||
        (!s && !rule_check_archived(run, b)))
        return;
    if (!run->ask->has_range)
        rule_succeed(run, 200, false);
    else if (run->ask->range_from >= length)
        rule_refuse(run, 416, "InvalidRange");
    else
        rule_succeed(run, 206, false);
}

const struct snapshot_state *rule_find_snapshot(const struct blob_state *b, const char *time,
                                                bool is_version)
{
    for (unsigned i = 0; i < b->snapshot_count; i++) {
        const struct snapshot_state *s = &b->snapshots[i];

        if (s->expires == 0 && s->is_version == is_version && strcmp(s->time->snapshot, time) == 0)
            return s;
    }
    return NULL;
}

bool rule_is_current(const struct blob_state *b, const char *time, bool is_version)
{
    return is_version && b->exists && b->version > 0 && b->version == times_ticks(time);
}

/* For good: also one that is soft-deleted. */
static const struct snapshot_state *find_to_delete(const struct run *run,
                                                   const struct blob_state *b, const char *time)
{
    for (unsigned i = 0; i < b->snapshot_count && run->ask->is_permanent; i++) {
        if (rule_is_kept(run, b->snapshots[i].expires) &&
            b->snapshots[i].is_version == run->ask->is_version &&
            strcmp(b->snapshots[i].time->snapshot, time) == 0)
            return &b->snapshots[i];
    }
    return rule_find_snapshot(b, time, run->ask->is_version);
}

static bool is_read_op(enum op op)
{
    return op == OP_GET_BLOB || op == OP_HEAD_BLOB || op == OP_GET_METADATA ||
           op == OP_GET_BLOCK_LIST || op == OP_GET_TAGS || op == OP_PAGE_RANGES;
}

/* Is there what the operation needs? Sets what conditions and leases look at. */
static bool find_subject(struct run *run, bool *ret_exists, struct stamp **ret_stamp,
                         struct model_lease *ret_lease)
{
    const struct blob_state *b = &run->out->blob;
    enum op op = run->ask->op;
    bool optional = op == OP_PUT_BLOB || op == OP_PUT_BLOCK || op == OP_PUT_BLOCK_LIST ||
                    op == OP_COPY || op == OP_UNDELETE;
    bool staged_will_do = op == OP_DELETE_BLOB || op == OP_GET_BLOCK_LIST;

    *ret_lease = b->lease;
    *ret_exists = b->exists;
    *ret_stamp = b->stamp;
    if (run->ask->snapshot[0] && !rule_is_current(b, run->ask->snapshot, run->ask->is_version)) {
        run->out->snapshot = find_to_delete(run, b, run->ask->snapshot);
        memset(ret_lease, 0, sizeof *ret_lease);
        *ret_exists = run->out->snapshot != NULL;
        if (run->out->snapshot)
            *ret_stamp = run->out->snapshot->stamp;
    } else if (!b->exists && staged_will_do && b->staged_count > 0) {
        static struct stamp nothing = { .etag = 1 };

        *ret_exists = true;
        *ret_stamp = &nothing;
    }
    if (!rule_check_permission(run, *ret_exists))
        return false;
    if (*ret_exists && !run->out->snapshot && b->copy == COPIES_STILL && !is_read_op(op) &&
        op != OP_ABORT_COPY) {
        rule_refuse(run, 409, "PendingCopyOperation");
        return false;
    }
    if (*ret_exists || optional)
        return true;
    rule_refuse(run, 404, "BlobNotFound");
    return false;
}

/* What is left to do when nothing refuses it. */
static void perform(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    enum op op = run->ask->op;
    bool keeps;

    if (op == OP_PUT_BLOB) {
        put_blob(run);
    } else if (op == OP_PUT_BLOCK) {
        run->out->stamp = NULL;
        put_block(run);
    } else if (op == OP_PUT_BLOCK_LIST) {
        put_block_list(run);
    } else if (op == OP_SNAPSHOT) {
        snapshot_blob(run);
    } else if (op == OP_DELETE_BLOB) {
        delete_blob(run);
    } else if (op == OP_LEASE_BLOB) {
        lease_action(run, &b->lease);
    } else if (op == OP_SET_METADATA) {
        if (!rule_check_key(run, b->contents.key) || !rule_check_archived(run, b))
            return;
        if (!rule_begin_version(run, b->contents.kind, &keeps))
            return;
        rule_change_blob(run, 200);
        if (keeps)
            b->shield = rule_default_shield(run);
        b->metadata = run->ask->metadata;
    } else if (op == OP_SET_PROPERTIES) {
        rule_set_properties(run);
    } else if (op == OP_APPEND_BLOCK) {
        rule_append_block(run);
    } else if (op == OP_SEAL) {
        rule_seal(run);
    } else if (op == OP_PUT_PAGE || op == OP_CLEAR_PAGE) {
        rule_put_page(run);
    } else if (op == OP_PAGE_RANGES) {
        rule_page_ranges(run);
    } else if (op == OP_GET_BLOCK_LIST) {
        if (rule_check_kind(run, KIND_BLOCKS))
            rule_succeed(run, 200, false);
    } else if (op == OP_SET_TAGS) {
        run->out->stamp = NULL;
        if (run->out->snapshot)
            b->snapshots[run->out->snapshot - b->snapshots].tag = run->ask->tag;
        else
            b->tag = run->ask->tag;
        rule_succeed(run, 204, true);
    } else if (op == OP_SET_TIER) {
        run->out->stamp = NULL;
        rule_set_tier(run);
    } else if (op == OP_COPY) {
        rule_copy(run);
    } else if (op == OP_ABORT_COPY) {
        rule_abort_copy(run);
    } else if (op == OP_UNDELETE) {
        rule_undelete(run);
    } else if (op == OP_GET_BLOB) {
        get_blob(run);
    } else if (op == OP_SET_POLICY || op == OP_DELETE_POLICY || op == OP_SET_HOLD) {
        rule_set_shield(run);
    } else if ((op == OP_HEAD_BLOB || op == OP_GET_METADATA) &&
               !rule_check_key(
                   run, (run->out->snapshot ? &run->out->snapshot->contents : &b->contents)->key)) {
        return;
    } else {
        rule_succeed(run, 200, false);
    }
}

static void on_blob(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    enum op op = run->ask->op;
    struct stamp *stamp;
    struct model_lease lease;
    bool exists;

    if (!run->out->container.exists) {
        if (rule_check_permission(run, false))
            rule_refuse(run, 404, "ContainerNotFound");
        return;
    }
    if (b->incarnation != run->out->container.incarnation)
        *b = (struct blob_state){ .incarnation = run->out->container.incarnation };
    rule_begin_kind(run);
    if (!check_combination(run))
        return;
    if (!find_subject(run, &exists, &stamp, &lease))
        return;
    if (op != OP_LEASE_BLOB && op != OP_UNDELETE && op < OP_SET_POLICY &&
        !check_use(run, &lease, !is_read_op(op) && op != OP_SNAPSHOT, false))
        return;
    if (!check_condition(run, exists, stamp))
        return;
    run->out->stamp = exists ? stamp : NULL;
    if ((op == OP_GET_BLOCK_LIST && !b->exists) || op == OP_GET_TAGS)
        run->out->stamp = NULL;
    if (op == OP_COPY || rule_check_protection(run)) /* a copy reads its source first */
        perform(run);
}

/* Who asks, and how: before anything is looked at. */
static bool check_form(struct run *run)
{
    const struct ask *ask = run->ask;

    if (!rule_check_signature(run))
        return false;
    if (ask->malformed && !ask->malformed->of_body)
        rule_refuse(run, ask->malformed->status, ask->malformed->code);
    else if ((ask->op == OP_SET_TAGS || ask->op == OP_GET_TAGS) && conditions_of(ask) & IF_HTTP)
        rule_refuse(run, 400, "ConditionHeadersNotSupported"); /* not of this version */
    else
        return true;
    return false;
}

void model_expect(const struct ask *ask, const struct container_state *container,
                  const struct blob_state *blob, struct doubt doubt, uint64_t from_ns,
                  uint64_t to_ns, bool commits, struct expected *ret_expected)
{
    struct run run = { .ask = ask,
                       .doubt = doubt,
                       .from_ns = from_ns,
                       .to_ns = to_ns,
                       .commits = commits,
                       .out = ret_expected };

    memset(ret_expected, 0, sizeof *ret_expected);
    ret_expected->container = *container;
    ret_expected->blob = *blob;
    if (!check_form(&run))
        return;
    if (ask->op == OP_LIST_CONTAINERS || ask->op == OP_GET_SERVICE)
        rule_succeed(&run, 200, false);
    else if (ask->op == OP_SET_SERVICE)
        rule_succeed(&run, 202, true);
    else if (ask->op <= OP_LIST_BLOBS)
        on_container(&run);
    else
        on_blob(&run);
    if (!ret_expected->code && ask->malformed)
        rule_refuse(&run, ask->malformed->status, ask->malformed->code);
}
