import type { WebhookSender } from '../../core/webhooks/sender.ts';
import { buildOutgoing } from '../outgoing/request.ts';
import type { Resolve } from '../outgoing/resolve.ts';

export const SEND_LIMITS = {
  connectMs: 5_000,
  totalMs: 15_000,
  /** The status of a longer answer counts all the same. */
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

/** Posts to the internet, and to what is allowed beside it, within the limits of {@link buildOutgoing}. */
export function buildSender({ allow, resolve, limits = {} }: SenderOptions): WebhookSender {
  const bounds = { ...SEND_LIMITS, ...limits };
  const sendOutgoing = buildOutgoing({ allow, resolve, limits: bounds });
  return {
    async send(outgoing, signal) {
      const answer = await sendOutgoing(outgoing, signal);
      if (typeof answer === 'string') return { kind: 'failed', error: answer };
      const { status, headers, body } = answer;
      const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
      return {
        kind: 'answered',
        status,
        text: printable(body.toString('utf8')).slice(0, bounds.keptCharacters),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
    },
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
