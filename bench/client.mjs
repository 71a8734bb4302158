// One connection to a target, for what the load generator does not do. Servers end one that rests for long: it is
// opened anew.

import { Connection } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { ACCOUNT } from './targets.mjs';

const HOST = '127.0.0.1';
const REST_MS = 5000;

export class Client {
    #target;
    #container;
    #connection;
    #usedMs = performance.now();

    constructor(target, container, connection) {
        this.#target = target;
        this.#container = container;
        this.#connection = connection;
    }

    static async open(target, container) {
        return new Client(target, container, await Connection.open(HOST, target.port));
    }

    close() {
        this.#connection.close();
    }

    url(name) {
        return `http://${HOST}:${this.#target.port}/${ACCOUNT}/${this.#container}/${name}`;
    }

    async ask(method, name, headers = {}, body = Buffer.alloc(0)) {
        if (performance.now() - this.#usedMs > REST_MS) {
            this.#connection.close();
            this.#connection = await Connection.open(HOST, this.#target.port);
        }
        const answer = await this.#connection.exchange(sign({
            method, target: `/${ACCOUNT}/${this.#container}/${name}`,
            headers: [['Host', `${HOST}:${this.#target.port}`], ['Content-Length', `${body.length}`], ...Object.entries(headers)],
        }), body);

        this.#usedMs = performance.now();
        if (answer.status >= 300)
            throw new Error(`${method} ${name}: ${answer.status} ${answer.body}`);
        return answer;
    }
}
