/* A rule of faults (service/faults.h) as a test gives it, in JSON: docs/testing.md. Strict: what is unknown, twice,
 * out of its bounds or without effect is refused, in words. Any thread. */
#ifndef LAGRA_ADMIN_FAULT_RULE_H
#define LAGRA_ADMIN_FAULT_RULE_H

#include "service/faults.h"
#include "service/server.h"

/* Reads the text of a rule, which lies in the arena as all of the rule will.
 *
 * name       of the rule, valid
 * returns    NULL; else a sentence that says what is wrong, in the arena */
const char *fault_rule_read(struct arena *arena, const struct endpoint_set *endpoints,
                            struct bytes name, struct bytes text, struct fault_rule *ret_rule);
/* 1 to FAULT_NAME_MAX letters, digits, '.', '_' and '-'. */
bool fault_name_is_valid(struct bytes name);

#endif
