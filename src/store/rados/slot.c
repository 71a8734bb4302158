#include "store/rados/slot.h"

#include "base/endian.h"

#define TRANSACTION_SIZE 12

struct bytes slot_write(struct arena *arena, const struct slot *slot)
{
    char transaction[TRANSACTION_SIZE];
    struct text value;

    be32_put(transaction, slot->transaction.incarnation);
    be64_put(transaction + 4, slot->transaction.number);
    text_init(&value, arena, TRANSACTION_SIZE + slot->partition_key.len);
    text_add(&value, bytes_of(transaction, sizeof transaction));
    text_add(&value, slot->partition_key);
    return row_value_write(arena, text_bytes(&value));
}

bool slot_read(struct bytes row, struct slot *ret_slot)
{
    struct bytes value;

    if (!row_value_read(row, &value) || value.len < TRANSACTION_SIZE)
        return false;
    ret_slot->transaction = (struct attempt){ be32_get(value.ptr), be64_get(value.ptr + 4) };
    ret_slot->partition_key = bytes_from(value, TRANSACTION_SIZE);
    return true;
}
