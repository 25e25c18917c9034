import { rangesAsWords } from '../../reach/ports.ts';
import type { Rule } from '../agents/words.ts';

type Port = NonNullable<Rule['ports']>[number];
type Entry = NonNullable<Rule['to']>[number];

/**
 * Rules as people write them, a line each: `role=web TCP 443, 8443`, `db-1 5432`, `10.0.0.0/8`, `* UDP 53`.
 *
 * @returns the rules, or the first line that is none
 */
export function reachOf(text: string): { readonly rules: readonly Rule[] } | { readonly wrong: string } {
  const rules: Rule[] = [];
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const [whom = ''] = line.split(/\s/, 1);
    const ports = line.slice(whom.length).trim();
    const ranges = ports === '' ? [] : rangesAsWords(ports).split(',');
    const read = ranges.map((range) => portOf(range.trim()));
    if (read.includes(undefined)) return { wrong: line };
    rules.push({ to: [entryOf(whom)], ...(read.length > 0 && { ports: read as Port[] }) });
  }
  return { rules };
}

/** Returns what is said of a line that is no rule. */
export function reachFault(line: string): string {
  return `This is no line of a reach: ${line}. Write whom, then ports, as role=web TCP 443, 8443.`;
}

/** Every peer, an address, labels, or the name of a peer. */
function entryOf(whom: string): Entry {
  if (whom === '*') return { peerSelector: {} };
  if (whom.includes('/') && !whom.includes('=')) return { ipBlock: { cidr: whom } };
  if (!whom.includes('=')) return { peerSelector: { peers: [whom] } };
  const matchLabels = Object.fromEntries(
    whom.split(',').map((term) => {
      const at = term.indexOf('=');
      return at < 0 ? [term, ''] : [term.slice(0, at), term.slice(at + 1)];
    }),
  );
  return { peerSelector: { matchLabels } };
}

const PORT = /^(?:(tcp|udp|sctp|icmp)\/?)?(?:(\d{1,5})(?:-(\d{1,5}))?)?$/i;

function portOf(text: string): Port | undefined {
  const [whole, protocol, first, last] = PORT.exec(text) ?? [];
  if (!whole) return undefined;
  return {
    protocol: (protocol?.toUpperCase() ?? 'TCP') as NonNullable<Port['protocol']>,
    ...(first !== undefined && { port: Number(first) }),
    ...(last !== undefined && { endPort: Number(last) }),
  };
}
