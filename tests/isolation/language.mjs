// The language of the isolation specs: text -> { setup, sessions, always, permutations }.
// README.md describes it. Everything wrong in a spec is an error that names its line.

import { SMB_ACTIONS } from './smb.mjs';
import { TABLE_PATH } from './tables.mjs';

const METHODS = new Set(['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'MERGE', 'DELETE', 'OPTIONS']);
const KEYWORDS = new Set(['hierarchical', 'setup', 'session', 'step', 'always', 'permutation']);
/* `lease=acquire` is the header x-ms-lease-action: acquire, and so on; `lease` says comp=lease. */
const SHORTHANDS = new Map([
    ['lease', 'x-ms-lease-action'], ['lease-id', 'x-ms-lease-id'],
    ['proposed', 'x-ms-proposed-lease-id'], ['duration', 'x-ms-lease-duration'],
    ['period', 'x-ms-lease-break-period'],
]);
export const GATES = new Set(['staged', 'decided', 'applied', 'synced']);
/* No gate of the server: the request is sent, and its answer is not awaited. */
export const SENT = 'sent';

/* Of a background job, in their order. */
const JOB_GATES = new Set(['begun', 'step', 'stepped', 'decided', 'applied', 'ended', 'nowhere']);

export class SpecError extends Error {
    constructor(line, message) {
        super(`line ${line}: ${message}`);
    }
}

const TOKEN = new RegExp([
    /(?<skip>\s+|#[^\n]*)/, /(?<string>"(?:[^"\\\n]|\\.)*"|'[^']*')/, /\[(?<list>[^\]\n]*)\]/,
    /(?<brace>[{}])/, /(?<arrow>->)/, /(?<word>[^\s{}]+)/,
].map((part) => part.source).join('|'), 'gy');

function unquote(text) {
    return text[0] === '"' ? JSON.parse(text) : text.slice(1, -1);
}

/** Splits a spec into tokens { kind: word | string | list | { | } | -> | end, text, line }. */
function tokenize(text) {
    const tokens = [];
    let line = 1;

    for (const match of text.matchAll(TOKEN)) {
        const { skip, string, list, brace, arrow, word } = match.groups;
        if (string !== undefined)
            tokens.push({ kind: 'string', text: unquote(string), line });
        else if (list !== undefined)
            tokens.push({ kind: 'list', text: list, line });
        else if (word !== undefined)
            tokens.push({ kind: 'word', text: word, line });
        else if (!skip)
            tokens.push({ kind: brace ?? arrow, text: brace ?? arrow, line });
        line += match[0].split('\n').length - 1;
    }
    tokens.push({ kind: 'end', text: 'the end', line });
    return tokens;
}

class Reader {
    constructor(tokens) {
        this.tokens = tokens;
        this.at = 0;
    }

    get next() {
        return this.tokens[this.at];
    }

    get line() {
        return this.next.line;
    }

    take(kind, what) {
        if (this.next.kind !== kind)
            throw new SpecError(this.line, `expected ${what}, found ${this.next.text}`);
        return this.tokens[this.at++].text;
    }

    /** Takes the next token if it is a word that matches. */
    word(pattern) {
        const fits = this.next.kind === 'word' && pattern.test(this.next.text);
        return fits ? this.tokens[this.at++].text : null;
    }
}

/** "64KiB" or "512" in bytes. */
export function parseSize(text) {
    const match = /^(\d+)(KiB|MiB)?$/.exec(text);

    return match ? Number(match[1]) * { undefined: 1, KiB: 1024, MiB: 1048576 }[match[2]] : NaN;
}

/** "a", "Committed:a" or "a*3" as elements of a block list. */
function parseBlocks(item) {
    const [, kind = 'Latest', id, times = 1] = /^(?:(\w+):)?([^*]*)(?:\*(\d+))?$/.exec(item);

    return Array(Number(times)).fill({ kind, id });
}

function parseBody(reader) {
    if (reader.next.kind === 'string')
        return { text: reader.take('string') };
    if (reader.next.kind === 'list')
        return { blocks: reader.take('list').split(/\s+/).filter(Boolean).flatMap(parseBlocks) };
    const pattern = reader.word(/^@/);
    if (pattern === null)
        return null;
    const [size, seed = ''] = pattern.slice(1).split(':');
    if (!(parseSize(size) >= 0))
        throw new SpecError(reader.line, `${pattern}: expected @SIZE or @SIZE:SEED`);
    return { pattern, size: parseSize(size), seed };
}

/** `lease=acquire` and the like: a header in short. */
function parseShorthand(reader, request) {
    const word = reader.word(/^(lease|duration|proposed|period|lease-id)=/);

    if (word === null)
        return false;
    const [name, value] = word.split(/=(.*)/s);
    request.headers.push([SHORTHANDS.get(name), value]);
    if (name === 'lease')
        request.query += '&comp=lease';
    return true;
}

/** `part=NAME` or `part=NAME:ETAG`: a part of a batch that deletes the blob, if it has the ETag.
 *  `part*=`: gates are of this part. */
function parsePart(reader, request) {
    const match = /^part(\*?)=([^:]+)(?::(.+))?$/.exec(reader.word(/^part\*?=/) ?? '');

    if (!match)
        return false;
    request.parts ??= [];
    request.parts.push({ path: `/c/${match[2]}`, gated: match[1] !== '', etag: match[3] });
    return true;
}

/** `-> etag` or `-> name:Header`. */
function parseCaptures(reader, captures) {
    const [name, header] = reader.take('word', 'a name to keep').split(/:(.*)/s);

    captures.push({ name, header });
}

/** As part of a query. */
function base64(text) {
    return encodeURIComponent(Buffer.from(text).toString('base64'));
}

function parseValue(reader) {
    return reader.take(reader.next.kind === 'string' ? 'string' : 'word', 'a value');
}

function serviceOf(path) {
    if (TABLE_PATH.test(path))
        return 'table';
    if (!/^\/([cfqs]\d*(\/|$)|$)/.test(path))
        return null;
    return { f: 'dfs', q: 'queue', s: 'file' }[path[1]] ?? 'blob';
}

const newRequest = (method, path, line) => ({
    method, path, query: '', headers: [], body: null, captures: [], read: null, send: null, as: null, key: null, from: null, moved: null, renamed: null,
    service: serviceOf(path), line,
});

function parseRequest(reader) {
    const request = newRequest(reader.take('word', 'a method'), reader.take('word', 'a path'), reader.line);

    if (request.service === null)
        throw new SpecError(reader.line, `${request.path}: a path begins with /c, /c2.., /f.., /q.., /s.., /t.. or is /`);
    if (request.path === '/$batch')
        request.parts = parseActions(reader);
    for (;;) {
        let word;
        if (reader.next.kind === '->') {
            reader.at++;
            parseCaptures(reader, request.captures);
        } else if ((word = reader.word(/^\?/)) !== null)
            request.query = word.slice(1) + request.query;
        else if ((word = reader.word(/^(read|send)=\d+(KiB|MiB)?$/)) !== null)
            request[word.slice(0, 4)] = parseSize(word.slice(5));
        else if ((word = reader.word(/^as=(anybody|policy:\w+)$/)) !== null)
            request.as = word.slice(3);
        else if ((word = reader.word(/^key=[ab]$/)) !== null)
            request.key = word.slice(4);
        else if ((word = reader.word(/^service=(queue|file)$/)) !== null)
            request.service = word.slice(8);
        else if ((word = reader.word(/^from=\/[cs]\d*\/./)) !== null)
            request.from = word.slice(5);
        else if ((word = reader.word(/^moved=\/s\d*\/./)) !== null)
            request.moved = word.slice(6);
        else if ((word = reader.word(/^renamed=\/f\d*\/./)) !== null)
            request.renamed = word.slice(8);
        else if (reader.word(/^where$/))
            request.query += `&$filter=${encodeURIComponent(reader.take('string', 'a filter'))}`;
        else if ((word = reader.word(/^block=/)) !== null)
            request.query += `&blockid=${base64(word.slice(6))}`;
        else if ((word = reader.word(/^[A-Za-z][\w-]*:$/)) !== null)
            request.headers.push([word.slice(0, -1), parseValue(reader)]);
        else if (parseShorthand(reader, request) || parsePart(reader, request))
            continue;
        else if (request.body === null && (request.body = parseBody(reader)) !== null)
            continue;
        else
            return request;
    }
}

/** `SMB open f /s/a access=RW share=R`: what an SMB client does. */
function parseSmb(reader, line) {
    const verb = reader.take('word', 'an action of SMB');
    const form = SMB_ACTIONS[verb];
    const action = { smb: verb, line };

    if (!form)
        throw new SpecError(line, `${verb} is no action of SMB`);
    for (const word of form.words)
        action[word] = word === 'text' ? reader.take('string', 'a text') : reader.take('word', `a ${word}`);
    if (action.path !== undefined && !/^\/s(\/|$)/.test(action.path))
        throw new SpecError(line, `${action.path}: SMB's paths begin with /s`);
    for (let word; (word = reader.word(/^((access|share|caching)=[RWDH]*|directory|new|deletes)$/)) !== null;) {
        const [name, value = true] = word.split('=');
        if (!form.options?.includes(name))
            throw new SpecError(line, `${verb} has no ${name}`);
        action[name === 'new' ? 'isNew' : name] = value;
    }
    return action;
}

/** The requests and control commands between { and }. */
function parseActions(reader) {
    const actions = [];

    reader.take('{', '{');
    while (reader.next.kind !== '}') {
        const { text, kind, line } = reader.next;
        let word;
        if (kind === 'word' && METHODS.has(text))
            actions.push(parseRequest(reader));
        else if (reader.word(/^SMB$/))
            actions.push(parseSmb(reader, line));
        else if (reader.word(/^(finish|collect|tasks)$/))
            actions.push({ [text]: true, line });
        else if (reader.word(/^copied$/)) {
            const path = reader.take('word', 'a path');
            if (!/^\/[cs]\d*\/./.test(path))
                throw new SpecError(line, 'copied takes the path of a blob or a file');
            actions.push({ ...newRequest('HEAD', path, line), copied: true });
        } else if ((word = reader.word(/^(hold|job)$/)) !== null) {
            const gate = reader.take('word', 'a gate of a job');
            if (!JOB_GATES.has(gate))
                throw new SpecError(line, `${gate} is no gate of a job`);
            actions.push({ [word]: gate, line });
        } else if (reader.word(/^protect$/)) {
            const arguments_ = { name: reader.take('word', 'a container'), change: reader.take('word', 'a change') };
            for (let option; (option = reader.word(/^(days|append|tags)=/)) !== null;)
                arguments_[option.split('=')[0]] = option.split('=')[1];
            if (!/^\/c\d*$/.test(arguments_.name))
                throw new SpecError(line, 'protect takes a container');
            actions.push({ protect: arguments_, line });
        } else if (reader.word(/^clock$/)) {
            const seconds = Number(reader.take('word', 'seconds'));
            if (!(seconds > 0))
                throw new SpecError(line, 'clock takes a number of seconds');
            actions.push({ clock: seconds, line });
        } else
            throw new SpecError(line, `${text} is neither a request nor an action nor }`);
    }
    reader.take('}', '}');
    return actions;
}

function parsePermutation(reader) {
    const line = reader.line;
    const words = [];

    while (reader.next.kind === 'word' && !KEYWORDS.has(reader.next.text))
        words.push(reader.take('word'));
    return { line, words };
}

/** Every order of the sessions' steps that keeps each session's own order. */
export function interleavings(lists) {
    const open = lists.filter((list) => list.length > 0);

    if (open.length === 0)
        return [[]];
    return open.flatMap((list) => {
        const left = open.map((other) => (other === list ? other.slice(1) : other));
        return interleavings(left).map((rest) => [list[0], ...rest]);
    });
}

/** "a@decided" or "a|b" as a turn: { text, starts: [step], gate } or { text, go: step }. */
function parseTurn(spec, word, line) {
    const [names, mark] = word.split('@');
    const steps = names.split('|').map((name) => {
        const step = spec.steps.get(name);
        if (!step)
            throw new SpecError(line, `there is no step ${name}`);
        return step;
    });

    if (mark === undefined)
        return { text: word, starts: steps };
    if (steps.length > 1 || (mark !== 'go' && mark !== SENT && !GATES.has(mark)))
        throw new SpecError(line, `${word}: expected STEP, STEP@GATE, STEP@sent, STEP@go or STEP|STEP`);
    if (steps[0].action.smb)
        throw new SpecError(line, `${word}: gates are for requests`);
    return mark === 'go' ? { text: word, go: steps[0] } : { text: word, starts: steps, gate: mark };
}

/** A held step must be let go, a gate may hold one step, a held session can do nothing else. */
function checkTurns(turns, line) {
    const held = new Map();

    for (const turn of turns) {
        if (turn.go && !held.delete(turn.go))
            throw new SpecError(line, `${turn.text}: the step is not at a gate`);
        for (const step of turn.starts ?? []) {
            const busy = [...held.keys()].find((other) => other.session === step.session);
            if (busy)
                throw new SpecError(line, `${turn.text}: session ${step.session} is at a gate`);
        }
        if (turn.gate && [...held.values()].includes(turn.gate))
            throw new SpecError(line, `${turn.text}: go would let on two steps at one gate`);
        if (turn.gate)
            held.set(turn.starts[0], turn.gate);
    }
    if (held.size > 0)
        throw new SpecError(line, `nothing lets ${[...held.keys()][0].name} go`);
}

function holdsSyncer(turns) {
    return turns.some((turn) => turn.gate === 'applied' ||
        turn.starts?.some((step) => step.action.job === 'applied'));
}

function setsService({ method, path }) {
    return method === 'PUT' && path === '/';
}

/** What a permutation needs of the server: nothing special, gates (one permutation at a time can
 *  use them), or the server for itself, since a held syncer, a moved clock and what is set of a service
 *  are felt by all. */
function needs(spec, turns) {
    const steps = turns.flatMap((turn) => turn.starts ?? []).map((step) => step.action);
    const actions = [...spec.setup, ...steps, ...spec.always];

    if (holdsSyncer(turns) || actions.some((action) => action.clock || action.hold || action.job || setsService(action)))
        return 'alone';
    if (turns.some((turn) => turn.gate && turn.gate !== SENT) || actions.some((action) => action.collect || action.tasks))
        return 'gates';
    return 'nothing';
}

function usesSmb(spec, turns) {
    return [...spec.setup, ...turns.flatMap((turn) => turn.starts ?? []).map((step) => step.action), ...spec.always]
        .some((action) => action.smb);
}

function permutations(spec, declared) {
    const all = () => interleavings([...spec.sessions.values()])
        .map((steps) => steps.map((step) => ({ text: step.name, starts: [step] })));
    const wanted = declared.length > 0 ? declared : [{ words: ['all'] }];
    const lists = wanted.flatMap(({ line, words }) => {
        if (words.length === 1 && words[0] === 'all')
            return all();
        const turns = words.map((word) => parseTurn(spec, word, line));
        checkTurns(turns, line);
        return [turns];
    });

    return lists.map((turns) => ({
        name: turns.map((turn) => turn.text).join(' '), turns,
        needs: needs(spec, turns), holdsSyncer: holdsSyncer(turns), usesSmb: usesSmb(spec, turns),
    }));
}

/** Parses a spec's text. */
export function parseSpec(text) {
    const reader = new Reader(tokenize(text));
    const spec = { hierarchical: false, setup: [], sessions: new Map(), steps: new Map(), always: [] };
    const declared = [];
    let session = null;

    while (reader.next.kind !== 'end') {
        const { line } = reader;
        const keyword = reader.take('word', 'hierarchical, setup, session, step, always or permutation');
        if (keyword === 'hierarchical')
            spec.hierarchical = true;
        else if (keyword === 'setup')
            spec.setup = parseActions(reader);
        else if (keyword === 'always')
            spec.always = parseActions(reader);
        else if (keyword === 'permutation')
            declared.push(parsePermutation(reader));
        else if (keyword === 'session')
            spec.sessions.set(session = reader.take('word', 'a name'), []);
        else if (keyword === 'step' && session !== null) {
            const name = reader.take('word', 'a name');
            const actions = parseActions(reader);
            if (actions.length !== 1 || spec.steps.has(name))
                throw new SpecError(line, `step ${name}: it has its own name and one action`);
            const step = { name, session, action: actions[0] };
            spec.steps.set(name, step);
            spec.sessions.get(session).push(step);
        } else
            throw new SpecError(line, `nothing here begins with ${keyword}`);
    }
    spec.permutations = permutations(spec, declared);
    const names = spec.permutations.map((permutation) => permutation.name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined)
        throw new SpecError(reader.line, `permutation ${twice} is there twice`);
    return spec;
}
