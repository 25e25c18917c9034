import { parseDuration } from '../base/duration.ts';
import { invalidInput } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { readYaml } from '../base/read-yaml.ts';
import { formatWritable } from '../base/time.ts';
import type { PolicySpec } from '../model/policy.ts';
import { beginOf } from '../model/policy-match.ts';
import type { NetworkSpec } from '../model/resources.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import { writtenPolicies } from '../state/state.ts';
import type { NetworkChange } from './changes.ts';
import { readChange } from './manifest.ts';

type ResourceCall = CallContext<Pick<NetworkServices, 'store' | 'clock' | 'states' | 'yaml'>>;

/** A resource as a request gives it: as fields, as a custom resource object, or as YAML text. */
export interface ResourceInput<Spec> {
  readonly name?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly spec?: Spec | undefined;
  /** Instead of `spec.expiresAt`, counted from the begin, which is now without `spec.startsAt`. */
  readonly ttl?: string | undefined;
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: unknown;
  readonly manifest?: string | undefined;
}

type WriteChange = Extract<NetworkChange, { spec: unknown }>;

/**
 * The change that a create or put asks for.
 *
 * @param id of the record that a put replaces; undefined for a creation.
 * @throws MeshError `invalid_input` naming the field.
 */
export async function resourceChange(
  context: ResourceCall,
  resource: WriteChange['resource'],
  input: ResourceInput<PolicySpec | NetworkSpec>,
  id?: string,
): Promise<WriteChange> {
  const { clock } = context.services;
  const given = await resourceFieldsOf(context, resource, input, id === undefined);
  if (id !== undefined && given.name !== undefined) await sameRecord(context, resource, id, given.name);
  const spec = withTtl(given.spec, input.ttl, clock.now());
  const { labels, annotations } = given;
  return {
    action: id === undefined ? 'create' : 'update',
    resource,
    name: id ?? given.name ?? '',
    spec,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  } as WriteChange;
}

interface ResourceFields {
  readonly name: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly spec: PolicySpec | NetworkSpec;
}

async function resourceFieldsOf(
  context: ResourceCall,
  resource: WriteChange['resource'],
  input: ResourceInput<PolicySpec | NetworkSpec>,
  needsName: boolean,
): Promise<ResourceFields> {
  const { manifest, name, labels, annotations, spec, apiVersion, kind, metadata } = input;
  if (manifest === undefined && apiVersion === undefined && kind === undefined && metadata === undefined) {
    if (spec === undefined || (needsName && name === undefined)) {
      throw missingFields([
        ...(needsName && name === undefined ? ['/name'] : []),
        ...(spec === undefined ? ['/spec'] : []),
      ]);
    }
    return { name, labels, annotations, spec };
  }
  const documents =
    manifest === undefined ? [{ apiVersion, kind, metadata, spec }] : readYaml(context.services.yaml, manifest);
  if (documents.length !== 1) {
    throw invalidInput([{ pointer: '', detail: 'One document is accepted here: send several to /api/v1/apply.' }]);
  }
  const { services, workspace } = context;
  const state = await services.states.current(workspace);
  const change = readChange(documents[0], state, (await workspaceById(services, workspace)).spec.namespace);
  if (Array.isArray(change)) throw invalidInput(change);
  if (change.resource !== resource || !('spec' in change)) {
    throw invalidInput([{ pointer: '/kind', detail: `A ${resource} is accepted here.` }]);
  }
  return { name: change.name, labels: change.labels, annotations: change.annotations, spec: change.spec };
}

async function sameRecord(
  { services, workspace }: ResourceCall,
  resource: WriteChange['resource'],
  id: string,
  name: string,
): Promise<void> {
  const state = await services.states.current(workspace);
  const records = resource === 'MeshPolicy' ? writtenPolicies(state) : state.networks;
  const stored = [...records.values()].find((record) => record.uid === id)?.name ?? id;
  if (stored.toLowerCase() === name.replaceAll(' ', '-').toLowerCase()) return;
  const detail = `The path names ${stored} and the body ${name}: a record keeps its name.`;
  throw invalidInput([{ pointer: '/name', detail }], detail);
}

function withTtl<Spec extends PolicySpec | NetworkSpec>(spec: Spec, ttl: string | undefined, now: number): Spec {
  if (ttl === undefined) return spec;
  const ms = parseDuration(ttl);
  if (ms === undefined) {
    throw invalidInput([{ pointer: '/ttl', detail: 'ttl is a duration such as 90s, 2h or 1h30m.' }]);
  }
  if ('expiresAt' in spec && spec.expiresAt !== undefined) {
    throw invalidInput([{ pointer: '/ttl', detail: 'Send either ttl or spec.expiresAt.' }]);
  }
  const begin = 'startsAt' in spec ? Math.max(now, beginOf(spec)) : now;
  return { ...spec, expiresAt: formatWritable(begin + ms) };
}

function missingFields(pointers: readonly string[]) {
  const errors = pointers.map((pointer) => ({ pointer, detail: 'Required.' }));
  return invalidInput(errors, `${pointers.join(' and ')} ${pointers.length === 1 ? 'is' : 'are'} required.`);
}
