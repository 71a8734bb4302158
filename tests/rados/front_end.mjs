// A front end of a store on a cluster.

import { Server } from '../lib/server.mjs';

/** words: [] of options. */
export function startFrontEnd(binary, words, env = {}) {
    return Server.start({
        binary, env,
        words: [...words, '--blobHost', '127.0.0.1', '--blobPort', '0', '--queuePort', '0', '--tablePort', '0', '--filePort', '0'],
    });
}
