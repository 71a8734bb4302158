// Azurite's three services as one process on a folder: of the npm package of bench/, or a version of tests/import/package.json.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { Asker } from './account.mjs';

const program = fileURLToPath(new URL('../../bench/node_modules/azurite/dist/src/azurite.js', import.meta.url));
/* Not that of the other servers: azcopy takes two servers of one host for the same, whatever their ports are. */
const HOST = '127.0.0.2';
const START_LIMIT_MS = 300000;
/* It writes its databases five seconds after a change at the latest, and at its end. */
const SAVED_MS = 6000;
const END_LIMIT_MS = 20000;

/** The program of a version below `modules`, a folder node_modules. */
export const azuriteOf = (modules, version) => path.join(modules, `azurite-${version}/dist/src/azurite.js`);

/** file: the program of a version, which gets no options that others do not have; else that of bench/. */
export async function startAzurite(folder, { file } = {}) {
    const [blob, queue, table] = await freePorts(3), ports = { host: HOST, blob, queue, table };
    const child = spawn(process.execPath, [file ?? program, '--location', folder, '--blobHost', HOST, '--queueHost', HOST, '--tableHost', HOST,
        '--blobPort', `${blob}`, '--queuePort', `${queue}`, '--tablePort', `${table}`, '--silent', '--skipApiVersionCheck',
        ...file ? [] : ['--disableTelemetry', ...['blob', 'queue', 'table'].flatMap((name) => [`--${name}KeepAliveTimeout`, '600'])]], { stdio: ['ignore', 'ignore', file ? 'ignore' : 'inherit'] });
    const ended = once(child, 'exit');

    for (const end = Date.now() + START_LIMIT_MS; ; await delay(50)) {
        const askers = await Promise.all(['blob', 'queue', 'table'].map((name) => Asker.open(ports, name))).catch(() => null);
        askers?.forEach((asker) => asker.close());
        if (askers)
            break;
        if (Date.now() > end || child.exitCode !== null)
            throw new Error('Azurite does not start');
    }
    return {
        ports,
        pid: child.pid,
        /** Of these services. */
        connectionString: (...services) => [`DefaultEndpointsProtocol=http;AccountName=${DEVELOPMENT.account};AccountKey=${DEVELOPMENT.key}`,
            ...services.map((name) => `${name[0].toUpperCase()}${name.slice(1)}Endpoint=http://${HOST}:${ports[name]}/${DEVELOPMENT.account}`)].join(';'),
        url: `http://${HOST}:${blob}/devstoreaccount1`,
        async stop() {
            await delay(SAVED_MS);
            child.kill('SIGTERM');
            await Promise.race([ended, delay(END_LIMIT_MS, null, { ref: false })]); // it may hang, with all written
            child.kill('SIGKILL');
            await ended;
            if (!existsSync(`${folder}/__azurite_db_blob__.json`))
                throw new Error('Azurite has saved nothing');
        },
    };
}
