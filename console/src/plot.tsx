// A chart of figures over time: lines with axes, and the values at the pointer. Arrow keys move from sample to sample, too.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clock, clockSeconds, day, time } from './format.ts';

const HEIGHT = 150;
const [TOP, BOTTOM] = [8, 20];
const TICKS = 4;
const LABEL_PX = 6.4; /* of a character of a label on the left axis, about */
const X_TICK_PX = 80;
const DAY_S = 86400;
const STEPS_S = [10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, DAY_S, 2 * DAY_S, 7 * DAY_S];

/** Of a count, only whole numbers have ticks. */
export type Unit = 'count' | 'rate' | 'bytes' | 'microseconds';
const LEAST_STEP: Record<Unit, number> = { count: 1, rate: 0.1, bytes: 1, microseconds: 100 };
export interface Line {
    name: string;
    values: number[];
}
interface Scale {
    max: number;
    ticks: number[];
}

/** A scale from zero whose ticks are round numbers in the unit. */
export function scaleOf(max: number, unit: Unit): Scale {
    const base = unit === 'bytes' && max >= 1024 ? 1024 ** Math.floor(Math.log(max) / Math.log(1024)) : 1;
    const rough = Math.max(max / base / TICKS, LEAST_STEP[unit] / base);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = base * power * ([1, 2, ...unit === 'count' ? [] : [2.5], 5, 10].find((times) => times * power >= rough) ?? 10);
    const count = Math.max(1, Math.ceil(max / step));

    return { max: count * step, ticks: Array.from({ length: count + 1 }, (_, i) => i * step) };
}

/** Times for labels: round ones in local time, as many as fit. */
export function timeTicks(begin: number, end: number, count: number): number[] {
    const step = STEPS_S.find((one) => (end - begin) / one <= count) ?? STEPS_S.at(-1)!;
    const offset = -new Date(end * 1000).getTimezoneOffset() * 60;
    const ticks: number[] = [];

    for (let at = Math.ceil((begin + offset) / step) * step - offset; at <= end; at += step)
        ticks.push(at);
    return ticks;
}

function useWidth() {
    const ref = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(280);

    useEffect(() => {
        const observer = new ResizeObserver(([entry]) => setWidth(Math.max(160, Math.round(entry!.contentRect.width))));
        observer.observe(ref.current!);
        return () => observer.disconnect();
    }, []);
    return { ref, width };
}

/** Connects the samples of a line. A gap in time is a gap: the server was down, or took no samples. */
function pathOf(times: number[], values: number[], gap: number, x: (at: number) => number, y: (value: number) => number): string {
    let path = '';
    let before = -Infinity;

    times.forEach((at, i) => {
        path += `${at - before > gap ? 'M' : 'L'}${x(at).toFixed(1)},${y(values[i] ?? 0).toFixed(1)}`;
        before = at;
    });
    return path;
}

/** Where a label of the lower axis stands: below its tick, but for the edges, where it would be cut. */
function placeOf(x: number, right: number): { x: number; 'text-anchor': 'start' | 'middle' | 'end' } {
    if (x > right - X_TICK_PX / 2)
        return { x: right + 8, 'text-anchor': 'end' };
    return x < X_TICK_PX / 2 ? { x: Math.max(0, x - 8), 'text-anchor': 'start' } : { x, 'text-anchor': 'middle' };
}

/** show: a value in words. span: the seconds that the chart shows at least and at most. gap: longer pauses between samples are gaps. */
export function Plot({ title, times, lines, unit, show, span: [least, most], gap }: {
    title: string; times: number[]; lines: Line[]; unit: Unit; show: (value: number) => string; span: [number, number]; gap: number;
}) {
    const { ref, width } = useWidth();
    const [at, setAt] = useState<number>(); /* the time of the sample that is shown */
    const now = times.at(-1) ?? 0;
    const span = Math.min(most, Math.max(least, now - (times[0] ?? 0)));
    const highest = Math.max(0, ...lines.flatMap(({ values }) => values));
    const { max, ticks } = useMemo(() => scaleOf(highest, unit), [highest, unit]);
    const left = 10 + LABEL_PX * Math.max(...ticks.map((tick) => show(tick).length));
    const right = width - 10, bottom = HEIGHT - BOTTOM;
    const x = (when: number) => right - ((now - when) / span) * (right - left);
    const y = (value: number) => bottom - (value / max) * (bottom - TOP);
    const paths = useMemo(() => lines.map(({ values }) => pathOf(times, values, gap, x, y)), [times, lines, width, max]);
    const labels = times.length > 0 ? timeTicks(now - span, now, Math.max(1, Math.floor((right - left) / X_TICK_PX))) : [];
    const wordsOf = (i: number) => lines.map(({ name, values }) => `${lines.length > 1 ? `${name} ` : ''}${show(values[i] ?? 0)}`);
    const newest = wordsOf(times.length - 1);
    const shown = at === undefined ? -1 : times.indexOf(at);
    const labelOf = (when: number) => span > 2 * DAY_S ? day(new Date(when * 1000)) : span < 300 ? clockSeconds(new Date(when * 1000)) : clock(new Date(when * 1000));

    const point = ({ clientX, currentTarget }: PointerEvent & { currentTarget: SVGSVGElement }) => {
        const when = now - ((right - (clientX - currentTarget.getBoundingClientRect().left)) / (right - left)) * span;
        setAt(times.reduce<number | undefined>((best, one) => (best === undefined || Math.abs(one - when) < Math.abs(best - when) ? one : best), undefined));
    };
    const step = (event: KeyboardEvent) => {
        const by = ({ ArrowLeft: -1, ArrowRight: 1 } as Record<string, number>)[event.key];
        if (!by)
            return;
        event.preventDefault();
        setAt(times[Math.min(times.length - 1, Math.max(0, (shown < 0 ? times.length : shown) + by))]);
    };

    return <figure class="plot">
        <figcaption><h3>{title}</h3>
            <ul>{newest.map((text, i) => <li key={i}><span class={`key line-${i}`} aria-hidden="true" />{text}</li>)}</ul>
        </figcaption>
        <div ref={ref} class="chart">
            <svg width={width} height={HEIGHT} role="img" tabIndex={0} aria-label={`${title}: now ${newest.join(', ')}; at most ${show(highest)}`}
                onPointerMove={point} onPointerDown={point} onPointerLeave={() => setAt(undefined)} onKeyDown={step} onBlur={() => setAt(undefined)}>
                <g class="axis">
                    {ticks.map((tick) => <g key={tick} class="tick-y">
                        <line x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
                        <text x={left - 6} y={y(tick) + 4} text-anchor="end">{show(tick)}</text>
                    </g>)}
                    {labels.map((when) => <g key={when} class="tick-x">
                        <line x1={x(when)} x2={x(when)} y1={bottom} y2={bottom + 4} />
                        <text {...placeOf(x(when), right)} y={HEIGHT - 4}>{labelOf(when)}</text>
                    </g>)}
                </g>
                {paths.map((path, i) => <path key={i} class={`line-${i}`} d={path} />)}
                {shown >= 0 && <g class="cursor">
                    <line x1={x(at!)} x2={x(at!)} y1={TOP} y2={bottom} />
                    {lines.map(({ values }, i) => <circle key={i} class={`dot-${i}`} cx={x(at!)} cy={y(values[shown] ?? 0)} r="3.5" />)}
                </g>}
            </svg>
            {shown >= 0 && <div class={x(at!) > width / 2 ? 'tip at-left' : 'tip'} role="status">
                <strong>{time(new Date(at! * 1000))}</strong>
                <ul>{wordsOf(shown).map((text, i) => <li key={i}><span class={`key line-${i}`} aria-hidden="true" />{text}</li>)}</ul>
            </div>}
        </div>
    </figure>;
}
