import { expect, it } from 'vitest';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { type LabHost, natlab } from '../../test/kits/lab/natlab.ts';
import { base64, labParts, WIREGUARD_PORT as PORT, tunnelPair } from '../../test/kits/lab/natlab-parts.ts';
import { describePrivileged } from '../../test/kits/lab/privileged.ts';
import { burstBytesOf } from './linux.ts';

const CIDR = '10.96.0.0/24';
const MTU = 1_280;
const settings = (address: string) => ({ privateKey: base64(generateKeyPair().privateKey), address, cidr: CIDR });

/** Two hosts on one link and a tunnel between them. */
async function pair() {
  const lab = await natlab({ hosts: { a: {}, b: {} } });
  const two = await tunnelPair({ a: lab.host('a'), b: lab.host('b') }, CIDR);
  return {
    ...two,
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(two).map(({ parts }) => parts.close().catch(() => {})));
      await lab[Symbol.asyncDispose]();
    },
  };
}

/** Tells whether the second of a pair answers the first. */
const pings = async ({ host }: { host: LabHost }) => (await host.ping('10.96.0.2', { waitSeconds: 3 })).received === 1;

describePrivileged('a Linux tunnel', () => {
  it('carries packets, counts them, and routes the overlay alone', async () => {
    await using two = await pair();
    const { a, b } = two;
    expect(a.opened).toEqual({ kind: expect.stringMatching(/^(kernel|wireguard-go)$/), listenPort: PORT });
    expect(await pings(a)).toBe(true);
    const [state] = await a.parts.peers();
    expect(state).toEqual({
      publicKey: b.peer.publicKey,
      allowedIps: b.peer.allowedIps,
      endpoint: b.peer.endpoint,
      handshakeAt: expect.closeTo(Date.now(), -4.5),
      receivedBytes: expect.any(Number),
      sentBytes: expect.any(Number),
    });
    expect(state?.receivedBytes).toBeGreaterThan(0);
    const routes = JSON.parse(await a.host.must('ip', ['-json', 'route', 'show', 'dev', a.interfaceName]));
    expect(routes).toEqual([expect.objectContaining({ dst: CIDR, prefsrc: '10.96.0.1' })]);
    const [link] = JSON.parse(await a.host.must('ip', ['-d', '-json', 'link', 'show', 'dev', a.interfaceName]));
    expect(link).toMatchObject({ mtu: MTU, gso_max_size: burstBytesOf(MTU) });
  });

  it('takes everything away when it is closed, twice, and says that it ended', async () => {
    await using two = await pair();
    const { a } = two;
    const ended = a.parts.ended();
    await a.parts.close();
    await a.parts.close();
    expect(await ended).toMatch(/closed|ended/);
    expect(await a.host.hasInterface(a.interfaceName)).toBe(false);
    expect(await a.host.must('ip', ['route', 'show', CIDR])).toBe('');
    await a.parts.recover();
  });

  it('says that it ended when its interface is taken away', async () => {
    await using two = await pair();
    const ended = two.a.parts.ended();
    await two.a.host.must('ip', ['link', 'delete', 'dev', two.a.interfaceName]);
    expect(await ended).toMatch(/taken away|ended/);
  });

  it('recovers what a killed agent left, and opens under the same name', async () => {
    await using two = await pair();
    const { a, b } = two;
    await a.parts.kill();
    const again = labParts(a.host, a.interfaceName);
    a.parts = again;
    await expect(again.open(a.settings)).rejects.toThrow('Choose another name');
    await again.recover();
    await again.recover();
    await again.open(a.settings);
    await again.change([b.peer], []);
    expect(await pings(a)).toBe(true);
  });

  it('does not take the interface of an agent that runs', async () => {
    await using two = await pair();
    const { a } = two;
    await expect(labParts(a.host, a.interfaceName).recover()).rejects.toThrow(
      /belongs to a running agent, process \d+/,
    );
    expect(await pings(a)).toBe(true);
  });

  it('keeps its peers when its key changes, and reaches them once they know', async () => {
    await using two = await pair();
    const { a, b } = two;
    expect(await pings(a)).toBe(true);
    const fresh = generateKeyPair();
    await a.parts.setPrivateKey(base64(fresh.privateKey));
    await b.parts.change([{ ...a.peer, publicKey: base64(fresh.publicKey) }], [a.peer.publicKey]);
    expect(await pings(a)).toBe(true);
    expect((await b.parts.peers()).map(({ publicKey }) => publicKey)).toEqual([base64(fresh.publicKey)]);
  });

  it('changes an endpoint without a handshake, and does not bring back a peer that is gone', async () => {
    await using two = await pair();
    const { a, b } = two;
    expect(await pings(a)).toBe(true);
    const before = (await a.parts.peers())[0]?.handshakeAt;
    await a.parts.setEndpoint(b.peer.publicKey, '198.51.100.1', 9);
    expect((await a.parts.peers())[0]?.endpoint).toEqual({ address: '198.51.100.1', port: 9 });
    await a.parts.setEndpoint(b.peer.publicKey, b.peer.endpoint.address, PORT);
    expect(await pings(a)).toBe(true);
    expect((await a.parts.peers())[0]?.handshakeAt).toBe(before);
    await a.parts.change([], [b.peer.publicKey]);
    await a.parts.setEndpoint(b.peer.publicKey, b.peer.endpoint.address, PORT);
    expect(await a.parts.peers()).toEqual([]);
  });

  it('moves to another address and block', async () => {
    await using two = await pair();
    const { a } = two;
    await a.parts.setPlaces({ address: '10.97.0.7', cidr: '10.97.0.0/16' });
    const [link] = JSON.parse(await a.host.must('ip', ['-json', '-4', 'address', 'show', 'dev', a.interfaceName]));
    const addresses = link.addr_info.map(({ local }: { local: string }) => local);
    const routes = JSON.parse(await a.host.must('ip', ['-json', 'route', 'show', 'dev', a.interfaceName]));
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
    await two.a.parts.change(many, [two.b.peer.publicKey]);
    const keys = (await two.a.parts.peers()).map(({ publicKey }) => publicKey);
    expect(keys.sort()).toEqual(many.map(({ publicKey }) => publicKey).sort());
  });

  it('is refused, with what to do, when the port is taken', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const node = labParts(lab.host('a'));
    await node.serve([PORT]);
    await expect(node.open(settings('10.96.0.1'))).rejects.toThrow(
      'UDP port 51820 is in use by another program. End it, or choose another port with --wg-port.',
    );
  });

  it('names the routes that its block would collide with, and not its own', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const host = lab.host('a');
    const node = labParts(host);
    await host.must('ip', ['route', 'add', '10.96.0.128/25', 'via', '198.51.100.1']);
    await host.must('ip', ['route', 'add', 'blackhole', '10.0.0.0/8']);
    await host.must('ip', ['route', 'add', 'default', 'via', '198.51.100.1']);
    expect(await node.collisions(CIDR)).toEqual(['10.0.0.0/8 (blackhole)', '10.96.0.128/25 on eth0']);
    expect(await node.collisions('198.51.100.0/28')).toEqual(['198.51.100.0/24 on eth0', '198.51.100.10 on eth0']);
    expect(await node.collisions('100.64.0.0/10')).toEqual([]);
    await node.open(settings('100.64.0.1'));
    await node.setPlaces({ address: '100.64.0.1', cidr: '100.64.0.0/10' });
    expect(await node.collisions('100.64.0.0/10')).toEqual([]);
    await node.close();
  });

  it('finds no obstacle here', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    expect(await labParts(lab.host('a')).obstacles()).toEqual([]);
  });
});
