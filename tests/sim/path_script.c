/* See path_script.h: few names, so that renames, deletes and appends of many clients conflict. */
#include "path_script.h"

#include "draws.h"
#include "path_judge.h"
#include "path_model.h"
#include "world.h"

static const unsigned weights[PATH_OPS] = {
    [PATH_CREATE_FILESYSTEM] = 1,
    [PATH_CREATE_FILE] = 8,
    [PATH_CREATE_DIRECTORY] = 6,
    [PATH_PUT] = 8,
    [PATH_APPEND] = 16,
    [PATH_FLUSH] = 14,
    [PATH_SET_PROPERTIES] = 4,
    [PATH_SET_READERS] = 4,
    [PATH_RENAME] = 24,
    [PATH_DELETE] = 8,
    [PATH_READ] = 14,
    [PATH_GET_PROPERTIES] = 8,
    [PATH_GET_ACCESS] = 3,
    [PATH_LIST] = 14,
};

static const struct path_node *newest(unsigned place)
{
    return path_node_at(place, world->commits);
}

static unsigned draw_place(struct draws *draws)
{
    static const unsigned below[] = { 3, 12, 12, 39 };

    return 1 + draw(draws, below[draw(draws, 4)]);
}

/* Draws an existing place, of the given kind if one is found in `tries` draws. */
static unsigned draw_existing(struct draws *draws, bool is_directory, unsigned tries)
{
    unsigned place = draw_place(draws);

    while (tries-- > 0 && (!newest(place) || newest(place)->is_directory != is_directory))
        place = draw_place(draws);
    return place;
}

static unsigned depth(unsigned place)
{
    unsigned count = 0;

    for (; place > 0; place = path_parent(place))
        count++;
    return count;
}

static void draw_condition(struct draws *draws, struct path_ask *ask)
{
    const struct path_node *node = newest(ask->place);

    if (draw(draws, 3) != 0)
        return;
    ask->condition = PATH_IF_MATCH;
    ask->etag = node && node->stamp ? node->stamp->etag : 0;
    if (ask->etag == 0 || (ask->op < PATH_APPEND && draw(draws, 2) == 0))
        ask->condition = ask->op < PATH_APPEND ? PATH_IF_NONE : PATH_IF_NOTHING;
}

static void draw_content(struct draws *draws, struct path_ask *ask)
{
    static const unsigned below[] = { 2, 100, 3000, 20000 };

    ask->content.seed = 1 + draw(draws, 1u << 30);
    ask->content.length = 1 + draw(draws, below[draw(draws, 4)]);
}

/* Returns the end of the staged bytes that follow the file. */
static uint32_t staged_end(const struct path_node *node)
{
    uint32_t end = path_length(node);

    for (unsigned i = 0; i < node->staged_count; i++) {
        if (node->staged[i].position == end)
            end += node->staged[i].content.length;
    }
    return end;
}

static void draw_update(struct draws *draws, struct path_ask *ask)
{
    const struct path_node *node;

    ask->place = draw_existing(draws, false, 6);
    node = newest(ask->place);
    /* Otherwise the model would need more and more memory. */
    if (node && (node->is_doubtful || node->is_unknown || node->part_count > PATH_PARTS_MANY ||
                 node->staged_count > PATH_STAGED_MAX / 2)) {
        ask->op = PATH_CREATE_FILE;
        return;
    }
    ask->position = node ? staged_end(node) : 0;
    if (ask->op == PATH_APPEND)
        draw_content(draws, ask);
    if (draw(draws, 8) == 0)
        ask->position = draw(draws, 2) == 0 ? draw(draws, 100) : ask->position + draw(draws, 100);
    ask->keeps_rest = ask->op == PATH_FLUSH && draw(draws, 3) == 0;
    ask->flushes = ask->op == PATH_APPEND && draw(draws, 4) == 0;
}

/* Draws renames to places that are not deeper than the source, so that all descendants have a place. */
static void draw_rename(struct draws *draws, struct path_ask *ask)
{
    ask->from = draw_existing(draws, draw(draws, 2) == 0, 8);
    ask->is_legacy = draw(draws, 2) == 0;
    do
        ask->place = draw(draws, 12) == 0 && !ask->is_legacy ? 0 : draw_place(draws);
    while (depth(ask->place) + !ask->is_legacy > depth(ask->from) && depth(ask->place) > 1);
    if (depth(ask->place) + !ask->is_legacy > depth(ask->from))
        ask->is_legacy = true;
    if (ask->place == 0)
        ask->is_legacy = false;
    if (newest(ask->from) && draw(draws, 4) == 0)
        ask->source_etag = newest(ask->from)->stamp->etag;
}

static void draw_list(struct draws *draws, unsigned client, struct path_ask *ask)
{
    if (draw(draws, 2) == 0 && path_judge_next_page(client, ask))
        return;
    ask->place = draw(draws, 3) == 0 ? 0 : draw_existing(draws, true, 4);
    if (newest(ask->place) && !newest(ask->place)->is_directory)
        ask->place = 0;
    ask->is_recursive = draw(draws, 2) == 0;
    ask->max = draw(draws, 3) == 0 ? 0 : 1 + draw(draws, 3);
}

static void draw_particular(struct draws *draws, unsigned client, struct path_ask *ask)
{
    switch ((int)ask->op) {
    case PATH_APPEND:
    case PATH_FLUSH:
        draw_update(draws, ask);
        break;
    case PATH_RENAME:
        draw_rename(draws, ask);
        break;
    case PATH_LIST:
        draw_list(draws, client, ask);
        return;
    case PATH_PUT:
        ask->by_blob = true;
        draw_content(draws, ask);
        if (draw(draws, 8) == 0)
            ask->content.length = 0;
        break;
    case PATH_DELETE:
        ask->place = draw_existing(draws, draw(draws, 2) == 0, 2);
        ask->by_blob = draw(draws, 3) == 0;
        ask->is_recursive = !ask->by_blob && draw(draws, 2) == 0 && !path_delete_is_doubtful();
        break;
    case PATH_SET_READERS:
    case PATH_GET_ACCESS:
    case PATH_SET_PROPERTIES:
        ask->place = draw_existing(draws, draw(draws, 2) == 0, 4);
        break;
    case PATH_READ:
    case PATH_GET_PROPERTIES:
        ask->place = draw_existing(draws, draw(draws, 4) == 0, 2);
        ask->by_blob = draw(draws, 2) == 0;
        break;
    default:
        break;
    }
    if (ask->op == PATH_SET_READERS || ask->op == PATH_SET_PROPERTIES || ask->op == PATH_PUT ||
        ask->op == PATH_CREATE_FILE || ask->op == PATH_CREATE_DIRECTORY)
        ask->value = 1 + draw(draws, 1000);
    if (ask->op != PATH_CREATE_FILESYSTEM && ask->op != PATH_APPEND && ask->op != PATH_RENAME)
        draw_condition(draws, ask);
    if (ask->op == PATH_RENAME && draw(draws, 2) == 0)
        ask->condition = PATH_IF_NONE;
}

void path_script_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    struct path_ask *path = &ret_ask->path;

    *ret_ask = (struct ask){ .op = OPS };
    path->op = (enum path_op)draw_weighted(&draws, weights, PATH_OPS);
    if (!path_filesystem_exists(world->commits) && draw(&draws, 8) != 0)
        path->op = PATH_CREATE_FILESYSTEM;
    if (path->op != PATH_CREATE_FILESYSTEM)
        path->place = draw_place(&draws);
    draw_particular(&draws, client, path);
    draw_behaviour(&draws, ret_ask, 40, 30);
}
