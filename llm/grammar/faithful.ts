import { accountOf, has, timesOf, whosOf } from './account.ts';
import { type Compared, isOpenPart, type Offered } from './compared.ts';
import { addsNoLimits, keepsLimits, keepsNegations } from './kept-limits.ts';
import { addsNoNames, keepsNames } from './kept-names.ts';
import { keepsDirections, keepsLists } from './kept-order.ts';
import { keepsPorts, keepsTimes } from './kept-ports.ts';
import { keepsWords } from './kept-words.ts';
import { recognise, type Sym, type Token } from './lexicon.ts';
import { opensJust } from './loosened.ts';
import type { At } from './suggest-atoms.ts';
import { tokenise } from './tokens.ts';

/**
 * Whether a choice accounts for all that was said: every name, label, port, time, limit, direction and order, each in
 * its role. Other words may be left out where the question quotes them.
 */
export function isFaithful(intent: readonly Token[], choice: Offered, told: readonly string[], at: At): boolean {
  const said = accountOf(withoutReasons(intent), at);
  const offered = accountOf(recognise(tokenise(choice.text)), at);
  if (isDeletion(choice, told)) {
    const names = new Set(whosOf(said).flatMap(({ peers }) => peers));
    const ports = said.atoms.flatMap((atom) => (atom.kind === 'ports' ? atom.ports : []));
    const isTimed = timesOf(said).size > 0 || has(said, 'VAGUE_TIME');
    return !isTimed && (!choice.text.includes(';') || opensJust(choice.changes, { names, ports }, at.state, at.now));
  }
  if (isOpenPart(choice, told)) return true;
  return RULES.every((rule) => rule({ said, offered, choice, told, ...at }));
}

/** The end of a policy, or one made again with what is asked for left out: the question says so. */
function isDeletion({ text, asked }: Offered, told: readonly string[]): boolean {
  const [, name] = /^delete the policy (\S+?)(?:;|$)/.exec(text) ?? [];
  return asked && name !== undefined && told.some((one) => one.includes(name));
}

const REASONS: ReadonlySet<Sym> = new Set(['REASON']);
const RESTRICTING: ReadonlySet<Sym> = new Set(['ONLY', 'NOBODY', 'EXCEPT', 'MAY_NOT', 'NO', 'UNTIL', 'LET', 'DENY']);

/** "Because …" at the end, or before the first comma: nothing in it may be asked for. */
function withoutReasons(all: readonly Token[]): readonly Token[] {
  const tokens = withoutReports(all);
  const at = tokens.findIndex(({ sym }) => sym !== undefined && REASONS.has(sym));
  if (at < 0) return tokens;
  const comma = at === 0 ? tokens.findIndex(({ sym }) => sym === 'COMMA') : -1;
  const reason = tokens.slice(at, comma < 0 ? undefined : comma);
  if (reason.some(({ sym }) => sym && RESTRICTING.has(sym))) return tokens;
  return comma < 0 ? tokens.slice(0, at) : tokens.slice(comma + 1);
}

/** "Carla cannot reach db-2. Please allow …": what is, before what should be. */
function withoutReports(tokens: readonly Token[]): readonly Token[] {
  const order = tokens.findLastIndex(({ sym }) => sym === 'LET');
  const found: Token[] = [];
  let clause: Token[] = [];
  for (const [at, token] of tokens.entries()) {
    clause.push(token);
    if (token.sym !== 'STOP' && at < tokens.length - 1) continue;
    const isReport = at < order && clause.some(({ sym, text }) => sym === 'MAY_NOT' && text.startsWith('can not'));
    if (!isReport) found.push(...clause);
    clause = [];
  }
  return found;
}

const RULES: readonly ((compared: Compared) => boolean)[] = [
  keepsNames,
  addsNoNames,
  keepsPorts,
  keepsTimes,
  keepsLimits,
  addsNoLimits,
  keepsNegations,
  keepsLists,
  keepsDirections,
  keepsWords,
];
