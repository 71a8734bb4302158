#include "server/signals.h"

#include <pthread.h>

#include "base/clock.h"

void signals_block(struct signal_watch *watch)
{
    sigemptyset(&watch->signals);
    sigaddset(&watch->signals, SIGTERM);
    sigaddset(&watch->signals, SIGINT);
    sigaddset(&watch->signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &watch->signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

enum signal_kind signals_next(const struct signal_watch *watch, unsigned ms)
{
    const struct timespec most = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
    int number = sigtimedwait(&watch->signals, NULL, &most);

    if (number > 0 && number != SIGHUP)
        return SIGNAL_END;
    if (number == SIGHUP)
        watch->reload(watch->of);
    watch->look(watch->of);
    return number > 0 ? SIGNAL_HANDLED : SIGNAL_NONE;
}

void signals_await_end(const struct signal_watch *watch, unsigned ms)
{
    uint64_t end_ms = clock_monotonic_ms() + ms, now_ms;

    while ((now_ms = clock_monotonic_ms()) < end_ms)
        if (signals_next(watch, end_ms - now_ms < SIGNAL_POLL_INTERVAL_MS
                                    ? (unsigned)(end_ms - now_ms)
                                    : SIGNAL_POLL_INTERVAL_MS) == SIGNAL_END)
            return;
}
