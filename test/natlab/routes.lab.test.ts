import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { NodeStatus } from '../../client/agent/node-status.ts';
import { type LabHost, type Natlab, natlab, PLANE_NAME } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

/** Where the host `one` finds the control plane: in a private network behind its router, as in a company. */
const PLANE_ADDRESS = '10.5.0.1';
const ROUTES = { routers: { office: { nat: 'easy' } }, hosts: { one: { behind: 'office' } } } as const;
/** Probation of a route, and the first attempts without it. */
const WITHDRAWN_MS = 90_000;
/** For an interface to be taken away, on a busy machine. */
const GONE_MS = 30_000;

/** As kube-proxy has them. */
const SERVICES = `table ip kube-proxy {
  chain api { meta l4proto tcp dnat to 192.168.100.5:6443; }
  chain services { ip daddr { 10.96.0.1, 10.96.0.10 } meta l4proto { tcp, udp } jump api; }
  chain nat-prerouting { type nat hook prerouting priority dstnat; policy accept; jump services; }
}`;
const SERVICES_TEXT = '10.96.0.1, 10.96.0.10 (chain services of the table ip kube-proxy)';

/** State of the host that a node could change. */
async function hostOf({ host }: LabNode): Promise<readonly string[]> {
  return Promise.all([
    host.must('ip', ['route']),
    host.must('ip', ['-br', 'address']),
    host.must('nft', ['list', 'tables']),
  ]);
}

async function planeBehindTheOffice(lab: Natlab): Promise<void> {
  await lab.host('plane').must('ip', ['address', 'add', `${PLANE_ADDRESS}/32`, 'dev', 'lo']);
  await lab.host('office').must('ip', ['route', 'add', PLANE_ADDRESS, 'via', '198.51.100.1']);
  nameThePlane(lab.host('one'), PLANE_ADDRESS);
}

/** In place: what runs in the namespace already has this file. */
function nameThePlane({ namespace }: LabHost, address: string | undefined): void {
  const file = `/etc/netns/${namespace}/hosts`;
  const others = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !line.includes(PLANE_NAME));
  writeFileSync(file, [...others, ...(address === undefined ? [] : [`${address} ${PLANE_NAME}`]), ''].join('\n'));
}

/** Nothing of the overlay is there any more. */
const isRefused = ({ node, routes }: NodeStatus) => routes.refused !== null && node.address === null;

async function moveTo(plane: LabPlane, network: string): Promise<void> {
  await plane.api('PATCH', '/api/v1/peers/one', { network });
}

/** Tells whether packets to an address leave by the router, and not into the tunnel or back to this host. */
async function leaves({ host }: LabNode, address: string): Promise<boolean> {
  return (await host.must('ip', ['route', 'get', address])).includes('dev eth0');
}

describePrivileged('a node and the block of its network', () => {
  it('that holds its control plane is not routed: it stays connected, and comes back by another move', async () => {
    await using lab = await natlab(ROUTES);
    await planeBehindTheOffice(lab);
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one']);
    await one.until(({ node }) => node.address !== null);
    await plane.api('POST', '/api/v1/networks', { name: 'trap', spec: { cidr: '10.5.0.0/24' } });

    await moveTo(plane, 'trap');
    const { routes, node } = await one.until(isRefused);
    expect(routes.refused).toMatchObject({ cidr: '10.5.0.0/24', code: 'control-plane' });
    expect(routes.refused?.reason).toContain(PLANE_ADDRESS);
    expect([node.address, await leaves(one, PLANE_ADDRESS)]).toEqual([null, true]);
    expect(await one.must(['status'])).toContain(
      'Not routed     The block 10.5.0.0/24 is not routed: it holds 10.5.0.1',
    );
    expect((await plane.api('GET', '/api/v1/peers/one')).status.online).toBe(true);

    // Its process begins from the graph on disk, and is connected all the same.
    await one.stop();
    one.start();
    await one.until(({ control, routes: { refused } }) => control.standing === 'ready' && refused !== null);
    await moveTo(plane, 'default');
    const back = await one.until((status) => status.node.address !== null);
    expect([back.node.cidr, back.routes.refused]).toEqual(['10.96.0.0/24', null]);
    await one.stop();
  });

  it('that cuts it off without a rule against it is withdrawn, and it hears its control plane again', async () => {
    await using lab = await natlab(ROUTES);
    await planeBehindTheOffice(lab);
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one']);
    await one.until(({ node, control }) => node.address !== null && control.bus.isUp);
    await plane.api('POST', '/api/v1/networks', { name: 'trap', spec: { cidr: '10.5.0.0/24' } });

    // The name of the control plane has no address in the moment of the judgement.
    nameThePlane(lab.host('one'), undefined);
    await moveTo(plane, 'trap');
    await one.until(({ node }) => node.cidr === '10.5.0.0/24');
    nameThePlane(lab.host('one'), PLANE_ADDRESS);
    // The node has the very address of its control plane by now, the first of the block.
    expect(await leaves(one, PLANE_ADDRESS)).toBe(false);
    // A restart within the probation ends nothing: the graph on disk has the block.
    await one.stop();
    nameThePlane(lab.host('one'), undefined);
    one.start();
    await one.until(({ node }) => node.cidr === '10.5.0.0/24');
    nameThePlane(lab.host('one'), PLANE_ADDRESS);

    const { routes } = await one.until(isRefused, WITHDRAWN_MS);
    // The status says it before the interface is gone.
    await expect.poll(() => leaves(one, PLANE_ADDRESS), { timeout: GONE_MS }).toBe(true);
    // By its name the address is known again, which is the better reason.
    expect(['cut-off', 'control-plane']).toContain(routes.refused?.code);
    expect(JSON.parse(readFileSync(path.join(one.directory, 'node.json'), 'utf8'))).toMatchObject({
      withdrawnBlock: '10.5.0.0/24',
    });
    await moveTo(plane, 'default');
    const back = await one.until((status) => status.node.address !== null, WITHDRAWN_MS);
    expect(back.node.cidr).toBe('10.96.0.0/24');
    await one.stop();
  });

  it('goes while its host is in a network with the same addresses', async () => {
    await using lab = await natlab(ROUTES);
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one']);
    await one.until(({ node }) => node.address !== null);
    await one.host.must('ip', ['address', 'add', '10.96.0.77/24', 'dev', 'eth0']);

    const { routes } = await one.until(isRefused);
    expect(routes.refused).toMatchObject({ cidr: '10.96.0.0/24', code: 'own-network' });
    const way = () => one.host.must('ip', ['route', 'get', '10.96.0.9']);
    await expect.poll(way, { timeout: GONE_MS }).toContain('dev eth0');
    await one.host.must('ip', ['address', 'delete', '10.96.0.77/24', 'dev', 'eth0']);
    await one.until(({ node }) => node.address !== null);
    await one.stop();
  });

  it('with addresses that the host translates, as Kubernetes does, is refused before anything is changed', async () => {
    await using lab = await natlab(ROUTES);
    await using plane = await startLabPlane(lab);
    const one = new LabNode(lab.host('one'));
    await one.join(await plane.joinToken());
    await one.host.nft(SERVICES);
    const before = await hostOf(one);
    const { code, stdout } = await one.mesh(['up', '--daemon', '--interface', one.interfaceName]);
    expect([code, stdout]).toEqual([5, expect.stringContaining(SERVICES_TEXT)]);
    expect(await hostOf(one)).toEqual(before);
    const { routes } = await one.until(isRefused);
    expect(routes.refused).toMatchObject({ cidr: '10.96.0.0/24', code: 'translated' });
    for (const command of ['status', 'netcheck']) {
      expect((await one.mesh([command])).stdout).toContain(
        `Not routed     The block 10.96.0.0/24 is not routed: this host`,
      );
    }

    await plane.api('POST', '/api/v1/networks', { name: 'apart', spec: { cidr: '10.200.0.0/24' } });
    await moveTo(plane, 'apart');
    await one.until(({ node }) => node.cidr === '10.200.0.0/24');
    await one.down();
  });

  it('stays routed when the host begins to translate its addresses, and the status and netcheck name them', async () => {
    await using lab = await natlab(ROUTES);
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one']);
    await one.until(({ node }) => node.address !== null);
    await one.host.nft(SERVICES);
    const { node } = await one.until(({ firewall }) => firewall.translated.length > 0);
    expect(node.address).not.toBeNull();
    for (const command of ['status', 'netcheck']) {
      expect((await one.mesh([command])).stdout).toContain('Host firewall  translates 10.96.0.1, 10.96.0.10 (chain');
    }
    await one.stop();
  });

  it.each([
    ['128.0.0.0/1', '128.0.0.5', 'too-wide'],
    ['169.254.0.0/16', '169.254.0.5', 'special'],
    ['192.168.0.0/16', '192.168.200.5', 'own-network'],
    ['8.8.8.0/24', '8.8.8.5', 'not-accepted'],
  ])('of a hostile graph is refused: %s', async (cidr, address, code) => {
    await using lab = await natlab(ROUTES);
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one']);
    await one.until(({ node }) => node.address !== null);
    await one.stop();
    await plane.stop();
    change(one, 'graph.json', ({ self, ...graph }) => ({ ...graph, self: { ...self, cidr, address } }));
    const before = await one.host.must('ip', ['route']);
    if (code === 'own-network') {
      const { code: exit, stderr } = await one.mesh(['up', '--interface', one.interfaceName]);
      expect([exit, stderr]).toEqual([5, expect.stringContaining(`The block ${cidr} is not routed: it overlaps`)]);
    } else {
      one.start();
      const { routes } = await one.until(isRefused);
      expect(routes.refused).toMatchObject({ cidr, code });
    }
    expect(await one.host.must('ip', ['route'])).toBe(before);
    await one.stop();
    if (code !== 'not-accepted') return;

    one.start(['--accept-routes', '8.8.0.0/16']);
    const accepted = await one.until((status) => status.node.address !== null);
    expect(accepted.routes).toEqual({ accepted: ['8.8.0.0/16'], refused: null, carried: null });
    expect(await leaves(one, '8.8.8.9')).toBe(false);
    await one.stop();
  });

  it('of an earlier version stays, written down and warned of', async () => {
    await using lab = await natlab(ROUTES);
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one']);
    await one.until(({ node }) => node.address !== null);
    await one.stop();
    await plane.stop();
    const self = { cidr: '8.8.8.0/24', address: '8.8.8.5' };
    change(one, 'graph.json', (graph) => ({ ...graph, self: { ...graph['self'], ...self } }));
    change(one, 'node.json', ({ acceptRoutes: _, ...config }) => config);
    one.start();
    const { routes } = await one.until(({ node }) => node.address === self.address);
    expect(routes).toMatchObject({ refused: null, carried: { cidr: self.cidr, code: 'not-accepted' } });
    expect(await leaves(one, '8.8.8.9')).toBe(false);
    expect(await one.must(['status'])).toContain('Warning        The block 8.8.8.0/24 stays routed as by an earlier');
    expect(JSON.parse(readFileSync(path.join(one.directory, 'node.json'), 'utf8'))).toMatchObject({
      ...{ acceptRoutes: [], carriedBlock: self.cidr },
    });
    await one.stop();
  });
});

// biome-ignore lint/suspicious/noExplicitAny: files of a node as JSON.
function change({ directory }: LabNode, file: string, to: (held: any) => unknown): void {
  const name = path.join(directory, file);
  writeFileSync(name, JSON.stringify(to(JSON.parse(readFileSync(name, 'utf8')))));
}
