/* Asynchronous logs of events, one line each. Each thread puts its events in its own ring; one log
 * thread formats and writes the lines.
 *
 * (1) A ring is bounded. Events that do not fit, or that cannot be written (a disk that fails or is
 *     full), are dropped and counted; a message is logged once per episode.
 * (2) An event is plain bytes until it is written: pointers in it must be valid for the lifetime
 *     of the process.
 * (3) A line is written completely, unless the disk becomes full, which may truncate it; the next
 * line then starts after a line feed. A log is a file opened for appending, and reopened by
 * event_logs_reopen(). Nothing is synced. */
#ifndef LAGRA_BASE_EVENT_LOG_H
#define LAGRA_BASE_EVENT_LOG_H

#include "base/arena.h"

enum event_log { EVENTS_ACCESS, EVENTS_AUDIT, EVENTS_SLOW, EVENTS_ANALYTICS, EVENT_LOGS };

/* Formats an event as a line of this log, without the line feed. Called on the log thread. */
typedef void event_format(enum event_log log, struct bytes event, struct text *to);

/* Opens a log; it accepts events after event_logs_start(). Startup only.
 *
 * path     file, or NULL for the program's own log (base/log.h), at level warn
 * returns  false, with errno, if the file cannot be opened */
bool event_log_open(enum event_log log, const char *path, event_format *format);
/* Opens a log that has no file: each event is passed to `take` instead of being formatted as a
 * line. `take` runs on the log thread and must not block. It returns false if it has no space; the
 * event then counts as dropped. Startup only. */
typedef bool event_take(struct bytes event);
void event_log_hand(enum event_log log, event_take *take);
/* Reports that `count` events that an event_take had accepted were dropped later. Thread-safe. */
void event_log_lost(enum event_log log, size_t count, const char *why);
/* Starts the thread if a log was opened. Start-up only. */
bool event_logs_start(void);
/* Writes the remaining events and closes all logs. No thread may be logging any more. */
void event_logs_stop(void);
/* Requests that the files be reopened soon. Thread-safe. */
void event_logs_reopen(void);

/* Returns the logs that accept events, as bits 1 << EVENTS_... Thread-safe. */
unsigned event_logs_on(void);

/* Maximum size of an event. */
#define EVENT_BYTES_MAX 20480u
/* Reserves 8-byte aligned space for an event of this thread. The caller fills it and calls
 * event_finish() before the next event. Returns NULL if there is no space; the event then counts as
 * dropped.
 *
 * logs  bits 1 << EVENTS_.. of the logs that receive the event; all must accept events */
void *event_begin(unsigned logs, size_t size);
void event_finish(void);

#endif
