import { expect, it } from 'vitest';
import { ADMIN_PASSWORD } from '../kits/http/harness.ts';
import { natlab, PLANE_NAME } from '../kits/lab/natlab.ts';
import { LabNode } from '../kits/lab/natlab-node.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { commandsOf } from '../kits/process/page-blocks.ts';
import { launcher } from '../kits/process/run-command.ts';

const SPEC = {
  routers: { home: { nat: 'easy' }, office: { nat: 'hard' } },
  hosts: { laptop: { behind: 'home' }, desk: { behind: 'office' }, server: {} },
} as const;
/** After a change of a policy packets are judged by it within this. */
const ENFORCED_MS = 2_000;

describePrivileged('the three nodes of the README', () => {
  it('meet by its very commands, heed a policy within two seconds, and leave nothing behind', async () => {
    const [settings = '', ...onPlane] = linesOf('README.md: Three nodes 1');
    const [init = '', up = '', status = '', ping = ''] = linesOf('README.md: Three nodes 2');
    expect(settings).toMatch(/ npm start$/);
    await using lab = await natlab(SPEC);
    await using plane = await startLabPlane(lab, Object.fromEntries(assignmentsOf(settings)));
    const link = await invited(lab.host('plane'), plane, onPlane);

    const nodes = Object.keys(SPEC.hosts).map((name) => new LabNode(lab.host(name)));
    for (const node of nodes) {
      // Hosts of the lab share one host name and one directory of WireGuard sockets.
      await node.must([...argumentsOf(init).map((word) => (word === '$LINK' ? link : word)), '--name', node.host.name]);
      expect(argumentsOf(up)).toEqual(['up', '--daemon']);
      await node.up();
    }
    const addresses = new Map<string, string>();
    for (const node of nodes) {
      const others = nodes.map(({ host }) => host.name).filter((name) => name !== node.host.name);
      const { node: own } = await node.until(({ peers }) => peers.length === others.length);
      addresses.set(node.host.name, own.address ?? '');
      for (const other of others) {
        expect(await node.must(argumentsOf(ping).map((word) => (word === 'OTHER' ? other : word)))).toContain(other);
      }
      const shown = await node.must(argumentsOf(status));
      for (const other of others) expect(shown).toContain(other);
    }

    const [laptop, desk, server] = nodes as [LabNode, LabNode, LabNode];
    const [toDesk, toServer] = [addresses.get('desk') ?? '', addresses.get('server') ?? ''];
    expect([await laptop.host.reaches(toDesk), await laptop.host.reaches(toServer)]).toEqual([true, true]);
    await label(plane, 'laptop');
    await label(plane, 'desk');
    const spec = { action: 'DENY', ...named('desk'), ingress: [{ from: [named('laptop')] }] };
    const denied = performance.now();
    await plane.api('POST', '/api/v1/policies', { name: 'shut', spec });
    expect((await momentOf(laptop, toDesk, false)) - denied).toBeLessThan(ENFORCED_MS);
    const others = [await laptop.host.reaches(toServer), await server.host.reaches(toDesk)];
    expect([await laptop.host.reaches(toDesk, 1), ...others]).toEqual([false, true, true]);
    const lifted = performance.now();
    await plane.api('DELETE', '/api/v1/policies/shut');
    expect((await momentOf(laptop, toDesk, true)) - lifted).toBeLessThan(ENFORCED_MS);

    for (const node of [laptop, desk, server]) {
      await node.down();
      expect(await node.host.hasInterface(node.interfaceName)).toBe(false);
      expect(await node.host.must('nft', ['list', 'ruleset'])).not.toContain(node.interfaceName);
    }
  });
});

const named = (name: string) => ({ peerSelector: { matchLabels: { name } } });

async function label({ api }: LabPlane, name: string): Promise<void> {
  const { items } = await api('GET', '/api/v1/peers');
  const { id } = items.find((peer: { name: string }) => peer.name === name);
  await api('PATCH', `/api/v1/peers/${id}`, { labels: { name } });
}

/** Signs in and invites as the section says. @returns the join link */
async function invited(host: LabNode['host'], plane: LabPlane, lines: readonly string[]): Promise<string> {
  // The plane of the lab has a workspace, and no first password: test/scenarios/pages.servers.test.ts runs all lines.
  const [login = '', invite = ''] = ['login', 'invite'].map((command) =>
    lines.find((line) => line.startsWith(`bin/mesh ${command}`)),
  );
  const env = { HOME: freshDirectory(), MESH_PASSWORD: ADMIN_PASSWORD };
  await host.must(launcher('mesh'), [...argumentsOf(login), '--workspace', plane.workspace], { env });
  const shown = await host.must(launcher('mesh'), argumentsOf(invite), { env });
  return /^mesh:\/\/join\S+$/m.exec(shown)?.[0] ?? '';
}

/** The moment from which on packets are answered, or are not. */
async function momentOf(from: LabNode, address: string, isAnswered: boolean): Promise<number> {
  for (;;) {
    const sentAt = performance.now();
    // On a machine with other work an answer takes its time, and is none the less one.
    const { code } = await from.host.run('ping', ['-n', '-c', '1', '-W', '1', address]);
    if ((code === 0) === isAnswered) return sentAt;
  }
}

const linesOf = (block: string) => commandsOf(block).map((line) => line.replaceAll('plane.example.net', PLANE_NAME));

const assignmentsOf = (line: string) => [...line.matchAll(/(MESH_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]);

/** What follows `bin/mesh`, as a shell would hand it over. */
function argumentsOf(line: string): string[] {
  const [, rest = ''] = /^(?:sudo )?bin\/mesh (.*)$/.exec(line) ?? [];
  return rest.split(' ').map((word) => word.replaceAll('"', ''));
}
