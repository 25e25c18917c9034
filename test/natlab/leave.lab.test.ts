import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { freshInterface, natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describeLong, describePrivileged } from '../kits/lab/privileged.ts';
import { launcher } from '../kits/process/run-command.ts';

describePrivileged('a node that is left', () => {
  it('leaves although it was deleted before, and by force where nobody is told', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const token = await plane.joinToken();
    const [a, b] = [new LabNode(lab.host('a')), new LabNode(lab.host('b'))];
    for (const node of [a, b]) await node.join(token);
    await plane.api('DELETE', '/api/v1/peers/a');
    const logs = ['--log-dir', path.join(a.directory, 'log')];
    const up = await a.mesh(['up', '--daemon', '--interface', a.interfaceName, ...logs]);
    expect([up.code, up.stdout, up.stderr]).toEqual([4, '', expect.stringContaining('a is not registered any more. ')]);
    const left = JSON.parse(await a.must(['leave', '--interface', a.interfaceName, '--json']));
    expect(left).toMatchObject({ name: 'a', removed: true, service: false });
    await plane.stop();
    expect(await b.must(['leave', '--interface', b.interfaceName, '--force'])).toContain('may still be registered');
    expect(existsSync(path.join(b.directory, 'node.json'))).toBe(false);
    await plane.start();
  });

  it('is found by its directory: its log, and all that it held, also where its agent was killed', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const { a } = await labNodes(lab, plane, ['a'], (node) => node.up());
    const before = freshInterface();
    const places = [before, a.interfaceName].map((name) => `/run/mesh/${name}`);
    await a.down();
    const logs = ['--log-dir', path.join(a.directory, 'log')];
    await a.must(['up', '--daemon', '--interface', before, ...logs]);
    expect(await a.must(['logs', ...logs])).toContain(`${before} is up on UDP port`);
    await a.down();
    await a.up();
    expect(await a.must(['logs', ...logs])).toContain(`${a.interfaceName} is up on UDP port`);
    process.kill(Number(readFileSync(path.join(a.directory, 'mesh.pid'), 'utf8')), 'SIGKILL');
    expect(places.map((place) => existsSync(place))).toEqual([true, true]);
    await a.must(['leave']);
    expect(places.map((place) => existsSync(place))).toEqual([false, false]);
  });

  it('changes a key that has become too old by itself, and stays the peer that it was', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], (node) => node.up());
    const { node: before } = await a.status();
    await a.down();
    const file = path.join(a.directory, 'node.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...config, keySince: '2026-01-01T00:00:00.000Z' }));
    await a.up(['--rotate-key-after', '1h']);
    const { node } = await a.until(
      (status) => status.node.publicKey !== before.publicKey && status.node.address !== null,
    );
    expect(node).toMatchObject({ id: before.id, name: 'a', address: before.address });
    expect(await b.host.reaches(before.address ?? '')).toBe(true);
    const changed = JSON.parse(readFileSync(file, 'utf8'));
    expect(Date.parse(changed.keySince)).toBeGreaterThan(Date.parse('2026-01-02'));
    await Promise.all([a.down(), b.down()]);
  });
});

describeLong('a node that is left', () => {
  it('is gone from the network and from the machine, and joins anew', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], (node) => node.up());
    await b.until(({ peers }) => peers.length === 1);
    const name = ['--interface', a.interfaceName];

    await plane.stop();
    const refused = await a.mesh(['leave', ...name]);
    expect([refused.code, refused.stderr]).toEqual([7, expect.stringMatching(/Nothing was changed here; --force/)]);
    expect(await a.host.hasInterface(a.interfaceName)).toBe(true);
    await plane.start();
    await a.until(({ control }) => control.bus.isUp);

    expect(await a.must(['leave', ...name])).toContain('a has left the network of http://plane.test:18090.');
    await b.until(({ peers }) => peers.length === 0);
    expect(await plane.api('GET', '/api/v1/peers')).toMatchObject({ items: [{ name: 'b' }] });
    expect(await a.host.hasInterface(a.interfaceName)).toBe(false);
    expect(await a.host.must('nft', ['list', 'ruleset'])).not.toContain(a.interfaceName);
    expect(existsSync(path.join(a.directory, 'node.json'))).toBe(false);
    expect((await a.mesh(['leave', ...name])).code).toBe(4);
    await a.join(await plane.joinToken());
    await a.up();
    await b.until(({ peers }) => peers.length === 1);
    await Promise.all([a.down(), b.down()]);
  });

  it('shows its log, and goes on with it over a file that took its place', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const { a } = await labNodes(lab, plane, ['a'], (node) => node.up());
    const logs = ['--interface', a.interfaceName, '--log-dir', path.join(a.directory, 'log')];
    expect(await a.must(['logs', ...logs])).toContain(`${a.interfaceName} is up on UDP port`);
    expect((await a.must(['logs', '-n', '1', ...logs])).trim().split('\n')).toHaveLength(1);
    const missing = await a.mesh(['logs', '--interface', 'nothing0', '--log-dir', a.directory]);
    expect([missing.code, missing.stderr]).toEqual([4, expect.stringContaining('There is no log')]);

    const child = lab.host('a').spawn(launcher('mesh'), ['logs', '-f', '-n', '1', ...logs], { HOME: a.directory });
    let seen = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      seen += chunk;
    });
    const until = async (text: string) => {
      while (!seen.includes(text)) await after(20);
    };
    const file = path.join(a.directory, 'log', `${a.interfaceName}.log`);
    await until(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '');
    writeFileSync(file, 'a line more\n', { flag: 'a' });
    await until('a line more\n');
    renameSync(file, `${file}.1`);
    writeFileSync(file, 'a file more\n');
    await until('a file more\n');
    child.kill('SIGINT');
    await a.down();

    const report = await a.must(['bugreport', '--out', '-', ...logs]);
    expect(report).toContain('a file more');
    const { deviceToken, privateKey } = JSON.parse(readFileSync(path.join(a.directory, 'node.json'), 'utf8'));
    for (const secret of [deviceToken, privateKey]) expect(report).not.toContain(secret);
  });
});
