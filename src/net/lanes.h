/* Fair queue of a worker's ready connections. Connections that serve the same account share a lane.
 * Lanes take turns; within a lane, connections take turns in order. An account with many waiting
 * requests therefore delays another account by only one turn at a time. While several lanes are
 * active, rounds and turns are short, so that new events are noticed soon. With a single lane, this
 * is a plain queue. Internal to net/. One thread. decision: 711 */
#ifndef LAGRA_NET_LANES_H
#define LAGRA_NET_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define LANES            64u
/* Turns in a round while several lanes are active; equals the number of bodies hashed in
 * parallel. */
#define LANES_ROUND_MOST 8u

struct connection;

struct lane {
    struct connection *first, *last;
};
/* Initially all zeros, with no connection ready. */
struct lanes {
    struct lane of[LANES];
    uint64_t ready; /* bit set of the lanes with a ready connection */
    uint64_t recent,
        /* bit sets of lanes that had turns: in the current period of ROUNDS_OF_LATE rounds, and
         * in the previous one */
        earlier;
    unsigned rounds;
    unsigned next;  /* lane to check first */
    unsigned count; /* number of ready connections */
    unsigned left;  /* turns left in this round */
};

/* Returns the lane for connection_serves_for(whose). All connections with NULL share a lane. */
uint8_t lanes_number(const void *whose);
/* Adds a ready connection to the end of its lane. It must not be in a lane. */
void lanes_add(struct lanes *lanes, struct connection *connection);
/* Starts a round. It consists of turns for all connections that are ready now, or for some of them
 * if several lanes are active. */
void lanes_begin_round(struct lanes *lanes);
/* Removes and returns the connection whose turn it is, or NULL at the end of the round. */
struct connection *lanes_take(struct lanes *lanes);
/* Returns true if more than one lane had turns recently or has a ready connection. */
bool lanes_are_several(const struct lanes *lanes);
/* Returns true if the current turn is the last one of the round. */
bool lanes_is_last(const struct lanes *lanes);

#endif
