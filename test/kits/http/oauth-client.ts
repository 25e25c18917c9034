import { createHash, randomBytes } from 'node:crypto';
import type { ApiAnswer, Harness } from './harness.ts';

export const REDIRECT = 'http://127.0.0.1:33418/callback';

type Fields = Readonly<Record<string, string>>;

/** An OAuth client with the browser of its person, over HTTP alone: it keeps cookies, and follows what answers say. */
export function oauthClient({ url, api }: Pick<Harness, 'url' | 'api'>) {
  const cookies = new Map<string, string>();

  async function browse(address: string): Promise<Response> {
    const header = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, { redirect: 'manual', headers: { cookie: header, connection: 'close' } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }

  async function post(path: string, fields: Fields): Promise<ApiAnswer> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return api('POST', path, { headers, body: new URLSearchParams(fields).toString() });
  }

  const client = {
    browse,
    post,

    /** Registers, and answers the id of the client. */
    async register(metadata: object = { client_name: 'Planner', redirect_uris: [REDIRECT] }): Promise<string> {
      return (await api('POST', '/oauth/register', { body: metadata })).body.client_id;
    },

    /** The parameters of a request for a decision, with the verifier of its challenge. */
    request(clientId: string, over: Fields = {}) {
      const verifier = randomBytes(32).toString('base64url');
      const asked: Record<string, string> = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: REDIRECT,
        state: 'of the client',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        resource: `${url}/mcp`,
        ...over,
      };
      return { verifier, address: `${url}/oauth/authorize?${new URLSearchParams(asked)}` };
    },

    /** Opens a request in the browser. @returns the id of it that the page of the dashboard gets */
    async open(address: string): Promise<string> {
      const location = (await browse(address)).headers.get('location') ?? '';
      const id = /#\/~\/allow\/([\w-]+)$/.exec(location)?.[1];
      if (id === undefined) throw new Error(`The request led to ${location}.`);
      return id;
    },

    /** Goes on after the decision. @returns what the client is told at its redirect */
    async goOn(address: string): Promise<URLSearchParams> {
      return new URL((await browse(address)).headers.get('location') ?? '').searchParams;
    },

    exchange: (clientId: string, code: string, verifier: string, over: Fields = {}) =>
      post('/oauth/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: REDIRECT,
        code_verifier: verifier,
        ...over,
      }),

    refresh: (clientId: string, token: string, over: Fields = {}) =>
      post('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...over }),

    /** From the registration to tokens, with a person who allows what is given. */
    async letIn(person: { readonly token: string; readonly workspace: string }, consent: object = {}) {
      const clientId = await client.register();
      const { address, verifier } = client.request(clientId, { scope: 'network:read intents:plan intents:apply' });
      const id = await client.open(address);
      const body = { scopes: ['network:read', 'intents:plan'], ...consent };
      const allowed = await api('POST', `/api/v1/oauth/requests/${id}/allow`, { ...person, body });
      if (allowed.status !== 200) throw new Error(allowed.text);
      const answer = await client.goOn(allowed.body.url);
      const { body: tokens } = await client.exchange(clientId, answer.get('code') ?? '', verifier);
      return { clientId, agent: allowed.body.agent as string, answer, tokens };
    },
  };
  return client;
}
