/* Plain writes of SMB clients, which are durable by time: 5 seconds after they were answered. docs/smb.md */
#ifndef LAGRA_SIM_SM_PLAIN_H
#define LAGRA_SIM_SM_PLAIN_H

#include <stdint.h>

/* A call that fails or takes long may put it off. */
#define FAULTS_OF_TIME                                                                             \
    (FAULT_ERRORS | FAULT_SPACE | FAULT_FILES | FAULT_SHORT | FAULT_LATENCY | FAULT_DAMAGE)

/* Once in a run. */
void sm_plain_begin(void);
/* It is answered. */
void sm_plain_note(uint64_t commit);
/* The server's process lives. */
void sm_plain_lives(void);

#endif
