/* Reads the operator's file of keys (store/master_keys.h) and the file `keys` of a data directory (store/keyring.h), each from any
 * bytes. The input's first byte chooses; a file `keys` is read with the key of bytes 00 .. 1f. What is read can be written and read
 * again. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "fuzz.h"
#include "store/keyring.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_masters(struct bytes text)
{
    const char *problem = NULL;
    struct master_keys *keys = master_keys_parse(text, &problem);

    require(keys ? !problem : problem && strlen(problem) > 0);
    for (size_t i = 0; keys && i < master_keys_count(keys); i++)
        require(master_keys_find(keys, master_key_id(keys, i)) == i);
    master_keys_free(keys);
}

static void read_keys(struct bytes file)
{
    struct master_keys *masters =
        master_keys_parse(bytes_from_string("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), NULL);
    struct arena *arena = arena_new(1 << 20);
    struct keyring *keyring, *again;
    const char *problem = NULL;

    if (keyring_read(file, masters, &keyring, &problem) == STORE_OK) {
        require(keyring_read(keyring_write(keyring, masters, arena), masters, &again, &problem) ==
                STORE_OK);
        require(keyring_newest(again) == keyring_newest(keyring));
        keyring_free(again);
        keyring_free(keyring);
    } else {
        require(problem && strlen(problem) > 0);
    }
    require(keyring_read(file, NULL, &keyring, &problem) == STORE_CORRUPT);
    arena_free(arena);
    master_keys_free(masters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'm')
        read_masters(bytes_of(data + 1, size - 1));
    else
        read_keys(bytes_of(data + 1, size - 1));
    return 0;
}
