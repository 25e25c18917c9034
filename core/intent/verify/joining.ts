import { type Future, type Opening, ofNewcomers } from '../../authority/future.ts';
import { type PortSpan, spanText } from '../../effect/port-spans.ts';

/** Connections that are named as examples. */
const MAX_EXAMPLES = 3;

/** What a change opens from and to devices that join later, as sentences, in the first view that opens some. */
export function joiningTexts({ views, newcomers }: Future): readonly string[] {
  if (!newcomers) return [TOO_MANY];
  for (const { effect } of views) {
    const texts = textsOf(ofNewcomers(effect, newcomers), newcomers);
    if (texts.length > 0) return texts;
    if (effect.outside === undefined) return [OUTSIDE_UNKNOWN];
  }
  return [];
}

const TOO_MANY = 'more kinds of devices may join later than can be tried: by their labels, addresses and networks';
const OUTSIDE_UNKNOWN =
  'it touches more ranges of addresses outside of the network than can be compared for devices that join later';

function textsOf({ groups, outside = [] }: Opening, newcomers: ReadonlyMap<string, string>): string[] {
  const isNew = (name: string) => newcomers.has(name);
  const texts = new Set<string>();
  const say = (src: readonly string[], dst: readonly string[], ports: readonly PortSpan[]) => {
    const [from, to] = [partOf(src, isNew), partOf(dst, isNew)];
    const other = to.find((name) => name !== from[0]);
    if (from[0] === undefined || other === undefined) return;
    const more = isNew(other) ? [] : to.slice(1);
    const called = (names: readonly string[]) => listed(names.map((name) => newcomers.get(name) ?? name));
    texts.add(`${called(from)} reaches ${called([other, ...more])} on ${spanText(ports)}`);
  };
  for (const { src, dst, opened } of groups) {
    if (src.some(isNew)) say(src.filter(isNew).slice(0, 1), dst, opened);
    else say(src, dst.filter(isNew), opened);
  }
  for (const { side, names, peers, opened } of outside) {
    const [from, to] = side === 'src' ? [names, peers.filter(isNew)] : [peers.filter(isNew).slice(0, 1), names];
    say(from, to, opened);
  }
  const all = [...texts];
  const left = all.length - MAX_EXAMPLES;
  return left > 0 ? [...all.slice(0, MAX_EXAMPLES), `and so for ${left} more`] : all;
}

/** Of those that are there and those that are not, who is named: those that are there, if any. */
function partOf(names: readonly string[], isNew: (name: string) => boolean): readonly string[] {
  const there = names.filter((name) => !isNew(name));
  return there.length > 0 ? there : names;
}

function listed([first = '', ...more]: readonly string[]): string {
  return more.length > 0 ? `${first} and ${more.length} more` : first;
}
