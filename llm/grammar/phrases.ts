/** The words and phrases of the language, apart by `|`. */

/** Kinds of words that forms are made of ({@link FORMS}). Words of kinds that stand in no form are never read. */
export type Sym = keyof typeof PHRASES;

/** Returns each variant of the parts, one after the other: `|a ` and `b|c` are `b|c|a b|a c`. */
function product(...parts: readonly string[]): string {
  return parts
    .map((part) => part.split('|'))
    .reduce((all, part) => all.flatMap((head) => part.map((tail) => head + tail)))
    .join('|');
}

const REACHED =
  'reach|access|connect to|connect with|connect into|talk to|talk with|speak to|communicate with|contact|call|query|scrape|poll|use|get to|get into|hit|open connections to|initiate connections to|start connections to|connect out to|reach out to|go out to|talk out to|send traffic to|log in to|log into|have access to|get access to';
const REACHING =
  'reaching|accessing|connecting to|talking to|talking with|speaking to|communicating with|contacting|calling|querying|using|getting to|getting into|opening connections to|initiating connections to|connecting out to|going out to|touching|sending traffic to|logging in to|logging into|having access to|being able to reach|being able to access';
const MAY_NOT =
  'can not|may not|should not|must not|shall not|is not allowed to|are not allowed to|is not permitted to|are not permitted to|should never|must never|may never|can never|should no longer|must no longer|may no longer|can no longer|is no longer allowed to|are no longer allowed to|will not';
const [IN, OUT] = ['inbound|incoming|ingress', 'outbound|outgoing|egress'];
const TRAFFIC = '| traffic| connections| connection| access';
const CLOSED =
  ' closed| is closed| is blocked| stays closed| remains closed| must be closed| should be closed| is denied';
const STAYS =
  ' stay as they are| stays as it is| remain as they are| remains as it is| are not affected| unchanged| untouched| stay unchanged| stays unchanged';
const OTHER_PORTS = 'other ports|all other ports|the other ports|its other ports|every other port';
const ALSO = '|and |but |with ';
const NOBODY_ELSE =
  'nobody else|no one else|no-one else|noone else|none else|no other peer|no other peers|no other host|no other hosts|no other device|no other devices';

function noOther(direction: string): string {
  return [
    product(ALSO, 'no other ', direction, TRAFFIC),
    product(ALSO, 'nothing else ', direction),
    product(ALSO, 'everything else |all else ', direction, CLOSED),
  ].join('|');
}

export const PHRASES = {
  LET: 'let|lets|allow|permit|still let|still allow|still permit|add|create|enable|i want|we want|i need|we need|i would like|we would like|we get|can we get|could we get',
  GIVE: 'give|grant',
  OPEN: 'open|open up',
  DENY: 'deny|block|forbid|stop|prevent|refuse|prohibit|ban|bar|reject|disallow|drop|shut out|shut off|shut|lock out|do not let|do not allow|do not permit|do not give|do not grant|never let|never allow|never permit|no longer let|no longer allow|no longer permit|stop letting|stop allowing|stop permitting',
  CLOSE: 'close|close off',
  KEEP: 'keep|leave|keep allowing|keep letting',
  ISOLATE: 'isolate|quarantine|cut off|fence off|seal off|wall off|disconnect',
  SEPARATE: 'separate|segregate',
  CUT: 'cut|take',
  LOCK: 'lock|lock down',
  OFF: 'off|down|off the network|off the mesh',
  REVOKE: 'revoke|withdraw|pull|cancel|remove|take away|take back|rescind',
  LIMIT: 'limit|restrict|narrow|narrow down|confine',
  DELETE: 'delete|erase',
  UNDO: 'undo|revert|roll back|rollback|take that back|reverse',
  WHITELIST: 'whitelist|allowlist',
  PUT: 'put|place',
  MAKE: 'make',
  REACH: product('|to ', REACHED),
  REACHING: product('|from |be ', REACHING),
  TALK: product('|to |to be able to |be able to ', 'talk|communicate|connect|speak'),
  TALKING: product('|from ', 'talking|communicating|speaking'),
  ISOLATED: 'be isolated|be quarantined|be cut off|be locked down|be disconnected|be separated',
  BLOCKED: 'be blocked|be denied|be barred|be banned|be kept|be prevented|be stopped',
  ALLOWED: 'be allowed|be permitted|be enabled',
  ACCEPT:
    'be reached|be accessed|be used|be queried|be contacted|be reachable|be accessible|be open|accept|receive|reachable|accessible',
  ACCESS: product('|all |any |all the |the ', 'access|traffic|connections|connection|communication|connectivity'),
  INCOMING: product('|all |any |the ', IN, TRAFFIC),
  OUTGOING: product('|all |any |the ', OUT, TRAFFIC),
  MAY: 'can|may|should|must|shall|can still|may still|should still|must still|is allowed to|are allowed to|is permitted to|are permitted to|is able to|are able to|has to|have to|ought to|may also|should also|must also|can also|should be allowed to|must be allowed to|should be able to|must be able to|will be able to|should be given|must be given|should have|must have|can have|may have|gets|get|should get|needs to|need to|should be allowed|must be allowed|to be able to|be able to',
  NEEDS: 'needs|need|requires|require',
  MAY_NOT: product(MAY_NOT, '| be able to| be allowed to| have'),
  NOBODY: 'nobody|no one|no-one|no peer|no peers|no node|no device|no host|no machine',
  ONLY: 'nothing but|nothing except|nothing other than|only|solely|exclusively',
  ALONE: 'alone',
  NOBODY_ELSE: product('|and |but ', NOBODY_ELSE),
  NOTHING_ELSE: product('|and |but ', 'nothing else|nothing more'),
  EXCEPT:
    "except|except for|but|but not|other than|apart from|excluding|with the exception of|aside from|save for|without|and not|unless they are|unless they're|if they are not|who are not|who is not|that are not|that is not",
  INSTEAD: 'instead of|rather than|in place of|instead',
  SAME: 'the same|do the same|same',
  ELSE_CLOSED: product(
    `${ALSO}|keep |leave `,
    'everything else stays closed|everything else remains closed|everything else closed|everything else is closed|everything else should stay closed|everything else stays as it is|nothing else changes|nothing else should change|all else stays closed|the rest stays closed',
  ),
  NO_OTHER_IN: noOther(IN),
  NO_OTHER_OUT: noOther(OUT),
  OTHER_IN: `${product('all other |every other |any other ', IN, TRAFFIC)}|${product('everything else ', IN)}`,
  OTHER_OUT: `${product('all other |every other |any other ', OUT, TRAFFIC)}|${product('everything else ', OUT)}`,
  OTHER: 'everything else|all else|all other traffic|all other access|anything else',
  NOTHING_IN: product('|and |but ', 'nothing in|nothing goes in|nothing comes in|nothing gets in'),
  NOTHING_OUT: product('|and |but ', 'nothing out|nothing goes out|nothing comes out|nothing gets out'),
  OTHER_PORTS_STAY: `${product(ALSO, OTHER_PORTS, STAYS)}|${product('do not change |do not touch ', `${OTHER_PORTS}|any other port`)}|${product('leave |keep ', OTHER_PORTS, ' as they are| alone| unchanged')}`,
  INBOUND_STAYS: product(ALSO, `what comes in|whatever comes in|${product(IN, TRAFFIC)}`, STAYS),
  OUTBOUND_STAYS: product(ALSO, `what goes out|whatever goes out|${product(OUT, TRAFFIC)}`, STAYS),
  NEED_NOT: product('no longer |does not |do not ', 'needs|need|requires|require|needs anything|need anything'),
  LOSE: 'lose|loses',
  BETWEEN: 'between|among',
  MUTUAL: 'each other|one another|themselves',
  BOTH_WAYS: 'in both directions|both ways|in either direction|and vice versa',
  FROM: 'from|off from|away from|out of',
  TO: 'to|into|towards',
  ARROW: '->',
  FOR: 'for',
  ON: 'on|at',
  OVER: 'over|via|through',
  OF: 'of|owned by|belonging to',
  BY: 'by',
  POSS: "'s",
  AND: 'and|plus|as well as|along with|together with',
  OR: 'or',
  PRONOUN: 'it|them|its|their',
  COMMA: ',',
  STOP: ';|?|.',
  THEN: 'then|and then|after that|afterwards',
  ALSO: 'also|and also|additionally|in addition',
  POLICY: 'policy|the policy|policy named|the policy named|policy called|the policy called',
  BY_DEFAULT: 'by default',
  LAST: 'the last change|last change|my last change|the latest change|the previous change|that|it|this|that change|this change',
  NO: 'no|no more',
  UNREACHABLE: 'be unreachable|be inaccessible|unreachable|inaccessible',
  QUARANTINED: 'in quarantine|into quarantine|in isolation|into isolation',
  APART: 'apart|apart from each other|separated',
  TEMPORARILY: 'temporarily|for now|for the time being|briefly',
  FOR_GOOD: 'for good|forever|for ever|permanently|indefinitely',
  REASON: 'because|because of|due to|so that|given that',
  POLITE:
    'please|plz|so|so please|kindly|can you|could you|would you|will you|make sure|make sure that|ensure|ensure that|i want to|we want to|i need to|we need to|i would like to|we would like to|i want you to|we want you to|right now|now|immediately|asap|as soon as possible|thanks|thank you|hi|hello|hey|ok|okay|from now on|too|as well|on its own|on their own|at all|anymore|any more|any longer|on any port|!',
  CONDITION:
    'if|unless|provided|provided that|when|whenever|while|since|after|before|once|as long as|in case|maybe|perhaps|probably|possibly|might|not|never|neither|nor|they|some|some of|a few|a few of|most|most of|several|several of|half of|one of|any one of|many|many of|those|these|either|whichever|just',
} satisfies Readonly<Record<string, string>>;

/** Questions about words that are never read, by their kind. */
export const UNREAD: Readonly<Partial<Record<Sym, string>>> = {
  CONDITION: 'Orders hold without conditions, and for all whom they name. Who is meant, and what should hold?',
  TEMPORARILY: 'For how long? Say "for 2 hours" or "until 18:00".',
  REASON: 'Leave the reason out, or say it in the intent of a workflow.',
  EXCEPT: 'Who or what is left out? Say it in an order of its own.',
  ONLY: 'Should others be closed, or other ports? Say "only web may reach db on 5432" or "limit db to port 5432".',
  NOTHING_ELSE: 'What else should be closed? Say "limit access to db to web on 5432", or leave it out.',
  OTHER: 'What else should be closed, to whom or from whom?',
};
