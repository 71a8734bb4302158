/* Of shares: see check_records.h. */
#include "program/check_records.h"

#include "file/file.h"

bool check_share(struct bytes value, struct guid *ret_space)
{
    struct share share;
    instant snapshot;
    bool makes_sense = share_decode(bytes_from_string("s"), value, &share, &snapshot);

    if (makes_sense)
        *ret_space = share.space;
    return makes_sense;
}
