import type { NetworkState } from '../state/state.ts';
import type { Effect } from './effect.ts';
import { routeText } from './routes.ts';
import { effectTexts } from './rows.ts';

/** Rows of each side that a title names; the others are counted. */
const MAX_ROWS = 2;
const MAX_SIDE_LENGTH = 200;

/** Facts of a title that the pairs of an effect do not show. */
interface TitleAdditions {
  /** Sentences on connections that open later or for devices that join later. */
  readonly later?: readonly string[];
  /** Controls of frameworks that fail then. */
  readonly failing?: readonly string[];
  /** Sentences without a subject on what changes beside connections. */
  readonly lead?: readonly string[];
  /** Words for when it opens and closes; empty for now. */
  readonly when?: string;
  /** Terms by which peers are described first. */
  readonly named?: readonly string[];
}

/**
 * An effect in one line: `Opens TCP 5432 from role=web (4 peers) to db-1, db-2; closes nothing.` What is wider than its pairs
 * of peers is never left to the warnings: addresses that are let in come first, and what opens later and the controls that fail are said too.
 * What begins later is said to: `Then opens …`. Route changes come before all: `Adds the network lab with the block 10.97.0.0/24; opens nothing; closes nothing.`
 */
export function effectTitle(
  effect: Effect,
  after: NetworkState,
  { later = [], failing = [], lead = [], when = '', named = [] }: TitleAdditions = {},
): string {
  const opensLater = later.length === 0 ? '' : `; ${cut(shortList(later, 1))}`;
  const fails = failing.length === 0 ? '' : `; fails ${shortList(failing, MAX_ROWS)}`;
  const unknown = effect.outside === undefined ? '; addresses outside of the network are not compared' : '';
  const side = (of: 'opened' | 'closed') => sideText(effect, of, after, named);
  const first = [...effect.routes.map(routeText), ...lead];
  const start = first.length === 0 ? '' : `${shortList(first, MAX_ROWS)}; `;
  const text = `${start}${when}opens ${side('opened')}${opensLater}; closes ${side('closed')}${fails}${unknown}.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function sideText(effect: Effect, side: 'opened' | 'closed', after: NetworkState, named: readonly string[]): string {
  const order = side === 'opened' ? 'let in first' : 'outside last';
  const { rows, omittedRows } = effectTexts(effect, side, after, { limit: MAX_ROWS, order, named });
  if (rows.length === 0) return 'nothing';
  const texts = rows.map(({ from, to, shortPorts }) => `${shortPorts} from ${from} to ${to}`);
  const more = omittedRows > 0 ? [`${omittedRows} more`] : [];
  return [cut(texts.join(', and ')), ...more].join(', and ');
}

function shortList(texts: readonly string[], limit: number): string {
  const left = texts.length - limit;
  return [texts.slice(0, limit).join(', '), ...(left > 0 ? [`${left} more`] : [])].join(', and ');
}

function cut(text: string): string {
  return text.length > MAX_SIDE_LENGTH ? `${text.slice(0, MAX_SIDE_LENGTH)}…` : text;
}
