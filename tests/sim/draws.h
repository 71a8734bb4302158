/* What clients draw from the seed, whatever service they ask. */
#ifndef LAGRA_SIM_DRAWS_H
#define LAGRA_SIM_DRAWS_H

#include "request.h"

struct draws {
    uint64_t state;
};

/* Of a client's request of this number. */
struct draws draws_of(unsigned client, unsigned number);
/* 0..below-1 */
unsigned draw(struct draws *draws, unsigned below);
/* The number of one of `count` weights, each as likely as it is heavy. */
unsigned draw_weighted(struct draws *draws, const unsigned weights[], unsigned count);
/* How the client behaves while it asks. Once in so many requests it thinks before, for less than so
 * many seconds. */
void draw_behaviour(struct draws *draws, struct ask *ask, unsigned once_in, unsigned seconds);

#endif
