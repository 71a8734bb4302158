/* `lagra check`: everything in a data folder is read and held against what it should be; with
 * --salvage, all that can be read of a folder that is refused is put into a new one, and what is
 * lost is listed by name. */
#ifndef LAGRA_PROGRAM_CHECK_H
#define LAGRA_PROGRAM_CHECK_H

/* Opens the folder as a start does (which mends what it can), or makes `salvage_to` of it, and
 * prints a line for each thing that is damaged or lost, and for each deferred task that failed. Where there is no data folder nothing is
 * written. Exit status: 0 nothing is damaged or lost, 1 something is, or the folder is refused. */
int check_run(const char *location, const char *salvage_to);

#endif
