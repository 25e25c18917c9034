import { formatInstant, parseInstant } from '../../base/time.ts';
import type { ControlResult } from '../../compliance/control-result.ts';
import type { Assessment } from './about.ts';
import { html, type Markup } from './html.ts';

/** In units of the drawing. */
const WIDTH = 800;
const NAMES = 210;
const ROW = 18;
const BAR = 10;
/** So that a moment is seen. */
const THINNEST = 2;
const TICKS = 5;

/** When each control failed, as bars over the period; nothing where no interval is known. */
export function failingTimes({ controls, period_start: start, period_end: end }: Assessment): Markup {
  const rows = controls.filter(({ failing }) => failing.length > 0);
  const [from, to] = [parseInstant(start), parseInstant(end)];
  if (rows.length === 0 || !(to > from)) return html``;
  const x = (at: number) => NAMES + ((WIDTH - NAMES) * (Math.min(Math.max(at, from), to) - from)) / (to - from);
  const height = rows.length * ROW + 24;
  const label = `When ${rows.length} controls failed between ${start} and ${end}. The result of each control has the same as a table.`;
  return html`<h2>When controls failed</h2>
<svg class="times" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">
${rows.map((control, index) => barsOf(control, index * ROW, x))}${ticks(from, to, rows.length * ROW, x)}</svg>
`;
}

function barsOf({ id, failing }: ControlResult, y: number, x: (at: number) => number): Markup {
  const bars = failing.map((interval) => {
    const [left, right] = [x(parseInstant(interval.from)), x(parseInstant(interval.to))];
    const width = Math.max(THINNEST, right - left);
    const title = `${interval.from} to ${interval.to}`;
    return html`<rect class="failed" x="${rounded(Math.min(left, WIDTH - width))}" y="${y + 4}" width="${rounded(width)}" height="${BAR}"><title>${title}</title></rect>`;
  });
  return html`<text x="0" y="${y + 13}">${id}</text><rect class="known" x="${NAMES}" y="${y + 4}" width="${WIDTH - NAMES - 1}" height="${BAR}"/>${bars}
`;
}

/** Days below the bars. */
function ticks(from: number, to: number, y: number, x: (at: number) => number): Markup[] {
  return Array.from({ length: TICKS }, (_, index) => {
    const at = from + ((to - from) * index) / (TICKS - 1);
    const anchor = index === 0 ? 'start' : index === TICKS - 1 ? 'end' : 'middle';
    const left = rounded(Math.min(x(at), WIDTH - 1));
    return html`<line class="axis" x1="${left}" x2="${left}" y1="0" y2="${y + 4}"/><text class="quiet" x="${left}" y="${y + 18}" text-anchor="${anchor}">${formatInstant(at).slice(0, 10)}</text>
`;
  });
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
