import createClient, { type Middleware } from 'openapi-fetch';
import { problemOf, unreachable } from './problem.ts';
import type { paths } from './schema.d.ts';
import { credentialHeaders, endSession } from './session.ts';
import { workspaceId } from './workspace.ts';

let answered = 0;

/** How many answers have come since the page was opened. */
export const answersSoFar = () => answered;

const credentials: Middleware = {
  onRequest({ request, schemaPath }) {
    for (const [name, value] of Object.entries(credentialHeaders()))
      if (!request.headers.has(name)) request.headers.set(name, value);
    // What belongs to no workspace is not asked with one: another's right could be missing.
    const workspace = workspaceId.value;
    const isAsked = workspace && !schemaPath.startsWith('/api/v1/users/') && !request.headers.has('x-workspace-id');
    if (isAsked) request.headers.set('x-workspace-id', workspace);
    // An empty one asks for what belongs to the installation.
    if (request.headers.get('x-workspace-id') === '') request.headers.delete('x-workspace-id');
    return request;
  },
  async onResponse({ request, response }) {
    answered += 1;
    if (response.ok) return response;
    const body = await response
      .clone()
      .json()
      .catch(() => undefined);
    const problem = problemOf(response.status, body);
    // An ended session asks for the password again, on top of what is shown: nothing that was typed is lost.
    if (problem.status === 401 && !request.url.includes('/users/login'))
      endSession(request.headers.get('authorization') ?? undefined);
    throw problem;
  },
  onError() {
    throw unreachable();
  },
};

/** Every answer but a success is thrown as a `Problem`. */
export const api = createClient<paths>({ baseUrl: '/', cache: 'no-store' });
api.use(credentials);

/** The body of an answer: `unless` it was refused, in which case `api` threw. */
export async function answer<T>(call: Promise<{ readonly data?: T | undefined }>): Promise<T> {
  return (await call).data as T;
}
