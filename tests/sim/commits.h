/* The order of commits over all cells of a cluster (fleet.h), and what a crash may take back. A server of its own is
 * cell 1. Numbers are given in one order; a crash of a cell's owner takes back the newest commits of that cell only,
 * whose numbers are not used again if there are several cells. */
#ifndef LAGRA_SIM_COMMITS_H
#define LAGRA_SIM_COMMITS_H

#include <stdbool.h>
#include <stdint.h>

struct commit_order;

/* Returns those of the calling process's cell. */
struct commit_order *commits_here(void);
/* Returns the cell of the calling process. */
unsigned commits_cell(void);
void commits_set_cell(unsigned cell);
/* Returns whether there are several cells. */
bool commits_are_divided(void);

/* Marks the commits after `from` as commits of the calling process's cell. */
void commits_note(uint64_t from);
/* Returns the cell in which a commit was made. */
unsigned commits_cell_of(uint64_t commit);
/* Nothing that was told or shown may be lost by a later crash: neither this commit nor an earlier one of its cell. */
void commits_acknowledge(uint64_t commit);
/* All commits are durable. */
void commits_acknowledge_all(void);
/* Returns the newest acknowledged commit of the calling process's cell. */
uint64_t commits_acknowledged(void);
bool commits_is_acknowledged(uint64_t commit);
/* Returns the newest commit of that cell, and the one before another; 0: there is none. Without several cells these are
 * the commits of all. */
uint64_t commits_newest(void);
uint64_t commits_previous(uint64_t commit);
/* Returns the newest commit that a crash of that cell has left, as the sequence number of the record engine tells. Of several
 * cells. */
uint64_t commits_survivor(void);
/* Returns the oldest commit that a crash of any cell may return to. */
uint64_t commits_oldest_survivor(void);
/* Returns whether a crash of the calling process's cell takes back the commit, if `survivor` is the newest that remains. */
bool commits_is_lost(uint64_t commit, uint64_t survivor);
/* After such a crash. */
void commits_roll_back(uint64_t survivor);

#endif
