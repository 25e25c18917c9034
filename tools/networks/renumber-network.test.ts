import { expect, test } from 'vitest';
import { ADDRESS_QUARANTINE_MS } from '../../core/changes/address.ts';
import { buildLiveness } from '../../core/model/liveness.ts';
import { RENUMBERING_MS } from '../../core/model/renumbering.ts';
import { networkJobs } from '../../core/peers/jobs.ts';
import { carryOut } from '../../test/kits/plane/carry-out.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const TO = { cidr: '10.97.0.0/24' };
const TEXT =
  'renumbers the network default from 10.96.0.0/24 to 10.97.0.0/24: 2 peers keep their place in the block; old addresses hold for 10 min, then connections to them end';

async function buildRenumberingKit() {
  const kit = await buildWorkspaceKit();
  await kit.join('web-1');
  await kit.join('db-1');
  return {
    ...kit,
    async addresses(moment: Record<string, unknown> = {}) {
      const { items } = await kit.ask('list_peers', moment);
      return items.map((peer: { status: { address: string } }) => peer.status.address).sort();
    },
    async approved(asked: { workflow_id: string }) {
      const { id, status } = await kit.ask('approve_workflow', { id: asked.workflow_id });
      expect(status).toBe('executed');
      return id as string;
    },
    /** Runs what the control plane does as time passes. @returns when it is due next */
    async endRenumberings() {
      const jobs = networkJobs({ ...kit.services, liveness: buildLiveness() });
      return jobs.find(({ name }) => name === 'end renumberings')?.run();
    },
  };
}

test('another block waits for a person who sees both and how many peers move, and then all peers have their place in it', async () => {
  await using kit = await buildRenumberingKit();
  const held = await kit.ask('update_network', { id: 'default', spec: TO });
  expect(held).toMatchObject({ status: 'pending_approval' });
  expect(await kit.addresses()).toEqual(['10.96.0.1', '10.96.0.2']);
  const shown = await kit.ask('get_workflow', { id: held.workflow_id });
  expect(shown).toMatchObject({ riskLevel: 'high', effect: { routes: [{ text: TEXT }] } });
  await kit.approved(held);
  expect(await kit.addresses()).toEqual(['10.97.0.1', '10.97.0.2']);
  expect(await kit.ask('get_network', { id: 'default' })).toMatchObject({
    spec: TO,
    status: { peers: 2, allocated: 2, former: { cidr: '10.96.0.0/24', phase: 'carried' } },
  });
});

test('files, plans and their undo renumber a network by the same change, and the past shows the addresses of then', async () => {
  await using kit = await buildRenumberingKit();
  const manifest = `apiVersion: mesh.internal/v1alpha1
kind: MeshNetwork
metadata: { name: default }
spec: { cidr: 10.97.0.0/24 }`;
  expect(await kit.ask('preview_resources', { manifest })).toMatchObject({
    risk_level: 'high',
    waits_for: ['Peers would get other addresses.'],
  });
  const workflow = await kit.approved(await kit.ask('apply_resources', { manifest }));
  expect(await kit.addresses()).toEqual(['10.97.0.1', '10.97.0.2']);
  kit.clock.time += 1_000;
  const plan = await kit.ask('revert_network_change', { workflow_id: workflow });
  expect(plan.effect.routes[0].text).toMatch(/^renumbers the network default from 10.97.0.0\/24 to 10.96.0.0\/24/);
  await carryOut(kit, kit.workspace, plan.plan_id);
  expect(await kit.addresses()).toEqual(['10.96.0.1', '10.96.0.2']);
  const past = await kit.ask('list_peers', { at: new Date(kit.clock.time - 500).toISOString() });
  expect(past.items[0].status.address).toMatch(/^10\.97\./);
});

test('a change that makes agents too does not renumber: the person would not see the blocks', async () => {
  await using kit = await buildRenumberingKit();
  const manifest = `apiVersion: mesh.internal/v1alpha1
kind: MeshNetwork
metadata: { name: default }
spec: { cidr: 10.97.0.0/24 }
---
apiVersion: mesh.internal/v1alpha1
kind: AgentIdentity
metadata: { name: builder }
spec: { ttl: 1h, policyPreset: isolated, scopes: ['network:read'] }`;
  expect(await refusalOf(kit.ask('preview_resources', { manifest }))).toBe('conflict');
  expect(await refusalOf(kit.ask('apply_resources', { manifest }))).toBe('conflict');
  expect(await kit.addresses()).toEqual(['10.96.0.1', '10.96.0.2']);
});

test('the control plane ends the old addresses after ten minutes, and frees their block once no node knows them', async () => {
  await using kit = await buildRenumberingKit();
  await kit.approved(await kit.ask('update_network', { id: 'default', spec: TO }));
  const until = kit.clock.time + RENUMBERING_MS;
  expect(await kit.endRenumberings()).toBe(until);
  kit.clock.time = until;
  expect(await kit.endRenumberings()).toBe(until + ADDRESS_QUARANTINE_MS);
  const lab = { name: 'lab', spec: { cidr: '10.96.0.0/24' } };
  expect(await refusalOf(kit.ask('create_network', lab))).toBe('invalid_input /spec/cidr');
  kit.clock.time += ADDRESS_QUARANTINE_MS;
  expect(await kit.endRenumberings()).toBeUndefined();
  expect((await kit.ask('get_network', { id: 'default' })).status).toEqual({ peers: 2, allocated: 2, available: 252 });
  expect(await kit.ask('create_network', lab)).toMatchObject({ name: 'lab' });
});

test('a device that joins between the plan and its approval is renumbered with the others', async () => {
  await using kit = await buildRenumberingKit();
  const held = await kit.ask('update_network', { id: 'default', spec: TO });
  await kit.join('late');
  await kit.approved(held);
  expect(await kit.addresses()).toEqual(['10.97.0.1', '10.97.0.2', '10.97.0.3']);
});

test('a workspace that asks for the next free block does not get one that nodes of another still carry', async () => {
  await using kit = await buildRenumberingKit();
  const blockFor = async (slug: string) => {
    const as = kit.person('platform_admin', kit.workspace);
    const asked = { slug, namespace: slug, displayName: slug, maxNodeCount: 10, cidr: 'next-free' };
    const { id } = await kit.call('add_workspace', asked, { as });
    const { items } = await kit.call('list_networks', {}, { as, workspace: id });
    return items[0].spec.cidr;
  };
  const spec = { cidr: '10.200.0.0/24' };
  await kit.approved(await kit.ask('update_network', { id: 'default', spec }));
  expect(await blockFor('one')).toBe('10.200.1.0/24');
  await kit.approved(await kit.ask('update_network', { id: 'default', spec: { cidr: '10.96.0.0/24' } }));
  expect(await blockFor('two')).toBe('10.200.2.0/24');
});
