import { FAMILIES } from './case.ts';
import type { Trial } from './score.ts';

/** The trials of one planner on one set of cases. */
export interface Section {
  readonly title: string;
  readonly trials: readonly Trial[];
}

export interface Row {
  readonly family: string;
  readonly trials: number;
  readonly exact: number;
  readonly safe: number;
  /** Clear ones that were planned exactly. */
  readonly clear: readonly [exact: number, of: number];
  /** Ones that must be asked about or refused, and were. */
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

function clearOf(trials: readonly Trial[]): [number, number] {
  const clear = trials.filter(({ gold }) => typeof gold !== 'string');
  return [clear.filter(({ exact }) => exact).length, clear.length];
}

const HEAD = [
  'Family',
  'Intents',
  'Exact effect',
  'Safe',
  'Clear: exact',
  'Asked where it must',
  'Refused where it must',
];

function cellsOf({ family, trials, exact, safe, clear, mustAsk, mustRefuse }: Row): string[] {
  const share = ([right, of]: readonly [number, number]) => (of === 0 ? '–' : `${right}/${of}`);
  return [
    family,
    `${trials}`,
    percent(exact, trials),
    percent(safe, trials),
    share(clear),
    share(mustAsk),
    share(mustRefuse),
  ];
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

/** Returns the report as Markdown. */
export function markdownReport(sections: readonly Section[]): string {
  return [
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
