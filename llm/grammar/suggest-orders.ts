import { type Frame, type Group, isEmpty, isLikeName } from './suggest-frame.ts';

/** What an intent asks for as far as it is understood, and its words that no order accounts for. */
export interface Orders {
  readonly frames: readonly Frame[];
  readonly unknown: readonly string[];
}

/** Puts together what belongs together: what "it" is, what stays open of what is isolated, ports said in a sentence of their own. */
export function ordersOf(all: readonly Frame[]): Orders | undefined {
  const frames: Frame[] = [];
  const aside: string[] = [];
  let named: readonly Group[] = [];
  for (const frame of all) {
    const last = frames.at(-1);
    if (isAside(frame)) {
      aside.push(...strayOf(frame));
      if (frame.ports.length > 0 && last && !hasPorts(last)) last.ports.push(...frame.ports);
      else if (frame.elseClosed && last) last.elseClosed = true;
      if (frame.elseStays && last) last.elseStays = true;
      if (isRestricted(frame)) return undefined;
      continue;
    }
    if (frame.pronoun && frame.sources.length === 0)
      frame.sources.push(...(named.length > 0 ? named : (last?.sources ?? [])));
    if (last?.isolated !== undefined && addSpared(last, frame)) continue;
    if (last && goesOn(last, frame)) {
      frames.pop();
      frame.unknown.push(...last.unknown);
    }
    named = frame.sources;
    if (isRestricted(frame)) return undefined;
    frames.push(frame);
  }
  const wanted = withoutReasons(frames);
  const left = frames.filter((frame) => !wanted.includes(frame));
  const strange = wanted.some((frame) => frame.unknown.some(isLikeName));
  const restricts = left.some((frame) => isLimited(frame) || (frame.polarity === 'close' && !frame.report));
  if (wanted.length === 0 || strange || restricts) return undefined;
  const unknown = [...aside, ...wanted.flatMap(strayOf), ...left.map(({ text }) => text)];
  // What opens something to everyone is never put together from words that were not understood.
  const isWide = wanted.some(
    ({ polarity, sources }) => polarity !== 'close' && sources.some(({ says }) => says === 'everyone'),
  );
  return isWide && unknown.length > 0 ? undefined : { frames: wanted, unknown: [...new Set(unknown)] };
}

/** Words that say what is to be closed besides what is opened; a choice may leave them out where it is closed already. */
const STRESS: ReadonlySet<string> = new Set(['NOTHING_ELSE', 'TO_NOBODY_ELSE', 'ELSE_CLOSED']);

function strayOf({ unknown, lost }: Frame): string[] {
  return [...unknown, ...lost.filter(({ sym }) => sym && STRESS.has(sym))].map(({ text }) => text);
}

function isRestricted({ lost, time, polarity }: Frame): boolean {
  return time === '' || lost.some(({ sym }) => !(sym && STRESS.has(sym) && polarity === 'open'));
}

/** Whether a clause names nobody, and so asks for nothing by itself. */
function isAside(frame: Frame): boolean {
  return isEmpty(frame) && frame.spared.length === 0 && frame.old === undefined;
}

function hasPorts({ ports, targets }: Frame): boolean {
  return ports.length > 0 || targets.some((target) => target.ports.length > 0);
}

/** "But keep ssh from my-laptop", "the only one it may still talk with is my-laptop". */
function addSpared(last: Frame, frame: Frame): boolean {
  const spares = frame.polarity === 'keep' || frame.only !== undefined || frame.polarity === 'open';
  const others = [...frame.sources, ...frame.targets].filter(({ says }) => says !== last.isolated);
  const [who, second] = others;
  if (!spares || !who || second || isRestricted(frame)) return false;
  const side = frame.only !== undefined ? undefined : frame.sources.includes(who) ? 'source' : 'target';
  const ports = [
    ...frame.ports,
    ...who.ports,
    ...frame.targets.filter((one) => one !== who).flatMap((one) => one.ports),
  ];
  last.spared.push({ who: who.says, side, ports });
  return true;
}

/** Fills in what a clause leaves to the one before it; true where it takes its place. */
function goesOn(last: Frame, frame: Frame): boolean {
  const [noSource, noTarget] = [frame.sources.length === 0, frame.targets.length === 0];
  if (last.polarity === 'keep' && frame.elseClosed && last.sources.length > 0 && last.targets.length > 0) {
    Object.assign(frame, {
      sources: last.sources,
      targets: last.targets,
      ports: last.ports,
      polarity: 'open',
      only: 'source',
    });
    return true;
  }
  if (noTarget && !noSource && last.sources.length === 0 && last.targets.length > 0 && !last.elseClosed) {
    frame.targets = last.targets;
    frame.polarity = frame.old && frame.polarity === undefined ? 'open' : frame.polarity;
    return true;
  }
  const isSubject = last.sources.length > 0 && last.targets.length === 0 && last.polarity === undefined;
  if (isSubject && frame.sources[0] === last.sources[0]) return true;
  const isRange = /^[\d.:a-f]+\//.test(frame.sources[0]?.says ?? '');
  if (noTarget && isRange && frame.polarity === 'close' && last.polarity === 'close' && last.targets.length > 0) {
    Object.assign(frame, { sources: last.sources, targets: frame.sources });
    return true;
  }
  if (noSource && !noTarget && frame.polarity === 'close' && last.polarity === 'close' && last.sources.length > 0) {
    frame.sources = last.sources;
    return true;
  }
  return false;
}

/** "Carla cannot reach db-2. Please allow …": what is asked for stands in the order, the rest says why. */
function withoutReasons(frames: readonly Frame[]): Frame[] {
  const told = frames.filter((frame) => !frame.report);
  const orders = told.filter(({ imperative }) => imperative);
  const isWhole = orders.every((frame) => frame.isolated !== undefined || areBothNamed(frame));
  const others = told.filter(({ imperative }) => !imperative);
  if (orders.length > 0 && isWhole && others.every((frame) => frame.polarity !== 'close' && !isLimited(frame)))
    return orders;
  return told.filter((frame) => frame.polarity !== undefined || areBothNamed(frame));
}

function areBothNamed({ sources, targets }: Frame): boolean {
  return sources.length > 0 && targets.length > 0;
}

/** Whether leaving it out would widen something. */
function isLimited({ only, spared, old, report }: Frame): boolean {
  return !report && (only !== undefined || spared.length > 0 || old !== undefined);
}
