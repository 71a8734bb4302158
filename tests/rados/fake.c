/* Clients of the fake, what is in flight, and what is drawn of it. */
#include "fake.h"

#include <assert.h>
#include <stdlib.h>

#include "fake_objects.h"

/* An op in flight. It is applied once (twice if it is resent), then answered. */
struct flight {
    struct flight *next;            /* in the order in which they were sent */
    struct flight *before, *behind; /* of the same client, to the same object */
    struct client *client;
    char *object;
    struct port_op *op;
    bool is_applied;
    bool is_resent; /* will be applied once more */
    bool is_dead;   /* its client is gone: nobody is answered */
};

struct client {
    struct port port; /* first */
    struct fake *fake;
    struct client *next;
    bool is_dead;
};

/* Over at any moment: what a test can tell apart is only what happened meanwhile. */
struct pause {
    struct pause *next;
    struct client *client;
    struct waiter *waiter;
};

struct fake {
    struct fake_options options;
    struct pause *pauses;
    struct fake_objects objects;
    struct client *clients;
    struct flight *first, **end;
    uint64_t random;
    uint64_t applied;
    bool is_full;
};

/* xorshift64* */
uint32_t fake_random(struct fake *fake, uint32_t below)
{
    assert(below > 0);
    fake->random ^= fake->random >> 12;
    fake->random ^= fake->random << 25;
    fake->random ^= fake->random >> 27;
    return (uint32_t)((fake->random * 0x2545F4914F6CDD1Dull) >> 32) % below;
}

static bool happens(struct fake *fake, unsigned one_in)
{
    return one_in > 0 && fake_random(fake, one_in) == 0;
}

struct fake *fake_new(struct fake_options options)
{
    struct fake *fake = xcalloc(1, sizeof *fake);

    fake->options = options;
    fake->random = options.seed * 0x9E3779B97F4A7C15ull + 1;
    fake->end = &fake->first;
    return fake;
}

void fake_set_faults(struct fake *fake, unsigned resent, unsigned late)
{
    fake->options.resent = resent;
    fake->options.late = late;
}

static void flight_free(struct flight *flight)
{
    free(flight->object);
    free(flight);
}

void fake_free(struct fake *fake)
{
    while (fake->first) {
        struct flight *flight = fake->first;

        fake->first = flight->next;
        port_op_free(flight->op);
        flight_free(flight);
    }
    while (fake->pauses) {
        struct pause *pause = fake->pauses;

        fake->pauses = pause->next;
        free(pause);
    }
    while (fake->clients) {
        struct client *client = fake->clients;

        fake->clients = client->next;
        free(client);
    }
    fake_objects_release(&fake->objects);
    free(fake);
}

/* The one in flight that was sent last, of a client to an object; NULL: none is. */
static struct flight *newest_of(const struct fake *fake, const struct client *client,
                                const char *object)
{
    for (struct flight *f = fake->first; f; f = f->next)
        if (!f->behind && f->client == client && strcmp(f->object, object) == 0)
            return f;
    return NULL;
}

static void client_send(struct port *port, const char *object, struct port_op *op)
{
    struct client *client = (struct client *)(void *)port;
    struct fake *fake = client->fake;
    struct flight *flight = xcalloc(1, sizeof *flight);

    assert(!client->is_dead);
    flight->client = client;
    flight->object = xstrdup(object);
    flight->op = op;
    flight->is_resent = op->is_write && happens(fake, fake->options.resent);
    flight->before = newest_of(fake, client, object);
    if (flight->before)
        flight->before->behind = flight;
    *fake->end = flight;
    fake->end = &flight->next;
}

static void client_pause(struct port *port, unsigned ms, struct waiter *waiter)
{
    struct client *client = (struct client *)(void *)port;
    struct pause *pause = xcalloc(1, sizeof *pause);

    (void)ms;
    assert(!client->is_dead);
    *pause = (struct pause){ client->fake->pauses, client, waiter };
    client->fake->pauses = pause;
}

static bool client_each_object(struct port *port, void (*found)(void *context, const char *object),
                               void *context)
{
    struct client *client = (struct client *)(void *)port;

    fake_objects_each(&client->fake->objects, found, context);
    return true;
}

struct port *fake_client(struct fake *fake)
{
    struct client *client = xcalloc(1, sizeof *client);

    client->port.send = client_send;
    client->port.pause = client_pause;
    client->port.each_object = client_each_object;
    client->fake = fake;
    client->next = fake->clients;
    fake->clients = client;
    return &client->port;
}

void fake_set_full(struct fake *fake, bool is_full)
{
    fake->is_full = is_full;
}

static void take_out(struct fake *fake, struct flight *flight)
{
    struct flight **at = &fake->first;

    while (*at != flight)
        at = &(*at)->next;
    *at = flight->next;
    if (!*at)
        fake->end = at;
    if (flight->before)
        flight->before->behind = flight->behind;
    if (flight->behind)
        flight->behind->before = flight->before;
}

void fake_client_kill(struct fake *fake, struct port *port)
{
    struct client *client = (struct client *)(void *)port;
    struct flight *next;

    client->is_dead = true;
    for (struct flight *flight = fake->first; flight; flight = next) {
        next = flight->next;
        if (flight->client != client)
            continue;
        flight->is_dead = true;
        if (flight->is_applied || happens(fake, 2)) {
            take_out(fake, flight);
            port_op_free(flight->op);
            flight_free(flight);
        }
    }
}

/* Nothing of the same client and object was sent before it and is still in flight, as far as it is not
 * applied (or answered) itself. rule (4) */
static bool is_next(const struct flight *flight)
{
    return !flight->before || (!flight->is_applied && flight->before->is_applied);
}

/* One of those that may go on, by lot. NULL: none is in flight. */
static struct flight *choose(struct fake *fake)
{
    struct flight *chosen = NULL;
    uint32_t seen = 0;

    for (struct flight *f = fake->first; f; f = f->next)
        if (is_next(f) && fake_random(fake, ++seen) == 0)
            chosen = f;
    return chosen;
}

static void apply(struct fake *fake, struct flight *flight)
{
    flight->op->result =
        fake_objects_apply(&fake->objects, flight->object, flight->op, fake->is_full);
    fake->applied++;
    if (fake->options.applied)
        fake->options.applied(flight->op);
    if (flight->is_resent)
        flight->is_resent = false; /* to be applied once more: its place in the order stays */
    else
        flight->is_applied = true;
}

static void answer(struct fake *fake, struct flight *flight)
{
    struct port_op *op = flight->op;
    bool is_dead = flight->is_dead;

    take_out(fake, flight);
    flight_free(flight);
    if (is_dead)
        port_op_free(op);
    else
        op->done(op);
}

/* Ends one, of a client that lives, by lot; with nothing else in flight, whichever. False: there is none. */
static bool end_pause(struct fake *fake, bool is_idle)
{
    struct pause **at = &fake->pauses;
    struct pause *ended = NULL;

    while (*at && !ended) {
        if ((*at)->client->is_dead || is_idle || fake_random(fake, 4) == 0) {
            ended = *at;
            *at = ended->next;
        } else {
            at = &(*at)->next;
        }
    }
    if (!ended)
        return false;
    if (!ended->client->is_dead)
        ended->waiter->wake(ended->waiter);
    free(ended);
    return true;
}

bool fake_step(struct fake *fake)
{
    struct flight *flight = choose(fake);

    if (fake->pauses && end_pause(fake, !flight))
        return true;
    if (!flight)
        return false;
    if (!flight->is_applied)
        apply(fake, flight);
    else if (!happens(fake, fake->options.late))
        answer(fake, flight);
    return true;
}

uint64_t fake_applied(const struct fake *fake)
{
    return fake->applied;
}

struct bytes fake_row(const struct fake *fake, const char *name, struct bytes key)
{
    const struct fake_object *object = fake_objects_find(&fake->objects, name);
    const struct port_row *row = object && object->is_there ? fake_object_row(object, key) : NULL;

    return row ? row->value : (struct bytes){ NULL, 0 };
}

uint32_t fake_row_count(const struct fake *fake, const char *name)
{
    const struct fake_object *object = fake_objects_find(&fake->objects, name);

    return object && object->is_there ? object->count : 0;
}
