/* Declarations shared by the open state's files. */
#ifndef LAGRA_OPENS_OPEN_STATE_PRIVATE_H
#define LAGRA_OPENS_OPEN_STATE_PRIVATE_H

#include "opens/open_state.h"

/* Wakes the requests that wait for the open state, once its changes are committed. */
static inline void open_state_wakes(const struct open_state *opens)
{
    const struct waiter_key key = open_state_waiting_key(opens);

    decision_wakes(opens->d, &key);
}
/* Reads the locks if they have not been read yet. Returns OK, or an error of
 * decision_fail_store(). */
enum error open_state_read_locks(struct open_state *opens);
/* Removes the locks of opens that are no longer in the set. Returns OK, or an error of
 * decision_fail_store(). */
enum error open_state_drop_locks(struct open_state *opens);
/* Resolves conflicts of a checked operation with disconnected opens: closes them, or applies the
 * breaks to persistent ones. Sets *ret_again if the check must be repeated. Returns OK, or an error
 * of decision_fail_store(). */
enum error open_state_resolve_conflicts(struct open_state *opens, const struct file_use *use,
                                        const struct opens_check_result *result,
                                        const struct caching_break *breaks, bool *ret_again);
/* Checks the operation against the rules, and starts the necessary breaks. own: the operation's own
 * caching, or NO_CACHING. Returns like open_state_check_rest(). */
enum error open_state_check(struct open_state *opens, const struct file_use *use, uint16_t own);
/* Returns the caching of an entry, or zeros for NO_CACHING. */
struct caching_given open_state_caching_of(const struct open_state *opens, uint16_t number);
/* Like opens_grant(), for the opens of the node. */
uint8_t open_state_grant(const struct open_state *opens, uint8_t wants, bool is_oplock,
                         uint16_t own);
/* Breaks the holder's caching to `to`. A holder with only read caching loses it at once, without an
 * acknowledgment. MS-SMB2 3.3.4.7 */
void open_state_notify_break(struct open_state *opens, struct caching_entry *holder, uint8_t to);

#endif
