#include "store/rados/blocking.h"

#include "base/sleeper.h"

struct arrival *send_block(struct port *port, const char *object, struct port_op *op)
{
    struct arrival *arrival = arrival_send(port, object, op);

    arrival_block(arrival);
    return arrival;
}

enum port_result run_block(struct port *port, const char *object, struct port_op *op)
{
    struct arrival *arrival = send_block(port, object, op);
    enum port_result result = arrival_answer(arrival)->result;

    arrival_drop(arrival);
    return result;
}

enum store_result change_block(struct shards *shards, const struct partition *partition,
                               struct shard_commit commit)
{
    struct sleeper sleeper;
    struct apply apply = { .commit = commit };

    apply.commit.partition_key = partition->key;
    apply.commit.attempt = shards_next_attempt(shards);
    apply.commit.has_no_header = true;
    apply.commit.is_any_state = true;
    sleeper_init(&sleeper);
    apply_start(&apply, shards, &partition->space, sleeper_arm(&sleeper));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    return apply.commit.result;
}
