/* Signals of a server: SIGTERM and SIGINT end it, SIGHUP makes it reread its files. Only the main
 * thread receives them, between its periodic checks. man: sigtimedwait(2) */
#ifndef LAGRA_SERVER_SIGNALS_H
#define LAGRA_SERVER_SIGNALS_H

#include <signal.h>

struct signal_watch {
    sigset_t signals;         /* set by signals_block() */
    void (*reload)(void *of); /* called on SIGHUP */
    void (*look)(void *of);   /* called after each wait that does not end the server */
    void *of;
};
/* Blocks the signals in this thread and in those started afterwards. */
void signals_block(struct signal_watch *watch);

/* Maximum interval between checks. */
#define SIGNAL_POLL_INTERVAL_MS 1000u
enum signal_kind { SIGNAL_NONE, SIGNAL_HANDLED, SIGNAL_END };
/* Waits up to `ms` for a signal and handles it. */
enum signal_kind signals_next(const struct signal_watch *watch, unsigned ms);
/* Waits up to `ms`, or until a signal ends the server. */
void signals_await_end(const struct signal_watch *watch, unsigned ms);

#endif
