/* Conditional headers: parsing them and evaluating them against a state. Pure functions.
 * rest: Specifying-Conditional-Headers-for-Blob-Service-Operations; semantics 4 */
#ifndef LAGRA_CONCURRENCY_CONDITIONS_H
#define LAGRA_CONCURRENCY_CONDITIONS_H

#include "base/errors.h"
#include "concurrency/etag.h"
#include "concurrency/tag_expression.h"

/* Bits for the conditional headers. An operation's row has the accepted ones. */
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

/* Rules of earlier versions of the service: bits of conditions.rules. */
enum {
    /* before 2013-08-15: Get Blob and Get Blob Properties accept only the combinations of other
     * operations, and one tag */
    CONDITIONS_SINGLE = 1,
    CONDITIONS_READ_ANY = 2, /* before 2016-05-31: reads ignore If-None-Match: * */
    /* before 2017-04-17: If-Match: * holds for a blob with only uncommitted blocks */
    CONDITIONS_UNCOMMITTED_ANY = 4,
};

struct conditions {
    unsigned rules;      /* rules of the request's version; 0 for the newest */
    unsigned given;      /* bits of the headers that were sent and not empty */
    unsigned unreadable; /* bits of unparsable dates, which are not in `given` */
    const struct etag_list *match;
    const struct etag_list *none_match;
    instant modified_since; /* whole seconds */
    instant unmodified_since;
    const struct tag_expression *tags;
};

/* Which combinations are allowed, and the response if a condition fails. */
enum condition_class {
    /* Get Blob, Get Blob Properties: any combination, lists of tags; 304 or 412. */
    CONDITIONS_OF_READ,
    /* Get Blob Metadata, Get Block List...: combinations like a write; 304 or 412. */
    CONDITIONS_OF_OTHER_READ,
    /* 412; If-None-Match: * is ignored, since nothing can be created. decision: 4 */
    CONDITIONS_OF_WRITE,
    /* Put Blob, Put Block List: like a write, but If-None-Match: * is 409 BlobAlreadyExists, unless
     * the request has the id of the active lease. decisions: 4, 846 */
    CONDITIONS_OF_CREATE,
    /* Changes of a path at the Data Lake endpoint: like a write, but If-None-Match: * fails.
     * decision: 1207 */
    CONDITIONS_OF_PATH,
    /* Flush there: like PATH, but 304 for If-None-Match and If-Modified-Since, as recorded. */
    CONDITIONS_OF_FLUSH,
    /* Copy Blob, Copy Blob From URL: like CREATE, but TargetConditionNotMet. semantics 4.2 */
    CONDITIONS_OF_COPY,
    /* Table entities: 412 UpdateConditionNotSatisfied. semantics 6 */
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

/* Parses the headers. Accepts any combination and any list; conditions_allowed() checks what the
 * operation accepts. Unparsable dates are recorded, because reads ignore them. decision: 848
 *
 * arena    holds the lists of tags
 * returns  OK
 *          E_InvalidHeaderValue  a malformed list of tags, or more than CONDITION_TAGS_MAX;
 *                                a malformed expression over index tags */
enum error conditions_parse(struct arena *arena, const struct condition_headers *headers,
                            struct conditions *ret_conditions);

/* Checks whether an operation of this class, which accepts the headers in `accepted`, allows this
 * combination.
 *
 * returns  OK
 *          E_ConditionHeadersNotSupported          a header that is not accepted
 *          E_MultipleConditionHeadersNotSupported  neither one condition nor one of the two pairs
 *          E_UnsatisfiableCondition                If-None-Match: * on a read
 *          E_InvalidHeaderValue                    several tags where only one is allowed */
enum error conditions_allowed(enum condition_class class, unsigned accepted,
                              const struct conditions *given);

/* The current state of the resource. */
struct subject {
    bool exists;
    bool lease_is_held; /* it is leased, and the request has the lease id */
    struct etag etag;
    /* compared in whole seconds; for a missing blob, when its first uncommitted blocks were
     * written, 0 if it has none. decision: 849 */
    instant modified;
    struct bytes tags; /* index tags, encoded (tags.h) */
};

/* Evaluates conditions that conditions_allowed() has accepted. For a missing resource, If-Match
 * (any value) and x-ms-if-tags fail. decision: 79
 *
 * returns  OK
 *          E_ConditionNotMet        412
 *          E_ConditionNotMetOnRead  304: If-None-Match or If-Modified-Since of a read
 *          E_TargetConditionNotMet  412: of a copy
 *          E_UpdateConditionNotSatisfied 412: of an entity
 *          E_BlobAlreadyExists      409: If-None-Match: * when creating a blob */
enum error conditions_check(enum condition_class class, const struct conditions *given,
                            const struct subject *subject);

#endif
