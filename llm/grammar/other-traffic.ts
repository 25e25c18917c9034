import type { Sym, Token } from './lexicon.ts';
import { quoted, Refusal, said } from './refusal.ts';
import type { Statement } from './statements.ts';
import { worded } from './wording.ts';

const CLOSING: ReadonlySet<Sym> = new Set(['DENY', 'CLOSE', 'CUT']);
const OTHERS =
  /^(?:(?:everything|anything|all) else|(?:all|any|every|all the|the) other(?: traffic| connections?| access)?|the rest)$/;
const LINKS: ReadonlySet<Sym> = new Set(['FROM', 'TO', 'ON', 'OF']);
const DENY: Token = { text: 'block', quoted: false, sym: 'DENY' };
const FROM: Token = { text: 'from', quoted: false, sym: 'FROM' };
const TO: Token = { text: 'to', quoted: false, sym: 'TO' };

/**
 * "…, and close everything else from laptop": all other traffic out of who reaches by the order before, or into who is
 * reached by it, in words that say which of the two.
 *
 * @throws Refusal where it is somebody else, or may be either
 */
export function withOtherTraffic(tokens: readonly Token[], before: Statement | undefined): readonly Token[] {
  const verb = tokens[0]?.sym;
  const at = tokens.findIndex(({ sym }) => sym && LINKS.has(sym));
  const who = tokens.slice(at + 1);
  const others = tokens.slice(1, at);
  if (
    !verb ||
    !CLOSING.has(verb) ||
    at < 2 ||
    who.length === 0 ||
    !OTHERS.test(said(others)) ||
    who.some(({ sym }) => sym)
  )
    return tokens;
  const outward = tokens[at]?.sym === 'FROM';
  const { source = [], target = [] } = before?.slots ?? {};
  const [isSource, isTarget] = [said(who) === said(source), said(who) === said(target)];
  const text = said(others);
  if (outward && isSource) return [DENY, { text, quoted: false, sym: 'OTHER_OUT' }, FROM, ...who];
  if (!outward && isTarget) return [DENY, { text, quoted: false, sym: 'OTHER_IN' }, TO, ...who];
  const kept = before && `${said(before.words)}; `;
  const slots = { who, source, target };
  const beside = { ports: before?.ports ?? [], until: undefined };
  const way = outward
    ? ['block {who} from everyone', 'block {who} from everyone except {target}']
    : ['block all traffic to {who}'];
  const turned = outward && isTarget ? ['block all traffic to {who} except from {source}'] : [];
  const closings = worded([...turned, ...way], slots, { ...beside, ports: [] });
  throw new Refusal(
    `It is not clear what ${quoted(text)} in ${quoted(said(tokens))} leaves open${before ? ` beside ${quoted(said(before.words))}` : ''}.`,
    [
      `Which traffic should be closed: all that ${quoted(said(who))} ${outward ? 'sends' : 'receives'}, or a part of it? Which of these is meant?`,
    ],
    { choices: closings.map((closing) => `${kept ?? ''}${closing}`) },
  );
}
