import type { Request, RequestHandler, Response } from 'express';
import SCIMMY from 'scimmy';
import { MeshError, toProblem } from '../../core/base/errors.ts';
import { StoreError } from '../../core/base/ports.ts';
import { requestIdOf } from '../../core/base/request-id.ts';
import { equalSecrets } from '../../core/base/secret.ts';
import { fromStore } from '../../core/base/store-problems.ts';
import { logFailure } from '../../core/call/log-failure.ts';
import { type DirectoryCall, TakenInDirectory } from '../../core/identity/directory.ts';
import { issuerActor } from '../../core/identity/issuer-sessions.ts';
import { readFields } from '../body.ts';
import { bearerOf } from '../credential.ts';
import { SCIM_PATH, type ScimOptions } from './paths.ts';
import { describe, patch, readList, readOne, remove, write } from './resources.ts';
import type { Json } from './texts.ts';

const TYPE = 'application/scim+json; charset=utf-8';
const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';
const NAMED = ['Users', 'Groups'] as const;
const DESCRIPTIONS = ['Schemas', 'ResourceTypes', 'ServiceProviderConfig'] as const;
const METHODS = {
  one: ['GET', 'PUT', 'PATCH', 'DELETE'],
  all: ['GET', 'POST'],
} as const;

interface Answer {
  readonly status: number;
  readonly json?: Json;
}

/**
 * Answers the paths of SCIM 2.0 (RFC 7643, RFC 7644): what the issuers of the configuration tell of people and groups. The
 * token of a request says whose directory it is about.
 */
export function buildScim({ services, log, directories }: ScimOptions): RequestHandler {
  /** @throws MeshError `unauthenticated` */
  function callOf(request: Request, requestId: string): DirectoryCall {
    const shown = bearerOf(request.headers.authorization) ?? '';
    const directory = directories.find(({ token }) => equalSecrets(token.reveal(), shown));
    if (!directory)
      throw new MeshError('unauthenticated', 'Send the token of a directory: Authorization: Bearer TOKEN.');
    const { rules } = directory;
    return { services, rules, why: { actor: issuerActor(rules), requestId } };
  }

  return async (request, response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('Cache-Control', 'no-store');
    try {
      const { status, json } = await answer(request, callOf(request, requestId));
      if (!json) return void response.status(status).end();
      const located = withLocations(json, `${request.protocol}://${request.headers.host}${SCIM_PATH}`);
      const { location } = (located['meta'] ?? {}) as Json;
      if (status === 201 && typeof location === 'string') response.setHeader('Location', location);
      response.status(status).setHeader('Content-Type', TYPE).end(JSON.stringify(located));
    } catch (error) {
      refuse(response, error, requestId);
    }
  };

  function refuse(response: Response, error: unknown, requestId: string): void {
    const { status, detail, scimType } = faultOf(error, requestId);
    const problem = toProblem(error, { requestId });
    logFailure(log, error, { ...problem, status }, { path: SCIM_PATH, scimType });
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="mesh"');
    response.status(status).setHeader('Content-Type', TYPE);
    response.end(JSON.stringify({ schemas: [ERROR_SCHEMA], status: String(status), scimType, detail }));
  }
}

async function answer(request: Request, call: DirectoryCall): Promise<Answer> {
  const { method, path } = request;
  const [what = '', id, ...more] = path.slice(SCIM_PATH.length + 1).split('/');
  if (path.endsWith('/.search'))
    return search(request, what === '.search' ? NAMED : NAMED.filter((one) => one === what), call);
  const named = NAMED.find((one) => one === what);
  const described = DESCRIPTIONS.find((one) => one === what);
  if (more.length > 0 || (!named && !described)) throw new MeshError('not_found', `There is nothing at ${path}.`);
  if (described) {
    requireMethod(request, ['GET']);
    return { status: 200, json: await describe(described, id && decodeURIComponent(id)) };
  }
  if (!named) throw new MeshError('not_found', `There is nothing at ${path}.`);
  requireMethod(request, id === undefined ? METHODS.all : METHODS.one);
  if (method === 'GET') {
    const query = queryOf(request);
    return {
      status: 200,
      json: id === undefined ? await readList([named], query, call) : await readOne(named, id, query, call),
    };
  }
  if (method === 'DELETE') {
    await remove(named, id ?? '', call);
    return { status: 204 };
  }
  const fields = await bodyOf(request);
  if (method === 'PATCH') return { status: 200, json: await patch(named, id ?? '', fields, call) };
  return { status: id === undefined ? 201 : 200, json: await write(named, id, fields, call) };
}

/** RFC 7644, section 3.4.3. */
async function search(request: Request, sorts: readonly ('Users' | 'Groups')[], call: DirectoryCall): Promise<Answer> {
  if (sorts.length === 0) throw new MeshError('not_found', `There is nothing at ${request.path}.`);
  requireMethod(request, ['POST']);
  const fields = await bodyOf(request);
  const query = ['filter', 'attributes', 'excludedAttributes', 'startIndex', 'count'].flatMap((name) => {
    const value = fields[name];
    return value === undefined ? [] : [[name, Array.isArray(value) ? value.join(',') : value] as const];
  });
  return { status: 200, json: await readList(sorts, Object.fromEntries(query), call) };
}

/** @throws SCIMMY.Types.Error `invalidSyntax` */
async function bodyOf(request: Request): Promise<Json> {
  try {
    return (await readFields(request, { method: 'post' })).fields;
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'invalid_input') throw error;
    throw new SCIMMY.Types.Error(400, 'invalidSyntax', error.message);
  }
}

/** @throws MeshError `method_not_allowed` */
function requireMethod({ method, path }: Request, allow: readonly string[]): void {
  if (allow.includes(method)) return;
  throw new MeshError('method_not_allowed', `${path} answers ${allow.join(', ')} only.`, { allow: [...allow] });
}

function queryOf({ url }: Request): Json {
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const texts = ['filter', 'attributes', 'excludedAttributes'].flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  const numbers = ['startIndex', 'count'].flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, Number(value)] as const];
  });
  return Object.fromEntries([...texts, ...numbers]);
}

/** The library knows paths alone. */
function withLocations(json: Json, base: string): Json {
  const { meta, members, Resources } = json as { readonly meta?: Json } & Partial<Record<string, readonly Json[]>>;
  return {
    ...json,
    ...(typeof meta?.['location'] === 'string' && { meta: { ...meta, location: `${base}${meta['location']}` } }),
    ...(members && { members: members.map((member) => ({ ...member, $ref: `${base}/Users/${member['value']}` })) }),
    ...(Resources && { Resources: Resources.map((one) => withLocations(one, base)) }),
  };
}

interface Fault {
  readonly status: number;
  readonly detail: string;
  readonly scimType?: string | undefined;
}

/** The error of RFC 7644, section 3.12, that one of ours, or of the library, is. */
function faultOf(error: unknown, requestId: string): Fault {
  if (error instanceof TakenInDirectory) return { status: 409, scimType: 'uniqueness', detail: error.message };
  if (error instanceof URIError) return { status: 400, detail: 'The path is malformed.' };
  const { status, scimType, message } = error as Partial<Fault> & { readonly message?: string };
  if (error instanceof Error && typeof status === 'number' && status < 500) {
    return { status, detail: message ?? '', ...(scimType && { scimType }) };
  }
  const problem = toProblem(error instanceof StoreError ? fromStore(error) : error, { requestId });
  const invalid = problem.code === 'invalid_input' ? { scimType: 'invalidValue' } : {};
  return { status: problem.status, detail: problem.detail ?? problem.title, ...invalid };
}
