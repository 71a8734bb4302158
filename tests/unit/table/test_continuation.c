/* Continuation tokens: what is given out comes back, and what is none is refused.
 * rest/continuation.h; rest: Query-Timeout-and-Pagination; semantics 6 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "table/rest/query.h"

#include <cmocka.h> /* last: it has a macro `fail` */

/* Rule: the form of the service, with the characters of base64 that a URL would change replaced.
 * Recorded */
static void tokens_are_as_recorded(void **state)
{
    static const struct {
        const char *key, *token;
    } rows[] = {
        { "partition1-\xC3\xB4- -'-\"-%20-%27-pk",
          "1!40!cGFydGl0aW9uMS3DtC0gLSctIi0lMjAtJTI3LXBr" },
        { "row-\xC3\xB4- -''-\"-%20-%27-rk18", "1!36!cm93LcO0LSAtJyctIi0lMjAtJTI3LXJrMTg-" },
        { "row-\xC3\xB4- -''-\"-%20-%27-rk8", "1!36!cm93LcO0LSAtJyctIi0lMjAtJTI3LXJrOA--" },
        { "", "1!0!" },
        { "\xEF\xBF\xBF\xF0\x9F\x98\xBE", "1!12!77*_8J*Yvg--" },
    };
    struct arena *arena = arena_new(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes token = continuation_encode(arena, bytes_from_string(rows[i].key));
        struct bytes key = continuation_decode(arena, bytes_from_string(rows[i].token));

        if (!bytes_is(token, rows[i].token))
            fail_msg("%.*s, not %s", BYTES_ARG(token), rows[i].token);
        assert_non_null(key.ptr);
        assert_true(bytes_is(key, rows[i].key));
    }
    arena_free(arena);
}

/* Rule: every key comes back: each of up to two bytes, and each length to beyond the longest of
 * a key. */
static void keys_come_back(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    struct arena_mark fresh = arena_mark(arena);
    char key[1600];

    (void)state;
    for (unsigned n = 0; n < 65536 + 1600; n++) {
        size_t length = n < 65536 ? 2 : n - 65536;
        struct bytes back;

        memset(key, (int)(n % 251), sizeof key);
        if (n < 65536) {
            key[0] = (char)(n >> 8);
            key[1] = (char)n;
        }
        back = continuation_decode(arena, continuation_encode(arena, bytes_of(key, length)));
        assert_non_null(back.ptr);
        assert_true(bytes_equal(back, bytes_of(key, length)));
        arena_rewind(arena, fresh);
    }
    arena_free(arena);
}

/* Rule: another form, a length that is not the text's, and no base64 are no tokens. */
static void others_are_no_tokens(void **state)
{
    static const char *const texts[] = {
        "x",
        "1",
        "1!",
        "1!!",
        "1!4",
        "2!4!YWJj",
        "1!3!YWJj",
        "1!5!YWJj",
        "1!4!YWJ",
        "1!-4!YWJj",
        "1!4!YW!j",
        "1!4!YW j",
        "!4!YWJj",
        "1!04x!YWJj",
        "1!3!YWJ",
        "1!4!----",
        "1!4!Y---",
        "1!9999!YWJj",
        "1!4!YWJj!",
        "1!4!YWJjYWJj",
        "1!18446744073709551620!YWJj",
    };
    struct arena *arena = arena_new(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (continuation_decode(arena, bytes_from_string(texts[i])).ptr)
            fail_msg("%s is taken for a token", texts[i]);
    }
    assert_non_null(continuation_decode(arena, bytes_from_string("1!4!YWJj")).ptr);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_as_recorded),
        cmocka_unit_test(keys_come_back),
        cmocka_unit_test(others_are_no_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
