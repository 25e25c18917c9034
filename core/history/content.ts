import { z } from 'zod';
import { invalidInput } from '../base/errors.ts';
import { memoize } from '../base/memoize.ts';
import type { StoredRecord } from '../base/record.ts';
import { networkSpecSchema } from '../model/network-spec.ts';
import { withPeerNames } from '../model/peer-lists.ts';
import { storedPolicySpec } from '../model/policy.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import { agentPartSchemas } from '../views/agent-view.ts';
import { documentSchema } from '../views/custom-resource.ts';
import { peerSchema, peerSpecShape } from '../views/peer-view.ts';
import { type CrdObject, SNAPSHOT_LISTS, semanticOf } from './semantic.ts';

const uid = { uid: z.string() };
const { phase, address, approvedBy } = peerSchema.shape.status.shape;
const peerStatus = z.strictObject({ phase, address, approvedBy: approvedBy.unwrap().optional() });

/** The state fields of a snapshot, or the next part of them: lists and maps go on where the page before ended. */
export const contentShape = {
  peers: z.array(documentSchema('MeshPeer', uid, { spec: z.object(peerSpecShape), status: peerStatus })).optional(),
  policies: z.array(documentSchema('MeshPolicy', uid, { spec: storedPolicySpec })).optional(),
  networks: z.array(documentSchema('MeshNetwork', uid, { spec: networkSpecSchema })).optional(),
  agents: z.array(documentSchema('AgentIdentity', uid, agentPartSchemas)).optional(),
  presence: z.record(z.string(), z.enum(['online', 'offline'])).optional(),
} satisfies { readonly [F in (typeof SNAPSHOT_LISTS)[number] | 'presence']: z.ZodType };
type Content = z.input<z.ZodObject<typeof contentShape>>;

export interface ContentPage {
  readonly content: Content;
  /** Where the next page begins; undefined at the end. */
  readonly next?: string;
}

const FIELDS = [...SNAPSHOT_LISTS, 'presence'] as const;
type Field = (typeof FIELDS)[number];

/**
 * A page of a state: its fields in order, records by name, up to so many characters of JSON but one record at least.
 *
 * @throws MeshError `invalid_input` for a cursor that is none of this state
 */
export function contentPage(state: NetworkState, cursor: string | undefined, maxCharacters: number): ContentPage {
  const from = cursor === undefined ? undefined : positionOf(state, cursor);
  const content: Content = {};
  let [left, isEmpty] = [maxCharacters, true];
  for (const field of FIELDS.slice(from ? FIELDS.indexOf(from.field) : 0)) {
    let last = from?.field === field ? from.name : '';
    const put = putInto(content, field, state);
    for (const record of recordsAfter(state, field, last)) {
      const { length, add } = put(record);
      left -= length;
      if (left < 0 && !isEmpty) return { content, next: `${state.revision}.${field}.${last}` };
      add();
      [last, isEmpty] = [record.name, false];
    }
  }
  return { content };
}

/** How long a record is in a field, and the way to put it there. */
function putInto(content: Content, field: Field, { peers, presence }: NetworkState) {
  if (field === 'presence') {
    const map: NonNullable<Content['presence']> = Object.create(null);
    content.presence = map;
    return ({ name }: StoredRecord) => {
      const status = presence.get(name)?.spec.online ? 'online' : 'offline';
      const add = () => {
        map[name] = status;
      };
      return { length: name.length + status.length, add };
    };
  }
  const list: CrdObject[] = [];
  Object.assign(content, { [field]: list });
  return (record: StoredRecord) => {
    const stored = semanticOf(record);
    const value = field === 'policies' ? { ...stored, spec: withPeerNames(stored.spec, peers) } : stored;
    return { length: JSON.stringify(value).length, add: () => void list.push(value) };
  };
}

/** Kept with the records: each page of a state needs the same order again. */
const sorted = memoize((records: ReadonlyMap<string, StoredRecord>) =>
  [...records.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
);

function recordsAfter(state: NetworkState, field: Field, name: string): readonly StoredRecord[] {
  const records = sorted(field === 'policies' ? writtenPolicies(state) : state[field === 'presence' ? 'peers' : field]);
  const index = records.findIndex((record) => record.name > name);
  return index < 0 ? [] : records.slice(index);
}

const CURSOR = /^(?<revision>\d{1,15})\.(?<field>\w+)\.(?<name>.*)$/;

function positionOf({ revision }: NetworkState, cursor: string): { readonly field: Field; readonly name: string } {
  const { revision: of, field: given, name = '' } = CURSOR.exec(cursor)?.groups ?? {};
  const field = FIELDS.find((one) => one === given);
  if (field && Number(of) === revision) return { field, name };
  const detail = 'The cursor is of another snapshot: send next_cursor with the same snapshot_id, or leave it out.';
  throw invalidInput([{ pointer: '/cursor', detail }], detail);
}
