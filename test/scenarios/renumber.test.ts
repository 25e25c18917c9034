import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { busNode } from '../kits/http/bus-node.ts';
import { ADMIN_PASSWORD } from '../kits/http/harness.ts';
import { joinTokenFor, register } from '../kits/http/joining.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';
import { mesh } from '../kits/process/run-command.ts';

/** Signs `mesh` in as the administrator, in a home of its own. */
async function signedIn(server: string, workspace: string) {
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  const run = (...args: string[]) => mesh(args, { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
  await run('login', '--server', server, '--workspace', workspace);
  return { run, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) };
}

test('nodes hear of both addresses of all peers by one command and its approval, and a node that comes then has both at once', async () => {
  await using plane = await startWiredPlane();
  const { harness, admin, busPort } = plane;
  const [idA, idB] = [await plane.join('a'), await plane.join('b')];
  await using a = await busNode(busPort, idA);
  await a.heartbeat();
  await a.fetch();
  using cli = await signedIn(harness.url, admin.workspace);

  const asked = await cli.run('renumber', 'default', '10.97.0.0/24');
  const [, workflow = ''] = /Waits for approval: mesh approve (wf_\w+)/.exec(asked.stderr) ?? [];
  expect(asked).toMatchObject({ stderr: expect.stringContaining('wf_') });
  const shown = (await harness.api('GET', `/api/v1/workflows/${workflow}`, admin)).body;
  expect(shown.effect.routes[0].text).toMatch(/from 10\.96\.0\.0\/24 to 10\.97\.0\.0\/24: 2 peers keep their place/);
  expect(a.graph?.self.cidr).toBe('10.96.0.0/24');
  const again = await cli.run('renumber', 'default', '10.97.0.0/24');
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(`already, as user:admin asked.`) });
  expect(again.stderr).toContain(`mesh approve ${workflow}`);
  expect((await cli.run('approve', workflow)).code).toBe(0);
  expect((await cli.run('renumber', 'default', '10.97.0.0/24')).stdout).toBe(
    'default has the block 10.97.0.0/24 already.\n',
  );

  await a.until(() => a.graph?.self.cidr === '10.97.0.0/24');
  const own = (host: number) => ({
    address: `10.97.0.${host}`,
    cidr: '10.97.0.0/24',
    former: { address: `10.96.0.${host}`, cidr: '10.96.0.0/24' },
  });
  expect(a.graph?.self).toMatchObject(own(1));
  expect(a.graph?.peers).toMatchObject([
    { id: idB.id, address: '10.97.0.2', allowedIps: ['10.97.0.2/32', '10.96.0.2/32'] },
  ]);
  expect(a.graph?.firewall.full.in.map(({ cidr }) => cidr)).toEqual(['10.96.0.2/32', '10.97.0.2/32']);
  expect([a.received.at(-1)?.kind, a.gaps]).toEqual(['delta', 0]);
  await using b = await busNode(busPort, idB);
  await b.heartbeat();
  expect((await b.fetch()).self).toMatchObject(own(2));
});

test('the command that the refusal of a full network names makes room for the device that was refused', async () => {
  await using plane = await startWiredPlane();
  const { harness, admin } = plane;
  using cli = await signedIn(harness.url, admin.workspace);
  const spec = '{"cidr":"10.97.0.0/30","defaultAction":"DENY"}';
  expect((await cli.run('admin', 'create-network', '--name', 'pair', '--spec', spec)).code).toBe(0);
  const token = await joinTokenFor(harness, admin, { network: 'pair', usageLimit: 5 });
  for (const name of ['a', 'b']) await register(harness, token, name);
  const refused = await register(harness, token, 'c');
  expect(refused.status).toBe(409);
  const [, id = '', wider = ''] = /mesh admin update-network (\S+) --spec '([^']+)'/.exec(refused.body.detail) ?? [];
  expect((await cli.run('admin', 'update-network', id, '--spec', wider)).code).toBe(0);
  expect((await register(harness, token, 'c')).status).toBeLessThan(300);
  const { spec: held, status } = (await harness.api('GET', '/api/v1/networks/pair', admin)).body;
  expect([held, status.peers]).toEqual([{ cidr: '10.97.0.0/29', mtu: 1280, defaultAction: 'DENY' }, 3]);
});
