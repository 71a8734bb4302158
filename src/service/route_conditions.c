/* The conditional headers of a request, part of routing it. */
#include "service/service_private.h"

/* Names the header that conditions_parse() has refused. */
static enum error blame_condition(struct call *call, enum error e)
{
    static const char *const names[] = { "if-match", "if-none-match", "if-modified-since",
                                         "if-unmodified-since", "x-ms-if-tags" };
    static const char *const shown[] = { "If-Match", "If-None-Match", "If-Modified-Since",
                                         "If-Unmodified-Since", "x-ms-if-tags" };
    struct conditions conditions;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct bytes value = call_header(call, names[i]);
        struct condition_headers alone = {
            .if_match = i == 0 ? value : bytes_of(NULL, 0),
            .if_none_match = i == 1 ? value : bytes_of(NULL, 0),
            .if_modified_since = i == 2 ? value : bytes_of(NULL, 0),
            .if_unmodified_since = i == 3 ? value : bytes_of(NULL, 0),
            .if_tags = i == 4 ? value : bytes_of(NULL, 0),
            .form = call->service->etags,
        };

        if (!conditions_parse(call->arena, &alone, &conditions))
            continue;
        if (alone.form == ETAG_TIMESTAMP) /* the words of the real service. decision: 141 */
            return call_fail(
                call, E_InvalidInput,
                "The etag value '%.*s' specified in one of the request headers is not "
                "valid. Please make sure only one etag value is specified and is valid.",
                BYTES_ARG(value));
        return call_fail_header(call, e, shown[i], value);
    }
    return e;
}

enum error route_conditions(struct call *call)
{
    struct condition_headers headers = {
        .if_match = call_header(call, "if-match"),
        .if_none_match = call_header(call, "if-none-match"),
        .if_modified_since = call_header(call, "if-modified-since"),
        .if_unmodified_since = call_header(call, "if-unmodified-since"),
        .if_tags = call_header(call, "x-ms-if-tags"),
        .form = call->service->etags,
    };
    enum error e = conditions_parse(call->arena, &headers, &call->input.conditions);

    if (e)
        return blame_condition(call, e);
    if (call->input.conditions.given & IF_TAGS)
        call->input.demands = (struct demands){ .letters = "t",
                                                .actions = ACTION_BLOB_TAGS_READ,
                                                .not_public = true };
    return OK;
}
