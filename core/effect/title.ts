import type { NetworkState } from '../state/state.ts';
import type { Effect } from './effect.ts';
import { effectTexts } from './rows.ts';

/** Rows of each side that a title names; the others are counted. */
const MAX_ROWS = 2;
const MAX_SIDE_LENGTH = 200;

/** An effect in one line: `Opens TCP 5432 from role=web (4 peers) to db-1, db-2; closes nothing.` */
export function effectTitle(effect: Effect, after: NetworkState): string {
  const unknown = effect.outside === undefined ? '; addresses outside of the network are not compared' : '';
  return `Opens ${sideText(effect, 'opened', after)}; closes ${sideText(effect, 'closed', after)}${unknown}.`;
}

function sideText(effect: Effect, side: 'opened' | 'closed', after: NetworkState): string {
  const { rows, omittedRows } = effectTexts(effect, side, after, MAX_ROWS);
  if (rows.length === 0) return 'nothing';
  const texts = rows.map(({ from, to, shortPorts }) => `${shortPorts} from ${from} to ${to}`);
  const more = omittedRows > 0 ? [`${omittedRows} more`] : [];
  const text = texts.join(', and ');
  const short = text.length > MAX_SIDE_LENGTH ? `${text.slice(0, MAX_SIDE_LENGTH)}…` : text;
  return [short, ...more].join(', and ');
}
