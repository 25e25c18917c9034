import { type Future, withFuturePeers } from '../../authority/future.ts';
import type { EffectSide } from '../../effect/effect.ts';
import { counted } from '../../effect/markdown.ts';
import { spanText } from '../../effect/port-spans.ts';
import type { NetworkState } from '../../state/state.ts';
import { listed, type Named, type Unnamed, unnamedIn } from './excess.ts';

/** Connections that are named as examples. */
const MAX_EXAMPLES = 3;

const SENTENCES = {
  opened: (from, to) => `${from} reaches ${to}`,
  closed: (from, to) => `it would close ${from} to ${to}`,
} as const satisfies Record<EffectSide, (from: string, to: string) => string>;

/**
 * Returns sentences on unnamed connections from and to future peers that a change opens, or closes, in the first view that has
 * any. A failure to compute them is reported for the opened side alone, once for both.
 */
export function joiningTexts(future: Future, side: EffectSide, named: readonly Named[]): readonly string[] {
  const { newcomers } = future;
  const unknown = (text: string) => (side === 'opened' ? [text] : []);
  if (!newcomers) return unknown(TOO_MANY);
  for (const view of future[side].views) {
    const texts = textsOf(unnamedIn(withFuturePeers(view, side, newcomers), side, named), side, newcomers);
    if (texts.length > 0) return texts;
    if (view.effect.outside === undefined) return unknown(OUTSIDE_UNKNOWN);
  }
  return [];
}

/** Returns true if orders name all that a change opens from and to devices that join later. */
export function opensAsOrdered(
  future: Future,
  named: (side: EffectSide, on: NetworkState) => readonly Named[],
): boolean {
  const [first] = future.opened.views;
  return first === undefined || joiningTexts(future, 'opened', named('opened', first.after)).length === 0;
}

const TOO_MANY = 'more kinds of devices may join later than can be tried: by their labels, addresses and networks';
const OUTSIDE_UNKNOWN =
  'it touches more ranges of addresses outside of the network than can be compared for devices that join later';

function textsOf(rows: Iterable<Unnamed>, side: EffectSide, newcomers: ReadonlyMap<string, string>): string[] {
  const called = (names: readonly string[]) => listed(names.map((name) => newcomers.get(name) ?? name));
  const texts = new Set<string>();
  for (const row of rows) {
    const ends = endsOf(row, (name) => newcomers.has(name));
    if (!ends) continue;
    const to = `${called(ends.to)}${ends.isToOthers ? ' and other devices that join later' : ''}`;
    const more = ends.more > 0 ? `, and so for ${counted(ends.more, 'more kind')} of devices` : '';
    texts.add(`${SENTENCES[side](called(ends.from), to)} on ${spanText(row.ports)}${more}`);
  }
  const all = [...texts];
  const left = all.length - MAX_EXAMPLES;
  return left > 0 ? [...all.slice(0, MAX_EXAMPLES), `and so for ${left} more`] : all;
}

type IsNew = (name: string) => boolean;

interface ToldEnds {
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** True where it also holds for devices that join later, besides those in `to`. */
  readonly isToOthers: boolean;
  /** Kinds of devices that it holds for as well, on the side of the one that is told. */
  readonly more: number;
}

/** Returns the ends to report: one future peer with all current peers on the other end, if any. */
function endsOf({ src, dst }: Unnamed, isNew: IsNew): ToldEnds | undefined {
  const [fromThere = [], toThere = []] = [src, dst].map((names) => names.filter((name) => !isNew(name)));
  const [fromNew = [], toNew = []] = [src, dst].map((names) => names.filter(isNew));
  for (const from of fromNew.slice(0, 2)) {
    const others = dst.filter((name) => name !== from);
    const to = toThere.length > 0 ? toThere : others.slice(0, 1);
    const isToOthers = toThere.length > 0 && others.some(isNew);
    if (to.length > 0) return { from: [from], to, isToOthers, more: kindsIn(fromNew) - 1 };
  }
  const to = toNew.slice(0, 1);
  if (fromThere.length === 0 || to.length === 0) return undefined;
  return { from: fromThere, to, isToOthers: false, more: kindsIn(toNew) - 1 };
}

/** Two devices of one kind stand for all of them. */
function kindsIn(names: readonly string[]): number {
  return new Set(names.map((name) => name.replace(/^every other /, 'every '))).size;
}
