/* The log: a line is built on the stack and written with one write(), so lines of threads never
 * mix. What a client sent may be part of a line, so control characters are shown as escapes: nobody
 * can forge a line. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define LINE_BYTES_MAX 4096

/* The only global mutable state, set at start-up. */
static enum log_level log_least = LOG_INFO;
static int log_fd = STDERR_FILENO;

static const char *const level_names[] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARN] = "warn",
    [LOG_ERROR] = "error",
};

bool log_open(enum log_level least, const char *path)
{
    int fd = STDERR_FILENO;

    if (path)
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0)
        return false;
    log_fd = fd;
    log_least = least;
    return true;
}

bool log_enabled(enum log_level level)
{
    return level >= log_least;
}

/* Appends `from` with control characters as \xNN; stops when the line is full. */
static size_t add_sanitized(char *line, size_t used, const char *from)
{
    static const char hex[] = "0123456789abcdef";

    for (; *from != '\0' && used + 5 < LINE_BYTES_MAX; from++) {
        unsigned char c = (unsigned char)*from;

        if (c >= 0x20 && c != 0x7F) {
            line[used++] = (char)c;
            continue;
        }
        line[used++] = '\\';
        line[used++] = 'x';
        line[used++] = hex[c >> 4];
        line[used++] = hex[c & 15];
    }
    return used;
}

static instant instant_of(const struct timespec *wall)
{
    return INSTANT_UNIX_EPOCH + (uint64_t)wall->tv_sec * TICKS_PER_SECOND +
           (uint64_t)wall->tv_nsec / 100;
}

/* problem: what follows after ": ", or NULL. */
static __attribute__((format(printf, 2, 0))) void write_line(enum log_level level,
                                                             const char *format, va_list args,
                                                             const char *problem)
{
    char text[LINE_BYTES_MAX], line[LINE_BYTES_MAX], when[INSTANT_ISO_SIZE];
    struct timespec wall;
    size_t used;
    int head;

    clock_gettime(CLOCK_REALTIME, &wall);
    instant_format_iso(instant_of(&wall), when);
    head = snprintf(line, sizeof line, "%s %-5s ", when, level_names[level]);
    used = (size_t)head;
    (void)vsnprintf(text, sizeof text, format, args);
    used = add_sanitized(line, used, text);
    if (problem) {
        used = add_sanitized(line, used, ": ");
        used = add_sanitized(line, used, problem);
    }
    line[used++] = '\n';
    /* There is nowhere to tell that the log itself cannot be written. */
    if (write(log_fd, line, used) < 0)
        return;
}

/* Only what a signal handler may call. */
static void write_last_line(int signal_number)
{
    static const char text[] =
        " error lagra ends by signal SIGABRT: an assertion failed, or memory or threads ran out, "
        "in "
        "it or in a library; standard error says more. What was acknowledged is on disk: start it "
        "again.\n";
    char when[INSTANT_ISO_SIZE];
    struct timespec wall;

    (void)signal_number;
    clock_gettime(CLOCK_REALTIME, &wall);
    instant_format_iso(instant_of(&wall), when);
    if (write(log_fd, when, strlen(when)) < 0 || write(log_fd, text, sizeof text - 1) < 0)
        return;
}

void log_aborts(void)
{
    struct sigaction action = { .sa_handler = write_last_line, .sa_flags = (int)SA_RESETHAND };

    sigaction(SIGABRT, &action, NULL);
}

void log_line(enum log_level level, const char *format, ...)
{
    int saved = errno;
    va_list args;

    if (!log_enabled(level))
        return;
    va_start(args, format);
    write_line(level, format, args, NULL);
    va_end(args);
    errno = saved;
}

void log_errno(const char *format, ...)
{
    int saved = errno;
    char buffer[128];
    va_list args;

    va_start(args, format);
    write_line(LOG_ERROR, format, args, strerror_r(saved, buffer, sizeof buffer));
    va_end(args);
    errno = saved;
}
