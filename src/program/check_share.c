/* Of shares: see check_records.h. */
#include "program/check_records.h"

#include "file/file.h"

bool check_share(struct bytes value, struct guid *ret_space)
{
    struct share share;
    struct share_key key;
    bool makes_sense = share_decode(bytes_from_string("s"), value, &share, &key);

    if (makes_sense)
        *ret_space = share.space;
    return makes_sense;
}

bool check_is_of_share(struct bytes record_key)
{
    return share_key_is_whole(record_key);
}
