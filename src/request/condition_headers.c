/* The conditional headers of a call.
 * rest: Specifying-Conditional-Headers-for-Blob-Service-Operations; semantics 4 */
#include <assert.h>

#include "request/request_private.h"

static const struct {
    const char *name, *shown;
    unsigned bit;
} all[] = {
    { "if-match", "If-Match", IF_MATCH },
    { "if-none-match", "If-None-Match", IF_NONE_MATCH },
    { "if-modified-since", "If-Modified-Since", IF_MODIFIED_SINCE },
    { "if-unmodified-since", "If-Unmodified-Since", IF_UNMODIFIED_SINCE },
    { "x-ms-if-tags", "x-ms-if-tags", IF_TAGS },
};
#define COUNT (sizeof all / sizeof all[0])

/* Returns the values of the headers selected by these bits. */
static struct condition_headers headers_of(const struct call *call, unsigned bits)
{
    struct condition_headers headers = { .form = call->service->etags };
    struct bytes *const fields[COUNT] = { &headers.if_match, &headers.if_none_match,
                                          &headers.if_modified_since, &headers.if_unmodified_since,
                                          &headers.if_tags };

    for (size_t i = 0; i < COUNT; i++) {
        if (all[i].bit & bits)
            *fields[i] = call_header(call, all[i].name);
    }
    return headers;
}

/* Reports the header that conditions_parse() has refused. */
static enum error blame(struct call *call, enum error e)
{
    struct conditions conditions;

    for (size_t i = 0; i < COUNT; i++) {
        struct condition_headers alone = headers_of(call, all[i].bit);
        struct bytes value = call_header(call, all[i].name);

        if (!conditions_parse(call->arena, &alone, &conditions))
            continue;
        if (alone.form == ETAG_TIMESTAMP) /* message of the real service. decision: 141 */
            return call_fail(
                call, E_InvalidInput,
                "The etag value '%.*s' specified in one of the request headers is not "
                "valid. Please make sure only one etag value is specified and is valid.",
                BYTES_ARG(value));
        return call_fail_header(call, e, all[i].shown, value);
    }
    return e;
}

enum error route_conditions(struct call *call)
{
    struct condition_headers headers = headers_of(call, IF_HTTP4 | IF_TAGS);
    enum error e = conditions_parse(call->arena, &headers, &call->input.conditions);

    if (e)
        return blame(call, e);
    if (call->input.conditions.given & IF_TAGS)
        call->input.demands = (struct demands){ .letters = "t",
                                                .actions = ACTION_BLOB_TAGS_READ,
                                                .not_public = true };
    return OK;
}

/* decision: 881 */
static unsigned rules_of_version(const struct call *call)
{
    unsigned rules = 0;

    if (!call_since(call, "2013-08-15"))
        rules |= CONDITIONS_SINGLE;
    if (!call_since(call, "2016-05-31"))
        rules |= CONDITIONS_READ_ANY;
    if (!call_since(call, "2017-04-17"))
        rules |= CONDITIONS_UNCOMMITTED_ANY;
    return rules;
}

enum error conditions_of_operation(struct call *call)
{
    unsigned unreadable = call->input.conditions.unreadable;

    call->input.conditions.rules = rules_of_version(call);
    assert(call->operation);
    if (call->operation->rights.effect == READS)
        return OK;
    for (size_t i = 0; i < COUNT; i++) {
        if (all[i].bit & unreadable)
            return call_fail_header(call, E_InvalidHeaderValue, all[i].shown,
                                    call_header(call, all[i].name));
    }
    return OK;
}
