import { z } from 'zod';
import { SCOPES, type Scope } from '../base/scope.ts';
import type { OAuthClient } from './oauth.ts';
import { buildWaitingRequests, type WaitingRequests } from './waiting-requests.ts';

const decision = z.object({
  /** Absent where the person refused. */
  grantId: z.string().optional(),
  account: z.string(),
  /** Known to the browser of who decided alone: with it, and with the cookie of who asked, the request goes on. */
  key: z.string(),
});

const waitingRequest = z.object({
  client: z.object({ id: z.string(), name: z.string(), host: z.string(), document: z.string().optional() }),
  redirectUri: z.string().optional(),
  origin: z.string().optional(),
  resource: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  issuer: z.string().optional(),
  /** Where the authorization server goes on. */
  returnTo: z.string().optional(),
  /** State of the authorization server. */
  payload: z.record(z.string(), z.unknown()),
  decision: decision.optional(),
});

export type OAuthDecision = z.infer<typeof decision>;

/** A client that asks to be let in, until a person decides. */
export interface OAuthRequest {
  readonly client: OAuthClient;
  /** Absent for a device, which asks for its tokens again and again. */
  readonly redirectUri?: string | undefined;
  /** Address that a device asked from. */
  readonly origin?: string | undefined;
  readonly resource: string;
  readonly scopes: readonly Scope[];
  /** Another authorization server that lets the client in: it gets no grant here. */
  readonly issuer?: string | undefined;
  readonly returnTo?: string | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly decision?: OAuthDecision | undefined;
}

/** The requests of OAuth clients that wait for a person. */
export type OAuthRequests = WaitingRequests<OAuthRequest>;

export function buildOAuthRequests(parts: Parameters<typeof buildWaitingRequests>[0]): OAuthRequests {
  return buildWaitingRequests<OAuthRequest>(parts, 'oauth-request', (value) => waitingRequest.safeParse(value).data);
}
