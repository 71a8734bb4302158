/* The last part of a string to sign: the addressed resource and the query.
 * rest: Authorize-with-Shared-Key, "Constructing the canonicalized resource string" */
#include "auth/auth_private.h"

#include <stdlib.h>

#include "base/encode.h"
#include "base/url.h"

static const struct bytes secondary_suffix = BYTES("-secondary");

/* Returns the offset of "-secondary" in a path like "/account-secondary/...", or 0 if it is
 * absent. */
static size_t secondary_at(const struct auth_target *target)
{
    struct bytes name = target->name;
    struct bytes after;

    if (!target->secondary || !bytes_has_prefix(bytes_from(target->path, 1), name))
        return 0;
    after = bytes_from(target->path, 1 + name.len);
    if (!bytes_has_prefix(after, secondary_suffix))
        return 0;
    after = bytes_from(after, secondary_suffix.len);
    return after.len == 0 || after.ptr[0] == '/' ? 1 + name.len : 0;
}

bool resource_has_secondary(const struct auth_target *target)
{
    return secondary_at(target) > 0;
}

void resource_add_path(struct text *out, const struct auth_target *target, unsigned form)
{
    size_t at = form & FORM_SECONDARY ? 0 : secondary_at(target);

    text_add_char(out, '/');
    text_add(out, target->name);
    if (at > 0) {
        text_add(out, bytes_of(target->path.ptr, at));
        text_add(out, bytes_from(target->path, at + secondary_suffix.len));
    } else {
        text_add(out, target->path);
    }
}

struct parameter {
    struct bytes name, value;
};

static int by_name_and_value(const void *a, const void *b)
{
    const struct parameter *x = a, *y = b;
    int order = bytes_compare(x->name, y->name);

    return order != 0 ? order : bytes_compare(x->value, y->value);
}

/* Decodes a text, '+' as a space (like the service: Azurite issue 1696). Invalid encoding is left
 * unchanged and refused later. */
static struct bytes decoded(struct arena *arena, struct bytes text)
{
    struct bytes plain = query_decode(arena, text);

    return plain.ptr ? plain : text;
}

/* Returns the parameters in the order of the query; sets *ret_parameters to NULL if there are
 * none. */
static size_t read_parameters(struct arena *arena, struct bytes query,
                              struct parameter **ret_parameters)
{
    struct bytes name, value;
    size_t count = 1;
    struct parameter *parameters;

    *ret_parameters = NULL;
    if (query.len == 0)
        return 0;
    for (size_t i = 0; i < query.len; i++)
        count += query.ptr[i] == '&';
    parameters = arena_array(arena, count, sizeof *parameters);
    for (count = 0; url_take_parameter(&query, &name, &value);) {
        if (name.len == 0 && !value.ptr)
            continue;
        parameters[count].name = arena_copy_lower(arena, decoded(arena, name));
        parameters[count++].value = decoded(arena, value);
    }
    *ret_parameters = parameters;
    return count;
}

/* Returns the parameters sorted by name, then value. */
static size_t sorted_parameters(struct arena *arena, struct bytes query,
                                struct parameter **ret_parameters)
{
    size_t count = read_parameters(arena, query, ret_parameters);

    if (count > 1)
        qsort(*ret_parameters, count, sizeof **ret_parameters, by_name_and_value);
    return count;
}

static bool is_well_encoded(struct arena *arena, struct bytes query)
{
    return query.len == 0 || query_decode(arena, query).ptr;
}

bool resource_is_unambiguous(struct arena *arena, const struct auth_target *target,
                             struct bytes query)
{
    bool comp_alone = target->service == 't';
    struct parameter *parameters;
    size_t count;

    if (!is_well_encoded(arena, query))
        return false;
    count = sorted_parameters(arena, query, &parameters);
    for (size_t i = 0; i < count; i++) {
        struct bytes name = parameters[i].name;

        if (bytes_have_control(name) ||
            (bytes_have_control(parameters[i].value) && (!comp_alone || bytes_is(name, "comp"))) ||
            (name.len > 0 && memchr(name.ptr, ':', name.len)))
            return false;
        if (i > 0 && bytes_equal(name, parameters[i - 1].name) && !bytes_is(name, "include"))
            return false;
    }
    return true;
}

void resource_add_parameters(struct text *out, struct bytes query)
{
    struct parameter *parameters;
    size_t count = sorted_parameters(out->arena, query, &parameters);

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && bytes_equal(parameters[i].name, parameters[i - 1].name)) {
            text_add_char(out, ',');
        } else {
            text_add_char(out, '\n');
            text_add(out, parameters[i].name);
            text_add_char(out, ':');
        }
        text_add(out, parameters[i].value);
    }
}

void resource_add_component(struct text *out, struct bytes query)
{
    struct parameter *parameters;
    size_t count = read_parameters(out->arena, query, &parameters);

    for (size_t i = 0; i < count; i++) {
        if (bytes_is(parameters[i].name, "comp")) {
            text_add_string(out, "?comp=");
            text_add(out, parameters[i].value);
            return;
        }
    }
}
