/* The pool of threads on which the service decides what may wait. */
#ifndef LAGRA_SIM_POOLED_H
#define LAGRA_SIM_POOLED_H

struct decide_pool;
struct decide_pool *pooled_new(void);

#endif
