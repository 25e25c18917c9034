import type { Token } from './lexicon.ts';
import { quoted, Refusal, said } from './refusal.ts';
import type { Statement } from './statements.ts';

const EXCEPT: Token = { text: 'except', quoted: false, sym: 'EXCEPT' };
const OTHERS =
  /^(?:every(?:one|body|thing) else|any(?:one|body|thing) else|(?:all|every|any) others?(?: \w+)?|the (?:rest|others))$/;
const EVERYONE: Token = { text: 'everyone', quoted: false };

/**
 * "Everyone else" is everyone but those on the other side of the sentence, or those who were named before it.
 *
 * @throws Refusal when nobody was named before.
 */
export function withElse(statement: Statement, before: Statement | undefined): Statement {
  const { source, target } = statement.slots;
  if (isOthers(target) && source && !isOthers(source)) {
    // "Isolate web-1 and db-1 from everyone else": what they reach of each other is not the others'.
    if (statement.wish === 'separate') return { ...statement, wish: 'among', slots: { both: source } };
    return put(statement, 'target', source);
  }
  if (!isOthers(source)) return statement;
  const named = before?.slots['source'];
  const same = before && said(before.slots['target'] ?? []) === said(target ?? []);
  if (named && same) return put(statement, 'source', named);
  throw new Refusal(
    `It is not clear whom ${quoted(said(source ?? []))} leaves out.`,
    [`Everyone but whom? Say "everyone except <peers>".`],
    { replace: source ?? [], by: ['everyone', ...(named ? [`everyone except ${said(named)}`] : [])] },
  );
}

function isOthers(tokens: readonly Token[] | undefined): boolean {
  const words = tokens ?? [];
  return words.every(({ quoted: named, sym }) => !named && !sym) && OTHERS.test(said(words));
}

function put(statement: Statement, slot: 'source' | 'target', but: readonly Token[]): Statement {
  return { ...statement, slots: { ...statement.slots, [slot]: [EVERYONE, EXCEPT, ...but] } };
}
