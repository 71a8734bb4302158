/* A test's second process: the test program itself, run again to do one thing with a store's folder
 * and then to be killed. (A plain fork would have the locks and not the threads of this one.) */
#ifndef LAGRA_TESTS_STORE_CONFORMANCE_CHILD_H
#define LAGRA_TESTS_STORE_CONFORMANCE_CHILD_H

#include <sys/types.h>

#include "conformance.h"

/* What a child does; its fixture has the engine, the folder, the space of the test's partition, an
 * arena, and no store open yet. It dies by SIGKILL when this returns. */
struct conformance_child {
    const char *name;
    void (*run)(struct fixture *fixture, int to_parent);
};
#define CHILD(function)                                                                            \
    {                                                                                              \
#function, function                                                                        \
    }
/* In main(): runs as the child that the arguments name; returns when they name none. */
void child_main(int argc, char **argv, const struct conformance_child *children, size_t count);

/* Closes the test's store and starts a child on its folder. */
pid_t child_start(struct fixture *fixture, const char *name, int *ret_from_child);
/* Waits for its end; true when it died by SIGKILL, as meant: not by a failed assert. */
bool child_end(pid_t child, int from_child);

/* In the child: opens the store; it must be there. */
void child_open(struct fixture *fixture);
/* A number, from the child to its parent. False: there is no more to hear. */
void child_tell(int to_parent, uint64_t number);
bool child_hear(int from_child, uint64_t *ret_number);

#endif
