// A process that was sent SIGSTOP.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Waits until all threads of the process have stopped: one takes the signal, and the others run on until then. */
export async function untilStopped(pid) {
    const isStopped = (thread) => /\) [tT] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1'));

    while (!readdirSync(`/proc/${pid}/task`).every(isStopped))
        await delay(5);
}
