/* Inside of net/ only: whose turn is next on a worker. Connections that serve the same (an account) share a lane; lanes take
 * turns, and within one connections do, in their order. So one that has many requests waiting costs another one a turn each,
 * and not all of them. While several lanes have had turns of late, rounds and turns are short: what comes meanwhile is
 * noticed between rounds. With one lane all goes on as if there were none. decision: 711. One thread. */
#ifndef LAGRA_NET_LANES_H
#define LAGRA_NET_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define LANES            64u
/* Turns of a round while several lanes are about: as many as bodies are hashed side by side. */
#define LANES_ROUND_MOST 8u

struct connection;

struct lane {
    struct connection *first, *last;
};
/* All zeros: none is ready. */
struct lanes {
    struct lane of[LANES];
    uint64_t ready; /* a bit for each that has one */
    uint64_t recent,
        earlier; /* lanes that had turns: since `rounds` began, and in the time before */
    unsigned rounds;
    unsigned next;  /* the lane that is looked at first */
    unsigned count; /* of those that are ready */
    unsigned left;  /* turns of this round */
};

/* The lane of what is served; NULL: of all of whom nothing is known. */
uint8_t lanes_number(const void *whose);
/* It is ready, in the lane that it says, behind others. It is in none. */
void lanes_add(struct lanes *lanes, struct connection *connection);
/* A round begins: those that are ready now, or some of them. */
void lanes_begin_round(struct lanes *lanes);
/* Whose turn it is; NULL: the round is over. */
struct connection *lanes_take(struct lanes *lanes);
/* Have others than one lane had turns of late, or one to come? */
bool lanes_are_several(const struct lanes *lanes);
/* Nobody has a turn behind this one in this round. */
bool lanes_is_last(const struct lanes *lanes);

#endif
