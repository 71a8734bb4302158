/* The log: lines on stderr, in a file, or both, one event each: time, level, text. On systemd's
 * journal, each line has a priority prefix. Never contains secrets: no Authorization header, key or
 * SAS signature. Thread-safe; a line is one write. */
#ifndef LAGRA_BASE_LOG_H
#define LAGRA_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Opens the log in a file, or on stderr if path is NULL. Returns false, with errno, if the file
 * cannot be opened. Startup only. */
bool log_open(enum log_level least, const char *path);
/* Mode of new log files, regardless of the umask. decision: 1036 */
#define LOG_FILE_MODE 0600
/* Copies lines of this level and above to stderr in addition to the file. Start-up only. */
void log_console(enum log_level least);
/* Reopens the file of log_open(), which may have been renamed. Returns false, with errno, if it
 * cannot be opened; the old file stays in use. Thread-safe. */
bool log_reopen(void);
bool log_enabled(enum log_level level);
/* Sets the level below which lines are omitted from the file, or from stderr if there is no file.
 * Does not affect log_console(). Thread-safe. */
void log_set_level(enum log_level least);
enum log_level log_level(void);
/* Returns "debug", "info", "warn" or "error". */
const char *log_level_name(enum log_level level);
/* Returns false if the name is not a level. */
bool log_level_parse(const char *name, enum log_level *ret_level);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Like log_line(LOG_ERROR), followed by ": " and the message of the current errno. */
void log_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Logs a last line if the process is aborted (failed assertion, uncaught exception in a library,
 * out of memory). Start-up only. */
void log_aborts(void);

#endif
