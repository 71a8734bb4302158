/* Values of properties: each is a number, from which its type and its text follow. Those from
 * TABLE_EDGES on lie beside each other where a server compares wrongly: neighbours that are one
 * double, the ends of types, single ticks, bytes with and without a sign. */
#ifndef LAGRA_SIM_TABLE_VALUE_H
#define LAGRA_SIM_TABLE_VALUE_H

#include "table_ask.h"

#define TABLE_EDGES      2000u
#define TABLE_EDGE_COUNT 29u
#define TABLE_EDGE_CLOSE 5u /* so many, the first, are one double or the next to it */

/* Its type, as it is annotated. NULL: it needs no annotation. */
const char *table_value_type(unsigned value);
#define TABLE_VALUE_SIZE 4096u
void table_value_json(unsigned value, char to[TABLE_VALUE_SIZE]);
/* As a literal of $filter. */
void table_value_literal(unsigned value, char to[TABLE_VALUE_SIZE]);
/* Does a property of this value pass the operator and the literal? decision: 166 */
bool table_value_holds(unsigned value, enum table_operator operator, unsigned literal);
/* Is the value above a number, as $filter compares? Texts are not. */
bool table_value_above(unsigned value, unsigned number);

#endif
