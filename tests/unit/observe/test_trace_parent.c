/* The trace id of a traceparent header. source: w3.org/TR/trace-context-1 3.2, and the cases of its test suite */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/trace_parent.h"

#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

static void taken(void **state)
{
    static const char *const good[] = { "00-" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-ff",
                                        "cc-" TRACE "-" PARENT "-01",
                                        "cc-" TRACE "-" PARENT "-01-what-ever" };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct bytes id = trace_parent_id(bytes_from_string(good[i]));

        assert_int_equal(id.len, TRACE_ID_LENGTH);
        assert_memory_equal(id.ptr, TRACE, TRACE_ID_LENGTH);
    }
}

static void passed_over(void **state)
{
    static const char *const bad[] = {
        "",
        "00",
        "00-",
        "00-" TRACE,
        "00-" TRACE "-" PARENT,
        "00-" TRACE "-" PARENT "-",
        "00-" TRACE "-" PARENT "-1",
        "00-" TRACE "-" PARENT "-01-more",
        "00-" TRACE "-" PARENT "-01-",
        "ff-" TRACE "-" PARENT "-01",
        ".0-" TRACE "-" PARENT "-01",
        "0-" TRACE "-" PARENT "-01",
        "000-" TRACE "-" PARENT "-01",
        "00-4BF92f3577b34da6a3ce929d0e0e4736-" PARENT "-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-" PARENT "-01",
        "00-4bf92f3577b34da6a3ce929d0e0e47366-" PARENT "-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-" TRACE "-00f067aa0ba902b-01",
        "00-" TRACE "-" PARENT "-0x",
        "00-" TRACE "-" PARENT "-01 ",
        "00_" TRACE "_" PARENT "_01",
    };

    (void)state;
    assert_null(trace_parent_id(bytes_of(NULL, 0)).ptr);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(trace_parent_id(bytes_from_string(bad[i])).ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(taken), cmocka_unit_test(passed_over) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
