#include "model.h"

#include <assert.h>
#include <stdio.h>

void model_init(struct model *model)
{
    *model = (struct model){ .nodes[0] = { true, -1, TREE_DIRECTORY, '.', "" } };
}

static int child(const struct model *m, int parent, const char *name, size_t length)
{
    for (int i = 1; i < MODEL_NODES; i++) {
        const struct model_node *node = &m->nodes[i];

        if (node->used && node->parent == parent && strlen(node->name) == length &&
            memcmp(node->name, name, length) == 0)
            return i;
    }
    return -1;
}

struct found {
    enum tree_result result;
    int parent, node; /* -1: none */
    const char *name;
};

static struct found find(const struct model *m, const char *path)
{
    struct found found = { TREE_OK, -1, 0, path };

    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/");

        if (found.node < 0)
            return (struct found){ .result = TREE_NO_PARENT };
        if (m->nodes[found.node].kind != TREE_DIRECTORY)
            return (struct found){ .result = TREE_PARENT_IS_FILE };
        found = (struct found){ TREE_OK, found.node, child(m, found.node, at, length), at };
        at += length + (at[length] == '/');
    }
    return found;
}

static bool is_empty(const struct model *m, int directory)
{
    for (int i = 1; i < MODEL_NODES; i++)
        if (m->nodes[i].used && m->nodes[i].parent == directory)
            return false;
    return true;
}

static void make(struct model *m, const struct found *at, enum tree_kind kind, char tag)
{
    int i = 1;

    while (m->nodes[i].used)
        assert(++i < MODEL_NODES);
    m->nodes[i] =
        (struct model_node){ .used = true, .parent = at->parent, .kind = kind, .tag = tag };
    (void)snprintf(m->nodes[i].name, sizeof m->nodes[i].name, "%s", at->name);
}

static bool is_below(const struct model *m, int node, int above)
{
    while (node > 0 && node != above)
        node = m->nodes[node].parent;
    return node == above;
}

static enum tree_result rename_node(struct model *m, struct found from, struct found to, bool over)
{
    if (from.parent < 0)
        return TREE_IS_ROOT;
    if (from.node < 0)
        return TREE_NOT_FOUND;
    if (to.parent >= 0 && is_below(m, to.parent, from.node))
        return TREE_INTO_ITSELF;
    if (to.parent < 0)
        return TREE_IS_ROOT;
    if (to.node >= 0 && to.node != from.node) {
        if (!over)
            return TREE_EXISTS;
        if (m->nodes[to.node].kind == TREE_DIRECTORY && m->nodes[from.node].kind == TREE_FILE)
            return TREE_KINDS_DIFFER;
        if (!is_empty(m, to.node))
            return TREE_NOT_EMPTY;
        m->nodes[to.node].used = false;
    }
    m->nodes[from.node].parent = to.parent;
    (void)snprintf(m->nodes[from.node].name, sizeof m->nodes[0].name, "%s", to.name);
    return TREE_OK;
}

static int by_name(const struct model *m, int directory, const char *after)
{
    int best = -1;

    for (int i = 1; i < MODEL_NODES; i++) {
        const struct model_node *node = &m->nodes[i];

        if (node->used && node->parent == directory && strcmp(node->name, after) > 0 &&
            (best < 0 || strcmp(node->name, m->nodes[best].name) < 0))
            best = i;
    }
    return best;
}

static void list(const struct model *m, int directory, char *saw)
{
    size_t used = 0;

    for (int i = by_name(m, directory, ""); i >= 0; i = by_name(m, directory, m->nodes[i].name))
        used += (size_t)snprintf(saw + used, SAW_SIZE - used, "%s%s ", m->nodes[i].name,
                                 m->nodes[i].kind == TREE_DIRECTORY ? "/" : "");
}

static enum tree_result run_on(struct model *m, const struct op *op, struct found at, char *saw)
{
    switch (op->kind) {
    case OP_FIND:
        saw[0] = at.node < 0 ? '\0' : m->nodes[at.node].tag;
        return at.node < 0 ? TREE_NOT_FOUND : TREE_OK;
    case OP_LIST:
        if (at.node < 0)
            return TREE_NOT_FOUND;
        if (m->nodes[at.node].kind != TREE_DIRECTORY)
            return TREE_KINDS_DIFFER;
        list(m, at.node, saw);
        return TREE_OK;
    case OP_MAKE_FILE:
    case OP_MAKE_DIRECTORY:
        if (at.node >= 0)
            return at.parent < 0 ? TREE_IS_ROOT : TREE_EXISTS;
        make(m, &at, op->kind == OP_MAKE_FILE ? TREE_FILE : TREE_DIRECTORY, op->tag);
        return TREE_OK;
    case OP_DELETE:
    case OP_REPLACE:
        if (at.parent < 0 || at.node < 0)
            return at.parent < 0 ? TREE_IS_ROOT : TREE_NOT_FOUND;
        if (op->kind == OP_REPLACE && m->nodes[at.node].kind != TREE_FILE)
            return TREE_KINDS_DIFFER;
        if (!is_empty(m, at.node))
            return TREE_NOT_EMPTY;
        m->nodes[at.node].used = false;
        if (op->kind == OP_REPLACE)
            make(m, &at, TREE_FILE, op->tag);
        return TREE_OK;
    case OP_TAG:
        if (at.parent < 0 || at.node < 0)
            return at.parent < 0 ? TREE_IS_ROOT : TREE_NOT_FOUND;
        m->nodes[at.node].tag = op->tag;
        return TREE_OK;
    case OP_RENAME:
    case OP_RENAME_OVER:
    case OP_SNAPSHOT: /* the tree stays */
    case OP_END:
        break;
    }
    return TREE_OK;
}

struct outcome model_run(struct model *m, const struct op *op)
{
    struct outcome outcome = { .saw = "" };
    struct found at = find(m, op->path), to;

    outcome.result = at.result;
    if (at.result)
        return outcome;
    if (op->kind != OP_RENAME && op->kind != OP_RENAME_OVER) {
        outcome.result = run_on(m, op, at, outcome.saw);
        return outcome;
    }
    to = find(m, op->to);
    outcome.result = to.result ? to.result : rename_node(m, at, to, op->kind == OP_RENAME_OVER);
    return outcome;
}

static size_t dump(const struct model *m, int directory, char *out, size_t size)
{
    size_t used = 0;

    for (int i = by_name(m, directory, ""); i >= 0; i = by_name(m, directory, m->nodes[i].name)) {
        const struct model_node *node = &m->nodes[i];

        used += (size_t)snprintf(out + used, size - used, "%s=%c", node->name, node->tag);
        if (node->kind == TREE_DIRECTORY) {
            used += (size_t)snprintf(out + used, size - used, "(");
            used += dump(m, i, out + used, size - used);
            used += (size_t)snprintf(out + used, size - used, ")");
        }
        used += (size_t)snprintf(out + used, size - used, " ");
    }
    return used;
}

void model_dump(const struct model *model, char *out, size_t size)
{
    out[0] = '\0';
    dump(model, 0, out, size);
}
