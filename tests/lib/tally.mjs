// What a suite has found: what failed is printed at once, the numbers at its end, as tests/run.mjs reads them.

export class Tally {
    #passed = 0;
    #failed = 0;

    /** Whether it was ok; what: in words, if it was not */
    count(ok, what) {
        if (ok) {
            this.#passed++;
        } else {
            this.#failed++;
            console.log(`FAILED ${what}`);
        }
        return ok;
    }

    /** The last line of the suite of that name, and the exit code. */
    end(name) {
        console.log(`${name}: ${this.#passed} passed, ${this.#failed} failed`);
        process.exitCode = this.#failed === 0 ? 0 : 1;
    }
}
