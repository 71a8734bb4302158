/* Declarations shared by the gate's files. */
#ifndef LAGRA_OPENS_OPEN_STATE_PRIVATE_H
#define LAGRA_OPENS_OPEN_STATE_PRIVATE_H

#include "opens/open_state.h"

/* Wakes the requests that wait for the gate once its changes are committed. */
static inline void gate_wakes(const struct file_gate *gate)
{
    const struct waiting_key key = gate_key(gate);

    decision_wakes(gate->d, &key);
}
/* Reads the locks if they have not been read yet. returns OK, as decision_fail_store() */
enum error gate_read_locks(struct file_gate *gate);
/* Removes the locks of opens that are no longer in the set. returns OK, as decision_fail_store() */
enum error gate_drop_locks(struct file_gate *gate);
/* Resolves conflicts with disconnected opens after a check of the operation: closes them, or
 * takes the broken caching from persistent ones. *ret_again: the check must be repeated.
 * returns OK, as decision_fail_store() */
enum error gate_settle_away(struct file_gate *gate, const struct file_use *use,
                            const struct opens_verdict *verdict, const struct caching_break *breaks,
                            bool *ret_again);
/* Checks the operation by the rules and starts the breaks. own: the operation's own caching, or
 * NO_CACHING
 * returns as gate_pass() */
enum error gate_judge(struct file_gate *gate, const struct file_use *use, uint16_t own);
/* Returns the caching of an entry; nothing for NO_CACHING. */
struct caching_given gate_given(const struct file_gate *gate, uint16_t number);
/* Returns the caching to grant, as opens_grant(). */
uint8_t gate_grant(const struct file_gate *gate, uint8_t wants, bool is_oplock, uint16_t own);
/* Sends the holder a break to `to`. A holder with only read caching loses it at once, without an
 * acknowledgment. MS-SMB2 3.3.4.7 */
void gate_tell(struct file_gate *gate, struct caching_entry *holder, uint8_t to);

#endif
