/* Create Permission and Get Permission, and permissions in request headers. Bodies are JSON:
 *   { "permission": "O:SYG:SYD:..", "format": "sddl" } */
#include "acl/permission_store.h"
#include "acl/security_descriptor.h"
#include "base/encode.h"
#include "base/json.h"
#include "file/permission_operations.h"
#include "file/rest/request.h"
#include "file/rest/smb_headers.h"

/* rest: Create-Permission, Get-Permission */
static bool read_format(struct bytes text, bool *ret_binary)
{
    *ret_binary = bytes_is_nocase(text, "binary");
    return !text.ptr || *ret_binary || bytes_is_nocase(text, "sddl");
}

/* Reads the format header, which is checked even without a descriptor. */
static enum error read_format_header(struct call *call, bool *ret_binary)
{
    static const char name[] = "x-ms-file-permission-format";
    struct bytes format = call_header(call, name);

    return read_format(format, ret_binary)
               ? OK
               : call_fail_header(call, E_InvalidHeaderValue, name, format);
}

/* ---- Create Permission ---- */

enum error create_permission_check(struct call *call, struct create_permission_parameters *p)
{
    (void)p;
    return refuse_share_snapshot(call);
}

enum error create_permission_parse(struct call *call, struct create_permission_parameters *p)
{
    static const char *const names[] = { "permission", "Permission", "format" };
    struct json_member members[3], *permission = &members[0], *format = &members[2];
    struct bytes body = call->input.body.inline_bytes;
    bool binary;

    if (!json_object_pick(call->arena, body, 0, names, 3, members))
        return call_fail(call, E_InvalidInput, "The body is not a JSON object of strings.");
    if (format->kind != JSON_ABSENT && format->kind != JSON_STRING)
        return call_fail(call, E_InvalidInput, "The format is not a string.");
    if (!read_format(json_text(format), &binary))
        return call_fail(call, E_InvalidInput, "The format is neither sddl nor binary.");
    if (permission->kind == JSON_ABSENT)
        permission = &members[1]; /* spelling used in the reference */
    p->descriptor = permission_parse(call->arena, json_text(permission), binary);
    return p->descriptor.ptr ? OK : E_FileInvalidPermission;
}

void create_permission_answer(struct answer *a, const struct create_permission_parameters *p,
                              const struct create_permission_result *r)
{
    (void)p;
    answer_header(a, "x-ms-file-permission-key", permission_key(a->arena, r->number));
}

/* ---- Get Permission ---- */

enum error get_permission_check(struct call *call, struct get_permission_parameters *p)
{
    static const char key[] = "x-ms-file-permission-key";
    enum error e = refuse_share_snapshot(call);

    if (e)
        return e;
    p->key = call_header(call, key);
    if (!p->key.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, key, p->key);
    return read_format_header(call, &p->binary);
}

/* Sends no Content-Type, as in the real service. The format is included from the version on that
 * can request one. */
void get_permission_answer(struct answer *a, const struct get_permission_parameters *p,
                           const struct get_permission_result *r)
{
    struct text out;

    text_init(&out, a->arena, 2 * r->canonical.len + 64);
    text_add_string(&out, "{\"permission\":");
    if (p->binary)
        json_write_string(&out, base64_encode(a->arena, r->canonical));
    else
        json_write_string(&out, sddl_write(a->arena, &r->descriptor));
    if (call_since(a->call, "2024-11-04"))
        text_add_string(&out, p->binary ? ",\"format\":\"binary\"" : ",\"format\":\"sddl\"");
    text_add_char(&out, '}');
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(&out);
}

/* ---- Permissions in request headers ---- */

/* rest: Create-File "x-ms-file-permission": longer descriptors must be passed by key. */
#define TEXT_MAX 8192u

/* Parses a descriptor in a header. */
static enum error read_text(struct call *call, struct bytes text, bool binary,
                            struct permission_given *given)
{
    given->kind = PERMISSION_DESCRIPTOR;
    if (text.len <= TEXT_MAX)
        given->descriptor = permission_parse(call->arena, text, binary);
    return given->descriptor.ptr ? OK : E_FileInvalidPermission;
}

enum error permission_read(struct call *call, enum permission_kind missing,
                           struct permission_given *ret_given)
{
    static const char key_name[] = "x-ms-file-permission-key";
    struct bytes text = call_header(call, "x-ms-file-permission");
    struct bytes key = call_header(call, key_name);
    bool binary;
    enum error e = read_format_header(call, &binary);

    if (e)
        return e;
    *ret_given = (struct permission_given){ .kind = missing, .key = key };
    if (text.ptr && key.ptr)
        return call_fail_header(call, E_InvalidHeaderValue, key_name, key);
    if (key.ptr)
        ret_given->kind = PERMISSION_KEY;
    else if (bytes_is_nocase(text, "inherit"))
        ret_given->kind = PERMISSION_INHERITED;
    else if (text.ptr && !(missing == PERMISSION_KEPT && bytes_is_nocase(text, "preserve")))
        return read_text(call, text, binary, ret_given);
    return OK;
}
