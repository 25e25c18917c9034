import type { NetworkState } from '../../core/state/state.ts';
import type { Ask } from './acts/ask.ts';
import type { Token } from './lexicon.ts';
import { meantPorts } from './port-entries.ts';
import { isRange } from './ranges.ts';
import { attempt, enumerated, quoted, Refusal, said } from './refusal.ts';
import type { Statement } from './statements.ts';
import { everyone, type Subject } from './subject.ts';
import { exclude, parseSubjects } from './subjects.ts';

export interface Sides {
  readonly sources: readonly Subject[];
  readonly targets: readonly Subject[];
}

/** Those who reach and those who are reached; everyone where nobody is named. */
export function sidesOf({ slots, wish, words }: Statement, state: NetworkState): Sides {
  const [source, sourceBut] = parts(slots['source']);
  const [target, targetBut] = parts(slots['target']);
  const all = everyone(state);
  let sources = source ? parseSubjects(source, state) : wish === 'isolate' ? [] : [all];
  let targets = target ? parseSubjects(target, state) : [all];
  for (const but of [sourceBut, targetBut]) refuseStrayExceptions(but, state);
  if (sourceBut) sources = exclude(sources, parseSubjects(sourceBut, state), state);
  if (targetBut && wish === 'isolate') refuseUndirected(targets, targetBut, state);
  if (targetBut?.every((token) => source?.includes(token)))
    targets = exclude(targets, parseSubjects(targetBut, state), state);
  else if (targetBut && !source && isOnEach(words, slots['target'] ?? []))
    targets = exclude(targets, parseSubjects(targetBut, state), state);
  else if (targetBut) [sources, targets] = excludeFromEither(sources, targets, parseSubjects(targetBut, state), state);
  return { sources, targets };
}

/** "Isolate web-1 except my-laptop": what it may do with the one that is left out is not said. */
function refuseUndirected(targets: readonly Subject[], tokens: readonly Token[], state: NetworkState): void {
  const names = new Set(targets.flatMap(({ peers }) => peers.map(({ name }) => name)));
  if (parseSubjects(tokens, state).every(({ peers }) => peers.every(({ name }) => names.has(name)))) return;
  throw new Refusal(`It is not clear in which direction ${quoted(said(tokens))} is left out.`, ['From it, or to it?'], {
    replace: tokens,
    by: [`from ${said(tokens)}`, `to ${said(tokens)}`],
  });
}

/** "Everyone except ci except ops": ops are no part of ci, so they may be left out as well. */
function refuseStrayExceptions(tokens: readonly Token[] | undefined, state: NetworkState): void {
  const [one, other] = parts(tokens);
  if (!tokens || !one || !other || attempt(() => parseSubjects(tokens, state))) return;
  const [first, second] = [said(one), said(other.filter(({ sym }) => sym !== 'EXCEPT'))];
  throw new Refusal(
    `${quoted(second)} is no part of ${quoted(first)}, so it is not clear whether ${quoted(`except ${second}`)} leaves out more.`,
    [
      `Should ${quoted(second)} be left out as well? Which of these is meant? Name them in one list: "everyone except <one> and <other>".`,
    ],
    { replace: tokens, by: [`${first} and ${second}`] },
  );
}

/** What stands before "except", and what after it. */
function parts(tokens: readonly Token[] | undefined): [readonly Token[] | undefined, readonly Token[] | undefined] {
  const at = tokens?.findIndex(({ sym }) => sym === 'EXCEPT') ?? -1;
  return at < 0 ? [tokens, undefined] : [tokens?.slice(0, at), tokens?.slice(at + 1)];
}

/** "Close port 22 on every machine except web-1": nobody else is named that it may be left out of. */
function isOnEach(words: readonly Token[], [first]: readonly Token[]): boolean {
  const link = first && words[words.indexOf(first) - 1];
  return link?.sym === 'ON' || link?.sym === 'OF' || link?.text === 'in';
}

/** "Let everyone reach db except ci": the exception stands at the end and belongs to whom it is a part of. */
function excludeFromEither(
  sources: readonly Subject[],
  targets: readonly Subject[],
  excepted: readonly Subject[],
  state: NetworkState,
): [Subject[], Subject[]] {
  const isPart = (group: readonly Subject[]) =>
    excepted.every(
      (one) =>
        (isRange(one) && group.some(({ everyone: all }) => all)) ||
        (one.peers.length > 0 && group.some(({ peers }) => one.peers.every((peer) => peers.includes(peer)))),
    );
  const [ofSources, ofTargets] = [isPart(sources), isPart(targets)];
  if (ofSources && ofTargets) {
    throw new Refusal(`${enumerated(excepted.map(({ noun }) => quoted(noun)))} may be left out of either side.`, [
      'Is it they who reach, or who are reached?',
    ]);
  }
  if (ofSources) return [exclude(sources, excepted, state), [...targets]];
  return [[...sources], exclude(targets, excepted, state)];
}

/** What an act is asked for. */
export function askOf(
  statement: Statement,
  state: NetworkState,
  now: number,
  sources: readonly Subject[],
  targets: readonly Subject[],
): Ask {
  return { state, now, sources, targets, ports: meantPorts(statement), until: statement.until, zone: statement.zone };
}
