/* How those who hold what clients cache learn that they have to give it up: in this process, by the key that
 * the file was opened with. Whoever asks for a break, an operation of REST or another client, commits that
 * it is asked (gate.h); once it is committed, the listener of the key is called, once for each break.
 *
 * (1) A listener that was added before its open was committed misses no break of it.
 * (2) It is called on the thread that has committed, by one thread at a time, under a lock of the registry that breaks of
 *     other keys seldom share: it notes the break, posts to its own thread, and returns. It may neither block nor call
 *     anything of this file.
 * (3) It may be called before its open has been answered, and for an open that fails after all.
 * (4) After break_listener_remove() has returned it is not being called, and will not be. Any thread. */
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
    uint16_t epoch; /* of the lease */
    instant at;     /* instant of the commit */
};

/* Owned by the one who adds it, and the registry's while it is there. */
struct break_listener {
    struct guid space;
    struct guid key;
    /* Of one key there may be several, as of several connections that have opens with one lease: each is called,
     * and the oldest is_first. It tells the client. */
    void (*asked)(struct break_listener *listener, const struct break_news *news, bool is_first);
    uint64_t node;               /* break_listener_has() */
    struct break_listener *next; /* the registry's */
};
void break_listener_add(struct break_listener *listener);
void break_listener_remove(struct break_listener *listener);
/* An open of this node has the key. */
void break_listener_has(struct break_listener *listener, uint64_t node);
/* The node that the key is of, as far as listeners know. returns false: none of the share's */
bool break_listener_find(const struct guid *space, const struct guid *key, uint64_t *ret_node);

/* Reports a break to the oldest listener of its key, after the one that had to notify the client was removed before it did. */
void break_news_pass_on(const struct break_news *news);

/* By the gate: reports the break once the changes of the decision are committed. */
void break_news_add(struct decision *d, const struct break_news *news);

#endif
