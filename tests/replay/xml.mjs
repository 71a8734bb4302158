// The XML of an answer as its elements in their order: their shape, and the values of the leaves.

/** [name, attributes, children, text] of the document's outermost elements, without those that
 *  `isLeftOut` names; null when the text ends before its elements do (a recording that was cut). */
export function elementsOf(xml, isLeftOut = () => false) {
    const root = ['', '', [], ''];
    const open = [root];
    const tag = /<(?:\?[^>]*\?|(\/?)([\w.-]+)([^<>]*?)(\/?))>([^<]*)/g;

    for (const [, closing, name, attributes, empty, text] of xml.matchAll(tag)) {
        if (name === undefined)
            continue;
        if (closing) {
            if (open.at(-1)[0] !== name)
                return null;
            const closed = open.pop();
            if (!isLeftOut(name))
                open.at(-1)[2].push(closed);
        } else if (empty) {
            if (!isLeftOut(name))
                open.at(-1)[2].push([name, attributes.trim(), [], '']);
        } else {
            open.push([name, attributes.trim(), [], text]);
        }
    }
    return open.length === 1 ? root[2] : null;
}

/** The elements' names as nested lists: "a(b c)". Of equal neighbours one is kept: how many blobs a
 *  list has depends on the account. */
export function shapeOf(elements) {
    const shown = [];

    for (const [name, , children] of elements) {
        const one = children.length === 0 ? name : `${name}(${shapeOf(children)})`;
        if (one !== shown.at(-1))
            shown.push(one);
    }
    return shown.join(' ');
}

const NAMED = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const unescaped = (text) => text.replace(/&(#x[0-9a-f]+|#\d+|lt|gt|quot|apos|amp);/gi, (all, what) => {
    if (!what.startsWith('#'))
        return NAMED[what];
    return String.fromCodePoint(what[1] === 'x' ? parseInt(what.slice(2), 16) : Number(what.slice(1)));
});

/** Every element without children and every attribute: [path, value] in order. */
export function valuesOf(elements, above = '') {
    return elements.flatMap(([name, attributes, children, text]) => {
        const path = above ? `${above}/${name}` : name;
        const given = [...attributes.matchAll(/([\w:.-]+)="([^"]*)"/g)]
            .map(([, attribute, value]) => [`${path}@${attribute}`, unescaped(value)]);
        const own = children.length === 0 ? [[path, unescaped(text)]] : [];
        return [...given, ...own, ...valuesOf(children, path)];
    });
}
