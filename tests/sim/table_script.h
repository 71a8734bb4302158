/* What a client of the Table service does next (script.h). */
#ifndef LAGRA_SIM_TABLE_SCRIPT_H
#define LAGRA_SIM_TABLE_SCRIPT_H

#include "request.h"

void table_script_draw(unsigned client, unsigned number, struct ask *ret_ask);

#endif
