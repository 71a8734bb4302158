/* Internal to net/: fair queue of a worker's ready connections. Connections that serve the same account
 * share a lane. Lanes have turns alternately, and so do the connections of a lane, in their order. So
 * an account with many waiting requests delays another account by one turn at a time. While several
 * lanes had turns recently, rounds and turns are short, so that new events are noticed between rounds.
 * With one lane there is no difference to a plain queue. decision: 711. One thread. */
#ifndef LAGRA_NET_LANES_H
#define LAGRA_NET_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define LANES            64u
/* Turns of a round while several lanes are active: the number of bodies that are hashed in parallel. */
#define LANES_ROUND_MOST 8u

struct connection;

struct lane {
    struct connection *first, *last;
};
/* All zeros: none is ready. */
struct lanes {
    struct lane of[LANES];
    uint64_t ready; /* bit set of the lanes with a ready connection */
    uint64_t recent,
        earlier; /* lanes that had turns: since `rounds` started, and in the period before */
    unsigned rounds;
    unsigned next;  /* the lane that is checked first */
    unsigned count; /* number of ready connections */
    unsigned left;  /* turns left in this round */
};

/* Returns the lane of what is served; NULL: the lane of all unknown ones. */
uint8_t lanes_number(const void *whose);
/* Adds a ready connection to the end of its lane. It must not be in a lane. */
void lanes_add(struct lanes *lanes, struct connection *connection);
/* Starts a round, of the connections that are ready now or some of them. */
void lanes_begin_round(struct lanes *lanes);
/* Removes and returns the connection whose turn it is, or NULL at the end of the round. */
struct connection *lanes_take(struct lanes *lanes);
/* Returns true if more than one lane had turns recently or has a ready connection. */
bool lanes_are_several(const struct lanes *lanes);
/* Ends the round after the current turn. */
bool lanes_is_last(const struct lanes *lanes);

#endif
