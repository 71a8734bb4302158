/* See path_model.h. rest: datalakestoragegen2 */
#include "path_model.h"

#include <assert.h>
#include <string.h>

#include "world.h"

struct path_state {
    struct path_state *older;
    uint64_t since;   /* the commit that created it */
    bool exists;      /* the filesystem */
    bool has_hidden;  /* it has a directory for deleted directories */
    bool is_doubtful; /* has_hidden is: a crash may have undone it, and no request shows it */
    const struct path_node *nodes[PATH_PLACES];
};

static struct path_model {
    struct path_state *newest;
} * model;

void path_model_begin(void)
{
    model = world_alloc(sizeof *model);
    model->newest = world_alloc(sizeof *model->newest);
}

static const struct path_state *state_at(uint64_t commit)
{
    const struct path_state *state = model->newest;

    while (state->since > commit)
        state = state->older;
    return state;
}

bool path_filesystem_exists(uint64_t commit)
{
    return state_at(commit)->exists;
}

const struct path_node *path_node_at(unsigned place, uint64_t commit)
{
    return state_at(commit)->nodes[place];
}

uint64_t path_changed_before(uint64_t from, uint64_t to)
{
    uint64_t since = state_at(to)->since;

    return since > from ? since : 0;
}

uint32_t path_length(const struct path_node *node)
{
    uint32_t length = 0;

    for (unsigned i = 0; i < node->part_count; i++)
        length += node->parts[i].length;
    return length;
}

/* ---- expected responses ---- */

static struct path_expected refusal(int status, const char *code)
{
    return (struct path_expected){ .status = status, .code = code };
}

static struct path_expected refusal_over(const char *code, const struct path_node *node)
{
    return (struct path_expected){ .status = 409,
                                   .code = code,
                                   .existing = node->is_directory ? "directory" : NULL };
}

static struct path_expected success(int status, unsigned place)
{
    return (struct path_expected){ .status = status, .changes = true, .place = place };
}

static bool has_entries(const struct path_state *state, unsigned place)
{
    for (unsigned i = 1; i <= PATH_NAMES && place < PATH_DIRECTORIES; i++) {
        if (state->nodes[PATH_NAMES * place + i])
            return true;
    }
    return false;
}

/* Returns true if a directory of the path is a file. */
static bool is_below_file(const struct path_state *state, unsigned place)
{
    while (place > 0) {
        place = path_parent(place);
        if (state->nodes[place] && !state->nodes[place]->is_directory)
            return true;
    }
    return false;
}

/* A client can only send an ETag that it has received. */
static bool meets(const struct path_ask *ask, const struct path_node *node)
{
    switch (ask->condition) {
    case PATH_IF_NOTHING:
        return true;
    case PATH_IF_MATCH:
        return node && node->stamp->etag == ask->etag;
    case PATH_IF_NONE:
        return !node;
    }
    return false;
}

static struct path_expected expect_create(const struct path_ask *ask,
                                          const struct path_state *state)
{
    const struct path_node *node = state->nodes[ask->place];
    bool wants_directory = ask->op == PATH_CREATE_DIRECTORY;

    if (!meets(ask, node)) {
        if (ask->condition == PATH_IF_NONE)
            return ask->by_blob ? refusal(409, "BlobAlreadyExists")
                                : refusal_over("PathAlreadyExists", node);
        return refusal(412, "ConditionNotMet");
    }
    if (is_below_file(state, ask->place))
        return refusal(409, "PathConflict");
    if (node && node->is_directory != wants_directory)
        return refusal(409, "PathConflict");
    return success(201, ask->place);
}

static const char *missing(const struct path_ask *ask)
{
    return ask->by_blob ? "BlobNotFound" : "PathNotFound";
}

/* Returns whether the staged bytes reach from the end of the file to the position, without a gap. */
static bool can_flush(const struct path_node *node, uint32_t position)
{
    uint32_t length = path_length(node);

    for (unsigned i = 0; i < node->staged_count && length < position; i++) {
        if (node->staged[i].position < path_length(node))
            continue;
        if (node->staged[i].position != length)
            return false;
        length += node->staged[i].content.length;
    }
    return length == position;
}

static bool is_appendable(const struct path_node *node)
{
    return !node->is_put || node->part_count == 0;
}

static struct path_expected expect_update(const struct path_ask *ask, const struct path_node *node)
{
    if (node->is_directory)
        return refusal(409, "PathConflict");
    if (!is_appendable(node))
        return refusal(409,
                       ask->op == PATH_FLUSH ? "InvalidFlushOperation" : "InvalidAppendOperation");
    if (ask->op == PATH_FLUSH || ask->flushes) {
        struct path_expected expected = success(ask->op == PATH_FLUSH ? 200 : 202, ask->place);

        expected.either = node->is_doubtful;
        return expected.either || can_flush(node, ask->position)
                   ? expected
                   : refusal(400, "InvalidFlushPosition");
    }
    return success(202, ask->place);
}

/* Returns the destination of a rename. Without a mode, a path renamed to a directory moves into it. */
static unsigned destination(const struct path_ask *ask, const struct path_state *state)
{
    const struct path_node *node = state->nodes[ask->place];

    if (ask->is_legacy || (ask->place > 0 && !(node && node->is_directory)))
        return ask->place;
    return ask->place < PATH_DIRECTORIES
               ? PATH_NAMES * ask->place + 1 + (ask->from - 1) % PATH_NAMES
               : PATH_PLACES;
}

static struct path_expected expect_rename(const struct path_ask *ask,
                                          const struct path_state *state)
{
    const struct path_node *from = state->nodes[ask->from], *over;
    unsigned to = destination(ask, state);

    if (!from)
        return refusal(404, "SourcePathNotFound");
    over = state->nodes[to];
    if (!meets(ask, over))
        return ask->condition == PATH_IF_NONE ? refusal_over("PathAlreadyExists", over)
                                              : refusal(412, "ConditionNotMet");
    if (ask->source_etag > 0 && from->stamp->etag != ask->source_etag)
        return refusal(412, "SourceConditionNotMet");
    if (is_below_file(state, to))
        return refusal(409, "PathConflict");
    if (!state->nodes[path_parent(to)])
        return refusal(404, "RenameDestinationParentPathNotFound");
    if (to == ask->from)
        return refusal(409, "InvalidRenameSourcePath");
    if (over && over->is_directory != from->is_directory)
        return refusal(409, "InvalidSourceOrDestinationResourceType");
    if (path_is_below(to, ask->from))
        return refusal(409, "InvalidRenameSourcePath");
    if (over && has_entries(state, to))
        return refusal(409, "DirectoryNotEmpty");
    return success(201, to);
}

static struct path_expected expect_delete(const struct path_ask *ask,
                                          const struct path_state *state)
{
    const struct path_node *node = state->nodes[ask->place];

    if (!meets(ask, node))
        return refusal(412, "ConditionNotMet");
    if (node->is_directory && !ask->is_recursive && has_entries(state, ask->place))
        return refusal(409, ask->by_blob ? "DirectoryIsNotEmpty" : "DirectoryNotEmpty");
    return success(ask->by_blob ? 202 : 200, ask->place);
}

static struct path_expected expect_of_node(const struct path_ask *ask,
                                           const struct path_state *state)
{
    const struct path_node *node = state->nodes[ask->place];

    if (!node)
        return refusal(404, missing(ask));
    if (ask->op == PATH_DELETE)
        return expect_delete(ask, state);
    if (!meets(ask, node))
        return ask->condition == PATH_IF_NONE && ask->op >= PATH_READ
                   ? refusal(304, "ConditionNotMet")
                   : refusal(412, "ConditionNotMet");
    if (ask->op == PATH_APPEND || ask->op == PATH_FLUSH)
        return expect_update(ask, node);
    if (ask->op >= PATH_READ || (ask->op == PATH_SET_READERS && node->readers == ask->value))
        return (struct path_expected){ .status = 200, .place = ask->place };
    return success(200, ask->place);
}

struct path_expected path_expect(const struct path_ask *ask, uint64_t commit)
{
    const struct path_state *state = state_at(commit);

    if (ask->op == PATH_CREATE_FILESYSTEM)
        return state->exists ? refusal(409, "FilesystemAlreadyExists") : success(201, 0);
    if (!state->exists)
        return refusal(404, ask->by_blob ? "ContainerNotFound" : "FilesystemNotFound");
    switch ((int)ask->op) {
    case PATH_CREATE_FILE:
    case PATH_CREATE_DIRECTORY:
    case PATH_PUT:
        return expect_create(ask, state);
    case PATH_RENAME:
        return expect_rename(ask, state);
    case PATH_LIST:
        if (ask->place > 0 && !state->nodes[ask->place])
            return refusal(404, "PathNotFound");
        return (struct path_expected){ .status = 200 };
    default:
        return expect_of_node(ask, state);
    }
}

/* ---- changes of a commit ---- */

static struct path_node *new_node(const struct path_node *like)
{
    struct path_node *node = world_alloc(sizeof *node);

    if (like)
        *node = *like;
    return node;
}

/* was: previous node of the place, or NULL */
static void stamp(struct path_node *node, const struct path_node *was)
{
    node->stamp = world_alloc(sizeof *node->stamp);
    node->stamp->above = was ? was->stamp->etag : 0;
}

static void make_parents(struct path_state *state, unsigned place)
{
    while (place > 0 && !state->nodes[place = path_parent(place)]) {
        struct path_node *node = new_node(NULL);

        node->is_directory = true;
        stamp(node, NULL);
        state->nodes[place] = node;
    }
}

static void apply_create(struct path_state *state, const struct path_ask *ask)
{
    const struct path_node *was = state->nodes[ask->place];
    struct path_node *node = new_node(NULL);

    make_parents(state, ask->place);
    node->is_directory = ask->op == PATH_CREATE_DIRECTORY;
    node->is_put = ask->op == PATH_PUT;
    node->value = ask->value;
    node->readers = was ? was->readers : 0;
    if (ask->op == PATH_PUT && ask->content.length > 0)
        node->parts[node->part_count++] = ask->content;
    stamp(node, was);
    state->nodes[ask->place] = node;
}

static void stage(struct path_node *node, uint32_t position, struct path_content content)
{
    unsigned i = 0;

    while (i < node->staged_count && node->staged[i].position < position)
        i++;
    if (i == node->staged_count || node->staged[i].position != position) {
        assert(node->staged_count < PATH_STAGED_MAX);
        memmove(&node->staged[i + 1], &node->staged[i],
                (node->staged_count - i) * sizeof node->staged[0]);
        node->staged_count++;
    }
    node->staged[i] = (struct path_staged){ .position = position, .content = content };
}

/* Adds the staged bytes up to `position` to the file. */
static void flush(struct path_node *node, uint32_t position, bool keeps_rest)
{
    uint32_t length = path_length(node);
    unsigned kept = 0;

    for (unsigned i = 0; i < node->staged_count; i++) {
        const struct path_staged staged = node->staged[i];

        if (staged.position == length && length < position) {
            assert(node->part_count < PATH_PARTS_MAX);
            node->parts[node->part_count++] = staged.content;
            length += staged.content.length;
        } else if (staged.position >= position && keeps_rest) {
            node->staged[kept++] = staged;
        }
    }
    node->staged_count = kept;
}

static void apply_update(struct path_state *state, const struct path_ask *ask)
{
    const struct path_node *was = state->nodes[ask->place];
    struct path_node *node = new_node(was);

    state->nodes[ask->place] = node;
    if (ask->op == PATH_APPEND && !ask->flushes) {
        stage(node, ask->position, ask->content);
        return;
    }
    if (was->is_doubtful) {
        node->is_unknown = true;
        node->is_doubtful = ask->op == PATH_FLUSH && ask->keeps_rest;
    }
    flush(node, ask->position, ask->op == PATH_FLUSH && ask->keeps_rest);
    if (ask->op == PATH_APPEND && ask->content.length > 0)
        node->parts[node->part_count++] = ask->content;
    node->is_put = false;
    stamp(node, was);
}

static void apply_rename(struct path_state *state, const struct path_ask *ask)
{
    const struct path_node *moved[PATH_PLACES] = { NULL };
    unsigned to = destination(ask, state);

    for (unsigned i = 1; i < PATH_PLACES; i++) {
        unsigned place = PATH_PLACES;

        if (state->nodes[i] && path_is_below(i, ask->from)) {
            place = path_moved(i, ask->from, to);
            assert(place < PATH_PLACES); /* the script draws no deeper ones */
            moved[place] = state->nodes[i];
            state->nodes[i] = NULL;
        }
    }
    for (unsigned i = 1; i < PATH_PLACES; i++) {
        if (moved[i])
            state->nodes[i] = moved[i];
    }
}

static void apply_change(struct path_state *state, const struct path_ask *ask)
{
    const struct path_node *was = state->nodes[ask->place];
    struct path_node *node;

    if (ask->op == PATH_DELETE) {
        for (unsigned i = 1; i < PATH_PLACES; i++) {
            if (path_is_below(i, ask->place))
                state->nodes[i] = NULL;
        }
        return;
    }
    state->nodes[ask->place] = node = new_node(was);
    if (ask->op == PATH_SET_READERS) {
        node->readers = ask->value;
        return;
    }
    node->value = ask->value;
    stamp(node, was);
}

/* Makes it the newest: like the one before, until it is changed. */
static struct path_state *next_state(uint64_t commit)
{
    struct path_state *state = world_alloc(sizeof *state);

    *state = *model->newest;
    state->older = model->newest;
    state->since = commit;
    return model->newest = state;
}

void path_apply(const struct path_ask *ask, uint64_t commit)
{
    struct path_state *state = next_state(commit);

    switch ((int)ask->op) {
    case PATH_CREATE_FILESYSTEM:
        state->exists = true;
        make_parents(state, 1);
        break;
    case PATH_CREATE_FILE:
    case PATH_CREATE_DIRECTORY:
    case PATH_PUT:
        apply_create(state, ask);
        break;
    case PATH_APPEND:
    case PATH_FLUSH:
        apply_update(state, ask);
        break;
    case PATH_RENAME:
        apply_rename(state, ask);
        break;
    default:
        apply_change(state, ask);
        break;
    }
}

bool path_delete_is_doubtful(void)
{
    return model->newest->is_doubtful;
}

bool path_prepare(const struct path_ask *ask, uint64_t commit)
{
    if (ask->op != PATH_DELETE || !model->newest->nodes[ask->place] || model->newest->has_hidden ||
        !has_entries(model->newest, ask->place))
        return false;
    next_state(commit)->has_hidden = true;
    return true;
}

const char *path_fill(const struct path_node *node, uint64_t etag)
{
    if (node->stamp->etag == 0) {
        if (etag <= node->stamp->above)
            return "an ETag that is not above the one that the name had before";
        node->stamp->etag = etag;
    }
    return node->stamp->etag == etag ? NULL : "another ETag";
}

void path_roll_back(uint64_t commit, uint64_t acknowledged)
{
    const struct path_state *safe = state_at(acknowledged < commit ? acknowledged : commit);

    while (model->newest->since > commit)
        model->newest = model->newest->older;
    model->newest->is_doubtful |= model->newest->has_hidden && !safe->has_hidden;
    for (unsigned i = 1; i < PATH_PLACES; i++) {
        const struct path_node *node = model->newest->nodes[i];
        struct path_node *doubtful;

        if (!node || node == safe->nodes[i] || node->is_directory)
            continue;
        model->newest->nodes[i] = doubtful = new_node(node);
        doubtful->is_doubtful = true;
    }
}
