/* See moves.h. */
#include "moves.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "admin/move_in.h"
#include "base/clock.h"
#include "commits.h"
#include "fleet.h"
#include "scheduler.h"
#include "service/placement_move.h"
#include "service/placement_private.h"
#include "queue_clock.h"
#include "services.h"
#include "world.h"

#define SECOND_NS   UINT64_C(1000000000)
/* A prepared move that is not sealed is cancelled 30 s later. */
#define CANCELS_NS  (36 * SECOND_NS)
/* Distinct from the lives of takeovers. */
#define LIFE_OF_ONE 100000u

enum step { STEP_NONE, STEP_SEAL, STEP_ACTIVATE, STEP_FINISH };

/* The step that the calling thread decides. */
static _Thread_local struct {
    enum step step;
    unsigned name;
    uint64_t incarnation;
    unsigned from, to;
    bool is_receiving;
} now;

static struct fleet_moves *all(void)
{
    return &world->fleet->moves;
}

/* ---- where names are ---- */

static bool is_left(unsigned of_cell, uint64_t commit, uint64_t survivor)
{
    return commit > 0 && (of_cell != commits_cell() || commit <= survivor);
}

static unsigned find_cell(unsigned name, uint64_t newest_state, uint64_t survivor)
{
    if (!world->fleet || !commits_are_divided())
        return commits_cell_of(newest_state);
    for (unsigned i = all()->count; i > 0; i--) {
        const struct fleet_move *move = &all()->moves[i - 1];

        if (move->name == name && move->sealed > newest_state &&
            is_left(move->from, move->sealed, survivor))
            return is_left(move->to, move->activated, survivor) ? move->to : 0;
    }
    return commits_cell_of(newest_state);
}

unsigned moves_cell_of(unsigned name, uint64_t newest_state)
{
    return find_cell(name, newest_state, UINT64_MAX);
}

bool moves_are_here(unsigned name, uint64_t newest_state)
{
    return moves_cell_of(name, newest_state) == commits_cell();
}

bool moves_are_here_at(unsigned name, uint64_t newest_state, uint64_t survivor)
{
    return find_cell(name, newest_state, survivor) == commits_cell();
}

bool moves_may_be_here(unsigned name, uint64_t newest_state)
{
    if (moves_are_here(name, newest_state))
        return true;
    for (unsigned i = 0; world->fleet && i < all()->count; i++) {
        const struct fleet_move *move = &all()->moves[i];

        if (move->name == name && move->from == commits_cell() &&
            move->sealed > commits_acknowledged())
            return true;
    }
    return false;
}

void moves_roll_back(uint64_t survivor)
{
    unsigned left = 0;

    for (unsigned i = 0; world->fleet && i < FLEET_MOVES_MAX; i++)
        if (commits_is_lost(all()->spaces[i].activated, survivor))
            all()->spaces[i].activated = 0;
    for (unsigned i = 0; world->fleet && i < all()->count; i++) {
        struct fleet_move *move = &all()->moves[i];

        if (move->to == commits_cell() && move->activated > survivor)
            move->activated = 0;
        if (move->from == commits_cell() && move->finished > survivor)
            move->finished = 0;
        if (move->from != commits_cell() || move->sealed <= survivor)
            all()->moves[left++] = *move;
        else if (move->activated > 0)
            world_fail("a move was activated before its seal was durable");
    }
    if (world->fleet) {
        all()->count = left;
        all()->busy_ns = world->now_ns;
    }
}

/* ---- steps ---- */

static bool find_name(struct bytes key, unsigned *ret_name)
{
    for (unsigned i = 0; i < sim_service()->name_count; i++)
        if (bytes_is_nocase(key, sim_service()->names[i])) {
            *ret_name = i;
            return true;
        }
    return false;
}

static void decide(enum step step, const struct move *move)
{
    if (!fleet_is_running() || !find_name(move->key, &now.name))
        return;
    now.step = step;
    now.incarnation = move->incarnation;
    now.from = move->from;
    now.to = move->to;
}

static struct fleet_move *find_move(void)
{
    for (unsigned i = all()->count; i > 0; i--)
        if (all()->moves[i - 1].name == now.name &&
            (now.incarnation == 0 || all()->moves[i - 1].incarnation == now.incarnation))
            return &all()->moves[i - 1];
    world_fail("a step of a move that was not sealed");
}

/* The file system blocks before the commit is durable, and the front end may fail. */
static void block_storage(void)
{
    struct machine *machine = fleet_machine(fleet_self());

    machine->trouble |= TROUBLE_AWAY;
    machine->away_until_ns = world->now_ns + 2 * SECOND_NS;
    all()->aimed = fleet_self();
    fleet_trouble("the file system blocks behind a seal");
}

static void note_seal(uint64_t commit)
{
    if (all()->count == FLEET_MOVES_MAX)
        world_fail("more than %u moves", FLEET_MOVES_MAX);
    all()->moves[all()->count++] = (struct fleet_move){ .name = now.name,
                                                        .from = now.from,
                                                        .to = now.to,
                                                        .incarnation = now.incarnation,
                                                        .sealed = commit };
    if (world_once_in(STREAM_FAULTS, 5))
        block_storage();
}

/* The source has asked for it, so its seal is durable. The clock of this cell may be another one. */
static void note_activation(uint64_t commit)
{
    struct fleet_move *move = find_move();

    if (move->activated > 0)
        world_fail("a move is activated twice");
    move->activated = commit;
    for (unsigned i = 0; i < FLEET_MOVES_MAX; i++)
        if (all()->spaces[i].incarnation == now.incarnation)
            all()->spaces[i].activated = commit;
    commits_acknowledge(move->sealed);
    queue_clock_moved();
    if (world->wall_steps > 0)
        world->life = LIFE_OF_ONE + (unsigned)commit;
    if (all()->incoming[now.to].incarnation == now.incarnation)
        all()->incoming[now.to].at_ns = 0;
    fleet_count(FLEET_MOVED);
}

static void note_finish(uint64_t commit)
{
    struct fleet_move *move = find_move();

    if (move->activated == 0)
        world_fail("a move is finished that was not activated");
    commits_acknowledge(move->activated);
    move->finished = commit;
    all()->busy_ns = world->now_ns;
}

void moves_undecided(void)
{
    now.step = STEP_NONE;
}

bool moves_committed(void)
{
    static const char *const names[] = { "", "sealed", "activated", "finished" };
    enum step step = now.step;
    uint64_t commit;

    if (step == STEP_NONE)
        return false;
    now.step = STEP_NONE;
    commit = ++world->commits;
    if (step == STEP_SEAL)
        note_seal(commit);
    else if (step == STEP_ACTIVATE)
        note_activation(commit);
    else
        note_finish(commit);
    if (sim_service()->committed_move)
        sim_service()->committed_move();
    world_trace(commit << 8 | 0xFD);
    world_say("%.6f commit %" PRIu64 ": the move of %s is %s in cell %u",
              (double)world->now_ns / 1e9, commit, sim_service()->names[now.name], names[step],
              commits_cell());
    return true;
}

/* Between two steps of a move time may pass, and one of the front ends may fail. */
void moves_linger(unsigned once_in)
{
    if (!fleet_is_running() || fleet_self() == 0 || world_draw(STREAM_FAULTS, once_in) > 0)
        return;
    if (world_once_in(STREAM_FAULTS, 6))
        all()->aimed = world->fleet->cells[1 + world_draw(STREAM_FAULTS, CLUSTER_CELLS)].reigns;
    sched_sleep((4 * SECOND_NS) >> world_draw(STREAM_FAULTS, 12));
}

/* A request of a move: its response may be late, too. */
#define LINGERS(handler)                                                                           \
    __typeof__(handler) __real_##handler, __wrap_##handler;                                        \
    int __wrap_##handler(void *context, struct bytes body, struct arena *arena,                    \
                         struct text *ret_body)                                                    \
    {                                                                                              \
        int status;                                                                                \
                                                                                                   \
        moves_linger(4);                                                                           \
        status = __real_##handler(context, body, arena, ret_body);                                 \
        moves_linger(4);                                                                           \
        return status;                                                                             \
    }

LINGERS(move_put_serve)
LINGERS(move_end_serve)
LINGERS(move_switch_serve)
LINGERS(move_cancel_serve)

__typeof__(placement_seal) __real_placement_seal, __wrap_placement_seal;
enum error __wrap_placement_seal(struct decision *d, void *of)
{
    const struct seal *seal = of;
    enum error e;

    if (fleet_is_running() && world_once_in(STREAM_FAULTS, 8)) /* the destination gives it up */
        sched_sleep(CANCELS_NS - world_random(STREAM_FAULTS) % (10 * SECOND_NS));
    e = __real_placement_seal(d, of);
    now.step = STEP_NONE;
    if (!e && seal->is_done)
        decide(STEP_SEAL, &seal->move);
    return e;
}

__typeof__(move_activate_serve) __real_move_activate_serve, __wrap_move_activate_serve;
int __wrap_move_activate_serve(void *context, struct bytes body, struct arena *arena,
                               struct text *ret_body)
{
    struct decoder in;
    struct move move;
    int status;

    decoder_init(&in, body);
    moves_linger(4);
    if (move_read(&in, &move))
        decide(STEP_ACTIVATE, &move);
    status = __real_move_activate_serve(context, body, arena, ret_body);
    now.step = STEP_NONE;
    moves_linger(4);
    return status;
}

__typeof__(move_count_finished) __real_move_count_finished, __wrap_move_count_finished;
void __wrap_move_count_finished(struct changes *changes)
{
    __real_move_count_finished(changes);
    if (fleet_is_running())
        now.step = STEP_FINISH;
}

__typeof__(move_finish_task) __real_move_finish_task, __wrap_move_finish_task;
enum store_result __wrap_move_finish_task(struct decision *d, const struct deferred_task *task,
                                          const struct endpoint *endpoint)
{
    const struct move move = { .key = task->partition.key };

    decide(STEP_NONE, &move);
    return __real_move_finish_task(d, task, endpoint);
}

/* ---- prepared copies, and held names ---- */

static struct fleet_space *find_space(const struct guid *space)
{
    for (unsigned i = 0; world->fleet && i < FLEET_MOVES_MAX; i++)
        if (guid_equal(&all()->spaces[i].space, space))
            return &all()->spaces[i];
    return NULL;
}

bool moves_hide(const struct guid *space)
{
    const struct fleet_space *found = request_slot() < 0 ? find_space(space) : NULL;

    return found && found->activated == 0;
}

static void note_prepared(struct decoder *in, uint64_t incarnation, struct arena *arena)
{
    struct moved moved;

    if (!moved_read(in, arena, &moved))
        return;
    for (size_t i = 0; i < moved.space_count; i++) {
        struct fleet_space *space = find_space(&moved.spaces[i].space);

        if (space)
            space->incarnation = incarnation;
    }
}

/* The response to MOVE_BEGIN_PATH. */
static void note_begun(struct bytes response)
{
    struct fleet_space *space = &all()->spaces[all()->space_count++ % FLEET_MOVES_MAX];
    struct decoder in;
    struct guid id;

    *space = (struct fleet_space){ .activated = 0 };
    decoder_init(&in, response);
    (void)decode_u8(&in);
    decode_fixed(&in, id.b, sizeof id.b);
    decode_fixed(&in, space->space.b, sizeof space->space.b);
}

__typeof__(move_prepare_serve) __real_move_prepare_serve, __wrap_move_prepare_serve;
int __wrap_move_prepare_serve(void *context, struct bytes body, struct arena *arena,
                              struct text *ret_body)
{
    struct decoder in;
    struct move move;
    int status;

    decoder_init(&in, body);
    if (fleet_is_running() && move_read(&in, &move) && move.to <= CLUSTER_CELLS) {
        all()->incoming[move.to] = (struct fleet_incoming){ move.incarnation, world->now_ns };
        note_prepared(&in, move.incarnation, arena);
    }
    moves_linger(4);
    status = __real_move_prepare_serve(context, body, arena, ret_body);
    moves_linger(4);
    return status;
}

__typeof__(move_begin_serve) __real_move_begin_serve, __wrap_move_begin_serve;
int __wrap_move_begin_serve(void *context, struct bytes body, struct arena *arena,
                            struct text *ret_body)
{
    int status;

    now.is_receiving = true;
    status = __real_move_begin_serve(context, body, arena, ret_body);
    now.is_receiving = false;
    if (fleet_is_running() && status == 200)
        note_begun(text_bytes(ret_body));
    return status;
}

/* The clock of the destination follows that of the source. */
__typeof__(clock_not_before) __real_clock_not_before, __wrap_clock_not_before;
void __wrap_clock_not_before(instant floor)
{
    instant was = fleet_is_running() ? clock_now() : floor;

    __real_clock_not_before(floor);
    if (floor > was + TICKS_PER_SECOND + TICKS_PER_SECOND / 10)
        world_fail("a move has advanced the clock of another cell by %" PRIu64 " ms",
                   (uint64_t)((floor - was) / (TICKS_PER_SECOND / 1000)));
    if (floor > was)
        queue_clock_follow((int64_t)(floor - was));
}

__typeof__(store_hold_space) __real_store_hold_space, __wrap_store_hold_space;
bool __wrap_store_hold_space(struct store *store, struct guid space)
{
    struct machine *machine;
    bool is_held;

    if (!now.is_receiving)
        moves_linger(2); /* clients write behind the last round */
    is_held = __real_store_hold_space(store, space);
    if (!is_held || now.is_receiving || !fleet_is_running())
        return is_held;
    machine = fleet_machine(fleet_self());
    for (unsigned i = 0; i < machine->held_count; i++)
        if (guid_equal(&machine->held[i], &space))
            return is_held;
    if (machine->held_count == FLEET_HELD_MAX)
        world_fail("more than %u spaces are held", FLEET_HELD_MAX);
    if (machine->held_count == 0)
        machine->held_ns = world->now_ns;
    machine->held[machine->held_count++] = space;
    return is_held;
}

__typeof__(store_release_space) __real_store_release_space, __wrap_store_release_space;
void __wrap_store_release_space(struct store *store, struct guid space)
{
    struct machine *machine;

    __real_store_release_space(store, space);
    if (!fleet_is_running())
        return;
    machine = fleet_machine(fleet_self());
    for (unsigned i = 0; i < machine->held_count; i++)
        if (guid_equal(&machine->held[i], &space)) {
            machine->held[i] = machine->held[--machine->held_count];
            all()->busy_ns = world->now_ns;
            return;
        }
}

void moves_end_process(unsigned front)
{
    if (fleet_machine(front)->held_count > 0)
        all()->busy_ns = world->now_ns;
    fleet_machine(front)->held_count = 0;
}

uint64_t moves_held_since_ns(void)
{
    uint64_t since_ns = 0;

    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        const struct machine *machine = fleet_machine(i);

        if (machine->held_count > 0 && (since_ns == 0 || machine->held_ns < since_ns))
            since_ns = machine->held_ns;
    }
    return since_ns;
}

/* ---- moves in progress ---- */

static bool is_under_way(const struct fleet_move *move)
{
    return move->finished == 0;
}

bool moves_have_sealed_here(void)
{
    for (unsigned i = 0; world->fleet && i < all()->count; i++)
        if (all()->moves[i].from == commits_cell())
            return true;
    return false;
}

bool moves_were_busy(uint64_t since_ns)
{
    bool is_busy = all()->busy_ns >= since_ns || moves_held_since_ns() > 0;

    for (unsigned i = 0; i < all()->count && !is_busy; i++)
        is_busy = is_under_way(&all()->moves[i]);
    return is_busy;
}

bool moves_have_ended(void)
{
    bool have = moves_held_since_ns() == 0;

    for (unsigned i = 0; i < all()->count && have; i++)
        have = !is_under_way(&all()->moves[i]);
    for (unsigned cell = 1; cell <= CLUSTER_CELLS && have; cell++) {
        uint64_t from_ns = all()->incoming[cell].at_ns;

        if (world->fleet->troubled_ns > from_ns && from_ns > 0)
            from_ns = world->fleet->troubled_ns;
        have = from_ns == 0 || world->now_ns > from_ns + CANCELS_NS;
    }
    return have;
}
