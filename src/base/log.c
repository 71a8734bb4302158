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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dates.h"
#include "base/visible.h"

#define LINE_BYTES_MAX 4096

#define LOG_NOTHING    (LOG_ERROR + 1)

/* The only global mutable state, set at start-up; the level also later. */
static _Atomic unsigned log_least = LOG_INFO;
static int log_fd = STDERR_FILENO;
static const char *log_path;                 /* NULL: stderr alone */
static unsigned console_least = LOG_NOTHING; /* of what goes to stderr beside the file */

static const char *const level_names[] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARN] = "warn",
    [LOG_ERROR] = "error",
};

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

bool log_open(enum log_level least, const char *path)
{
    int fd = path ? open_file(path) : STDERR_FILENO;

    if (fd < 0)
        return false;
    log_fd = fd;
    log_path = path;
    log_least = least;
    return true;
}

void log_console(enum log_level least)
{
    struct stat file, console;

    if (fstat(log_fd, &file) == 0 && fstat(STDERR_FILENO, &console) == 0 &&
        file.st_dev == console.st_dev && file.st_ino == console.st_ino)
        return; /* each line once */
    console_least = least;
}

/* Under the same descriptor: a thread that writes meanwhile writes to the one or to the other. */
bool log_reopen(void)
{
    int fd = log_path ? open_file(log_path) : STDERR_FILENO;
    bool opened;

    if (fd < 0 || !log_path)
        return fd >= 0;
    opened = dup3(fd, log_fd, O_CLOEXEC) >= 0;
    close(fd);
    return opened;
}

bool log_enabled(enum log_level level)
{
    return level >= atomic_load_explicit(&log_least, memory_order_relaxed);
}

void log_set_level(enum log_level least)
{
    atomic_store_explicit(&log_least, least, memory_order_relaxed);
}

enum log_level log_level(void)
{
    return (enum log_level)atomic_load_explicit(&log_least, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

bool log_level_parse(const char *name, enum log_level *ret_level)
{
    for (unsigned i = LOG_DEBUG; i <= LOG_ERROR; i++) {
        if (strcmp(level_names[i], name) != 0)
            continue;
        *ret_level = (enum log_level)i;
        return true;
    }
    return false;
}

/* Keeps room for the end of the line. */
static size_t add_visible(char *line, size_t used, const char *text)
{
    return used + visible_copy(line + used, LINE_BYTES_MAX - 1 - used, bytes_from_string(text));
}

static instant instant_of(const struct timespec *wall)
{
    return INSTANT_UNIX_EPOCH + (uint64_t)wall->tv_sec * TICKS_PER_SECOND +
           (uint64_t)wall->tv_nsec / 100;
}

/* There is nowhere to tell that the log itself cannot be written. */
static void write_out(enum log_level level, const char *text, size_t size)
{
    ssize_t written = write(log_fd, text, size);

    if ((unsigned)level >= console_least)
        written = write(STDERR_FILENO, text, size);
    (void)written;
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
    used = add_visible(line, used, text);
    if (problem) {
        used = add_visible(line, used, ": ");
        used = add_visible(line, used, problem);
    }
    line[used++] = '\n';
    write_out(level, line, used);
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
    write_out(LOG_ERROR, when, strlen(when));
    write_out(LOG_ERROR, text, sizeof text - 1);
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
