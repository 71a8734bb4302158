/* The signals that a server is asked by: SIGTERM and SIGINT end it, SIGHUP has it read its files again. They are taken by the
 * main thread alone, between looks at what is looked at now and then. man: sigtimedwait(2) */
#ifndef LAGRA_SERVER_SIGNALS_H
#define LAGRA_SERVER_SIGNALS_H

#include <signal.h>

struct signal_watch {
    sigset_t signals;         /* signals_block() */
    void (*reload)(void *of); /* SIGHUP */
    void (*look)(void *of);   /* each time that has been waited, but for the end */
    void *of;
};
/* Threads that are started from now on inherit the mask. */
void signals_block(struct signal_watch *watch);

/* Looks are no further apart than this. */
#define SIGNAL_LOOK_MS 1000u
enum signal_kind { SIGNAL_NONE, SIGNAL_HANDLED, SIGNAL_END };
/* Waits for one, for so long at most. */
enum signal_kind signals_next(const struct signal_watch *watch, unsigned ms);
/* Until one ends the server, or for so long. */
void signals_await_end(const struct signal_watch *watch, unsigned ms);

#endif
