/* Create Permission and Get Permission: requests and responses. Bodies are JSON:
 *   { "permission": "O:SYG:SYD:..", "format": "sddl" } */
#include "file/permission_operations.h"

#include "base/encode.h"
#include "base/json.h"
#include "acl/permission_store.h"
#include "file/rest/request.h"
#include "acl/security_descriptor.h"

/* rest: Create-Permission, Get-Permission */
static bool read_format(struct bytes text, bool *ret_binary)
{
    *ret_binary = bytes_is_nocase(text, "binary");
    return !text.ptr || *ret_binary || bytes_is_nocase(text, "sddl");
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
    static const char key[] = "x-ms-file-permission-key", format[] = "x-ms-file-permission-format";
    enum error e = refuse_share_snapshot(call);

    if (e)
        return e;
    p->key = call_header(call, key);
    if (!p->key.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, key, p->key);
    if (!read_format(call_header(call, format), &p->binary))
        return call_fail_header(call, E_InvalidHeaderValue, format, call_header(call, format));
    return OK;
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
