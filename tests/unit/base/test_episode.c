/* Rule: work that is refused for a while is two lines in the log, however much of it there is: one when it
 * begins, one with the count when it is over. base/episode.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/episode.h"
#include "base/log.h"

static time_t ahead_s;

/* In the place of libc's: the test moves the time. */
int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, ret_now);

    ret_now->tv_sec += ahead_s;
    return failed;
}

static char path[] = "episode-XXXXXX";
static FILE *lines;

/* The next line of the log behind its time and level; empty: there is none. */
static const char *next_line(void)
{
    static char line[512];

    clearerr(lines);
    if (!fgets(line, sizeof line, lines))
        return "";
    line[strcspn(line, "\n")] = '\0';
    return strstr(line, "warn  ") ? strstr(line, "warn  ") + 6 : line;
}

static void pass_ms(unsigned ms)
{
    ahead_s += (time_t)(ms / 1000 + 1);
    episodes_look();
}

static void an_episode_is_two_lines(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        episode_refused(EPISODE_MEMORY);
        episodes_look();
    }
    assert_string_equal(next_line(), "the memory budget is used up: requests are refused (503)");
    assert_string_equal(next_line(), "");
    pass_ms(EPISODE_QUIET_MS / 2);
    episode_refused(EPISODE_MEMORY);
    pass_ms(EPISODE_QUIET_MS / 2);
    assert_string_equal(next_line(), "");
    pass_ms(EPISODE_QUIET_MS);
    assert_string_equal(next_line(), "the memory budget has space again; 1001 refused");
    pass_ms(EPISODE_QUIET_MS);
    assert_string_equal(next_line(), "");
}

static void each_class_has_its_own(void **state)
{
    (void)state;
    episode_goes_on(EPISODE_DISK, "1 MiB are free, the reserve has 12");
    episode_goes_on(EPISODE_DISK, "0 MiB are free, the reserve has 12");
    episode_refused(EPISODE_GATHER);
    assert_string_equal(next_line(),
                        "free disk space is below the reserve: requests that need space are "
                        "refused (507), deletes are not: 1 MiB are free, the reserve has 12");
    assert_string_equal(
        next_line(), "too many requests wait for the source of a copy: new ones are refused (503)");
    pass_ms(EPISODE_QUIET_MS);
    assert_string_equal(next_line(), "free disk space is above the reserve again");
    assert_string_equal(
        next_line(), "requests that wait for the source of a copy are accepted again; 1 refused");
    for (int i = 0; i < EPISODES; i++)
        episode_refused((enum episode)i);
    for (int i = 0; i < EPISODES; i++)
        assert_true(strlen(next_line()) > 10);
    pass_ms(EPISODE_QUIET_MS);
    for (int i = 0; i < EPISODES; i++)
        assert_non_null(strstr(next_line(), "; 1 refused"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_episode_is_two_lines),
        cmocka_unit_test(each_class_has_its_own),
    };
    int fd = mkstemp(path), failed;

    if (fd < 0 || !log_open(LOG_INFO, path) || !(lines = fdopen(fd, "r")))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    fclose(lines);
    unlink(path);
    return failed;
}
