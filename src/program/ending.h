/* How the process ends when a write or sync of its store has failed. What such a call lost is not known, so
 * nothing may be written any longer, and the next start reads what is on the disk: the sooner it comes the
 * better. So the process ends at once, as PostgreSQL does, after it has said why in the log. With
 * --keepReading it stays up for reads, and ends so at SIGTERM. decision: 255 */
#ifndef LAGRA_PROGRAM_ENDING_H
#define LAGRA_PROGRAM_ENDING_H

#include <stdbool.h>
#include <stdnoreturn.h>

/* Beside EXIT_SUCCESS, EXIT_FAILURE (a start that is refused) and 2 (options that are wrong). README.md */
#define EXIT_STORE_FAILED 3

/* Before the store is opened. Start-up thread. */
void ending_keep_reading(bool keep);
/* Of struct store_options: ends the process, unless it is to go on reading. Any thread. */
void ending_store_failed(void);
/* Ends the process without closing the store, which would call on RocksDB to write. Main thread. */
noreturn void ending_of_failed_store(void);

#endif
