// Registers, each a blob that several clients write and read over all front ends at the same time. A write is tried once: without a response it may be
// executed at any time. The history of each has to be linearizable.

import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../crash/client.mjs';
import { notLinearizable } from './linearizable.mjs';

const REGISTERS = 2, WRITERS = 2, READERS = 2;
const PAUSE_MS = 20, ANSWER_MS = 4000;

export class Registers {
    problems = [];
    counts = { registers: REGISTERS, operations: 0 };
    isPaused = false; // nobody asks anything
    #histories = Array.from({ length: REGISTERS }, () => []);
    #members;
    #in;
    #value = 0;
    #ends = false;
    #running = [];

    /** members: a function that returns those that may be asked; name: of a container */
    constructor(members, name) {
        this.#members = members;
        this.#in = name;
    }

    /** One request: its response, or null if there was none, or one that says that nothing was done. */
    async #ask(number, ...request) {
        const members = this.#members(), client = new Client(members[number % members.length]);
        const late = new AbortController();

        try {
            const answer = await Promise.race([client.ask(...request), sleep(ANSWER_MS, null, { signal: late.signal }).catch(() => null)]);

            return answer;
        } catch {
            return null;
        } finally {
            late.abort();
            client.close();
        }
    }

    async #write(register, number) {
        const value = ++this.#value, operation = { kind: 'write', value, began: performance.now(), ended: Infinity };
        const answer = await this.#ask(number, 'PUT', `/${this.#in}/shared${register}`, { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.from(`${value}`) });

        if (answer?.status === 201)
            operation.ended = performance.now();
        else if (answer && answer.status !== 503)
            this.problems.push(`Put Blob of shared${register}: ${answer.status}`);
        if (answer?.status !== 503)
            this.#histories[register].push(operation);
    }

    async #read(register, number) {
        const began = performance.now(), answer = await this.#ask(number, 'GET', `/${this.#in}/shared${register}`);

        if (answer?.status === 200)
            this.#histories[register].push({ kind: 'read', value: Number(answer.body), began, ended: performance.now() });
        else if (answer?.status === 404)
            this.#histories[register].push({ kind: 'read', value: 0, began, ended: performance.now() });
        else if (answer && answer.status !== 503)
            this.problems.push(`Get Blob of shared${register}: ${answer.status}`);
    }

    start() {
        const loop = async (step, first) => {
            for (let i = first; !this.#ends; i++, await sleep(PAUSE_MS))
                if (!this.isPaused)
                    await step(i);
        };

        for (let register = 0; register < REGISTERS; register++) {
            for (let i = 0; i < WRITERS; i++)
                this.#running.push(loop((number) => this.#write(register, number), i));
            for (let i = 0; i < READERS; i++)
                this.#running.push(loop((number) => this.#read(register, number), i + 1));
        }
        this.#running = this.#running.map((running) => running.catch((error) => this.problems.push(error.stack)));
    }

    async end() {
        this.#ends = true;
        await Promise.all(this.#running);
        for (const [i, history] of this.#histories.entries()) {
            const wrong = notLinearizable(history);

            this.counts.operations += history.length;
            if (wrong)
                this.problems.push(`shared${i} is not linearizable: ${wrong}`);
        }
    }
}
