/* Moves of names between the cells of a cluster. A move is three commits that change nothing for clients: the source seals
 * the name, the destination activates it, and the source finishes. In between no cell has it, and requests may get 503.
 * A crash of a cell takes its own of these commits back. */
#ifndef LAGRA_SIM_MOVES_H
#define LAGRA_SIM_MOVES_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the cell of a name whose newest state a commit made, or 0 while it is between two cells. */
unsigned moves_cell_of(unsigned name, uint64_t newest_state);
bool moves_are_here(unsigned name, uint64_t newest_state);
/* Like moves_are_here(), if a crash of the calling process's cell leaves its commits up to `survivor` only. newest_state:
 * of the remaining commits */
bool moves_are_here_at(unsigned name, uint64_t newest_state, uint64_t survivor);
/* Returns whether the name may be in the calling process's cell after a crash. */
bool moves_may_be_here(unsigned name, uint64_t newest_state);
/* Undoes the steps of moves that such a crash lost. */
void moves_roll_back(uint64_t survivor);

/* Returns whether the calling thread has just committed a step of a move, and notes it. */
bool moves_committed(void);
/* Discards the step that the calling thread has decided, since it cannot be committed. */
void moves_undecided(void);
/* Returns whether the calling process's cell may have sealed a name, so that requests for it get 503. */
bool moves_have_sealed_here(void);
/* Returns whether requests may have got 503 at any time since then, because a name was held or between two cells. */
bool moves_were_busy(uint64_t since_ns);
struct guid;
/* Returns whether a move has made the space of the calling job, and clients do not see it (yet). */
bool moves_hide(const struct guid *space);
/* Another cell executes a step: time may pass before, and one of the front ends may fail, once in `once_in` times. */
void moves_linger(unsigned once_in);
/* Returns whether all moves have ended, and no prepared copy remains. */
bool moves_have_ended(void);
/* Returns the time since when a front end has held a name, or 0. */
uint64_t moves_held_since_ns(void);
/* Discards the names that the process of a front end held. */
void moves_end_process(unsigned front);

#endif
