import type { RevertTarget } from '../../core/intent/plan/planner.ts';
import { PERSONAL_WORDS } from '../../core/intent/verify/risk-table.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { type Act, type Ask, beside } from './acts/ask.ts';
import { deny, denyByDefault, denyOpen, isolate, limitAccess, limitPorts, othersOf } from './acts/forbid.ts';
import { allow, allowOnly, allowOnlyOnPorts, forbiddingOf } from './acts/grant.ts';
import { keep } from './acts/keep.ts';
import { deletePolicy, renamePolicy } from './acts/policies.ts';
import { revoke, takeBack } from './acts/revoke.ts';
import { among, closing } from './among.ts';
import { excepting } from './excepting.ts';
import { refuseUndirected, unclearOutward } from './exclusive.ts';
import type { Token } from './lexicon.ts';
import { effectOfChanges } from './loosened.ts';
import { meantPorts, portList, portText } from './port-entries.ts';
import { isRange } from './ranges.ts';
import { attempt, quoted, Refusal, said } from './refusal.ts';
import { isGrant, isHeldElsewhere, refuseOpening, refuseOpeningPorts } from './restrictions.ts';
import { askOf, type Sides, sidesOf } from './sides.ts';
import { refuseExtras, type Statement } from './statements.ts';
import type { Subject } from './subject.ts';
import { parseSubjects } from './subjects.ts';
import { worded } from './wording.ts';

/** One step on the state that the steps before it lead to. */
export type Step = (state: NetworkState) => Act;

/** What a statement brings back, when it is about the past. */
export function revertOf(statement: Statement): RevertTarget | undefined {
  if (statement.wish !== 'undo') return undefined;
  refuseExtras(statement, ['ports', 'time', 'exclusive']);
  return { to: 'before-last' };
}

/** The steps that a statement comes to, in their order. @throws Refusal for what cannot be done, or not safely. */
export function stepsOf(statement: Statement, state: NetworkState, now: number): Step[] {
  const { wish, slots } = statement;
  switch (wish) {
    case 'denyByDefault':
      refuseExtras(statement, ['ports', 'time', 'exclusive']);
      if (slots['everything']) requireEveryone(slots['everything'], state);
      return [(on) => denyByDefault(askOf(statement, on, now, [], []))];
    case 'deletePolicy':
      refuseExtras(statement, ['ports', 'time', 'exclusive']);
      return [(on) => deletePolicy(on, nameOf(slots['name']))];
    case 'renamePolicy':
      refuseExtras(statement, ['ports', 'time', 'exclusive']);
      return [(on) => renamePolicy(on, nameOf(slots['name']), nameOf(slots['next']))];
    case 'undo':
    case 'ask':
      throw new Refusal('Undoing goes alone.', ['What should be done besides? Say it in another step.']);
    default:
      return sided(statement, state, now);
  }
}

function nameOf(tokens: readonly Token[] = []): string {
  const [only, second] = tokens.filter(({ text, quoted: named }) => named || text !== 'the');
  if (only && !second) return only.text;
  throw new Refusal(
    `${quoted(tokens.map(({ text }) => text).join(' '))} is no name of a policy: names have no spaces.`,
    ['Which policy is meant?'],
  );
}

function requireEveryone(tokens: readonly Token[], state: NetworkState): void {
  const all = parseSubjects(tokens, state).every((subject) => subject.everyone);
  if (!all)
    throw new Refusal('Only everything can be denied by default.', ['Should it be "deny everything by default"?']);
}

/** Statements about who reaches whom. */
function sided(statement: Statement, state: NetworkState, now: number): Step[] {
  const { slots, wish } = statement;
  const isMutual = statement.mutual && wish !== 'isolate';
  if (slots['both'] || wish === 'separate' || isMutual) return mutually(statement, state, now);
  const { sources, targets } = sidesOf(statement, state);
  if (statement.exceptions.length > 0) return excepting(statement, [{ sources, targets }], state, now);
  refusePersonalTargets(statement, { sources, targets });
  const restriction = nobodyExcept(statement, { sources, targets });
  if (restriction) return act(restriction.only, restriction.sides, state, now);
  return act(statement, { sources, targets }, state, now);
}

/** "Nobody may reach db except web" means the same as "nobody except web may reach db". */
function nobodyExcept(statement: Statement, { sources, targets }: Sides) {
  const { wish, words, slots } = statement;
  const { source, target = [] } = slots;
  const kept = sources.flatMap(({ excepted }) => excepted);
  const at = target.findIndex(({ sym }) => sym === 'EXCEPT');
  const isNobody = wish === 'deny' && !source && words.some(({ sym }) => sym === 'NOBODY');
  if (!isNobody || kept.length === 0 || at < 1) return undefined;
  const end = target[at - 1]?.sym === 'COMMA' ? at - 1 : at;
  const only: Statement = {
    ...statement,
    wish: 'only',
    slots: { ...slots, source: target.slice(at + 1), target: target.slice(0, end) },
  };
  return { only, sides: { sources: kept, targets } };
}

/** Returns true where all are people's devices or CI, which rarely serve others. */
function arePersonal(subjects: readonly Subject[]): boolean {
  const words = ({ name, labels }: Subject['peers'][number]) =>
    [name, ...Object.values(labels)].flatMap((text) => text.toLowerCase().split(/[^a-z]+/));
  const peers = subjects.flatMap((subject) => subject.peers);
  return peers.length > 0 && peers.every((peer) => words(peer).some((word) => PERSONAL_WORDS.includes(word)));
}

/** "Open ci to db" and "limit laptops to https" sound as if they reach, and are read as if they are reached. @throws Refusal */
function refusePersonalTargets(statement: Statement, { sources, targets }: Sides): void {
  const { wish, words, slots, text } = statement;
  if (!arePersonal(targets) || arePersonal(sources)) return;
  const first = words.findIndex(({ sym }) => sym === 'OPEN' || sym === 'LIMIT');
  if (first < 0 || !slots['target']?.[0] || words[first + 1] !== slots['target'][0]) return;
  if (wish === 'allow')
    throw new Refusal(`${quoted(text)} can be read in both directions.`, ['Who reaches whom?'], {
      choices: worded(['let {target} reach {source}{on}', 'let {source} reach {target}{on}'], slots, statement),
    });
  if (wish === 'limit' && !slots['source'])
    throw new Refusal(
      `${quoted(said(words))} can be read in both directions.`,
      ['Should they reach others on these ports alone, or be reached on these ports alone?'],
      { final: true },
    );
}

const MAX_SIDES = 8;

/** Both ways between each two sides, or within one group. */
function mutually(statement: Statement, state: NetworkState, now: number): Step[] {
  const { slots, wish, exclusive } = statement;
  if (!MUTUAL.has(wish)) {
    throw new Refusal('It is not clear what both directions should mean here.', ['Which direction is meant?'], {
      choices: worded(TOGETHER, slots, statement),
    });
  }
  if (statement.exceptions.length > 0) return excepting(statement, bothWays(statement, state), state, now);
  const pairs = slots['both'] ? pairsOf(parseSubjects(slots['both'], state)) : crossed(statement, state);
  const ways = pairs.flatMap(([a, b]): Sides[] => [
    { sources: [a], targets: [b] },
    ...(a === b ? [] : [{ sources: [b], targets: [a] }]),
  ]);
  const all = [...new Set(pairs.flat())];
  if (wish === 'among') return among(statement, ways, all, state, now);
  const together = wish === 'allow' && exclusive !== undefined;
  const one: Statement = {
    ...statement,
    wish: wish === 'separate' ? 'deny' : wish,
    ...(together && { exclusive: undefined }),
  };
  return [...ways.flatMap((way) => act(one, way, state, now)), ...(together ? [closing(statement, all, now)] : [])];
}

const MUTUAL: ReadonlySet<Statement['wish']> = new Set(['allow', 'among', 'deny', 'separate', 'limit']);
const TOGETHER = [
  'let {source} and {target} reach each other{on} and nobody else',
  'let {source} and {target} reach each other{on}',
];

function bothWays(statement: Statement, state: NetworkState): Sides[] {
  const { both } = statement.slots;
  if (!both) {
    const { sources, targets } = sidesOf(statement, state);
    return [
      { sources, targets },
      { sources: targets, targets: sources },
    ];
  }
  return pairsOf(parseSubjects(both, state)).flatMap(([a, b]) => [
    { sources: [a], targets: [b] },
    ...(a === b ? [] : [{ sources: [b], targets: [a] }]),
  ]);
}

function pairsOf(sides: readonly Subject[]): [Subject, Subject][] {
  const [only, second] = sides;
  if (only && !second) return [[only, only]];
  if (sides.length > MAX_SIDES)
    throw new Refusal(`More than ${MAX_SIDES} sides are named at once.`, ['Can it be said in several steps?']);
  return sides.flatMap((a, index) => sides.slice(index + 1).map((b): [Subject, Subject] => [a, b]));
}

function crossed(statement: Statement, state: NetworkState): [Subject, Subject][] {
  const { sources, targets } = sidesOf(statement, state);
  return sources.flatMap((source) => targets.map((target): [Subject, Subject] => [source, target]));
}

/** "Only web may reach db except on udp": then nobody on udp, or anyone as before. */
function unclearSparing(statement: Statement): Refusal {
  const { slots, spared, until, text } = statement;
  const ports = meantPorts(statement);
  const [others, rest] = [
    worded(['block everyone except {source} from {target}{on}'], slots, { ports, until }),
    worded(['block {source} from {target}{on}'], slots, { ports: spared, until }),
  ];
  const [kept] = others;
  return new Refusal(
    `It is not clear who may reach it on ${portText(spared)} by ${quoted(text)}: everyone as before, or not even those named.`,
    [
      `Should it hold for the other ports alone? Then say "only … may reach … on ${portList(ports)}".`,
      `Should nobody reach it on ${portText(spared)}? Then add "; block everyone from … on ${portList(spared)}".`,
    ],
    { choices: [...others, ...(kept ? rest.map((one) => `${kept}; ${one}`) : [])] },
  );
}

/** Whether some of those who are reached are closed but for grants and some are not, so that no grant fits all of them. */
function isMixed(ask: Ask): boolean {
  return ask.targets.some(({ everyone }) => everyone) || attempt(() => allow(ask)) === undefined;
}

function isPartlyOpen(ask: Ask): boolean {
  return effectOfChanges(deny(ask).changes, ask.state, ask.now).closedPairs > 0;
}

function act(statement: Statement, { sources, targets }: Sides, state: NetworkState, now: number): Step[] {
  const { wish, exclusive, ports, spared } = statement;
  const ask = (on: NetworkState, more: Partial<Ask> = {}): Ask => ({
    ...askOf(statement, on, now, sources, targets),
    ...more,
  });
  switch (wish) {
    case 'allow':
    case 'only': {
      refuseUndirected(statement);
      const alone = wish === 'only' || (exclusive !== undefined && exclusive !== 'out');
      // What is said of a port holds for that port alone.
      const scoped = meantPorts(statement).length > 0;
      const outward = exclusive === 'out' || exclusive === 'both';
      if (outward && scoped) throw unclearOutward(statement);
      const restricts = wish === 'only' && !isGrant(statement);
      if (alone && spared.length > 0 && ports.length === 0) throw unclearSparing(statement);
      // A DENY that overlaps hinders a grant, and nothing has to be granted.
      if (restricts && forbiddingOf(ask(state)).length > 0 && isPartlyOpen(ask(state))) {
        if (!scoped && isHeldElsewhere(ask(state))) refuseOpening(statement, ask(state));
        return [(on) => deny(ask(on, { sources: othersOf(sources, on) }))];
      }
      if (restricts && (!scoped || isMixed(ask(state)))) refuseOpening(statement, ask(state));
      // All that it names is open to them already, and to others as well.
      if (restricts && scoped && isMixed(ask(state)))
        return [(on) => deny(ask(on, { sources: othersOf(sources, on) }))];
      const granted: Step = (on) => (!alone ? allow : scoped ? allowOnlyOnPorts : allowOnly)(ask(on));
      const excepted = sources.flatMap((source) => source.excepted);
      const notTo = targets.flatMap((target) => target.excepted);
      return [
        granted,
        ...(outward ? [(on: NetworkState) => deny(ask(on, { targets: othersOf(targets, on) }))] : []),
        ...(excepted.length > 0 && !(alone && scoped)
          ? [
              (on: NetworkState) =>
                beside((excepted.every(isRange) ? denyOpen : deny)(ask(on, { sources: excepted, ports }))),
            ]
          : []),
        ...(notTo.length > 0 ? [(on: NetworkState) => beside(deny(ask(on, { targets: notTo })))] : []),
        ...(spared.length > 0 && !restricts && !alone
          ? [(on: NetworkState) => beside(deny(ask(on, { ports: spared })))]
          : []),
      ];
    }
    case 'onlyTo':
      refuseExtras(statement, ['exclusive']);
      if (!isGrant(statement)) refuseOpening(statement, ask(state));
      return [(on) => allow(ask(on)), (on) => deny(ask(on, { targets: othersOf(targets, on) }))];
    case 'keep':
      refuseExtras(statement, ['exclusive', 'time']);
      return [(on) => keep(ask(on))];
    case 'deny':
    case 'separate':
      refuseExtras(statement, ['exclusive']);
      if (wish === 'separate') throw new Refusal('It is not clear from whom they should be kept.', ['From whom?']);
      return [
        (on) => (spared.length > 0 && ports.length === 0 ? limitPorts(ask(on, { ports: spared })) : deny(ask(on))),
      ];
    case 'isolate':
      refuseExtras(statement, ['ports', 'exclusive']);
      return [(on) => isolate(ask(on))];
    case 'revoke':
      refuseExtras(statement, ['exclusive']);
      if (!statement.slots['source'] && !/\b(?:all|any)\b/.test(statement.text))
        throw new Refusal('It is not said whose access should be taken back.', [
          'Whose access? Or say "revoke all access to …".',
        ]);
      return [(on) => revoke(ask(on))];
    case 'takeBack':
      refuseExtras(statement, ['exclusive']);
      return [(on) => takeBack(ask(on))];
    case 'limit':
      refuseExtras(statement, ['exclusive']);
      if (meantPorts(statement).length === 0)
        throw new Refusal('It is not said which ports stay open.', ['To which ports should it be limited?']);
      if (statement.words.some(({ sym }) => sym === 'MAY')) refuseOpeningPorts(statement, ask(state));
      return [(on) => limitPorts(ask(on))];
    case 'limitAccess':
      refuseExtras(statement, ['exclusive']);
      if (statement.portsPlace === 'first') return [(on) => deny(ask(on, { sources: othersOf(sources, on) }))];
      return [(on) => limitAccess(ask(on))];
    default:
      throw new Refusal(`${quoted(statement.text)} is not understood.`, ['Can it be said in other words?']);
  }
}
