import type { PortEntry } from '../../core/model/policy.ts';
import { withDirections } from './directions.ts';
import { questionOf } from './elsewhere.ts';
import type { Exception } from './exception-clauses.ts';
import { exceptionAt } from './exceptions.ts';
import type { Form, Wish } from './forms/form.ts';
import { formOf } from './forms.ts';
import type { Token } from './lexicon.ts';
import type { Slots } from './match.ts';
import { isStrange, notUnderstood, refuseTraps, unclearOnly } from './misunderstood.ts';
import type { Modifiers } from './modifier.ts';
import { takeModifiers } from './modifiers.ts';
import { meantPorts } from './port-entries.ts';
import { isProtocols } from './port-places.ts';
import { portsAt } from './ports.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { STARTS } from './sentences.ts';
import { withReach, withTraffic, withVerb } from './terse.ts';
import type { Vocabulary } from './vocabulary.ts';
import { worded } from './wording.ts';

/** One thing that an intent asks for. */
export interface Statement extends Omit<Modifiers, 'rest'> {
  readonly wish: Wish;
  readonly slots: Slots;
  /** What is left out of it, each by side and port. */
  readonly exceptions: readonly Exception[];
  /** Whether a follow-up made it, beside what was done before. */
  readonly added?: boolean;
  /** All of its words. */
  readonly words: readonly Token[];
  /** Those that say who, what and whom, for refusals. */
  readonly text: string;
}

/** "Grant db to web" gives away the first, "allow web to db" is an arrow. */
const GIVING: ReadonlySet<string> = new Set([
  'give',
  'grant',
  'deny',
  'refuse',
  'do not give',
  'do not grant',
  'add',
  'create',
  'set up',
]);

const DENYING: ReadonlySet<string> = new Set(['deny', 'refuse', 'do not give', 'do not grant']);

/**
 * Understands a sentence whole, or not at all.
 *
 * @throws Refusal saying what is not understood, missing, or has more than one meaning.
 */
export function parseStatement(tokens: readonly Token[], vocabulary: Vocabulary): Statement {
  refuseReports(tokens);
  const whole = withTraffic(withVerb(withReach(tokens, vocabulary)));
  const split = exceptionAt(whole, vocabulary, (head) => wishOf(head, vocabulary));
  const statement = wholeStatement(split?.head ?? whole, vocabulary);
  if (!split) return { ...statement, words: tokens };
  const time = statement.until === undefined ? { until: split.until, zone: split.zone } : {};
  return { ...statement, words: tokens, exceptions: split.exceptions, ...time };
}

/** What a sentence is about, when it is understood. */
function wishOf(tokens: readonly Token[], vocabulary: Vocabulary): Wish | undefined {
  try {
    return formOf(withDirections(takeModifiers(tokens, vocabulary).rest))?.form.wish;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function wholeStatement(tokens: readonly Token[], vocabulary: Vocabulary): Statement {
  const { rest: found, ...modifiers } = takeModifiers(tokens, vocabulary);
  const rest = withDirections(found);
  refuseTraps(rest, modifiers);
  const fitting = formOf(rest);
  if (!fitting) throw notUnderstood(rest, tokens, modifiers, vocabulary);
  refuseAccessOf(rest, tokens, fitting.slots);
  refuseLimitedPorts(rest, tokens, fitting);
  return statementOf(fitting, rest, { words: tokens, modifiers, vocabulary });
}

interface Sentence {
  readonly words: readonly Token[];
  readonly modifiers: Omit<Modifiers, 'rest'>;
  readonly vocabulary: Vocabulary;
}

function statementOf(
  { form, slots }: { readonly form: Form; readonly slots: Slots },
  rest: readonly Token[],
  { words, modifiers, vocabulary }: Sentence,
): Statement {
  const text = said(words);
  const verb = rest[0]?.text ?? '';
  if (form.arrow && GIVING.has(verb)) {
    const [one, other] = DENYING.has(verb)
      ? ['block {target} from {source}{on}', 'block {source} from {target}{on}']
      : ['let {target} reach {source}{on}', 'let {source} reach {target}{on}'];
    throw new Refusal(`${quoted(text)} can be read in both directions.`, ['Who reaches whom?'], {
      choices: worded([one, other], slots, modifiers),
    });
  }
  // "Deny ssh access to students": they are kept from it, or others from them.
  const isTraffic = /^(?:all|any|every)$/.test(words[1]?.text ?? '') || isProtocols(modifiers.ports);
  const granted =
    rest[1]?.sym === 'ACCESS' && rest[1].text.endsWith('access') && rest[2]?.sym === 'TO' && !slots['source'];
  if (DENYING.has(verb) && granted && slots['target'] && !(isTraffic && modifiers.ports.length > 0)) {
    throw new Refusal(
      `${quoted(text)} can be read in both directions.`,
      [`Should ${quoted(said(slots['target']))} no longer reach others, or no longer be reached?`],
      {
        choices: worded(['block {target} from everyone{on}', 'block all traffic to {target}{on}'], slots, {
          ...modifiers,
          ports: meantPorts(modifiers),
        }),
      },
    );
  }
  if (form.wish === 'ask') {
    const strange = rest.some((token) => isStrange(token, vocabulary));
    if (strange && (rest[0]?.sym === 'LET' || rest[0]?.sym === 'DENY'))
      throw notUnderstood(rest, words, modifiers, vocabulary);
    throw new Refusal(`${quoted(text)} leaves something out.`, [form.question ?? 'What is meant?'], {
      choices: worded(form.choices ?? [], slots, modifiers),
    });
  }
  const unclear =
    (form.wish === 'onlyTo' && (modifiers.ports.length > 0 || rest.some(({ text }) => text === 'just'))) ||
    (form.passive && modifiers.portsPlace === 'after only') ||
    (form.wish === 'only' && limitsPorts(rest, modifiers));
  if (unclear) throw unclearOnly(rest, modifiers, slots);
  const apart =
    form.wish === 'isolate' && SEPARATING.has(verb) ? separatedIn(slots['target'] ?? [], modifiers) : undefined;
  return {
    wish: apart ? 'separate' : form.wish,
    slots: apart ?? withEvery(slots, rest),
    text: said(rest),
    words,
    exceptions: [],
    ...modifiers,
    ports: neededPorts(rest, slots, modifiers.ports),
  };
}

/** "Keep access of web to db": an order that has what is reached before "to" would read it the other way round. */
function refuseAccessOf(rest: readonly Token[], words: readonly Token[], { target = [] }: Slots): void {
  // Ports stand in the place of "access" too: "open 22 of web to ci".
  const at = rest.findIndex((token) => token.sym === 'ACCESS' && words.includes(token));
  if (
    at < 0 ||
    rest[at + 1]?.sym !== 'OF' ||
    rest[at + 2] !== target[0] ||
    !rest.slice(at).some(({ sym }) => sym === 'TO')
  )
    return;
  throw new Refusal(
    `${quoted(said(rest))} can be read in both directions.`,
    ['Who reaches whom? Say "access from <source> to <target>".'],
    { final: true },
  );
}

/** "Limit ssh to ci" says who may use a port, and not on which peers. */
function refuseLimitedPorts(
  rest: readonly Token[],
  words: readonly Token[],
  { form: { wish }, slots: { source, target, both } }: { readonly form: Form; readonly slots: Slots },
): void {
  if (wish !== 'limit' || rest[0]?.sym !== 'LIMIT' || source || both || !target) return;
  const at = words.indexOf(target[target.length - 1] as Token);
  if (words.slice(at + 1).some((_, index) => portsAt(words, at + 1 + index))) return;
  if (!words.slice(0, at).some((_, index) => portsAt(words, index))) return;
  throw new Refusal(
    `${quoted(said(words))} does not say on which peers the ports are limited.`,
    [`Where? Say "only ${said(target)} may reach <target> on <port>", or "limit <target> to <port>".`],
    { final: true },
  );
}

/** "No laptop may reach db" is about every one of them. */
function withEvery({ source, ...slots }: Slots, [first, second]: readonly Token[]): Slots {
  if (first?.sym !== 'NO' || !source || source[0] !== second) return source ? { ...slots, source } : slots;
  return { ...slots, source: [{ text: 'every', quoted: false }, ...source] };
}

/** Those who are separated are kept from each other, and not from everyone as those who are isolated. */
const SEPARATING: ReadonlySet<string> = new Set(['separate', 'segregate']);

/** @throws Refusal where one group is to be separated, from whom is not said. */
function separatedIn(target: readonly Token[], modifiers: Omit<Modifiers, 'rest'>): Slots {
  if (target.some(({ sym }) => sym === 'AND' || sym === 'COMMA')) return { both: target };
  const templates = ['isolate {target}', 'isolate {target} from each other'];
  throw new Refusal(
    `It is not said from whom ${quoted(said(target))} should be separated.`,
    ['From everyone, or from each other?'],
    {
      choices: worded(templates, { target }, { ...modifiers, ports: [] }),
    },
  );
}

/** "Allow only 443 from web to db": what "only" stands before are the ports, and not those who reach. */
function limitsPorts(rest: readonly Token[], { ports, spared }: Omit<Modifiers, 'rest'>): boolean {
  const only = rest.findIndex(({ sym }) => sym === 'ONLY');
  return only >= 0 && rest[only + 1]?.sym === 'ACCESS' && ports.length + spared.length > 0;
}

/** "Web needs redis" asks for the port of redis, at the group of that name. */
function neededPorts(
  rest: readonly Token[],
  { target = [] }: Slots,
  ports: readonly PortEntry[],
): readonly PortEntry[] {
  const needs = rest.findIndex(({ sym }) => sym === 'NEEDS');
  if (ports.length > 0 || needs < 0 || rest[needs + 1] !== target[0]) return ports;
  const named = portsAt(target, 0);
  return named?.service !== undefined && named.end === target.length ? named.ports : ports;
}

/** "Can web reach db?" and "web cannot reach db" tell or ask how it is, not how it should be. */
function refuseReports(tokens: readonly Token[]): void {
  const wished = tokens.some(({ sym }) => sym === 'POLITE' || (sym && STARTS.has(sym)));
  if (wished) return;
  if (tokens.at(-1)?.text === '?') {
    throw questionOf(said(tokens));
  }
  if (tokens.some(({ sym, text }) => sym === 'MAY_NOT' && text.startsWith('can not'))) {
    throw new Refusal('It is not clear whether this tells what is, or what should be.', [
      'Should it be forbidden? Then say "must not". Should it work? Then say "let … reach …".',
    ]);
  }
}

/** What a statement that was not asked for ports or a time must not have. */
export function refuseExtras(
  { ports, spared, until, exclusive }: Statement,
  extras: readonly ('ports' | 'time' | 'exclusive')[],
): void {
  const named: readonly PortEntry[] = [...ports, ...spared];
  if (extras.includes('ports') && named.length > 0)
    throw new Refusal('This holds for all ports.', ['Should it be without the ports?']);
  if (extras.includes('time') && until !== undefined)
    throw new Refusal('This holds for good.', ['Should it be without the time?']);
  if (extras.includes('exclusive') && exclusive) {
    throw new Refusal('"And nobody else" goes with letting someone reach something, not with this.', [
      'Should everyone else keep their access? Then leave it out.',
    ]);
  }
}
