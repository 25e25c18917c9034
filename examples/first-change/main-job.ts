import { setTimeout as after } from 'node:timers/promises';
import { connectAgent } from './agent.ts';
import { call, join, network, type Rest } from './person.ts';

export const INTENT = 'let the web servers reach the database on port 5432 and nobody else';

interface Row {
  readonly src: string;
  readonly dst: string;
}

interface Plan {
  readonly plan_id: string;
  readonly summary: string;
  readonly risk_level: string;
  readonly verified: boolean;
  readonly diff_markdown: string;
  readonly effect: { readonly opened: readonly Row[]; readonly closed: readonly Row[] };
}

interface Verdict {
  readonly verdict: string;
  readonly now: { readonly verdict: string; readonly changed_by: Readonly<Record<string, unknown>> | null } | null;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly blocked_by: readonly Readonly<Record<string, unknown>>[];
}

interface Workflow {
  readonly id: string;
  readonly status: string;
  readonly reviewedBy: string | null;
  readonly reviewedAt: string;
  readonly summary: string;
}

interface Snapshot {
  readonly id: string;
  readonly trigger_type: string;
}

interface Diff {
  readonly added: readonly { readonly kind: string; readonly name: string }[];
  readonly commits: readonly { readonly reviewed_by: string | null; readonly workflow_id: string | null }[];
}

export interface MainJobOptions {
  readonly server: string;
  /** Session of a platform administrator, the person of this story. */
  readonly token: string;
  /** Hears of each step. */
  readonly say: (step: string, detail?: unknown) => void;
}

/** The main job from end to end; answers what each step found. */
export async function mainJob({ server, token, say }: MainJobOptions) {
  const person = await network(server, token);
  say('A person set up a workspace and four devices joined it.', person.workspace);
  const change = await changeNetwork(person, say);
  const delegation = await delegateBriefly(person, say);
  return { workspace: person.workspace, ...change, ...delegation };
}

async function changeNetwork(person: Rest, say: MainJobOptions['say']) {
  const access = await call<{ token: string }>(person, 'POST', '/api/v1/users/me/api-tokens', {
    name: 'first-change',
    scopes: ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply'],
    expiry: '1h',
  });
  const agent = await connectAgent(person.server, access.token);
  try {
    const { items } = await agent.use<{ items: { name: string }[] }>('list_peers');
    const peers = items.map(({ name }) => name);
    say('The agent sees the peers.', peers);
    const before = await call<Snapshot>(person, 'POST', `/api/v1/workspaces/${person.workspace}/snapshots`, {});

    const plan = await agent.use<Plan>('plan_network_change', { intent: INTENT });
    say(`The agent asks: ${INTENT}. Nothing has happened yet; the plan would do this:`, plan.diff_markdown);
    const applied = await agent.use<{ workflow_id: string; status: string }>('apply_network_change', {
      plan_id: plan.plan_id,
      approved_by: 'admin',
    });
    say('The agent applies the plan. It waits for a person.', applied);
    const waiting = await check(agent, 'web-1');

    const approve = `/api/v1/workflows/${applied.workflow_id}/approve`;
    const workflow = await call<Workflow>(person, 'POST', approve, { note: 'reviewed the effect' });
    const { status, reviewedBy, summary } = workflow;
    say('The person approves over REST.', { status, reviewedBy, summary });
    const web = await check(agent, 'web-1');
    const laptop = await check(agent, 'laptop');
    const ruled = { 'web-1 to db-1': web.verdict, 'laptop to db-1': laptop.verdict, because: laptop.blocked_by };
    say('The change is in force, and the answer names the policy.', ruled);

    const at = new Date(Date.parse(workflow.reviewedAt) - 1).toISOString();
    const past = await agent.use<Verdict>('check_connectivity_at', { src: 'laptop', dst: 'db-1', port: 5432, at });
    say('An instant before, the laptop could reach the database; the answer names what changed it.', {
      before: past.verdict,
      now: past.now,
    });
    const changed = await until('the snapshot of the executed workflow', async () => {
      const { items: rows } = await agent.use<{ items: Snapshot[] }>('list_snapshots');
      return rows.find(({ trigger_type: trigger }) => trigger === 'workflow_executed');
    });
    const diff = await agent.use<Diff>('diff_snapshots', { from: before.id, to: changed.id });
    say('The difference of the snapshots before and after names the change and who approved it.', {
      added: diff.added,
      commits: diff.commits,
    });
    return { peers, plan, applied, waiting, workflow, web, laptop, past, diff };
  } finally {
    await agent.close();
  }
}

function check(agent: Awaited<ReturnType<typeof connectAgent>>, src: string): Promise<Verdict> {
  return agent.use<Verdict>('check_connectivity', { src, dst: 'db-1', port: 5432 });
}

/** A root agent gives a sub-agent less than it has, for a few seconds. */
async function delegateBriefly(person: Rest, say: MainJobOptions['say']) {
  const web = { peerSelector: { matchLabels: { role: 'web' } } };
  const root = await call<{ id: string; token: string }>(person, 'POST', '/api/v1/agents', {
    name: 'deployer',
    scopes: ['network:read', 'agents:delegate'],
    ttl: '1h',
    policyPreset: 'coordinator',
    reach: [{ to: [web], ports: [{ protocol: 'TCP', port: 80 }] }],
  });
  const { server } = person;
  const rootAgent = await connectAgent(server, root.token);
  try {
    const child = { id: root.id, subAgentName: 'checker', ttl: '4s', policyPreset: 'sandboxed' };
    const tooWide = await refusal(() =>
      rootAgent.use('delegate_agent', { ...child, scopes: ['network:read', 'intents:apply'] }),
    );
    say('What the root agent may not do itself, it cannot hand on.', tooWide);
    const delegated = await rootAgent.use<{ enrollmentToken: string; expiresAt: string }>('delegate_agent', {
      ...child,
      egress: [{ to: [web] }],
    });
    const joined = await join(server, delegated.enrollmentToken, 'checker', 'agent');
    say('The sub-agent joined with its delegate token.', { name: joined.name, expiresAt: joined.expiresAt });

    const reach = (port: number) =>
      rootAgent.use<Verdict>('check_connectivity', { src: joined.name, dst: 'web-1', port });
    const within = await reach(80);
    const beyond = await reach(22);
    say('It reaches what its parent may reach, and no more, though it was granted every port.', {
      'web-1:80': within.verdict,
      'web-1:22': beyond.verdict,
    });
    const subAgent = await connectAgent(server, joined.agentToken ?? '');
    const subAgentTools = await subAgent.tools().finally(() => subAgent.close());

    await until('the end of the sub-agent', async () => {
      const { items } = await rootAgent.use<{ items: { name: string }[] }>('list_peers');
      return items.every(({ name }) => name !== joined.name) ? true : undefined;
    });
    const lateBy = Date.now() - Date.parse(delegated.expiresAt);
    const afterwards = await refusal(() => connectAgent(server, joined.agentToken ?? ''));
    say('Its time is up: its peer is gone and its token is worth nothing.', afterwards);
    return { delegated, joined, tooWide, within, beyond, subAgentTools, lateBy, afterwards };
  } finally {
    await rootAgent.close();
  }
}

async function refusal(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('This should have been refused.');
}

const PATIENCE_MS = 15_000;
const PAUSE_MS = 200;

/** Asks again until there is an answer. @throws Error when there is none in time. */
async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await after(PAUSE_MS)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  throw new Error(`Waited ${PATIENCE_MS / 1_000} s for ${what}.`);
}
