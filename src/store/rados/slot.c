#include "store/rados/slot.h"

struct bytes slot_write(struct arena *arena, const struct slot *slot)
{
    char transaction[ATTEMPT_SIZE];
    struct text value;

    attempt_put(transaction, slot->transaction);
    text_init(&value, arena, ATTEMPT_SIZE + slot->partition_key.len);
    text_add(&value, bytes_of(transaction, sizeof transaction));
    text_add(&value, slot->partition_key);
    return row_value_write(arena, text_bytes(&value));
}

bool slot_read(struct bytes row, struct slot *ret_slot)
{
    struct bytes value;

    if (!row_value_read(row, &value) || value.len < ATTEMPT_SIZE)
        return false;
    ret_slot->transaction = attempt_get(value.ptr);
    ret_slot->partition_key = bytes_from(value, ATTEMPT_SIZE);
    return true;
}
