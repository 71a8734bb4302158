#include "store/rados/formats.h"

#include "base/endian.h"
#include "base/log.h"
#include "store/rados/blocking.h"
#include "store/rados/front_end_rows.h"
#include "store/rados/shard_rows.h"

#define ROW_SIZE  12
#define TRIES_MAX 64u

/* ---- rows ---- */

struct bytes format_key(void)
{
    return bytes_from_string("f");
}

static struct bytes format_write(struct arena *arena, const struct format_row *row)
{
    char be[ROW_SIZE];

    be32_put(be, row->format);
    be64_put(be + 4, row->starts);
    return row_value_write(arena, bytes_of(be, sizeof be));
}

bool format_read(const struct port_step *step, struct format_row *ret_row)
{
    struct bytes value;

    *ret_row = (struct format_row){ .format = FORMAT_FIRST };
    if (step->row_count == 0)
        return true;
    if (!row_value_read(port_value(step), &value) || value.len != ROW_SIZE)
        return false;
    *ret_row = (struct format_row){ be32_get(value.ptr), be64_get(value.ptr + 4) };
    return true;
}

struct bytes known_key(struct arena *arena, uint32_t incarnation)
{
    return arena_printf(arena, "k%08x", incarnation);
}

/* As it is compared: a row that is not there is empty. */
static struct bytes as_seen(struct arena *arena, const struct format_row *seen)
{
    return seen->starts == 0 ? (struct bytes){ NULL, 0 } : format_write(arena, seen);
}

/* ---- coming up ---- */

enum port_result format_begin(struct port *records)
{
    const struct format_row row = { FORMAT_NEWEST, 1 };
    struct port_op *op = arrival_op();
    enum port_result result;

    port_create(op, false);
    port_compare(op, format_key(), (struct bytes){ NULL, 0 });
    port_set(op, format_key(), format_write(op->arena, &row));
    result = run_block(records, BEAT_OBJECT, op);
    return result == PORT_REFUSED ? PORT_OK : result;
}

void format_join(struct port_op *op, uint32_t incarnation, uint32_t known,
                 const struct format_row *seen)
{
    const struct format_row after = { seen->format, seen->starts + 1 };

    port_create(op, false); /* it is compared with: by the first one of all, too */
    port_compare(op, format_key(), as_seen(op->arena, seen));
    port_set(op, format_key(), format_write(op->arena, &after));
    port_set(op, known_key(op->arena, incarnation), row_number_write(op->arena, known));
}

static enum store_result failed(const char *problem, const char **ret_problem)
{
    *ret_problem = problem;
    return STORE_IO;
}

static enum store_result is_known(const struct format_row *row, uint32_t known,
                                  const char **ret_problem)
{
    if (row->format >= FORMAT_FIRST && row->format <= known)
        return STORE_OK;
    log_line(LOG_ERROR, "rados: the store's format is %u, and this program knows %u to %u",
             row->format, FORMAT_FIRST, known);
    return failed(
        "its format was raised to one that this program does not know: a newer one is needed",
        ret_problem);
}

enum store_result format_look(struct port *records, uint32_t known, struct format_row *ret_row,
                              const char **ret_problem)
{
    struct port_op *op = arrival_op();
    struct port_step *row = port_get(op, format_key());
    struct arrival *arrival = send_block(records, BEAT_OBJECT, op);
    bool is_read = op->result == PORT_ABSENT || op->result == PORT_OK;

    if (op->result == PORT_ABSENT)
        *ret_row = (struct format_row){ .format = FORMAT_FIRST };
    else
        is_read = is_read && format_read(row, ret_row);
    arrival_drop(arrival);
    return is_read ? is_known(ret_row, known, ret_problem)
                   : failed("which format it has cannot be read", ret_problem);
}

/* ---- raising ---- */

/* What all front ends are known by, at one moment. */
struct living {
    struct arrival *arrival; /* all below points into it */
    struct port_step *format, *living, *known;
};

static struct living look(struct port *records)
{
    const struct bytes none = { NULL, 0 };
    struct port_op *op = arrival_op();
    struct living living = {
        .format = port_get(op, format_key()),
        .living = port_list(op, none, bytes_from_string("l"), PORT_ROWS_MAX),
        .known = port_list(op, none, bytes_from_string("k"), PORT_ROWS_MAX),
    };

    living.arrival = send_block(records, BEAT_OBJECT, op);
    return living;
}

static uint64_t known_by(const struct living *living, uint32_t incarnation)
{
    for (uint32_t i = 0; i < living->known->row_count; i++) {
        const struct port_row *row = &living->known->rows[i];
        uint32_t other;
        uint64_t known;

        if (front_end_of_key(row->key, &other) && other == incarnation)
            return row_number_read(row->value, &known) ? known : 0;
    }
    return FORMAT_FIRST;
}

/* Each that does not is logged. */
static bool all_know(const struct living *living, uint32_t format)
{
    bool all = true;

    for (uint32_t i = 0; i < living->living->row_count; i++) {
        uint32_t incarnation;
        uint64_t known = 0;

        if (front_end_of_key(living->living->rows[i].key, &incarnation))
            known = known_by(living, incarnation);
        if (known >= format)
            continue;
        log_line(LOG_ERROR,
                 "rados: front end %08x knows formats up to %llu: stop it, or wait a minute if it "
                 "was killed",
                 incarnation, (unsigned long long)known);
        all = false;
    }
    return all;
}

/* PORT_REFUSED: to be looked at again. */
static enum port_result raise(struct port *records, uint32_t known, const struct living *living,
                              const char **ret_problem)
{
    struct format_row seen;
    struct port_op *op;
    enum port_result result = arrival_answer(living->arrival)->result;

    *ret_problem = NULL;
    if ((result && result != PORT_ABSENT) || living->living->is_cut || living->known->is_cut ||
        !format_read(living->format, &seen))
        *ret_problem = "which front ends live cannot be read";
    if (*ret_problem || is_known(&seen, known, ret_problem))
        return PORT_FAILED;
    if (seen.format == known)
        return PORT_OK;
    if (!all_know(living, known)) {
        *ret_problem = "not all front ends that live know the new format";
        return PORT_FAILED;
    }
    op = arrival_op();
    port_create(op, false);
    port_compare(op, format_key(), as_seen(op->arena, &seen));
    seen.format = known;
    seen.starts++; /* nobody who was refused takes it for what it has seen */
    port_set(op, format_key(), format_write(op->arena, &seen));
    return run_block(records, BEAT_OBJECT, op);
}

enum store_result format_raise(struct port *records, uint32_t known, const char **ret_problem)
{
    enum port_result result = PORT_REFUSED;

    for (unsigned tries = 0; tries < TRIES_MAX && result == PORT_REFUSED; tries++) {
        struct living living = look(records);

        result = raise(records, known, &living, ret_problem);
        arrival_drop(living.arrival);
    }
    if (result == PORT_OK)
        return STORE_OK;
    return *ret_problem ? STORE_IO
                        : failed("it cannot be raised: the pool cannot be written", ret_problem);
}
