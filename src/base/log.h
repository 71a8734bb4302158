/* The log: lines on stderr, in a file, or both, one event each: time, level, text. Where stderr is systemd's
 * journal, each line there begins with its priority. Never secrets: no Authorization header, no key, no SAS
 * signature. Any thread; a line is one write. */
#ifndef LAGRA_BASE_LOG_H
#define LAGRA_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Start-up only. path NULL: stderr. Returns false when the file cannot be opened (errno set). */
bool log_open(enum log_level least, const char *path);
/* The mode of a log that is created, whatever the umask is at the time. decision: 1036 */
#define LOG_FILE_MODE 0600
/* Beside a file: lines of this level and above go to stderr too. Start-up only. */
void log_console(enum log_level least);
/* Opens the file of log_open() anew, which somebody may have renamed. Returns false when it cannot
 * be opened (errno set): the old one is written on. Any thread. */
bool log_reopen(void);
bool log_enabled(enum log_level level);
/* From now on lines below this level are left out: of the file, else of stderr. What log_console() said
 * of stderr stays. Any thread. */
void log_set_level(enum log_level least);
enum log_level log_level(void);
/* "debug", "info", "warn", "error" */
const char *log_level_name(enum log_level level);
/* False: not the name of a level. */
bool log_level_parse(const char *name, enum log_level *ret_level);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As log_line(LOG_ERROR), with ": " and the text of the current errno. */
void log_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on a process that is aborted (a failed assertion, an exception of a library that nobody
 * caught, no memory) says so in the log. Start-up thread. */
void log_aborts(void);

#endif
