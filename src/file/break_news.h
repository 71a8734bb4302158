/* How those who hold what clients cache learn that they have to give it up: in this process, by the key that
 * the file was opened with. Whoever asks for a break, an operation of REST or another client, commits that
 * it is asked (gate.h); once it is committed, the listener of the key is called, once for each break.
 *
 * (1) A listener that was added before its open was committed misses no break of it.
 * (2) It is called on the thread that has committed, under the registry's lock: it notes what it was told,
 *     posts to its own thread, and returns. It may neither block nor call anything of this file.
 * (3) It may be called before its open has been answered, and for an open that fails after all.
 * (4) After break_listener_remove() has returned it is not being called, and will not be.
 *
 * A commit of a store on other machines that turns out lost was told all the same: the client gives up
 * something for nothing. Any thread. */
#ifndef LAGRA_FILE_BREAK_NEWS_H
#define LAGRA_FILE_BREAK_NEWS_H

#include "base/ids.h"
#include "service/decision.h"

struct break_news {
    struct guid space; /* of the share */
    uint64_t node;
    struct guid key;
    uint8_t holds,
        to; /* CACHING_*: what it has, and what it may keep. Once acknowledged it has `to` */
};

/* Owned by the one who adds it, and the registry's while it is there. */
struct break_listener {
    struct guid space;
    struct guid key;
    void (*asked)(struct break_listener *listener, const struct break_news *news);
    struct break_listener *next; /* the registry's */
};
/* Of one key there may be several, as of several opens with one lease: each is called. */
void break_listener_add(struct break_listener *listener);
void break_listener_remove(struct break_listener *listener);

/* By the gate: tells it once the changes of the decision are committed. */
void break_news_add(struct decision *d, const struct break_news *news);

#endif
