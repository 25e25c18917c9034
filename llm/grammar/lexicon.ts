import { BESIDE_PHRASES } from './beside-phrases.ts';
import { each, suffixed } from './phrase-lists.ts';
import type { Word } from './tokens.ts';

/** The words of the grammar. Whoever has such a word for a name is named in quotes. */
export type Sym =
  | 'LET'
  | 'OPEN'
  | 'DENY'
  | 'CLOSE'
  | 'KEEP'
  | 'KEEP_OPEN'
  | 'ISOLATE'
  | 'CUT'
  | 'LOCK'
  | 'OFF'
  | 'REVOKE'
  | 'LIMIT'
  | 'DELETE'
  | 'RENAME'
  | 'DISABLE'
  | 'UNDO'
  | 'REACH'
  | 'REACHING'
  | 'TALK'
  | 'ACCEPT'
  | 'ISOLATED'
  | 'BLOCKED'
  | 'ALLOWED'
  | 'ACCESS'
  | 'INCOMING'
  | 'OUTGOING'
  | 'MAY'
  | 'NEEDS'
  | 'MAY_NOT'
  | 'NOBODY'
  | 'ONLY'
  | 'NOBODY_ELSE'
  | 'NOTHING_ELSE'
  | 'TO_NOBODY_ELSE'
  | 'EXCEPT'
  | 'INSTEAD_OF'
  | 'ELSE_CLOSED'
  | 'NO_OTHER_IN'
  | 'NO_OTHER_OUT'
  | 'OTHER_IN'
  | 'OTHER_OUT'
  | 'NOTHING_IN'
  | 'NOTHING_OUT'
  | 'OTHER_PORTS_STAY'
  | 'INBOUND_STAYS'
  | 'OUTBOUND_STAYS'
  | 'NEED_NOT'
  | 'BETWEEN'
  | 'MUTUAL'
  | 'FROM'
  | 'TO'
  | 'ARROW'
  | 'FOR'
  | 'ON'
  | 'OVER'
  | 'OF'
  | 'BY'
  | 'POSS'
  | 'AND'
  | 'OR'
  | 'COMMA'
  | 'STOP'
  | 'THEN'
  | 'ALSO'
  | 'POLICY'
  | 'BY_DEFAULT'
  | 'LAST_CHANGE'
  | 'NOT'
  | 'NO'
  | 'UNTIL'
  | 'VAGUE_TIME'
  | 'FOR_GOOD'
  | 'CONDITION'
  | 'REASON'
  | 'BRACKET'
  | 'BRACKET_END'
  | 'SOME'
  | 'PRONOUN'
  | 'POLITE'
  | 'MAKE'
  | 'REACHABLE'
  | 'UNREACHABLE'
  | 'WHITELIST'
  | 'PUT'
  | 'QUARANTINED'
  | 'LOSE'
  | 'APART';

/** A word of the grammar, or without `sym` a word that must be part of a name, a port or a time. */
export interface Token extends Word {
  readonly sym?: Sym;
}

const REACHED =
  'reach|access|connect to|connect with|connect into|talk to|talk with|speak to|speak with|communicate with|contact|call|query|scrape|poll|use|get to|get into|hit|open connections to|open connections with|initiate connections to|initiate connections with|start connections to|connect out to|reach out to|go out to|talk out to|send traffic to|log in to|log into|have access to|get access to|gain access to';
const REACHING =
  'reaching|accessing|connecting to|talking to|talking with|speaking to|communicating with|contacting|calling|querying|using|getting to|getting into|hitting|opening connections to|initiating connections to|connecting out to|going out to|touching|sending traffic to|logging in to|logging into|having access to|being able to reach|being able to access';
const MAY =
  'can|may|should|must|shall|can still|may still|should still|must still|is allowed|are allowed|is permitted|are permitted|is able|are able|ought';
const MAY_NOT =
  'can not|may not|should not|must not|shall not|is not allowed|are not allowed|is not permitted|are not permitted|should never|must never|may never|can never|is never allowed|are never allowed|should no longer|must no longer|may no longer|can no longer|is no longer allowed|are no longer allowed|will not';

const PHRASES: Readonly<Record<Sym, string>> = {
  LET: 'let|lets|allow|permit|still let|still allow|still permit|add|create|set up|enable|authorize|authorise|grant|give|i want|we want|i need|we need|i would like|we would like|start allowing|start letting|we get|can we get|could we get',
  OPEN: 'open|open up',
  DENY: 'deny|block|forbid|stop|prevent|refuse|prohibit|ban|bar|reject|disallow|drop|shut out|shut off|lock out|do not let|do not allow|do not permit|do not give|do not grant|do not enable|never let|never allow|never permit|never give|never grant|no longer let|no longer allow|no longer permit|stop letting|stop allowing|stop permitting|start blocking|start denying',
  KEEP: 'keep|leave|retain|preserve|keep allowing|keep letting',
  CLOSE: 'close|shut|close off',
  KEEP_OPEN:
    'do not block|do not deny|do not forbid|do not stop|do not prevent|do not isolate|do not close|do not cut|do not revoke|do not remove|do not limit|do not restrict|never block|never isolate|never deny|stop blocking|stop denying|stop isolating|no longer block|no longer deny|no longer isolate|unblock|unisolate|un-isolate|unquarantine|un-quarantine|do not quarantine|stop quarantining|no longer quarantine',
  ISOLATE: 'isolate|quarantine|cut off|fence off|seal off|wall off|separate|disconnect|segregate|air-gap',
  CUT: 'cut|fence|seal|wall|take',
  LOCK: 'lock|lock down',
  OFF: 'off|down|off the network|off the mesh',
  REVOKE: 'revoke|withdraw|pull|cancel|remove|take away|take back|rescind|retract',
  LIMIT: 'limit|restrict|narrow|narrow down|confine|reduce',
  DELETE: 'delete|erase',
  RENAME: 'rename',
  DISABLE: 'disable|deactivate|switch off|turn off|suspend|pause|re-enable|reactivate|turn on|switch on',
  UNDO: 'undo|revert|roll back|rollback|take that back|reverse',
  REACH: `${each('|to |to be able to |be able to ', REACHED)}|${each('be ', REACHING)}`,
  REACHING: each('|from |from ever ', REACHING),
  TALK: each('|to |to be able to ', 'talk|communicate|connect|speak'),
  ISOLATED: 'be isolated|be quarantined|be cut off|be locked down|be disconnected|be separated',
  BLOCKED: 'be blocked|be denied|be barred|be banned|be kept|be prevented|be stopped|be forbidden',
  ALLOWED: 'be allowed|be permitted|be enabled|be possible',
  ACCEPT: 'be reached|be accessed|be used|be queried|be contacted|be reachable|be accessible|be open|accept|receive',
  ACCESS: each(
    '|all |any |all the |the ',
    'access|traffic|connections|connection|communication|connectivity|connection attempts',
  ),
  INCOMING: directed('incoming|inbound|ingress'),
  OUTGOING: directed('outgoing|outbound|egress'),
  MAY: `${each('', MAY)}|${suffixed(' to', 'is allowed|are allowed|is permitted|are permitted|is able|are able|has|have|ought')}|should be allowed to|must be allowed to|should be able to|must be able to|will be able to|should be given|should be granted|must be given|can be given|may be given|should have|must have|can have|may have|gets|get|should get`,
  NEEDS: `needs|need|requires|require|${suffixed(' to', 'needs|need')}`,
  MAY_NOT: `${MAY_NOT}|${suffixed(' be able to', MAY_NOT)}|${suffixed(' be allowed to', MAY_NOT)}|${suffixed(' to', 'is not allowed|are not allowed|is not permitted|are not permitted|is never allowed|are never allowed|is no longer allowed|are no longer allowed')}|${suffixed(' have', MAY_NOT)}`,
  NOBODY: 'nobody|no one|no-one|none|no peer|no peers|no node|no device|no host|no machine',
  ONLY: 'nothing but|nothing except|nothing other than|only|just|solely|exclusively',
  NOBODY_ELSE: each(
    'and |but |',
    'nobody else|no one else|no-one else|noone else|none else|nobody|no one|no-one|no other peer|no other peers|no other node|no other nodes|no other device|no other devices|no other host|no other hosts|no other machine|no other machines',
  ),
  NOTHING_ELSE: each('and |but |', 'nothing else|nothing more|nothing besides'),
  TO_NOBODY_ELSE: each(
    'and |but |',
    each(
      'to |with ',
      'nobody else|no one else|no-one else|noone else|none else|nothing else|no other peer|no other peers|no other host|no other hosts|no other device|no other devices',
    ),
  ),
  EXCEPT:
    'except|except for|but|but not|other than|apart from|excluding|with the exception of|aside from|save for|without|and not',
  INSTEAD_OF: 'instead of|rather than|in place of',
  ELSE_CLOSED: each(
    '|and |but |with |keep |leave ',
    'everything else stays closed|everything else remains closed|everything else closed|everything else stays blocked|everything else is closed|everything else should stay closed|everything else must stay closed|everything else stays as it is|nothing else changes|nothing else should change|all else stays closed|the rest stays closed',
  ),
  ...BESIDE_PHRASES,
  NEED_NOT: each(
    'no longer |does not |do not ',
    'needs|need|requires|require|needs anything|need anything|needs any access|need any access',
  ),
  BETWEEN: 'between|among|amongst',
  MUTUAL:
    'each other|one another|in both directions|both ways|both directions|mutually|and vice versa|vice versa|bidirectionally|in either direction|themselves',
  FROM: 'from|off from|away from|out of',
  TO: 'to|down to|into|towards|toward',
  ARROW: '->',
  FOR: 'for',
  ON: 'on|at',
  OVER: 'over|via|through|using|by way of',
  OF: 'of|owned by|belonging to|that belong to|which belong to|that belongs to|which belongs to|that are owned by',
  BY: 'by',
  POSS: "'s",
  AND: 'and|plus|as well as|along with|together with',
  OR: 'or',
  COMMA: ',',
  STOP: ';|?|.',
  THEN: 'then|and then|after that|afterwards',
  ALSO: 'also|and also|additionally|in addition',
  POLICY: 'policy|the policy|policy named|the policy named|policy called|the policy called|rule|the rule',
  BY_DEFAULT: 'by default',
  LAST_CHANGE:
    'the last change|last change|my last change|the latest change|the previous change|the last one|the change|that|it|this|that change|this change|what you did|the most recent change|the last thing',
  NO: 'no|no more',
  NOT: 'not|never|no longer|nor|neither|do not',
  UNTIL: 'until|till|til',
  VAGUE_TIME:
    'temporarily|for now|for a while|for some time|for the moment|for the time being|briefly|until further notice|for a bit|tonight|today|tomorrow',
  FOR_GOOD:
    'for good|forever|for ever|permanently|indefinitely|for all time|without an end|without end|with no end|without an end date|with no end date|with no expiry|without expiry',
  CONDITION:
    'if|unless|provided|provided that|when|whenever|while|since|after|before|once|as long as|in case|except when|maybe|perhaps|probably|possibly|might',
  REASON: 'because|because of|due to|so that|as a consequence of|given that|reason is|the reason is',
  BRACKET: '(',
  BRACKET_END: ')',
  MAKE: 'make',
  REACHABLE: 'reachable|accessible',
  UNREACHABLE: 'be unreachable|be inaccessible|be unavailable|unreachable|inaccessible',
  WHITELIST: 'whitelist|allowlist',
  PUT: 'put|place',
  QUARANTINED: 'in quarantine|into quarantine|in isolation|into isolation',
  LOSE: 'lose|loses',
  APART: 'apart|apart from each other|separated|separated from each other',
  SOME: 'some|some of|a few|a few of|most|most of|several|several of|half of|one of|any one of|many|many of',
  PRONOUN: 'it|them|they|him|her|this|these|those|that|that one|the same|its|their',
  POLITE:
    'please|kindly|can you|could you|would you|will you|can we|could we|can you please|could you please|would you please|make sure|make sure that|ensure|ensure that|see to it that|i want to|we want to|i need to|we need to|i would like to|we would like to|i want you to|we want you to|i need you to|we need you to|i would like you to|we would like you to|right now|now|immediately|asap|as soon as possible|at once|thanks|thank you|many thanks|cheers|hi|hello|hey|ok|okay|hi there|from now on|effective immediately|go ahead and|first|firstly|too|as well|so please|on its own|on their own|not longer|and not longer|but not longer|for me|for us|at all|anymore|any more|any longer',
};

/** `all inbound traffic`, `outgoing connections`, `egress`. */
function directed(words: string): string {
  const all = each('|all |any |all the |the ', words);
  return `${all}|${suffixed(' access', all)}|${suffixed(' traffic', all)}|${suffixed(' connections', all)}|${suffixed(' connection', all)}`;
}

const SYM_OF: ReadonlyMap<string, Sym> = new Map(
  (Object.entries(PHRASES) as [Sym, string][])
    .toReversed()
    .flatMap(([sym, phrases]) => phrases.split('|').map((phrase) => [phrase, sym])),
);
const LONGEST = Math.max(...[...SYM_OF.keys()].map((phrase) => phrase.split(' ').length));

/** Recognises the words of the grammar: at each place the longest phrase. */
export function recognise(words: readonly Word[]): Token[] {
  const found: Token[] = [];
  for (let at = 0; at < words.length; ) {
    const run = phraseAt(words, at);
    const word = words[at];
    if (word === undefined) break;
    found.push(run ? { text: run.text, quoted: false, sym: run.sym } : word);
    at += run?.length ?? 1;
  }
  return found.map((token, index) =>
    isNoun(token, found[index - 1], found[index + 1]) ? { ...token, sym: 'ACCESS' } : token,
  );
}

const AFTER_NOUN: ReadonlySet<Sym> = new Set([
  'TO',
  'FROM',
  'BETWEEN',
  'FOR',
  'ON',
  'OF',
  'OVER',
  'BY',
  'EXCEPT',
  'NOBODY_ELSE',
  'TO_NOBODY_ELSE',
  'STOP',
  'COMMA',
  'UNTIL',
  'ONLY',
  'BRACKET',
]);

const BEFORE_ALL: ReadonlySet<Sym> = new Set(['LET', 'OPEN', 'DENY', 'CLOSE', 'REVOKE', 'CUT']);
const AFTER_ALL: ReadonlySet<Sym> = new Set(['FROM', 'TO', 'BETWEEN', 'ON', 'EXCEPT']);

/** "Access" is a verb before who is reached, else a noun; so is "everything" in "block everything from ci". */
function isNoun({ text, quoted }: Token, before: Token | undefined, next: Token | undefined): boolean {
  if (quoted) return false;
  if (text === 'everything' || text === 'anything') {
    return (
      before?.sym !== undefined && BEFORE_ALL.has(before.sym) && next?.sym !== undefined && AFTER_ALL.has(next.sym)
    );
  }
  if (text !== 'access') return false;
  return before?.sym === 'POSS' || next === undefined || (next.sym !== undefined && AFTER_NOUN.has(next.sym));
}

function phraseAt(words: readonly Word[], at: number): { text: string; sym: Sym; length: number } | undefined {
  const slice = words.slice(at, at + LONGEST);
  const quote = slice.findIndex(({ quoted }) => quoted);
  for (let length = quote < 0 ? slice.length : quote; length > 0; length--) {
    const text = slice
      .slice(0, length)
      .map((word) => word.text)
      .join(' ');
    const sym = SYM_OF.get(text);
    if (sym) return { text, sym, length };
  }
  return undefined;
}

/** All phrases of the grammar. */
export const PHRASES_SAID: readonly string[] = [...SYM_OF.keys()];

/** The verbs of the grammar as they may be typed, for hints about misspelt ones. */
export const VERBS: readonly string[] = (
  ['LET', 'OPEN', 'DENY', 'CLOSE', 'ISOLATE', 'REVOKE', 'LIMIT', 'DELETE', 'UNDO'] as const
).flatMap((sym) => PHRASES[sym].split('|').filter((phrase) => !phrase.includes(' ')));
