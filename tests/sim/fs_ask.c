/* See fs_ask.h. */
#include "fs_ask.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

const char *const fs_op_names[FS_OPS] = {
    [FS_CREATE_SHARE] = "Create Share",
    [FS_SNAPSHOT_SHARE] = "Snapshot Share",
    [FS_DELETE_SNAPSHOT] = "Delete Share",
    [FS_CREATE_DIRECTORY] = "Create Directory",
    [FS_CREATE_FILE] = "Create File",
    [FS_PUT_RANGE] = "Put Range",
    [FS_CLEAR_RANGE] = "Put Range (clear)",
    [FS_SET_LENGTH] = "Set File Properties",
    [FS_SET_METADATA] = "Set File Metadata",
    [FS_SET_DIRECTORY_METADATA] = "Set Directory Metadata",
    [FS_RENAME_FILE] = "Rename File",
    [FS_RENAME_DIRECTORY] = "Rename Directory",
    [FS_DELETE_FILE] = "Delete File",
    [FS_DELETE_DIRECTORY] = "Delete Directory",
    [FS_GET_FILE] = "Get File",
    [FS_HEAD_FILE] = "Get File Properties",
    [FS_HEAD_DIRECTORY] = "Get Directory Properties",
};
/* The last is outside of ASCII; the second begins with what the first is. */
const char *const fs_names[2][FS_NAMES] = { { "a", "ab.txt", "%C3%A9" },
                                            { "A", "aB.TXT", "%C3%89" } };

uint32_t fs_slot_bytes(void)
{
    static const uint32_t sizes[] = { 700, 9000, 50000 };

    return sizes[world->plan.seed % 3];
}

bool fs_same_path(const struct fs_path *one, const struct fs_path *other)
{
    return one->depth == other->depth && memcmp(one->names, other->names, one->depth) == 0;
}

static size_t format_path(const struct fs_path *path, char *to, size_t size)
{
    size_t used = 0;

    to[0] = '\0';
    for (unsigned i = 0; i < path->depth && used + 10 < size; i++)
        used += (size_t)snprintf(to + used, size - used, "/%s",
                                 fs_names[path->cases >> i & 1][path->names[i]]);
    return used;
}

void fs_ask_format(const struct fs_ask *ask, char *to, size_t size)
{
    char path[120], source[120];

    format_path(&ask->path, path, sizeof path);
    format_path(&ask->source, source, sizeof source);
    (void)snprintf(to, size, "%s of '%s'%s%s%s%s%s metadata=%u length=%u %s%u..%u seed=%u",
                   fs_op_names[ask->op], path, ask->snapshot.commit > 0 ? " at " : "",
                   ask->snapshot.date, ask->source.depth > 0 ? " from " : "", source,
                   ask->replaces ? " replacing" : "", ask->metadata, ask->length,
                   ask->has_range ? "range " : "", ask->from, ask->to, ask->seed);
}
