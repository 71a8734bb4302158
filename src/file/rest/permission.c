/* Permissions in requests. */
#include "file/rest/smb_headers.h"

enum error permission_read(struct call *call, enum permission_kind missing,
                           struct permission_given *ret_given)
{
    static const char text_name[] = "x-ms-file-permission", key_name[] = "x-ms-file-permission-key";
    struct bytes text = call_header(call, text_name), key = call_header(call, key_name);

    *ret_given = (struct permission_given){ .kind = missing };
    if (bytes_is_nocase(text, missing == PERMISSION_KEPT ? "preserve" : "inherit"))
        text = bytes_of(NULL, 0);
    if (text.ptr)
        return call_fail_header(call, E_UnsupportedHeader, text_name, text);
    if (key.ptr)
        return call_fail_header(call, E_UnsupportedHeader, key_name, key);
    return OK;
}
