/* Limbs: ranges of the records of a large partition in objects of their own.
 *
 * A limb is a partition under the same key in a space of its own, which nobody else knows: it is locked, read and settled as
 * any (resolve.h, view.h), and its rows have the keys that they would have at home. The home is the partition itself. Where a
 * limb ends, its row lies among those of the home (row_key_limb()), and says where it begins, and the version that it has
 * in this state of the home. In between the home has no records. A commit that changes records of a limb is one over several
 * partitions, in which limbs come first, so that the home decides; it sets the version there that the limb will have. So who has
 * read the home knows which state of the limb is of the same, whatever was committed since. References of pieces, records of
 * indexes, counters and tasks stay at home. tests/rados/model/limb.pml; decisions 816, 831.
 *
 *   limb   1 version (1), 16 space of the limb, 8 be its version, key of the first record that it may have
 *   home   1 version (1), 16 space of the home, key of the partition; in the limb
 *
 * Both have a CRC-32C behind them, as any row (shard_rows.h). Any thread. */
#ifndef LAGRA_STORE_RADOS_LIMB_H
#define LAGRA_STORE_RADOS_LIMB_H

#include "store/rados/row_key.h"
#include "store/rados/shard_rows.h"

/* In stores of this format (formats.h): older programs do not know them. */
#define LIMB_FORMAT 4u

struct limb_row {
    struct guid space;
    uint64_t version;
    struct bytes lo; /* records from this one on are in the limb */
};
struct bytes limb_row_write(struct arena *arena, const struct limb_row *limb);
/* Points into the row. False: it is damaged. */
bool limb_row_read(struct bytes row, struct limb_row *ret_limb);

struct bytes limb_home_write(struct arena *arena, const struct partition *home);
/* Points into the row. False: it is damaged. */
bool limb_home_read(struct bytes row, struct partition *ret_home);

#endif
