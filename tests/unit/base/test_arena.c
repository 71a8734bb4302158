/* Arenas and the texts that grow in them. arena.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"

static int set_up(void **state)
{
    *state = arena_new(64 << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

/* Runs of every size are zeroed, aligned, and do not overlap. */
static void allocations(void **state)
{
    static const size_t sizes[] = { 0, 1, 7, 16, 100, 8000, 9000, 100000, 3000000, 1 };
    unsigned char *runs[10];

    for (size_t i = 0; i < 10; i++) {
        runs[i] = arena_alloc(*state, sizes[i]);
        assert_non_null(runs[i]);
        assert_int_equal((uintptr_t)runs[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(runs[i][k], 0);
        memset(runs[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(runs[i][k], i + 1);
}

static void copies(void **state)
{
    struct bytes from = bytes_of("a\0b", 3);
    struct bytes copy = arena_copy(*state, from);

    assert_true(bytes_equal(copy, from));
    assert_ptr_not_equal(copy.ptr, from.ptr);
    assert_null(arena_copy(*state, bytes_of(NULL, 0)).ptr);   /* absent stays absent */
    assert_non_null(arena_copy(*state, bytes_of("", 0)).ptr); /* empty stays empty */
    assert_string_equal(arena_string(*state, bytes_of("abc", 2)), "ab");
    assert_string_equal(arena_string(*state, bytes_of(NULL, 0)), "");
    assert_true(bytes_is(arena_printf(*state, "%d-%s", 42, "x"), "42-x"));
}

/* Going back to a mark keeps what was there and gives the rest again. */
static void rewinds(void **state)
{
    char *kept = arena_bytes(*state, 100);
    struct arena_mark mark;
    char *first;

    memset(kept, 'k', 100);
    mark = arena_mark(*state);
    first = arena_bytes(*state, 10);
    for (int round = 0; round < 1000; round++) {
        arena_rewind(*state, mark);
        assert_ptr_equal(arena_bytes(*state, 10), first);
        memset(arena_bytes(*state, 200000), round, 200000); /* 200 MB if nothing were given back */
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(kept[i], 'k');
}

/* A text keeps its bytes however it grows, and whatever else is allocated meanwhile. */
static void texts_grow(void **state)
{
    for (int disturbed = 0; disturbed < 2; disturbed++) {
        struct text text;

        text_init(&text, *state, 0);
        for (unsigned i = 0; i < 50000; i++) {
            text_add_char(&text, (char)('a' + i % 26));
            if (disturbed && i % 97 == 0)
                memset(arena_bytes(*state, 50), '#', 50);
        }
        assert_int_equal(text.len, 50000);
        for (unsigned i = 0; i < 50000; i++)
            assert_int_equal(text.ptr[i], 'a' + i % 26);
    }
}

static void texts_print(void **state)
{
    struct text text;

    text_init(&text, *state, 0);
    text_add_string(&text, "<");
    text_add_u64(&text, 0);
    text_add_char(&text, ',');
    text_add_u64(&text, UINT64_MAX);
    text_add(&text, bytes_of(NULL, 0));
    text_printf(&text, ">%s%c", "", '!');
    assert_true(bytes_is(text_bytes(&text), "<0,18446744073709551615>!"));
}

static void multiply_past_size(void)
{
    arena_array(arena_new(1 << 20), SIZE_MAX / 2, 3);
}

/* Runs a function in a child process; true when it ended by abort(). */
static bool aborts(void (*function)(void))
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        function();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* A size that no memory has is a bug: the process ends, nothing is overwritten. */
static void overflows(void **state)
{
    (void)state;
    assert_true(aborts(multiply_past_size));
}

/* Beyond its limit an arena allocates all the same, and is exhausted until it is rewound. */
static void limit(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct arena_mark mark = arena_mark(arena);
    struct text text;

    (void)state;
    for (int i = 0; i < 100; i++)
        memset(arena_bytes(arena, 64 << 10), i, 64 << 10);
    assert_true(arena_is_exhausted(arena));
    arena_rewind(arena, mark);
    assert_false(arena_is_exhausted(arena));
    text_init(&text, arena, 1 << 19);
    for (int i = 0; i < 4 << 20; i++)
        text_add_char(&text, 'x');
    assert_true(arena_is_exhausted(arena));
    assert_int_equal(text.ptr[(4 << 20) - 1], 'x');
    arena_rewind(arena, mark);
    assert_false(arena_is_exhausted(arena));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(allocations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rewinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_print, set_up, tear_down),
        cmocka_unit_test(overflows),
        cmocka_unit_test(limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
