// A front end of a store on a cluster.

import { Server } from '../lib/server.mjs';

/** words: [] of options. ports: of the Blob, Queue, Table and File service; 0: any, others each time that it starts. */
export function startFrontEnd(binary, words, env = {}, ports = [0, 0, 0, 0]) {
    const [blob, queue, table, file] = ports.map(String);

    return Server.start({
        binary, env,
        words: [...words, '--blobHost', '127.0.0.1', '--blobPort', blob, '--queuePort', queue, '--tablePort', table, '--filePort', file],
    });
}
