/* The object that says what a pool holds, and who has come up: "lagra", in the pool of records. Its rows:
 *
 *   format       what the store is; a front end opens no other. The format of what is in it: formats.h
 *   pieces       the name of the pool of pieces
 *   incarnation  4 be: the newest number of a front end
 *
 * It waits for the cluster. Start-up. */
#ifndef LAGRA_STORE_RADOS_ROOT_H
#define LAGRA_STORE_RADOS_ROOT_H

#include "store/rados/port.h"
#include "store/store.h"

#define ROOT_OBJECT "lagra"

/* Makes it, for a store that is empty; leaves one that is there as it is. pieces: the name of the pool.
 * returns STORE_OK, STORE_IO: *ret_problem (static) */
enum store_result root_make(struct port *port, const char *pieces, const char **ret_problem);
/* Whether the pool holds a store, with its pieces there. returns as above */
enum store_result root_check(struct port *port, const char *pieces, const char **ret_problem);
/* The next number of a front end: none comes twice. returns as above */
enum store_result root_take_incarnation(struct port *port, const char *pieces,
                                        uint32_t *ret_incarnation, const char **ret_problem);

#endif
