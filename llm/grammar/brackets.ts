import type { Token } from './lexicon.ts';
import { isNoun } from './nouns.ts';
import { portsAt } from './ports.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { timeAt } from './times.ts';
import type { Vocabulary } from './vocabulary.ts';

const FOR: Token = { text: 'for', quoted: false, sym: 'FOR' };
const ON: Token = { text: 'on', quoted: false, sym: 'ON' };
const OPEN_ENDED = new Refusal('A bracket is opened and not closed, or the other way round.', [
  'Which words belong into the bracket?',
]);

/**
 * Reads what stands in brackets: `api-1 (port 8443)`, `postgres (5432)`, `(role=web and env=prod)`.
 *
 * @throws Refusal for anything else in brackets.
 */
export function withoutBrackets(tokens: readonly Token[], vocabulary: Vocabulary): Token[] {
  const found: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.sym === 'BRACKET_END') throw OPEN_ENDED;
    if (token.sym !== 'BRACKET') {
      found.push(token);
      continue;
    }
    const end = tokens.findIndex(({ sym }, index) => index > at && sym === 'BRACKET_END');
    const inner = tokens.slice(at + 1, end);
    if (end < 0 || inner.some(({ sym }) => sym === 'BRACKET')) throw OPEN_ENDED;
    const label = labelsOf(inner);
    if (label) found.push(...label);
    else addPorts(found, inner, { tokens, at, end, vocabulary });
    at = end;
  }
  return found;
}

/** One word for labels that must all hold; with "or" each stands for itself. */
function labelsOf(inner: readonly Token[]): readonly Token[] | undefined {
  const terms = inner.filter((_, index) => index % 2 === 0);
  const links = inner.filter((_, index) => index % 2 === 1);
  const areTerms = terms.every(({ sym, text, quoted: named }) => !sym && !named && /^[^=]+=[^=]+$/.test(text));
  if (inner.length % 2 === 0 || !areTerms) return undefined;
  if (links.every(({ sym }) => sym === 'AND' || sym === 'COMMA'))
    return [{ text: terms.map(({ text }) => text).join(','), quoted: false }];
  if (links.every(({ sym }) => sym === 'OR')) return inner;
  throw new Refusal(`${quoted(said(inner))} joins labels by "and" and by "or".`, ['Which of them belong together?']);
}

interface Place {
  readonly tokens: readonly Token[];
  readonly at: number;
  readonly end: number;
  readonly vocabulary: Vocabulary;
}

function addPorts(found: Token[], inner: readonly Token[], { tokens, at, end, vocabulary }: Place): void {
  const lead = inner[0]?.sym === 'ON' || inner[0]?.sym === 'OVER' ? inner.slice(1) : inner;
  const time = timeAt([FOR, ...inner], 0, vocabulary);
  if (time?.end === inner.length + 1) {
    found.push(FOR, ...inner);
    return;
  }
  const named = portsAt(lead, 0);
  const aside = tokens.slice(at, end + 1);
  if (named?.end !== lead.length || lead.length === 0) {
    throw new Refusal(
      `It is not clear what ${quoted(said(aside))} changes.`,
      [`Does ${quoted(said(inner))} say which ports, or which peers? Say it without brackets.`],
      { choices: [said([...tokens.slice(0, at), ...tokens.slice(end + 1)])] },
    );
  }
  const [before, last] = [found.at(-2), found.at(-1)];
  const after = tokens.slice(end + 1);
  // "permit modbus (tcp 502)", "postgres (5432)": the bracket tells the ports of the service before it.
  if (
    last &&
    !last.sym &&
    !last.quoted &&
    !isNoun(last.text) &&
    !vocabulary.isName(last.text) &&
    isBeforePorts(before)
  ) {
    // "dns (tcp and udp)": the word says the port, which the bracket does not.
    if (!lead.some(({ text }) => /\d/.test(text)))
      throw new Refusal(`${quoted(said(aside))} names no port, and ${quoted(last.text)} would be lost.`, [
        `Which ports are ${quoted(last.text)}? Name them with their protocol, such as "tcp 53 and udp 53".`,
      ]);
    found.splice(-1, 1, ...lead);
    return;
  }
  const link = found.findLast(({ sym }) => sym === 'FROM' || sym === 'TO' || sym === 'REACH' || sym === 'ARROW');
  const isSource = after.some(({ sym }) => sym === 'REACH' || sym === 'REACHING' || sym === 'ARROW');
  if (isSource || (link?.sym === 'FROM' && after.some(({ sym }) => sym === 'TO'))) {
    throw new Refusal(`${quoted(said(aside))} stands beside who reaches, and ports belong to who is reached.`, [
      'On which ports of the target should it be? Name them after the target.',
    ]);
  }
  found.push(ON, ...lead);
}

function isBeforePorts(token: Token | undefined): boolean {
  const syms = ['LET', 'OPEN', 'DENY', 'CLOSE', 'NO', 'OVER', 'ON', 'KEEP', 'NEEDS', 'EXCEPT', 'MAY'];
  return token === undefined || (token.sym !== undefined && syms.includes(token.sym));
}
