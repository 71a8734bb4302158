/* Copy File and Abort Copy File: requests and responses. rest: Copy-File, Abort-Copy-File */
#include "file/copy_file.h"
#include "file/rest/smb_headers.h"
#include "file/rest/source_file.h"
#include "service/answer.h"
#include "service/metadata.h"
#include "source/page_walk.h"

/* Maximum size copied during the request, as for Copy Blob From URL; larger copies are pending.
 * decision: 304 */
#define COPY_BYTES_MAX (UINT64_C(256) << 20)

/* ---- the request ---- */

/* Rejects headers of synchronous copy operations, and of NFS shares. */
static enum error refuse_others(struct call *call)
{
    static const char *const names[] = {
        "x-ms-source-range",        "x-ms-source-content-md5",   "x-ms-source-content-crc64",
        "x-ms-file-mode-copy-mode", "x-ms-file-owner-copy-mode",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !call->loose; i++) {
        if (call_header(call, names[i]).ptr)
            return call_fail_header(call, E_UnsupportedHeader, names[i],
                                    call_header(call, names[i]));
    }
    return OK;
}

/* Reads how the permission is copied. rest: Copy-File "x-ms-file-permission-copy-mode" */
static enum error read_copy_mode(struct call *call, struct permission_given *permission)
{
    static const char name[] = "x-ms-file-permission-copy-mode";
    struct bytes mode = call_header(call, name);
    bool is_source = bytes_is_nocase(mode, "source"),
         is_given = permission->kind != PERMISSION_INHERITED;

    if (mode.ptr && !is_source && !bytes_is_nocase(mode, "override"))
        return call_fail_header(call, E_InvalidHeaderValue, name, mode);
    if (is_source && is_given)
        return call_fail_header(call, E_InvalidHeaderValue, name, mode);
    if (is_source)
        permission->kind = PERMISSION_KEPT;
    return OK;
}

enum error copy_file_check(struct call *call, struct copy_file_parameters *p)
{
    bool ignores_read_only = false;
    enum error e = refuse_others(call);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    p->id = guid_new();
    if (!e)
        e = smb_read(call, SMB_OF_COPY, TREE_FILE, &p->smb);
    if (!e)
        e = read_copy_mode(call, &p->smb.permission);
    if (!e)
        e = call_read_flag(call, "x-ms-file-copy-ignore-readonly", &ignores_read_only);
    if (!e)
        e = call_read_flag(call, "x-ms-file-copy-set-archive", &p->sets_archive);
    if (!e)
        e = metadata_from_headers(call, &p->metadata);
    if (!e)
        e = copy_source_check(call, SOURCE_COPIED, p->source);
    p->rule = ignores_read_only ? OVER_READ_ONLY : OVER_READ_ONLY_REFUSED;
    call->wants_crc64 = false;
    return e;
}

/* ---- the source ---- */

static bool takes_from_source(const struct smb_given *smb)
{
    return !smb->has_attributes || smb->created.kind == TIME_KEPT ||
           smb->written.kind == TIME_KEPT || smb->changed.kind == TIME_KEPT ||
           smb->permission.kind == PERMISSION_KEPT;
}

/* Copies the properties of the source. Only files of this server have SMB properties. */
static enum error take_facts(struct gathering *g, const struct open_source *source,
                             struct copy_file_parameters *p)
{
    const struct get_file_properties_result *file = source_file(source);

    p->http = source->facts.http;
    p->source_metadata = source->facts.metadata;
    p->shown = url_without(g->call->arena, p->source->sent, "sig");
    p->is_file = file != NULL;
    if (file) {
        p->file = file->shown.file;
        p->space = file->space;
        p->is_in_other_cell = source->elsewhere != NULL;
        p->descriptor = file->descriptor;
    } else if (takes_from_source(&p->smb)) {
        return call_fail_header(g->call, E_InvalidHeaderValue, "x-ms-copy-source", p->source->text);
    }
    return source->facts.archived;
}

/* Gathers the ranges of a sparse source if they have few bytes; otherwise *ret_done remains
 * false. */
static enum error gather_ranges(struct gathering *g, struct open_source *source,
                                struct copy_file_parameters *p, bool *ret_done)
{
    struct page_walk walk;
    enum error e;

    e = page_walk_begin(&walk, g, source, &(struct page_walk_from){ .position = 0 });
    if (!e)
        e = page_walk_find_ranges(&walk);
    *ret_done = !e && walk.next == source->facts.content.length;
    if (*ret_done) {
        e = page_walk_gather(&walk);
        p->has_ranges = true;
        p->bytes.ranges = walk.ranges;
        p->bytes.range_count = walk.range_count;
        p->length = source->length;
    }
    page_walk_end(&walk);
    return e;
}

/* Gathers the whole source, with holes as zeros. */
static enum error gather_bytes(struct gathering *g, struct open_source *source,
                               struct copy_file_parameters *p)
{
    enum error e = source_gather(g, p->source, source, COPY_BYTES_MAX, NULL, NULL);

    p->length = g->call->input.body.length;
    return e;
}

/* Leaves the copy to the background. Requires the source's length and ETag, to resume after an
 * interruption. */
static enum error leave_pending(struct gathering *g, const struct open_source *source,
                                struct copy_file_parameters *p)
{
    if (source->length > FILE_LENGTH_MAX)
        return E_RequestBodyTooLarge;
    if (!source->etag.ptr)
        return source_cannot_verify(g, E_MissingRequiredHeader);
    p->is_pending = true;
    p->length = source->length;
    p->pending = source_pending(g, p->source, source, p->id);
    return OK;
}

static bool is_long(const struct open_source *source)
{
    return source->length != HTTP_LENGTH_UNKNOWN && source->length > COPY_BYTES_MAX;
}

enum error copy_file_gather(struct gathering *g, struct copy_file_parameters *p)
{
    struct open_source source;
    bool done = false;
    enum error e = source_open(g, p->source, &source);

    if (!e)
        e = take_facts(g, &source, p);
    if (!e && source.is_own && source.facts.content.form == CONTENT_SPARSE) {
        e = gather_ranges(g, &source, p, &done);
        if (!e && !done) { /* reopen: its reader has advanced */
            source_close(&source);
            e = source_open(g, p->source, &source);
            if (!e)
                e = take_facts(g, &source, p);
        }
    }
    if (!e && !done && is_long(&source))
        e = leave_pending(g, &source, p);
    else if (!e && !done)
        e = gather_bytes(g, &source, p);
    source_close(&source);
    return e;
}

/* ---- responses ---- */

void copy_file_answer(struct answer *a, const struct copy_file_parameters *p,
                      const struct copy_file_result *r)
{
    answer_copy_id(a, &p->id, r->status);
}

enum error abort_copy_file_check(struct call *call, struct abort_copy_file_parameters *p)
{
    struct bytes id = call_query(call, "copyid");

    if (id.len == 0)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "copyid", id, NULL);
    if (!guid_parse(id, &p->id)) /* error as recorded */
        return call_fail_query(call, E_InvalidQueryParameterValue, "copyid", id, "Not a GUID.");
    return OK;
}

OPERATION_ANSWERS_NOTHING(abort_copy_file)
