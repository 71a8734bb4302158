/* Conditional headers: what was given, and whether a state meets it. Pure functions.
 * rest: Specifying-Conditional-Headers-for-Blob-Service-Operations; semantics 4 */
#ifndef LAGRA_CONCURRENCY_CONDITIONS_H
#define LAGRA_CONCURRENCY_CONDITIONS_H

#include "base/errors.h"
#include "concurrency/etag.h"
#include "concurrency/tag_expression.h"

/* Bits: which conditional headers. An operation's row holds the accepted ones. */
enum {
    IF_MATCH = 1,
    IF_NONE_MATCH = 2,
    IF_MODIFIED_SINCE = 4,
    IF_UNMODIFIED_SINCE = 8,
    IF_TAGS = 16, /* x-ms-if-tags, with any combination of the others */
    IF_HTTP4 = IF_MATCH | IF_NONE_MATCH | IF_MODIFIED_SINCE | IF_UNMODIFIED_SINCE,
};

#define CONDITION_TAGS_MAX 64

/* A list of entity tags or "*". */
struct etag_list {
    bool any; /* "*" */
    size_t count;
    struct etag tags[CONDITION_TAGS_MAX];
};

/* Rules of earlier versions of the service: bits of struct conditions, `rules`. */
enum {
    CONDITIONS_SINGLE = 1,          /* before 2013-08-15: Get Blob and Get Blob Properties accept
                                       the combinations that other operations do, and one tag */
    CONDITIONS_READ_ANY = 2,        /* before 2016-05-31: reads ignore If-None-Match: * */
    CONDITIONS_UNCOMMITTED_ANY = 4, /* before 2017-04-17: If-Match: * holds for a blob of which
                                       only uncommitted blocks exist */
};

struct conditions {
    unsigned rules;      /* rules of the request's version; none of the newest */
    unsigned given;      /* bits of the headers that were sent, except empty ones */
    unsigned unreadable; /* bits of the dates that cannot be read: not among `given` */
    const struct etag_list *match;
    const struct etag_list *none_match;
    instant modified_since; /* whole seconds */
    instant unmodified_since;
    const struct tag_expression *tags;
};

/* How a failed condition is answered, and which combinations are allowed. */
enum condition_class {
    /* Get Blob, Get Blob Properties: any combination, lists of tags; 304 or 412. */
    CONDITIONS_OF_READ,
    /* Get Blob Metadata, Get Block List...: combinations as of a write; 304 or 412. */
    CONDITIONS_OF_OTHER_READ,
    /* 412; If-None-Match: * is ignored, since nothing can be created. decision: 4 */
    CONDITIONS_OF_WRITE,
    /* Put Blob, Put Block List: like a write, but If-None-Match: * is 409 BlobAlreadyExists, unless
     * the request has the id of the active lease. decisions: 4, 846 */
    CONDITIONS_OF_CREATE,
    /* Copy Blob, Copy Blob From URL: as these, but TargetConditionNotMet. semantics 4.2 */
    CONDITIONS_OF_COPY,
    /* Of an entity: 412 UpdateConditionNotSatisfied. semantics 6 */
    CONDITIONS_OF_ENTITY,
};

/* Raw header values; ptr NULL if absent. An empty value counts as absent.
 * decision: 847 */
struct condition_headers {
    enum etag_form form; /* of entity tags */
    struct bytes if_match;
    struct bytes if_none_match;
    struct bytes if_modified_since;
    struct bytes if_unmodified_since;
    struct bytes if_tags;
};

/* Parses the headers. Accepts any combination and any list; conditions_allowed() decides whether
 * the operation takes it. Dates that cannot be read are noted: reads ignore them. decision: 848
 *
 * arena    holds the lists of tags
 * returns  OK
 *          E_InvalidHeaderValue  a malformed list of tags, or one of more than
 *                                CONDITION_TAGS_MAX; not an expression over index tags */
enum error conditions_parse(struct arena *arena, const struct condition_headers *headers,
                            struct conditions *ret_conditions);

/* May an operation of this class, which accepts these headers (bits), be sent this combination?
 *
 * returns  OK
 *          E_ConditionHeadersNotSupported          a header that is not accepted
 *          E_MultipleConditionHeadersNotSupported  neither one condition nor one of the two pairs
 *          E_UnsatisfiableCondition                If-None-Match: * on a read
 *          E_InvalidHeaderValue                    several tags where one is allowed */
enum error conditions_allowed(enum condition_class class, unsigned accepted,
                              const struct conditions *given);

/* What the request is about, as it is now. */
struct subject {
    bool exists;
    bool lease_is_held; /* it is leased, and the request has the id */
    struct etag etag;
    instant modified;  /* compared in whole seconds; of what does not exist: when its first blocks
                          were written, 0 if none were. decision: 849 */
    struct bytes tags; /* index tags, encoded (tags.h) */
};

/* Are the conditions met? conditions_allowed() has said OK to them before. Of what does not exist
 * If-Match (any value) fails, and x-ms-if-tags: it has no tags. decision: 79
 *
 * returns  OK
 *          E_ConditionNotMet        412
 *          E_ConditionNotMetOnRead  304: the None-Match / Modified-Since half of a read
 *          E_TargetConditionNotMet  412: of a copy
 *          E_UpdateConditionNotSatisfied 412: of an entity
 *          E_BlobAlreadyExists      409: If-None-Match: * where a blob is created */
enum error conditions_check(enum condition_class class, const struct conditions *given,
                            const struct subject *subject);

#endif
