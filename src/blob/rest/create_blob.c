/* Request parsing shared by Put Blob and Put Block List. rest: Put-Blob, Put-Block-List */
#include "blob/rest/request.h"

#include "blob/rest/tags_xml.h"
#include "service/metadata.h"

enum error create_blob_check(struct call *call, enum standard_headers standard,
                             enum body_sums_rule rule, struct create_blob *ret_given)
{
    struct create_blob given = { .tier = TIER_NONE };
    enum error e;

    e = blob_refuse_unbuilt(call, REQUEST_CREATE);
    if (e)
        return e;
    e = blob_parse_http_properties(call, standard, &given.http);
    if (e)
        return e;
    if (!given.http.content_type.ptr)
        given.http.content_type = bytes_from_string(CONTENT_TYPE_DEFAULT);
    /* Only page blobs, which are created without a body, have premium tiers. */
    e = rule == SUMS_OF_NOTHING ? blob_parse_any_tier(call, &given.tier)
                                : blob_parse_tier(call, &given.tier);
    if (e)
        return e;
    e = body_read_sums(call, rule, &given.sums);
    if (e)
        return e;
    e = metadata_from_headers(call, &given.metadata);
    if (e)
        return e;
    e = tags_from_header(call, &given.tags);
    if (e)
        return e;
    *ret_given = given;
    return OK;
}
