// What the tests of cells report: a line for each, and a summary of a campaign.

const PROBLEMS_SHOWN = 20, LOG_SHOWN = 3000;

const seconds = (ms) => (ms / 1000).toFixed(1);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

export class Report {
    passed = 0;
    failed = 0;
    counts = {}; // events by name
    #gaps = {}; // by name: the longest time without responses of each event
    #clients = {}; // sums of the clients' counts
    #problems = 0;

    /** One test, which began then. Returns whether it has passed. */
    test(name, began, problems, said = '') {
        const isOk = problems.length === 0;

        this[isOk ? 'passed' : 'failed']++;
        this.#problems += problems.length;
        console.log(`${isOk ? 'ok' : 'not ok'}: ${name}, ${Math.round((Date.now() - began) / 1000)} s${said && `: ${said}`}${isOk ? '' : `, began ${new Date(began).toISOString()}`}`);
        problems.slice(0, PROBLEMS_SHOWN).forEach((problem) => console.log(problem));
        return isOk;
    }

    /** Something that happened to machines. gapMs: the longest time without responses, or null if no owner was replaced */
    event(name, began, problems, gapMs, members) {
        this.counts[name] = (this.counts[name] ?? 0) + 1;
        if (gapMs !== null)
            (this.#gaps[name] ??= []).push(gapMs);
        const isOk = this.test(name, began, problems, gapMs === null ? '' : `${seconds(gapMs)} s without responses`);

        if (!isOk)
            members.forEach(({ ports, stderr }) => console.log(`standard error of port ${ports.blob}:\n${stderr.slice(-LOG_SHOWN)}`));
        return isOk;
    }

    /** What clients have seen. found: numbers of what is there; counts: of each client */
    clients(began, problems, found, counts) {
        for (const [name, count] of counts.flatMap((one) => Object.entries(one)))
            this.#clients[name] = (this.#clients[name] ?? 0) + count;
        return this.test('what was acknowledged is there', began, problems, `${JSON.stringify(found)}; ${JSON.stringify(counts)}`);
    }

    /** The last lines of a campaign. */
    summary() {
        const { acknowledged = 0, unknown = 0, read = 0, registers = 0, operations = 0 } = this.#clients;

        console.log(`events: ${Object.entries(this.counts).map(([name, count]) => `${name} ${count}`).join(', ')}`);
        console.log(`longest and median time without responses: ${Object.entries(this.#gaps)
            .map(([name, gaps]) => `${name} ${seconds(Math.max(...gaps))} and ${seconds(median(gaps))} s`).join(', ')}`);
        console.log(`${acknowledged} writes acknowledged, ${unknown} requests without a response, ${read} reads checked; ` +
            `${registers} histories of registers, ${operations} operations, tested for linearizability`);
        console.log(`${this.#problems} problems`);
    }
}
