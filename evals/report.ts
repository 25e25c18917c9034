import { FAMILIES } from './case.ts';
import type { Trial } from './score.ts';

/** The trials of one planner on one set of cases. */
export interface Section {
  readonly title: string;
  readonly trials: readonly Trial[];
}

/** How and when the figures came to be. */
export interface Provenance {
  readonly command: string;
  readonly date: string;
  readonly commit: string;
  readonly node: string;
}

export interface Row {
  readonly family: string;
  readonly trials: number;
  readonly exact: number;
  readonly safe: number;
  /** Of the clear ones, how many were planned exactly: at once, and at once or by a choice that was offered. */
  readonly clear: readonly [exact: number, byChoice: number, of: number];
  /** Of those that must be asked about or refused, how many were. */
  readonly mustAsk: readonly [right: number, of: number];
  readonly mustRefuse: readonly [right: number, of: number];
}

/** One row for each family that has trials, and one for all of them. */
export function rowsOf(trials: readonly Trial[]): Row[] {
  const families = FAMILIES.filter((family) => trials.some((trial) => trial.family === family));
  return [
    ...families.map((family) =>
      rowOf(
        family,
        trials.filter((trial) => trial.family === family),
      ),
    ),
    rowOf('all', trials),
  ];
}

function rowOf(family: string, trials: readonly Trial[]): Row {
  const share = (gold: string): [number, number] => {
    const meant = trials.filter((trial) => trial.gold === gold);
    return [meant.filter(({ exact }) => exact).length, meant.length];
  };
  return {
    family,
    trials: trials.length,
    exact: trials.filter(({ exact }) => exact).length,
    safe: trials.filter(({ safe }) => safe).length,
    clear: clearOf(trials),
    mustAsk: share('ask'),
    mustRefuse: share('refuse'),
  };
}

function clearOf(trials: readonly Trial[]): [number, number, number] {
  const clear = trials.filter(({ gold }) => typeof gold !== 'string');
  return [clear.filter(({ exact }) => exact).length, clear.filter((one) => one.exactByChoice).length, clear.length];
}

const HEAD = [
  'Family',
  'Intents',
  'Exact effect',
  'Safe',
  'Clear: exact at once',
  'Clear: or by a choice',
  'Asked where it must',
  'Refused where it must',
];

function cellsOf({ family, trials, exact, safe, clear, mustAsk, mustRefuse }: Row): string[] {
  const [atOnce, byChoice, ofClear] = clear;
  const share = ([right, of]: readonly [number, number]) => (of === 0 ? '–' : `${right}/${of}`);
  return [
    family,
    `${trials}`,
    percent(exact, trials),
    percent(safe, trials),
    share([atOnce, ofClear]),
    share([byChoice, ofClear]),
    share(mustAsk),
    share(mustRefuse),
  ];
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

/** The report as Markdown. */
export function markdownReport(sections: readonly Section[], { command, date, commit, node }: Provenance): string {
  return [
    '# Evals',
    '',
    `\`${command}\` on ${date}, commit ${commit}, ${node}. What the columns mean stands in [README.md](README.md).`,
    '',
    ...sections.flatMap(({ title, trials }) => [
      `## ${title}`,
      '',
      row(HEAD),
      row(HEAD.map((_, index) => (index === 0 ? '---' : '---:'))),
      ...rowsOf(trials).map((one) => row(cellsOf(one))),
      '',
      ...flawsOf(trials),
    ]),
  ].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function flawsOf(trials: readonly Trial[]): string[] {
  const flawed = trials.filter(({ exact }) => !exact);
  if (flawed.length === 0) return ['Every intent has exactly its effect.', ''];
  return [
    `Not exact (${flawed.length}):`,
    '',
    ...flawed.map(
      ({ family, network, says, safe, flaw = '' }) =>
        `- ${family}, ${network}: ${code(says)}${safe ? '' : ' **unsafe**'}: ${plain(flaw)}`,
    ),
    '',
  ];
}

function code(text: string): string {
  return `\`${plain(text).replaceAll('`', "'")}\``;
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '/').replaceAll('<', '&lt;');
}

/** The same as one page without anything else to load. */
export function htmlReport(sections: readonly Section[], { command, date, commit, node }: Provenance): string {
  const body = sections.map(({ title, trials }) => {
    const flawed = trials.filter(({ exact }) => !exact);
    const rows = rowsOf(trials).map(
      (one) =>
        `<tr>${cellsOf(one)
          .map((cell) => `<td>${escaped(cell)}</td>`)
          .join('')}</tr>`,
    );
    const flaws = flawed.map(
      ({ family, network, says, safe, flaw = '' }) =>
        `<li${safe ? '' : ' class="unsafe"'}><b>${escaped(family)}</b>, ${escaped(network)}: <q>${escaped(says)}</q><br><small>${escaped(flaw)}</small></li>`,
    );
    return `<h2>${escaped(title)}</h2><table><thead><tr>${HEAD.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>${
      flaws.length > 0
        ? `<p>Not exact (${flaws.length}):</p><ul>${flaws.join('')}</ul>`
        : '<p>Every intent has exactly its effect.</p>'
    }`;
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mesh: evals</title><style>${STYLE}</style><h1>Evals of the intent planner</h1><p><code>${escaped(command)}</code> on ${escaped(date)}, commit ${escaped(commit)}, ${escaped(node)}.</p>${body.join('')}</html>\n`;
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2330;background:#fff}table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;border-bottom:1px solid #d5dae3;text-align:right}td:first-child,th:first-child{text-align:left}tbody tr:last-child{font-weight:600}.unsafe{color:#a4001d}small{color:#5a6475}@media(prefers-color-scheme:dark){body{color:#e4e8ef;background:#12161d}td,th{border-color:#303847}.unsafe{color:#ff8095}small{color:#9aa5b8}}';

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
