import { nearest } from '../../core/base/nearest.ts';
import { formOf } from './forms.ts';
import type { Sym, Token } from './lexicon.ts';
import { VERBS } from './lexicon.ts';
import type { Slots } from './match.ts';
import type { Modifiers } from './modifier.ts';
import { isFiller } from './phrases.ts';
import { meantPorts, portList } from './port-entries.ts';
import { unknownPort } from './ports.ts';
import { enumerated, quoted, Refusal, said } from './refusal.ts';
import type { Vocabulary } from './vocabulary.ts';
import { worded } from './wording.ts';

type Beside = Omit<Modifiers, 'rest'>;

/** What would be misread most dangerously is asked first. */
export function refuseTraps(rest: readonly Token[], beside: Beside): void {
  const text = said(rest);
  const has = (...syms: Sym[]) => rest.find(({ sym }) => sym !== undefined && syms.includes(sym));
  const opposite = has('KEEP_OPEN');
  if (opposite) {
    throw new Refusal(`${quoted(text)} says what should not be done, not what should be.`, [
      `Should it be allowed? Then say "let … reach …". Should a policy that forbids it go? Then name the policy.`,
    ]);
  }
  const [first] = rest;
  const isFrom = rest.some(({ sym, text: word }) => sym === 'FROM' || (sym === 'REACHING' && word.startsWith('from ')));
  if (first?.sym === 'KEEP' && first.text !== 'keep' && isFrom && !has('ACCESS', 'UNREACHABLE', 'MUTUAL')) {
    throw new Refusal(
      `It is not clear whether ${quoted(text)} forbids something.`,
      [
        'Should it be forbidden? Then say "keep … away from …". Should it stay open? Then say "keep access from … to …".',
      ],
      { final: true },
    );
  }
  const vague = has('VAGUE_TIME');
  if (vague) {
    throw new Refusal(
      `${quoted(vague.text)} is no time that a policy can end at.`,
      [`Until when is ${quoted(vague.text)}? Write "for 2 hours" or "until 18:00".`],
      { replace: [vague], by: ['for 1 hour', 'for 8 hours', 'for 1 day'] },
    );
  }
  const at = rest.findIndex(({ sym }) => sym === 'CONDITION');
  const condition = rest[at];
  if (condition) {
    const clause = rest.slice(at);
    throw new Refusal(
      `${quoted(said(clause))} sets a condition, and a policy knows none.`,
      ['What should hold now, whatever happens? Leave the condition out, or wait until it is so.'],
      { ...(at > 0 && { replace: clause, by: [exceptionIn(clause)] }) },
    );
  }
  const instead = has('INSTEAD_OF');
  if (instead) throw unclearSwap(rest);
  if (has('NOTHING_ELSE') || rest.at(-1)?.sym === 'ONLY') throw unclearOnly(rest, beside);
}

/** What "unless it is ci-1" leaves out; of other conditions nothing is kept. */
function exceptionIn(clause: readonly Token[]): string {
  if (clause[0]?.text !== 'unless') return '';
  const verb = clause.findIndex(({ text }) => text === 'is' || text === 'are');
  const [lead, who] = [clause.slice(1, verb), clause.slice(verb + 1)];
  return verb > 0 && lead.length === 1 && who.length > 0 ? `except ${said(who)}` : '';
}

const LIMITING: ReadonlySet<Sym> = new Set(['ONLY', 'NOTHING_ELSE', 'COMMA', 'AND']);

const JOINING: ReadonlySet<Sym> = new Set(['AND', 'COMMA', 'EXCEPT']);

/** "Web may only reach db on 5432": nobody else, nothing else on db, or nothing else at all. */
export function unclearOnly(rest: readonly Token[], modifiers: Beside, known?: Slots): Refusal {
  const beside: Beside = { ...modifiers, ports: meantPorts(modifiers) };
  const word = rest.find(({ sym }) => sym === 'NOTHING_ELSE') ?? rest.find(({ sym }) => sym === 'ONLY');
  const plain = rest.filter((token, at) => {
    const next = rest[at + 1]?.sym;
    const limiting = token.sym === 'ONLY' || token.sym === 'NOTHING_ELSE';
    return !limiting && !(token.sym && JOINING.has(token.sym) && next && LIMITING.has(next));
  });
  const slots = known ?? formOf(plain)?.slots ?? {};
  if (rest.some(({ sym }) => sym === 'MAY_NOT'))
    return new Refusal(
      `It is not clear what ${quoted(word?.text ?? 'only')} holds for in ${quoted(said(rest))}.`,
      ['Should they be kept from it, and all others stay as they are?'],
      isNotOnly(rest) ? { final: true } : { choices: worded(['block {source} from {target}{on}'], slots, beside) },
    );
  const templates =
    beside.ports.length > 0
      ? [
          'only {source} may reach {target}{on}',
          'limit access to {target} to {source}{on}',
          "limit {source}'s access to {target} to {ports}",
          'limit {target} to {ports}',
        ]
      : [
          'only {source} may reach {target}',
          ...(rest.some(({ sym }) => sym === 'LET') ? ['let only {source} reach {target}'] : []),
          'block {source} from everyone except {target}',
        ];
  const mutual = beside.ports.length > 0 ? TOGETHER_ON_PORTS : TOGETHER;
  // "Db may be reached by web only" says nothing of what else web reaches.
  const isPassive = rest.some(({ sym }) => sym === 'ACCEPT');
  const others = worded(slots['both'] ? mutual : templates, withPorts(slots, beside), beside).filter(
    (text) => !(isPassive && text.startsWith('block ')),
  );
  const isGrant = rest.some(({ sym }) => sym === 'LET' || sym === 'OPEN' || sym === 'NOTHING_ELSE');
  const granting = isGrant ? grantOnly(slots, beside) : [];
  const [first, second, third] = others;
  const onPorts = [first, second, ...granting, third, ...(isPassive ? [] : egressOnly(slots, beside))].flatMap(
    (one) => one ?? [],
  );
  const outward = word?.sym === 'NOTHING_ELSE' && !slots['both'] ? egressGranted(slots, beside) : [];
  const alone = outward.length > 0 ? [...outward, ...granting, ...(third ? [third] : [])] : onPorts;
  const choices = beside.ports.length > 0 ? alone : others;
  return new Refusal(
    `It is not clear what ${quoted(word?.text ?? 'only')} holds for: who reaches, who is reached, or the ports.`,
    [
      'Should nobody else reach the target? Then end with "and nobody else".',
      'Should the target be closed on other ports? Then say "limit <target> to port <port>".',
    ],
    // "Keep only web reaching db" opens nothing, and the choices do not tell at which end it closes.
    rest[0]?.sym === 'KEEP' ? { final: true } : { choices },
  );
}

/** "May not only reach web" says that there is more, and forbids nothing. */
function isNotOnly(rest: readonly Token[]): boolean {
  return rest.some(({ sym }, at) => sym === 'MAY_NOT' && rest[at + 1]?.sym === 'ONLY');
}

/** "Web-1 and db-1 may reach each other and nothing else". */
const TOGETHER = ['isolate {both} from everyone except each other', 'let {both} reach each other{on} and nobody else'];

const TOGETHER_ON_PORTS = ['limit access between {both} to {ports}', 'let {both} reach each other{on} and nobody else'];

/** Closes all other targets, then the other ports of this one. */
function egressOnly(slots: Slots, beside: Beside): string[] {
  const [first] = worded(['block {source} from everyone except {target}'], slots, { ...beside, ports: [] });
  const [second] = worded(["limit {source}'s access to {target} to {ports}"], withPorts(slots, beside), {
    ...beside,
    ports: [],
  });
  return first && second ? [`${first}; ${second}`] : [];
}

/** Opens the ports where they are closed, and closes all else that the source reaches. */
function egressGranted(slots: Slots, beside: Beside): string[] {
  const [first] = worded(['let {source} reach {target}{on}'], slots, beside);
  const [second] = worded(['block {source} from everyone except {ports} to {target}'], withPorts(slots, beside), {
    ...beside,
    ports: [],
  });
  return first && second ? [`${first}; ${second}`] : [];
}

/** Opens the ports where they are closed, and closes the others of the same two. */
function grantOnly(slots: Slots, beside: Beside): string[] {
  const [first] = worded(['let {source} reach {target}{on}'], slots, beside);
  const [second] = worded(["limit {source}'s access to {target} to {ports}"], withPorts(slots, beside), beside);
  return first && second ? [`${first}; ${second}`] : [];
}

function withPorts(slots: Slots, { ports }: Beside): Slots {
  return ports.length > 0 ? { ...slots, ports: [{ text: portList(ports), quoted: false }] } : slots;
}

/** "Let web reach db-2 instead of db-1": whether the old access is granted or merely open decides how it goes. */
function unclearSwap(rest: readonly Token[]): Refusal {
  const at = rest.findIndex(({ sym }) => sym === 'INSTEAD_OF');
  return new Refusal(`${quoted(said(rest.slice(at)))} asks for one thing to open and another to close.`, [
    'How should the old access end: should a grant be taken back, or should it be forbidden?',
  ]);
}

/** Whether a word is no name, and none that links or counts them. */
export function isStrange({ sym, text, quoted: named }: Token, { isName }: Vocabulary): boolean {
  return !sym && !named && !isFiller(text) && !isName(text) && /^[a-z]+$/.test(text);
}

/** Says which words are understood and which are not. */
export function notUnderstood(
  rest: readonly Token[],
  whole: readonly Token[],
  beside: Beside,
  vocabulary: Vocabulary,
): Refusal {
  if (rest.some(({ sym }) => sym === 'ONLY')) return unclearOnly(rest, beside);
  const [first] = rest;
  if (rest.some(({ sym }) => sym === 'NOT')) {
    return new Refusal(`${quoted(said(rest))} is not understood: it is not certain what "not" is about.`, [
      'What should be forbidden? Say "deny <source> access to <target>".',
    ]);
  }
  const on = rest.findIndex(({ sym }) => sym === 'ON' || sym === 'OVER');
  const what = rest.slice(on + 1).find(({ text }) => text !== 'the');
  if (on > 0 && what && what.sym === undefined && !vocabulary.isName(what.text)) return unknownPort(what.text);
  const meant = first && first.sym === undefined && !first.quoted ? nearest(first.text, VERBS, 2) : [];
  if (meant.length > 0 && first) {
    return new Refusal(
      `${quoted(first.text)} is no verb that is known.`,
      [`Did you mean ${meant.map(quoted).join(' or ')}?`],
      { replace: [first], by: meant },
    );
  }
  const strange = rest.filter((token) => isStrange(token, vocabulary));
  const why =
    strange.length > 0
      ? `no peer, label or word of the grammar is ${enumerated([...new Set(strange.map(({ text }) => quoted(text)))], 4)}`
      : 'its words are known, but not in this order';
  return new Refusal(`${quoted(said(whole))} is not understood: ${why}.`, [
    'Who should reach whom, on which ports, or no longer?',
  ]);
}
