/* A server that sources of copies lie on, in the place of src/fetch: its answers are bytes that the
 * fuzzer chose, one after the other. Jobs of the background run when they are asked for. */
#ifndef LAGRA_TESTS_FUZZ_HOSTILE_H
#define LAGRA_TESTS_FUZZ_HOSTILE_H

#include "fetch/fetch.h"
#include "service/background.h"

/* answers: texts as on the wire, with lines that end in LF, each up to "\n%%\n"; when there are no more,
 * nobody answers. They stay the caller's. */
struct fetcher *hostile_fetcher(struct bytes answers);
struct background *hostile_background(void);
/* Runs what was begun. */
void hostile_run_jobs(void);

#endif
