import { z } from 'zod';
import { newId } from '../base/ids.ts';
import type { RecordDraft, StoredRecord } from '../base/record.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { type Protocol, protocolSchema } from '../model/policy.ts';

const term = lineOfText(TEXT_LIMITS.term).min(1);
const port = z.int().min(1).max(65_535);

/** The fields of an assertion, for requests that carry them flat. */
export const assertionFields = {
  src: term.describe('A peer by name, peers by label=value, or * for every peer'),
  dst: term.describe('As src; a peer is never both ends of one connection'),
  protocol: protocolSchema.optional().describe('Every protocol and port when left out'),
  port: port.optional().describe('Every port of the protocol when left out'),
  endPort: port.optional(),
  expect: z
    .enum(['reachable', 'unreachable'])
    .describe('reachable: every src reaches every dst on all of it; unreachable: none reaches any on any of it'),
};

/** A standing assertion about a network that no change may break. */
export interface AssertionSpec {
  readonly src: string;
  readonly dst: string;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
  readonly endPort?: number | undefined;
  readonly expect: 'reachable' | 'unreachable';
}

export const assertionSpecSchema = z
  .strictObject(assertionFields)
  .refine(({ protocol, port: first }) => protocol !== 'ICMP' || first === undefined, {
    error: 'ICMP has no ports',
    path: ['port'],
  })
  .refine(({ port: first, endPort }) => endPort === undefined || (first !== undefined && endPort >= first), {
    error: 'endPort is at least port',
    path: ['endPort'],
  })
  // A port alone is one of TCP, as in policies.
  .transform(
    ({ protocol, ...spec }): AssertionSpec =>
      protocol === undefined && spec.port !== undefined
        ? { ...spec, protocol: 'TCP' }
        : { ...spec, ...(protocol && { protocol }) },
  );

/** A peer as it was when it left: what decides who reaches it. */
export interface DepartedPeer {
  readonly uid: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
}

/** The peers that an assertion names and that left since; one that is there again counts as it is. */
export interface AssertionStatus {
  readonly src?: DepartedPeer;
  readonly dst?: DepartedPeer;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    PolicyAssertion: { spec: AssertionSpec; status: AssertionStatus };
  }
}

export type AssertionRecord = StoredRecord<'PolicyAssertion'>;

export interface AssertionMeta {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export function assertionDraft(
  name: string,
  spec: AssertionSpec,
  { labels = {}, annotations = {} }: AssertionMeta = {},
): RecordDraft<'PolicyAssertion'> {
  return { kind: 'PolicyAssertion', name, uid: newId('asrt'), labels, annotations, spec, status: {}, unique: [] };
}

/** `role=web must reach role=db on TCP 5432`. */
export function assertionText({ src, dst, protocol, port: first, endPort, expect }: AssertionSpec): string {
  const ports = first === undefined ? '' : ` ${first}${endPort === undefined ? '' : `-${endPort}`}`;
  const what = protocol === undefined ? '' : ` on ${protocol}${ports}`;
  return `${src} must ${expect === 'reachable' ? 'reach' : 'not reach'} ${dst}${what}`;
}
