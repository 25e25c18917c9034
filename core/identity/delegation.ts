import type { Caller } from '../base/caller.ts';
import { formatDuration, parseDuration, roughDuration } from '../base/duration.ts';
import { MeshError } from '../base/errors.ts';
import { NEVER_DELEGATED, PERSON_ONLY_SCOPES, type Scope } from '../base/scope.ts';
import { parseInstant } from '../base/time.ts';
import type { EgressRule } from '../model/policy.ts';
import { type AgentRecord, type PolicyPreset, PRESETS } from '../model/resources.ts';

/** Root agents have depth 0; nobody delegates below this depth (docs/delegation.md#root-agents-and-sub-agents). */
export const MAX_DEPTH = 4;
export const MIN_TTL_MS = 1_000;
export const MAX_AGENT_TTL_MS = 90 * 86_400_000;

/** The request of a parent for its sub-agent. */
export interface DelegateRequest {
  readonly ttl: string;
  readonly policyPreset: PolicyPreset;
  readonly scopes: readonly Scope[];
  readonly egress: readonly EgressRule[];
}

/** Milliseconds of a ttl. @throws MeshError `invalid_input` naming the field. */
export function parseTtl(ttl: string, maximum = MAX_AGENT_TTL_MS): number {
  const ms = parseDuration(ttl);
  if (ms !== undefined && ms >= MIN_TTL_MS && ms <= maximum) return ms;
  const detail = `ttl must be a duration such as 30m or 2h, from ${formatDuration(MIN_TTL_MS)} to ${roughDuration(maximum)}.`;
  throw new MeshError('invalid_input', detail, { errors: [{ pointer: '/ttl', detail }] });
}

/**
 * Refuses a delegation that would not narrow: every field of the child is at most the parent's.
 *
 * @returns when the child ends, ms.
 * @throws MeshError `forbidden` or `invalid_input` saying which bound is passed.
 */
export function narrowed(parent: AgentRecord, request: DelegateRequest, caller: Caller, now: number): number {
  const { depth } = parent.status;
  if (depth >= MAX_DEPTH)
    throw new MeshError('forbidden', `${parent.name} is at depth ${depth}: nobody delegates below ${MAX_DEPTH}.`);
  const expiresAt = now + parseTtl(request.ttl);
  const parentEnds = parseInstant(parent.spec.expiresAt);
  if (expiresAt > parentEnds) {
    const rest = roughDuration(Math.max(0, parentEnds - now));
    throw new MeshError(
      'forbidden',
      `A sub-agent cannot outlive its parent, which ends in ${rest}: ask for a shorter ttl.`,
    );
  }
  if (PRESETS.indexOf(request.policyPreset) > PRESETS.indexOf(parent.spec.policyPreset)) {
    throw new MeshError(
      'forbidden',
      `The preset ${request.policyPreset} is wider than the parent's, ${parent.spec.policyPreset}.`,
    );
  }
  const never = request.scopes.filter((scope) => NEVER_DELEGATED.has(scope));
  if (never.length > 0) {
    throw new MeshError(
      'beyond_delegation',
      `No agent passes ${never.join(', ')} on: only a person gives it, to a root agent, by its name.`,
      { scope: never[0] },
    );
  }
  const held = new Set(parent.spec.scopes);
  const wider = request.scopes.filter(
    (scope) => !held.has(scope) || PERSON_ONLY_SCOPES.has(scope) || !caller.scopesIn(parent.workspace).has(scope),
  );
  if (wider.length > 0)
    throw new MeshError('forbidden', `A sub-agent cannot have a scope its parent lacks: ${wider.join(', ')}.`);
  return expiresAt;
}
