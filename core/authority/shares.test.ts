import { expect, test } from 'vitest';
import { agent } from '../../test/kits/plane/kit.ts';
import { policy, stateWith } from '../../test/kits/records/records.ts';
import { planDraft } from '../intent/plan/plan-record.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { AGENT_SHARES, requireShare } from './shares.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');

test('a refused plan says when the oldest of those that are open ends, and that dry runs do not count', async () => {
  const caller = agent(['intents:plan'], 'w_1');
  const items = Array.from({ length: AGENT_SHARES.Plan }, (_, index) => {
    const spec = { requesterId: caller.id, expiresAt: NOW + (index + 1) * 60_000 };
    return planDraft(`plan_${index}`, spec as Parameters<typeof planDraft>[1]);
  });
  const services = { store: { list: async () => ({ items }) }, clock: { now: () => NOW } } as never;
  const created = [{ kind: 'Plan', type: 'created' }] as never;
  await expect(requireShare(services, stateWith(), caller, created)).rejects.toThrow(
    'preview with dry_run, which keeps no plan, apply one, or wait until 2030-01-01T00:01:00.000Z, when the oldest ends',
  );
});

test('policies that wait count as those that have begun', async () => {
  const caller = agent(['network:write'], 'w_1');
  const spec = { action: 'DENY', peerSelector: {}, startsAt: '2031-01-01T00:00:00.000Z' } as const;
  const own = Array.from({ length: AGENT_SHARES.MeshPolicy }, (_, index) => ({
    ...policy(`own-${index}`, spec),
    annotations: { [WRITTEN_BY]: caller.id },
  }));
  const created = [{ kind: 'MeshPolicy', type: 'created', name: 'more' }] as never;
  const services = { store: {}, clock: { now: () => NOW } } as never;
  await expect(requireShare(services, stateWith(...own), caller, created)).rejects.toThrow(
    `at most ${AGENT_SHARES.MeshPolicy} policies of their own`,
  );
});
