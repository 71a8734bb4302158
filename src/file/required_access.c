/* Passes the gate for REST operations, as their row's column says, before they are decided.
 * opens/open_state.h; semantics 8.2 to 8.4 */
#include <assert.h>

#include "file/file.h"
#include "opens/open_state.h"

static struct file_gate *gate_at(struct decision *d, const struct decision_part *part)
{
    for (struct file_gate *gate = file_state(d)->gates; gate; gate = gate->next)
        if (gate->part == part)
            return gate;
    return NULL;
}

/* Adds the gate of a node. *ret_gate is NULL if the node has no record of opens. */
static enum error add_gate(struct decision *d, struct decision_part *part, uint64_t node,
                           struct file_gate **ret_gate)
{
    struct file_state *state = file_state(d);
    struct file_gate read, *gate;
    enum error e = gate_read(&read, &state->tree, part, node);

    *ret_gate = NULL;
    if (e || (read.set.open_count == 0 && read.set.left_count == 0))
        return e;
    gate = *ret_gate = arena_alloc(d->arena, sizeof *gate);
    *gate = read;
    gate->next = state->gates;
    state->gates = gate;
    return OK;
}

/* Passes the gate of a node. A node that is passed twice, both as the source of a rename and as
 * its destination or the replaced file, has one gate, since a gate writes the whole set of
 * opens. decision: 867 */
enum error file_pass(struct decision *d, struct decision_part *part, uint64_t node,
                     const struct file *file, enum rest_use use)
{
    struct file_gate *gate;
    enum error e = OK;

    if (file_state(d)->tree.at) /* a snapshot has no opens */
        return OK;
    gate = gate_at(d, part);
    if (!gate)
        e = add_gate(d, part, node, &gate);
    if (e || !gate)
        return e;
    gate->is_leased = lease_state(&file->lease, d->now) == LEASE_LEASED;
    gate->use = use;
    return gate_pass(gate, use);
}

/* Checks that the directory of a node to be created has no pending delete. */
static enum error enter_directory(struct decision *d)
{
    struct file_state *state = file_state(d);
    struct file_gate gate;
    enum error e;

    if (!decision_may_change(d) || !state->place.directories || tree_place_is_root(&state->place))
        return OK;
    e = gate_read(&gate, &state->tree, tree_directory_part(&state->tree, &state->place),
                  tree_place_parent(&state->place));
    return e ? e : gate_add_name(&gate, false);
}

/* Passes the gate for the source of a copy, whose data is read too. decision: 430 */
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
    struct file_gate *gate = d->state ? file_state(d)->gates : NULL;

    for (; gate && decision_may_change(d); gate = gate->next) {
        if (gate->use == REST_DELETES)
            gate_delete(gate);
        else
            gate_write(gate);
    }
    return OK;
}

enum error file_gate_of(struct decision *d, struct decision_part *part, uint64_t node,
                        struct file_gate **ret_gate)
{
    *ret_gate = gate_at(d, part);
    if (*ret_gate)
        return OK;
    *ret_gate = arena_alloc(d->arena, sizeof **ret_gate);
    return gate_read(*ret_gate, &file_state(d)->tree, part, node);
}

/* ---- bytes ---- */

static struct file_gate *subject_gate(struct decision *d)
{
    return gate_at(d, file_state(d)->part);
}

enum error file_pass_read(struct decision *d, uint64_t offset, uint64_t length)
{
    struct file_gate *gate = subject_gate(d);

    return gate ? gate_pass_read(gate, offset, length) : OK;
}

enum error file_pass_write(struct decision *d)
{
    struct file_gate *gate = subject_gate(d);

    return gate ? gate_pass_write(gate) : OK;
}
