import { z } from 'zod';
import { type FieldError, MeshError, settledOffers } from '../base/errors.ts';
import { listOf } from '../base/list.ts';
import { MAX_FIELD_ERRORS } from '../base/schema-errors.ts';
import { lineOfText, mapOf, TEXT_LIMITS } from '../base/text.ts';
import { answerTooLarge, MAX_ANSWER_BYTES } from '../compute/answer-size.ts';
import { parseAddress, parseCidr, parseRange } from '../model/cidr.ts';
import { peerNamesAsIds, unknownPeers } from '../model/peer-lists.ts';
import { protocolSchema, sentSpecSchema } from '../model/policy.ts';
import { allowedSchema, dividedRowSchema, reasonCodeSchema, verdictSchema } from './answers.ts';
import { compileDivided, type DividedNetwork } from './divided-network.ts';
import { withProtocol } from './explanation.ts';
import { countPairs } from './matrix.ts';
import type { NetworkModel } from './model.ts';
import type { AllowedPorts } from './port-sets.ts';

/** Bounds of one simulation; the service is shared and the answer is one document. */
export const SIMULATE_LIMITS = {
  peers: 1_000,
  policies: 500,
  externals: 5_000,
  queries: 10_000,
  labelsPerPeer: 64,
  /** Rows of the answer. 1,000 peers without any policy make 999,000. */
  rows: 1_000_000,
} as const;

const name = lineOfText(TEXT_LIMITS.hostname).min(1);

const peerSchema = z.strictObject({
  name,
  labels: mapOf(
    lineOfText(TEXT_LIMITS.labelKey),
    lineOfText(TEXT_LIMITS.hostname),
    SIMULATE_LIMITS.labelsPerPeer,
    'labels',
  ).optional(),
  address: lineOfText(TEXT_LIMITS.cidr)
    .refine((text) => parseAddress(text) !== undefined, { error: 'an IPv4 or IPv6 address is needed' })
    .optional(),
});

const RANGE_FORM = 'a CIDR, an address or a range "first-last" is needed';
const externalSchema = z
  .strictObject({
    name,
    cidr: lineOfText(TEXT_LIMITS.range)
      .refine((text) => parseRange(text) !== undefined, { error: RANGE_FORM })
      .optional(),
    range: lineOfText(TEXT_LIMITS.range)
      .refine((text) => parseRange(text) !== undefined, { error: RANGE_FORM })
      .optional(),
  })
  .refine(({ cidr, range }) => (cidr === undefined) !== (range === undefined), {
    error: 'exactly one of cidr and range is needed',
  });

export const querySchema = z
  .strictObject({
    src: name,
    dst: name,
    protocol: protocolSchema.optional(),
    port: z.int().min(1).max(65_535).optional(),
  })
  .refine(({ protocol, port }) => protocol !== 'ICMP' || port === undefined, {
    error: 'ICMP has no ports',
    path: ['port'],
  });

/** A network, its peers and policies, given whole; nothing stored takes part. */
export const simulateInputSchema = z
  .strictObject({
    network: z
      .strictObject({
        cidr: lineOfText(TEXT_LIMITS.cidr)
          .refine((text) => parseCidr(text) !== undefined, { error: 'a CIDR is needed' })
          .optional(),
        defaultAction: z.enum(['ALLOW', 'DENY'], { error: 'defaultAction is ALLOW or DENY' }).optional(),
      })
      .optional(),
    peers: listOf(peerSchema, SIMULATE_LIMITS.peers),
    policies: listOf(z.strictObject({ name, spec: sentSpecSchema }), SIMULATE_LIMITS.policies),
    externals: listOf(externalSchema, SIMULATE_LIMITS.externals).optional(),
    queries: listOf(querySchema, SIMULATE_LIMITS.queries).optional(),
    sources: listOf(name, SIMULATE_LIMITS.peers + SIMULATE_LIMITS.externals)
      .optional()
      .describe('rows from these peers and externals alone; an empty list for no rows, where only queries are asked'),
  })
  .superRefine((input, context) => {
    const seen = new Set<string>();
    const claim = (list: 'peers' | 'externals' | 'policies', index: number, taken: Set<string>, one: string) => {
      if (taken.has(one)) {
        context.addIssue({ code: 'custom', path: [list, index, 'name'], message: `the name "${one}" is given twice` });
      }
      taken.add(one);
    };
    input.peers.forEach((peer, index) => {
      claim('peers', index, seen, peer.name);
    });
    input.externals?.forEach((external, index) => {
      claim('externals', index, seen, external.name);
    });
    const policies = new Set<string>();
    const ids = peerNamesAsIds(new Set(input.peers.map((peer) => peer.name)));
    const unknown: FieldError[] = [];
    const paths: PropertyKey[][] = [];
    input.policies.forEach((policy, index) => {
      claim('policies', index, policies, policy.name);
      for (const { path, ...error } of unknown.length < MAX_FIELD_ERRORS ? unknownPeers(policy.spec, ids) : []) {
        unknown.push({ pointer: '', ...error });
        paths.push(['policies', index, 'spec', ...path]);
      }
    });
    settledOffers(unknown).forEach(({ detail, offered = detail }, index) => {
      context.addIssue({ code: 'custom', path: paths[index] ?? [], message: String(offered) });
    });
  });
export type SimulateInput = z.output<typeof simulateInputSchema>;

export const simulateOutputSchema = z.object({
  rows: z
    .array(dividedRowSchema)
    .describe('every ordered pair that is not fully denied, of the sources where they are named'),
  verdicts: z
    .array(
      z.object({
        src: z.string(),
        dst: z.string(),
        protocol: protocolSchema.optional(),
        port: z.int().optional(),
        verdict: verdictSchema,
        allowed: allowedSchema,
        reason_code: reasonCodeSchema.nullable(),
        policy: z.string().nullable(),
        rule_index: z.int().nullable(),
      }),
    )
    .optional()
    .describe('one answer a query, in their order'),
});
export type SimulateOutput = z.output<typeof simulateOutputSchema>;

const NETWORK = 'network';

/** Answers who may reach whom in the network given. Policies count whatever their `network`; `now` decides expiry. */
export function simulate(input: SimulateInput, now: number): SimulateOutput {
  const network = compileDivided(simulatedModel(input, now));
  const count = input.sources ? 0 : countPairs(network.reach);
  if (count > SIMULATE_LIMITS.rows) {
    throw new MeshError(
      'payload_too_large',
      `The answer would have ${count} rows, more than ${SIMULATE_LIMITS.rows}. ${NARROW}`,
    );
  }
  return {
    rows: rowsOf(network, input.sources && new Set(input.sources)),
    ...(input.queries && { verdicts: input.queries.map((query) => answer(network, query)) }),
  };
}

/** The model that a simulation input describes, for callers that ask more than {@link simulate} answers. */
export function simulatedModel(input: SimulateInput, now: number): NetworkModel {
  const { cidr = '10.96.0.0/24', defaultAction = 'ALLOW' } = input.network ?? {};
  return {
    networks: [{ name: NETWORK, cidr, defaultAction }],
    peers: input.peers.map(({ name, labels = {}, address }) => ({ name, labels, address, network: NETWORK })),
    policies: input.policies.map(({ name, spec: { network: _ignored, ...spec } }) => ({ name, spec })),
    externals: (input.externals ?? []).map(({ name, cidr: block, range = '' }) => ({ name, range: block ?? range })),
    now,
  };
}

const NARROW =
  'Name some peers or externals in sources to ask for their rows alone, or ask queries with an empty list of sources.';

/** Bytes of a row as JSON, without its names and its ports. */
const ROW_BYTES = '{"src":"","dst":"","allowed":,"partial":true},'.length;

/** Stops at the longest answer, before it is all made: the same pairs may come with thousands of port ranges each. */
function rowsOf(network: DividedNetwork, sources: ReadonlySet<string> | undefined): SimulateOutput['rows'] {
  const rows: SimulateOutput['rows'] = [];
  const lengths = new Map<AllowedPorts, number>();
  let bytes = 0;
  for (const { src, dst, allowed, partial } of network.rows(sources)) {
    let length = lengths.get(allowed);
    if (length === undefined) {
      length = JSON.stringify(allowed).length;
      lengths.set(allowed, length);
    }
    bytes += ROW_BYTES + src.length + dst.length + length;
    if (bytes > MAX_ANSWER_BYTES) throw answerTooLarge(NARROW);
    rows.push({ src, dst, allowed: allowed === 'ALL' ? allowed : [...allowed], ...(partial && { partial }) });
  }
  return rows;
}

type Query = NonNullable<SimulateInput['queries']>[number];

function answer(network: DividedNetwork, query: Query): NonNullable<SimulateOutput['verdicts']>[number] {
  const { verdict, allowed, blocked_by, steps } = network.explain(withProtocol(query));
  const decisive = blocked_by[0] ?? steps.findLast(({ reason_code }) => reason_code !== null);
  return {
    ...query,
    verdict,
    allowed,
    reason_code: decisive?.reason_code ?? null,
    policy: decisive?.policy ?? null,
    rule_index: decisive?.rule_index ?? null,
  };
}
