/* Gates, built with them switched on. gate.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/gate.h"

static int woken[3];
static struct waiter waiters[3];

static void wake(struct waiter *waiter)
{
    woken[waiter - waiters]++;
}

static void asked_for(void **state)
{
    static const char *const bad[] = { "",      "decided",      "decided=",      "decided=pass",
                                       "=hold", "Decided=hold", "decided=hold ", "other=hold" };
    struct gate_request request = { .gate = GATES };

    (void)state;
    assert_true(gate_parse(bytes_from_string("decided=hold"), &request));
    assert_int_equal(request.gate, GATE_DECIDED);
    assert_int_equal(request.action, GATE_HOLD);
    assert_true(gate_parse(bytes_from_string("synced=kill"), &request));
    assert_int_equal(request.gate, GATE_SYNCED);
    assert_int_equal(request.action, GATE_KILL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(gate_parse(bytes_from_string(bad[i]), &request));
    assert_int_equal(request.gate, GATE_SYNCED);
}

/* Who is held waits until that gate, and no other, lets go; each is woken once. */
static void held_until_go(void **state)
{
    struct gate_request request = { .gate = GATE_DECIDED, .action = GATE_HOLD };
    struct gate_request pass = { .gate = GATE_DECIDED, .action = GATE_PASS };

    (void)state;
    for (int i = 0; i < 3; i++)
        waiters[i].wake = wake;
    assert_false(gate_stop(GATE_STAGED, &request, &waiters[0])); /* another gate */
    assert_false(gate_stop(GATE_DECIDED, &pass, &waiters[0]));
    assert_true(gate_stop(GATE_DECIDED, &request, &waiters[0]));
    assert_true(gate_stop(GATE_DECIDED, &request, &waiters[1]));
    assert_int_equal(gate_count(GATE_DECIDED), 2);
    assert_int_equal(gate_count(GATE_STAGED), 0);
    gate_go(GATE_STAGED);
    assert_int_equal(woken[0] + woken[1], 0);
    gate_go(GATE_DECIDED);
    assert_int_equal(woken[0], 1);
    assert_int_equal(woken[1], 1);
    assert_int_equal(gate_count(GATE_DECIDED), 0);
    gate_go(GATE_DECIDED);
    assert_int_equal(woken[0] + woken[1] + woken[2], 2);
}

/* Who is held between apply and sync keeps the syncer too. design 1, promise 2 */
static void syncer(void **state)
{
    struct gate_request request = { .gate = GATE_APPLIED, .action = GATE_HOLD };

    (void)state;
    assert_false(gate_syncer_held());
    assert_true(gate_stop(GATE_APPLIED, &request, &waiters[2]));
    assert_true(gate_syncer_held());
    gate_go(GATE_APPLIED);
    assert_false(gate_syncer_held());
    assert_int_equal(woken[2], 1);
    gate_hold_syncer(true);
    assert_true(gate_syncer_held());
    gate_hold_syncer(false);
    assert_false(gate_syncer_held());
}

/* A killed process does nothing more, not even what exit handlers would. */
static void killed(void **state)
{
    struct gate_request request = { .gate = GATE_STAGED, .action = GATE_KILL };
    int status = 0;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        gate_stop(GATE_STAGED, &request, &waiters[0]);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_for),
        cmocka_unit_test(held_until_go),
        cmocka_unit_test(syncer),
        cmocka_unit_test(killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
