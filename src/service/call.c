/* Looking things up in a call. */
#include "service/call.h"

struct bytes call_query(const struct call *call, const char *name)
{
    struct bytes wanted = bytes_from_string(name);

    for (size_t i = 0; i < call->query_count; i++) {
        if (bytes_equal(call->query[i].name, wanted))
            return call->query[i].value;
    }
    return (struct bytes){ NULL, 0 };
}

struct bytes call_header(const struct call *call, const char *name)
{
    return request_header(call->request, name);
}

bool call_since(const struct call *call, const char *version)
{
    return bytes_compare(call->version, bytes_from_string(version)) >= 0;
}
