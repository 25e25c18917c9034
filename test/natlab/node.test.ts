import { expect, it } from 'vitest';
import { LabMesh } from '../lab-mesh.ts';
import { natlab } from '../natlab.ts';
import { startLabPlane } from '../natlab-plane.ts';
import { describePrivileged } from '../privileged.ts';
import { verifies } from '../requirements.ts';

describePrivileged('mesh up', () => {
  it('brings two machines into one network with the commands of the contract, and mesh down takes all away', async () => {
    verifies('cli-up', 'cli-init', 'cli-config-dir', 'device-status', 'limit-wireguard-port');
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const [a, b] = [new LabMesh(lab.host('a')), new LabMesh(lab.host('b'))];
    const token = await plane.joinToken();
    await a.init(token);
    await b.init(token);
    expect(await a.up()).toContain('a is up as 10.96.0.1');
    expect(await b.up()).toContain('b is up as 10.96.0.2');
    expect(await a.pings('10.96.0.2')).toBe(true);
    const status = await a.until(({ peers }) => peers[0]?.state === 'connected');
    expect(status.node).toMatchObject({ name: 'a', address: '10.96.0.1', listenPort: 51_820 });
    expect(status.control).toMatchObject({ standing: 'ready', bus: { isUp: true } });
    expect(status.peers).toMatchObject([{ name: 'b', address: '10.96.0.2', handshake: expect.stringMatching(/Z$/) }]);
    const text = await a.must(['status']);
    for (const word of ['Transport', 'Path', 'Handshake', 'State', 'Endpoint']) expect(text).toContain(word);

    const again = await a.mesh(a.upArguments());
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining(`is up already (pid ${status.node.pid})`)]);
    await a.down();
    expect((await lab.host('a').run('ip', ['link', 'show', a.interfaceName])).code).toBe(1);
    expect(await lab.host('a').must('nft', ['list', 'ruleset'])).not.toContain(a.interfaceName);
    expect((await a.mesh(['status'])).code).toBe(7);
  });
});
