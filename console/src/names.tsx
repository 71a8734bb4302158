// Names and other strings that clients choose. Characters that a reader would not see are marked: bidirectional controls,
// zero-width characters, control characters, unusual blanks, blanks at either end of a path's part and double blanks. The element's text stays
// the name itself, so a copied name is exact. decision: 918
import type { ComponentChildren } from 'preact';

const KNOWN: Record<number, string> = {
    0x09: 'tab', 0x0a: 'line feed', 0x0d: 'carriage return', 0x20: 'space', 0xa0: 'no-break space', 0xad: 'soft hyphen', 0x061c: 'Arabic letter mark', 0x200b: 'zero width space',
    0x200c: 'zero width non-joiner', 0x200d: 'zero width joiner', 0x200e: 'left-to-right mark', 0x200f: 'right-to-left mark', 0x202a: 'left-to-right embedding',
    0x202b: 'right-to-left embedding', 0x202c: 'pop directional formatting', 0x202d: 'left-to-right override', 0x202e: 'right-to-left override', 0x2060: 'word joiner',
    0x2066: 'left-to-right isolate', 0x2067: 'right-to-left isolate', 0x2068: 'first strong isolate', 0x2069: 'pop directional isolate', 0xfeff: 'zero width no-break space',
};
/* The last three: a joiner within an emoji and its style are part of what is seen, all other joiners and styles are not. */
const HIDDEN = new RegExp([
    '(?:^|(?<=/)) +', ' +(?=$|/)', ' {2,}', '[\\p{Cc}\\p{Zl}\\p{Zp}\\p{Co}\\p{Cs}]', '(?! )\\p{Zs}', '[\\u034F\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u3164\\uFFA0\\u{E0100}-\\u{E01EF}\\uFE00-\\uFE0E]',
    '(?!\\u200D)\\p{Cf}', '(?<![\\p{Extended_Pictographic}\\u{1F3FB}-\\u{1F3FF}\\uFE0F])\\u200D', '\\u200D(?!\\p{Extended_Pictographic})', '(?<![\\p{Extended_Pictographic}#*0-9])\\uFE0F',
].join('|'), 'gu');

const codeOf = (character: string) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** Splits a string into parts that are seen and single characters that are not. */
function partsOf(text: string): { text: string; isHidden: boolean }[] {
    const parts: { text: string; isHidden: boolean }[] = [];
    let end = 0;

    for (const { 0: found, index } of text.matchAll(HIDDEN)) {
        if (index > end)
            parts.push({ text: text.slice(end, index), isHidden: false });
        parts.push(...[...found].map((character) => ({ text: character, isHidden: true })));
        end = index + found.length;
    }
    if (end < text.length)
        parts.push({ text: text.slice(end), isHidden: false });
    return parts;
}

/** The string as plain text, for labels and tooltips: "a[U+202E]b". */
export const visible = (text: string) => partsOf(text).map((part) => (part.isHidden ? `[${codeOf(part.text)}]` : part.text)).join('');

export function Name({ of }: { of: string }) {
    const parts = partsOf(of);

    if (parts.every(({ isHidden }) => !isHidden))
        return <>{of}</>;
    return <>{parts.map(({ text, isHidden }, i): ComponentChildren => {
        if (!isHidden)
            return text;
        const code = codeOf(text), known = KNOWN[text.codePointAt(0)!];
        return <span key={i} class="hidden-char" role="img" data-code={text === ' ' ? 'space' : code} aria-label={known ? `${code} ${known}` : code} title={known ? `${code} ${known}` : code}>{text}</span>;
    })}</>;
}
