import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { type ProblemCode, problems } from '../core/base/errors.ts';
import { type AnyOperation, fieldOf, mayWait, pendingApproval } from '../core/base/operation.ts';
import { readScopeOf } from '../core/call/access.ts';
import { notUnderstoodFields } from '../core/intent/plan/not-understood.ts';
import { answersRecord } from './entity-tags.ts';
import { nameSchemas, pascal, withNames } from './openapi-names.ts';
import { OTHER_TAGS, otherPaths } from './openapi-others.ts';
import { isGuarded, problemsOf } from './problems-of.ts';

const documentHead = z.object({ kind: z.string(), name: z.string() }).meta({ id: 'DocumentHead' });
const fieldError = z
  .object({
    pointer: z.string(),
    detail: z.string(),
    document: documentHead.optional().describe('Of several documents, the one that it stands in'),
  })
  .meta({ id: 'FieldError' });

const problem = z
  .looseObject({
    type: z.string().describe('urn:mesh:problem:<code>'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What happened and what to do'),
    instance: z.string().optional(),
    code: z.string().describe('Stable and machine-readable'),
    requestId: z.string().optional(),
    errors: z.array(fieldError).optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details with a stable code' });

const notUnderstood = z
  .looseObject({ ...problem.shape, ...z.object(notUnderstoodFields).partial().shape })
  .meta({ id: 'IntentNotUnderstood', description: 'A problem with what was recognized of an intent' });

/** The OpenAPI 3.1 document of the operations. */
export function openApiDocument<Services>(operations: readonly AnyOperation<Services>[], version: string) {
  const bodies = new Map(operations.map((operation) => [operation, bodiesOf(operation)]));
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    const path = operation.http.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.http.method]: describe(operation, bodies.get(operation)) };
  }
  const tags = [...new Set([...operations.map(({ http }) => tagOf(http.path)), ...OTHER_TAGS])].sort();
  const names = new Map([
    ...nameSchemas(operations, (operation) => bodies.get(operation)?.schema),
    ...[...bodies].flatMap(([{ name }, body]): [z.ZodType, string][] =>
      body?.patch && body.patch !== body.schema ? [[body.patch, `${pascal(name)}MergePatch`]] : [],
    ),
    [pendingApproval, 'PendingApproval'] as const,
  ]);
  return withNames(names, () =>
    createDocument({
      openapi: '3.1.1',
      info: {
        title: 'Mesh control plane',
        version,
        description: 'A control plane for a WireGuard overlay network that is run by and for AI agents.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This control plane' }],
      tags: tags.map((name) => ({ name, description: `Operations on ${name.replaceAll('-', ' ')}` })),
      security: [{ bearer: [] }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A session from POST /api/v1/users/login, or an API, agent, device, join or delegate token.',
          },
        },
      },
      paths: { ...(paths as ZodOpenApiPathsObject), ...otherPaths(problem) },
    }),
  );
}

function tagOf(path: string): string {
  const [first = '', second = ''] = path
    .replace('/api/v1/', '')
    .split('/')
    .filter((part) => !part.startsWith(':'));
  return first === 'workspaces' && second !== '' && second !== 'add' ? second : first;
}

/** In place of the header, where the path names no workspace. */
const WORKSPACE_FIELD = { workspace_id: z.string().optional().describe('In place of X-Workspace-Id') };

interface Body {
  readonly schema: z.ZodObject;
  /** The same as a merge patch (RFC 7396). */
  readonly patch?: z.ZodObject;
}

/** Returns the request body; undefined if there is none, or if the input is in the query. */
function bodiesOf<Services>(operation: AnyOperation<Services>): Body | undefined {
  const schema = bodySchema(operation);
  if (!schema || operation.http.method !== 'patch') return schema && { schema };
  const { maps = [] } = operation;
  return { schema, patch: maps.length === 0 ? schema : z.strictObject({ ...schema.shape, ...mergedMaps(maps) }) };
}

function mergedMaps(names: readonly string[]): z.ZodObject['shape'] {
  const map = z.record(z.string(), z.string().nullable()).nullable().optional();
  return Object.fromEntries(
    names.map((name) => [name, map.describe(`Merged into the ${name} there are; null removes one, or all`)]),
  );
}

function bodySchema<Services>(operation: AnyOperation<Services>): z.ZodObject | undefined {
  if (operation.http.method === 'get') return undefined;
  const fields = fieldsBesidePath(operation);
  const isNamed = operation.workspace !== 'scoped' || operation.http.path.includes(':workspaceId');
  return Object.keys(fields).length > 0 ? z.strictObject({ ...fields, ...(!isNamed && WORKSPACE_FIELD) }) : undefined;
}

function fieldsBesidePath<Services>(operation: AnyOperation<Services>): z.ZodObject['shape'] {
  const inPath = new Set(pathNames(operation.http.path).map((name) => fieldOf(operation, name)));
  return Object.fromEntries(Object.entries(operation.input.shape).filter(([name]) => !inPath.has(name)));
}

function pathNames(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

function describe<Services>(operation: AnyOperation<Services>, body: Body | undefined): ZodOpenApiOperationObject {
  const { http, input, output, access, workspace } = operation;
  const names = pathNames(http.path);
  const ofInput = names.filter((name) => name !== 'workspaceId');
  const inPath = Object.fromEntries(
    ofInput.flatMap((name) => {
      const field = input.shape[fieldOf(operation, name)];
      return field ? [[name, field]] : [];
    }),
  );
  const query = fieldsBesidePath(operation);
  const path = z.object({
    ...(names.includes('workspaceId') && {
      workspaceId: z.string().describe('Id, slug or namespace of the workspace'),
    }),
    ...inPath,
  });
  const header = z.object({
    ...(workspace === 'scoped' &&
      !names.includes('workspaceId') && {
        'X-Workspace-Id': z.string().optional().describe('Required where the token is good for several workspaces'),
      }),
    ...(isGuarded(operation) && {
      'If-Match': z
        .string()
        .optional()
        .describe('ETag of a GET: nothing is written where the record has changed since'),
    }),
  });
  const tag = answersRecord(operation);
  const answer = http.envelope ? z.object({ [http.envelope]: output }) : output;
  const status = http.status ?? 200;
  return {
    operationId: operation.name,
    summary: operation.title,
    description: operation.description,
    tags: [tagOf(http.path)],
    'x-required-scope': access,
    'x-required-read-scope': readScopeOf(operation),
    'x-edition': operation.edition,
    ...(access === 'public' && { security: [] }),
    requestParams: {
      ...(names.length > 0 && { path }),
      ...(Object.keys(header.shape).length > 0 && { header }),
      ...(http.method === 'get' && Object.keys(query).length > 0 && { query: z.strictObject(query) }),
    },
    ...(body && { requestBody: bodyOf(operation, body) }),
    responses: {
      [String(status) as '200']: {
        description: 'Success',
        ...(tag && { headers: z.object({ ETag: z.string().describe('Of this version, for If-Match') }) }),
        ...(status !== 204 && {
          content: {
            'application/json': { schema: answer },
            ...(operation.shows && { 'application/yaml': { schema: z.string() } }),
            ...(http.tellsStages && { 'text/event-stream': { schema: z.string().describe(STAGES) } }),
          },
        }),
      },
      ...(mayWait(operation) && {
        '202': {
          description: 'Waits for a person, who approves it as a workflow; nothing has changed yet',
          content: { 'application/json': { schema: pendingApproval } },
        },
      }),
      ...(http.otherStatus && {
        [String(http.otherStatus.status) as '202']: {
          description: http.otherStatus.description,
          content: { 'application/json': { schema: answer } },
        },
      }),
      ...problemResponses(problemsOf(operation)),
    },
  };
}

const STAGES =
  'Events `stage` ({text}: what is done next), then `answer` with the answer or `problem` with what it was refused with. A refusal before the first stage is answered as without events.';

function bodyOf<Services>({ http }: AnyOperation<Services>, { schema, patch }: Body) {
  const required = !schema.safeParse({}).success;
  return {
    required,
    content: {
      'application/json': { schema },
      ...(patch && { 'application/merge-patch+json': { schema: patch } }),
      ...(http.yamlField !== undefined && { 'application/yaml': { schema: z.string() } }),
    },
  };
}

/** Returns a response for each status; its description lists the codes. */
function problemResponses(codes: ReadonlySet<ProblemCode>) {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = problems[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [
      String(status),
      {
        description: of.map((code) => `\`${code}\`: ${problems[code].title}`).join('; '),
        content: {
          'application/problem+json': { schema: of.includes('intent_not_understood') ? notUnderstood : problem },
        },
      },
    ]),
  );
}
