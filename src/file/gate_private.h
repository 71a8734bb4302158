/* What the files of the gate share. */
#ifndef LAGRA_FILE_GATE_PRIVATE_H
#define LAGRA_FILE_GATE_PRIVATE_H

#include "file/gate.h"

/* Wakes the requests that wait for the gate, once its changes are committed. */
static inline void gate_wakes(const struct file_gate *gate)
{
    const struct waiting_key key = gate_key(gate);

    decision_wakes(gate->d, &key);
}
/* Reads the locks unless they have been read. returns OK, as decision_fail_store() */
enum error gate_read_locks(struct file_gate *gate);
/* Removes the locks of opens that are not in the set any more. returns OK, as decision_fail_store() */
enum error gate_drop_locks(struct file_gate *gate);
/* After a verdict on the operation: ends what is away and in its way, and lets those that persist lose what they
 * are asked for. *ret_again: then the rules are to be asked again.
 * returns OK, as decision_fail_store() */
enum error gate_settle_away(struct file_gate *gate, const struct file_use *use,
                            const struct opens_verdict *verdict, const struct caching_break *breaks,
                            bool *ret_again);
/* Asks the rules, and notes what they break. own: the caching of the one who asks; NO_CACHING
 * returns as gate_pass() */
enum error gate_judge(struct file_gate *gate, const struct file_use *use, uint16_t own);
/* What is had by a caching; NO_CACHING: nothing. */
struct caching_given gate_given(const struct file_gate *gate, uint16_t number);
/* As opens_grant(). */
uint8_t gate_grant(const struct file_gate *gate, uint8_t wants, bool is_oplock, uint16_t own);
/* Tells the holder that it may keep `to`. One who has only read has given it up by that: MS-SMB2 3.3.4.7 */
void gate_tell(struct file_gate *gate, struct caching_entry *holder, uint8_t to);

#endif
