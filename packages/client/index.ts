import createFetch from 'openapi-fetch';
import type { HttpMethod } from 'openapi-typescript-helpers';
import type { ClientOptions, MeshClient } from './api.ts';
import { followEvents } from './events.ts';
import { problemOf, unreachable } from './problem.ts';

export type * from './api.ts';
export { type FieldFault, MeshProblem } from './problem.ts';

/**
 * Returns a client of one control plane. It keeps nothing, and opens no connection before it is called.
 *
 * @throws TypeError for an address or a token that no request can have
 */
export function createClient({ url, token, workspace }: ClientOptions): MeshClient {
  const baseUrl = new URL(url).href;
  const headers = new Headers({
    authorization: `Bearer ${token}`,
    ...(workspace !== undefined && { 'x-workspace-id': workspace }),
  });
  const api = createFetch<LoosePaths>({ baseUrl, headers, cache: 'no-store' });
  api.use({
    async onResponse({ response }) {
      if (!response.ok) throw await problemOf(response);
      return response;
    },
    onError({ request, error }) {
      throw request.signal.aborted ? error : unreachable(error);
    },
  });
  const call = (method: HttpMethod) => async (path: string, init?: LooseInit) =>
    (await api.request(method, path, init)).data;
  const GET = call('get');

  async function* all(path: string, init: LooseInit = {}): AsyncGenerator<unknown> {
    let cursor: string | undefined;
    do {
      const query = { ...init.params?.query, ...(cursor !== undefined && { cursor }) };
      const page = await GET(path, { ...init, params: { ...init.params, query } });
      yield* page?.items ?? [];
      cursor = page?.next_cursor;
    } while (cursor !== undefined);
  }

  const loose = {
    GET,
    POST: call('post'),
    PUT: call('put'),
    PATCH: call('patch'),
    DELETE: call('delete'),
    all,
    events: (options = {}) => followEvents(baseUrl, headers, options),
  } satisfies Record<keyof MeshClient, unknown>;
  // The document of the API says what each path takes and answers, which no code here depends on.
  return loose as MeshClient;
}

interface LooseInit {
  readonly params?: { readonly query?: Record<string, unknown> };
  [option: string]: unknown;
}

/** One page of a list. */
interface Page {
  readonly items: unknown[];
  readonly next_cursor?: string;
}

type LoosePaths = Record<string, Record<HttpMethod, { responses: { 200: { content: { 'application/json': Page } } } }>>;
