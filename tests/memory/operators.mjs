// What an operator can ask again and again of a running server, by the socket in its data folder. docs/admin.md

import http from 'node:http';
import path from 'node:path';

/* Of 16 connections an idle one makes room for the next one: so few at once that none has to. */
const AT_ONCE = 4;
const turns = Array(AT_ONCE).fill(Promise.resolve());
let asked = 0;

/** One exchange, in its turn. status: as in asking.mjs */
function operate(server, operation, body, status = 200) {
    const turn = asked++ % AT_ONCE;
    const exchanged = turns[turn].then(() => exchange(server, operation, body, status));

    turns[turn] = exchanged.catch(() => {});
    return exchanged;
}

/** Its connection is closed behind it. */
function exchange(server, operation, body, status) {
    return new Promise((resolve, reject) => {
        const request = http.request({ socketPath: path.join(server.location, 'admin.sock'), path: `/${operation}`, method: 'POST', agent: false },
            (response) => {
                let said = '';

                response.setEncoding('utf8').on('data', (text) => { said += text; }).on('error', reject).on('end', () =>
                    ([status].flat().includes(response.statusCode) ? resolve() : reject(new Error(`${operation}: ${response.statusCode} ${said}`))));
            });

        request.on('error', reject);
        request.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
}

export const KINDS = (server) => ({
    'an operator asks for the state, another level, lists': async (ask, i) => {
        await operate(server, 'status', '');
        await operate(server, 'log-level', { level: i % 2 ? 'info' : 'warn' });
        await operate(server, 'account-list', '');
        await operate(server, 'container-list', { prefix: `x${i}`, account: server.account });
        await operate(server, 'scrub-state', '');
    },
    'an operator makes and deletes what clients have': async (ask, i) => {
        for (const kind of ['container', 'queue', 'table', 'share']) {
            await operate(server, `${kind}-create`, { name: `operated${i}`, account: server.account });
            await operate(server, `${kind}-delete`, { name: `operated${i}`, account: server.account });
        }
    },
    'an operator changes an account': async (ask, i) => {
        await operate(server, 'account-add', { name: 'changed' }, [200, 409]);
        await operate(server, 'account-rotate-key', { name: 'changed', key: `${i % 2 + 1}` });
        await operate(server, 'account-set', { name: 'changed', state: i % 2 ? 'enabled' : 'disabled' });
        await operate(server, 'account-sign', { name: 'changed', text: `text ${i}` });
    },
    'an operator is refused': async (ask, i) => {
        await operate(server, `nothing${i}`, '', [400, 404]);
        await operate(server, 'log-level', `{"level":"${i}`, 400);
        await operate(server, 'log-level', { level: `${i}` }, 400);
        await operate(server, 'account-show', { name: `none${i}` }, 404);
        await operate(server, 'account-add', { name: server.account }, 409);
        await operate(server, 'account-add', { name: `NO${i}` }, 400);
        await operate(server, 'account-set', { name: `none${i}`, state: 'enabled' }, 404);
        await operate(server, 'container-delete', { name: `none${i}`, account: server.account }, 404);
        await operate(server, 'backup-end', { id: `${i}` }, [400, 410]);
    },
});
