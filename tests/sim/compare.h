/* An answer beside what the model expects. Each returns NULL when they agree, else what does not. */
#ifndef LAGRA_SIM_COMPARE_H
#define LAGRA_SIM_COMPARE_H

#include "model.h"

const char *compare_answer(const struct ask *ask, const struct expected *expected,
                           const struct reply *answer, struct doubt doubt);
/* List Blobs and List Containers: one state for each blob, of those between the two commits. */
const char *compare_listing(const struct ask *ask, const struct reply *answer, uint64_t from,
                            uint64_t to);
/* Fills in the times of snapshots that nobody was told. */
void compare_adopt(const struct ask *ask, const struct reply *answer, uint64_t commit);
const char *compare_containers(const struct reply *answer, uint64_t from, uint64_t to);
/* A snapshot's time in ticks of 100 ns since the year 1; 0: not of that form. */
uint64_t compare_ticks(const char *time);

#endif
