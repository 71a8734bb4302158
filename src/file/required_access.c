/* Checks a REST operation against the open handles of SMB clients before it is decided, as the
 * row's access column requires. opens/open_state.h; semantics 8.2 to 8.4 */
#include <assert.h>

#include "file/file.h"
#include "opens/open_state.h"

static struct open_state *open_state_at(struct decision *d, const struct decision_part *part)
{
    for (struct open_state *opens = file_state(d)->open_states; opens; opens = opens->next)
        if (opens->part == part)
            return opens;
    return NULL;
}

/* Adds the open state of a node. *ret_opens is NULL if the node has no record of opens. */
static enum error add_gate(struct decision *d, struct decision_part *part, uint64_t node,
                           struct open_state **ret_opens)
{
    struct file_state *state = file_state(d);
    struct open_state read, *opens;
    enum error e = open_state_read(&read, &state->tree, part, node);

    *ret_opens = NULL;
    if (e || (read.set.open_count == 0 && read.set.stale_count == 0))
        return e;
    opens = *ret_opens = arena_alloc(d->arena, sizeof *opens);
    *opens = read;
    opens->next = state->open_states;
    state->open_states = opens;
    return OK;
}

/* Checks the operation against the opens of a node, breaking caching where necessary. A node that
 * is checked twice, as the source of a rename and as its destination or the replaced file, has only
 * one open state, because writing it replaces the whole set of opens. decision: 867 */
enum error file_pass(struct decision *d, struct decision_part *part, uint64_t node,
                     const struct file *file, enum rest_use use)
{
    struct open_state *opens;
    enum error e = OK;

    if (file_state(d)->tree.at) /* a snapshot has no opens */
        return OK;
    opens = open_state_at(d, part);
    if (!opens)
        e = add_gate(d, part, node, &opens);
    if (e || !opens)
        return e;
    opens->is_leased = lease_state(&file->lease, d->now) == LEASE_LEASED;
    opens->use = use;
    return open_state_check_rest(opens, use);
}

/* Checks that the parent directory of a new node has no pending delete. */
static enum error enter_directory(struct decision *d)
{
    struct file_state *state = file_state(d);
    struct open_state opens;
    enum error e;

    if (!decision_may_change(d) || !state->place.directories || tree_place_is_root(&state->place))
        return OK;
    e = open_state_read(&opens, &state->tree, tree_directory_part(&state->tree, &state->place),
                        tree_place_parent(&state->place));
    return e ? e : open_state_add_name(&opens, false);
}

/* Checks a copy against the opens of its source, whose data is read too. decision: 430 */
static enum error pass_source(struct decision *d)
{
    struct file_state *state = file_state(d);
    enum error e = file_pass(d, state->part, state->place.entry.id, &state->file, REST_READS);

    return e ? e : file_pass_read(d, 0, state->file.content.length);
}

/* Does nothing for shares, which have no opens. */
enum error file_enter(struct decision *d)
{
    struct file_state *state = file_state(d);
    unsigned passes = decision_passes(d);

    if (!state || passes == 0)
        return OK;
    if (!state->part)
        return enter_directory(d);
    assert(passes > 0 && passes <= REST_USES);
    if (d->input->is_source && passes - 1 == REST_EXAMINES)
        return pass_source(d);
    return file_pass(d, state->part, state->place.entry.id, &state->file,
                     (enum rest_use)(passes - 1));
}

enum error file_leave(struct decision *d)
{
    struct open_state *opens = d->state ? file_state(d)->open_states : NULL;

    for (; opens && decision_may_change(d); opens = opens->next) {
        if (opens->use == REST_DELETES)
            open_state_delete(opens);
        else
            open_state_write(opens);
    }
    return OK;
}

enum error file_open_state(struct decision *d, struct decision_part *part, uint64_t node,
                           struct open_state **ret_opens)
{
    *ret_opens = open_state_at(d, part);
    if (*ret_opens)
        return OK;
    *ret_opens = arena_alloc(d->arena, sizeof **ret_opens);
    return open_state_read(*ret_opens, &file_state(d)->tree, part, node);
}

/* ---- bytes ---- */

static struct open_state *subject_gate(struct decision *d)
{
    return open_state_at(d, file_state(d)->part);
}

enum error file_pass_read(struct decision *d, uint64_t offset, uint64_t length)
{
    struct open_state *opens = subject_gate(d);

    return opens ? open_state_check_read(opens, offset, length) : OK;
}

enum error file_pass_write(struct decision *d)
{
    struct open_state *opens = subject_gate(d);

    return opens ? open_state_check_write(opens) : OK;
}
