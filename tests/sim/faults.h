/* Which call fails. For each life a weather is drawn: some kinds of faults, how often, and when
 * they stop; after that the judges ask for liveness. */
#ifndef LAGRA_SIM_FAULTS_H
#define LAGRA_SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk.h"

enum site { SITE_READ, SITE_WRITE, SITE_SYNC, SITE_OPEN, SITE_NAME, SITE_PUNCH, SITES };

/* After sched_begin(). calm: no faults and no crash in this life. */
void faults_begin(bool calm);
/* Is the weather over? */
bool faults_have_stopped(void);
/* A fault was injected in this life. */
bool faults_were_seen(void);
/* 0, or the errno that the call is to fail with. Counts down to the crash. */
int faults_at(enum site site, unsigned kind, enum file_kind file);
/* A fault that the caller makes: the errno, noted. */
int faults_note(int error);
/* The same, of a call for such a file. */
int faults_note_of(enum fault_cell cell, enum file_kind file, int error);
/* How a sync that failed leaves the pages. */
enum sync_failure faults_sync_failure(void);
/* How much of `size` the call does: at least 1. */
size_t faults_shorten(size_t size, enum file_kind file);
/* Waits as long as the call takes. */
void faults_take_time(enum site site, enum file_kind file);
/* Is there no descriptor for another file, when so many are open? */
bool faults_refuse_file(unsigned open);
/* Sets the wall clock when its time has come. */
void faults_set_wall(void);
/* What was read is not what the disk has: a sector of another time or place, a bit. */
void faults_misread(const struct inode *inode, uint64_t at, void *bytes, size_t size);
/* The page is not in memory: RWF_NOWAIT answers EAGAIN. */
bool faults_page_is_away(void);

#endif
