import { z } from 'zod';
import { buildWaitingRequests, type WaitingRequests } from './waiting-requests.ts';

const decision = z.object({
  /** Name of the session that allowed it; absent where the person refused. */
  session: z.string().optional(),
  /** Known to the browser of who decided, which hands it to the command line on its own machine. */
  key: z.string(),
});

const signInRequest = z.object({
  /** Name of the machine, by its own word. */
  host: z.string(),
  /** Address that it asked from. */
  origin: z.string(),
  /** SHA-256 of a secret of the command line, base64url (RFC 7636, `S256`). */
  challenge: z.string(),
  /** Where the browser hands over the key, on the loopback; absent where the person types a code instead. */
  returnTo: z.string().optional(),
  decision: decision.optional(),
});

/** A command line that asks a person to sign it in. */
export type SignInRequest = z.infer<typeof signInRequest>;

export type SignInRequests = WaitingRequests<SignInRequest>;

export function buildSignInRequests(parts: Parameters<typeof buildWaitingRequests>[0]): SignInRequests {
  return buildWaitingRequests<SignInRequest>(parts, 'sign-in-request', (value) => signInRequest.safeParse(value).data);
}
