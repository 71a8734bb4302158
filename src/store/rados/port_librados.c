#include "store/rados/port_librados.h"

#include <assert.h>
#include <errno.h>
#include <rados/librados.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/rados/port_merge.h"

#define LABEL "label" /* the extended attribute */

struct rest {
    struct rest *next;
    struct waiter *waiter;
    uint64_t until_ms;
};

struct cluster {
    struct port port; /* first */
    rados_t rados;
    rados_ioctx_t pool;
    struct lock lock;
    pthread_cond_t settled;
    unsigned in_flight; /* under lock */
    struct rest *rests; /* under lock */
    bool is_closing;    /* under lock */
    pthread_cond_t rest_added;
    struct thread sleeper;
};

/* What librados fills in for one step that reads. */
struct read_step {
    struct port_step *step;
    rados_omap_iter_t rows;
    rados_xattrs_iter_t attributes;
    char *bytes; /* of PORT_READ */
    size_t length;
    unsigned char is_cut;
    int result; /* the op's own result says more */
};

/* In the arena of the op, but for what is librados'. */
struct flight {
    struct cluster *cluster;
    struct port_op *op;
    rados_write_op_t write;
    rados_read_op_t read;
    rados_completion_t completion;
    struct read_step *reads;
    size_t read_count;
};

static enum port_result result_of(int code)
{
    switch (-code) {
    case 0:
        return PORT_OK;
    case ECANCELED:
        return PORT_REFUSED;
    case ENOENT:
        return PORT_ABSENT;
    case EEXIST:
        return PORT_EXISTS;
    case ENOSPC:
    case EDQUOT:
        return PORT_FULL;
    case EMSGSIZE:
    case E2BIG:
    case EFBIG:
        return PORT_TOO_LARGE;
    default:
        errno = -code;
        log_errno("rados: an op");
        return PORT_FAILED;
    }
}

/* ---- building ---- */

static void add_write(rados_write_op_t op, const struct port_step *step)
{
    switch (step->verb) {
    case PORT_CREATE:
        rados_write_op_create(
            op, step->is_exclusive ? LIBRADOS_CREATE_EXCLUSIVE : LIBRADOS_CREATE_IDEMPOTENT, NULL);
        break;
    case PORT_COMPARE:
        rados_write_op_omap_cmp2(op, step->key.ptr, LIBRADOS_CMPXATTR_OP_EQ, step->value.ptr,
                                 step->key.len, step->value.len, NULL);
        break;
    case PORT_SET:
        rados_write_op_omap_set2(op, &step->key.ptr, &step->value.ptr, &step->key.len,
                                 &step->value.len, 1);
        break;
    case PORT_REMOVE:
        rados_write_op_omap_rm_keys2(op, &step->key.ptr, &step->key.len, 1);
        break;
    case PORT_REMOVE_RANGE:
        rados_write_op_omap_rm_range2(op, step->key.ptr, step->key.len, step->value.ptr,
                                      step->value.len);
        break;
    case PORT_DELETE_OBJECT:
        rados_write_op_remove(op);
        break;
    case PORT_WRITE:
        rados_write_op_write_full(op, step->value.ptr, step->value.len);
        break;
    case PORT_SET_LABEL:
        rados_write_op_setxattr(op, LABEL, step->value.ptr, step->value.len);
        break;
    case PORT_COMPARE_LABEL:
        rados_write_op_cmpxattr(op, LABEL, LIBRADOS_CMPXATTR_OP_EQ, step->value.ptr,
                                step->value.len);
        break;
    case PORT_GET:
    case PORT_LIST:
    case PORT_READ:
    case PORT_GET_LABEL:
        assert(false);
    }
}

static void add_read(struct flight *flight, struct port_step *step)
{
    struct arena *arena = flight->op->arena;
    struct read_step *read = &flight->reads[flight->read_count];

    switch (step->verb) {
    case PORT_COMPARE:
        rados_read_op_omap_cmp2(flight->read, step->key.ptr, LIBRADOS_CMPXATTR_OP_EQ,
                                step->value.ptr, step->key.len, step->value.len, NULL);
        return;
    case PORT_GET:
        rados_read_op_omap_get_vals_by_keys2(flight->read, &step->key.ptr, 1, &step->key.len,
                                             &read->rows, &read->result);
        break;
    case PORT_LIST:
        rados_read_op_omap_get_vals2(flight->read, arena_string(arena, step->key),
                                     arena_string(arena, step->value), step->max, &read->rows,
                                     &read->is_cut, &read->result);
        break;
    case PORT_READ:
        read->bytes = arena_bytes(arena, step->max);
        rados_read_op_read(flight->read, step->offset, step->max, read->bytes, &read->length,
                           &read->result);
        break;
    case PORT_GET_LABEL:
        rados_read_op_getxattrs(flight->read, &read->attributes, &read->result);
        break;
    case PORT_CREATE:
    case PORT_SET:
    case PORT_REMOVE:
    case PORT_REMOVE_RANGE:
    case PORT_DELETE_OBJECT:
    case PORT_WRITE:
    case PORT_SET_LABEL:
    case PORT_COMPARE_LABEL:
        assert(false);
    }
    read->step = step;
    flight->read_count++;
}

/* In the order of the steps, unless that is all the same. */
static void add_writes(rados_write_op_t write, struct port_op *op)
{
    struct port_merged merged;
    bool is_merged = port_merge(op, &merged);

    for (const struct port_step *step = op->first; step; step = step->next)
        if (!is_merged || step->verb == PORT_COMPARE)
            add_write(write, step);
    if (is_merged && merged.set.count > 0)
        rados_write_op_omap_set2(write, merged.set.keys, merged.set.values, merged.set.key_sizes,
                                 merged.set.value_sizes, merged.set.count);
    if (is_merged && merged.removed.count > 0)
        rados_write_op_omap_rm_keys2(write, merged.removed.keys, merged.removed.key_sizes,
                                     merged.removed.count);
}

static struct flight *flight_new(struct cluster *cluster, struct port_op *op)
{
    struct flight *flight = arena_alloc(op->arena, sizeof *flight);
    size_t steps = 0;

    flight->cluster = cluster;
    flight->op = op;
    for (const struct port_step *step = op->first; step; step = step->next)
        steps++;
    flight->reads = arena_array(op->arena, steps, sizeof flight->reads[0]);
    if (op->is_write) {
        flight->write = rados_create_write_op();
        add_writes(flight->write, op);
        return flight;
    }
    flight->read = rados_create_read_op();
    for (struct port_step *step = op->first; step; step = step->next)
        add_read(flight, step);
    return flight;
}

/* ---- the answer ---- */

static void take_label(struct arena *arena, const struct read_step *read)
{
    const char *name, *value;
    size_t size;

    while (!rados_getxattrs_next(read->attributes, &name, &value, &size) && name)
        if (strcmp(name, LABEL) == 0) {
            read->step->rows = arena_array(arena, 1, sizeof read->step->rows[0]);
            read->step->rows[0] =
                (struct port_row){ .value = arena_copy(arena, bytes_of(value, size)) };
            read->step->row_count = 1;
        }
}

static void take_rows(struct flight *flight, const struct read_step *read)
{
    struct arena *arena = flight->op->arena;
    struct port_step *step = read->step;
    unsigned count;

    if (step->verb == PORT_GET_LABEL) {
        take_label(arena, read);
        return;
    }
    if (step->verb == PORT_READ) {
        step->rows = arena_array(arena, 1, sizeof step->rows[0]);
        step->rows[0] = (struct port_row){ .value = bytes_of(read->bytes, read->length) };
        step->row_count = 1;
        return;
    }
    count = rados_omap_iter_size(read->rows);
    step->rows = arena_array(arena, count, sizeof step->rows[0]);
    step->is_cut = read->is_cut != 0;
    while (step->row_count < count) {
        char *key, *value;
        size_t key_size, value_size;

        if (rados_omap_get_next2(read->rows, &key, &value, &key_size, &value_size) || !key)
            break;
        step->rows[step->row_count++] = (struct port_row){
            arena_copy(arena, bytes_of(key, key_size)),
            arena_copy(arena, bytes_of(value, value_size)),
        };
    }
}

/* A thread of librados. Answers come in the order of the ops on one object. */
static void answered(rados_completion_t completion, void *context)
{
    struct flight *flight = context;
    struct cluster *cluster = flight->cluster;
    struct port_op *op = flight->op;

    op->result = result_of(rados_aio_get_return_value(completion));
    for (size_t i = 0; i < flight->read_count; i++) {
        if (!op->result)
            take_rows(flight, &flight->reads[i]);
        /* Without an answer there may be no iterator. */
        if (flight->reads[i].rows)
            rados_omap_get_end(flight->reads[i].rows);
        if (flight->reads[i].attributes)
            rados_getxattrs_end(flight->reads[i].attributes);
    }
    if (op->is_write)
        rados_release_write_op(flight->write);
    else
        rados_release_read_op(flight->read);
    rados_aio_release(completion);
    op->done(op); /* the flight is gone with it */
    lock_take(&cluster->lock);
    cluster->in_flight--;
    if (cluster->in_flight == 0)
        pthread_cond_broadcast(&cluster->settled);
    lock_give(&cluster->lock);
}

static void cluster_send(struct port *port, const char *object, struct port_op *op)
{
    struct cluster *cluster = (struct cluster *)(void *)port;
    struct flight *flight = flight_new(cluster, op);
    int code;

    lock_take(&cluster->lock);
    cluster->in_flight++;
    lock_give(&cluster->lock);
    code = rados_aio_create_completion2(flight, answered, &flight->completion);
    assert(code == 0); /* it only allocates */
    if (op->is_write)
        code = rados_aio_write_op_operate(flight->write, cluster->pool, flight->completion, object,
                                          NULL, LIBRADOS_OPERATION_FULL_TRY);
    else
        code =
            rados_aio_read_op_operate(flight->read, cluster->pool, flight->completion, object, 0);
    assert(code == 0); /* it only queues */
}

/* ---- pauses ---- */

/* Under the lock. One that is over; *ret_ms: else, so long until the first is; -1: there is none. */
static struct rest *take_rest(struct cluster *cluster, int *ret_ms)
{
    uint64_t now = clock_monotonic_ms();

    *ret_ms = -1;
    for (struct rest **at = &cluster->rests; *at; at = &(*at)->next) {
        struct rest *rest = *at;

        if (rest->until_ms <= now || cluster->is_closing) {
            *at = rest->next;
            return rest;
        }
        if (*ret_ms < 0 || rest->until_ms - now < (uint64_t)*ret_ms)
            *ret_ms = (int)(rest->until_ms - now);
    }
    return NULL;
}

static void *end_rests(void *argument)
{
    struct cluster *cluster = argument;

    lock_take(&cluster->lock);
    for (;;) {
        int ms;
        struct rest *rest = take_rest(cluster, &ms);

        if (rest) {
            lock_give(&cluster->lock);
            rest->waiter->wake(rest->waiter);
            free(rest);
            lock_take(&cluster->lock);
        } else if (cluster->is_closing) {
            break;
        } else {
            lock_wait(&cluster->lock, &cluster->rest_added, ms);
        }
    }
    lock_give(&cluster->lock);
    return NULL;
}

static void cluster_pause(struct port *port, unsigned ms, struct waiter *waiter)
{
    struct cluster *cluster = (struct cluster *)(void *)port;
    struct rest *rest = xcalloc(1, sizeof *rest);

    lock_take(&cluster->lock);
    *rest = (struct rest){ cluster->rests, waiter, clock_monotonic_ms() + ms };
    cluster->rests = rest;
    pthread_cond_signal(&cluster->rest_added);
    lock_give(&cluster->lock);
}

/* ---- names ---- */

static bool cluster_each_object(struct port *port, void (*found)(void *context, const char *object),
                                void *context)
{
    struct cluster *cluster = (struct cluster *)(void *)port;
    rados_list_ctx_t list;
    const char *object;
    int code = rados_nobjects_list_open(cluster->pool, &list);

    if (!code) {
        while (!(code = rados_nobjects_list_next(list, &object, NULL, NULL)))
            found(context, object);
        rados_nobjects_list_close(list);
    }
    if (code == -ENOENT) /* the end */
        return true;
    (void)result_of(code);
    return false;
}

/* ---- opening ---- */

bool port_open_librados(const char *conf, const char *pool, struct port **ret_port,
                        const char **ret_problem)
{
    struct cluster *cluster = xcalloc(1, sizeof *cluster);

    if (rados_create(&cluster->rados, NULL) < 0) {
        *ret_problem = "librados cannot be used";
        free(cluster);
        return false;
    }
    if (rados_conf_read_file(cluster->rados, conf) < 0)
        *ret_problem = "the cluster's configuration cannot be read";
    else if (rados_connect(cluster->rados) < 0)
        *ret_problem = "the cluster does not answer";
    else if (rados_ioctx_create(cluster->rados, pool, &cluster->pool) < 0)
        *ret_problem = "there is no such pool";
    else
        *ret_problem = NULL;
    if (*ret_problem) {
        rados_shutdown(cluster->rados);
        free(cluster);
        return false;
    }
    cluster->port.send = cluster_send;
    cluster->port.pause = cluster_pause;
    cluster->port.each_object = cluster_each_object;
    lock_init(&cluster->lock, RANK_SYNCER);
    lock_condition_init(&cluster->settled);
    lock_condition_init(&cluster->rest_added);
    if (!thread_start(&cluster->sleeper, end_rests, cluster)) {
        *ret_problem = "a thread cannot be started";
        port_close_librados(&cluster->port);
        return false;
    }
    *ret_port = &cluster->port;
    return true;
}

void port_settle_librados(struct port *port)
{
    struct cluster *cluster = (struct cluster *)(void *)port;

    lock_take(&cluster->lock);
    while (cluster->in_flight > 0)
        lock_wait(&cluster->lock, &cluster->settled, -1);
    lock_give(&cluster->lock);
}

void port_close_librados(struct port *port)
{
    struct cluster *cluster = (struct cluster *)(void *)port;

    port_settle_librados(port);
    lock_take(&cluster->lock);
    cluster->is_closing = true;
    pthread_cond_signal(&cluster->rest_added);
    lock_give(&cluster->lock);
    thread_join(&cluster->sleeper);
    pthread_cond_destroy(&cluster->rest_added);
    rados_ioctx_destroy(cluster->pool);
    rados_shutdown(cluster->rados);
    pthread_cond_destroy(&cluster->settled);
    lock_release(&cluster->lock);
    free(cluster);
}
