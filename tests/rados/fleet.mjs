// Front ends of one store that are killed and stopped while others ask them (campaign.mjs).

import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../crash/client.mjs';
import { startFrontEnd } from './front_end.mjs';

/* Above it a request has no answer: its front end may be stopped. */
const ANSWER_MS = 5000;
/* With nobody to ask. */
const PAUSE_MS = 50;
/* A front end that others took for dead ends so. */
const EXIT_FENCED = 3;

/** What a request has become is not known. */
export const UNKNOWN = { status: 0 };

export class Fleet {
    problems = [];
    counts = { kills: 0, stops: 0, fenced: 0, answered: 0, unknown: 0 };
    #fronts = []; // { number, server, isUp, isEnding, restarting }
    #random;

    static async start(binary, words, { count, random, env }) {
        const fleet = new Fleet();

        fleet.#random = random;
        for (let i = 0; i < count; i++)
            fleet.#fronts.push({ number: i, server: await startFrontEnd(binary, words, env), isUp: true, isEnding: false, restarting: null });
        fleet.#fronts.forEach((front) => fleet.#watch(front));
        return fleet;
    }

    get size() {
        return this.#fronts.length;
    }

    /* One that ends by itself was taken for dead by another, or has a fault. */
    #watch(front) {
        const { server } = front;

        server.ended().then(({ code, signal }) => {
            front.isUp = false;
            if (front.isEnding)
                return;
            if (code === EXIT_FENCED && server.stderr.includes('taken this front end for dead'))
                this.counts.fenced++;
            else
                this.problems.push(`a front end ended by itself: ${code ?? signal}: ${server.stderr.slice(-2000)}`);
            front.restarting = this.#restart(front);
        });
    }

    async #restart(front) {
        try {
            await front.server.restart();
            Object.assign(front, { isUp: true, isEnding: false });
            this.#watch(front);
        } catch (error) {
            this.problems.push(`a front end does not come up again: ${error.message}`);
        }
    }

    /** kill -9 of one of them, which starts again `ms` later. */
    async kill(number, ms) {
        const front = this.#fronts[number];

        await front.restarting;
        if (!front.isUp || front.isEnding)
            return; // it is being killed already
        this.counts.kills++;
        front.isEnding = true;
        await front.server.kill();
        await sleep(ms);
        front.restarting = this.#restart(front);
        await front.restarting;
    }

    /** SIGSTOP, and SIGCONT `ms` later, unless it has been killed meanwhile. */
    async stop(number, ms) {
        const front = this.#fronts[number];

        await front.restarting;
        const { pid } = front.server;
        if (!front.isUp || pid === undefined)
            return;
        this.counts.stops++;
        process.kill(pid, 'SIGSTOP');
        await sleep(ms);
        if (front.server.pid === pid)
            process.kill(pid, 'SIGCONT');
    }

    /** Any that is thought to be up; `number`: that one. */
    async pick(number = -1) {
        for (;;) {
            const up = this.#fronts.filter((front) => front.isUp && (number < 0 || front.number === number));

            if (up.length > 0)
                return up[this.#random(up.length)];
            await sleep(PAUSE_MS);
        }
    }

    client(service) {
        return new FleetClient(this, service);
    }

    /** SIGTERM to all: each ends orderly. */
    async end() {
        for (const front of this.#fronts) {
            await front.restarting;
            front.isEnding = true;
            await front.server.stop().catch((error) => this.problems.push(error.message));
        }
    }

    /** Ends all, however. */
    async abandon() {
        for (const front of this.#fronts) {
            front.isEnding = true;
            await front.server.kill();
            await front.server.remove();
        }
    }
}

/** Sends each request to any front end, by a connection of its own to each. */
class FleetClient {
    #fleet;
    #service;
    #clients = new Map();

    constructor(fleet, service) {
        this.#fleet = fleet;
        this.#service = service;
    }

    /** As Client's, but UNKNOWN where there is no answer, or one that says nothing of what was asked.
     *  at: the number of the front end; source: [header, path] of what is copied or renamed */
    async ask(method, target, { at, source, headers = [], body } = {}) {
        const { number, server } = await this.#fleet.pick(at);
        const sources = source ? [[source[0], server.urlOf(this.#service) + source[1]]] : [];
        const client = this.#clients.get(number) ?? new Client(server, this.#service);
        const late = new AbortController();

        this.#clients.set(number, client);
        try {
            const answer = await Promise.race([
                client.ask(method, target, { headers: [...headers, ...sources], body }),
                sleep(ANSWER_MS, null, { signal: late.signal }).catch(() => null),
            ]);

            if (answer && answer.status < 500) {
                this.#fleet.counts.answered++;
                return answer;
            }
            if (answer && answer.status !== 503)
                this.#fleet.problems.push(`${method} ${target}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
        } catch {
            // The front end is gone.
        } finally {
            late.abort();
        }
        client.close();
        this.#clients.delete(number);
        this.#fleet.counts.unknown++;
        await sleep(PAUSE_MS);
        return UNKNOWN;
    }

    close() {
        this.#clients.forEach((client) => client.close());
    }
}

/** Until it has an answer; `also`: statuses that say that an earlier try was done. */
export async function surely(client, wanted, also, ...request) {
    for (;;) {
        const answer = await client.ask(...request);

        if (answer === UNKNOWN)
            continue;
        if (answer.status !== wanted && answer.status !== also)
            throw new Error(`${request[0]} ${request[1]}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
        return answer;
    }
}
