// A server that is killed while clients work on it, and started again on the same ports: what was
// acknowledged must be there afterwards.

import { setTimeout as delay } from 'node:timers/promises';
import { freePorts, Server } from './server.mjs';

const FAILURES_MAX = 500; // of a server that runs
const REST_MS = 10;

/** A server of the test `t` alone, on ports that stay when it is started again. */
export async function startKillable(t) {
    const [blob, queue, table, file] = await freePorts(4);
    const server = await Server.start({
        args: ['--blobPort', `${blob}`, '--queuePort', `${queue}`, '--tablePort', `${table}`,
            '--filePort', `${file}`],
    });
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

/** SIGKILL, and a new process on the same folder. */
export async function killAndRestart(server) {
    await server.kill();
    await server.restart();
}

/** Calls write(0), write(1).. by some workers at once until so many were acknowledged, and kills the
 *  server so many times on the way. A write that fails may have been done or not; its number is not
 *  used again. Resolves to the numbers that were acknowledged. */
export async function writeThroughKills(server, write, { count = 240, kills = 2, workers = 4 } = {}) {
    const acknowledged = [];
    let next = 0, killed = 0, restarting = false, failures = 0, error = null;
    const goesOn = () => failures < FAILURES_MAX && (killed < kills || acknowledged.length < count);
    const worker = async () => {
        while (goesOn()) {
            const number = next++;
            try {
                await write(number);
                acknowledged.push(number);
            } catch (thrown) {
                error = thrown;
                failures += restarting ? 0 : 1;
                await delay(REST_MS);
            }
        }
    };
    const killer = async () => {
        for (; goesOn(); await delay(1)) {
            if (killed < kills && acknowledged.length >= (count * (killed + 1)) / (kills + 1)) {
                restarting = true;
                await killAndRestart(server);
                restarting = false;
                killed++;
            }
        }
    };
    await Promise.all([killer(), ...Array.from({ length: workers }, worker)]);
    if (failures >= FAILURES_MAX)
        throw new Error(`${failures} writes failed, ${acknowledged.length} did not`, { cause: error });
    return acknowledged;
}
