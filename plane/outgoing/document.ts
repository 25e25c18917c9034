import type { FetchDocument } from '../../core/base/ports.ts';
import { buildOutgoing } from './request.ts';
import type { Resolve } from './resolve.ts';

export const DOCUMENT_LIMITS = { connectMs: 3_000, totalMs: 5_000, responseBytes: 65_536 } as const;

export interface DocumentOptions {
  /** Hosts, addresses and CIDRs that are not on the internet and documents may be fetched from all the same. */
  readonly allow: readonly string[];
  readonly resolve?: Resolve;
  readonly limits?: { readonly [K in keyof typeof DOCUMENT_LIMITS]?: number };
}

/** Fetches JSON documents that others named, as {@link buildOutgoing} sends requests. */
export function buildFetchDocument({ allow, resolve, limits = {} }: DocumentOptions): FetchDocument {
  const bounds = { ...DOCUMENT_LIMITS, ...limits };
  const send = buildOutgoing({ allow, resolve, limits: bounds });
  return async (url, ca) => {
    const answer = await send({ url, ca, headers: { accept: 'application/json' } }, new AbortController().signal);
    if (typeof answer === 'string') return answer;
    const { status, headers, body, isWhole } = answer;
    if (status !== 200) return `The answer has the status ${status}.`;
    if (!isWhole) return `The document has more than ${bounds.responseBytes} bytes.`;
    try {
      const freshMs = freshFor(headers['cache-control']);
      return { json: JSON.parse(body.toString('utf8')), ...(freshMs !== undefined && { freshMs }) };
    } catch {
      return 'The document is not JSON.';
    }
  };
}

function freshFor(cacheControl = ''): number | undefined {
  const directives = cacheControl.toLowerCase().split(',');
  const [, seconds] = directives.map((one) => one.trim().split('=')).find(([name]) => name === 'max-age') ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
