/* Logs that nobody waits for: all events of all threads once and in each thread's order; what there is no room for, and
 * what cannot be written, is left out and counted. base/event_log.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/event_log.h"
#include "base/metrics.h"

#define THREADS     4u
#define EVENTS_EACH 20000u
#define ACCESS      (1u << EVENTS_ACCESS)
#define AUDIT       (1u << EVENTS_AUDIT)

struct event {
    uint32_t thread, number;
    char padding[40];
};

static char folder[] = "events-XXXXXX";
static char access_path[64], audit_path[64], moved_path[64];
static atomic_bool is_held, holds;

/* A line for each event; the thread that writes can be held. */
static void format(enum event_log log, struct bytes bytes, struct text *to)
{
    struct event event;

    while (atomic_load(&is_held)) {
        atomic_store(&holds, true);
        usleep(1000);
    }
    assert_int_equal(bytes.len, sizeof event);
    memcpy(&event, bytes.ptr, sizeof event);
    text_printf(to, "%d %" PRIu32 " %" PRIu32, (int)log, event.thread, event.number);
}

static bool leave(unsigned logs, uint32_t thread, uint32_t number)
{
    struct event *event = event_begin(logs, sizeof *event);

    if (!event)
        return false;
    *event = (struct event){ .thread = thread, .number = number };
    event_finish();
    return true;
}

static int64_t counted(const char *name, const char *log)
{
    struct arena *arena = arena_new(1u << 24);
    char line[128];
    const char *found;
    struct text page;
    int64_t value;

    text_init(&page, arena, 4096);
    metrics_print(&page);
    text_add_char(&page, '\0');
    snprintf(line, sizeof line, "%s{log=\"%s\"} ", name, log);
    found = strstr(page.ptr, line);
    assert_non_null(found);
    value = strtoll(found + strlen(line), NULL, 10);
    arena_free(arena);
    return value;
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(access_path, sizeof access_path, "%s/access", folder);
    snprintf(audit_path, sizeof audit_path, "%s/audit", folder);
    snprintf(moved_path, sizeof moved_path, "%s/moved", folder);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    event_logs_stop();
    unlink(access_path);
    unlink(audit_path);
    unlink(moved_path);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void start(const char *access, const char *audit)
{
    if (access)
        assert_true(event_log_open(EVENTS_ACCESS, access, format));
    if (audit)
        assert_true(event_log_open(EVENTS_AUDIT, audit, format));
    assert_true(event_logs_start());
}

static void *leave_many(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;

    for (uint32_t i = 0; i < EVENTS_EACH; i++) {
        while (!leave(i % 8 == 0 ? ACCESS | AUDIT : ACCESS, thread, i))
            usleep(1000);
    }
    return NULL;
}

/* How many lines of the log there are; each thread's are in order. */
static unsigned read_lines(const char *path, unsigned log)
{
    FILE *file = fopen(path, "r");
    uint32_t next[THREADS] = { 0 };
    unsigned count = 0, of_log, thread, number;

    assert_non_null(file);
    while (fscanf(file, "%u %u %u\n", &of_log, &thread, &number) == 3) {
        assert_int_equal(of_log, log);
        assert_true(thread < THREADS && number >= next[thread]);
        next[thread] = number + 1;
        count++;
    }
    assert_true(feof(file));
    fclose(file);
    return count;
}

static void all_threads_in_order(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    assert_int_equal(event_logs_on(), 0);
    start(access_path, audit_path);
    assert_int_equal(event_logs_on(), 1u << EVENTS_ACCESS | 1u << EVENTS_AUDIT);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, leave_many, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    event_logs_stop();
    assert_int_equal(read_lines(access_path, EVENTS_ACCESS), THREADS * EVENTS_EACH);
    assert_int_equal(read_lines(audit_path, EVENTS_AUDIT), THREADS * EVENTS_EACH / 8);
}

/* While nothing is written a ring fills up: the rest is left out, and counted. What has room is written later. */
static void bounded(void **state)
{
    int64_t dropped_before, written_before;
    unsigned left = 0, refused = 0;

    (void)state;
    atomic_store(&is_held, true);
    atomic_store(&holds, false);
    start(access_path, NULL);
    dropped_before = counted("lagra_log_events_dropped_total", "access");
    written_before = counted("lagra_log_events_total", "access");
    assert_true(leave(ACCESS, 0, left++));
    while (!atomic_load(&holds))
        usleep(1000);
    for (unsigned i = 0; i < 2 * (1u << 20) / sizeof(struct event); i++) {
        if (leave(ACCESS, 0, left))
            left++;
        else
            refused++;
    }
    assert_true(refused > 0 && left > 10000);
    atomic_store(&is_held, false);
    event_logs_stop();
    assert_int_equal(read_lines(access_path, EVENTS_ACCESS), left);
    assert_int_equal(counted("lagra_log_events_dropped_total", "access") - dropped_before, refused);
    assert_int_equal(counted("lagra_log_events_total", "access") - written_before, left);
}

static bool wait_for(bool (*is_there)(void))
{
    for (int i = 0; i < 60000; i++) {
        if (is_there())
            return true;
        usleep(1000);
    }
    return false;
}

static bool is_there_again(void)
{
    struct stat file;

    return stat(access_path, &file) == 0;
}

static bool has_a_line(void)
{
    struct stat file;

    return stat(access_path, &file) == 0 && file.st_size > 0;
}

/* A file that was renamed is written no more once the logs were opened again. */
static void opened_again(void **state)
{
    (void)state;
    start(access_path, NULL);
    assert_true(leave(ACCESS, 0, 0));
    assert_true(wait_for(has_a_line));
    assert_int_equal(rename(access_path, moved_path), 0);
    event_logs_reopen();
    assert_true(wait_for(is_there_again));
    assert_true(leave(ACCESS, 0, 1));
    event_logs_stop();
    assert_int_equal(read_lines(moved_path, EVENTS_ACCESS), 1);
    assert_int_equal(read_lines(access_path, EVENTS_ACCESS), 1);
}

/* A full disk: said once, counted, and over when there is room again. */
static void full_disk(void **state)
{
    int64_t dropped_before;

    (void)state;
    start("/dev/full", audit_path);
    dropped_before = counted("lagra_log_events_dropped_total", "access");
    for (uint32_t i = 0; i < 100; i++)
        assert_true(leave(ACCESS | AUDIT, 0, i));
    event_logs_stop();
    assert_int_equal(counted("lagra_log_events_dropped_total", "access") - dropped_before, 100);
    assert_int_equal(read_lines(audit_path, EVENTS_AUDIT), 100);
}

static void no_such_file(void **state)
{
    (void)state;
    assert_false(event_log_open(EVENTS_ACCESS, "/nowhere/at/all", format));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(event_logs_on(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_threads_in_order, remove_files),
        cmocka_unit_test_teardown(bounded, remove_files),
        cmocka_unit_test_teardown(opened_again, remove_files),
        cmocka_unit_test_teardown(full_disk, remove_files),
        cmocka_unit_test_teardown(no_such_file, remove_files),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
