/* Logs of events, a line each, that no thread waits for: who has something to log leaves it in a ring of its own
 * thread; one thread makes lines of what is there, and writes them.
 *
 * (1) A ring has a bound. What it has no room for, and what cannot be written (a disk that fails or is full), is left
 *     out, is counted, and is said once an episode.
 * (2) An event is bytes until it is written: pointers in it are to what lives as long as the process.
 * (3) A line is written whole or, where a disk becomes full, cut; the next line begins after a line end.
 * A log is a file that is added to, and opened again when event_logs_reopen() asks for it. Nothing is synced. */
#ifndef LAGRA_BASE_EVENT_LOG_H
#define LAGRA_BASE_EVENT_LOG_H

#include "base/arena.h"

enum event_log { EVENTS_ACCESS, EVENTS_AUDIT, EVENTS_SLOW, EVENTS_ANALYTICS, EVENT_LOGS };

/* Writes an event as a line of this log, without its end. The thread that writes. */
typedef void event_format(enum event_log log, struct bytes event, struct text *to);

/* From event_logs_start() on events of this log are taken. Start-up only.
 *
 * path     NULL: lines of the program's own log (base/log.h), of level warn
 * returns  false, with errno, when the file cannot be opened */
bool event_log_open(enum event_log log, const char *path, event_format *format);
/* The same for events that are not to become lines: each is handed to `take` on the thread that writes, whom it must
 * not keep waiting. take returns false: it has no room, and the event is counted as left out. Start-up only. */
typedef bool event_take(struct bytes event);
void event_log_hand(enum event_log log, event_take *take);
/* Of what a taker had room for, so many were left out later. Any thread. */
void event_log_lost(enum event_log log, size_t count, const char *why);
/* Starts the thread, if a log was opened. Start-up only. */
bool event_logs_start(void);
/* Writes what is left and closes all. Nobody may be logging any more. */
void event_logs_stop(void);
/* The files are opened again, soon. Any thread. */
void event_logs_reopen(void);

/* Of which logs events are taken: bits 1 << EVENTS_... Any thread. */
unsigned event_logs_on(void);

/* The longest event. */
#define EVENT_BYTES_MAX 20480u
/* Room for an event of this thread, to be filled, and finished by event_finish() before another one; 8-byte aligned.
 * NULL: there is none, and what was to be logged is counted as left out.
 *
 * logs  bits 1 << EVENTS_..: of which logs it is to be an event; all of them are on */
void *event_begin(unsigned logs, size_t size);
void event_finish(void);

#endif
