/* See fs_blobs.h. rest: Put-Blob, Put-Page, Get-Blob, Delete-Blob */
#include "fs_blobs.h"

#include <inttypes.h>

#include "draft.h"
#include "fs_change.h"

#define CONTAINER  "blobs"
#define PAGE_BYTES 512u

static const char *const names[FS_BLOBS] = { "blocks", "pages" };

static bool is_of_pages(unsigned blob)
{
    return blob == 1 && fs_slot_bytes() % PAGE_BYTES == 0;
}

bool fs_is_beside(const struct ask *ask)
{
    return ask->smb.op == SM_NOTHING && fs_is_of_blob(ask->fs.op);
}

/* ---- requests ---- */

/* One of blocks comes whole. */
void fs_blob_settle(struct fs_ask *ask)
{
    if (ask->op == FS_PUT_PAGES && !is_of_pages(1))
        ask->op = FS_GET_BLOB;
    if (ask->op == FS_PUT_PAGES)
        ask->blob = 1;
    if (ask->op != FS_PUT_BLOB)
        ask->length = 0;
    else if (!is_of_pages(ask->blob) && ask->length > FS_SLOTS)
        ask->length = FS_SLOTS;
}

void fs_blob_url(unsigned blob, struct text *url)
{
    text_printf(url, "http://127.0.0.1:%u/devstoreaccount1/" CONTAINER "/%s", FS_BLOB_PORT,
                names[blob]);
}

void fs_blob_path(const struct fs_ask *ask, struct text *path)
{
    text_add_string(path, "/devstoreaccount1/" CONTAINER);
    if (ask->op != FS_CREATE_CONTAINER)
        text_printf(path, "/%s", names[ask->blob]);
}

static void add(struct draft *draft, const char *name, struct bytes value)
{
    draft->headers[draft->header_count].name = name;
    draft->headers[draft->header_count++].value = value;
}

void fs_blob_put(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    size_t size = (size_t)ask->length * fs_slot_bytes();
    char *bytes;

    if (is_of_pages(ask->blob)) {
        add(draft, "x-ms-blob-type", bytes_from_string("PageBlob"));
        add(draft, "x-ms-blob-content-length", arena_printf(arena, "%zu", size));
        return;
    }
    add(draft, "x-ms-blob-type", bytes_from_string("BlockBlob"));
    bytes = arena_bytes(arena, size + 1);
    pattern_fill(ask->seed, 0, (unsigned char *)bytes, size);
    draft->body = bytes_of(bytes, size);
}

/* ---- what is right ---- */

static struct fs_expected refusal(int status, const char *code)
{
    return (struct fs_expected){ .status = status, .code = code };
}

static struct fs_expected change(int status)
{
    return (struct fs_expected){ .status = status, .changes = true };
}

static struct fs_expected look_for(const struct fs_state *state, unsigned blob)
{
    if (!state->has_container)
        return refusal(404, "ContainerNotFound");
    return state->blobs[blob].exists ? (struct fs_expected){ .code = NULL }
                                     : refusal(404, "BlobNotFound");
}

struct fs_expected fs_expect_source_blob(const struct fs_state *state, unsigned blob,
                                         unsigned *ret_length)
{
    *ret_length = state->blobs[blob].length;
    return look_for(state, blob);
}

struct fs_expected fs_expect_blob(const struct fs_ask *ask, const struct fs_state *state)
{
    const struct fs_node *blob = &state->blobs[ask->blob];
    struct fs_expected refused;

    if (ask->op == FS_CREATE_CONTAINER)
        return state->has_container ? refusal(409, "ContainerAlreadyExists") : change(201);
    refused = look_for(state, ask->blob);
    if (ask->op == FS_PUT_BLOB)
        return state->has_container ? change(201) : refused;
    if (refused.code)
        return refused;
    switch ((int)ask->op) {
    case FS_PUT_PAGES:
        return ask->to > blob->length ? refusal(416, "InvalidPageRange") : change(201);
    case FS_DELETE_BLOB:
        return change(202);
    default:
        if (ask->has_range && ask->from >= blob->length)
            return refusal(416, "InvalidRange");
        return (struct fs_expected){ .status = ask->has_range ? 206 : 200 };
    }
}

/* ---- what a commit makes ---- */

static void put(const struct fs_ask *ask, struct fs_state *state, struct fs_node *blob)
{
    struct fs_node made = { .exists = true,
                            .id = ++state->ids,
                            .version = state->since,
                            .above = blob->exists ? fs_etag_to_pass(blob) : 0,
                            .metadata = ask->metadata,
                            .length = ask->length };

    for (unsigned i = 0; i < ask->length && !is_of_pages(ask->blob); i++)
        made.slots[i] = fs_slot_value(ask->seed, i);
    *blob = made;
}

void fs_apply_blob(const struct fs_ask *ask, struct fs_state *state)
{
    struct fs_node *blob = &state->blobs[ask->blob];

    switch ((int)ask->op) {
    case FS_CREATE_CONTAINER:
        state->has_container = true;
        break;
    case FS_PUT_BLOB:
        put(ask, state, blob);
        break;
    case FS_PUT_PAGES:
        for (unsigned i = ask->from; i < ask->to; i++)
            blob->slots[i] = fs_slot_value(ask->seed, i);
        fs_write_node(state, blob);
        break;
    default:
        blob->exists = false;
        break;
    }
}
