import type { NetworkChange } from '../../core/changes/changes.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import type { PolicyRecord } from '../../core/model/resources.ts';
import { sameValue } from '../../core/model/value.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { Act } from './acts/ask.ts';
import type { Token } from './lexicon.ts';
import { match, patternOf, type Slots } from './match.ts';
import type { Modifiers } from './modifier.ts';
import { takeModifiers } from './modifiers.ts';
import { portsAt } from './ports.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { livePolicies } from './selects.ts';
import type { Statement } from './statements.ts';
import { timeAt } from './times.ts';
import type { Vocabulary } from './vocabulary.ts';

const ON: Token = { text: 'on', quoted: false, sym: 'ON' };
const FOR: Token = { text: 'for', quoted: false, sym: 'FOR' };

/** A statement that goes back to one before it. */
export interface FollowUp {
  readonly statement: Statement;
  /** Set when it changes what was said before, which may have been done by now. */
  readonly amends?: Statement;
}

const NOTHING_BEFORE = 'This goes back to something said before, and it is not known what.';
const AMENDS = [patternOf('LAST_CHANGE'), patternOf('PRONOUN')];
const SAME_FOR = ['FOR|TO|FROM {who}', '{same} FOR|TO|FROM {who}'].map(patternOf);
const SAME = /^(?:(?:and |do )?(?:the )?same|likewise|that)$/;
const LEADS: ReadonlySet<string> = new Set([
  'make',
  'but',
  'and',
  'do',
  'only',
  'just',
  'it',
  'that',
  'this',
  'them',
  'instead',
  ',',
]);

/**
 * Reads `and also on 443`, `make it only for 1 hour`, `the same for ci` beside what was said before.
 *
 * @returns undefined when the sentence stands for itself.
 * @throws Refusal when it goes back to something that is not there, or to more than one thing.
 */
export function followUp(
  tokens: readonly Token[],
  before: Statement | undefined,
  vocabulary: Vocabulary,
): FollowUp | undefined {
  const lead = tokens.findIndex((token) => token.quoted || !LEADS.has(token.text));
  const said = tokens.slice(0, Math.max(lead, 0)).map(({ text }) => text);
  const instead = tokens.some(({ text, quoted: named }) => text === 'instead' && !named);
  const rest = tokens.slice(Math.max(lead, 0)).filter(({ text }) => text !== 'instead');
  const taken = takeModifiers(withLink(rest, vocabulary), vocabulary);
  const joined = taken.also || said.includes('and');
  const idle =
    (instead && taken.ports.length === 0) ||
    (said.some((word) => word === 'only' || word === 'just') && taken.until === undefined);
  if (idle && taken.rest.length === 0 && before) {
    throw new Refusal(`It is not clear what ${quoted(tokens.map(({ text }) => text).join(' '))} changes.`, [
      'What should be different from what was said before?',
    ]);
  }
  if (taken.rest.length === 0 || AMENDS.some((pattern) => match(pattern, taken.rest))) {
    return amended(taken, requireOne(before), { adds: joined && !instead, replaces: instead || said.includes('make') });
  }
  if (joined && before && taken.rest.every(({ sym }) => sym === undefined)) {
    throw new Refusal(
      `It is not clear on which side ${quoted(taken.rest.map(({ text }) => text).join(' '))} should be.`,
      ['Should they reach the same ("the same for …"), or be reached too ("also to …")?'],
    );
  }
  const slots = SAME_FOR.map((pattern) => match(pattern, taken.rest)).find((found) => found !== undefined);
  const same = slots?.['same']?.map(({ text }) => text).join(' ');
  if (!slots || (same === undefined ? !joined : !SAME.test(same))) return undefined;
  return { statement: { ...forOthers(taken, requireOne(before), slots), added: true } };
}

/** `make it port 443`, `make it 1 hour`: the word before them is left out. */
function withLink(tokens: readonly Token[], vocabulary: Vocabulary): readonly Token[] {
  if (timeAt([FOR, ...tokens], 0, vocabulary)) return [FOR, ...tokens];
  return portsAt(tokens, 0) ? [ON, ...tokens] : tokens;
}

function requireOne(before: Statement | undefined): Statement {
  if (before) return before;
  throw new Refusal(NOTHING_BEFORE, ['What should change? Say it in one sentence.']);
}

/** @throws Refusal where it was done in several steps, of which all or the last may be meant */
function requireWhole(before: Statement): Statement {
  if (!before.added) return before;
  throw new Refusal('What was said before was done in several steps, and it is not clear which of them is meant.', [
    'What should hold in the end? Say it in one sentence.',
  ]);
}

function amended(
  { ports, spared, until, zone, exclusive, mutual }: Modifiers,
  before: Statement,
  { adds, replaces }: { readonly adds: boolean; readonly replaces: boolean },
): FollowUp {
  if (spared.length > 0)
    throw new Refusal('It is not clear what the exception belongs to.', ['Can it be said in one sentence?']);
  const timed = {
    ...before,
    added: adds,
    ...(until !== undefined && { until, zone }),
    exclusive: exclusive ?? before.exclusive,
    mutual: mutual || before.mutual,
  };
  if (ports.length === 0) {
    if (until === undefined && !exclusive && !mutual)
      throw new Refusal('Nothing is asked for.', ['What should change?']);
    return { statement: timed, amends: requireWhole(before) };
  }
  if (adds) return { statement: { ...timed, ports: before.ports.length > 0 ? [...before.ports, ...ports] : [] } };
  if (!replaces)
    throw new Refusal('Ports are named without a verb.', [
      'Should they be open besides ("also on …"), or instead ("make it …")?',
    ]);
  return { statement: { ...timed, ports }, amends: requireWhole(before) };
}

/** `the same for ci`: who it is for takes the place of the one who reaches, or of the only one who is named. */
function forOthers({ rest, ports, until, zone }: Modifiers, before: Statement, { who = [] }: Slots): Statement {
  const link = rest.find(({ sym }) => sym === 'FOR' || sym === 'TO' || sym === 'FROM')?.sym;
  const { source, target, both, ...others } = before.slots;
  if (both || Object.keys(others).length > 0)
    throw new Refusal('It is not clear what should be the same.', ['Can it be said in one sentence?']);
  const slot = link === 'TO' || !source ? 'target' : 'source';
  if (source && target && link === 'FOR' && before.wish === 'limit')
    throw new Refusal('It is not clear for which side it should be the same.', ['Can it be said in one sentence?']);
  return {
    ...before,
    slots: { ...before.slots, [slot]: who },
    ports: ports.length > 0 ? ports : before.ports,
    ...(until !== undefined && { until, zone }),
  };
}

/**
 * Puts what was said before in the place of "it" and "them".
 *
 * @throws Refusal when there is nothing before, or more than one thing that it may mean.
 */
export function withReferents(statement: Statement, before: Statement | undefined): Statement {
  const slots = Object.fromEntries(
    Object.entries(statement.slots).map(([name, tokens = []]) => {
      const [only] = tokens;
      if (tokens.length !== 1 || !only || only.quoted || (only.sym !== 'PRONOUN' && only.sym !== 'LAST_CHANGE'))
        return [name, tokens];
      return [name, referent(only, name, statement, before)];
    }),
  );
  return { ...statement, slots };
}

function referent(token: Token, slot: string, { also }: Statement, before: Statement | undefined): readonly Token[] {
  const { text } = token;
  const question = `Who is ${quoted(text)}?`;
  if (!before) throw new Refusal(`It is not clear who is meant by ${quoted(text)}.`, [question]);
  const named = Object.values(before.slots).filter((tokens) => tokens !== undefined);
  const [only] = named;
  if (only && named.length === 1) return only;
  const same = before.slots[slot];
  if (also && same) return same;
  throw new Refusal(`${quoted(text)} may mean more than one that was named before.`, [question], {
    replace: [token],
    by: named.map(said),
  });
}

/** A state in which what is to be changed has not been done. */
export function withoutDone(before: Act, state: NetworkState, now: number): NetworkState {
  const done = new Set(policiesOf(before, state, now));
  const policies = [...state.policies].filter(([, policy]) => !done.has(policy));
  return done.size === 0 ? state : { ...state, policies: new Map(policies) };
}

/** The policies that an act has written, where they are still in force as it wrote them, but for their ends. */
function policiesOf(before: Act, state: NetworkState, now: number): PolicyRecord[] {
  const live = livePolicies(state, now);
  return before.changes.flatMap((change) => {
    const spec = specOf(change);
    return (spec && live.find((policy) => sameValue(timeless(policy.spec), timeless(spec)))) ?? [];
  });
}

/** Changes what was done, where it was done: the same policies, as they should be now. */
export function amendedAct(next: Act, before: Act, state: NetworkState, now: number): Act {
  const kept = policiesOf(before, state, now);
  if (kept.length === 0) return next;
  const policies = next.changes.filter((change) => specOf(change));
  if (policies.length !== kept.length) {
    throw new Refusal('What was done before cannot be changed into this in one step.', [
      'What should hold in the end? Say it in one sentence.',
    ]);
  }
  const changes = policies.map((change, index): NetworkChange => {
    const [spec, policy] = [specOf(change), kept[index]];
    if (!spec || !policy) return change;
    return {
      action: 'update',
      resource: 'MeshPolicy',
      name: policy.name,
      spec,
      labels: policy.labels,
      annotations: policy.annotations,
    };
  });
  return { ...next, changes: [...next.changes.filter((change) => !specOf(change)), ...changes] };
}

function specOf(change: NetworkChange): PolicySpec | undefined {
  return change.resource === 'MeshPolicy' && change.action !== 'delete' ? change.spec : undefined;
}

function timeless({ expiresAt: _, ...spec }: PolicySpec): Omit<PolicySpec, 'expiresAt'> {
  return spec;
}
