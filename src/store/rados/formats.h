/* The format that front ends write by. A program knows all formats from FORMAT_FIRST up to one of its own, and reads each of
 * them whenever it finds it; what it writes is of the one format that is in force in the store. That is raised by the
 * operator (lagra rados upgrade), and only while every front end that may live knows the new one: so front ends are
 * replaced one by one, under way, by those of a newer program, and until then the older ones can be put back.
 *
 * Rows of the object of all front ends (BEAT_OBJECT), each with a CRC-32C behind it (shard_rows.h):
 *
 *   'f'              4 be format in force, 8 be starts of front ends so far; absent: FORMAT_FIRST, 0
 *   'k' incarnation  8 be: the newest format that the front end knows; goes with its row 'l'; absent: FORMAT_FIRST
 *
 * A front end comes up by an op that compares 'f' and counts itself there. Who raises the format compares 'f' with what it
 * was when all who live were looked at, so nobody comes up in between who does not know it. A front end that lives learns
 * of the new format by its next look at heartbeats; it knows it all the time. decision: 825 */
#ifndef LAGRA_STORE_RADOS_FORMATS_H
#define LAGRA_STORE_RADOS_FORMATS_H

#include "store/rados/port.h"
#include "store/store.h"

#define FORMAT_FIRST  3u
/* The newest that this program knows. */
#define FORMAT_NEWEST 4u /* 4: partitions may have limbs (limb.h) */

/* ---- rows ---- */

struct format_row {
    uint32_t format;
    uint64_t starts;
};
struct bytes format_key(void);
/* Of a PORT_GET. False: it is damaged. */
bool format_read(const struct port_step *step, struct format_row *ret_row);
struct bytes known_key(struct arena *arena, uint32_t incarnation);

/* ---- coming up, and raising ---- */

/* Of a store that is being made: it has the newest format from the first. Leaves one that is there. It waits for the cluster. */
enum port_result format_begin(struct port *records);

/* Added to an op that writes the first heartbeat of a front end: it is refused if the format was raised, or another has
 * come up, since `seen` was read. */
void format_join(struct port_op *op, uint32_t incarnation, uint32_t known,
                 const struct format_row *seen);
/* The format in force. It waits for the cluster.
 * returns STORE_OK, STORE_IO: *ret_problem (static): it cannot be read, or is one that is not known */
enum store_result format_look(struct port *records, uint32_t known, struct format_row *ret_row,
                              const char **ret_problem);

/* Raises it to `known`; leaves it, if it is that. Who does not know that is logged. It waits for the cluster.
 * returns as above */
enum store_result format_raise(struct port *records, uint32_t known, const char **ret_problem);

#endif
