import { MeshError } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import { foldName } from '../base/record.ts';
import { quoted } from '../model/find.ts';
import type { Protocol } from '../model/policy.ts';
import type { PeerRecord } from '../model/resources.ts';

/** A connection that a question is about. */
export interface AskedPair {
  readonly src: PeerRecord;
  readonly dst: PeerRecord;
  readonly protocol?: Protocol;
  readonly port?: number;
}

/** Services by the names that people use for their port. */
const SERVICES: Readonly<Record<string, readonly [Protocol, number?]>> = {
  ssh: ['TCP', 22],
  dns: ['UDP', 53],
  http: ['TCP', 80],
  https: ['TCP', 443],
  rdp: ['TCP', 3389],
  mysql: ['TCP', 3306],
  postgres: ['TCP', 5432],
  postgresql: ['TCP', 5432],
  redis: ['TCP', 6379],
  ping: ['ICMP'],
  icmp: ['ICMP'],
  tcp: ['TCP'],
  udp: ['UDP'],
  sctp: ['SCTP'],
};

/** Words that people write out and names shorten. */
const SHORT: Readonly<Record<string, string>> = {
  database: 'db',
  databases: 'db',
  webserver: 'web',
  production: 'prod',
};

/** Words of questions about connections: none of them is meant to be a name that is not known. */
const COMMON = new Set(
  `a about access accessible after again allowed am an and answer any anymore are as at be because been before began being
  between blocked break broke broken but by can can't cannot cant caused change changed come communicate connect connected
  connection could couldn't day days did didn't do does doesn't down exactly fail failing for from get getting happened has
  hasn't have having he host hour hours how i in into is isn't it its last let longer machine me moment my network no node not
  now of off on open our out peer peers port ports reach reachable reached reaching reason see server servers service she since
  some still stop stopped suddenly talk talking than that the their them then there they this time to today traffic unable
  unreachable until up us used via was wasn't we week went were what when where which while who why will with without won't
  work worked working yesterday you`.split(/\s+/),
);

/** Said right before who is reached, and right before who reaches. */
const TOWARDS = new Set(['to', 'into', 'towards', 'with', 'reach', 'reaching', 'access', 'see']);
const FROM = new Set(['from', 'by']);

const MAX_WORDS_OF_NAME = 4;

interface Mention {
  readonly peers: readonly PeerRecord[];
  readonly text: string;
  readonly begin: number;
  readonly end: number;
}

/**
 * The connection that a question in plain words is about. `Since when can't the CI runner reach the database on 5432?` is
 * ci-runner-1 to db-1 on TCP 5432, where no other peer is a CI runner or a database.
 *
 * @param peers everyone who was there in the range
 * @throws MeshError `intent_not_understood` with what to say, where a name is not known, several peers match, or there are
 * not two ends
 */
export function pairInQuestion(question: string, peers: readonly PeerRecord[]): AskedPair {
  const words = wordsOf(question);
  const index = indexOf(peers);
  const mentions = mentionsIn(words, index);
  const rest = words.filter((_, at) => !mentions.some(({ begin, end }) => begin <= at && at < end));
  const ports = portsIn(rest);
  const unknown = rest.filter((word) => isNameLike(word, ports.used));
  const names = peers.map(({ name }) => name);
  const strange = unknown.find((word) => /[\d-]/.test(word)) ?? (mentions.length < 2 ? unknown[0] : undefined);
  if (strange !== undefined) {
    const near = nearest(strange, names);
    throw askBack(`There was no peer ${quoted(strange)} in this range.`, near);
  }
  const many = mentions.find((mention) => mention.peers.length > 1);
  if (many)
    throw askBack(
      `${quoted(many.text)} matches ${many.peers.length} peers: ask about one of them by its name.`,
      many.peers.map(({ name }) => name),
    );
  const distinct = mentions.filter(
    ({ peers: [peer] }, at) => mentions.findIndex((other) => other.peers[0]?.uid === peer?.uid) === at,
  );
  const [one, other, third] = distinct;
  if (!one || !other || third) {
    const told =
      one && !other
        ? `Only ${one.peers[0]?.name} is named.`
        : third
          ? 'More than two peers are named.'
          : 'No peer is named.';
    throw askBack(`${told} Ask about two: "since when can't web-1 reach db-1 on 5432, and why?"`, []);
  }
  const isReversed = isReached(one, words) || isReaching(other, words);
  const [from, to] = isReversed ? [other, one] : [one, other];
  const { used: _, ...asked } = ports;
  const [src, dst] = [from.peers[0], to.peers[0]];
  if (!src || !dst) throw askBack('No peer is named.', []);
  return { src, dst, ...asked };
}

/** @throws nothing; the error that asks a question back, with names that only who may list them is told */
export function askBack(reason: string, names: readonly string[]): MeshError {
  return new MeshError('intent_not_understood', reason, {
    reason,
    questions: [],
    choices: [],
    ...(names.length > 0 && { nearest: names.slice(0, 5), ...(names.length > 5 && { more: names.length - 5 }) }),
  });
}

function wordsOf(question: string): string[] {
  return (question.toLowerCase().match(/[\p{L}\p{N}_.:/=%'’@-]+/gu) ?? [])
    .map((word) => bare(word.replaceAll('’', "'")))
    .flatMap(withPortApart)
    .filter((word) => word !== '');
}

/** Without the signs around it, and without `'s`. */
function bare(word: string): string {
  const SIGNS = ".:'/-";
  let [begin, end] = [0, word.length];
  while (begin < end && SIGNS.includes(word[begin] ?? '')) begin += 1;
  while (end > begin && SIGNS.includes(word[end - 1] ?? '')) end -= 1;
  const text = word.slice(begin, end);
  return text.endsWith("'s") ? text.slice(0, -2) : text;
}

/** `db-1:5432` is a peer and a port. */
function withPortApart(word: string): string[] {
  const at = word.indexOf(':');
  const [name, port] = [word.slice(0, at), word.slice(at + 1)];
  return at > 0 && /^\d{1,5}$/.test(port) && /[a-z]/.test(name) ? [name, port] : [word];
}

/** `db` of `db-1`. */
function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && /\d/.test(name[end - 1] ?? '')) end -= 1;
  if (end < name.length && end > 0 && '-_.'.includes(name[end - 1] ?? '')) end -= 1;
  return name.slice(0, end);
}

type Index = ReadonlyMap<string, readonly PeerRecord[]>;

/** Peers by all that they can be called, folded: name, id, address, host name, a value of a label, `label=value`. */
function indexOf(peers: readonly PeerRecord[]): Index {
  const index = new Map<string, PeerRecord[]>();
  const put = (text: string | null, peer: PeerRecord) => {
    const key = foldName(text ?? '');
    const known = index.get(key);
    if (key === '' || known?.some(({ uid }) => uid === peer.uid)) return;
    if (known) known.push(peer);
    else index.set(key, [peer]);
  };
  for (const peer of peers) for (const text of [peer.name, peer.uid, peer.status.address]) put(text, peer);
  const exact = new Set(index.keys());
  const loosely = (text: string, peer: PeerRecord) => {
    if (!exact.has(foldName(text))) put(text, peer);
  };
  for (const peer of peers) {
    loosely(peer.spec.hostname, peer);
    // `db` means db-1 where there is no peer db.
    loosely(withoutNumber(peer.name), peer);
    for (const [key, value] of Object.entries(peer.labels)) {
      loosely(value, peer);
      loosely(`${key}=${value}`, peer);
    }
  }
  return index;
}

/** The longest run of words that means a peer comes first: `ci runner` before `runner`. */
function mentionsIn(words: readonly string[], index: Index): Mention[] {
  const mentions: Mention[] = [];
  for (let begin = 0; begin < words.length; ) {
    let found: Mention | undefined;
    for (let count = Math.min(MAX_WORDS_OF_NAME, words.length - begin); count > 0 && !found; count--) {
      const run = words.slice(begin, begin + count);
      if (count === 1 && isCommon(run[0] ?? '') && !isExact(run[0] ?? '', index)) break;
      const peers = meant(run, index);
      if (peers) found = { peers, text: run.join(' '), begin, end: begin + count };
    }
    if (found) mentions.push(found);
    begin = found?.end ?? begin + 1;
  }
  return mentions;
}

function isCommon(word: string): boolean {
  return COMMON.has(word) || Object.hasOwn(SERVICES, word);
}

function isExact(word: string, index: Index): boolean {
  return index.get(word)?.some(({ name }) => foldName(name) === word) ?? false;
}

function meant(run: readonly string[], index: Index): readonly PeerRecord[] | undefined {
  const plain = run.join('-');
  const short = run.map((word) => (Object.hasOwn(SHORT, word) ? SHORT[word] : word)).join('-');
  const singular = plain.replace(/s$/, '');
  return [plain, short, singular].map((text) => index.get(text)).find((peers) => peers !== undefined);
}

/** `db-1 ... reached from web-1`, `from web-1 to db-1`: the word before a peer says its side; articles do not count. */
function isReaching({ begin }: Mention, words: readonly string[]): boolean {
  return FROM.has(wordBefore(begin, words));
}

function isReached({ begin }: Mention, words: readonly string[]): boolean {
  return TOWARDS.has(wordBefore(begin, words));
}

function wordBefore(begin: number, words: readonly string[]): string {
  const articles = new Set(['the', 'a', 'an', 'our', 'my', 'peer', 'node', 'host', 'server', 'machine']);
  for (let at = begin - 1; at >= 0; at--) if (!articles.has(words[at] ?? '')) return words[at] ?? '';
  return '';
}

function portsIn(
  words: readonly string[],
): Pick<AskedPair, 'protocol' | 'port'> & { readonly used: ReadonlySet<string> } {
  const used = new Set<string>();
  let protocol: Protocol | undefined;
  let port: number | undefined;
  for (const word of words) {
    const [, before, number, after] = /^(?:(tcp|udp|sctp)[/:])?:?(\d{1,5})(?:\/(tcp|udp|sctp))?$/.exec(word) ?? [];
    const service = Object.hasOwn(SERVICES, word) ? SERVICES[word] : undefined;
    if (number === undefined && !service) continue;
    used.add(word);
    const named = (before ?? after)?.toUpperCase() as Protocol | undefined;
    protocol = named ?? service?.[0] ?? protocol;
    const said = number === undefined ? service?.[1] : Number(number);
    if (said !== undefined && port !== undefined && said !== port)
      throw askBack(`Two ports are named, ${port} and ${said}: ask about one.`, []);
    port = said ?? port;
  }
  if (port !== undefined && (port < 1 || port > 65_535))
    throw askBack(`There is no port ${port}: ports are 1 to 65535.`, []);
  if (protocol === 'ICMP' && port !== undefined) throw askBack('ICMP has no ports: leave the port or ping out.', []);
  const meantProtocol = protocol ?? (port === undefined ? undefined : 'TCP');
  return { ...(meantProtocol && { protocol: meantProtocol }), ...(port !== undefined && { port }), used };
}

function isNameLike(word: string, used: ReadonlySet<string>): boolean {
  return word.length > 1 && !COMMON.has(word) && !used.has(word) && !/^\d{1,2}(am|pm|st|nd|rd|th)?$/.test(word);
}
