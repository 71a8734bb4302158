/* Parses a fault rule (request/faults.h) that a test supplies as JSON: docs/fault-injection.md.
 * Strict: unknown, duplicate, out-of-range or ineffective members are refused with a message.
 * Thread-safe. */
#ifndef LAGRA_ADMIN_FAULT_RULE_H
#define LAGRA_ADMIN_FAULT_RULE_H

#include "request/faults.h"
#include "service/server.h"

/* Parses the text of a rule, which is in the arena, as is everything that *ret_rule points to.
 *
 * name       valid name of the rule
 * returns    NULL, or an error message in the arena */
const char *fault_rule_read(struct arena *arena, const struct endpoint_set *endpoints,
                            struct bytes name, struct bytes text, struct fault_rule *ret_rule);
/* Returns true for 1 to FAULT_NAME_MAX letters, digits, '.', '_' and '-'. */
bool fault_name_is_valid(struct bytes name);

#endif
