/* The table of wire errors. errors.def; rest: Status-and-Error-Codes2 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/bytes.h"
#include "base/errors.h"

/* Every row can be sent: a code of letters and digits, a status that is an answer, a message. */
static void rows_can_be_sent(void **state)
{
    (void)state;
    assert_string_equal(error_code(OK), "");
    for (int e = OK + 1; e < ERROR_COUNT; e++) {
        const char *code = error_code((enum error)e);
        const char *message = error_message((enum error)e);
        int status = error_status((enum error)e);

        assert_true(strlen(code) > 0 || status == 304);
        for (const char *at = code; *at; at++)
            assert_true((*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z') ||
                        (*at >= '0' && *at <= '9'));
        assert_true(status == 304 || (status >= 400 && status < 600));
        assert_non_null(message);
        assert_true(bytes_is_utf8(bytes_from_string(message)));
    }
}

/* The codes whose status depends on what was asked for. semantics 4 */
static void known_codes(void **state)
{
    (void)state;
    assert_int_equal(error_status(E_ConditionNotMet), 412);
    assert_int_equal(error_status(E_ConditionNotMetOnRead), 304);
    assert_string_equal(error_code(E_ConditionNotMetOnRead), "ConditionNotMet");
    assert_int_equal(error_status(E_BlobAlreadyExists), 409);
    assert_int_equal(error_status(E_BlobNotFound), 404);
    assert_int_equal(error_status(E_LeaseIdMissing), 412);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_can_be_sent),
        cmocka_unit_test(known_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
