#include "store/rados/root.h"

#include "base/endian.h"
#include "store/rados/blocking.h"
#include "store/rados/formats.h"
#include "store/rados/hints.h"

#define FORMAT    "lagra store on rados 3"
#define TRIES_MAX 64u

static enum store_result failed(const char *problem, const char **ret_problem)
{
    *ret_problem = problem;
    return STORE_IO;
}

static struct bytes kind_key(void)
{
    return bytes_from_string("format");
}

static struct bytes pieces_key(void)
{
    return bytes_from_string("pieces");
}

static struct bytes incarnation_key(void)
{
    return bytes_from_string("incarnation");
}

struct root {
    struct arrival *arrival; /* all below points into it */
    struct port_step *format, *pieces, *incarnation;
};

/* *ret_problem: NULL, or why no front end may use it. The caller drops the arrival. */
static struct root look(struct port *port, const char *pieces, const char **ret_problem)
{
    struct port_op *op = arrival_op();
    struct root root = {
        .format = port_get(op, kind_key()),
        .pieces = port_get(op, pieces_key()),
        .incarnation = port_get(op, incarnation_key()),
    };

    root.arrival = send_block(port, ROOT_OBJECT, op);
    *ret_problem = NULL;
    if (op->result == PORT_ABSENT)
        *ret_problem = "the pool holds no store: lagra rados init makes one";
    else if (op->result)
        *ret_problem = "the pool cannot be read";
    else if (!bytes_is(port_value(root.format), FORMAT) ||
             port_value(root.incarnation).len != sizeof(uint32_t))
        *ret_problem = "the pool holds something else, or a store of another version";
    else if (!bytes_is(port_value(root.pieces), pieces))
        *ret_problem = "the store has its pieces in another pool";
    return root;
}

enum store_result root_check(struct port *port, const char *pieces, const char **ret_problem)
{
    arrival_drop(look(port, pieces, ret_problem).arrival);
    return *ret_problem ? STORE_IO : STORE_OK;
}

/* The objects that have hints: on a pool that is full none can be made, and what is deleted leaves tasks. */
static enum port_result make_hints(struct port *port)
{
    enum port_result result = PORT_OK;

    for (unsigned i = 0; i < TODO_OBJECTS && !result; i++) {
        struct port_op *op = arrival_op();
        char name[TODO_NAME_SIZE];

        todo_name(i, name);
        port_create(op, false);
        result = run_block(port, name, op);
    }
    return result;
}

/* Is nothing there at all? */
static bool is_new(struct port *port)
{
    const char *problem;
    struct root root = look(port, "", &problem);
    bool is_absent = arrival_answer(root.arrival)->result == PORT_ABSENT;

    arrival_drop(root.arrival);
    return is_absent;
}

enum store_result root_make(struct port *port, const char *pieces, const char **ret_problem)
{
    enum port_result result;
    char none[sizeof(uint32_t)];
    struct port_op *op;

    if ((is_new(port) && format_begin(port)) ||
        make_hints(port)) /* nobody comes up before the object is there */
        return failed("the pool cannot be written", ret_problem);
    op = arrival_op();
    be32_put(none, 0);
    port_create(op, true);
    port_set(op, kind_key(), bytes_from_string(FORMAT));
    port_set(op, pieces_key(), bytes_from_string(pieces));
    port_set(op, incarnation_key(), bytes_of(none, sizeof none));
    result = run_block(port, ROOT_OBJECT, op);
    if (result == PORT_EXISTS) /* perhaps by this op, whose first answer was lost */
        return root_check(port, pieces, ret_problem);
    return result ? failed("the pool cannot be written", ret_problem) : STORE_OK;
}

enum store_result root_take_incarnation(struct port *port, const char *pieces,
                                        uint32_t *ret_incarnation, const char **ret_problem)
{
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        struct root root = look(port, pieces, ret_problem);
        struct port_op *change;
        enum port_result result;
        uint32_t number;
        char be[sizeof number];

        if (*ret_problem) {
            arrival_drop(root.arrival);
            return STORE_IO;
        }
        number = be32_get(port_value(root.incarnation).ptr) + 1;
        be32_put(be, number);
        change = arrival_op();
        port_compare(change, incarnation_key(), port_value(root.incarnation));
        port_set(change, incarnation_key(), bytes_of(be, sizeof be));
        arrival_drop(root.arrival);
        result = run_block(port, ROOT_OBJECT, change);
        if (result == PORT_OK) {
            *ret_incarnation = number;
            return STORE_OK;
        }
        if (result != PORT_REFUSED)
            return failed("the pool cannot be written", ret_problem);
    }
    return failed("too many come up at once", ret_problem);
}
