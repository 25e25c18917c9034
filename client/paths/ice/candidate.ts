import { containsRange, type IpRange, parseAddress, parseCidr } from '../../../core/model/cidr.ts';
import { formatIp, parseIp } from '../../../platform/ip.ts';
import { familyOf } from '../../family.ts';
import { RELAY_ENDPOINTS } from '../../relay-endpoints.ts';

/** RFC 8445 section 5.1. Relayed candidates are not among them: the relay is not reached by ICE. */
export type CandidateType = 'host' | 'prflx' | 'srflx';

export interface Candidate {
  readonly type: CandidateType;
  readonly address: string;
  readonly port: number;
  readonly priority: number;
}

/** RFC 8445 section 5.1.2.2. */
const TYPE_PREFERENCES: Readonly<Record<CandidateType, number>> = { host: 126, prflx: 110, srflx: 100 };
/** Every interface shares one socket a family; RFC 8421: IPv6 first. */
const LOCAL_PREFERENCES = { ipv4: 65_534, ipv6: 65_535 } as const;
const COMPONENT = 1;
const LINE =
  /^candidate:[A-Za-z0-9+/]{1,32} 1 UDP (\d{1,10}) ([0-9A-Fa-f.:]{2,45}) (\d{1,5}) typ (host|srflx|prflx)(?: |$)/i;

/** RFC 8445 section 5.1.2.1. */
export function priorityOf(type: CandidateType, address: string): number {
  return TYPE_PREFERENCES[type] * 2 ** 24 + LOCAL_PREFERENCES[familyOf(address)] * 2 ** 8 + (256 - COMPONENT);
}

/** An SDP candidate line (RFC 8839 section 5.1). The related address is left out on purpose: it would tell of the network inside. */
export function encodeCandidate({ type, address, port, priority }: Candidate): string {
  const foundation = `${type[0]}${address.includes(':') ? 6 : 4}`;
  const related = type === 'host' ? '' : ` raddr ${address.includes(':') ? '::' : '0.0.0.0'} rport 0`;
  return `candidate:${foundation} ${COMPONENT} UDP ${priority} ${address} ${port} typ ${type}${related}`;
}

/** Undefined for what is no line of ours: host names, TCP, other components and nonsense. */
export function parseCandidate(line: string): Candidate | undefined {
  const [, priority = '', address = '', port = '', type = ''] = LINE.exec(line) ?? [];
  const canonical = canonicalAddress(address);
  const candidate = { type: type.toLowerCase() as CandidateType, port: Number(port), priority: Number(priority) };
  if (canonical === undefined || candidate.port < 1 || candidate.port > 65_535) return undefined;
  if (candidate.priority < 1 || candidate.priority > 0x7fffffff) return undefined;
  return { ...candidate, address: canonical };
}

/** Returns a canonical text of an address, so that texts can be compared; undefined for other texts. */
export function canonicalAddress(text: string): string | undefined {
  const ip = text === '' ? undefined : parseIp(text);
  return ip && formatIp(ip);
}

/** Addresses that are never another host: this host itself, everyone at once, this link alone, the relay's loopback prefix. */
const NEVER: readonly IpRange[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/3',
  '::/127',
  '::ffff:0:0/96',
  'fe80::/10',
  'ff00::/8',
  RELAY_ENDPOINTS,
].map(rangeOf);

/** Tells whether checks may go to an address: not inside the overlay, which would carry itself, and none of the above. */
export function isUsableAddress(address: string, overlay: readonly IpRange[]): boolean {
  const range = parseAddress(address);
  if (range === undefined) return false;
  return ![...NEVER, ...overlay].some((block) => containsRange(block, range));
}

function rangeOf(cidr: string): IpRange {
  const range = parseCidr(cidr);
  if (range === undefined) throw new RangeError(`${cidr} is no block of addresses.`);
  return range;
}
