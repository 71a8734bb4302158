// Mutations of C source, each a change within one line: `candidates(text)` lists them all.
//
// A candidate is { line, at, from, to, rule }: at offset `at` of the text, `from` becomes `to`. Text
// of comments, strings, characters, directives of the preprocessor and asserts is never changed, nor
// is what stands outside of functions: tables are data, and their tests are others.

/** The same text with blanks in the place of comments, literals and directives: offsets stay. */
export function masked(text) {
    const blank = (found) => found.replace(/[^\n]/g, ' ');

    return text.replace(/\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm,
        blank);
}

/** [from, to] of the bodies of functions: a brace in the first column begins one and ends it. */
function bodies(code) {
    return [...code.matchAll(/^\{\n[^]*?^\}/gm)].map((found) => [found.index, found.index + found[0].length]);
}

/* What is only said, or only makes things faster: a change shows to nobody. */
const NOT_JUDGED = /\b(?:\w+_)?assert(?:_\w+)?\(|\blog_\w+\(|\bgate_|__builtin_(?:expect|prefetch)|_Static_assert|^\s*for \(;;\)/;

/* Each: its name, what it looks for in masked code, and what that becomes. The first group of the
 * pattern, where it has one, is what is replaced. */
const RULES = [
    ['comparison', / (<=?|>=?) (?!<|>)/g, (op) => ({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' })[op]],
    ['equality', / (==|!=) /g, (op) => (op === '==' ? '!=' : '==')],
    ['logic', / (&&|\|\|) /g, (op) => (op === '&&' ? '||' : '&&')],
    ['sign', /[\w)\]] ([+-]) [\w(]/g, (op) => (op === '+' ? '-' : '+')],
    ['bits', / ([&|]) [\w(~]/g, (op) => (op === '&' ? '|' : '&')],
    ['negation', /[( ](!)[\w(]/g, () => ''],
    ['condition', /\bif \((?=.*\)$)(.+)(?=\)$)/gm, (condition) => `!(${condition})`],
    ['number', /[^\w.](\d+)(?![\w.])/g, (digits) => String(BigInt(digits) + 1n)],
    ['truth', /\b(true|false)\b/g, (word) => (word === 'true' ? 'false' : 'true')],
    ['step', /(\+\+|--)/g, (op) => (op === '++' ? '--' : '++')],
    ['call left out', /^ +([a-z_]\w*\([^;\n]*\);)$/gm, () => ';'],
    ['assignment left out', /^ +([a-z_*(][\w>.*()[\]-]*(?:->|\.)[\w>.[\]-]* [|&+-]?= [^;\n]*;)$/gm, () => ';'],
    ['jump left out', /^ +(break;|continue;|return;)$/gm, () => ';'],
    ['error passed over', /^ +(return (?:e|result|E_\w+|STORE_\w+);)$(?!\n\})/gm, () => ';'],
];

export function candidates(text) {
    const code = masked(text);
    const inBody = bodies(code);
    const lineOf = (at) => text.slice(0, at).split('\n').length;
    const lineText = (at) => text.slice(text.lastIndexOf('\n', at) + 1, (text.indexOf('\n', at) + 1 || text.length + 1) - 1);
    const found = [];

    for (const [rule, pattern, change] of RULES)
        for (const match of code.matchAll(pattern)) {
            const at = match.index + match[0].indexOf(match[1]);
            const from = text.slice(at, at + match[1].length);

            if (inBody.some(([begin, end]) => at > begin && at < end) && !NOT_JUDGED.test(lineText(at)) && !from.includes('\n'))
                found.push({ line: lineOf(at), at, from, to: change(from), rule });
        }
    return found.sort((a, b) => a.at - b.at);
}

export function mutated(text, { at, from, to }) {
    if (text.slice(at, at + from.length) !== from)
        throw new Error(`no "${from}" at ${at}`);
    return text.slice(0, at) + to + text.slice(at + from.length);
}

/** The line as it was and as it is, for people. */
export function shown(text, candidate) {
    const line = (whole) => whole.split('\n')[candidate.line - 1].trim();

    return `${line(text)}  ->  ${line(mutated(text, candidate))}`;
}
