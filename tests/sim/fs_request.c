/* See fs_request.h. rest: File-Service-REST-API */
#include "fs_request.h"

#include <assert.h>
#include <string.h>

#include "draft.h"

#define SHARE_PATH "/devstoreaccount1/files"

/* How each operation is sent. */
static const struct {
    enum http_method method;
    const char *method_text, *query;
} forms[FS_OPS] = {
    [FS_CREATE_SHARE] = { METHOD_PUT, "PUT", "restype=share" },
    [FS_SNAPSHOT_SHARE] = { METHOD_PUT, "PUT", "comp=snapshot&restype=share" },
    [FS_DELETE_SNAPSHOT] = { METHOD_DELETE, "DELETE", "restype=share" },
    [FS_CREATE_DIRECTORY] = { METHOD_PUT, "PUT", "restype=directory" },
    [FS_CREATE_FILE] = { METHOD_PUT, "PUT", NULL },
    [FS_PUT_RANGE] = { METHOD_PUT, "PUT", "comp=range" },
    [FS_CLEAR_RANGE] = { METHOD_PUT, "PUT", "comp=range" },
    [FS_SET_LENGTH] = { METHOD_PUT, "PUT", "comp=properties" },
    [FS_SET_METADATA] = { METHOD_PUT, "PUT", "comp=metadata" },
    [FS_SET_DIRECTORY_METADATA] = { METHOD_PUT, "PUT", "comp=metadata&restype=directory" },
    [FS_RENAME_FILE] = { METHOD_PUT, "PUT", "comp=rename" },
    [FS_RENAME_DIRECTORY] = { METHOD_PUT, "PUT", "comp=rename&restype=directory" },
    [FS_DELETE_FILE] = { METHOD_DELETE, "DELETE", NULL },
    [FS_DELETE_DIRECTORY] = { METHOD_DELETE, "DELETE", "restype=directory" },
    [FS_GET_FILE] = { METHOD_GET, "GET", NULL },
    [FS_HEAD_FILE] = { METHOD_HEAD, "HEAD", NULL },
    [FS_HEAD_DIRECTORY] = { METHOD_GET, "GET", "restype=directory" },
};

static void add(struct draft *draft, const char *name, struct bytes value)
{
    assert(draft->header_count < DRAFT_HEADERS_MAX);
    draft->headers[draft->header_count].name = name;
    draft->headers[draft->header_count++].value = value;
}

static void add_text(struct draft *draft, const char *name, const char *value)
{
    add(draft, name, bytes_from_string(value));
}

static void add_path(struct text *text, const struct fs_path *path)
{
    text_add_string(text, SHARE_PATH);
    for (unsigned i = 0; i < path->depth; i++)
        text_printf(text, "/%s", fs_names[path->cases >> i & 1][path->names[i]]);
}

static struct bytes range_text(const struct fs_ask *ask, struct arena *arena)
{
    uint32_t slot = fs_slot_bytes();

    return arena_printf(arena, "bytes=%u-%u", ask->from * slot, ask->to * slot - 1);
}

static void add_body(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    size_t slot = fs_slot_bytes(), size = (ask->to - ask->from) * slot;
    char *bytes = arena_bytes(arena, size);

    pattern_fill(ask->seed, ask->from * slot, (unsigned char *)bytes, size);
    draft->body = bytes_of(bytes, size);
}

static void add_particular(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    struct text source;

    switch ((int)ask->op) {
    case FS_CREATE_FILE:
        add_text(draft, "x-ms-type", "file");
        /* fall through */
    case FS_SET_LENGTH:
        add(draft, "x-ms-content-length", arena_printf(arena, "%u", ask->length * fs_slot_bytes()));
        break;
    case FS_PUT_RANGE:
        add_text(draft, "x-ms-write", "update");
        add(draft, "x-ms-range", range_text(ask, arena));
        add_body(ask, arena, draft);
        break;
    case FS_CLEAR_RANGE:
        add_text(draft, "x-ms-write", "clear");
        add(draft, "x-ms-range", range_text(ask, arena));
        break;
    case FS_RENAME_FILE:
    case FS_RENAME_DIRECTORY:
        text_init(&source, arena, 200);
        text_add_string(&source, "http://127.0.0.1");
        add_path(&source, &ask->source);
        add(draft, "x-ms-file-rename-source", text_bytes(&source));
        if (ask->replaces)
            add_text(draft, "x-ms-file-rename-replace-if-exists", "true");
        break;
    case FS_GET_FILE:
        if (ask->has_range)
            add(draft, "x-ms-range", range_text(ask, arena));
        break;
    default:
        break;
    }
}

static struct bytes query_of(const struct fs_ask *ask, struct arena *arena)
{
    const char *form = forms[ask->op].query;

    if (ask->snapshot.commit == 0)
        return form ? bytes_from_string(form) : bytes_of(NULL, 0);
    return arena_printf(arena, "%s%ssharesnapshot=%s", form ? form : "", form ? "&" : "",
                        ask->snapshot.date);
}

void fs_request_write(const struct ask *ask, struct arena *arena, struct draft *ret_draft)
{
    const struct fs_ask *fs = &ask->fs;
    struct text path;

    *ret_draft =
        (struct draft){ .method = forms[fs->op].method, .method_text = forms[fs->op].method_text };
    ret_draft->query = query_of(fs, arena);
    text_init(&path, arena, 200);
    add_path(&path, &fs->path);
    ret_draft->path = text_bytes(&path);
    if (fs->metadata > 0)
        add(ret_draft, "x-ms-meta-v", arena_printf(arena, "%u", fs->metadata));
    add_particular(fs, arena, ret_draft);
}

void fs_request_format(const struct ask *ask, char *to, size_t size)
{
    fs_ask_format(&ask->fs, to, size);
}
