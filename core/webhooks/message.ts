import { createHmac } from 'node:crypto';
import type { Secret } from '../base/secret.ts';
import { signingKeyOf } from './secret.ts';

export interface Message {
  readonly id: string;
  readonly body: string;
  /** The instant of the attempt, ms. */
  readonly at: number;
}

/** The headers of one attempt as Standard Webhooks 1.0 has them: a signature for each secret, by a space between. */
export function headersOf({ id, body, at }: Message, secrets: readonly Secret[]): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1_000));
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', signingKeyOf(secret)).update(`${id}.${timestamp}.${body}`);
    return `v1,${mac.digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
