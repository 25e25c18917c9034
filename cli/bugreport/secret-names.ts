import { REMOVED } from './removed.ts';

/** What names of secrets have in them, in any spelling: AWS_SECRET_ACCESS_KEY, dbPassword, X-Api-Key, psk, Set-Cookie. */
const IN_A_NAME = ['pass', 'pwd', 'psk', 'secret', 'token', 'credential', 'key', 'auth', 'cookie', 'session'];
/** The same where it is a word of the name: within other words these stand by chance. */
const A_WORD = new Set([
  'pw',
  'otp',
  'pin',
  'jwt',
  'sid',
  'sig',
  'cred',
  'creds',
  'pat',
  'bearer',
  'basic',
  'salt',
  'nonce',
]);
/** Words of a sentence that a secret may follow. */
const IN_PROSE = new Set([
  ...['password', 'passwd', 'passphrase', 'pass', 'pwd', 'pw', 'psk', 'secret', 'token', 'credential', 'key', 'otp'],
  ...['bearer', 'basic', 'cookie', 'apikey', 'authorization'],
]);
/** What follows such a word in a sentence that tells of a secret and does not say it. */
const FUNCTION_WORDS = new Set([
  ...[
    'of',
    'in',
    'is',
    'was',
    'were',
    'are',
    'for',
    'and',
    'or',
    'that',
    'which',
    'with',
    'by',
    'on',
    'to',
    'at',
    'not',
  ],
  ...[
    'from',
    'has',
    'it',
    'its',
    'this',
    'the',
    'no',
    'over',
    'where',
    'stays',
    'file',
    'again',
    'here',
    'until',
    'than',
  ],
]);

/** Names of `name=value` whose value is a word or a sentence like any other; the value of any other name goes. */
export const PLAIN_NAMES: ReadonlySet<string> = new Set([
  // Fields of lines that the node logs; a test holds them against its code.
  ...['version', 'peers', 'reason', 'kind', 'taken', 'by', 'why', 'tool', 'onlyFamily', 'wait', 'code', 'obstacle'],
  ...['held', 'error', 'err', 'workspace', 'peer', 'received', 'sent', 'endpoint', 'rules', 'path'],
  // What ip, wg, resolvectl and Node say of themselves.
  ...['errno', 'syscall', 'LLMNR', 'mDNS', 'DNSOverTLS', 'DNSSEC', 'mtu', 'dev', 'via', 'server', 'MULTICAST'],
]);

/** A sentence of the log about a peer, whose name says nothing of what follows it. */
const OF_A_PEER = /^: (?:probing|ice-ready|lrp-ready|failed|closed)[: ]/;

/** A line without what stands behind the name of a secret, or is the value of a name that is not known as plain. */
export function withoutNamed(line: string, known: ReadonlySet<string>): string {
  let safe = '';
  let at = 0;
  const name = /[A-Za-z][\w.-]*/g;
  for (let found = name.exec(line); found; found = name.exec(line)) {
    const end = name.lastIndex;
    const rest = line.slice(end, end + MOST_LOOKED_AT);
    const gap = gapBehind(found[0], rest, line[found.index - 1]);
    if (!gap) continue;
    const value = line.slice(end + gap.length);
    if (value.trim() === '' || isPlain(value, known) || (known.has(found[0]) && OF_A_PEER.test(rest))) continue;
    safe += `${line.slice(at, end + gap.length)}${REMOVED}`;
    if (gap.takesLine) return safe;
    at = end + gap.length + (/^[^\s&;,"')\]}]*/.exec(value)?.[0].length ?? 0);
    name.lastIndex = at;
  }
  return safe + line.slice(at);
}

/** Whether a line ends with the name of a secret, which the next line then says. */
export function announcesSecret(line: string): boolean {
  let end = line.slice(-128).trimEnd();
  // YAML begins a text of several lines so.
  if (end.endsWith('|') || end.endsWith('>')) end = end.slice(0, -1).trimEnd();
  if (!end.endsWith(':') && !end.endsWith('=')) return false;
  const name = end
    .split(/[^\w.-]/)
    .filter((word) => word !== '')
    .at(-1);
  return name !== undefined && isSecretName(name);
}

/** A header of HTTP. */
const HEADER = /^(?:[Xx]-|[A-Z]\w*-[A-Z])/;
/** Between a name and its separator: quotes of JSON, also of JSON within strings of JSON. */
const MOST_LOOKED_AT = 64;

/** What stands between a name and the value that goes; undefined where none goes. */
function gapBehind(
  name: string,
  rest: string,
  before: string | undefined,
): { readonly length: number; readonly takesLine: boolean } | undefined {
  const separated = /^["'\\]*\s*(?:[:=：＝﹕]>?|->|→|%3[AD])\s*/i.exec(rest)?.[0];
  const isSecret = isSecretName(name);
  if (separated !== undefined && isSecret) return { length: separated.length, takesLine: true };
  // A list of values, or a call.
  if (isSecret && /^[,(][^\s,)]/.test(rest)) return { length: 1, takesLine: false };
  const spaces = /^\s+/.exec(rest)?.[0].length;
  if (spaces !== undefined && isSecret && (before === '-' || HEADER.test(name)))
    return { length: spaces, takesLine: true };
  if (spaces !== undefined && before === '-' && isOptionOfASecret(name, rest))
    return { length: spaces, takesLine: false };
  if (spaces !== undefined && IN_PROSE.has(name.toLowerCase())) {
    const said = /^\s+(?:(?:is|was|are|were)\s+)?/.exec(rest)?.[0].length ?? spaces;
    const next = /^\S*/.exec(rest.slice(said))?.[0].replace(/[.,;:!?)]{1,4}$/, '') ?? '';
    return FUNCTION_WORDS.has(next.toLowerCase()) ? undefined : { length: said, takesLine: false };
  }
  const isOfAQuery = before === '?' || before === '&';
  if (!/^=[^=\s]/.test(rest) || (PLAIN_NAMES.has(name) && !isOfAQuery)) return undefined;
  return { length: 1, takesLine: /^=["'\\]/.test(rest) };
}

/** `-p password` of many programs, `-u name:password` of some. */
function isOptionOfASecret(name: string, rest: string): boolean {
  return name === 'p' || (/^(?:u|U|user|proxy-user)$/.test(name) && /^\s+[^\s:]*:\S/.test(rest));
}

function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  if (IN_A_NAME.some((part) => lower.includes(part))) return true;
  return name.split(/[^A-Za-z]|(?<=[a-z])(?=[A-Z])/).some((word) => A_WORD.has(word.toLowerCase()));
}

/** A public key that is known, or what a program writes in place of a secret. */
function isPlain(value: string, known: ReadonlySet<string>): boolean {
  const word = /^["'\\]*([^\s"'\\,]*)/.exec(value)?.[1] ?? '';
  return known.has(word) || word === REMOVED || ['(hidden)', '(none)'].includes(word);
}
