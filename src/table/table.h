/* The Table service. Its values (edm.h), entities (entity.h) and their JSON (rest/entity_json.h) are
 * there; its operations are not built yet: the table has no rows, so every request is authorized and then
 * answered 501 NotImplemented. */
#ifndef LAGRA_TABLE_TABLE_H
#define LAGRA_TABLE_TABLE_H

struct service;

extern const struct service table_service;

#endif
