import { API_VERSION } from '../base/record.ts';
import type { NetworkRecord, PeerRecord, PolicyRecord } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';
import { editablePolicy } from './policy-view.ts';

type RenderedRecord = PeerRecord | PolicyRecord | NetworkRecord;

/**
 * The custom resource of a record as YAML, as far as people write it; empty for no record. Equal records give equal text
 * as long as the peers that they list keep their names.
 */
export function resourceYaml(
  record: RenderedRecord | undefined,
  namespace: string,
  state: Pick<NetworkState, 'peers'>,
): string {
  if (!record) return '';
  const { kind, name, labels, annotations, spec } = isPolicy(record) ? editablePolicy(record, state) : record;
  return toYaml({
    apiVersion: API_VERSION,
    kind,
    metadata: {
      name,
      namespace,
      ...(Object.keys(labels).length > 0 && { labels: sorted(labels) }),
      ...(Object.keys(annotations).length > 0 && { annotations: sorted(annotations) }),
    },
    spec,
  });
}

function isPolicy(record: RenderedRecord): record is PolicyRecord {
  return record.kind === 'MeshPolicy';
}

function sorted(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [key: string]: Json };

/** JSON data as block YAML 1.2. */
export function toYaml(value: unknown): string {
  return `${block(value as Json, '').join('\n')}\n`;
}

function block(value: Json, indent: string): string[] {
  if (isList(value)) {
    return value.flatMap((item) => {
      if (isScalar(item) || isEmpty(item)) return [`${indent}- ${inline(item)}`];
      const [first = '', ...rest] = block(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  if (isScalar(value) || isEmpty(value)) return [`${indent}${inline(value)}`];
  return Object.entries(value as { readonly [key: string]: Json }).flatMap(([key, item]) => {
    if (item === undefined) return [];
    const head = `${indent}${scalar(key)}:`;
    if (isScalar(item) || isEmpty(item)) return [`${head} ${inline(item)}`];
    return [head, ...block(item, `${indent}  `)];
  });
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value) && value.length > 0;
}

function isScalar(value: Json): value is string | number | boolean | null | undefined {
  return typeof value !== 'object' || value === null;
}

function isEmpty(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function inline(value: Json): string {
  if (Array.isArray(value)) return '[]';
  if (typeof value === 'object' && value !== null) return '{}';
  return typeof value === 'string' ? scalar(value) : String(value ?? null);
}

/** Letters that no YAML reader takes for anything but text. */
const PLAIN = /^[A-Za-z][A-Za-z0-9_./-]*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** A JSON string is a YAML string. */
function scalar(text: string): string {
  return PLAIN.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text);
}
