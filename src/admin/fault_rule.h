/* Parses a fault rule (request/faults.h) from the JSON of a test (docs/fault-injection.md). Refuses
 * unknown, duplicate, out-of-range and ineffective members with a message. Thread-safe. */
#ifndef LAGRA_ADMIN_FAULT_RULE_H
#define LAGRA_ADMIN_FAULT_RULE_H

#include "request/faults.h"
#include "service/server.h"

/* Parses the text of a rule. The text and everything that *ret_rule points to are in the arena.
 *
 * name       valid name of the rule returns    NULL, or an error message in the arena */
const char *fault_rule_read(struct arena *arena, const struct endpoint_set *endpoints,
                            struct bytes name, struct bytes text, struct fault_rule *ret_rule);
/* Returns true for 1 to FAULT_NAME_MAX letters, digits, '.', '_' and '-'. */
bool fault_name_is_valid(struct bytes name);

#endif
