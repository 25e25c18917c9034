import { z } from 'zod';
import { MeshError } from '../base/errors.ts';
import { memoryCells } from '../base/memory-cells.ts';
import type { Clock } from '../base/ports.ts';
import { SCOPES, type Scope } from '../base/scope.ts';
import type { Cells, SharedState } from '../base/shared.ts';
import type { OAuthClient } from './oauth.ts';

/** Requests that wait for a person, of all control planes together. */
const MAX_WAITING = 1_000;

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
  readonly returnTo?: string | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly decision?: OAuthDecision | undefined;
}

/** The requests of OAuth clients that wait for a person; harmless to lose, for the client asks again. */
export interface OAuthRequests {
  /** @throws MeshError `rate_limited` where too many wait */
  save(id: string, request: OAuthRequest, expiresAt: number): Promise<void>;
  find(id: string): Promise<OAuthRequest | undefined>;
  /** Keeps one for longer, such as while a second person is asked. */
  keep(id: string, until: number): Promise<void>;
  /** @throws MeshError `not_found`, `conflict` where it was decided */
  decide(id: string, decision: OAuthDecision): Promise<OAuthRequest>;
  /** @returns false where it was not there */
  remove(id: string): Promise<boolean>;
}

export function buildOAuthRequests({
  clock,
  shared,
}: {
  readonly clock: Clock;
  readonly shared?: Pick<SharedState, 'cells'> | undefined;
}): OAuthRequests {
  const cells: Cells<OAuthRequest> =
    shared?.cells('oauth-request', (value) => waitingRequest.safeParse(value).data) ?? memoryCells(clock, MAX_WAITING);
  return {
    async save(id, request, expiresAt) {
      if (shared && (await cells.count([])).all >= MAX_WAITING) throw tooManyWait();
      await cells.change(id, () => ({ cell: { value: request, expiresAt }, result: undefined }));
    },
    async find(id) {
      return (await cells.read([id])).get(id)?.value;
    },
    keep: (id, until) =>
      cells.change(id, (cell) => ({
        cell: cell && { ...cell, expiresAt: Math.max(cell.expiresAt, until) },
        result: undefined,
      })),
    decide: (id, made) =>
      cells.change(id, (cell) => {
        if (!cell) throw unknownRequest();
        if (cell.value.decision) throw decidedRequest();
        const value = { ...cell.value, decision: made };
        return { cell: { ...cell, value }, result: value };
      }),
    remove: (id) => cells.change(id, (cell) => ({ cell: undefined, result: cell !== undefined })),
  };
}

/** Returns the id of the request of a device, by the letters of the code that it shows. */
export function deviceRequestId(userCode: string): string {
  return `device-${userCode}`;
}

export function unknownRequest(): MeshError {
  return new MeshError('not_found', 'This request is unknown or has ended: connect the client again.');
}

export function decidedRequest(): MeshError {
  return new MeshError('conflict', 'This request was decided already: connect the client again.');
}

function tooManyWait(): MeshError {
  const retryAfterSeconds = 60;
  return new MeshError('rate_limited', 'Too many clients wait to be let in: try again in a minute.', {
    retryAfterSeconds,
  });
}
