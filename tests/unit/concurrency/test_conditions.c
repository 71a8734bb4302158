/* Every combination of the four conditional headers, for every class of operation, against an
 * oracle that is written from the sentences of semantics 4.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "concurrency/conditions.h"

/* The subject: modified within a second, so that the second's resolution shows. */
#define SECOND    63705000000ull
#define MODIFIED  (SECOND * TICKS_PER_SECOND + 7654321)
#define OURS      "\"0x8D6D418B56CFF5B\""
#define OURS_V    0x8D6D418B56CFF5Bull
#define NOT_OURS  "\"0x8D6D418B56CFF5C\""
#define ARENA_CAP 65536

enum tag_kind { NO_TAG, TAG_OURS, TAG_OTHER, TAG_ANY, LIST_WITH_OURS, LIST_WITHOUT, TAG_KINDS };
enum date_kind { NO_DATE, DATE_BEFORE, DATE_SAME_SECOND, DATE_AFTER, DATE_KINDS };

static const char *const tag_text[TAG_KINDS] = {
    [TAG_OURS] = OURS,
    [TAG_OTHER] = NOT_OURS,
    [TAG_ANY] = "*",
    [LIST_WITH_OURS] = NOT_OURS ", \"x,y\" , " OURS,
    [LIST_WITHOUT] = NOT_OURS ",\"foreign\",W/" OURS,
};

static const char *date_text(enum date_kind kind, char buffer[INSTANT_HTTP_SIZE])
{
    static const int64_t shift_s[DATE_KINDS] = { 0, -1, 0, 1 };

    if (kind == NO_DATE)
        return NULL;
    instant_format_http((SECOND + (uint64_t)shift_s[kind]) * TICKS_PER_SECOND, buffer);
    return buffer;
}

struct given {
    enum tag_kind match, none_match;
    enum date_kind modified, unmodified;
};

/* ---- the oracle ---- */

/* "If-None-Match: a tag in the list" and "If-Match: one of the list" (OR / AND over values). */
static bool names_subject(enum tag_kind kind)
{
    return kind == TAG_OURS || kind == LIST_WITH_OURS || kind == TAG_ANY;
}

static bool is_list(enum tag_kind kind)
{
    return kind == LIST_WITH_OURS || kind == LIST_WITHOUT;
}

/* "at most one condition, or the pairs If-None-Match+If-Modified-Since and
 * If-Match+If-Unmodified-Since" */
static bool oracle_combination(const struct given *g)
{
    bool m = g->match, n = g->none_match, s = g->modified, u = g->unmodified;

    if (m + n + s + u <= 1)
        return true;
    return (n && s && !m && !u) || (m && u && !n && !s);
}

/* "result = If-Match && If-Unmodified-Since && (If-None-Match || If-Modified-Since)";
 * "Modified-Since is true iff floor(LM) > date; Unmodified-Since iff floor(LM) <= date" */
static enum error oracle_read(const struct given *g)
{
    bool m = !g->match || names_subject(g->match);
    bool u = !g->unmodified || g->unmodified != DATE_BEFORE;
    bool n = g->none_match && !names_subject(g->none_match);
    bool s = g->modified == DATE_BEFORE;

    if (!m || !u)
        return E_ConditionNotMet;
    if ((g->none_match || g->modified) && !n && !s)
        return E_ConditionNotMetOnRead;
    return OK;
}

/* "None-Match decides", "Match decides"; ConditionNotMet for any that fails, but "If-None-Match: *
 * = create only: 409 BlobAlreadyExists if present", and ignored where nothing is created. */
static enum error oracle_write(enum condition_class class, const struct given *g)
{
    bool creates = class == CONDITIONS_OF_CREATE || class == CONDITIONS_OF_COPY;
    bool of_path = class == CONDITIONS_OF_PATH || class == CONDITIONS_OF_FLUSH;
    bool is_ignored = g->none_match == TAG_ANY && !creates && !of_path;

    if (g->none_match == TAG_ANY && creates)
        return E_BlobAlreadyExists;
    if (g->match)
        return names_subject(g->match) ? OK : E_ConditionNotMet;
    if (g->none_match && !is_ignored)
        return names_subject(g->none_match) ? E_ConditionNotMet : OK;
    if (g->modified)
        return g->modified == DATE_BEFORE ? OK : E_ConditionNotMet;
    if (g->unmodified)
        return g->unmodified == DATE_BEFORE ? E_ConditionNotMet : OK;
    return OK;
}

/* "Get Blob Metadata / Get Page Ranges are read for the status code (304)" */
static enum error oracle_other_read(const struct given *g)
{
    enum error e = oracle_write(CONDITIONS_OF_WRITE, g);

    return e && (g->none_match || g->modified) ? E_ConditionNotMetOnRead : e;
}

/* "destination HTTP4 on copy: 412 TargetConditionNotMet". semantics 4.2 */
static enum error of_class(enum condition_class class, enum error e)
{
    return class == CONDITIONS_OF_COPY && e == E_ConditionNotMet ? E_TargetConditionNotMet : e;
}

static enum error oracle(enum condition_class class, const struct given *g, bool exists)
{
    bool is_read = class == CONDITIONS_OF_READ || class == CONDITIONS_OF_OTHER_READ;

    if (class != CONDITIONS_OF_READ && !oracle_combination(g))
        return E_MultipleConditionHeadersNotSupported;
    if (is_read && g->none_match == TAG_ANY)
        return E_UnsatisfiableCondition;
    if (class != CONDITIONS_OF_READ && (is_list(g->match) || is_list(g->none_match)))
        return E_InvalidHeaderValue;
    if (!exists)
        return g->match ? of_class(class, E_ConditionNotMet) : OK;
    if (class == CONDITIONS_OF_READ)
        return oracle_read(g);
    if (class == CONDITIONS_OF_FLUSH) { /* recorded: 304 for If-None-Match: * */
        enum error e = oracle_write(class, g);

        return e && (g->none_match || g->modified) ? E_ConditionNotMetOnRead : e;
    }
    return class == CONDITIONS_OF_OTHER_READ ? oracle_other_read(g)
                                             : of_class(class, oracle_write(class, g));
}

/* ---- the runs ---- */

static enum error run(struct arena *arena, enum condition_class class, const struct given *g,
                      bool exists)
{
    char modified[INSTANT_HTTP_SIZE], unmodified[INSTANT_HTTP_SIZE];
    const struct condition_headers headers = {
        .if_match = bytes_from_string(tag_text[g->match]),
        .if_none_match = bytes_from_string(tag_text[g->none_match]),
        .if_modified_since = bytes_from_string(date_text(g->modified, modified)),
        .if_unmodified_since = bytes_from_string(date_text(g->unmodified, unmodified)),
    };
    const struct subject subject = { .exists = exists,
                                     .etag = { exists ? OURS_V : 0 },
                                     .modified = exists ? MODIFIED : 0 };
    struct conditions conditions;
    enum error e;

    e = conditions_parse(arena, &headers, &conditions);
    if (!e)
        e = conditions_allowed(class, IF_HTTP4, &conditions);
    return e ? e : conditions_check(class, &conditions, &subject);
}

/* Rule: the answer to each combination is the one of the page's sentences. semantics 4.1 */
static void every_combination(void **state)
{
    const unsigned all = TAG_KINDS * TAG_KINDS * DATE_KINDS * DATE_KINDS * 14;
    struct arena *arena = arena_new(ARENA_CAP);
    struct arena_mark start = arena_mark(arena);

    (void)state;
    for (unsigned i = 0; i < all; i++) {
        unsigned n = i;
        struct given g;
        enum condition_class class;
        bool exists;
        enum error expected, got;

        g.match = n % TAG_KINDS, n /= TAG_KINDS;
        g.none_match = n % TAG_KINDS, n /= TAG_KINDS;
        g.modified = n % DATE_KINDS, n /= DATE_KINDS;
        g.unmodified = n % DATE_KINDS, n /= DATE_KINDS;
        class = (enum condition_class)(n % 7);
        exists = n / 7;

        expected = oracle(class, &g, exists);
        got = run(arena, class, &g, exists);
        if (got != expected)
            fail_msg("class %d, match %d, none-match %d, modified %d, unmodified %d, exists %d: "
                     "%s, not %s",
                     class, g.match, g.none_match, g.modified, g.unmodified, exists,
                     error_code(got), error_code(expected));
        arena_rewind(arena, start);
    }
    arena_free(arena);
}

/* Rule: the cells that were recorded from the real service. semantics 4.2 */
static void recorded_cells(void **state)
{
    static const struct {
        enum condition_class class;
        struct given given;
        int status;
    } rows[] = {
        { CONDITIONS_OF_READ, { .modified = DATE_SAME_SECOND }, 304 },
        { CONDITIONS_OF_READ, { .unmodified = DATE_BEFORE }, 412 },
        { CONDITIONS_OF_READ, { .match = TAG_OTHER }, 412 },
        { CONDITIONS_OF_READ, { .none_match = TAG_OURS }, 304 },
        { CONDITIONS_OF_OTHER_READ, { .modified = DATE_SAME_SECOND }, 304 },
        { CONDITIONS_OF_OTHER_READ, { .unmodified = DATE_BEFORE }, 412 },
        { CONDITIONS_OF_OTHER_READ, { .match = TAG_OTHER }, 412 },
        { CONDITIONS_OF_OTHER_READ, { .none_match = TAG_OURS }, 304 },
        { CONDITIONS_OF_WRITE, { .modified = DATE_SAME_SECOND }, 412 },
        { CONDITIONS_OF_WRITE, { .unmodified = DATE_BEFORE }, 412 },
        { CONDITIONS_OF_WRITE, { .match = TAG_OTHER }, 412 },
        { CONDITIONS_OF_WRITE, { .none_match = TAG_OURS }, 412 },
        { CONDITIONS_OF_CREATE, { .none_match = TAG_OURS }, 412 },
        { CONDITIONS_OF_CREATE, { .none_match = TAG_ANY }, 409 },
        { CONDITIONS_OF_WRITE, { .none_match = TAG_ANY }, 200 },
    };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(error_status(run(arena, rows[i].class, &rows[i].given, true)),
                         rows[i].status);
    arena_free(arena);
}

/* Rule: x-ms-if-tags holds together with the others; unmet it is 412, of reads too, and what does
 * not exist has no tags. semantics 4.2; decision: 79 */
static void tags_are_a_condition(void **state)
{
    static const struct {
        enum condition_class class;
        const char *match, *none_match, *tags;
        bool exists;
        int status;
    } rows[] = {
        { CONDITIONS_OF_READ, NULL, NULL, "a='1'", true, 200 },
        { CONDITIONS_OF_READ, NULL, NULL, "a='2'", true, 412 },
        { CONDITIONS_OF_OTHER_READ, NULL, NULL, "a='2'", true, 412 },
        { CONDITIONS_OF_WRITE, NULL, NULL, "a='1'", true, 200 },
        { CONDITIONS_OF_WRITE, NULL, NULL, "a<>'1'", true, 412 },
        { CONDITIONS_OF_WRITE, "*", NULL, "a='1'", true, 200 },
        { CONDITIONS_OF_WRITE, "*", NULL, "a='2'", true, 412 },
        { CONDITIONS_OF_WRITE, "\"0x1\"", NULL, "a='1'", true, 412 },
        { CONDITIONS_OF_READ, NULL, "\"0x1\"", "a='2'", true, 412 },
        { CONDITIONS_OF_CREATE, NULL, "*", "a='1'", true, 409 },
        { CONDITIONS_OF_CREATE, NULL, NULL, "a='1'", false, 412 },
        { CONDITIONS_OF_CREATE, NULL, NULL, "a<>'1'", false, 412 },
        { CONDITIONS_OF_WRITE, NULL, NULL, "a='1", true, 400 },
        { CONDITIONS_OF_WRITE, NULL, NULL, "", true, 200 },
        { CONDITIONS_OF_WRITE, NULL, NULL, "@container='1'", true, 400 },
    };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct condition_headers headers = {
            .if_match = bytes_from_string(rows[i].match),
            .if_none_match = bytes_from_string(rows[i].none_match),
            .if_tags = bytes_from_string(rows[i].tags),
        };
        const struct subject subject = { .exists = rows[i].exists,
                                         .etag = { rows[i].exists ? OURS_V : 0 },
                                         .tags = bytes_of(rows[i].exists ? "\x02"
                                                                           "a\x02"
                                                                           "1"
                                                                         : "",
                                                          rows[i].exists ? 4 : 0) };
        struct conditions conditions;
        enum error e = conditions_parse(arena, &headers, &conditions);

        if (!e)
            e = conditions_allowed(rows[i].class, IF_HTTP4 | IF_TAGS, &conditions);
        if (!e)
            e = conditions_check(rows[i].class, &conditions, &subject);
        assert_int_equal(error_status(e), rows[i].status);
    }
    arena_free(arena);
}

/* Rule: a header that the row does not list is refused, never ignored. semantics 4.1
 * (containers) */
static void unaccepted_headers_are_refused(void **state)
{
    static const struct etag_list any = { .any = true };
    const struct conditions match = { .given = IF_MATCH, .match = &any };
    const struct conditions tags = { .given = IF_TAGS };

    (void)state;
    assert_int_equal(conditions_allowed(CONDITIONS_OF_WRITE, IF_MODIFIED_SINCE, &match),
                     E_ConditionHeadersNotSupported);
    assert_int_equal(conditions_allowed(CONDITIONS_OF_WRITE, IF_MATCH, &match), OK);
    assert_int_equal(conditions_allowed(CONDITIONS_OF_WRITE, IF_HTTP4, &tags),
                     E_ConditionHeadersNotSupported);
    assert_int_equal(conditions_allowed(CONDITIONS_OF_WRITE, IF_HTTP4 | IF_TAGS, &tags), OK);
}

/* Rule: next to the id of the active lease If-None-Match: * counts only where a copy is created.
 * decision: 846 */
static void held_leases_allow_any(void **state)
{
    const struct subject held = {
        .exists = true, .lease_is_held = true, .etag = { OURS_V }, .modified = MODIFIED
    };
    static const struct etag_list any = { .any = true };
    const struct conditions star = { .given = IF_NONE_MATCH, .none_match = &any };
    const struct conditions dated = { .given = IF_NONE_MATCH | IF_MODIFIED_SINCE,
                                      .none_match = &any,
                                      .modified_since = MODIFIED };

    (void)state;
    assert_int_equal(conditions_check(CONDITIONS_OF_CREATE, &star, &held), OK);
    assert_int_equal(conditions_check(CONDITIONS_OF_CREATE, &dated, &held), E_ConditionNotMet);
    assert_int_equal(conditions_check(CONDITIONS_OF_COPY, &star, &held), E_BlobAlreadyExists);
}

/* Rule: blocks that were never committed have a date and no ETag. decision: 849 */
static void uncommitted_blocks_have_a_date(void **state)
{
    const struct subject staged = { .modified = MODIFIED };
    const struct conditions newer = { .given = IF_MODIFIED_SINCE, .modified_since = MODIFIED };
    const struct conditions older = { .given = IF_UNMODIFIED_SINCE,
                                      .unmodified_since = MODIFIED - TICKS_PER_SECOND };

    (void)state;
    assert_int_equal(conditions_check(CONDITIONS_OF_CREATE, &newer, &staged), E_ConditionNotMet);
    assert_int_equal(conditions_check(CONDITIONS_OF_CREATE, &older, &staged), E_ConditionNotMet);
}

/* Rule: conditions of versions before 2013-08-15, 2016-05-31 and 2017-04-17. decision: 881 */
static void earlier_versions_have_other_rules(void **state)
{
    static const struct subject ours = { .exists = true, .etag = { OURS_V }, .modified = MODIFIED };
    static const struct subject uncommitted = { .modified = MODIFIED };
    static const struct etag_list any = { .any = true };
    static const struct etag_list one = { .count = 1, .tags = { { OURS_V } } };
    static const struct etag_list two = { .count = 2, .tags = { { 1 }, { OURS_V } } };
    struct conditions both = { .given = IF_MATCH | IF_NONE_MATCH,
                               .match = &any,
                               .none_match = &one };
    struct conditions list = { .given = IF_MATCH, .match = &two };
    struct conditions none_any = { .given = IF_NONE_MATCH | IF_MODIFIED_SINCE,
                                   .none_match = &any,
                                   .modified_since = MODIFIED + TICKS_PER_SECOND };
    struct conditions match_any = { .given = IF_MATCH, .match = &any };
    (void)state;

    assert_int_equal(conditions_allowed(CONDITIONS_OF_READ, IF_HTTP4, &both), OK);
    assert_int_equal(conditions_allowed(CONDITIONS_OF_READ, IF_HTTP4, &list), OK);
    both.rules = list.rules = CONDITIONS_SINGLE;
    assert_int_equal(conditions_allowed(CONDITIONS_OF_READ, IF_HTTP4, &both),
                     E_MultipleConditionHeadersNotSupported);
    assert_int_equal(conditions_allowed(CONDITIONS_OF_READ, IF_HTTP4, &list), E_InvalidHeaderValue);

    for (enum condition_class class = CONDITIONS_OF_READ; class <= CONDITIONS_OF_OTHER_READ;
         class ++) {
        none_any.rules = 0;
        assert_int_equal(conditions_allowed(class, IF_HTTP4, &none_any), E_UnsatisfiableCondition);
        none_any.rules = CONDITIONS_READ_ANY; /* only the date counts */
        assert_int_equal(conditions_allowed(class, IF_HTTP4, &none_any), OK);
        assert_int_equal(conditions_check(class, &none_any, &ours), E_ConditionNotMetOnRead);
    }

    assert_int_equal(conditions_check(CONDITIONS_OF_CREATE, &match_any, &uncommitted),
                     E_ConditionNotMet);
    match_any.rules = CONDITIONS_UNCOMMITTED_ANY;
    assert_int_equal(conditions_check(CONDITIONS_OF_CREATE, &match_any, &uncommitted), OK);
    assert_int_equal(
        conditions_check(CONDITIONS_OF_CREATE, &match_any, &(struct subject){ .exists = false }),
        E_ConditionNotMet);
}

/* Rule: empty values count as absent, and dates that cannot be read are noted.
 * decisions: 847, 848 */
static void empty_and_unreadable_values(void **state)
{
    const struct condition_headers empty = { .if_match = BYTES(""),
                                             .if_none_match = BYTES(""),
                                             .if_modified_since = BYTES(""),
                                             .if_unmodified_since = BYTES(""),
                                             .if_tags = BYTES("") };
    const struct condition_headers unreadable = {
        .if_modified_since = BYTES("yesterday"),
        .if_unmodified_since =
            BYTES("Thu, 09 May 2019 00:53:10 GMT, Thu, 09 May 2019 00:53:11 GMT")
    };
    struct arena *arena = arena_new(ARENA_CAP);
    struct conditions conditions;

    (void)state;
    assert_int_equal(conditions_parse(arena, &empty, &conditions), OK);
    assert_int_equal(conditions.given | conditions.unreadable, 0);
    assert_int_equal(conditions_parse(arena, &unreadable, &conditions), OK);
    assert_int_equal(conditions.given, 0);
    assert_int_equal(conditions.unreadable, IF_MODIFIED_SINCE | IF_UNMODIFIED_SINCE);
    arena_free(arena);
}

/* Rule: a value that is not a list of tags is 400 InvalidHeaderValue. semantics 4.1 */
static void malformed_values_are_refused(void **state)
{
    static const struct condition_headers rows[] = {
        { .if_match = BYTES(" , ") },      { .if_match = BYTES("\"a") },
        { .if_match = BYTES("*, \"a\"") }, { .if_match = BYTES("\"a\" \"b\"") },
        { .if_none_match = BYTES("a b") },
    };
    struct arena *arena = arena_new(ARENA_CAP);
    struct conditions conditions;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(conditions_parse(arena, &rows[i], &conditions), E_InvalidHeaderValue);
    arena_free(arena);
}

/* Rule: a list holds at most CONDITION_TAGS_MAX tags; empty elements do not count.
 * rfc: 9110 5.6.1 */
static void lists_are_bounded(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct condition_headers headers = { 0 };
    struct conditions conditions;
    struct text list;

    (void)state;
    text_init(&list, arena, 1024);
    for (int i = 0; i < CONDITION_TAGS_MAX; i++)
        text_printf(&list, ",, \"0x%X\" ,", i + 1);
    headers.if_match = text_bytes(&list);
    assert_int_equal(conditions_parse(arena, &headers, &conditions), OK);
    assert_int_equal(conditions.match->count, CONDITION_TAGS_MAX);
    assert_int_equal(conditions.match->tags[CONDITION_TAGS_MAX - 1].v, CONDITION_TAGS_MAX);

    text_add_string(&list, "\"0x99\"");
    headers.if_match = text_bytes(&list);
    assert_int_equal(conditions_parse(arena, &headers, &conditions), E_InvalidHeaderValue);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
        cmocka_unit_test(recorded_cells),
        cmocka_unit_test(tags_are_a_condition),
        cmocka_unit_test(unaccepted_headers_are_refused),
        cmocka_unit_test(held_leases_allow_any),
        cmocka_unit_test(uncommitted_blocks_have_a_date),
        cmocka_unit_test(earlier_versions_have_other_rules),
        cmocka_unit_test(empty_and_unreadable_values),
        cmocka_unit_test(malformed_values_are_refused),
        cmocka_unit_test(lists_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
