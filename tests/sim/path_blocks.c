/* Blocks of files, which only the Blob endpoint stages and commits, and their snapshots. decision: 1202 */
#include <assert.h>
#include <string.h>

#include "path_state.h"

/* ---- blocks ---- */

unsigned path_count_blocks(const struct path_node *node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < PATH_BLOCK_IDS; i++)
        count += node->blocks[i].block > 0;
    return count;
}

static const struct path_content *find_committed(const struct path_node *node, unsigned block)
{
    for (unsigned i = 0; i < node->part_count; i++)
        if (node->parts[i].block == block + 1)
            return &node->parts[i];
    return NULL;
}

static const struct path_content *find_block(const struct path_node *node,
                                             enum path_block_source source, unsigned block)
{
    if (source != PATH_COMMITTED && node->blocks[block].block > 0)
        return &node->blocks[block];
    return source == PATH_UNCOMMITTED ? NULL : find_committed(node, block);
}

bool path_has_block(const struct path_node *node, enum path_block_source source, unsigned block)
{
    return find_block(node, source, block) != NULL;
}

void path_put_block_list(struct path_node *node, const struct path_ask *ask,
                         const struct path_node *was)
{
    for (unsigned i = 0; i < ask->list_count; i++)
        node->parts[node->part_count++] = *find_block(was, ask->list[i].source, ask->list[i].block);
}

/* ---- snapshots ---- */

unsigned path_find_snapshot(const struct path_node *node, const char *time)
{
    for (unsigned i = 0; i < node->snapshot_count; i++)
        if (strcmp(node->snapshots[i].time->text, time) == 0)
            return i;
    return PATH_SNAPSHOTS_MAX;
}

const struct path_node *path_named(const struct path_ask *ask, const struct path_node *node)
{
    unsigned i;

    if (!node || !ask->snapshot[0])
        return node && !node->is_uncommitted ? node : NULL;
    i = path_find_snapshot(node, ask->snapshot);
    return i < PATH_SNAPSHOTS_MAX ? node->snapshots[i].node : NULL;
}
