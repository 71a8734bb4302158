/* See fs_request.h. rest: File-Service-REST-API */
#include "fs_request.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "draft.h"
#include "fs_blobs.h"
#include "fs_model.h"
#include "remote.h"

#define SAS_VERSION "2020-08-04"
#define SAS_EXPIRY  "2100-01-01T00:00:00Z"
#define SHARE_PATH  "/devstoreaccount1/" FS_SHARE

/* How each operation is sent. */
static const struct {
    enum http_method method;
    const char *method_text, *query;
} forms[FS_OPS] = {
    [FS_CREATE_SHARE] = { METHOD_PUT, "PUT", "restype=share" },
    [FS_SNAPSHOT_SHARE] = { METHOD_PUT, "PUT", "comp=snapshot&restype=share" },
    [FS_DELETE_SNAPSHOT] = { METHOD_DELETE, "DELETE", "restype=share" },
    [FS_SET_QUOTA] = { METHOD_PUT, "PUT", "comp=properties&restype=share" },
    [FS_LEASE_SHARE] = { METHOD_PUT, "PUT", "comp=lease&restype=share" },
    [FS_CREATE_PERMISSION] = { METHOD_PUT, "PUT", "comp=filepermission&restype=share" },
    [FS_DELETE_SHARE] = { METHOD_DELETE, "DELETE", "restype=share" },
    [FS_RESTORE_SHARE] = { METHOD_PUT, "PUT", "comp=undelete&restype=share" },
    [FS_KEEP_SHARES] = { METHOD_PUT, "PUT", "comp=properties&restype=service" },
    [FS_CREATE_CONTAINER] = { METHOD_PUT, "PUT", "restype=container" },
    [FS_PUT_BLOB] = { METHOD_PUT, "PUT", NULL },
    [FS_PUT_PAGES] = { METHOD_PUT, "PUT", "comp=page" },
    [FS_DELETE_BLOB] = { METHOD_DELETE, "DELETE", NULL },
    [FS_CREATE_DIRECTORY] = { METHOD_PUT, "PUT", "restype=directory" },
    [FS_CREATE_FILE] = { METHOD_PUT, "PUT", NULL },
    [FS_COPY_FILE] = { METHOD_PUT, "PUT", NULL },
    [FS_ABORT_COPY] = { METHOD_PUT, "PUT", "comp=copy" },
    [FS_PUT_RANGE] = { METHOD_PUT, "PUT", "comp=range" },
    [FS_PUT_RANGE_FROM_URL] = { METHOD_PUT, "PUT", "comp=range" },
    [FS_CLEAR_RANGE] = { METHOD_PUT, "PUT", "comp=range" },
    [FS_SET_LENGTH] = { METHOD_PUT, "PUT", "comp=properties" },
    [FS_SET_METADATA] = { METHOD_PUT, "PUT", "comp=metadata" },
    [FS_SET_DIRECTORY_METADATA] = { METHOD_PUT, "PUT", "comp=metadata&restype=directory" },
    [FS_RENAME_FILE] = { METHOD_PUT, "PUT", "comp=rename" },
    [FS_RENAME_DIRECTORY] = { METHOD_PUT, "PUT", "comp=rename&restype=directory" },
    [FS_DELETE_FILE] = { METHOD_DELETE, "DELETE", NULL },
    [FS_DELETE_DIRECTORY] = { METHOD_DELETE, "DELETE", "restype=directory" },
    [FS_LEASE_FILE] = { METHOD_PUT, "PUT", "comp=lease" },
    [FS_GET_FILE] = { METHOD_GET, "GET", NULL },
    [FS_HEAD_FILE] = { METHOD_HEAD, "HEAD", NULL },
    [FS_HEAD_DIRECTORY] = { METHOD_GET, "GET", "restype=directory" },
    [FS_LIST_RANGES] = { METHOD_GET, "GET", "comp=rangelist" },
    [FS_LIST_FILES] = { METHOD_GET, "GET", "comp=list&restype=directory" },
    [FS_LIST_HANDLES] = { METHOD_GET, "GET", "comp=listhandles" },
    [FS_HEAD_SHARE] = { METHOD_GET, "GET", "restype=share" },
    [FS_GET_PERMISSION] = { METHOD_GET, "GET", "comp=filepermission&restype=share" },
    [FS_LIST_SHARES] = { METHOD_GET, "GET", "comp=list" },
    [FS_GET_SERVICE] = { METHOD_GET, "GET", "comp=properties&restype=service" },
    [FS_GET_BLOB] = { METHOD_GET, "GET", NULL },
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

static struct bytes range_text(struct arena *arena, unsigned from, unsigned to)
{
    uint32_t slot = fs_slot_bytes();

    return arena_printf(arena, "bytes=%u-%u", from * slot, to * slot - 1);
}

static void add_body(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    size_t slot = fs_slot_bytes(), size = (ask->to - ask->from) * slot;
    char *bytes = arena_bytes(arena, size);

    pattern_fill(ask->seed, ask->from * slot, (unsigned char *)bytes, size);
    draft->body = bytes_of(bytes, size);
}

/* ---- sources ---- */

/* Of the account, which reads any file and blob of it. rest: Create-account-SAS */
static void add_signature(struct text *url)
{
    static const char plain[] =
        "devstoreaccount1\nr\nbf\no\n\n2100-01-01T00:00:00Z\n\n\n" SAS_VERSION "\n";
    char mac[64];

    request_mac(plain, mac, sizeof mac);
    text_add_string(url, "sv=" SAS_VERSION "&ss=bf&srt=o&sp=r&se=2100-01-01T00:00:00Z&sig=");
    for (const char *at = mac; *at; at++)
        text_printf(url, "%%%02X", (unsigned)*at);
}

/* Of the share. rest: Create-service-SAS; of version 2020-08-04 */
static void add_share_signature(const struct fs_ask *ask, struct text *query)
{
    const char *letters = fs_letters[ask->letters];
    char plain[200], mac[64];

    (void)snprintf(plain, sizeof plain,
                   "%s\n\n" SAS_EXPIRY "\n/file" SHARE_PATH "\n\n\n\n" SAS_VERSION "\n\n\n\n\n",
                   letters);
    request_mac(plain, mac, sizeof mac);
    text_printf(query,
                "%ssv=" SAS_VERSION "&sr=s&sp=%s&se=" SAS_EXPIRY "&sig=", query->len > 0 ? "&" : "",
                letters);
    for (const char *at = mac; *at; at++)
        text_printf(query, "%%%02X", (unsigned)*at);
}

static struct bytes source_url(const struct fs_ask *ask, struct arena *arena, bool is_signed)
{
    struct text url;

    text_init(&url, arena, 300);
    if (ask->source_blob > 0) {
        fs_blob_url(ask->source_blob - 1, &url);
    } else {
        text_add_string(&url, "http://127.0.0.1");
        add_path(&url, &ask->source);
    }
    if (ask->source_snapshot.commit > 0)
        text_printf(&url, "?sharesnapshot=%s", ask->source_snapshot.date);
    if (is_signed) {
        text_add_char(&url, ask->source_snapshot.commit > 0 ? '&' : '?');
        add_signature(&url);
    }
    return text_bytes(&url);
}

/* Neither another server nor a blob says what only files have. decision: 304 */
static void add_source(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    unsigned filled = ask->source_length < FS_SLOTS ? ask->source_length : FS_SLOTS;
    const struct remote remote = { .kind = KIND_BLOCKS,
                                   .fate = ask->fate,
                                   .seed = ask->seed,
                                   .length = ask->source_length * fs_slot_bytes(),
                                   .filled = filled * fs_slot_bytes() };

    add(draft, "x-ms-copy-source",
        ask->is_remote ? remote_url(&remote, arena) : source_url(ask, arena, false));
    if (!ask->is_remote && ask->source_blob == 0)
        return;
    add_text(draft, "x-ms-file-attributes", "None");
    add_text(draft, "x-ms-file-creation-time", "now");
    add_text(draft, "x-ms-file-last-write-time", "now");
}

/* ---- what is particular ---- */

static void add_lease(const struct fs_ask *ask, struct draft *draft)
{
    static const char *const texts[] = { "acquire", "renew", "change", "release", "break" };

    add_text(draft, "x-ms-lease-action", texts[ask->act]);
    if (ask->act == ACT_ACQUIRE)
        add_text(draft, "x-ms-lease-duration", "-1");
    if (ask->proposed > 0)
        add_text(draft, "x-ms-proposed-lease-id", lease_texts[ask->proposed]);
}

static void add_range(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    add_text(draft, "x-ms-write", ask->op == FS_CLEAR_RANGE ? "clear" : "update");
    add(draft, "x-ms-range", range_text(arena, ask->from, ask->to));
    if (ask->op == FS_PUT_RANGE)
        add_body(ask, arena, draft);
    if (ask->op == FS_PUT_RANGE_FROM_URL) {
        add(draft, "x-ms-copy-source", source_url(ask, arena, true));
        add(draft, "x-ms-source-range",
            range_text(arena, ask->source_from, ask->source_from + ask->to - ask->from));
    }
}

static void add_rename(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    add(draft, "x-ms-file-rename-source", source_url(ask, arena, false));
    if (ask->replaces)
        add_text(draft, "x-ms-file-rename-replace-if-exists", "true");
    if (ask->source_lease > 0)
        add_text(draft, "x-ms-source-lease-id", lease_texts[ask->source_lease]);
    if (ask->lease > 0)
        add_text(draft, "x-ms-destination-lease-id", lease_texts[ask->lease]);
}

static void add_permission(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    switch ((int)ask->op) {
    case FS_CREATE_PERMISSION:
        draft->body =
            arena_printf(arena, "{\"permission\":\"%s\"}", fs_permissions[ask->permission]);
        break;
    case FS_GET_PERMISSION:
        add_text(draft, "x-ms-file-permission-key", fs_known_key(ask->permission));
        break;
    default:
        add_text(draft, "x-ms-file-permission", fs_permissions[ask->permission]);
        break;
    }
}

static struct bytes retention_text(const struct fs_ask *ask, struct arena *arena)
{
    static const char form[] = "<StorageServiceProperties><ShareDeleteRetentionPolicy>%s"
                               "</ShareDeleteRetentionPolicy></StorageServiceProperties>";
    struct bytes days =
        arena_printf(arena, "<Enabled>true</Enabled><Days>%u</Days>", ask->retention);

    return arena_printf(arena, form, ask->retention > 0 ? days.ptr : "<Enabled>false</Enabled>");
}

static void add_particular(const struct fs_ask *ask, struct arena *arena, struct draft *draft)
{
    switch ((int)ask->op) {
    case FS_CREATE_FILE:
        add_text(draft, "x-ms-type", "file");
        /* fall through */
    case FS_SET_LENGTH:
        add(draft, "x-ms-content-length",
            arena_printf(arena, "%" PRIu64, (uint64_t)ask->length * fs_slot_bytes()));
        break;
    case FS_COPY_FILE:
        add_source(ask, arena, draft);
        break;
    case FS_ABORT_COPY:
        add_text(draft, "x-ms-copy-action", "abort");
        break;
    case FS_PUT_RANGE:
    case FS_PUT_RANGE_FROM_URL:
    case FS_CLEAR_RANGE:
        add_range(ask, arena, draft);
        break;
    case FS_RENAME_FILE:
    case FS_RENAME_DIRECTORY:
        add_rename(ask, arena, draft);
        break;
    case FS_PUT_BLOB:
        fs_blob_put(ask, arena, draft);
        break;
    case FS_PUT_PAGES:
        add_text(draft, "x-ms-page-write", "update");
        add(draft, "x-ms-range", range_text(arena, ask->from, ask->to));
        add_body(ask, arena, draft);
        break;
    case FS_GET_FILE:
    case FS_GET_BLOB:
    case FS_LIST_RANGES:
        if (ask->has_range)
            add(draft, "x-ms-range", range_text(arena, ask->from, ask->to));
        break;
    case FS_LEASE_FILE:
    case FS_LEASE_SHARE:
        add_lease(ask, draft);
        break;
    case FS_DELETE_SHARE:
        if (ask->replaces)
            add_text(draft, "x-ms-delete-snapshots", "include");
        break;
    case FS_RESTORE_SHARE:
        add_text(draft, "x-ms-deleted-share-name", "files");
        add_text(draft, "x-ms-deleted-share-version", ask->snapshot.date);
        break;
    case FS_KEEP_SHARES:
        draft->body = retention_text(ask, arena);
        break;
    case FS_SET_QUOTA:
        add(draft, "x-ms-share-quota", arena_printf(arena, "%u", ask->quota));
        break;
    default:
        break;
    }
}

/* ---- the query ---- */

static void add_include(const struct fs_ask *ask, struct text *query)
{
    static const char *const files[] = { "Timestamps", "Etag", "Attributes", "PermissionKey" };
    static const char *const shares[] = { "snapshots", "metadata", "deleted", NULL };
    const char *const *names = ask->op == FS_LIST_FILES ? files : shares;
    const char *before = "&include=";

    for (unsigned i = 0; i < 4; i++) {
        if (!(ask->page.include >> i & 1) || !names[i])
            continue;
        text_printf(query, "%s%s", before, names[i]);
        before = ",";
    }
}

static void add_page(const struct fs_ask *ask, struct text *query)
{
    const struct fs_page *page = &ask->page;
    unsigned name = page->marker - 1;

    add_include(ask, query);
    if (page->prefix > 0)
        text_printf(query, "&prefix=%s", fs_prefixes[page->prefix]);
    if (page->max > 0)
        text_printf(query, "&maxresults=%u", page->max);
    if (page->marker > 0) {
        const char *base64 = fs_name_base64[name % 2][name / 2];

        text_printf(query, "&marker=1!%zu!%s", strlen(base64), base64);
    }
    if (ask->previous.commit > 0)
        text_printf(query, "&prevsharesnapshot=%s", ask->previous.date);
}

static void add_copy_id(const struct fs_ask *ask, struct text *query)
{
    char text[GUID_TEXT_SIZE];
    struct guid id;

    memcpy(id.b, ask->copy.bytes, sizeof id.b);
    guid_format(&id, text);
    text_printf(query, "&copyid=%s", text);
}

static struct bytes query_of(const struct fs_ask *ask, struct arena *arena)
{
    const char *form = forms[ask->op].query;
    struct text query;

    if (!form && ask->snapshot.commit == 0 && ask->letters == 0)
        return bytes_of(NULL, 0);
    text_init(&query, arena, 300);
    text_add_string(&query, form ? form : "");
    if (ask->op >= FS_LIST_RANGES)
        add_page(ask, &query);
    if (ask->op == FS_ABORT_COPY)
        add_copy_id(ask, &query);
    if (ask->snapshot.commit > 0 && ask->op != FS_RESTORE_SHARE)
        text_printf(&query, "%ssharesnapshot=%s", form ? "&" : "", ask->snapshot.date);
    if (ask->letters > 0)
        add_share_signature(ask, &query);
    return text_bytes(&query);
}

void fs_request_write(const struct ask *ask, struct arena *arena, struct draft *ret_draft)
{
    const struct fs_ask *fs = &ask->fs;
    struct text path;

    *ret_draft =
        (struct draft){ .method = forms[fs->op].method, .method_text = forms[fs->op].method_text };
    ret_draft->query = query_of(fs, arena);
    text_init(&path, arena, 200);
    if (fs_is_of_blob(fs->op))
        fs_blob_path(fs, &path);
    else if (fs->op == FS_LIST_SHARES || fs->op == FS_GET_SERVICE || fs->op == FS_KEEP_SHARES)
        text_add_string(&path, "/devstoreaccount1/");
    else
        add_path(&path, &fs->path);
    ret_draft->path = text_bytes(&path);
    if (fs->metadata > 0)
        add(ret_draft, "x-ms-meta-v", arena_printf(arena, "%u", fs->metadata));
    if (fs->lease > 0 && fs->op != FS_RENAME_FILE && fs->op != FS_RENAME_DIRECTORY)
        add_text(ret_draft, "x-ms-lease-id", lease_texts[fs->lease]);
    if (fs->permission > 0)
        add_permission(fs, arena, ret_draft);
    add_particular(fs, arena, ret_draft);
}

void fs_request_read_header(const struct http_header *header, struct reply *reply)
{
    struct fs_reply *fs = &reply->fs;
    char text[40];

    (void)snprintf(text, sizeof text, "%.*s", BYTES_ARG(header->value));
    if (bytes_is_nocase(header->name, "x-ms-file-id"))
        fs->file_id = strtoull(text, NULL, 10);
    else if (bytes_is_nocase(header->name, "x-ms-share-quota"))
        fs->quota = (unsigned)strtoul(text, NULL, 10);
    else if (bytes_is_nocase(header->name, "x-ms-file-permission-key"))
        memcpy(fs->permission_key, text, sizeof text);
    else if (bytes_is_nocase(header->name, "x-ms-copy-id"))
        memcpy(fs->copy_id, text, sizeof text);
    else if (bytes_is_nocase(header->name, "x-ms-copy-progress"))
        (void)snprintf(fs->copy_progress, sizeof fs->copy_progress, "%s", text);
}

void fs_request_format(const struct ask *ask, char *to, size_t size)
{
    if (ask->smb.op != SM_NOTHING)
        sm_ask_format(&ask->smb, to, size);
    else
        fs_ask_format(&ask->fs, to, size);
}
