import { z } from 'zod';
import { createAgent } from '../tools/agents/create-agent.ts';
import { renewAgent } from '../tools/agents/renew-agent.ts';
import { revokeAgent } from '../tools/agents/revoke-agent.ts';
import { createApiToken } from '../tools/tokens/create-api-token.ts';
import { revokeApiToken } from '../tools/tokens/revoke-api-token.ts';
import { notice } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { CliError, EXIT } from './exit.ts';
import type { StoredIdentity } from './mcp-clients.ts';
import { pendingWorkflowOf } from './pending-approval.ts';
import type { Target } from './session.ts';

/** The identity that an MCP client is to have. */
export interface IdentityRequest {
  /** Given by the user. */
  readonly name: string | undefined;
  /** In place of a name: of the client and this machine. */
  readonly derivedName: string;
  readonly scopes: readonly string[] | undefined;
  readonly reach: unknown;
  readonly ttl: string;
}

export interface IssuedIdentity extends Pick<StoredIdentity, 'kind' | 'id' | 'name'> {
  readonly token: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string;
  /** It had a token before, which ended. */
  readonly isRenewed: boolean;
}

/** The default scopes of a client: it reads, plans and applies. It never approves. */
const CLIENT_SCOPES = ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply'];
/** Names that are tried where the derived one is another's. */
const NAMES = 9;

const agentAnswer = z.object({
  id: z.string(),
  token: z.string(),
  identity: z.object({ name: z.string(), scopes: z.array(z.string()), expiresAt: z.string() }),
});

/**
 * The agent that this file had, or that is named, with a new token in place of its own; else a new one.
 *
 * @returns the answer as it is where a person has to approve first
 */
export async function agentFor(
  target: Target,
  wanted: IdentityRequest,
  held: StoredIdentity | undefined,
): Promise<IssuedIdentity | { waiting: unknown }> {
  const { name, ttl, scopes, reach } = wanted;
  const isKept = held?.kind === 'agent' && (name === undefined || name === held.name);
  const known = isKept ? held.id : name;
  // Scopes and reach are given when an agent is made.
  if (known !== undefined && scopes === undefined && reach === undefined) {
    const renewed = await unless(callOperation(target, renewAgent, { id: known, ttl }), ['not_found', 'expired']);
    if (renewed !== undefined) return issuedOf(renewed, true);
  }
  const body = { scopes: scopes ?? CLIENT_SCOPES, ttl, ...(reach !== undefined && { reach }) };
  for (const each of name === undefined ? namesFrom(wanted.derivedName) : [name]) {
    const made = await unless(
      callOperation(target, createAgent, { name: each, ...body }),
      name === undefined ? ['conflict'] : [],
    );
    if (made !== undefined) return issuedOf(made, false);
  }
  throw new CliError(`There are ${NAMES} agents ${wanted.derivedName} already: name one with --name.`, EXIT.conflict);
}

/** An API token of the person who is signed in. */
export async function personalToken(
  target: Target,
  { name, derivedName, scopes, ttl }: IdentityRequest,
): Promise<IssuedIdentity> {
  const body = { name: name ?? derivedName, scopes: scopes ?? CLIENT_SCOPES, expiry: ttl };
  const shape = z.object({
    id: z.string(),
    token: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    expiresAt: z.string(),
  });
  return { kind: 'personal', isRenewed: false, ...shape.parse(await callOperation(target, createApiToken, body)) };
}

/** Ends what a configuration held before; it is nobody's any more. */
export async function endIdentity(target: Target, held: StoredIdentity, now: IssuedIdentity): Promise<void> {
  if (held.server !== target.server) {
    const operation = held.kind === 'personal' ? 'revoke-api-token' : 'revoke-agent';
    notice(
      `What this file had before, ${held.name} at ${held.server}, lives on there. Where that is another address of this control plane, end it: mesh admin ${operation} ${held.id}`,
    );
    return;
  }
  if (held.id === now.id) return;
  const there = { ...target, workspace: held.workspace };
  if (held.kind === 'personal') {
    const ended = await unless(callOperation(there, revokeApiToken, { id: held.id }), ['not_found']);
    const { agents = 0, joinTokens = 0 } = (ended ?? {}) as Readonly<Record<string, number>>;
    if (agents + joinTokens > 0) {
      notice(
        `With the API token ${held.name}, which this file had before, ended what was made with it: agents ${agents}, join tokens ${joinTokens}.`,
      );
    }
    return;
  }
  const ending = await unless(callOperation(there, revokeAgent, { id: held.id, dryRun: true }), ['not_found']);
  if (ending === undefined) return;
  const { revoked, dryRun: _, effect: __, ...rest } = ending as Readonly<Record<string, readonly string[]>>;
  if ((revoked ?? []).length <= 1 && Object.values(rest).every(({ length }) => length === 0)) {
    await unless(callOperation(there, revokeAgent, { id: held.id }), ['not_found']);
    return;
  }
  notice(
    `The agent ${held.name}, which this file had before, has made things that would end with it, so it lives on. To end it: mesh admin revoke-agent ${held.id}`,
  );
}

function issuedOf(answer: unknown, isRenewed: boolean): IssuedIdentity | { waiting: unknown } {
  if (pendingWorkflowOf(answer) !== undefined) return { waiting: answer };
  const { id, token, identity } = agentAnswer.parse(answer);
  return { kind: 'agent', id, token, isRenewed, ...identity };
}

function namesFrom(name: string): string[] {
  return Array.from({ length: NAMES }, (_, at) => (at === 0 ? name : `${name}-${at + 1}`));
}

/** The answer, or undefined where the server refuses with one of these codes. */
async function unless(asked: Promise<unknown>, codes: readonly string[]): Promise<unknown> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CliError && codes.includes(String(error.code))) return undefined;
    throw error;
  }
}
