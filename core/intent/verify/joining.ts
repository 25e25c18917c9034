import { type Future, ofNewcomers } from '../../authority/future.ts';
import type { EffectSide } from '../../effect/effect.ts';
import { spanText } from '../../effect/port-spans.ts';
import { listed, type Named, type Unnamed, unnamedIn } from './excess.ts';

/** Connections that are named as examples. */
const MAX_EXAMPLES = 3;

const SENTENCES = {
  opened: (from, to) => `${from} reaches ${to}`,
  closed: (from, to) => `it would close ${from} to ${to}`,
} as const satisfies Record<EffectSide, (from: string, to: string) => string>;

/**
 * What a change opens, or closes, from and to devices that join later and nothing names, as sentences, in the first view
 * with some. That it could not be tried is said of what it opens alone, once for both.
 */
export function joiningTexts(future: Future, side: EffectSide, named: readonly Named[]): readonly string[] {
  const { newcomers } = future;
  const unknown = (text: string) => (side === 'opened' ? [text] : []);
  if (!newcomers) return unknown(TOO_MANY);
  for (const view of future[side].views) {
    const texts = textsOf(unnamedIn(ofNewcomers(view, side, newcomers), side, named), side, newcomers);
    if (texts.length > 0) return texts;
    if (view.effect.outside === undefined) return unknown(OUTSIDE_UNKNOWN);
  }
  return [];
}

const TOO_MANY = 'more kinds of devices may join later than can be tried: by their labels, addresses and networks';
const OUTSIDE_UNKNOWN =
  'it touches more ranges of addresses outside of the network than can be compared for devices that join later';

function textsOf(rows: Iterable<Unnamed>, side: EffectSide, newcomers: ReadonlyMap<string, string>): string[] {
  const called = (names: readonly string[]) => listed(names.map((name) => newcomers.get(name) ?? name));
  const texts = new Set<string>();
  for (const row of rows) {
    const [from, to] = endsOf(row, (name) => newcomers.has(name)) ?? [];
    if (from && to) texts.add(`${SENTENCES[side](called(from), called(to))} on ${spanText(row.ports)}`);
  }
  const all = [...texts];
  const left = all.length - MAX_EXAMPLES;
  return left > 0 ? [...all.slice(0, MAX_EXAMPLES), `and so for ${left} more`] : all;
}

type IsNew = (name: string) => boolean;

/** Who is told of: one who is not there yet, with all of those that are, if any. */
function endsOf({ src, dst }: Unnamed, isNew: IsNew): readonly [readonly string[], readonly string[]] | undefined {
  const [fromThere, toThere] = [src, dst].map((names) => names.filter((name) => !isNew(name)));
  for (const from of src.filter(isNew).slice(0, 2)) {
    const to = toThere?.length ? toThere : dst.filter((name) => name !== from).slice(0, 1);
    if (to.length > 0) return [[from], to];
  }
  const to = dst.filter(isNew).slice(0, 1);
  return fromThere?.length && to.length > 0 ? [fromThere, to] : undefined;
}
