/* Conditional headers: parsing, allowed combinations, and evaluation.
 * rest: Specifying-Conditional-Headers-for-Blob-Service-Operations; rfc: 9110 13; semantics 4 */
#include "concurrency/conditions.h"

#include <assert.h>

#define CLASSES (CONDITIONS_OF_ENTITY + 1)

static void assert_conditions(const struct conditions *given)
{
    assert(!(given->given & IF_MATCH) || given->match);
    assert(!(given->given & IF_NONE_MATCH) || given->none_match);
    assert(!(given->given & IF_TAGS) || given->tags);
    assert(!(given->given & given->unreadable));
}

/* ---- parsing the headers ---- */

static size_t skip(struct bytes text, size_t at)
{
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t' || text.ptr[at] == ','))
        at++;
    return at;
}

/* Returns the end of the tag at `at`; a quoted tag may contain commas. */
static size_t tag_end(struct bytes text, size_t at)
{
    bool is_quoted = false;

    for (; at < text.len && (is_quoted || text.ptr[at] != ','); at++) {
        if (text.ptr[at] == '"')
            is_quoted = !is_quoted;
    }
    return at;
}

/* Parses "*" or a comma-separated list of tags, skipping empty elements. rfc: 9110 13.1.1, 5.6.1 */
static enum error parse_list(struct arena *arena, struct bytes text, enum etag_form form,
                             const struct etag_list **ret_list)
{
    struct etag_list *list = arena_alloc(arena, sizeof *list);
    bool (*parse)(struct bytes, struct etag *) =
        form == ETAG_TIMESTAMP ? etag_parse_timestamp : etag_parse;
    /* decision: 141 */
    size_t most = form == ETAG_TIMESTAMP ? 1 : CONDITION_TAGS_MAX;
    size_t at;
    size_t end;

    list->any = bytes_is(bytes_trim(text), "*");
    for (at = skip(text, 0); !list->any && at < text.len; at = skip(text, end)) {
        end = tag_end(text, at);
        if (list->count == most ||
            !parse(bytes_trim(bytes_of(text.ptr + at, end - at)), &list->tags[list->count]))
            return E_InvalidHeaderValue;
        list->count++;
    }
    if (!list->any && list->count == 0)
        return E_InvalidHeaderValue;
    assert(list->any == (list->count == 0) && list->count <= CONDITION_TAGS_MAX);
    *ret_list = list;
    return OK;
}

static void parse_date(struct bytes text, unsigned bit, struct conditions *given, instant *ret_date)
{
    if (text.len == 0)
        return;
    if (instant_parse_http(text, ret_date))
        given->given |= bit;
    else
        given->unreadable |= bit;
}

enum error conditions_parse(struct arena *arena, const struct condition_headers *headers,
                            struct conditions *ret_conditions)
{
    struct conditions given = { 0 };
    enum error e;

    if (headers->if_match.len > 0) {
        e = parse_list(arena, headers->if_match, headers->form, &given.match);
        if (e)
            return e;
        given.given |= IF_MATCH;
    }
    if (headers->if_none_match.len > 0) {
        e = parse_list(arena, headers->if_none_match, headers->form, &given.none_match);
        if (e)
            return e;
        given.given |= IF_NONE_MATCH;
    }
    parse_date(headers->if_modified_since, IF_MODIFIED_SINCE, &given, &given.modified_since);
    parse_date(headers->if_unmodified_since, IF_UNMODIFIED_SINCE, &given, &given.unmodified_since);
    if (headers->if_tags.len > 0) {
        struct tag_expression *tags = arena_alloc(arena, sizeof *tags);
        struct tag_syntax_error problem;

        if (!tag_expression_parse(arena, headers->if_tags, TAG_CONDITION, tags, &problem))
            return E_InvalidHeaderValue;
        given.tags = tags;
        given.given |= IF_TAGS;
    }
    assert_conditions(&given);
    *ret_conditions = given;
    return OK;
}

/* ---- allowed combinations ---- */

/* One header, or one of two pairs; semantics 4.1. Reads of the blob itself accept any
 * combination. */
static const bool combination_allowed[IF_HTTP4 + 1] = {
    [0] = true,
    [IF_MATCH] = true,
    [IF_NONE_MATCH] = true,
    [IF_MODIFIED_SINCE] = true,
    [IF_UNMODIFIED_SINCE] = true,
    [IF_MATCH | IF_UNMODIFIED_SINCE] = true,
    [IF_NONE_MATCH | IF_MODIFIED_SINCE] = true,
};

static bool is_read(enum condition_class class)
{
    return class == CONDITIONS_OF_READ || class == CONDITIONS_OF_OTHER_READ;
}

/* Returns the class whose rules apply in the request's version. */
static enum condition_class class_of_version(enum condition_class class,
                                             const struct conditions *given)
{
    return class == CONDITIONS_OF_READ && given->rules & CONDITIONS_SINGLE
               ? CONDITIONS_OF_OTHER_READ
               : class;
}

static bool has_several_tags(const struct conditions *given)
{
    return (given->given & IF_MATCH && given->match->count > 1) ||
           (given->given & IF_NONE_MATCH && given->none_match->count > 1);
}

enum error conditions_allowed(enum condition_class class, unsigned accepted,
                              const struct conditions *given)
{
    assert(class < CLASSES);
    class = class_of_version(class, given);
    if (given->given & ~accepted)
        return E_ConditionHeadersNotSupported;
    if (class != CONDITIONS_OF_READ && !combination_allowed[given->given & IF_HTTP4])
        return E_MultipleConditionHeadersNotSupported;
    if (is_read(class) && given->given & IF_NONE_MATCH && given->none_match->any &&
        !(given->rules & CONDITIONS_READ_ANY))
        return E_UnsatisfiableCondition; /* decision: 4 */
    if (class != CONDITIONS_OF_READ && has_several_tags(given))
        return E_InvalidHeaderValue;
    return OK;
}

/* ---- evaluation ---- */

/* The first condition that fails, in order of precedence. */
enum fault {
    NO_FAULT,
    FAULT_PRECONDITION, /* If-Match, If-Unmodified-Since or x-ms-if-tags */
    FAULT_UNCHANGED,    /* If-None-Match with tags, or If-Modified-Since */
    FAULT_EXISTS,       /* If-None-Match: * */
};
#define FAULTS (FAULT_EXISTS + 1)

/* clang-format off */
static const enum error answer[CLASSES][FAULTS] = {
    /*                                  PRECONDITION       UNCHANGED                EXISTS */
    [CONDITIONS_OF_READ]       = { OK, E_ConditionNotMet, E_ConditionNotMetOnRead, E_ConditionNotMetOnRead },
    [CONDITIONS_OF_OTHER_READ] = { OK, E_ConditionNotMet, E_ConditionNotMetOnRead, E_ConditionNotMetOnRead },
    [CONDITIONS_OF_WRITE]      = { OK, E_ConditionNotMet, E_ConditionNotMet,       OK                      },
    [CONDITIONS_OF_CREATE]     = { OK, E_ConditionNotMet, E_ConditionNotMet,       E_BlobAlreadyExists     },
    [CONDITIONS_OF_PATH] = { OK, E_ConditionNotMet, E_ConditionNotMet, E_ConditionNotMet },
    [CONDITIONS_OF_FLUSH] = { OK, E_ConditionNotMet, E_ConditionNotMetOnRead,
                              E_ConditionNotMetOnRead },
    [CONDITIONS_OF_COPY]       = { OK, E_TargetConditionNotMet, E_TargetConditionNotMet, E_BlobAlreadyExists },
    [CONDITIONS_OF_ENTITY]     = { OK, E_UpdateConditionNotSatisfied, E_UpdateConditionNotSatisfied, E_UpdateConditionNotSatisfied },
};
/* clang-format on */

static bool holds_tag(const struct etag_list *list, struct etag etag)
{
    if (list->any)
        return true;
    for (size_t i = 0; i < list->count; i++) {
        if (list->tags[i].v != 0 && list->tags[i].v == etag.v)
            return true;
    }
    return false;
}

static bool is_modified_since(const struct subject *subject, instant date)
{
    return instant_seconds(subject->modified) > instant_seconds(date);
}

/* Evaluates If-Match and If-Unmodified-Since: a read needs both; otherwise If-Match decides. */
static bool precondition_met(enum condition_class class, const struct conditions *given,
                             const struct subject *subject)
{
    bool has_match = given->given & IF_MATCH;

    if (has_match && !holds_tag(given->match, subject->etag))
        return false;
    if (!(given->given & IF_UNMODIFIED_SINCE) || (has_match && class != CONDITIONS_OF_READ))
        return true;
    return !is_modified_since(subject, given->unmodified_since);
}

/* Returns true if If-None-Match: * is ignored: on a write that cannot create; if the request has
 * the id of the active lease, since then the blob exists; and on reads of earlier versions.
 * decisions: 4, 846, 881 */
static bool ignores_any(enum condition_class class, const struct conditions *given,
                        const struct subject *subject)
{
    return class == CONDITIONS_OF_WRITE || (is_read(class) && given->rules & CONDITIONS_READ_ANY) ||
           (class == CONDITIONS_OF_CREATE && subject->lease_is_held);
}

/* Evaluates If-None-Match and If-Modified-Since: a read needs only one of them; otherwise
 * If-None-Match decides. */
static bool changed_condition_met(enum condition_class class, const struct conditions *given,
                                  const struct subject *subject)
{
    bool has_none_match = given->given & IF_NONE_MATCH &&
                          !(given->none_match->any && ignores_any(class, given, subject));
    bool has_date = given->given & IF_MODIFIED_SINCE;

    if (has_none_match && !holds_tag(given->none_match, subject->etag))
        return true;
    if (!has_date || (has_none_match && class != CONDITIONS_OF_READ))
        return !has_none_match;
    return is_modified_since(subject, given->modified_since);
}

static bool tags_met(const struct conditions *given, const struct subject *subject)
{
    return !(given->given & IF_TAGS) ||
           tag_expression_holds(given->tags, bytes_of(NULL, 0), subject->tags);
}

/* A blob that does not exist has a date only if it has uncommitted blocks. */
static enum fault find_fault_of_missing(const struct conditions *given,
                                        const struct subject *subject)
{
    bool has_date = subject->modified > 0;
    bool match_holds = has_date && given->rules & CONDITIONS_UNCOMMITTED_ANY &&
                       given->given & IF_MATCH && given->match->any;

    if ((given->given & IF_MATCH && !match_holds) || given->given & IF_TAGS ||
        (has_date && given->given & IF_UNMODIFIED_SINCE &&
         is_modified_since(subject, given->unmodified_since)))
        return FAULT_PRECONDITION;
    if (has_date && given->given & IF_MODIFIED_SINCE && !(given->given & IF_NONE_MATCH) &&
        !is_modified_since(subject, given->modified_since))
        return FAULT_UNCHANGED;
    return NO_FAULT;
}

static enum fault find_fault(enum condition_class class, const struct conditions *given,
                             const struct subject *subject)
{
    if (!subject->exists)
        return find_fault_of_missing(given, subject);
    if (!precondition_met(class, given, subject))
        return FAULT_PRECONDITION;
    if (changed_condition_met(class, given, subject))
        return tags_met(given, subject) ? NO_FAULT : FAULT_PRECONDITION;
    return given->given & IF_NONE_MATCH && given->none_match->any &&
                   !ignores_any(class, given, subject)
               ? FAULT_EXISTS
               : FAULT_UNCHANGED;
}

enum error conditions_check(enum condition_class class, const struct conditions *given,
                            const struct subject *subject)
{
    enum fault fault;

    assert_conditions(given);
    class = class_of_version(class, given);
    fault = find_fault(class, given, subject);
    assert(class < CLASSES && fault < FAULTS);
    assert(fault == NO_FAULT || given->given != 0);
    /* Recorded: x-ms-if-tags that does not hold is ConditionNotMet for a copy too. */
    if (fault && class == CONDITIONS_OF_COPY && given->given == IF_TAGS)
        return E_ConditionNotMet;
    return answer[class][fault];
}
