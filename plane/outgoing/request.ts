import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { allowListOf, refusalOf, type Target, targetOf } from '../../core/webhooks/target.ts';
import { type Resolve, resolveByDns } from './resolve.ts';

export interface RequestLimits {
  /** Until TCP is connected, for all addresses together. */
  readonly connectMs: number;
  /** From the look-up to the end of the answer. */
  readonly totalMs: number;
  /** The most bytes of an answer, after which the connection is closed. */
  readonly responseBytes: number;
}

export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Posted; without one the request is a GET. */
  readonly body?: string;
  /** PEM: authorities that alone vouch for the server, in place of the public ones. */
  readonly ca?: string | undefined;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The beginning, where there was more than the limit. */
  readonly body: Buffer;
  readonly isWhole: boolean;
}

interface OutgoingOptions {
  /** Hosts, addresses and CIDRs that are not on the internet and may be reached all the same. */
  readonly allow: readonly string[];
  readonly resolve?: Resolve | undefined;
  readonly limits: RequestLimits;
}

/** Sends a request. @returns why there was no answer, in a sentence. @throws where the signal aborts */
export type SendOutgoing = (request: OutgoingRequest, signal: AbortSignal) => Promise<OutgoingAnswer | string>;

/**
 * Sends requests to addresses that others named: to the internet, and to what is allowed beside it. The name is looked up first,
 * every address that it has is judged, and the connection goes to these addresses and no others, so that a second look-up cannot
 * answer anything else. No redirect is followed, no connection is kept, no proxy of the environment is used.
 */
export function buildOutgoing({ allow, resolve = resolveByDns, limits }: OutgoingOptions): SendOutgoing {
  const allowed = allowListOf(allow);

  async function send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer | string> {
    const target = targetOf(request.url, allowed);
    if (typeof target === 'string') return target;
    const addresses = target.address === undefined ? await lookUp(target, signal) : [target.address];
    if (typeof addresses === 'string') return addresses;
    return refusalOf(target, addresses, allowed) ?? exchange(target, addresses, request, { ...limits, signal });
  }

  async function lookUp({ host }: Target, signal: AbortSignal): Promise<readonly string[] | string> {
    try {
      return await resolve(host, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return `${host} cannot be looked up: ${codeOf(error)}.`;
    }
  }

  return async (request, signal) => {
    const deadline = AbortSignal.timeout(limits.totalMs);
    try {
      return await send(request, AbortSignal.any([signal, deadline]));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (deadline.aborted) return `There was no answer within ${limits.totalMs / 1_000} s.`;
      return `The request failed: ${codeOf(error)}.`;
    }
  };
}

type Bounds = RequestLimits & { readonly signal: AbortSignal };

function exchange(
  { url, host }: Target,
  addresses: readonly string[],
  { headers, body, ca }: OutgoingRequest,
  bounds: Bounds,
): Promise<OutgoingAnswer> {
  const isTls = url.protocol === 'https:';
  const options: RequestOptions = {
    method: body === undefined ? 'GET' : 'POST',
    host,
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: {
      ...headers,
      host: url.host,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
    lookup: lookupOf(addresses),
    signal: bounds.signal,
    agent: isTls
      ? new HttpsAgent({ keepAlive: false, maxCachedSessions: 0, ...(ca !== undefined && { ca }) })
      : new HttpAgent({ keepAlive: false }),
  };
  return new Promise((resolve, reject) => {
    const request = isTls ? httpsRequest(options) : httpRequest(options);
    const connecting = setTimeout(() => {
      request.destroy(Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' }));
    }, bounds.connectMs);
    request.once('socket', (socket) => socket.once('connect', () => clearTimeout(connecting)));
    request.once('error', reject);
    request.once('close', () => {
      clearTimeout(connecting);
      reject(new Error('closed'));
    });
    request.once('response', (response) => {
      answerOf(response, bounds)
        .then(resolve, reject)
        .finally(() => request.destroy());
    });
    request.end(body);
  });
}

/** Answers the addresses that were judged, whatever is asked. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = all;
    if (options.all || !first) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

/** The status, and the beginning of the body: of a longer one no more is read. */
async function answerOf(response: IncomingMessage, { responseBytes }: Bounds): Promise<OutgoingAnswer> {
  const { statusCode: status = 0, headers } = response;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > responseBytes) break;
  }
  const body = Buffer.concat(chunks).subarray(0, responseBytes);
  return { status, headers, body, isWhole: length <= responseBytes };
}

/** Names of errors, not their messages, which name addresses of the inside. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? 'unknown error' : codeOf(errors[0]);
}
