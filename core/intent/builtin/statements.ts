import { nearest } from '../../nearest.ts';
import type { PortEntry } from '../../network/policy.ts';
import { formOf, type Wish } from './forms.ts';
import { type Sym, type Token, VERBS } from './lexicon.ts';
import type { Slots } from './match.ts';
import { type Context, type Modifiers, takeModifiers } from './modifiers.ts';
import { unknownPort } from './ports.ts';
import { quoted, Refusal } from './refusal.ts';
import { STARTS } from './sentences.ts';

/** One thing that an intent asks for. */
export interface Statement extends Omit<Modifiers, 'rest'> {
  readonly wish: Wish;
  readonly slots: Slots;
  /** As it was said, for refusals. */
  readonly text: string;
}

const EXAMPLES = [
  'let web reach db on port 5432',
  'only web may reach db',
  'block ci from db',
  'isolate web-1',
  "revoke web's access to db",
  'limit db to port 443',
  'allow https between web and api',
  'delete the policy <name>',
  'deny everything by default',
  'undo the last change',
];

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

/**
 * Understands a sentence whole, or not at all.
 *
 * @throws Refusal saying what is not understood, missing, or has more than one meaning.
 */
export function parseStatement(tokens: readonly Token[], context: Context): Statement {
  refuseReports(tokens);
  const { rest, ...modifiers } = takeModifiers(tokens, context);
  const text = rest.map((token) => token.text).join(' ');
  refuseTraps(rest, text);
  const found = formOf(rest);
  if (!found) throw notUnderstood(rest, tokens);
  const { form, slots } = found;
  if (form.arrow && GIVING.has(rest[0]?.text ?? '')) {
    throw new Refusal(`${quoted(text)} can be read in both directions.`, [
      'Who reaches whom? Say "let <source> reach <target>" or "deny <source> access to <target>".',
    ]);
  }
  if (form.wish === 'ask')
    throw new Refusal(`${quoted(text)} leaves something out.`, [form.question ?? 'What is meant?']);
  return { wish: form.wish, slots, text, ...modifiers };
}

/** "Can web reach db?" and "web cannot reach db" tell or ask how it is, not how it should be. */
function refuseReports(tokens: readonly Token[]): void {
  const wished = tokens.some(({ sym }) => sym === 'POLITE' || (sym && STARTS.has(sym)));
  if (wished) return;
  if (tokens.at(-1)?.text === '?') {
    throw new Refusal(
      'This is a question, and only changes are planned here: ask check_connectivity_at who may reach whom.',
      ['Should something change? Then say "let … reach …" or "deny … access to …".'],
    );
  }
  if (tokens.some(({ sym, text }) => sym === 'MAY_NOT' && text.startsWith('can not'))) {
    throw new Refusal('It is not clear whether this tells what is, or what should be.', [
      'Should it be forbidden? Then say "must not". Should it work? Then say "let … reach …".',
    ]);
  }
}

/** What would be misread most dangerously is asked first. */
function refuseTraps(rest: readonly Token[], text: string): void {
  const has = (...syms: Sym[]) => rest.find(({ sym }) => sym !== undefined && syms.includes(sym));
  if (has('KEEP_OPEN')) {
    throw new Refusal(`${quoted(text)} says what should not be done, not what should be.`, [
      'Should it be allowed? Then say "let … reach …". Should a policy that forbids it go? Then say "delete the policy <name>".',
    ]);
  }
  const vague = has('VAGUE_TIME');
  if (vague)
    throw new Refusal(`${quoted(vague.text)} is no time that a policy can end at.`, [
      'Until when? Write "for 2 hours" or "until 18:00".',
    ]);
  const condition = has('CONDITION');
  if (condition)
    throw new Refusal(`${quoted(condition.text)} sets a condition, and a policy knows none.`, [
      'What should hold now, whatever happens?',
    ]);
  if (has('NOTHING_ELSE') || rest.at(-1)?.sym === 'ONLY') throw unclearOnly();
}

function unclearOnly(): Refusal {
  return new Refusal('It is not clear what "only" or "nothing else" holds for.', [
    'Should nobody else reach the target? Then end with "and nobody else".',
    'Should the target be closed on other ports? Then say "limit <target> to port <port>".',
  ]);
}

function notUnderstood(rest: readonly Token[], whole: readonly Token[]): Refusal {
  if (rest.some(({ sym }) => sym === 'ONLY')) return unclearOnly();
  const [first] = rest;
  if (rest.some(({ sym }) => sym === 'NOT')) {
    return new Refusal(`${quoted(said(rest))} is not understood: it is not certain what "not" is about.`, [
      'What should be forbidden? Say "deny <source> access to <target>".',
    ]);
  }
  const on = rest.findIndex(({ sym }) => sym === 'ON' || sym === 'OVER');
  const what = rest.slice(on + 1).find(({ text }) => text !== 'the');
  if (on > 0 && what && what.sym === undefined) return unknownPort(what.text);
  const meant = first && first.sym === undefined && !first.quoted ? nearest(first.text, VERBS, 2) : [];
  if (meant.length > 0 && first) {
    return new Refusal(`${quoted(first.text)} is no verb that is known.`, [
      `Did you mean ${meant.map(quoted).join(' or ')}?`,
    ]);
  }
  return new Refusal(
    `${quoted(said(whole))} is not understood. What can be said, for example: ${EXAMPLES.join('; ')}. Each with "on port 443", "for 2 hours", "except ci" or "and nobody else" where it makes sense.`,
  );
}

function said(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join(' ');
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
