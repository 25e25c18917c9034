import { expect, it } from 'vitest';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { freshInterface, type LabNode, labNode } from '../../test/lab-node.ts';
import { type LabHost, natlab } from '../../test/natlab.ts';
import { describePrivileged } from '../../test/privileged.ts';

const CIDR = '10.96.0.0/24';
const PORT = 51_820;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

function options(address: string, privateKey: Uint8Array) {
  return { privateKey: base64(privateKey), listenPort: PORT, address, cidr: CIDR, mtu: 1280 };
}

/** Two hosts on one link and a tunnel between them. */
async function pair() {
  const lab = await natlab({ hosts: { a: {}, b: {} } });
  const [a, b] = [lab.host('a'), lab.host('b')];
  const keys = { a: generateKeyPair(), b: generateKeyPair() };
  const names = { a: freshInterface(), b: freshInterface() };
  const nodes = { a: labNode(a, names.a), b: labNode(b, names.b) };
  const opened = await nodes.a.open(options('10.96.0.1', keys.a.privateKey));
  await nodes.b.open(options('10.96.0.2', keys.b.privateKey));
  const peer = (publicKey: Uint8Array, address: string, host: LabHost) => ({
    publicKey: base64(publicKey),
    allowedIps: [`${address}/32`],
    endpoint: { address: host.address ?? '', port: PORT },
    keepalive: 0,
  });
  const peers = { a: peer(keys.a.publicKey, '10.96.0.1', a), b: peer(keys.b.publicKey, '10.96.0.2', b) };
  await nodes.a.change([peers.b], []);
  await nodes.b.change([peers.a], []);
  return { lab, a, b, keys, names, nodes, peers, opened, [Symbol.asyncDispose]: () => endAll(lab, nodes) };
}

async function endAll(lab: AsyncDisposable, nodes: Record<string, LabNode>) {
  await Promise.all(Object.values(nodes).map((node) => node.close().catch(() => {})));
  await lab[Symbol.asyncDispose]();
}

const pings = async (host: LabHost, address: string) => (await host.run('ping', ['-c1', '-W3', address])).code === 0;

describePrivileged('a Linux tunnel', () => {
  it('carries packets, counts them, and routes the overlay alone', async () => {
    await using two = await pair();
    const { a, nodes, names, peers, opened } = two;
    expect(opened).toEqual({ kind: expect.stringMatching(/^(kernel|wireguard-go)$/), listenPort: PORT });
    expect(await pings(a, '10.96.0.2')).toBe(true);
    const [state] = await nodes.a.peers();
    expect(state).toEqual({
      publicKey: peers.b.publicKey,
      endpoint: peers.b.endpoint,
      handshakeAt: expect.closeTo(Date.now(), -4.5),
      receivedBytes: expect.any(Number),
      sentBytes: expect.any(Number),
    });
    expect(state?.receivedBytes).toBeGreaterThan(0);
    const routes = JSON.parse(await a.must('ip', ['-json', 'route', 'show', 'dev', names.a]));
    expect(routes).toEqual([expect.objectContaining({ dst: CIDR, prefsrc: '10.96.0.1' })]);
    const [link] = JSON.parse(await a.must('ip', ['-json', 'link', 'show', 'dev', names.a]));
    expect(link).toMatchObject({ mtu: 1280 });
  });

  it('takes everything away when it is closed, twice, and says that it ended', async () => {
    await using two = await pair();
    const { a, nodes, names } = two;
    const ended = nodes.a.ended();
    await nodes.a.close();
    await nodes.a.close();
    expect(await ended).toMatch(/closed|ended/);
    expect((await a.run('ip', ['link', 'show', 'dev', names.a])).code).toBe(1);
    expect(await a.must('ip', ['route', 'show', CIDR])).toBe('');
    await nodes.a.recover();
  });

  it('says that it ended when its interface is taken away', async () => {
    await using two = await pair();
    const ended = two.nodes.a.ended();
    await two.a.must('ip', ['link', 'delete', 'dev', two.names.a]);
    expect(await ended).toMatch(/taken away|ended/);
  });

  it('recovers what a killed agent left, and opens under the same name', async () => {
    await using two = await pair();
    const { a, nodes, names, keys, peers } = two;
    await nodes.a.kill();
    const again = labNode(a, names.a);
    nodes.a = again;
    await expect(again.open(options('10.96.0.1', keys.a.privateKey))).rejects.toThrow('Choose another name');
    await again.recover();
    await again.recover();
    await again.open(options('10.96.0.1', keys.a.privateKey));
    await again.change([peers.b], []);
    expect(await pings(a, '10.96.0.2')).toBe(true);
  });

  it('does not take the interface of an agent that runs', async () => {
    await using two = await pair();
    const { a, names } = two;
    await expect(labNode(a, names.a).recover()).rejects.toThrow(/belongs to a running agent, process \d+/);
    expect(await pings(a, '10.96.0.2')).toBe(true);
  });

  it('keeps its peers when its key changes, and reaches them once they know', async () => {
    await using two = await pair();
    const { a, nodes, peers } = two;
    expect(await pings(a, '10.96.0.2')).toBe(true);
    const fresh = generateKeyPair();
    await nodes.a.setPrivateKey(base64(fresh.privateKey));
    await nodes.b.change([{ ...peers.a, publicKey: base64(fresh.publicKey) }], [peers.a.publicKey]);
    expect(await pings(a, '10.96.0.2')).toBe(true);
    expect((await nodes.b.peers()).map(({ publicKey }) => publicKey)).toEqual([base64(fresh.publicKey)]);
  });

  it('changes an endpoint without a handshake, and does not bring back a peer that is gone', async () => {
    await using two = await pair();
    const { a, nodes, peers } = two;
    expect(await pings(a, '10.96.0.2')).toBe(true);
    const before = (await nodes.a.peers())[0]?.handshakeAt;
    await nodes.a.setEndpoint(peers.b.publicKey, '198.51.100.1', 9);
    expect((await nodes.a.peers())[0]?.endpoint).toEqual({ address: '198.51.100.1', port: 9 });
    await nodes.a.setEndpoint(peers.b.publicKey, peers.b.endpoint.address, PORT);
    expect(await pings(a, '10.96.0.2')).toBe(true);
    expect((await nodes.a.peers())[0]?.handshakeAt).toBe(before);
    await nodes.a.change([], [peers.b.publicKey]);
    await nodes.a.setEndpoint(peers.b.publicKey, peers.b.endpoint.address, PORT);
    expect(await nodes.a.peers()).toEqual([]);
  });

  it('moves to another address and block', async () => {
    await using two = await pair();
    const { a, nodes, names } = two;
    await nodes.a.setAddress('10.97.0.7', '10.97.0.0/16');
    const [link] = JSON.parse(await a.must('ip', ['-json', '-4', 'address', 'show', 'dev', names.a]));
    const addresses = link.addr_info.map(({ local }: { local: string }) => local);
    const routes = JSON.parse(await a.must('ip', ['-json', 'route', 'show', 'dev', names.a]));
    expect([addresses, routes.map(({ dst }: { dst: string }) => dst)]).toEqual([['10.97.0.7'], ['10.97.0.0/16']]);
  });

  it('takes a thousand peers in one step', async () => {
    await using two = await pair();
    const many = Array.from({ length: 1_000 }, (_, index) => ({
      publicKey: base64(generateKeyPair().publicKey),
      allowedIps: [`10.96.${1 + (index >> 8)}.${index & 255}/32`],
      endpoint: { address: 'fd6c:7270::1', port: 51_830 },
      keepalive: 0,
    }));
    await two.nodes.a.change(many, [two.peers.b.publicKey]);
    const keys = (await two.nodes.a.peers()).map(({ publicKey }) => publicKey);
    expect(keys.sort()).toEqual(many.map(({ publicKey }) => publicKey).sort());
  });

  it('is refused, with what to do, when the port is taken', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const node = labNode(lab.host('a'));
    await node.serve([PORT]);
    const { privateKey } = generateKeyPair();
    await expect(node.open(options('10.96.0.1', privateKey))).rejects.toThrow(
      'UDP port 51820 is in use by another program. End it, or choose another port with --wg-port.',
    );
  });

  it('names the routes that its block would collide with, and not its own', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const host = lab.host('a');
    const node = labNode(host);
    await host.must('ip', ['route', 'add', '10.96.0.128/25', 'via', '198.51.100.1']);
    await host.must('ip', ['route', 'add', 'blackhole', '10.0.0.0/8']);
    await host.must('ip', ['route', 'add', 'default', 'via', '198.51.100.1']);
    expect(await node.collisions(CIDR)).toEqual(['10.0.0.0/8 (blackhole)', '10.96.0.128/25 on eth0']);
    expect(await node.collisions('198.51.100.0/28')).toEqual(['198.51.100.0/24 on eth0', '198.51.100.10 on eth0']);
    expect(await node.collisions('100.64.0.0/10')).toEqual([]);
    await node.open(options('100.64.0.1', generateKeyPair().privateKey));
    await node.setAddress('100.64.0.1', '100.64.0.0/10');
    expect(await node.collisions('100.64.0.0/10')).toEqual([]);
    await node.close();
  });

  it('finds no obstacle here', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    expect(await labNode(lab.host('a')).obstacles()).toEqual([]);
  });
});
