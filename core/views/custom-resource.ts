import { z } from 'zod';
import { API_VERSION, type ResourceKind } from '../base/record.ts';
import type { FileKind } from '../model/file-records.ts';
import { agentParts, agentSchema } from './agent-view.ts';
import { peerSchema } from './peer-view.ts';
import { toYaml } from './render-yaml.ts';

/** A resource as YAML and JSON documents have it; `/apply` takes it as it is. */
export interface CustomResource {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: ResourceKind;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
}

const text = z.record(z.string(), z.string());

/** Returns the schema of a resource of a kind as a document: its metadata beside labels and annotations, and its parts. */
export function documentSchema<K extends ResourceKind | FileKind, M extends z.ZodRawShape, P extends z.ZodRawShape>(
  kind: K,
  metadata: M,
  parts: P,
) {
  return z.strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal(kind),
    metadata: z.strictObject({ name: z.string(), ...metadata, labels: text.optional(), annotations: text.optional() }),
    ...parts,
  });
}

const fields = z.record(z.string(), z.unknown());
const recordShape = z.object({
  name: z.string(),
  labels: text,
  annotations: text,
  spec: fields,
  status: fields,
});
const peerShape = z.object(peerSchema.shape);
/** Fields of a peer's answer that are no part of its spec; any other, a new one too, is. */
const BESIDE_SPEC = new Set(['id', 'name', 'labels', 'createdAt', 'revision', 'status']);
/** Fields that the spec knows by another name. */
const SPEC_NAMES = new Map([['agent', 'agentRef']]);
const agentShape = z.object(agentSchema.shape);

type Parts = Pick<CustomResource, 'spec' | 'status'> & {
  readonly name: string;
  readonly uid?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

const PARTS: Readonly<Record<ResourceKind, (view: unknown) => Parts>> = {
  MeshPolicy: (view) => recordShape.parse(view),
  MeshNetwork: (view) => recordShape.parse(view),
  PolicyAssertion: (view) => recordShape.parse(view),
  MeshPeer(view) {
    const peer = peerShape.parse(view);
    const spec = Object.entries(peer).filter(([field, value]) => !BESIDE_SPEC.has(field) && value !== null);
    return { ...peer, spec: Object.fromEntries(spec.map(([field, value]) => [SPEC_NAMES.get(field) ?? field, value])) };
  },
  AgentIdentity(view) {
    const agent = agentShape.parse(view);
    const { id, name, labels, annotations } = agent;
    // An ended identity is made again by a document without its id.
    return { name, uid: id, labels, annotations, ...agentParts(agent) };
  },
};

/** Returns the view of a resource as a document. */
export function customResource(kind: ResourceKind, view: unknown, namespace: string): CustomResource {
  const { name, uid, labels, annotations = {}, spec, status } = PARTS[kind](view);
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: {
      name,
      namespace,
      ...(uid !== undefined && { uid }),
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec,
    status,
  };
}

const page = z.object({ items: z.array(z.unknown()), next_cursor: z.string().optional() });

/** An answer that shows one resource, or a page of them as a `List`, whose next page follows `metadata.continue`. */
export function yamlOfAnswer(kind: ResourceKind, answer: unknown, namespace: string): string {
  const list = page.safeParse(answer);
  if (!list.success) return toYaml(customResource(kind, answer, namespace));
  const { items, next_cursor } = list.data;
  return toYaml({
    apiVersion: API_VERSION,
    kind: 'List',
    metadata: next_cursor === undefined ? {} : { continue: next_cursor },
    items: items.map((item) => customResource(kind, item, namespace)),
  });
}

/** An answer as YAML, beside the answer that it is of. */
export class YamlText {
  readonly text: string;
  readonly of: unknown;

  constructor(text: string, of: unknown) {
    this.text = text;
    this.of = of;
  }
}
