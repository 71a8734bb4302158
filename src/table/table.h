/* The Table service. */
#ifndef LAGRA_TABLE_TABLE_H
#define LAGRA_TABLE_TABLE_H

struct service;

extern const struct service table_service;

#endif
