import { formatInstant } from '../../core/base/time.ts';
import { formOf } from './forms.ts';
import type { Sym, Token } from './lexicon.ts';
import { takeModifiers } from './modifiers.ts';
import { portList } from './port-entries.ts';
import { portsAt } from './ports.ts';
import { attempt, quoted, Refusal, said } from './refusal.ts';
import type { Vocabulary } from './vocabulary.ts';

/** One of several who are named, and the ports that are named beside. */
interface Item {
  readonly who: readonly Token[];
  readonly ports: string;
}

interface Listed {
  readonly start: number;
  readonly end: number;
  readonly items: readonly Item[];
}

/** What is closed to all but those who are listed: who reaches them, or whom they reach. */
interface Meant {
  readonly source?: string;
  readonly target?: string;
  /** Nothing else stays open by "limit"; any other word leaves open whether it holds for those ports alone. */
  readonly isWhole: boolean;
  /** Milliseconds. */
  readonly until: number | undefined;
}

const JOINTS: ReadonlySet<Sym> = new Set(['AND', 'COMMA', 'OR']);
const LINKS: ReadonlySet<Sym> = new Set(['FROM', 'BY', 'TO']);
const EVERYONE = /^(?:everyone|everybody|anyone|anybody|everything|anything|all)$/;

/**
 * "Nobody may reach db except api on 5432 and monitor on 9100": several who are left out or let alone, each with ports of
 * their own. "Limit access to db to …" says what else is closed; others can be meant of those ports alone and are asked about.
 *
 * @returns the same as sentences that name each by itself; undefined for any other sentence
 * @throws Refusal with each reading as a choice
 */
export function eachWithPorts(tokens: readonly Token[], vocabulary: Vocabulary): string | undefined {
  const listed = listIn(tokens, vocabulary);
  const meant = listed && meantBy(tokens, listed, vocabulary);
  if (!listed || !meant) return undefined;
  const tail = meant.until === undefined ? '' : ` until ${formatInstant(meant.until)}`;
  const { whole, ports, granted } = readingsOf(meant, listed.items);
  const withTail = (sentences: readonly string[]) => sentences.map((one) => `${one}${tail}`).join('; ');
  if (meant.isWhole) return withTail(whole);
  throw new Refusal(
    `It is not clear whether ${quoted(said(tokens))} closes the ports that it names alone, or all others too.`,
    ['Which of the two is meant?'],
    { choices: [withTail(whole), withTail(ports), withTail([...granted, ...whole])] },
  );
}

function readingsOf({ source, target }: Meant, items: readonly Item[]) {
  const names = items.map(({ who, ports }) => ({ name: said(who), ports }));
  if (target !== undefined) {
    return {
      whole: [
        `block everyone from ${target} except ${names.map((one) => `${one.ports} from ${one.name}`).join(' except ')}`,
      ],
      ports: names.map((one) => `let only ${one.name} reach ${target} on ${one.ports}`),
      granted: names.map((one) => `let ${one.name} reach ${target} on ${one.ports}`),
    };
  }
  return {
    whole: [
      `block ${source} from everyone except ${names.map((one) => `${one.ports} to ${one.name}`).join(' except ')}`,
    ],
    ports: names.map(
      (one) => `limit ${source}${source?.endsWith('s') ? "'" : "'s"} access to ${one.name} to ${one.ports}`,
    ),
    granted: names.map((one) => `let ${source} reach ${one.name} on ${one.ports}`),
  };
}

/** What the sentence says of those who are listed, read without their ports. */
function meantBy(tokens: readonly Token[], { start, end, items }: Listed, vocabulary: Vocabulary): Meant | undefined {
  const names = items.flatMap(({ who }, at) => (at === 0 ? who : [AND, ...who]));
  const isLeftOut = tokens[start - 1]?.sym === 'EXCEPT' && tokens[start - 2]?.sym !== 'NOBODY';
  const words = isLeftOut
    ? [...tokens.slice(0, start - (tokens[start - 2]?.sym === 'COMMA' ? 2 : 1)), ...tokens.slice(end)]
    : [...tokens.slice(0, start), ...names, ...tokens.slice(end)];
  const taken = attempt(() => takeModifiers(words, vocabulary));
  const { form, slots = {} } = (taken && formOf(taken.rest)) ?? {};
  if (!form || !taken || taken.ports.length + taken.spared.length > 0 || taken.exclusive || taken.mutual)
    return undefined;
  const { until } = taken;
  const [source, target] = [slots['source'], slots['target']].map((side) => side && said(side));
  if (isLeftOut) {
    if (form.wish !== 'deny') return undefined;
    if (target && !EVERYONE.test(target) && (source === undefined || EVERYONE.test(source)))
      return { target, isWhole: false, until };
    return source && target && EVERYONE.test(target) ? { source, isWhole: true, until } : undefined;
  }
  const isListed = (side: string | undefined) => side === said(names);
  if ((form.wish === 'only' || form.wish === 'limitAccess') && target && isListed(source))
    return { target, isWhole: form.wish === 'limitAccess', until };
  return form.wish === 'onlyTo' && source && isListed(target) ? { source, isWhole: false, until } : undefined;
}

const AND: Token = { text: 'and', quoted: false, sym: 'AND' };

/** The names with ports of their own that stand in a row. */
function listIn(tokens: readonly Token[], { isName }: Vocabulary): Listed | undefined {
  for (let start = 0; start < tokens.length; start++) {
    if (tokens[start]?.sym || (start > 0 && !tokens[start - 1]?.sym)) continue;
    const items: Item[] = [];
    let end = start;
    for (let at = start; ; ) {
      const item = itemAt(tokens, at, isName);
      if (!item) break;
      items.push(item);
      end = item.end;
      at = end;
      while (JOINTS.has(tokens[at]?.sym ?? 'LET')) at++;
      if (at === end) break;
      const link = tokens[start - 1]?.sym;
      if (link && LINKS.has(link) && tokens[at]?.sym === link) at++;
    }
    if (items.length > 1) return { start, end, items };
  }
  return undefined;
}

/** `the api on 5432`. */
function itemAt(
  tokens: readonly Token[],
  start: number,
  isName: Vocabulary['isName'],
): (Item & { readonly end: number }) | undefined {
  let at = start;
  while (at < tokens.length && !tokens[at]?.sym) at++;
  const who = tokens.slice(start, at);
  const isWho = who.some(({ text, quoted: named }) => named || isName(text) || /[=\d]/.test(text));
  const link = tokens[at]?.sym;
  const named = isWho && (link === 'ON' || link === 'OVER') ? attempt(() => portsAt(tokens, at + 1)) : undefined;
  if (!named || named.ports.length === 0) return undefined;
  return { who, ports: portList(named.ports), end: named.end };
}
