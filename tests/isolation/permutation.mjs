// Runs one permutation of a spec against a server and gives the lines to print.

import { setTimeout as delay } from 'node:timers/promises';
import { SENT } from './language.mjs';
import { IDS, Session } from './session.mjs';
import { AGAIN, Names } from './show.mjs';

const ANSWER_LIMIT_MS = 60000; /* a loaded machine under a sanitizer is slow */
/* While the syncer is held, a step counts as waiting when it has been silent for so long and
 * through so many answers to other requests. A slow server cannot fail a test by this: an answer
 * that must come is awaited to the limit above. */
const SILENCE_MS = 100;
const SILENCE_PINGS = 10;

export class Permutation {
    broken = false;             /* it was broken off: the server may hold half-done exchanges */
    #lines = [];
    #target;
    #spec;
    #shared;
    #sessions = new Map();
    #held = new Map();          /* step -> running, at a gate */
    #waiting = [];              /* running, until the syncer may go on */

    /** target: as Session takes it; container: a name that nobody used */
    constructor(target, spec, container) {
        this.#target = target;
        this.#spec = spec;
        this.#shared = {
            container, kept: new Map(),
            names: new Names([...IDS].map(([letter, id]) => [id, letter])),
        };
    }

    /** Runs setup, the turns and always; gives the lines. */
    async run(permutation) {
        this.#lines.push(`permutation: ${permutation.name}`);
        try {
            await this.#setup();
            for (const turn of permutation.turns)
                await this.#turn(turn);
            for (const action of this.#spec.always)
                await this.#always(action);
        } catch (error) {
            this.broken = true;
            this.#lines.push(`broken: ${error.message}`);
        }
        for (const session of this.#sessions.values())
            await session.leave(this.broken);
        return this.#lines;
    }

    #session(name) {
        if (!this.#sessions.has(name))
            this.#sessions.set(name, new Session(name, this.#target, this.#shared));
        return this.#sessions.get(name);
    }

    async #setup() {
        for (const action of this.#spec.setup) {
            const text = (await this.#text(this.#session('setup').perform(action))).replace(AGAIN, '');
            if (!/^(2\d\d|clock|collected|jobs stop|<job |copy: success|SUCCESS)/.test(text))
                throw new Error(`setup, line ${action.line}: ${text}`);
        }
        this.#shared.names.startOver();
    }

    async #always(action) {
        const text = await this.#text(this.#session('always').perform(action));

        this.#lines.push(`always: ${text}`);
    }

    /** The text of what comes, which must come within a limit. */
    async #text(coming) {
        const timeout = new AbortController();
        const limit = delay(ANSWER_LIMIT_MS, null, { signal: timeout.signal }).catch(() => null);
        const show = await Promise.race([coming, limit]);

        timeout.abort();
        if (show === null)
            throw new Error(`no answer in ${ANSWER_LIMIT_MS / 1000} s`);
        return show();
    }

    async #print(running) {
        this.#lines.push(`${running.step.name}: ${await this.#text(running.coming)}`);
    }

    #note(step, text) {
        this.#lines.push(`${step.name}: <${text}>`);
    }

    async #turn(turn) {
        if (turn.go)
            await this.#go(turn.go);
        else if (turn.starts.length > 1)
            await this.#race(turn);
        else
            await this.#start(turn.starts[0], turn.gate);
    }

    /** Sends a step: { step, gate, coming: a promise of its text's function, ended } */
    #begin(step, gate) {
        const running = { step, gate, ended: false };

        running.coming = this.#session(step.session)
            .perform(step.action, gate && gate !== SENT ? [['x-lagra-gate', `${gate}=hold`]] : [])
            .finally(() => {
                running.ended = true;
            });
        return running;
    }

    /** What was sent must not have been answered before an SMB client acknowledges a break, or closes. */
    #noteSent(step) {
        for (const [sent, running] of step.action.smb ? this.#held : [])
            if (running.gate === SENT)
                this.#note(sent, running.ended ? 'has its answer' : 'waits');
    }

    async #start(step, gate) {
        this.#noteSent(step);
        const running = this.#begin(step, gate);

        if (gate === SENT) {
            this.#held.set(step, running);
            this.#note(step, SENT);
        } else if (gate && (await this.#reaches(running))) {
            this.#held.set(step, running);
            this.#note(step, `at ${gate}`);
        } else if (step.action.job) {
            await this.#print(running);
            await this.#printWaiting();
        } else
            await this.#printOrWait(running);
    }

    async #printOrWait(running) {
        if (this.#syncerIsHeld() && (await this.#isSilent(running))) {
            this.#waiting.push(running);
            this.#note(running.step, 'waits');
        } else
            await this.#print(running);
    }

    #syncerIsHeld() {
        return this.#shared.jobAt === 'applied' ||
            [...this.#held.values()].some(({ gate }) => gate === 'applied');
    }

    /** What waited for the syncer ends when it may go on. */
    async #printWaiting() {
        for (const waiting of this.#syncerIsHeld() ? [] : this.#waiting.splice(0))
            await this.#print(waiting);
    }

    /** Polls until the step stands at its gate (true) or has its answer (false). */
    async #reaches(running) {
        const limit = Date.now() + ANSWER_LIMIT_MS;

        while (!running.ended) {
            if ((await this.#target.control.count(running.gate)) > 0)
                return true;
            if (Date.now() > limit)
                throw new Error(`${running.step.name} neither reaches ${running.gate} nor ends`);
            await delay(1);
        }
        return false;
    }

    async #isSilent(running) {
        const until = Date.now() + SILENCE_MS;

        for (let pings = 0; pings < SILENCE_PINGS || Date.now() < until; pings++) {
            if (running.ended)
                return false;
            await this.#target.control.count('applied');
            await delay(1);
        }
        return !running.ended;
    }

    /** Lets a held step go; when that frees the syncer, all that waited for it ends too. */
    async #go(step) {
        const running = this.#held.get(step);

        if (!running) {
            this.#note(step, 'had ended');
            return;
        }
        this.#held.delete(step);
        if (running.gate !== SENT)
            await this.#target.control.go(running.gate);
        await this.#printOrWait(running);
        await this.#printWaiting();
    }

    /** Steps sent at the same time: what happened is printed sorted, without saying to whom. Names
     *  are given out in the order of the steps, so that two equal ETags would be seen. */
    async #race({ text, starts }) {
        const texts = [];

        await Promise.all(starts.map((step) => this.#session(step.session).connect()));
        for (const { coming } of starts.map((step) => this.#begin(step, null)))
            texts.push((await this.#text(coming)).replace(AGAIN, ''));
        this.#lines.push(`${text}: ${texts.sort().join(' + ')}`);
    }
}
