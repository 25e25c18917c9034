import { z } from 'zod';
import { invalidInput } from '../base/errors.ts';
import { memoize } from '../base/memoize.ts';
import { API_VERSION } from '../base/record.ts';
import { schemaNames } from '../base/schema-names.ts';
import { exclusionReason, FILE_KINDS, type FileKind, type FileRecord, withoutReserved } from '../model/file-records.ts';
import { lookUpById } from '../model/find.ts';
import { networkSpecSchema } from '../model/network-spec.ts';
import { gonePeers } from '../model/peer-lists.ts';
import { storedPolicySpec } from '../model/policy.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { TokenRecord } from '../model/token-record.ts';
import { type NetworkState, recordsOf } from '../state/state.ts';
import { documentSchema } from '../views/custom-resource.ts';
import { editablePolicy } from '../views/policy-view.ts';
import { ruleDocument, ruleDocumentSchema } from '../views/workload-rule.ts';

/** A resource as a file holds it: what people decide of it. Of a peer also what tells whether it is the same device. */
export const fileResourceSchema = z.discriminatedUnion('kind', [
  documentSchema('MeshNetwork', {}, { spec: networkSpecSchema }).register(schemaNames, { name: 'FileNetwork' }),
  documentSchema(
    'MeshPeer',
    {},
    {
      spec: z.strictObject({ network: z.string(), publicKey: z.string() }),
      status: z
        .strictObject({ address: z.string() })
        .optional()
        .describe('Address, by which policies may have matched it'),
    },
  ).register(schemaNames, { name: 'FilePeer' }),
  documentSchema('MeshPolicy', {}, { spec: storedPolicySpec }).register(schemaNames, { name: 'FilePolicy' }),
  ruleDocumentSchema.register(schemaNames, { name: 'FileWorkloadRule' }),
]);
export type FileResource = z.output<typeof fileResourceSchema>;

/** Resources that an export leaves out, by kind and reason. */
export interface Omission {
  readonly kind: string;
  readonly why: string;
  readonly count: number;
  /** The first of them. */
  readonly names: string[];
}

export interface ExportPage {
  readonly resources: FileResource[];
  /** On the first page. */
  readonly leftOut?: Omission[];
  /** Where the next page begins; undefined at the end. */
  readonly next?: string;
}

const NAMES_SHOWN = 20;

/**
 * A page of the resources of a state as files hold them, by kind and name, up to so many characters of JSON but one at least.
 *
 * @param by who asks
 * @param rules for workloads, by name; none for who may not see them, and in the past, which keeps none
 * @throws MeshError `invalid_input` for a cursor that is none
 */
export function exportPage(
  state: NetworkState,
  {
    by,
    at,
    after,
    maxCharacters,
    rules = NO_RULES,
  }: {
    readonly by: string | undefined;
    readonly at: number;
    readonly after: string | undefined;
    readonly maxCharacters: number;
    readonly rules?: Rules | undefined;
  },
): ExportPage {
  const from = after === undefined ? undefined : positionOf(after);
  const carried = new Map([...state.peers].filter(([, peer]) => exclusionReason(peer, by, at) === undefined));
  const resources: FileResource[] = [];
  let left = maxCharacters;
  let last = '';
  for (const kind of FILE_KINDS.slice(from ? FILE_KINDS.indexOf(from.kind) : 0)) {
    for (const record of sorted(filesOf(kind, state, rules))) {
      if (from?.kind === kind && record.name <= from.name) continue;
      if (exclusionReason(record, by, at) !== undefined) continue;
      const resource = fileResource(record, carried);
      left -= JSON.stringify(resource).length;
      if (left < 0 && resources.length > 0) return { resources, ...first(), next: last };
      resources.push(resource);
      last = `${kind}.${record.name}`;
    }
  }
  return { resources, ...first() };

  function first() {
    return from ? {} : { leftOut: omissionOf(state, rules, { by, at, carried }) };
  }
}

type Rules = ReadonlyMap<string, TokenRecord>;
const NO_RULES: Rules = new Map();

function filesOf(kind: FileKind, state: NetworkState, rules: Rules): ReadonlyMap<string, FileRecord> {
  return kind === 'WorkloadRule' ? rules : recordsOf(state, kind);
}

const sorted = memoize((records: ReadonlyMap<string, FileRecord>) =>
  [...records.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
);

function positionOf(cursor: string): { readonly kind: FileKind; readonly name: string } {
  const at = cursor.indexOf('.');
  const kind = FILE_KINDS.find((one) => one === cursor.slice(0, at));
  if (kind) return { kind, name: cursor.slice(at + 1) };
  const detail = 'The cursor is of another list: send next_cursor as it was answered, or leave it out.';
  throw invalidInput([{ pointer: '/cursor', detail }], detail);
}

/** @param carried the peers that files hold: others keep their ids in the lists of policies, and mean nobody elsewhere */
export function fileResource(record: FileRecord, carried: ReadonlyMap<string, PeerRecord>): FileResource {
  if (record.kind === 'Token') return ruleDocument(record, carried);
  const { kind, name, labels, annotations } = record;
  const metadata = { name, ...nonEmptyMap('labels', labels), ...nonEmptyMap('annotations', annotations) };
  const head = { apiVersion: API_VERSION, metadata } as const;
  if (kind === 'MeshNetwork') return { ...head, kind, spec: { ...record.spec } };
  if (kind === 'MeshPolicy') return { ...head, kind, spec: { ...editablePolicy(record, { peers: carried }).spec } };
  const { network, publicKey } = record.spec;
  const { address } = record.status;
  return { ...head, kind, spec: { network, publicKey }, ...(address !== null && { status: { address } }) };
}

function nonEmptyMap(field: 'labels' | 'annotations', map: Readonly<Record<string, string>>) {
  const own = Object.entries(withoutReserved(map)).sort(([a], [b]) => (a < b ? -1 : 1));
  return own.length > 0 ? { [field]: Object.fromEntries(own) } : {};
}

interface ExportView {
  readonly by: string | undefined;
  readonly at: number;
  readonly carried: ReadonlyMap<string, PeerRecord>;
}

function omissionOf(state: NetworkState, rules: Rules, { by, at, carried }: ExportView): Omission[] {
  const rows = new Map<string, { kind: string; why: string; count: number; names: string[] }>();
  const add = (kind: string, name: string, why: string) => {
    const row = rows.get(`${kind} ${why}`) ?? { kind, why, count: 0, names: [] };
    rows.set(`${kind} ${why}`, row);
    row.count += 1;
    if (row.names.length < NAMES_SHOWN) row.names.push(name);
  };
  for (const kind of FILE_KINDS) {
    for (const record of sorted(filesOf(kind, state, rules))) {
      const why = exclusionReason(record, by, at);
      if (why !== undefined) add(kind, record.kind === 'Token' ? record.spec.name : record.name, why);
      else if (record.kind === 'MeshPolicy' && listsOthers(record.spec, state, carried)) add(kind, record.name, LISTS);
    }
  }
  for (const { name, status } of state.agents.values()) {
    if (status.phase === 'Pending' || status.phase === 'Active') add('AgentIdentity', name, IS_SECRET);
  }
  return [...rows.values()];
}

const IS_SECRET = 'an agent acts by a token, which is not told again: make it anew';
const LISTS = 'it is there, and lists by id peers that are not: elsewhere it means nobody by them';

/** Returns true if a policy lists a present peer that the exported files do not contain. */
function listsOthers(spec: unknown, { peers }: NetworkState, carried: ReadonlyMap<string, PeerRecord>): boolean {
  const others = gonePeers(spec, (id) => lookUpById(carried, id) !== undefined);
  return others.some((id) => lookUpById(peers, id) !== undefined);
}
