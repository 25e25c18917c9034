import { setTimeout as pause } from 'node:timers/promises';
import { formatDuration, parseDuration } from '../core/base/duration.ts';
import { notice } from './answer.ts';
import { callApi, requireSession } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import type { Target } from './session.ts';
import { visibleLine } from './visible.ts';
import { callInWorkspace } from './workspace.ts';

export interface DelegationRequest {
  /** Name of the sub-agent. */
  readonly name: string;
  readonly ttl: string;
  readonly preset: string;
  readonly scopes: readonly string[];
  /** Peers and ports of the overlay that it may reach. */
  readonly reach: readonly ReachRule[];
}

interface ReachRule {
  readonly to: readonly [{ readonly peerSelector: object }];
  readonly ports: readonly [{ readonly protocol: string; readonly port: number }];
}

/** A sub-agent for one sandbox. Its tokens are in the memory of this process alone. */
export interface Delegation {
  /** Makes it. @throws CliError */
  token(ending: AbortSignal): Promise<string>;
  /** Takes away what was made for it besides. */
  end(): Promise<void>;
}

/** How often it is asked whether a person has decided. */
const POLL_MS = 2_000;
/** A parent lives a little longer than its sub-agent, which it is made before. */
const LONGER_MS = 60_000;

/** Delegates as the caller, an agent; for a person, as a root agent that is made for it and ends with it. */
export function delegation(target: Target, request: DelegationRequest): Delegation {
  requireSession(target);
  if (target.token?.startsWith('mesh-dlg-')) {
    throw new CliError(
      'This is a delegate token, for a sub-agent that is made: leave --delegate out, or give the token of the caller.',
      EXIT.input,
    );
  }
  let parent: { readonly id: string; readonly token: string } | undefined;
  return {
    async token(ending) {
      const isAgent = target.token?.startsWith('mesh-agt-') === true;
      if (!isAgent) parent = await rootAgent(target, request, ending);
      const { name, ttl, preset, scopes, reach } = request;
      const body = { subAgentName: name, ttl, policyPreset: preset, scopes, egress: reach };
      const answer = await callApi(parent ? { ...target, token: parent.token, workspace: undefined } : target, {
        method: 'post',
        path: '/api/v1/agents/self/delegate',
        body,
      });
      return (answer as { enrollmentToken: string }).enrollmentToken;
    },
    async end() {
      if (!parent) return;
      const path = `/api/v1/agents/${encodeURIComponent(parent.id)}`;
      await callInWorkspace(target, { method: 'delete', path }).catch((error: unknown) => {
        notice(`The agent ${parentName(request)} stays until its time is over: ${(error as Error).message}`);
      });
    },
  };
}

const parentName = ({ name }: DelegationRequest) => `${name}-parent`;

async function rootAgent(target: Target, request: DelegationRequest, ending: AbortSignal) {
  const { ttl, preset, scopes, reach } = request;
  const ms = parseDuration(ttl);
  const body = {
    name: parentName(request),
    // The control plane says what is wrong with another.
    ttl: ms === undefined ? ttl : formatDuration(ms + LONGER_MS),
    policyPreset: preset,
    scopes: [...new Set([...scopes, 'agents:delegate'])],
    reach,
  };
  const make = () => callInWorkspace(target, { method: 'post', path: '/api/v1/agents', body });
  let answer = await make();
  const workflow = pendingWorkflowOf(answer);
  if (workflow !== undefined) {
    noticePending(answer);
    await decided(target, workflow, ending);
    answer = await make();
  }
  return answer as { id: string; token: string };
}

/** Waits until a person approved. @throws CliError where nobody did */
async function decided(target: Target, workflow: string, ending: AbortSignal): Promise<void> {
  const path = `/api/v1/workflows/${encodeURIComponent(workflow)}`;
  for (;;) {
    const { status } = (await callInWorkspace(target, { method: 'get', path }).catch(stillPending)) as {
      status?: unknown;
    };
    if (status === 'approved') return;
    if (status !== 'pending')
      throw new CliError(`Nothing was started: the approval ${workflow} is ${visibleLine(String(status))}.`, EXIT.auth);
    await pause(POLL_MS, undefined, { signal: ending });
  }
}

/** A control plane that is away for a moment has decided nothing. */
function stillPending(error: unknown): { status: string } {
  if (error instanceof CliError && error.exitCode === EXIT.unavailable) return { status: 'pending' };
  throw error;
}

const REACH = /^(?:([^=]+)=)?([^=:]+):(\d{1,5})(?:\/(tcp|udp))?$/;

/** Reads `db:5432`, `role=db:5432` or `db:53/udp`. @throws CliError */
export function parseReach(text: string): ReachRule {
  const [, key, name = '', port, protocol = 'tcp'] = REACH.exec(text) ?? [];
  if (name === '')
    throw new CliError(
      `"${text}" names no peer and port. Write db:5432, role=db:5432 for a label, or db:53/udp.`,
      EXIT.input,
    );
  const peerSelector = key === undefined ? { peers: [name] } : { matchLabels: { [key]: name } };
  return { to: [{ peerSelector }], ports: [{ protocol: protocol.toUpperCase(), port: Number(port) }] };
}
