/* The record engine: how far its log goes. */
#ifndef LAGRA_SIM_ENGINE_H
#define LAGRA_SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

/* Is it being opened right now? */
bool engine_is_opening(void);

/* The sequence number of the last write that it found when it was opened first since clients ran: those before it
 * are there. */
uint64_t engine_opened_at(void);
/* Of the last write. */
uint64_t engine_sequence(void);

#endif
