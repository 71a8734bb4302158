/* Create Directory and Create File. */
#include "file/new_file.h"

/* Creates a directory. The subject function has checked the parent. returns OK,
 * E_ResourceAlreadyExists
 * rest: Create-Directory */
enum error create_directory_decide(struct decision *d, const struct create_directory_parameters *p,
                                   struct create_directory_result *r)
{
    struct file_state *state = file_state(d);
    struct file file = { .kind = TREE_DIRECTORY, .metadata = p->metadata };
    struct decision_part *part;
    enum tree_result result = tree_create(&state->tree, &state->place, TREE_DIRECTORY, &part);
    enum error e = result ? file_fail_tree(d, result) : new_file_write(d, part, &p->smb, &file);

    if (!e)
        r->shown = file_show(state);
    return e;
}

/* Writes the request body at the start of the file. rest: Create-File */
static enum error write_content(struct decision *d, struct decision_part *part,
                                struct content *content)
{
    enum store_result result =
        content_write(part->before, part->changes, d->arena, content, d->now, 0, &d->input->body);

    return result ? decision_fail_content(d, result) : OK;
}

/* Creates a file that is a hole, except for the request body. returns OK, or an error of
 * new_file_open()
 * rest: Create-File; semantics 8.1 */
enum error create_file_decide(struct decision *d, const struct create_file_parameters *p,
                              struct create_file_result *r)
{
    struct file file = { .kind = TREE_FILE, .metadata = p->metadata, .http = p->http };
    struct decision_part *part;
    enum error e = new_file_open(d, OVER_READ_ONLY_REFUSED, p->length, &file, &part);

    if (!e && p->has_content)
        e = write_content(d, part, &file.content);
    if (!e)
        e = new_file_write(d, part, &p->smb, &file);
    if (!e)
        r->shown = file_show(file_state(d));
    return e;
}
