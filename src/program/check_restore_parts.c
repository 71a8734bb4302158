/* What the files of check_restore.h have in common. */
#include "program/check_restore.h"

#include <stdio.h>

#include "program/check_records.h"
#include "program/check_say.h"

void restore_say(struct restore *r, const struct restore_node *node, const char *what)
{
    r->findings++;
    check_say_part("%s: ", r->share);
    check_say_name(node->at.name.given);
    check_say(SAID_LOST, " (%016llx): %s", (unsigned long long)node->id, what);
}

struct restore_part restore_open(const struct restore *r, uint64_t id)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);

    return (struct restore_part){
        .arena = arena,
        .before = snapshot_open(r->store, tree_partition(arena, r->space, id), STORE_MAY_BLOCK),
        .changes = changes_new(arena),
    };
}

void restore_close(const struct restore *r, struct restore_part *part)
{
    struct commit_part commit = { part->before, part->changes };
    uint64_t sequence;

    if (!changes_empty(part->changes) &&
        store_commit(r->store, &commit, 1, clock_now(), STORE_MAY_BLOCK, &sequence))
        fprintf(stderr, "lagra: a change of the share %s could not be committed\n", r->share);
    snapshot_close(part->before);
    arena_free(part->arena);
}

void restore_put_entry(struct changes *changes, const struct restore *r,
                       const struct restore_node *node)
{
    const struct tree_entry entry = { .id = node->id,
                                      .written = r->newest > 0 ? r->newest : 1,
                                      .kind = node->at.kind,
                                      .name = node->at.name };

    tree_entry_put(changes, &entry);
}

struct restore_node *restore_find(const struct restore *r, uint64_t id)
{
    size_t low = 0, high = r->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (r->nodes[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count && r->nodes[low].id == id ? &r->nodes[low] : NULL;
}
