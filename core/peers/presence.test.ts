import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { ONLINE_MS } from '../model/liveness.ts';
import { heardOf, sweepWorkspace } from './presence.ts';

const WHY = { actor: 'device:web-1', requestId: 'r' };

test('however a device flaps, it writes at most two revisions and two snapshots of presence in the time after which it counts as gone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 10, max: 2 * ONLINE_MS }), { minLength: 20, maxLength: 60 }),
      async (waits) => {
        await using kit = await buildHistoryKit();
        const { id } = await kit.join('web-1', { role: 'web' });
        const { store } = kit.services;
        const [began, first] = [kit.clock.time, await store.revision(kit.workspace)];
        for (const wait of waits) {
          await kit.pass(wait);
          await sweepWorkspace(kit.services, kit.workspace, began);
          await heardOf(kit.services, kit.workspace, id, WHY);
        }
        await kit.pass(10_000);
        const spans = Math.ceil((kit.clock.time - began) / ONLINE_MS) + 1;
        const commits = await store.commits(kit.workspace, first, 1_000);
        const written = commits.filter(({ changes }) => changes.some(({ record }) => record.kind === 'Presence'));
        expect(written.every(({ changes }) => changes.length === 1)).toBe(true);
        expect(written.length).toBeLessThanOrEqual(2 * spans);
        expect(written.length).toBeGreaterThan(0);
        const { items } = await kit.ask('list_snapshots', { limit: 200 });
        const kinds = items.filter(({ trigger_type }: { trigger_type: string }) => trigger_type.startsWith('peer_'));
        expect(kinds.length).toBeLessThanOrEqual(written.length);
      },
    ),
    { numRuns: 10 },
  );
}, 60_000);
