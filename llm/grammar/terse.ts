import type { Sym, Token } from './lexicon.ts';
import { ARTICLES } from './phrases.ts';
import { portsAt } from './ports.ts';
import { attempt } from './refusal.ts';
import type { Vocabulary } from './vocabulary.ts';

const LET: Token = { text: 'let', quoted: false, sym: 'LET' };
const REACH: Token = { text: 'reach', quoted: false, sym: 'REACH' };
const LINKS: ReadonlySet<Sym> = new Set(['FROM', 'TO', 'BETWEEN']);
const NAMES_ONLY: ReadonlySet<Sym> = new Set([
  ...(['FROM', 'TO', 'BETWEEN', 'AND', 'COMMA', 'OR', 'ONLY', 'OF', 'EXCEPT', 'FOR', 'UNTIL', 'POLITE'] as const),
  ...(['NOBODY_ELSE', 'MUTUAL', 'ON', 'OVER', 'ACCESS'] as const),
]);

/** `deny all but 443 to web-1`: all traffic, and not all peers. */
export function withTraffic(tokens: readonly Token[]): readonly Token[] {
  const [verb, all, except] = tokens;
  const closes = verb?.sym === 'DENY' || verb?.sym === 'CLOSE';
  if (!verb || !closes || all?.text !== 'all' || except?.sym !== 'EXCEPT' || has(tokens, 'FROM')) return tokens;
  return attempt(() => portsAt(tokens, 3)) ? [verb, { ...all, sym: 'ACCESS' }, ...tokens.slice(2)] : tokens;
}

/** `rdp from anna-laptop to ci-1`: a service and two sides without a verb asks for it to be open. */
export function withVerb(tokens: readonly Token[]): readonly Token[] {
  const named = attempt(() => portsAt(tokens, 0));
  const link = named && tokens[named.end]?.sym;
  if (!link || !LINKS.has(link)) return tokens;
  const rest = tokens.slice(named.end);
  const sides = link === 'BETWEEN' || (has(rest, 'FROM') && has(rest, 'TO'));
  return sides && rest.every(({ sym }) => !sym || NAMES_ONLY.has(sym)) ? [LET, ...tokens] : tokens;
}

/** What a client does with what it reaches, and so says who reaches whom. What servers do (serve, answer) is none. */
const CLIENT_VERBS: ReadonlySet<string> = new Set([
  ...['deploy', 'push', 'send', 'print', 'upload', 'write', 'publish', 'ship', 'report', 'replicate', 'sync', 'copy'],
  ...[
    'forward',
    'log',
    'post',
    'stream',
    'register',
    'authenticate',
    'subscribe',
    'mirror',
    'export',
    'dump',
    'submit',
  ],
  ...['transfer', 'rsync', 'scp', 'backup', 'release', 'deliver', 'point', 'dial', 'browse', 'join'],
]);
const FETCHING: ReadonlySet<string> = new Set([
  'pull',
  'fetch',
  'download',
  'read',
  'get',
  'load',
  'collect',
  'gather',
]);
/** Words of what is sent or fetched, at most. */
const MAX_OBJECT = 5;

/**
 * `ci-1 must be able to print on printer-1 over port 631`: between a source and a target that are known, with a port, the
 * verb says nothing but "reach".
 */
export function withReach(tokens: readonly Token[], vocabulary: Vocabulary): readonly Token[] {
  const at = tokens.findIndex(
    ({ sym, text, quoted }) =>
      !quoted && (sym === undefined || sym === 'REVOKE') && (CLIENT_VERBS.has(text) || FETCHING.has(text)),
  );
  const verb = tokens[at];
  if (!verb || !isFramed(tokens, at, vocabulary)) return tokens;
  const length = tokens
    .slice(at + 1, at + 2 + MAX_OBJECT)
    .findIndex(({ sym }) => sym !== undefined && sym !== 'PRONOUN' && sym !== 'AND' && sym !== 'OF');
  const link = tokens[at + 1 + length];
  const object = tokens.slice(at + 1, at + 1 + length);
  const links = FETCHING.has(verb.text) ? link?.sym === 'FROM' : link?.sym === 'TO' || link?.sym === 'ON';
  if (length < 0 || !links || object.some(({ text, quoted }) => quoted || vocabulary.isName(text))) return tokens;
  const target = at + 2 + length;
  const isPort = (from: number) => attempt(() => portsAt(tokens, from)) !== undefined;
  if (object.some((_, index) => isPort(at + 1 + index)) || isPort(target) || !isNamed(tokens, target)) return tokens;
  const ported = tokens.some(
    ({ sym, text }, index) =>
      index > target && (((sym === 'ON' || sym === 'OVER') && isPort(index + 1)) || /^[^:=]+:\d+$/.test(text)),
  );
  if (!ported) return tokens;
  const start = tokens[at - 1]?.sym === 'TO' ? at - 1 : at;
  return [...tokens.slice(0, start), REACH, ...tokens.slice(target)];
}

/** After "may", "needs to", or "let … to". */
function isFramed(tokens: readonly Token[], at: number, { isName: known }: Vocabulary): boolean {
  const before = tokens[tokens[at - 1]?.sym === 'ALSO' ? at - 2 : at - 1];
  if (before?.sym === 'MAY') return true;
  if (before?.sym === 'NEEDS') return before.text.endsWith(' to');
  const isLet = tokens.slice(0, at).some(({ sym }) => sym === 'LET');
  const side = before?.sym === 'TO' ? tokens[at - 2] : before;
  return isLet && side !== undefined && !side.sym && (side.quoted || known(side.text) || /s$/.test(side.text));
}

function isNamed(tokens: readonly Token[], from: number): boolean {
  let at = from;
  while (ARTICLES.has(tokens[at]?.text ?? '')) at++;
  const token = tokens[at];
  return token !== undefined && !token.sym;
}

function has(tokens: readonly Token[], sym: Sym): boolean {
  return tokens.some((token) => token.sym === sym);
}
