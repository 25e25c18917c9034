import { parseAddress } from '../../core/model/cidr.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { type DnsRecord, type Query, RCODE, type Reply, TYPE } from './message.ts';
import { addressBytes, reverseLabels, reverseZones } from './reverse.ts';

/** Suffix of the names of every overlay. `internal` is for private use (ICANN, 2024). */
const PARENT = ['mesh', 'internal'];
/**
 * Programs ask for these short names by themselves and trust whoever answers: no device gets them by choosing them as its name.
 */
const NEVER: ReadonlySet<string> = new Set(['wpad', 'isatap', 'localhost', 'autodiscover', 'puppet', 'salt']);
const MAX_NAME_LENGTH = 253;

/** Tells whether names are never served for a device of this name. */
export function isNeverServed(name: string): boolean {
  return NEVER.has(name.toLowerCase());
}

/** The names of one overlay. */
export interface Zone {
  /** `prod.mesh.internal` */
  readonly domain: string;
  /** `96.10.in-addr.arpa`, as many as the block of the overlay needs. */
  readonly reverse: readonly string[];
  answer(query: Query): Reply;
}

/** The names that a graph has; undefined where the control plane did not say what they end in. */
export function zoneOf({ self, peers }: Pick<FullGraph, 'self' | 'peers'>): Zone | undefined {
  const apex = self.workspace === undefined ? undefined : labelsOf(self.workspace);
  if (!apex) return undefined;
  const zone = [...apex, ...PARENT];
  const reverse = reverseZones(self.cidr);
  const records = recordsOf([self, ...peers], zone);
  const apexes = [zone, ...reverse];
  return {
    domain: zone.join('.'),
    reverse: reverse.map((labels) => labels.join('.')),
    answer({ labels, type, isInternet }) {
      const own = apexes.find((one) => endsIn(labels, one));
      if (!own || !isInternet || type === TYPE.AXFR || type === TYPE.IXFR) return { rcode: RCODE.refused };
      if (labels.length === own.length) {
        const isAsked = type === TYPE.SOA || type === TYPE.ANY;
        return { rcode: RCODE.ok, zone: own.length, records: isAsked ? [{ type: TYPE.SOA }] : [] };
      }
      const record = records.get(labels.join('.'));
      if (record === undefined) return { rcode: RCODE.noName, zone: own.length };
      const isAsked = record !== 'between' && (type === record.type || type === TYPE.ANY);
      return { rcode: RCODE.ok, zone: own.length, records: isAsked ? [record] : [] };
    },
  };
}

/** A name that only has others below it exists, with no record of its own. */
type Entry = DnsRecord | 'between';

function recordsOf(hosts: readonly { readonly name: string; readonly address: string }[], zone: readonly string[]) {
  const records = new Map<string, Entry>();
  const put = (labels: readonly string[], zoneLength: number, record: DnsRecord) => {
    records.set(labels.join('.'), record);
    for (let from = 1; from < labels.length - zoneLength; from += 1) {
      const above = labels.slice(from).join('.');
      if (!records.has(above)) records.set(above, 'between');
    }
  };
  for (const [name, sharing] of Map.groupBy(hosts, (host) => host.name.toLowerCase())) {
    const own = labelsOf(name);
    const [host] = sharing;
    const address = host && parseAddress(host.address);
    // Names that differ in capitals alone are ambiguous.
    if (!own || !address || sharing.length > 1 || NEVER.has(name)) continue;
    const labels = [...own, ...zone];
    if (labels.join('.').length > MAX_NAME_LENGTH) continue;
    put(labels, zone.length, { type: address.family === 4 ? TYPE.A : TYPE.AAAA, address: addressBytes(host.address) });
    records.set(reverseLabels(address).join('.'), { type: TYPE.PTR, labels });
  }
  return records;
}

/** A name as labels, each dot between two of them; undefined where one would be empty or too long. */
function labelsOf(name: string): string[] | undefined {
  const labels = name.toLowerCase().split('.');
  return labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label)) ? labels : undefined;
}

function endsIn(labels: readonly string[], zone: readonly string[]): boolean {
  return labels.length >= zone.length && zone.every((label, at) => label === labels[labels.length - zone.length + at]);
}
