/* Looking things up in a call. */
#include "service/call.h"

struct bytes call_query(const struct call *call, const char *name)
{
    for (size_t i = 0; i < call->query_count; i++) {
        if (bytes_is(call->query[i].name, name))
            return call->query[i].value;
    }
    return (struct bytes){ NULL, 0 };
}

bool call_since(const struct call *call, const char *version)
{
    return bytes_compare(call->version, bytes_from_string(version)) >= 0;
}
