/* See move_command.h. */
#include "cli/move_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/cell_reclaim.h"
#include "admin/move_out.h"
#include "base/log.h"
#include "base/thread.h"
#include "cluster/key.h"
#include "cluster/owner_file.h"
#include "cluster/peer.h"
#include "net/net.h"
#include "base/progress.h"

#define VERSION            1
#define ARENA_MAX          ((size_t)64 << 20)
#define POLL_MS            100u
/* Time within which a dead owner is replaced */
#define REQUEST_TIMEOUT_MS 60000u
/* Time for the root's owner to reread the file `pins`, which it does every two seconds */
#define PINS_READ_MS       2700u
#define RESPONSE_MAX       ((size_t)1 << 20)
/* Timeout for a cell to claim all its names */
#define RECLAIM_MS         600000u

const struct command_option cluster_move_options[] = {
    { "cancel", NULL, "cancel a move that is in progress" },
    { NULL, NULL, NULL },
};
const struct command_option cluster_drain_options[] = {
    { "undo", NULL, "let new containers be created in the cell again" },
    { NULL, NULL, NULL },
};

/* State needed to send requests to the owners of the cells. */
struct mover {
    const char *path;
    struct guid cluster;
    unsigned cells[CLUSTER_CELLS_MAX], count;
    struct pins pins;
    struct route route;
    struct net_key *key;
    struct peers peers;
    struct progress progress;
};

/* ---- owners ---- */

static bool read_key(struct mover *m, const char **ret_problem)
{
    char id[GUID_TEXT_SIZE];
    struct net_secrets secrets;

    guid_format(&m->cluster, id);
    *ret_problem = "it has no file `key`";
    if (cluster_key_read(m->path, &secrets, ret_problem) == CLUSTER_KEY_READ)
        m->key = net_key_new(id, &secrets, ret_problem);
    explicit_bzero(&secrets, sizeof secrets);
    return m->key;
}

static bool open_cluster(struct mover *m, const struct command_call *call)
{
    const char *problem = "";

    log_open(LOG_WARN, NULL);
    m->path = call->words[0];
    if (cluster_folder_read(m->path, &m->cluster, &problem) &&
        (m->count = cluster_folder_cells(m->path, m->cells, &problem)) > 0 &&
        pins_read(m->path, &m->pins, &problem) && read_key(m, &problem)) {
        route_init(&m->route);
        for (unsigned i = 0; i < m->count; i++)
            route_add(&m->route, m->cells[i]);
        peers_init(&m->peers, &m->route, m->key);
        return true;
    }
    fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", m->path, problem);
    return false;
}

static void close_cluster(struct mover *m)
{
    peers_release(&m->peers);
    route_release(&m->route);
    net_key_free(m->key);
}

static bool has_cell(const struct mover *m, uint64_t cell)
{
    for (unsigned i = 0; i < m->count; i++)
        if (m->cells[i] == cell)
            return true;
    return false;
}

static bool read_cell_number(const struct mover *m, const char *text, uint32_t *ret_cell)
{
    uint64_t cell = 0;

    if (!bytes_parse_u64(bytes_from_string(text), OWNER_CELL_MAX, &cell) || !has_cell(m, cell)) {
        fprintf(stderr, "lagra: the cluster %s has no cell %s\n", m->path, text);
        return false;
    }
    *ret_cell = (uint32_t)cell;
    return true;
}

/* Reads the owner of a cell and the amount of data in it. */
static void look(struct mover *m, uint32_t cell)
{
    char *name = cluster_owner_path(m->path, cell);
    struct owner_record record;
    struct owner_file file;
    uint64_t started_ns = clock_boot_ns();
    bool is_read = owner_file_open(name, false, &file) &&
                   owner_file_read(&file, &record) == OWNER_OK &&
                   guid_equal(&record.cluster, &m->cluster);

    (void)route_saw(&m->route, cell, is_read ? &record : NULL, started_ns);
    owner_file_close(&file);
    free(name);
}

/* Sends a request to the owner of a cell. Returns the status, or 0 if the owner cannot be reached.
 */
static int ask(struct mover *m, uint32_t cell, const char *path, struct bytes body,
               struct arena *arena, struct bytes *ret_body)
{
    struct peer_response response;

    look(m, cell);
    if (peer_ask(&m->peers,
                 &(struct peer_request){ .cell = cell,
                                         .path = path,
                                         .body = body,
                                         .response_max = RESPONSE_MAX,
                                         .response_ms =
                                             strcmp(path, CELL_RECLAIM_PATH) == 0 ? RECLAIM_MS : 0,
                                         .is_repeatable = strcmp(path, MOVE_START_PATH) != 0 },
                 arena, &response) != PEER_OK)
        return 0;
    *ret_body = response.body;
    return response.status;
}

static int ask_about(struct mover *m, uint32_t cell, const char *path, struct move *move,
                     struct arena *arena)
{
    struct bytes answer = { NULL, 0 };
    struct decoder in;
    struct text body;
    int status;

    text_init(&body, arena, 256);
    move_write(&body, move);
    status = ask(m, cell, path, text_bytes(&body), arena, &answer);
    decoder_init(&in, answer);
    if (answer.len > 0 && !move_read(&in, move))
        return 0;
    return status;
}

/* ---- one move ---- */

enum step {
    STEP_WAIT,    /* wait for an owner, or for the end of an earlier move */
    STEP_STARTED, /* poll */
    STEP_DONE,
    STEP_FAILED, /* *ret_problem */
};

static enum step start(struct mover *m, struct move *move, struct arena *arena,
                       const char **ret_problem)
{
    const uint32_t to = move->to;

    switch (ask_about(m, CLUSTER_ROOT, MOVE_LOCATE_PATH, move, arena)) {
    case 200:
        break;
    case 409:
        *ret_problem = "it is always in cell 1";
        return move->key.ptr[0] == '$' ? STEP_FAILED : STEP_DONE;
    case 404:
        *ret_problem = "it does not exist";
        return STEP_FAILED;
    default:
        *ret_problem = "the owner of cell 1 cannot be reached";
        return STEP_WAIT;
    }
    move->to = to;
    switch (ask_about(m, move->from, MOVE_START_PATH, move, arena)) {
    case 200:
        return STEP_STARTED;
    case 409:
        *ret_problem = "another move from its cell is in progress";
        return STEP_WAIT;
    default:
        *ret_problem = "the owner of its cell cannot be reached";
        return STEP_WAIT;
    }
}

static enum step poll(struct mover *m, const struct move *move, struct arena *arena,
                      const char **ret_problem)
{
    struct progress_count shown = { .items = 0 };
    enum move_state state;
    struct bytes answer;
    struct decoder in;
    struct text body;

    text_init(&body, arena, 16);
    encode_u8(&body, VERSION);
    encode_u64(&body, move->incarnation);
    *ret_problem = "the owner of its cell cannot be reached";
    if (ask(m, move->from, MOVE_STATUS_PATH, text_bytes(&body), arena, &answer) != 200)
        return STEP_WAIT;
    decoder_init(&in, answer);
    if (decode_u8(&in) != VERSION)
        return STEP_FAILED;
    state = (enum move_state)decode_u8(&in);
    shown.items = decode_u64(&in);
    shown.bytes = decode_u64(&in);
    *ret_problem = arena_string(arena, decode_bytes(&in));
    progress_show(&m->progress, &shown);
    switch (state) {
    case MOVE_COPIES:
    case MOVE_SEALED:
        return STEP_STARTED;
    case MOVE_DONE:
        return STEP_DONE;
    case MOVE_UNKNOWN: /* its owner was restarted, so start again */
        return STEP_WAIT;
    case MOVE_GONE:
    case MOVE_UNDONE:
        break;
    }
    return STEP_FAILED;
}

/* Moves one name, restarting the move as often as necessary. Fails once the owners have been
 * unreachable for REQUEST_TIMEOUT_MS. */
static bool move_one(struct mover *m, const struct move *wanted)
{
    uint64_t heard_ms = clock_monotonic_ms();
    struct move move = *wanted;
    enum step step = STEP_WAIT;
    const char *problem = "";
    char why[128] = "";

    progress_begin(&m->progress, "records", false);
    while ((step == STEP_WAIT || step == STEP_STARTED) &&
           clock_monotonic_ms() - heard_ms < REQUEST_TIMEOUT_MS) {
        struct arena *arena = arena_new(ARENA_MAX);
        bool is_polled = step == STEP_STARTED;

        if (!is_polled)
            move = *wanted;
        step = is_polled ? poll(m, &move, arena, &problem) : start(m, &move, arena, &problem);
        move.service = wanted->service; /* the strings in a response point into the arena */
        move.account = wanted->account;
        move.key = wanted->key;
        if (step == STEP_STARTED)
            heard_ms = clock_monotonic_ms();
        snprintf(why, sizeof why, "%s", problem);
        arena_free(arena);
        if (step == STEP_WAIT || (step == STEP_STARTED && is_polled))
            thread_sleep_ns(POLL_MS * NS_PER_MS);
    }
    progress_end(&m->progress);
    if (step != STEP_DONE)
        fprintf(stderr, "lagra: cannot move %.*s of account %.*s (%.*s) to cell %04u: %s\n",
                BYTES_ARG(wanted->key), BYTES_ARG(wanted->account), BYTES_ARG(wanted->service),
                (unsigned)wanted->to, why);
    return step == STEP_DONE;
}

static const char *service_named(const char *name)
{
    static const char *const names[][2] = {
        { "container", "blob" }, { "queue", "queue" }, { "table", "table" },
        { "share", "file" },     { "blob", "blob" },   { "file", "file" },
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    return NULL;
}

static bool cancel_one(struct mover *m, struct move *move, struct arena *arena)
{
    int status = ask_about(m, CLUSTER_ROOT, MOVE_LOCATE_PATH, move, arena);

    if (status == 200)
        status = ask_about(m, move->from, MOVE_CANCEL_PATH, move, arena);
    if (status != 200)
        fprintf(stderr, "lagra: %s\n",
                status == 409 || status == 503
                    ? "the move can no longer be cancelled"
                    : "there is nothing to cancel, or its owner cannot be reached");
    return status == 200;
}

int cluster_move_run(const struct command_call *call)
{
    const char *service = service_named(call->words[2]);
    struct arena *arena = arena_new(ARENA_MAX);
    struct mover *m = xcalloc(1, sizeof *m);
    struct move move = { .account = bytes_from_string(call->words[1]) };
    bool is_done = false;

    if (!service)
        fprintf(stderr, "lagra: the kind must be container, queue, table or share, not %s\n",
                call->words[2]);
    move.service = bytes_from_string(service ? service : "");
    move.key = arena_copy_lower(arena, bytes_from_string(call->words[3]));
    if (service && open_cluster(m, call)) {
        if (!read_cell_number(m, call->words[4], &move.to))
            is_done = false;
        else if (command_value(call, "cancel"))
            is_done = cancel_one(m, &move, arena);
        else
            is_done = move_one(m, &move);
        if (is_done && !command_value(call, "cancel"))
            printf("%s %s of %s is in cell %04u\n", call->words[2], call->words[3], call->words[1],
                   (unsigned)move.to);
        close_cluster(m);
    }
    free(m);
    arena_free(arena);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- drain ---- */

/* Returns the cell with the fewest bytes that has an owner and is not drained, or 0. */
static uint32_t choose(struct mover *m)
{
    for (unsigned i = 0; i < m->count; i++)
        look(m, m->cells[i]);
    return route_least_used(&m->route, &m->pins);
}

/* Moves all names in the list. Sets *ret_count to their number. Returns false if any of them could
 * not be moved. */
static bool move_names(struct mover *m, struct decoder *in, unsigned *ret_count)
{
    bool is_done = true;

    while (in->at < in->end && !in->bad) {
        struct arena *arena = arena_new(ARENA_MAX);
        struct move move = { .service = decode_bytes(in), .account = decode_bytes(in) };

        move.key = arena_copy_lower(arena, decode_bytes(in));
        move.to = choose(m);
        if (!in->bad && move.to == 0)
            fprintf(stderr, "lagra: no other cell has an owner\n");
        is_done = is_done && !in->bad && move.to > 0 && move_one(m, &move);
        ++*ret_count;
        arena_free(arena);
        if (move.to == 0)
            break;
    }
    return is_done;
}

static bool drain(struct mover *m, uint32_t cell, unsigned *ret_moved)
{
    const char version = VERSION;
    bool is_done = true;

    for (;;) {
        struct arena *arena = arena_new(ARENA_MAX);
        struct bytes answer = { NULL, 0 };
        int status = ask(m, cell, MOVE_NAMES_PATH, bytes_of(&version, 1), arena, &answer);
        unsigned count = 0;
        struct decoder in;

        decoder_init(&in, answer);
        if (status != 200 || decode_u8(&in) != VERSION) {
            fprintf(stderr, "lagra: the owner of cell %04u cannot be reached\n", (unsigned)cell);
            is_done = false;
        } else {
            is_done = move_names(m, &in, &count);
        }
        arena_free(arena);
        *ret_moved += count;
        if (count == 0 || !is_done)
            return is_done;
    }
}

/* Marks the cell in the file `pins` as drained or not. */
static bool mark(struct mover *m, uint32_t cell, bool is_drained)
{
    const char *problem = "";

    pins_set_drained(&m->pins, cell, is_drained);
    if (pins_write(m->path, &m->pins, &problem))
        return true;
    fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", m->path, problem);
    return false;
}

int cluster_drain_run(const struct command_call *call)
{
    bool is_undone = command_value(call, "undo"), is_done = false;
    struct mover *m = xcalloc(1, sizeof *m);
    unsigned moved = 0;
    uint32_t cell = 0;

    if (open_cluster(m, call)) {
        if (read_cell_number(m, call->words[1], &cell) && cell == CLUSTER_ROOT)
            fprintf(stderr, "lagra: cell 0001 is the root, and cannot be drained\n");
        else if (cell > 0 && mark(m, cell, !is_undone) && is_undone)
            is_done = true;
        else if (cell > 0) {
            thread_sleep_ns(PINS_READ_MS * NS_PER_MS);
            is_done = drain(m, cell, &moved);
        }
        close_cluster(m);
    }
    free(m);
    if (is_done && is_undone)
        printf("new containers are created in cell %04u again\n", (unsigned)cell);
    else if (is_done)
        printf("cell %04u is drained: %u moved; nothing new is created there\n", (unsigned)cell,
               moved);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- reclaim ---- */

/* Prints the names that are in another cell. Returns false if there are any, or if the response is
 * malformed. */
static bool print_conflicts(struct decoder *in, uint32_t cell)
{
    bool is_done = in->at == in->end && !in->bad;

    while (in->at < in->end && !in->bad) {
        struct bytes service = decode_bytes(in), account = decode_bytes(in);
        struct bytes name = decode_bytes(in);
        uint64_t other = decode_u64(in);

        if (!in->bad)
            fprintf(
                stderr,
                "lagra: %.*s of account %.*s (%.*s) is in cell %04u, but clients use the one in "
                "cell %04" PRIu64 "\n",
                BYTES_ARG(name), BYTES_ARG(account), BYTES_ARG(service), (unsigned)cell, other);
    }
    return is_done;
}

static bool reclaim(struct mover *m, uint32_t cell)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct bytes answer = { NULL, 0 };
    struct decoder in;
    struct text body;
    uint64_t placed;
    bool is_done;
    int status;

    text_init(&body, arena, CELL_RECLAIM_BODY_MAX);
    encode_u8(&body, VERSION);
    encode_u64(&body, cell);
    status = ask(m, cell, CELL_RECLAIM_PATH, text_bytes(&body), arena, &answer);
    decoder_init(&in, answer);
    is_done = status == 200 && decode_u8(&in) == VERSION;
    placed = decode_u64(&in);
    if (!is_done)
        fprintf(stderr, "lagra: cell %04u has not claimed all its names; see its log\n",
                (unsigned)cell);
    else
        printf("cell %04u: %" PRIu64 " containers, queues, tables and shares\n", (unsigned)cell,
               placed);
    is_done = is_done && print_conflicts(&in, cell);
    arena_free(arena);
    return is_done;
}

int cluster_reclaim_run(const struct command_call *call)
{
    struct mover *m = xcalloc(1, sizeof *m);
    bool is_done = open_cluster(m, call), is_open = is_done;

    for (unsigned i = 0; is_open && i < m->count; i++)
        if (m->cells[i] != CLUSTER_ROOT)
            is_done = reclaim(m, m->cells[i]) && is_done;
    if (is_open)
        close_cluster(m);
    free(m);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}
