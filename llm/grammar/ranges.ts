import { containsRange, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import type { PeerEntry } from '../../core/model/policy.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import type { Subject } from './subject.ts';

/** Whether a subject is a range of addresses and nothing else. */
export function isRange({ selector, entries }: Subject): boolean {
  return selector === undefined && entries.every((entry) => blockOf(entry) !== undefined);
}

/**
 * Addresses without some of them.
 *
 * @throws Refusal where they are no part of it, or peers are named by a label.
 */
export function withoutRanges(base: Subject, excepted: readonly Subject[]): Subject {
  const left = excepted.flatMap(({ entries }) => entries.flatMap((entry) => blockOf(entry)?.cidr ?? []));
  const blocks = base.entries.map(blockOf);
  const stray = left.find((cidr) => !blocks.some((block) => block && contains(block.cidr, cidr)));
  if (stray !== undefined || base.selector !== undefined) {
    throw new Refusal(`${quoted(stray ?? left.join(', '))} is no part of ${quoted(base.noun)}.`, [
      'Which addresses are meant?',
    ]);
  }
  const entries = blocks.flatMap((block): PeerEntry[] => {
    if (!block) return [];
    const except = [...(block.except ?? []), ...left.filter((cidr) => contains(block.cidr, cidr))];
    return [{ ipBlock: { cidr: block.cidr, ...(except.length > 0 && { except }) } }];
  });
  const gone = new Set(excepted.flatMap(({ peers }) => peers.map(({ name }) => name)));
  const peers = base.peers.filter(
    ({ name, status }) => !gone.has(name) && !left.some((cidr) => holds(cidr, status.address)),
  );
  return {
    ...base,
    entries,
    peers,
    slug: `${base.slug}-but-${excepted.map(({ slug }) => slug).join('-')}`,
    noun: `${base.noun} except ${enumerated(excepted.map(({ noun }) => noun))}`,
    excepted: [...base.excepted, ...excepted],
  };
}

/** Entries of who is outside of the network without some ranges. */
export function withoutBlocks(entries: readonly PeerEntry[], ranges: readonly Subject[]): readonly PeerEntry[] {
  const left = ranges.flatMap((one) =>
    one.entries.flatMap((entry) => (entry === '*' ? [] : (entry.ipBlock?.cidr ?? []))),
  );
  if (left.length === 0) return entries;
  return entries.flatMap((entry): PeerEntry[] => {
    if (entry === '*' || !entry.ipBlock) return [entry];
    const { cidr, except = [] } = entry.ipBlock;
    if (left.includes(cidr)) return [];
    const own = left.filter((one) => one.includes(':') === cidr.includes(':'));
    return [{ ipBlock: { cidr, ...(except.length + own.length > 0 && { except: [...except, ...own] }) } }];
  });
}

/** @throws Refusal for ranges that are no part of it, and for addresses that peers have. */
export function requireOutside(base: Subject, ranges: readonly Subject[]): void {
  const [first] = ranges;
  if (first && !base.everyone && base.outsiders.length === 0)
    throw new Refusal(`${quoted(first.noun)} is no part of ${quoted(base.noun)}.`, ['Who is meant?']);
  const held = ranges.find(({ peers }) => peers.length > 0);
  if (!held) return;
  const names = enumerated(held.peers.map(({ name }) => quoted(name)));
  throw new Refusal(`${quoted(held.noun)} are addresses of peers: ${names}.`, [
    'Who is meant? Name the peers, or a label such as role=web.',
  ]);
}

function blockOf(entry: PeerEntry) {
  return entry === '*' ? undefined : entry.ipBlock;
}

function contains(outer: string, inner: string): boolean {
  const [one, other] = [parseCidr(outer), parseCidr(inner)];
  return one !== undefined && other !== undefined && containsRange(one, other);
}

function holds(cidr: string, address: string | null): boolean {
  const [range, own] = [parseCidr(cidr), address === null ? undefined : parseAddress(address)];
  return range !== undefined && own !== undefined && containsRange(range, own);
}
