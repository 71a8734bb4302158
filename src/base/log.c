/* The log: a line is built on the stack and written with one write(), so lines of different threads
 * never mix. A line may contain client input, so control characters are escaped to prevent forged
 * lines. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/dates.h"
#include "base/visible.h"

#define LINE_BYTES_MAX 4096

#define LOG_NOTHING    (LOG_ERROR + 1)

/* The only global mutable state, set at start-up; the level can change later. */
static _Atomic unsigned log_least = LOG_INFO;
static int log_fd = STDERR_FILENO;
static bool is_journal;      /* stderr is connected to the systemd journal */
static const char *log_path; /* NULL means stderr only */
/* minimum level that is also written to stderr if there is a log file */
static unsigned console_least = LOG_NOTHING;

static const char *const level_names[] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARN] = "warn",
    [LOG_ERROR] = "error",
};

/* Priority prefix of lines on stderr, which the journal strips. man: sd-daemon(3) */
#define PRIORITY_SIZE 3
static const char priorities[][PRIORITY_SIZE + 1] = {
    [LOG_DEBUG] = "<7>",
    [LOG_INFO] = "<6>",
    [LOG_WARN] = "<4>",
    [LOG_ERROR] = "<3>",
};

/* Returns true if stderr is connected to systemd's journal. JOURNAL_STREAM names its device and
 * inode, so a redirected stderr is recognized. man: systemd.exec(5) */
static bool find_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat console;
    char of_console[64];

    if (!stream || fstat(STDERR_FILENO, &console) != 0)
        return false;
    snprintf(of_console, sizeof of_console, "%ju:%ju", (uintmax_t)console.st_dev,
             (uintmax_t)console.st_ino);
    return strcmp(stream, of_console) == 0;
}

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, LOG_FILE_MODE);
}

bool log_open(enum log_level least, const char *path)
{
    int fd = path ? open_file(path) : STDERR_FILENO;

    if (fd < 0)
        return false;
    is_journal = find_journal();
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
        return; /* avoid duplicate lines */
    console_least = least;
}

/* Keeps the descriptor's number, so that a concurrent writer writes either to the old or to the
 * new file. */
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

/* Leaves space for the line feed. */
static size_t add_visible(char *line, size_t used, const char *text)
{
    return used + visible_copy(line + used, LINE_BYTES_MAX - 1 - used, bytes_from_string(text));
}

static instant instant_of(const struct timespec *wall)
{
    return INSTANT_UNIX_EPOCH + (uint64_t)wall->tv_sec * TICKS_PER_SECOND +
           (uint64_t)wall->tv_nsec / 100;
}

/* Writes a line to one destination. A write error cannot be reported anywhere. */
static void write_to(int fd, enum log_level level, const char *text, size_t size)
{
    struct iovec parts[] = { { (void *)(uintptr_t)priorities[level], PRIORITY_SIZE },
                             { (void *)(uintptr_t)text, size } };
    ssize_t written =
        is_journal && fd == STDERR_FILENO ? writev(fd, parts, 2) : write(fd, text, size);

    (void)written;
}

static void write_out(enum log_level level, const char *text, size_t size)
{
    write_to(log_fd, level, text, size);
    if ((unsigned)level >= console_least)
        write_to(STDERR_FILENO, level, text, size);
}

/* problem: text to append after ": ", or NULL */
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

/* Writes a last line to the log. Calls only async-signal-safe functions. */
static void write_last_line(int signal_number)
{
    static const char text[] =
        " error lagra was terminated by SIGABRT: an assertion failed, or memory or threads ran "
        "out, "
        "in "
        "it or in a library; standard error says more. All acknowledged writes are on disk; start "
        "it again.\n";
    char when[INSTANT_ISO_SIZE], line[INSTANT_ISO_SIZE + sizeof text];
    struct timespec wall;

    (void)signal_number;
    clock_gettime(CLOCK_REALTIME, &wall);
    instant_format_iso(instant_of(&wall), when);
    memcpy(line, when, strlen(when));
    memcpy(line + strlen(when), text, sizeof text - 1);
    write_out(LOG_ERROR, line, strlen(when) + sizeof text - 1);
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
