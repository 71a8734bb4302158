/* See fs_ask.h. */
#include "fs_ask.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

const char *const fs_shares[1] = { "files" };
const char *const fs_op_names[FS_OPS] = {
    [FS_CREATE_SHARE] = "Create Share",
    [FS_SNAPSHOT_SHARE] = "Snapshot Share",
    [FS_DELETE_SNAPSHOT] = "Delete Share (snapshot)",
    [FS_SET_QUOTA] = "Set Share Properties",
    [FS_LEASE_SHARE] = "Lease Share",
    [FS_CREATE_PERMISSION] = "Create Permission",
    [FS_DELETE_SHARE] = "Delete Share",
    [FS_RESTORE_SHARE] = "Restore Share",
    [FS_KEEP_SHARES] = "Set File Service Properties",
    [FS_CREATE_CONTAINER] = "Create Container",
    [FS_PUT_BLOB] = "Put Blob",
    [FS_PUT_PAGES] = "Put Page",
    [FS_DELETE_BLOB] = "Delete Blob",
    [FS_CREATE_DIRECTORY] = "Create Directory",
    [FS_CREATE_FILE] = "Create File",
    [FS_COPY_FILE] = "Copy File",
    [FS_ABORT_COPY] = "Abort Copy File",
    [FS_PUT_RANGE] = "Put Range",
    [FS_PUT_RANGE_FROM_URL] = "Put Range From URL",
    [FS_CLEAR_RANGE] = "Put Range (clear)",
    [FS_SET_LENGTH] = "Set File Properties",
    [FS_SET_METADATA] = "Set File Metadata",
    [FS_SET_DIRECTORY_METADATA] = "Set Directory Metadata",
    [FS_RENAME_FILE] = "Rename File",
    [FS_RENAME_DIRECTORY] = "Rename Directory",
    [FS_DELETE_FILE] = "Delete File",
    [FS_DELETE_DIRECTORY] = "Delete Directory",
    [FS_LEASE_FILE] = "Lease File",
    [FS_GET_FILE] = "Get File",
    [FS_HEAD_FILE] = "Get File Properties",
    [FS_HEAD_DIRECTORY] = "Get Directory Properties",
    [FS_LIST_RANGES] = "List Ranges",
    [FS_LIST_FILES] = "List Directories and Files",
    [FS_LIST_HANDLES] = "List Handles",
    [FS_HEAD_SHARE] = "Get Share Properties",
    [FS_GET_PERMISSION] = "Get Permission",
    [FS_LIST_SHARES] = "List Shares",
    [FS_GET_SERVICE] = "Get File Service Properties",
    [FS_GET_BLOB] = "Get Blob",
};
/* The last is outside of ASCII; the second begins with what the first is. */
const char *const fs_names[2][FS_NAMES] = { { "a", "ab.txt", "%C3%A9" },
                                            { "A", "aB.TXT", "%C3%89" } };
const char *const fs_name_bytes[2][FS_NAMES] = { { "a", "ab.txt", "\xC3\xA9" },
                                                 { "A", "aB.TXT", "\xC3\x89" } };
const char *const fs_name_base64[2][FS_NAMES] = { { "YQ--", "YWIudHh0", "w6k-" },
                                                  { "QQ--", "YUIuVFhU", "w4k-" } };
const char *const fs_prefixes[FS_PREFIXES] = { "", "A", "ab", "%C3%89", "x", "AB.txt" };
const unsigned fs_prefix_holds[FS_PREFIXES] = { 7, 3, 2, 4, 0, 2 };
const char *const fs_permissions[FS_PERMISSIONS_KNOWN + 1] = {
    "",
    "O:BAG:SYD:(A;;FA;;;WD)S:NO_ACCESS_CONTROL",
    "O:BAG:SYD:(A;;FA;;;SY)S:NO_ACCESS_CONTROL",
    "O:SYG:SYD:(A;;FA;;;BA)S:NO_ACCESS_CONTROL",
    "O:BAG:SYD:AI(A;OICI;FA;;;WD)S:NO_ACCESS_CONTROL",
    "O:SYG:SYD:AI(A;OICIID;FA;;;WD)S:NO_ACCESS_CONTROL",
    "O:SYG:SYD:AI(A;ID;FA;;;WD)S:NO_ACCESS_CONTROL",
};

/* [MS-DTYP] 2.5.3.4 */
unsigned fs_inherited(unsigned permission, bool is_directory)
{
    bool is_passed_on = permission == FS_PERMISSIONS || permission == FS_PERMISSIONS + 1;

    return !is_passed_on ? 0 : is_directory ? FS_PERMISSIONS + 1 : FS_PERMISSIONS + 2;
}

const char *const fs_letters[FS_LETTERS] = { "", "r", "c", "w", "d", "l", "rcwdl" };

/* rest: Create-service-SAS, "Permissions for a file" */
const char *fs_needs_letters(const struct fs_ask *ask)
{
    static const char *const needed[FS_OPS] = {
        [FS_CREATE_DIRECTORY] = "cw", [FS_CREATE_FILE] = "w",
        [FS_PUT_RANGE] = "w",         [FS_CLEAR_RANGE] = "w",
        [FS_SET_LENGTH] = "w",        [FS_SET_METADATA] = "w",
        [FS_DELETE_FILE] = "d",       [FS_SET_DIRECTORY_METADATA] = "w",
        [FS_DELETE_DIRECTORY] = "d",  [FS_LEASE_FILE] = "w",
        [FS_GET_FILE] = "r",          [FS_HEAD_FILE] = "r",
        [FS_HEAD_DIRECTORY] = "r",    [FS_LIST_RANGES] = "r",
        [FS_LIST_FILES] = "l",        [FS_LIST_HANDLES] = "l",
    };

    return ask->op == FS_LEASE_FILE && ask->act == ACT_BREAK ? "wd" : needed[ask->op];
}

bool fs_has_path(enum fs_op op)
{
    return op >= FS_CREATE_DIRECTORY && op <= FS_LIST_HANDLES;
}

bool fs_is_read(enum fs_op op)
{
    return op >= FS_GET_FILE;
}

bool fs_writes_node(enum fs_op op)
{
    return (op >= FS_CREATE_DIRECTORY && op <= FS_RENAME_DIRECTORY) || op == FS_PUT_BLOB ||
           op == FS_PUT_PAGES;
}

bool fs_is_of_blob(enum fs_op op)
{
    return (op >= FS_CREATE_CONTAINER && op <= FS_DELETE_BLOB) || op == FS_GET_BLOB;
}

bool fs_has_blobs(void)
{
    uint64_t of_seven = world->plan.seed % 7;

    if (world->plan.fronts > 0)
        return false; /* one service is behind the front ends */

    return of_seven == 2 || of_seven == 3;
}

bool fs_is_large(void)
{
    return world->plan.seed % 5 == 4 && world->plan.cluster_cells <= 1;
}

uint32_t fs_slot_bytes(void)
{
    static const uint32_t sizes[] = { 700, 9216, 51200 };

    return sizes[world->plan.seed % 3];
}

unsigned fs_large_slots(void)
{
    return (1u << 30) / 3 / fs_slot_bytes();
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
    if (fs_is_of_blob(ask->op))
        (void)snprintf(path, sizeof path, "blob %u", ask->blob);
    format_path(&ask->source, source, sizeof source);
    if (ask->is_remote)
        (void)snprintf(source, sizeof source, "elsewhere: %u slots, fate %d", ask->source_length,
                       (int)ask->fate);
    if (ask->source_blob > 0)
        (void)snprintf(source, sizeof source, "blob %u", ask->source_blob - 1);
    (void)snprintf(
        to, size,
        "%s of '%s'%s%s%s%s%s%s%s%s metadata=%u length=%u %s%u..%u seed=%u lease=%u,%u "
        "act=%d>%u quota=%u days=%u include=%u prefix=%u max=%u marker=%u permission=%u%s%s",
        fs_op_names[ask->op], path, ask->snapshot.commit > 0 ? " at " : "", ask->snapshot.date,
        ask->source.depth > 0 || ask->is_remote || ask->source_blob > 0 ? " from " : "", source,
        ask->source_snapshot.date, ask->previous.commit > 0 ? " since " : "", ask->previous.date,
        ask->replaces ? " replacing" : "", ask->metadata, ask->length,
        ask->has_range ? "range " : "", ask->from, ask->to, ask->seed, ask->lease,
        ask->source_lease, (int)ask->act, ask->proposed, ask->quota, ask->retention,
        ask->page.include, ask->page.prefix, ask->page.max, ask->page.marker, ask->permission,
        ask->letters > 0 ? " by SAS " : "", fs_letters[ask->letters]);
}
