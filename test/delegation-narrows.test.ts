import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EgressRule } from '../core/model/policy.ts';
import { PRESETS } from '../core/model/resources.ts';
import { enrol, join } from './kits/plane/devices.ts';
import { agent, buildKit, type Kit, person } from './kits/plane/kit.ts';

const ROLES = ['web', 'db', 'ops'] as const;
const PORTS = [80, 5432] as const;
const REACH: EgressRule[] = [
  { to: [{ peerSelector: { matchLabels: { role: 'db' } } }], ports: [{ protocol: 'TCP', port: 5432 }] },
];
/** 0 is the root agent, which has no peer of its own; the others are numbered as they enrol. */
const MEMBERS = 6;

const step = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('delegate' as const),
      parent: fc.constant(0),
      preset: fc.constant('inherit' as const),
      role: fc.constantFrom(...ROLES),
      port: fc.constantFrom(...PORTS),
    }),
  },
  fc.record({
    do: fc.constant('delegate' as const),
    parent: fc.nat(MEMBERS),
    preset: fc.constantFrom(...PRESETS),
    role: fc.constantFrom(...ROLES),
    port: fc.constantFrom(...PORTS),
  }),
  fc.record({
    do: fc.constant('policy' as const),
    action: fc.constantFrom('ALLOW', 'DENY'),
    who: fc.constantFrom(...ROLES, 'agents', 'all'),
    direction: fc.constantFrom('ingress', 'egress'),
  }),
  fc.record({ do: fc.constant('label' as const), member: fc.nat(MEMBERS), role: fc.constantFrom(...ROLES) }),
  fc.record({ do: fc.constant('revoke' as const), member: fc.integer({ min: 1, max: MEMBERS }) }),
);

interface Member {
  readonly id: string;
  readonly name: string;
  readonly peer: string | undefined;
  readonly parent: Member | undefined;
}

test('no order of delegations, policy writes and label changes lets a child reach what its root could not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
      await using kit = await buildKit();
      const workspace = await kit.workspace('prod');
      const admin = person('admin', workspace);
      for (const role of ROLES) await plainPeer(kit, workspace, role);
      const { id } = await kit.call('create_agent', { name: 'root', reach: REACH }, { as: admin });
      const members: Member[] = [{ id, name: 'root', peer: undefined, parent: undefined }];
      for (const [index, one] of steps.entries()) {
        await attempt(() => perform(kit, workspace, members, one, index));
        await expectBounded(kit, workspace, members);
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

async function plainPeer(kit: Kit, workspace: string, role: string): Promise<void> {
  const as = person('admin', workspace);
  const { token } = await kit.call('generate_join_token', { name: role, labels: { role } }, { as, workspace });
  await join(kit, workspace, role, { token });
}

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function perform(kit: Kit, workspace: string, members: Member[], one: Step, index: number): Promise<void> {
  const admin = person('admin', workspace);
  switch (one.do) {
    case 'delegate': {
      const parent = members[one.parent];
      if (!parent) return;
      const as = agent(['network:read', 'agents:delegate'], workspace, { id: parent.id, name: parent.name });
      const egress = [
        { to: [{ peerSelector: { matchLabels: { role: one.role } } }], ports: [{ protocol: 'TCP', port: one.port }] },
      ];
      const name = `child-${index}`;
      const scopes = ['network:read', 'agents:delegate'];
      const request = { id: parent.id, subAgentName: name, ttl: '1h', policyPreset: one.preset, scopes, egress };
      const { enrollmentToken } = await kit.call('delegate_agent', request, { as });
      await enrol(kit, enrollmentToken, name, { platform: 'agent' });
      const { agents } = await kit.services.states.current(workspace);
      members.push({ id: agents.get(name)?.uid ?? '', name, peer: name, parent });
      return;
    }
    case 'policy': {
      const matchLabels = one.who === 'all' ? {} : { role: one.who };
      const peerSelector =
        one.who === 'agents' ? { matchExpressions: [{ key: 'role', operator: 'DoesNotExist' }] } : { matchLabels };
      const spec = { action: one.action, peerSelector, [one.direction]: [{}] };
      await kit.call('create_policy', { name: `policy-${index}`, spec }, { as: admin });
      return;
    }
    case 'label':
      await kit.call(
        'update_peer',
        { id: members[one.member]?.peer ?? ROLES[one.member % 3], labels: { role: one.role } },
        { as: admin },
      );
      return;
    case 'revoke':
      await kit.call('revoke_agent', { id: members[one.member]?.id ?? 'nobody' }, { as: admin });
      return;
    default:
      one satisfies never;
  }
}

/** A refused step is as good as any: what counts is what the network allows after it. */
async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error && error.name === 'MeshError')) throw error;
  }
}

/** Asked of the engine point by point: each thing a member may open, the one above it may open too. */
async function expectBounded(kit: Kit, workspace: string, members: readonly Member[]): Promise<void> {
  const state = await kit.services.states.current(workspace);
  const reach = kit.services.states.reachability(state, kit.clock.time);
  for (const member of members) {
    if (member.peer === undefined || !state.peers.has(member.peer)) continue;
    for (const dst of state.peers.values()) {
      // A parent is not asked whether it may reach itself, nor a child.
      if (dst.name === member.peer || dst.name === member.parent?.peer) continue;
      for (const port of [...PORTS, 22]) {
        if (!reach.verdict(member.peer, dst.name, 'TCP', port)) continue;
        const above = member.parent;
        const bounded =
          above?.peer === undefined
            ? port === 5432 && dst.labels['role'] === 'db'
            : reach.verdict(above.peer, dst.name, 'TCP', port);
        expect({ member: member.name, dst: dst.name, port, bounded }).toMatchObject({ bounded: true });
      }
    }
  }
}
