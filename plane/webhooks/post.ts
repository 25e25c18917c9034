import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { DeliveryRequest, SendResult, WebhookSender } from '../../core/webhooks/sender.ts';
import { allowListOf, refusalOf, type Target, targetOf } from '../../core/webhooks/target.ts';
import { type Resolve, resolveByDns } from './resolve.ts';

export const SEND_LIMITS = {
  /** Until TCP is connected, for all addresses together. */
  connectMs: 5_000,
  /** From the look-up to the end of the answer. */
  totalMs: 15_000,
  /** The most bytes of an answer, after which the connection is closed; its status counts all the same. */
  responseBytes: 4_096,
  /** The characters of an answer that are stored. */
  keptCharacters: 512,
} as const;

export interface SenderOptions {
  /** The setting app.webhooks.allow. */
  readonly allow: readonly string[];
  readonly resolve?: Resolve;
  readonly limits?: { readonly [K in keyof typeof SEND_LIMITS]?: number };
}

/**
 * Posts to the internet, and to what is allowed beside it. The name is looked up first, every address that it has is judged,
 * and the connection goes to these addresses and no others, so that a second look-up cannot answer anything else. No
 * redirect is followed, no connection is kept, no proxy of the environment is used.
 */
export function buildSender({ allow, resolve = resolveByDns, limits = {} }: SenderOptions): WebhookSender {
  const allowed = allowListOf(allow);
  const bounds = { ...SEND_LIMITS, ...limits };

  async function send(outgoing: DeliveryRequest, signal: AbortSignal): Promise<SendResult> {
    const target = targetOf(outgoing.url, allowed);
    if (typeof target === 'string') return { kind: 'failed', error: target };
    const addresses = target.address === undefined ? await lookUp(target, signal) : [target.address];
    if (typeof addresses === 'string') return { kind: 'failed', error: addresses };
    const refused = refusalOf(target, addresses, allowed);
    return refused === undefined
      ? post(target, addresses, outgoing, { ...bounds, signal })
      : { kind: 'failed', error: refused };
  }

  async function lookUp({ host }: Target, signal: AbortSignal): Promise<readonly string[] | string> {
    try {
      return await resolve(host, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return `${host} cannot be looked up: ${codeOf(error)}.`;
    }
  }

  return {
    async send(outgoing, signal) {
      const deadline = AbortSignal.timeout(bounds.totalMs);
      try {
        return await send(outgoing, AbortSignal.any([signal, deadline]));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (deadline.aborted)
          return { kind: 'failed', error: `There was no answer within ${bounds.totalMs / 1_000} s.` };
        return { kind: 'failed', error: `The request failed: ${codeOf(error)}.` };
      }
    },
  };
}

type PostBounds = Record<keyof typeof SEND_LIMITS, number> & { readonly signal: AbortSignal };

function post(
  { url, host }: Target,
  addresses: readonly string[],
  { headers, body }: DeliveryRequest,
  bounds: PostBounds,
) {
  const isTls = url.protocol === 'https:';
  const options: RequestOptions = {
    method: 'POST',
    host,
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
    lookup: lookupOf(addresses),
    signal: bounds.signal,
    agent: isTls ? new HttpsAgent({ keepAlive: false, maxCachedSessions: 0 }) : new HttpAgent({ keepAlive: false }),
  };
  return new Promise<SendResult>((resolve, reject) => {
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
async function answerOf(response: IncomingMessage, { responseBytes, keptCharacters }: PostBounds): Promise<SendResult> {
  const { statusCode: status = 0, headers } = response;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= responseBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, responseBytes).toString('utf8');
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  return {
    kind: 'answered',
    status,
    text: printable(text).slice(0, keptCharacters),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Returns the text as one line: people see the answers of receivers in tables. */
function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
}

/** Milliseconds that a `Retry-After` means: seconds, or an instant. Undefined where it is neither. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Names of errors, not their messages, which name addresses of the inside. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? 'unknown error' : codeOf(errors[0]);
}
