/* NT statuses have the numbers of ms-erref 2.3.1, and answers of decisions the statuses that SMB
 * clients act on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "smb_protocol/status.h"

/* Some numbers, written down apart from the table. ms-erref: 2.3.1 */
static void test_values(void **state)
{
    (void)state;
    assert_int_equal(nt_status_value(STATUS_SUCCESS), 0);
    assert_int_equal(nt_status_value(STATUS_PENDING), 0x103);
    assert_int_equal(nt_status_value(STATUS_NO_MORE_FILES), 0x80000006);
    assert_int_equal(nt_status_value(STATUS_ACCESS_DENIED), 0xC0000022);
    assert_int_equal(nt_status_value(STATUS_SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP), 0xC05D0000);
    assert_string_equal(nt_status_name(STATUS_LOGON_FAILURE), "STATUS_LOGON_FAILURE");
}

/* No two rows have one number, and a name is another's only by mistake. */
static void test_no_number_twice(void **state)
{
    (void)state;
    for (enum nt_status a = 0; a < NT_STATUS_COUNT; a++)
        for (enum nt_status b = 0; b < a; b++)
            if (nt_status_value(a) == nt_status_value(b))
                fail_msg("%s and %s", nt_status_name(a), nt_status_name(b));
}

/* Severity is in the two highest bits. ms-erref: 2.3 */
static void test_severity(void **state)
{
    (void)state;
    assert_false(nt_status_is_error(STATUS_SUCCESS));
    assert_false(nt_status_is_error(STATUS_PENDING));
    assert_false(nt_status_is_error(STATUS_BUFFER_OVERFLOW));
    assert_false(nt_status_is_error(STATUS_NO_MORE_FILES));
    assert_true(nt_status_is_error(STATUS_MORE_PROCESSING_REQUIRED));
    assert_true(nt_status_is_error(STATUS_SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP));
}

/* Every answer that is not OK is an error to SMB as well; those that clients tell apart are theirs.
 * ms-fsa: 2.1.5.1; semantics 8.2 */
static void test_answers(void **state)
{
    (void)state;
    assert_int_equal(nt_status_of(OK), STATUS_SUCCESS);
    for (enum error e = OK + 1; e < ERROR_COUNT; e++)
        if (!nt_status_is_error(nt_status_of(e)))
            fail_msg("%s is %s", error_code(e), nt_status_name(nt_status_of(e)));
    assert_int_equal(nt_status_of(E_ResourceNotFound), STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(nt_status_of(E_ParentNotFound), STATUS_OBJECT_PATH_NOT_FOUND);
    assert_int_equal(nt_status_of(E_ResourceAlreadyExists), STATUS_OBJECT_NAME_COLLISION);
    assert_int_equal(nt_status_of(E_SharingViolation), STATUS_SHARING_VIOLATION);
    assert_int_equal(nt_status_of(E_LeaseIdMissingOnFile), STATUS_SHARING_VIOLATION);
    assert_int_equal(nt_status_of(E_DeletePending), STATUS_DELETE_PENDING);
    assert_int_equal(nt_status_of(E_FileLockConflict), STATUS_FILE_LOCK_CONFLICT);
    assert_int_equal(nt_status_of(E_DirectoryNotEmpty), STATUS_DIRECTORY_NOT_EMPTY);
    assert_int_equal(nt_status_of(E_ShareNotFound), STATUS_BAD_NETWORK_NAME);
    assert_int_equal(nt_status_of(E_InvalidXmlDocument), STATUS_INVALID_PARAMETER);
    assert_int_equal(nt_status_of_handle(OK), STATUS_SUCCESS);
    assert_int_equal(nt_status_of_handle(E_ResourceNotFound), STATUS_FILE_CLOSED);
    assert_int_equal(nt_status_of_handle(E_ParentNotFound), STATUS_OBJECT_PATH_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_no_number_twice),
        cmocka_unit_test(test_severity),
        cmocka_unit_test(test_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
