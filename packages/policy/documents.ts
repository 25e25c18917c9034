import { z } from 'zod';
import { type FieldError, invalidInput, settledOffers } from '../../core/base/errors.ts';
import { API_VERSION, foldName } from '../../core/base/record.ts';
import { fieldErrorsOf, PLAINLY } from '../../core/base/schema-errors.ts';
import { parseInstant } from '../../core/base/time.ts';
import { parseAddress } from '../../core/model/cidr.ts';
import { labelsSchema } from '../../core/model/labels.ts';
import { networkSpecSchema } from '../../core/model/network-spec.ts';
import {
  type PeerIds,
  peerNamesAsIds,
  readsAsPeerId,
  unknownPeersAt,
  withPeerIds,
} from '../../core/model/peer-lists.ts';
import { policyInputSchema } from '../../core/model/policy.ts';
import { NAME_PATTERN, normalizeName } from '../../core/model/resources.ts';
import type { NetworkModel, PeerInput } from '../../core/reachability/model.ts';

const metadata = z.looseObject({
  name: z
    .string()
    .transform(normalizeName)
    .refine((name) => NAME_PATTERN.test(name), { error: 'a name has 1 to 63 letters, digits, -, _ or .' }),
  uid: z.string().optional(),
  labels: labelsSchema.optional(),
});
const apiVersion = z.literal(API_VERSION);
const OF_AGENT = 'the peer of an agent is bounded by what its agents may reach, which no document holds: leave it out';
const noAgent = z.undefined({ error: OF_AGENT }).optional();
const address = z.string().refine((text) => parseAddress(text) !== undefined, { error: 'an IP address is needed' });

const status = z.looseObject({}).optional();

const documentSchema = z.discriminatedUnion('kind', [
  z.strictObject({ apiVersion, kind: z.literal('MeshNetwork'), metadata, spec: networkSpecSchema, status }),
  z.strictObject({
    apiVersion,
    kind: z.literal('MeshPeer'),
    metadata,
    spec: z.looseObject({
      network: z.string(),
      expiresAt: z.iso.datetime().optional(),
      agentRef: noAgent,
      delegatedBy: noAgent,
    }),
    status: z.looseObject({ address: address.nullish(), phase: z.string().optional() }).optional(),
  }),
  z.strictObject({ apiVersion, kind: z.literal('MeshPolicy'), metadata, spec: policyInputSchema, status }),
  // Says who may join: it decides about nobody who is there.
  z.strictObject({ apiVersion, kind: z.literal('WorkloadRule'), metadata, spec: z.looseObject({}) }),
]);
type Document = z.output<typeof documentSchema>;
type DocumentOf<K extends Document['kind']> = Extract<Document, { kind: K }>;

const head = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }) });

/** Checks documents, each by itself. @throws MeshError `invalid_input` naming each wrong field and its document */
export function checkedDocuments(values: readonly unknown[]): Document[] {
  const checked = values.map((value) => ({ value, ...documentSchema.safeParse(value, PLAINLY) }));
  requireNone(
    checked.flatMap(({ value, error }) => {
      const { data } = head.safeParse(value);
      const document = data && { kind: data.kind, name: data.metadata.name };
      return error ? fieldErrorsOf(error).map((fault) => ({ ...fault, ...(document && { document }) })) : [];
    }),
  );
  return checked.flatMap(({ data }) => data ?? []);
}

/** Returns the input of the engine. @throws MeshError `invalid_input` for names that nobody has, or that two have */
export function modelOf(documents: readonly Document[], now: number): NetworkModel {
  const ofKind = <K extends Document['kind']>(kind: K) =>
    documents.filter((document): document is DocumentOf<K> => document.kind === kind);
  const [networks, peers, policies] = [ofKind('MeshNetwork'), ofKind('MeshPeer'), ofKind('MeshPolicy')];
  const known = new Set(networks.map(({ metadata: { name } }) => name));
  const ids = idsOf(peers);
  requireNone([
    ...namedTwice(documents),
    ...[...peers, ...policies].flatMap((document) => at(document, unknownNetwork(document.spec.network, known))),
    ...policies.flatMap((document) => at(document, unknownPeersAt(document.spec, ids, '/spec'))),
  ]);
  return {
    networks: networks.map(({ metadata: { name }, spec: { cidr, defaultAction } }) => ({ name, cidr, defaultAction })),
    peers: peers.map(peerInput),
    policies: policies
      .map(({ metadata: { name }, spec }) => ({ name, spec: withPeerIds(spec, ids, '/spec') }))
      // As the control plane orders them, so that of two rules both name the same one.
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    now,
  };
}

function peerInput({ metadata: { name, uid, labels = {} }, spec, status }: DocumentOf<'MeshPeer'>): PeerInput {
  return {
    name,
    ...(uid !== undefined && { uid }),
    labels,
    network: spec.network,
    address: status?.address ?? undefined,
    phase: status?.phase,
    expiresAt: spec.expiresAt === undefined ? undefined : parseInstant(spec.expiresAt),
  };
}

/** Names mean peers in any case. An id is taken as it is: one that no document has means nobody, as in an import. */
function idsOf(peers: readonly DocumentOf<'MeshPeer'>[]): PeerIds {
  const byFolded = new Map(peers.map(({ metadata: { name, uid = name } }) => [foldName(name), uid]));
  const { names } = peerNamesAsIds(new Set(peers.map(({ metadata: { name } }) => name)));
  return { idOf: (text) => (readsAsPeerId(text) ? text : byFolded.get(foldName(normalizeName(text)))), names };
}

function namedTwice(documents: readonly Document[]): FieldError[] {
  const seen = new Set<string>();
  return documents.flatMap((document) => {
    const key = `${document.kind} ${foldName(document.metadata.name)}`;
    const isSecond = seen.has(key);
    seen.add(key);
    return isSecond ? at(document, [{ pointer: '/metadata/name', detail: 'Another document has this name.' }]) : [];
  });
}

function unknownNetwork(network: string | undefined, known: ReadonlySet<string>): FieldError[] {
  if (network === undefined || known.has(network)) return [];
  return [
    { pointer: '/spec/network', detail: `No document is of the MeshNetwork ${JSON.stringify(network)}: add it.` },
  ];
}

function at({ kind, metadata: { name } }: Document, faults: readonly FieldError[]): FieldError[] {
  return faults.map((fault) => ({ ...fault, document: { kind, name } }));
}

function requireNone(faults: readonly FieldError[]): void {
  if (faults.length === 0) return;
  const errors = settledOffers(faults).map(({ offered, detail, ...fault }) => ({
    ...fault,
    detail: typeof offered === 'string' ? offered : detail,
  }));
  throw invalidInput(errors);
}
