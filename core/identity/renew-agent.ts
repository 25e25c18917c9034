import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { writtenRecord } from '../base/written-record.ts';
import type { AgentRecord } from '../model/resources.ts';
import { isLive } from '../state/agent-tree.ts';
import { type AgentCall, findAgent } from './agents.ts';
import { parseTtl } from './delegation.ts';
import { renewToken } from './device-token.ts';
import { grantLimit, requireWithinLimit } from './grant-limit.ts';
import { isScope, requireGrantable } from './grants.ts';

/**
 * Gives a root agent another token in place of the one it has, and a life that begins now; never a shorter one, which its
 * sub-agents and tokens rely on. Without a `ttl` it is as long as the one it was made with. Who holds the token acts as the agent of its person, so nobody else is given one.
 *
 * @throws MeshError `forbidden` for a sub-agent or the agent of another person, `expired` for one that has ended
 */
export async function renewAgent(
  context: AgentCall,
  id: string,
  ttl: string | undefined,
): Promise<{ readonly token: string; readonly agent: AgentRecord }> {
  const { services, workspace, caller } = context;
  const now = services.clock.now();
  const person = requireGrantable(caller, workspace, []);
  const agent = await findAgent(context, id);
  const { name, uid, spec } = agent;
  if (spec.parentRef) {
    throw new MeshError('forbidden', `${name} is a sub-agent: ${spec.parentRef.name} delegates to another instead.`);
  }
  if (spec.person?.id !== person.id) {
    throw new MeshError('forbidden', `Only the person who made the agent ${name} renews it: make one of your own.`);
  }
  requireGrantable(caller, workspace, spec.scopes.filter(isScope));
  if (!isLive(agent, now)) throw new MeshError('expired', `The agent ${name} has ended: create it again.`);
  const limit = await grantLimit(services, workspace, caller);
  const left = parseInstant(spec.expiresAt);
  const wanted = now + parseTtl(ttl ?? spec.ttl);
  const asked = ttl === undefined && limit !== undefined ? Math.min(wanted, Math.max(left, limit)) : wanted;
  const expiresAt = Math.max(asked, left);
  requireWithinLimit(expiresAt, limit, now);
  const createdBy = caller.subject;
  const issued = await renewToken(services.store, workspace, 'agt', { name, owner: uid, createdBy, expiresAt });
  const record = {
    ...draftOf(agent),
    spec: { ...spec, ...(wanted === expiresAt && { ttl: ttl ?? spec.ttl }), expiresAt: formatInstant(expiresAt) },
  };
  const ops: Op[] = [{ op: 'update', record, revision: agent.revision }, issued.op];
  const commit = await services.store.commit(workspace, ops, commitContext(context, `renew agent ${name}`));
  return { token: issued.token, agent: writtenRecord(commit, agent) };
}
