/* The pool of threads on which the service decides what may wait. */
#ifndef LAGRA_SIM_POOLED_H
#define LAGRA_SIM_POOLED_H

struct decision_pool;
struct decision_pool *pooled_new(void);
/* The slot asks something new: a list that it asked before may have ended half way. */
void pooled_forget_list(unsigned slot);

#endif
