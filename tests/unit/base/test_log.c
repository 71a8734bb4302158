/* The log: one line an event, whatever is in it. log.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static char path[] = "/tmp/lagra-log-XXXXXX";

static int set_up(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    if (fd < 0)
        return -1;
    close(fd);
    return log_open(LOG_INFO, path) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

/* What was logged since the file was last emptied. */
static const char *logged(void)
{
    static char text[20000];
    FILE *file = fopen(path, "r");
    size_t size;

    assert_non_null(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    assert_int_equal(truncate(path, 0), 0);
    return text;
}

static size_t lines(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* Time, level, text. What is below the least level is not there. */
static void line(void **state)
{
    const char *text;

    (void)state;
    log_line(LOG_DEBUG, "not this");
    log_line(LOG_WARN, "%d and %s", 42, "text");
    text = logged();
    assert_int_equal(lines(text), 1);
    assert_non_null(strstr(text, "Z warn  42 and text\n"));
    assert_false(log_enabled(LOG_DEBUG));
    assert_true(log_enabled(LOG_INFO));
}

/* What a client sent cannot make a line of its own. */
static void nobody_forges_lines(void **state)
{
    const char *text;

    (void)state;
    log_line(LOG_INFO, "name %s", "a\n2026-01-01 error all is lost\r\x1b[2J\x7F");
    text = logged();
    assert_int_equal(lines(text), 1);
    assert_non_null(strstr(text, "name a\\x0a2026-01-01 error all is lost\\x0d\\x1b[2J\\x7f\n"));
}

/* A line that is too long is cut, and ends. */
static void long_lines(void **state)
{
    static char name[15000];
    const char *text;

    (void)state;
    memset(name, 'x', sizeof name - 1);
    log_line(LOG_INFO, "%s", name);
    memset(name, '\n', sizeof name - 1);
    log_line(LOG_INFO, "%s", name);
    text = logged();
    assert_int_equal(lines(text), 2);
    assert_true(strlen(text) < 2 * 4097);
}

/* The reason is that of errno, and errno is as it was. */
static void with_errno(void **state)
{
    (void)state;
    errno = ENOENT;
    log_errno("open %s", "x");
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(logged(), "error open x: No such file or directory\n"));
}

/* Who renames the file gets the next lines in a new one, at the next log_reopen(). */
static void reopened(void **state)
{
    char renamed[sizeof path + 2];
    FILE *file;
    char text[200];

    (void)state;
    snprintf(renamed, sizeof renamed, "%s.1", path);
    log_line(LOG_INFO, "before");
    assert_int_equal(rename(path, renamed), 0);
    log_line(LOG_INFO, "between");
    assert_true(log_reopen());
    log_line(LOG_INFO, "behind");
    assert_non_null(strstr(logged(), "Z info  behind\n"));
    file = fopen(renamed, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(lines(text), 2);
    assert_non_null(strstr(text, "between\n"));
    /* A folder in its place: the file that is open is written on. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(renamed, path), 0);
    assert_true(log_reopen());
    assert_int_equal(rename(path, renamed), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(log_reopen());
    log_line(LOG_INFO, "still");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rename(renamed, path), 0);
    assert_non_null(strstr(logged(), "still\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line),       cmocka_unit_test(nobody_forges_lines),
        cmocka_unit_test(long_lines), cmocka_unit_test(with_errno),
        cmocka_unit_test(reopened),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
