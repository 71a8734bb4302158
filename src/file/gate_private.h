/* What the files of the gate share. */
#ifndef LAGRA_FILE_GATE_PRIVATE_H
#define LAGRA_FILE_GATE_PRIVATE_H

#include "file/gate.h"

/* Reads the locks unless they have been read. returns OK, as decision_fail_store() */
enum error gate_read_locks(struct file_gate *gate);
/* Asks the rules, and records the breaks. own: the caching entry of the caller, or NO_CACHING
 * returns as gate_pass() */
enum error gate_judge(struct file_gate *gate, const struct file_use *use, uint16_t own);

#endif
