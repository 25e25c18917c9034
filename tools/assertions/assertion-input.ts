import { z } from 'zod';
import {
  type AssertionMeta,
  type AssertionSpec,
  assertionFields,
  assertionSpecSchema,
} from '../../core/assertions/assertion.ts';
import { invalidInput, sentenceOf } from '../../core/base/errors.ts';
import { ignoredField } from '../../core/base/ignored-field.ts';
import type { CallContext } from '../../core/base/operation.ts';
import { readYaml } from '../../core/base/read-yaml.ts';
import { API_VERSION } from '../../core/base/record.ts';
import { fieldErrorsOf, PLAINLY } from '../../core/base/schema-errors.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { annotationsSchema, elsewhere, nameSchema } from '../../core/changes/manifest.ts';
import { labelsSchema } from '../../core/model/labels.ts';
import { workspaceById } from '../../core/model/workspaces.ts';
import type { Services } from '../../core/workflow/services.ts';
import { resourceFields } from '../resources/resource-fields.ts';

/** An assertion in a request: its fields flat or in `spec`, as a custom resource object, or as YAML in `manifest`. */
export const assertionInput = {
  ...resourceFields,
  ...z.object(assertionFields).partial().shape,
  spec: assertionSpecSchema.optional().describe('Instead of the fields of the assertion themselves'),
};

const manifestSchema = z.strictObject({
  apiVersion: z.literal(API_VERSION, { error: `apiVersion is ${API_VERSION}` }),
  kind: z.literal('PolicyAssertion', { error: 'kind is PolicyAssertion' }),
  metadata: z.strictObject({
    name: nameSchema,
    namespace: lineOfText(TEXT_LIMITS.name).optional(),
    labels: labelsSchema.optional(),
    annotations: annotationsSchema.optional(),
  }),
  spec: assertionSpecSchema,
  status: ignoredField,
});

export interface AssertionInput extends AssertionMeta {
  readonly name: string | undefined;
  readonly spec: AssertionSpec;
}

/** Returns the assertion in a request, in whichever form it was sent. @throws MeshError `invalid_input` naming the field */
export async function assertionOf(
  context: CallContext<Services>,
  input: z.output<z.ZodObject<typeof assertionInput>>,
): Promise<AssertionInput> {
  const { manifest, apiVersion, kind, metadata, name, labels, annotations, spec, ...flat } = input;
  if (manifest === undefined && apiVersion === undefined && kind === undefined && metadata === undefined) {
    return { name, labels, annotations, spec: spec ?? parsed(assertionSpecSchema, flat) };
  }
  const documents =
    manifest === undefined ? [{ apiVersion, kind, metadata, spec }] : readYaml(context.services.yaml, manifest);
  if (documents.length !== 1) throw invalidInput([{ pointer: '', detail: 'One document is accepted here.' }]);
  const { namespace } = (await workspaceById(context.services, context.workspace)).spec;
  const read = manifestSchema.safeParse(documents[0], PLAINLY);
  const named = namedPlace.safeParse(documents[0]).data?.metadata.namespace;
  const errors = [
    ...(read.error ? fieldErrorsOf(read.error) : []),
    ...elsewhere('/metadata/namespace', named, namespace),
  ];
  if (!read.data || errors.length > 0) throw invalidInput(errors);
  const { metadata: meta, spec: given } = read.data;
  return { name: meta.name, labels: meta.labels, annotations: meta.annotations, spec: given };
}

const namedPlace = z.looseObject({ metadata: z.looseObject({ namespace: z.string() }) });

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, PLAINLY);
  if (result.success) return result.data;
  const errors = fieldErrorsOf(result.error);
  throw invalidInput(errors, sentenceOf(errors));
}
