import { dump, load } from 'js-yaml';
import type { PolicySpec } from '../../api/types.ts';

/** A policy as it is sent: a custom resource object. */
export interface PolicyDocument {
  readonly apiVersion: string;
  readonly kind: 'MeshPolicy';
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PolicyDraft;
}

/** One that is being written: whom it is about may not have been said yet, and nobody is meant by silence. */
export type PolicyDraft = Omit<PolicySpec, 'peerSelector'> & Partial<Pick<PolicySpec, 'peerSelector'>>;

const API_VERSION = 'mesh.internal/v1alpha1';

interface Named {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function documentOf({ name, labels = {}, annotations = {} }: Named, spec: PolicyDraft): PolicyDocument {
  const metadata = {
    name,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
  return { apiVersion: API_VERSION, kind: 'MeshPolicy', metadata, spec };
}

export function yamlOf(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true });
}

/** A policy that the form can show; or what keeps it from that. What is allowed is for the control plane to judge. */
export type Read =
  | { readonly document: PolicyDocument }
  | { readonly fault: 'yaml'; readonly why: string }
  | { readonly fault: 'shape' };

export function readPolicy(text: string): Read {
  let value: unknown;
  try {
    value = load(text);
  } catch (error) {
    return { fault: 'yaml', why: error instanceof Error ? error.message : String(error) };
  }
  return isPolicy(value) ? { document: value } : { fault: 'shape' };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Has these fields and no others, each as it says. */
function fits(value: unknown, fields: Readonly<Record<string, (field: unknown) => boolean>>): boolean {
  return (
    isFields(value) &&
    Object.keys(value).every((name) => Object.hasOwn(fields, name)) &&
    Object.entries(fields).every(([name, is]) => is(value[name]))
  );
}

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isAny = () => true;
const maybe = (is: (value: unknown) => boolean) => (value: unknown) => value === undefined || is(value);
const listOf = (is: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(is);
const oneOf =
  (...texts: readonly string[]) =>
  (value: unknown) =>
    isText(value) && texts.includes(value as string);
const isMap = (value: unknown) => isFields(value) && Object.values(value).every(isText);
/** An empty list is nobody, which no line of text says. */
const isNames = (value: unknown) => listOf(isText)(value) && (value as readonly string[]).length > 0;

const isSelector = (value: unknown) =>
  fits(value, {
    matchLabels: maybe(isMap),
    matchExpressions: maybe(
      listOf((one) =>
        fits(one, {
          key: isText,
          operator: oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'),
          values: maybe(listOf(isText)),
        }),
      ),
    ),
    peers: maybe(isNames),
    notPeers: maybe(isNames),
  });

const isEntry = (value: unknown) =>
  value === '*' ||
  fits(value, { peerSelector: isSelector }) ||
  fits(value, { ipBlock: (block) => fits(block, { cidr: isText, except: maybe(listOf(isText)) }) });

const isPort = (value: unknown) =>
  fits(value, {
    protocol: maybe(oneOf('TCP', 'UDP', 'SCTP', 'ICMP')),
    port: maybe(isNumber),
    endPort: maybe(isNumber),
  });

const isRules = (end: 'from' | 'to') =>
  listOf((rule) => fits(rule, { [end]: maybe(listOf(isEntry)), ports: maybe(listOf(isPort)) }));

function isPolicy(value: unknown): value is PolicyDocument {
  return fits(value, {
    apiVersion: isText,
    kind: oneOf('MeshPolicy'),
    metadata: (metadata) =>
      fits(metadata, { name: isText, namespace: isAny, labels: maybe(isMap), annotations: maybe(isMap) }),
    status: isAny,
    spec: (spec) =>
      fits(spec, {
        action: oneOf('ALLOW', 'DENY'),
        network: maybe(isText),
        peerSelector: maybe(isSelector),
        ingress: maybe(isRules('from')),
        egress: maybe(isRules('to')),
        startsAt: maybe(isText),
        expiresAt: maybe(isText),
      }),
  });
}
