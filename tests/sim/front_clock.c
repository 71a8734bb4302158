/* The clock of the machine that the calling thread's front end runs on: base/clock.c, compiled once for each. */
#include "base/clock.h"
#include "fronts.h"
#include "scheduler.h"

#define OF_MACHINES(type, returns, name, parameters, arguments)                                    \
    type __real_clock_##name parameters;                                                           \
    type __wrap_clock_##name parameters;                                                           \
    type clock_##name##_of_1 parameters;                                                           \
    type clock_##name##_of_2 parameters;                                                           \
    type clock_##name##_of_3 parameters;                                                           \
    type __wrap_clock_##name parameters                                                            \
    {                                                                                              \
        static type(*const of[MACHINES_MAX])                                                       \
            parameters = { clock_##name##_of_1, clock_##name##_of_2, clock_##name##_of_3 };        \
        unsigned front = sched_front();                                                            \
                                                                                                   \
        if (front == 0)                                                                            \
            returns __real_clock_##name arguments;                                                 \
        else                                                                                       \
            returns of[fronts_machine(front)] arguments;                                           \
    }

OF_MACHINES(instant, return, now, (void), ())
OF_MACHINES(instant, return, above, (instant seen), (seen))
OF_MACHINES(instant, return, wall, (void), ())
OF_MACHINES(instant, return, unmoved, (void), ())
OF_MACHINES(void, , not_before, (instant floor), (floor))
OF_MACHINES(instant, return, after_steps, (instant t, uint64_t within), (t, within))
OF_MACHINES(instant, return, without_steps, (instant t), (t))
OF_MACHINES(instant, return, with_steps, (instant t), (t))
