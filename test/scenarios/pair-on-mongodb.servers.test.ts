import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Kind } from '../../core/base/record.ts';
import type { RecordDoc } from '../../storage/mongo/documents.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { isPrivileged } from '../kits/lab/privileged.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { DATABASE, type LabMember, primaryOf, startMembers, urlOf } from '../kits/servers/lab-members.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { otherOf, untilAsBefore } from '../natlab/pair.ts';
import { comeToBeDirect, PATIENCE, partForGood, shutsAndOpens, withoutLoss } from '../natlab/while-in-use.ts';

const LONG_MS = 300_000;

describe.skipIf(!(isPrivileged && hasMongod && isInstalled('ss')))(
  'two machines on one control plane whose records are on a replica set of MongoDB',
  () => {
    const undo: (() => unknown)[] = [];
    let members: readonly LabMember[];
    let plane: LabPlane;
    let one: LabNode;
    let two: LabNode;
    beforeAll(async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'mesh-pair-on-mongodb-'));
      undo.push(() => rmSync(folder, { recursive: true, force: true }));
      const routers = { home: { nat: 'easy' }, cafe: { nat: 'easy' } } as const;
      const hosts = { servers: {}, one: { behind: 'home' }, two: { behind: 'cafe' } };
      const lab = await natlab({ routers, hosts });
      undo.push(() => lab[Symbol.asyncDispose]());
      members = await startMembers(lab.host('servers'), folder, undo);
      plane = await startLabPlane(lab, { MESH_STORE_URL: urlOf(members), MESH_SIGNALING_AUTH: 'token' });
      undo.push(() => plane[Symbol.asyncDispose]());
      ({ one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up(['--bus-in-clear'])));
    }, LONG_MS);
    afterAll(async () => {
      for (let step = undo.pop(); step; step = undo.pop()) await step();
    }, LONG_MS);

    test('they have a direct tunnel, and are on record in the database', async () => {
      await comeToBeDirect({ one, two });
      expect(await peersOnRecord()).toEqual(['one', 'two']);
    });

    test('a policy that is changed is in force', () => shutsAndOpens(one, plane.api));

    test('when one of them changes its key they go on with it', async () => {
      const before = (await one.status()).node.publicKey;
      await one.must(['rotate-key']);
      expect((await one.status()).node.publicKey).not.toBe(before);
      await untilAsBefore({ one, two, path: 'direct' });
      expect(await one.host.reaches(otherOf(one))).toBe(true);
    });

    test('when the control plane is killed and started again they lose no packet, and hear of what is changed then', async () => {
      await withoutLoss({ one, two }, async () => {
        await plane.kill();
        await expect.poll(() => isOnBus(one), PATIENCE).toBe(false);
        await plane.start();
        for (const node of [one, two]) await node.until(({ control }) => control.bus.isUp);
      });
      await shutsAndOpens(one, plane.api);
    });

    test('when the primary of the database is killed they lose no packet, and hear of what is changed by the next one', async () => {
      const primary = await primaryOf(members);
      const others = members.filter((member) => member !== primary);
      await withoutLoss({ one, two }, async () => {
        await primary.kill();
        await expect.poll(() => primaryOf(others), PATIENCE).toBeDefined();
      });
      await shutsAndOpens(one, plane.api);
    });

    test('who is revoked is cut off from both of them and from the bus', async () => {
      await plane.api('POST', '/api/v1/peers/two/revoke');
      await partForGood({ one, two });
      await expect.poll(() => isOnBus(two), PATIENCE).toBe(false);
    });

    async function peersOnRecord(): Promise<readonly string[]> {
      const { client } = await primaryOf(members);
      const records = client
        .db(DATABASE)
        .collection<RecordDoc>('record')
        .find({ '_id.kind': 'MeshPeer' satisfies Kind });
      return (await records.toArray()).map(({ _id }) => _id.name).sort();
    }

    async function isOnBus(node: LabNode): Promise<boolean> {
      return /:4222\b/.test(await node.host.must('ss', ['-Htn', 'state', 'established']));
    }
  },
);
