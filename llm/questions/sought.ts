import type { SoughtChange } from '../../core/history/pair/question-reader.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import { serviceAt } from './ports.ts';
import { REACHING } from './words.ts';

const CLOSED =
  /^(?:block(?:s|ed|ing)?|ban(?:s|ned)?|bar(?:s|red)|cut|clos(?:e|es|ed|ing)|shut|den(?:y|ies|ied)|disconnect(?:s|ed)?|drop(?:s|ped)?|fail(?:s|ed|ing)?|forbids?|forbidden|fr[eo]eze|froze|frozen|ignor(?:e|es|ed)|inaccessible|isolat(?:e|es|ed)|kept|los(?:e|es|ing|t)|br(?:eak|eaks|oke|oken)|prevent(?:s|ed)?|refus(?:e|es|ed)|reject(?:s|ed)?|remov(?:e|es|ed)|restrict(?:s|ed)?|revok(?:e|es|ed)|stop(?:s|ped|ping)?|tak(?:e|es|en)|took|unavailable|unreachable)$/;
const OPENED =
  /^(?:admit(?:s|ted)?|allow(?:s|ed)?|approv(?:e|es|ed)|(?:re)?open(?:s|ed|ing)?|expos(?:e|es|ed)|g[ao]ve|giv(?:e|es|en)|gain(?:s|ed)?|g[eo]t|gets|grant(?:s|ed)?|lets?|permit(?:s|ted)?|unblock(?:s|ed)?|accessible|able|access)$/;
const GIVEN =
  /^(?:admit(?:s|ted)?|allow(?:s|ed)?|approv(?:e|es|ed)|g[ao]ve|giv(?:e|es|en)|g[eo]t|gets|grant(?:s|ed)?|lets?|permit(?:s|ted)?)$/;
const NOT =
  /^(?:not|never|cannot|cant|can't|couldn't|isn't|wasn't|hasn't|haven't|aren't|weren't|don't|doesn't|didn't|won't|unable|without)$/;
const FIRST: ReadonlySet<string> = new Set(['first', 'initially', 'originally', 'ever']);
const CAUSE: ReadonlySet<string> = new Set(['who', 'whom', 'whose', 'when', 'since', 'why', 'how']);
const DOERS: ReadonlySet<string> = new Set(['anyone', 'anybody', 'someone', 'somebody']);
const CHANGED = /^(?:chang|happen)/;

/** Which change of a connection a question asks for; none where it asks how it is, or for all that happened. */
export function soughtIn(words: readonly Word[], taken: ReadonlySet<number>): SoughtChange | undefined {
  const texts = words.map((_, at) => (taken.has(at) ? '' : textAt(words, at)));
  const has = (test: RegExp) => texts.some((text) => test.test(text));
  const isFirst = texts.some((text) => FIRST.has(text));
  if (asksUntil(texts)) return { change: 'end' };
  const closings = texts.flatMap((text, at) => (CLOSED.test(text) ? [at] : []));
  const isAsked =
    texts.some((text) => CAUSE.has(text) || DOERS.has(text)) ||
    (/^(?:what|which)$/.test(texts.find((text) => text !== '') ?? '') && (closings.length > 0 || has(GIVEN)));
  if (!isAsked) return isFirst && texts.includes('ever') ? { change: 'opened', isFirst } : undefined;
  const first = isFirst && { isFirst };
  const isTakenBack = closings.some(
    (at) => NOT.test(texts[at - 1] ?? '') || ['longer', 'stopped'].includes(texts[at - 1] ?? ''),
  );
  if ((closings.length > 0 || has(NOT) || texts.includes('longer')) && !isTakenBack)
    return { change: 'closed', ...first };
  const reaches = texts.some((text, at) => REACHING.has(text) || (taken.has(at) && serviceAt(words, at)));
  if (!isTakenBack && !has(OPENED) && (!reaches || has(CHANGED))) return undefined;
  return {
    change: 'opened',
    ...first,
    ...(has(/^approv/) && { isApproved: true }),
    ...(has(GIVEN) && { isGiven: true }),
  };
}

/** `until when can ci reach db-1?`, `how long may ci reach db-1?`, `when does its access end?` */
function asksUntil(texts: readonly string[]): boolean {
  const isWhen = texts.includes('when');
  const isEnd = texts.some((text) => /^(?:ends?|expires?|lapses?)$/.test(text));
  const isToLose = texts.includes('will') && texts.some((text) => CLOSED.test(text));
  if (isWhen && (isEnd || isToLose)) return true;
  return texts.some((text, at) => {
    const [next, after] = [texts[at + 1] ?? '', texts[at + 2] ?? ''];
    const isHowLong = text === 'how' && next === 'long' && ['can', 'may', 'will'].includes(after);
    return isHowLong || (['until', 'till'].includes(text) && next === 'when');
  });
}
