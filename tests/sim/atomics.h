/* Before the first line of the sources of the server that are compiled for the simulator once more
 * (meson.build): there another thread may go on before each atomic operation too. */
#ifndef LAGRA_SIM_ATOMICS_H
#define LAGRA_SIM_ATOMICS_H

#include <stdatomic.h>

void sched_point(void);

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#define atomic_load(object) (sched_point(), atomic_load_explicit(object, memory_order_seq_cst))
#define atomic_store(object, value)                                                                \
    (sched_point(), atomic_store_explicit(object, value, memory_order_seq_cst))
#define atomic_exchange(object, value)                                                             \
    (sched_point(), atomic_exchange_explicit(object, value, memory_order_seq_cst))
#define atomic_fetch_add(object, value)                                                            \
    (sched_point(), atomic_fetch_add_explicit(object, value, memory_order_seq_cst))
#define atomic_fetch_sub(object, value)                                                            \
    (sched_point(), atomic_fetch_sub_explicit(object, value, memory_order_seq_cst))
#define atomic_compare_exchange_strong(object, expected, value)                                    \
    (sched_point(), atomic_compare_exchange_strong_explicit(                                       \
                        object, expected, value, memory_order_seq_cst, memory_order_seq_cst))
#define atomic_compare_exchange_weak(object, expected, value)                                      \
    (sched_point(), atomic_compare_exchange_weak_explicit(                                         \
                        object, expected, value, memory_order_seq_cst, memory_order_seq_cst))

#endif
