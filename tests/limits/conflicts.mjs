// A request that conflicts with each of its attempts: others change what it read, until it is refused.

import { Connection } from '../lib/http.mjs';
import { Control } from '../lib/server.mjs';
import { CONTAINER, honest, inTime, putBlob, signed, until, withServer } from './clients.mjs';

/* DECIDING_ATTEMPTS_MAX */
const ATTEMPTS_MAX = 1000;

/** Sends a request that stops before each commit, and changes the blob every time, `conflicts` times in all. Returns the response. */
async function conflictWith(server, control, other, conflicts) {
    const target = `${CONTAINER}/conflict`;
    const own = await Connection.open(server.host, server.port);
    const request = signed(server, 'PUT', `${target}?comp=metadata`, [['Content-Length', '0'], ['x-ms-meta-own', 'own'], ['x-lagra-gate', 'decided=each']]);
    let isDone = false;
    const response = inTime(own.exchange(request), 'Set Blob Metadata').finally(() => {
        isDone = true;
        own.close();
    });

    for (let i = 0; i <= conflicts && !isDone; i++) {
        await until(async () => isDone || await control.count('decided') === 1, 'the request does not stop');
        if (i < conflicts) {
            const { status } = await other.exchange(signed(server, 'PUT', `${target}?comp=metadata`, [['Content-Length', '0'], ['x-ms-meta-other', `${i}`]]));
            if (status !== 200)
                throw new Error(`Set Blob Metadata: ${status}`);
        }
        await control.go('decided');
    }
    return response;
}

/** DECIDING_ATTEMPTS_MAX: the last attempt that there may be succeeds; one conflict more and the request is refused. */
export async function a_request_that_always_conflicts(context) {
    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        const { assert } = context;
        const control = new Control(server);
        const other = await Connection.open(server.host, server.port);

        if (await control.works()) { // a release has no gates
            assert.equal((await other.exchange(putBlob(server, `${CONTAINER}/conflict`, 5), Buffer.from('bytes'))).status, 201);
            assert.equal((await conflictWith(server, control, other, ATTEMPTS_MAX - 1)).status, 200);
            const refused = await conflictWith(server, control, other, ATTEMPTS_MAX);
            assert.deepEqual([refused.status, refused.headers.get('x-ms-error-code')], [503, 'ServerBusy']);
            const { headers } = await other.exchange(signed(server, 'HEAD', `${CONTAINER}/conflict`));
            assert.deepEqual([headers.get('x-ms-meta-own'), headers.get('x-ms-meta-other')], [undefined, `${ATTEMPTS_MAX - 1}`]);
            assert.equal(await control.count('decided'), 0);
        }
        control.close();
        other.close();
        await honest(server);
    });
}
