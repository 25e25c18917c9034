import { z } from 'zod';
import { type FieldError, invalidInput, sentenceOf } from '../../base/errors.ts';
import { fieldErrorsOf, MAX_FIELD_ERRORS, PLAINLY } from '../../base/schema-errors.ts';
import { schemaNames } from '../../base/schema-names.ts';
import { lineOfText, mapOf, TEXT_LIMITS } from '../../base/text.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { labelsSchema } from '../../model/labels.ts';
import { networkSpecSchema } from '../../model/network-spec.ts';
import { policyInputSchema, storedPolicySpec } from '../../model/policy.ts';

/** More than any resource has. */
const MAX_SPEC_FIELDS = 64;

const peerSpecSchema = z
  .strictObject({
    labels: labelsSchema.optional(),
    network: lineOfText(TEXT_LIMITS.name).min(1).optional(),
  })
  .register(schemaNames, { name: 'PeerChange' });

/** Any other spec is accepted too, so that {@link parseChange} names the faulty field of the right kind. */
const changeSpecSchema = z
  .union([
    policyInputSchema,
    networkSpecSchema,
    peerSpecSchema,
    mapOf(lineOfText(TEXT_LIMITS.name), z.unknown(), MAX_SPEC_FIELDS, 'fields'),
  ])
  .meta({ id: 'ChangeSpec', description: 'The whole new spec; none for delete' });

/** A typed change as callers and models send it: flat, so that its JSON schema stays small. */
export const changeInputSchema = z.strictObject({
  action: z.enum(['create', 'update', 'delete']),
  resource: z.enum(['MeshPolicy', 'MeshNetwork', 'MeshPeer']),
  name: lineOfText(TEXT_LIMITS.name).min(1),
  spec: changeSpecSchema.optional(),
  revision: z.int().min(1).optional().describe('As you read it'),
});
export type ChangeInput = z.output<typeof changeInputSchema>;

const texts = z.record(z.string(), z.string()).optional();

/** A change that an answer proposes: `plan_network_change` takes it as it is. */
export const proposedChangeSchema = z
  .strictObject({
    action: changeInputSchema.shape.action,
    resource: changeInputSchema.shape.resource,
    name: z.string(),
    spec: z.union([storedPolicySpec, networkSpecSchema]).optional(),
    labels: texts,
    annotations: texts,
    network: z.string().optional(),
    revision: z.int().optional(),
  })
  .register(schemaNames, { name: 'ProposedChange' });

export const MAX_CHANGES = 50;

/** Typed changes from their flat form. @throws MeshError `invalid_input` with a pointer to each wrong field. */
export function parseChanges(inputs: readonly ChangeInput[]): NetworkChange[] {
  const errors: FieldError[] = [];
  const changes = inputs.flatMap((input, index) => {
    const at = `/changes/${index}`;
    const parsed = parseChange(input);
    if (parsed.success) return [parsed.data];
    errors.push(...parsed.errors.map(({ pointer, detail }) => ({ pointer: at + pointer, detail })));
    return [];
  });
  if (errors.length > 0) throw invalidInput(errors.slice(0, MAX_FIELD_ERRORS), sentenceOf(errors));
  return changes;
}

type Parsed =
  | { readonly success: true; readonly data: NetworkChange }
  | { readonly success: false; readonly errors: readonly FieldError[] };

/** Parses a change, or returns its errors; pointers are relative to the change. */
export function parseChange(input: ChangeInput): Parsed {
  const parsed = parseAction(input);
  const { action, revision } = input;
  if (!parsed.success || revision === undefined) return parsed;
  if (action === 'create') return wrong('/revision', 'What is to be created has no revision yet: leave it out.');
  return { success: true, data: { ...parsed.data, revision } };
}

function parseAction({ action, resource, name, spec }: ChangeInput): Parsed {
  if (action === 'delete') {
    if (resource === 'MeshPeer') return wrong('/resource', 'Peers are revoked or deleted by their own operations.');
    if (spec !== undefined) return wrong('/spec', 'A deletion has no spec.');
    return { success: true, data: { action, resource, name } };
  }
  if (resource === 'MeshPeer') {
    if (action === 'create')
      return wrong('/action', 'A peer comes into being by registering: only update its labels or network.');
    return withSpec(peerSpecSchema, spec, ({ labels, network }) => ({
      action,
      resource,
      name,
      ...(labels && { labels }),
      ...(network !== undefined && { network }),
    }));
  }
  return resource === 'MeshPolicy'
    ? withSpec(policyInputSchema, spec, (data) => ({ action, resource, name, spec: data }))
    : withSpec(networkSpecSchema, spec, (data) => ({ action, resource, name, spec: data }));
}

function withSpec<T>(schema: z.ZodType<T>, spec: unknown, change: (data: T) => NetworkChange): Parsed {
  const parsed = schema.safeParse(spec ?? {}, PLAINLY);
  if (parsed.success) return { success: true, data: change(parsed.data) };
  const errors = fieldErrorsOf(parsed.error).map(({ pointer, detail }) => ({ pointer: `/spec${pointer}`, detail }));
  return { success: false, errors };
}

function wrong(pointer: string, detail: string): Parsed {
  return { success: false, errors: [{ pointer, detail }] };
}
