// A plot of the last hour, or of the time since the server's start: lines over time, with the newest value in words.
import { useMemo } from 'preact/hooks';
import { minutesAgo } from './format.ts';

const WIDTH = 400;
const HEIGHT = 90;
const SPAN_MAX_S = 3600;
const SPAN_MIN_S = 120;

export interface Line {
    name: string;
    values: number[];
}

function pathOf(times: number[], values: number[], max: number, now: number, span: number): string {
    let path = '';
    let before = -Infinity;

    times.forEach((at, i) => {
        const x = WIDTH - ((now - at) / span) * WIDTH;
        const y = HEIGHT - ((values[i] ?? 0) / max) * (HEIGHT - 4);
        // A gap is one: the server did not run, or did not sample.
        path += `${at - before > 30 ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`;
        before = at;
    });
    return path;
}

export function Plot({ title, times, lines, show }: { title: string; times: number[]; lines: Line[]; show: (value: number) => string }) {
    const now = times.at(-1) ?? 0;
    const span = Math.min(SPAN_MAX_S, Math.max(SPAN_MIN_S, now - (times[0] ?? 0)));
    const max = Math.max(1e-9, ...lines.flatMap(({ values }) => values));
    const paths = useMemo(() => lines.map(({ values }) => pathOf(times, values, max, now, span)), [times, lines]);
    const newest = lines.map(({ name, values }) => `${lines.length > 1 ? `${name} ` : ''}${show(values.at(-1) ?? 0)}`);

    return <figure class="plot">
        <figcaption><h3>{title}</h3>
            <ul>{newest.map((text, i) => <li key={i}><span class={`key line-${i}`} aria-hidden="true" />{text}</li>)}</ul>
        </figcaption>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
            aria-label={`${title} in the last hour: now ${newest.join(', ')}; at most ${show(Math.max(0, ...lines.flatMap(({ values }) => values)))}`}>
            {paths.map((path, i) => <path key={i} class={`line-${i}`} d={path} />)}
        </svg>
        <p class="scale" aria-hidden="true"><span>{minutesAgo(span / 60)}</span><span>up to {show(Math.max(0, ...lines.flatMap(({ values }) => values)))}</span><span>now</span></p>
    </figure>;
}
