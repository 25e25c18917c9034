import { cpSync } from 'node:fs';
import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

const isLong = process.env['MESH_LONG'] === '1';
/** Three heartbeats of each, 30 s apart. */
const NOTICED_MS = 200_000;

describePrivileged('a configuration directory that was copied to another machine', () => {
  it.skipIf(!isLong)(
    'is named as such by the node on each of the two',
    async () => {
      await using lab = await natlab({ hosts: { one: {}, two: {} } });
      await using plane = await startLabPlane(lab);
      const [one, two] = [new LabNode(lab.host('one')), new LabNode(lab.host('two'))];
      await one.join(await plane.joinToken());
      cpSync(one.directory, two.directory, { recursive: true });
      await Promise.all([one.up(), two.up()]);
      const isNamed = ({ trouble }: { trouble: string }) => trouble.startsWith('another machine uses the key');
      await Promise.all([one.until(isNamed, NOTICED_MS), two.until(isNamed, NOTICED_MS)]);
      expect((await one.mesh(['status'])).stdout).toContain('Run mesh init --force with a new token on one of them');
      await Promise.all([one.down(), two.down()]);
    },
    NOTICED_MS + 60_000,
  );
});
