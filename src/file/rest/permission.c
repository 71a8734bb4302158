/* Permissions in request headers. */
#include "acl/permission_store.h"
#include "file/rest/smb_headers.h"

/* rest: Create-File "x-ms-file-permission": longer descriptors must be passed by key. */
#define TEXT_MAX 8192u

/* Reads the format header, which is checked even without a descriptor. */
static enum error read_format(struct call *call, bool *ret_binary)
{
    static const char name[] = "x-ms-file-permission-format";
    struct bytes format = call_header(call, name);

    *ret_binary = bytes_is_nocase(format, "binary");
    if (format.ptr && !*ret_binary && !bytes_is_nocase(format, "sddl"))
        return call_fail_header(call, E_InvalidHeaderValue, name, format);
    return OK;
}

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
    enum error e = read_format(call, &binary);

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
