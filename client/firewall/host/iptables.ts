import { isRecord, type Statement } from './ruleset.ts';

/** What iptables-save prints, as the conditions that nft would have for it. */

/** The rules of each chain in their order, as `-A INPUT …` has them. Pure. */
export function savedRules(text: string): ReadonlyMap<string, readonly string[]> {
  const chains = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [option, name] = line.split(' ', 2);
    if (option !== '-A' || name === undefined) continue;
    const rules = chains.get(name) ?? [];
    chains.set(name, rules);
    rules.push(line.slice('-A '.length + name.length).trim());
  }
  return chains;
}

/** Options that say nothing of which packets a rule is about, each with a value. */
const ASIDE = new Set([
  '-m',
  '-j',
  '-g',
  '--comment',
  '--reject-with',
  '--log-prefix',
  '--log-level',
  '--nflog-prefix',
  '--nflog-group',
]);
const LIMITS = /^--(?:limit|limit-burst|hashlimit-[\w-]+|connlimit-(?:upto|above|mask|saddr|daddr)|quota)$/;

/** The conditions of a rule; what is not known stands as an expression that nobody knows. Pure. */
export function conditionsOf(line: string, family: 'ip' | 'ip6'): readonly Statement[] {
  // A quotation mark within quotation marks: where a word ends is not followed.
  if (line.includes('\\"')) return [{ match: { op: '==', left: { 'iptables quoting': null }, right: '' } }];
  const words = line.match(/"[^"]*"?|[^\s"]+/g) ?? [];
  const conditions: Statement[] = [];
  let isNot = false;
  for (let at = 0; at < words.length; at += 1) {
    const option = words[at] ?? '';
    if (option === '!') {
      isNot = true;
      continue;
    }
    if (!option.startsWith('-')) continue;
    // Its value may look like an option, as a comment does.
    if (ASIDE.has(option)) {
      at += 1;
      continue;
    }
    const value = words[at + 1] ?? '';
    const match = matchOf(option, value, words[at + 2] ?? '', family);
    if (match) conditions.push({ match: { op: opOf(match, isNot), ...match } });
    else if (LIMITS.test(option)) conditions.push({ limit: {} });
    else conditions.push({ match: { op: '==', left: { [`iptables ${option}`]: null }, right: value } });
    isNot = false;
  }
  return conditions;
}

/** Of states one is asked for, of all else the value. */
function opOf({ left }: Statement, isNot: boolean): string {
  if (isRecord(left) && 'ct' in left) return isNot ? '!' : 'in';
  return isNot ? '!=' : '==';
}

function matchOf(option: string, value: string, next: string, family: 'ip' | 'ip6'): Statement | undefined {
  const payload = (protocol: string, field: string, right: unknown) => ({
    left: { payload: { protocol, field } },
    right,
  });
  const meta = (key: string, right: unknown) => ({ left: { meta: { key } }, right });
  switch (option) {
    case '-i':
      return meta('iifname', value.replace(/\+$/, '*'));
    case '-o':
      return meta('oifname', value.replace(/\+$/, '*'));
    case '-p':
      return meta('l4proto', value === 'icmpv6' ? 'ipv6-icmp' : /^\d+$/.test(value) ? Number(value) : value);
    case '-s':
      return payload(family, 'saddr', addressOf(value));
    case '-d':
      return payload(family, 'daddr', addressOf(value));
    case '--dport':
    case '--dports':
      return payload('th', 'dport', portsOf(value));
    case '--sport':
    case '--sports':
      return payload('th', 'sport', portsOf(value));
    case '--ctstate':
    case '--state':
      return /DNAT|SNAT/.test(value)
        ? undefined
        : { left: { ct: { key: 'state' } }, right: value.toLowerCase().split(',') };
    case '--icmp-type':
      return payload('icmp', 'type', typeOf(value));
    case '--icmpv6-type':
      return payload('icmpv6', 'type', typeOf(value));
    case '--dst-type':
      return { left: { fib: { result: 'type', flags: ['daddr'] } }, right: { set: value.toLowerCase().split(',') } };
    case '--pkt-type':
      return meta('pkttype', value);
    case '--tcp-flags': {
      const left = { '&': [{ payload: { protocol: 'tcp', field: 'flags' } }, flagsOf(value)] };
      return { left, right: next === 'NONE' ? 0 : flagsOf(next) };
    }
    default:
      return undefined;
  }
}

function addressOf(text: string): unknown {
  const [addr = '', len] = text.split('/');
  return len === undefined ? addr : { prefix: { addr, len: Number(len) } };
}

function portsOf(text: string): unknown {
  const ports = text.split(',').map((one) => {
    const [from = 0, to] = one.split(':').map(Number);
    return to === undefined ? from : { range: [from, to] };
  });
  return { set: ports };
}

/** `8/0` is a type and its code. */
function typeOf(text: string): unknown {
  if (text === 'any') return { range: [0, 255] };
  const [type = ''] = text.split('/');
  return /^\d+$/.test(type) ? Number(type) : type;
}

function flagsOf(text: string): readonly string[] {
  return text.toLowerCase().split(',');
}
