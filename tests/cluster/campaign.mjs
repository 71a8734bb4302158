// A campaign: faults by lot, in worlds with one cell and with several in turn, each on a file system of its own, until there were enough of each kind.

import { below } from './random.mjs';

/* What counts as the death of a machine: it dies, hangs, or is cut off from the file system. */
const DEATHS = { die: 1, hang: 1, stop: 1, 'cut-off': 1, 'cut-off-idle': 1, evict: 1, persistent: 1, 'both die': 2 };
const KINDS = { deaths: (name) => DEATHS[name] ?? 0, osds: (name) => Number(name === 'osd'), mds: (name) => Number(name === 'mds') };
const WORLDS = 6, MORE_WORLDS = 20; // more start only if events fail
const WORLD_MS = 300_000; // least time that a world is worth its start
/* One event in so many is of no kind that is counted. */
const OTHERS = 8;

export class Campaign {
    #wanted;
    #began = Date.now();
    #ms;
    #worlds;
    #done = { deaths: 0, osds: 0, mds: 0 };

    /** wanted: { deaths, osds, mds }; ms: how long it may take, 0 for as long as it takes */
    constructor(wanted, ms) {
        this.#wanted = wanted;
        this.#ms = ms > 0 ? ms : Infinity;
        this.#worlds = Math.min(WORLDS, Math.max(2, Math.floor(this.#ms / WORLD_MS)));
    }

    /** Is this share of the time over? */
    #isOver(share) {
        return Date.now() >= this.#began + share * this.#ms;
    }

    /** How many are left of a kind until this share of all is reached. */
    #left(kind, share) {
        return Math.ceil(this.#wanted[kind] * share) - this.#done[kind];
    }

    /** A name of those, or undefined. Kinds are drawn by how many of each are left. */
    #draw(names, share) {
        const kinds = Object.keys(KINDS).flatMap((kind) => new Array(Math.max(0, this.#left(kind, share))).fill(kind));

        if (kinds.length === 0 || this.#isOver(share))
            return undefined;
        const others = names.filter((name) => Object.values(KINDS).every((countOf) => countOf(name) === 0));
        const kind = kinds[below(kinds.length)], counted = names.filter((name) => KINDS[kind](name) > 0);
        const from = below(OTHERS) === 0 && others.length > 0 ? others : counted;

        return from[below(from.length)];
    }

    *#names(names, share) {
        for (let name = this.#draw(names, share); name; name = this.#draw(names, share)) {
            for (const kind of Object.keys(KINDS))
                this.#done[kind] += KINDS[kind](name);
            yield name;
        }
    }

    /** worlds: { names, run } of one cell, and of several; run gets the names of what happens */
    async run(worlds) {
        for (let i = 0; i < this.#worlds + MORE_WORLDS && !this.#isOver(1) && Object.keys(KINDS).some((kind) => this.#left(kind, 1) > 0); i++) {
            const { names, run } = worlds[i % worlds.length];

            await run(this.#names(names, Math.min(1, (i + 1) / this.#worlds)));
        }
    }

    /** What was not reached, as sentences. */
    missing() {
        return Object.keys(KINDS).filter((kind) => this.#left(kind, 1) > 0).map((kind) => `${this.#done[kind]} ${kind}, not ${this.#wanted[kind]}`);
    }
}
