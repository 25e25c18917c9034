import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatJoinLink } from '../../client/enrol/join-link.ts';
import { withAddress } from '../../core/model/token.ts';
import { startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, peerNames, register } from '../kits/http/joining.ts';
import { launcher, mesh, run } from '../kits/process/run-command.ts';
import { verifies } from '../verifies.ts';

let place: Place;
let home: string;
const harness = await startHarness();
afterAll(() => harness[Symbol.asyncDispose]());
let workspaces = 0;
beforeEach(async () => {
  place = await harness.workspace(`init-${workspaces++}`);
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const own = hostname().replaceAll(/[^\w.-]/g, '-');
/** Who lacks the rights is told how to get them. */
const sudo = process.getuid?.() === 0 ? '' : 'sudo ';
const configFile = () => path.join(home, 'node', 'node.json');
const readConfig = () => JSON.parse(readFileSync(configFile(), 'utf8'));
const init = (args: readonly string[], env: Record<string, string> = {}) =>
  mesh(['init', '--config-dir', path.join(home, 'node'), ...args], { home, env });
const withToken = async (more: readonly string[] = []) =>
  init(['--server', harness.url, '--token', await joinTokenFor(harness, place), ...more]);

test('mesh up refuses a MESH_PLATFORM that is none, before it asks for anything else', async () => {
  const { code, stderr } = await mesh(['up'], { home, env: { MESH_PLATFORM: 'of' } });
  expect([code, stderr]).toEqual([2, expect.stringContaining('MESH_PLATFORM is "of": set it to auto or plain.')]);
});

describe('mesh init', () => {
  test('registers the machine under its host name and writes a configuration for its owner alone', async () => {
    verifies('cli-init', 'cli-config-dir');
    const { code, stdout, stderr } = await withToken();
    expect([code, stderr]).toEqual([0, '']);
    const at = `--config-dir ${path.join(home, 'node')}`;
    expect(stdout).toBe(
      `Registered ${own} as 10.96.0.1.\nControl plane: ${harness.url}, bus ${readConfig().signalingUrl}\nBlock: 10.96.0.0/24, routed into the tunnel while the node is up\nConfiguration: ${configFile()}\nNext: ${sudo}mesh up --daemon ${at}${sudo && `, or without superuser rights, for programs that use its proxy: mesh up --userspace --daemon ${at}`}\n`,
    );
    expect(await peerNames(harness, place)).toEqual([own]);
    expect((statSync(configFile()).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(path.join(home, 'node'))).toEqual(['node.json']);
    const config = readConfig();
    expect(config).toMatchObject({ server: harness.url, name: own, workspaceId: place.workspace });
    for (const secret of [config.deviceToken, config.privateKey]) expect(stdout).not.toContain(secret);
    const self = await harness.api('GET', '/api/v1/devices/self', { token: config.deviceToken });
    expect([self.status, self.body.name]).toEqual([200, own]);
  });

  test('shows a block that it will not route, and remembers what it is told to accept', async () => {
    const admin = { token: place.token, workspace: place.workspace };
    const made = { name: 'wide', spec: { cidr: '8.8.8.0/24' } };
    expect((await harness.api('POST', '/api/v1/networks', { ...admin, body: made })).status).toBe(201);
    const token = await joinTokenFor(harness, place, { network: 'wide' });
    const refused = await init(['--server', harness.url, '--token', token]);
    expect(refused.stdout).toContain(
      'Block: The block 8.8.8.0/24 is not routed: its addresses are public, and a node routes private ones alone.',
    );
    expect(refused.stdout).toContain('end the node where it runs, and start it with --accept-routes 8.8.8.0/24.');
    expect(refused.stdout).toMatch(/\nNext, if you trust .*: .*mesh up --daemon .*--accept-routes 8\.8\.8\.0\/24\n/);
    expect(readConfig()).toMatchObject({ acceptRoutes: [] });
    const blocks = ['--accept-routes', '8.8.8.0/24,9.9.9.0/24', '--accept-routes', '1.1.1.0/24'];
    const accepted = await init(['--server', harness.url, '--token', token, ...blocks]);
    expect(accepted.stdout).toContain('Block: 8.8.8.0/24, routed into the tunnel while the node is up\n');
    expect(accepted.stdout).not.toContain('--accept-routes');
    expect(readConfig()).toMatchObject({ acceptRoutes: ['8.8.8.0/24', '9.9.9.0/24', '1.1.1.0/24'] });
    const wide = await init(['--server', harness.url, '--token', token, '--accept-routes', '0.0.0.0/0']);
    expect([wide.code, wide.stderr]).toEqual([2, expect.stringContaining('0.0.0.0/0 is wider than /8')]);
  });

  test('asks for labels and a short life, and says what the token grants where it does not grant them', async () => {
    const token = await joinTokenFor(harness, place, { deviceLabels: ['role=web'] });
    const asking = (labels: string) =>
      init(['--server', harness.url, '--token', token, '--ephemeral', '--labels', labels]);
    const refused = await asking('role=db');
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('it grants role=web')]);
    expect(await peerNames(harness, place)).toEqual([]);
    expect((await asking('role=web')).code).toBe(0);
    const { body } = await harness.api('GET', `/api/v1/peers/${own}`, place);
    expect(body).toMatchObject({ labels: { role: 'web' }, status: { ephemeral: true } });
  });

  test('writes under ~/.mesh where no directory is named', async () => {
    verifies('cli-init', 'cli-init-default');
    const token = await joinTokenFor(harness, place);
    const { code, stdout } = await run(launcher('mesh'), ['init', '--server', harness.url, '--token', token], {
      env: { HOME: home },
    });
    const [file = ''] = readdirSync(path.join(home, '.mesh'));
    expect([code, stdout]).toEqual([0, expect.stringContaining(path.join(home, '.mesh', file))]);
  });

  test('takes the next free name where the host name is taken, keeps it in its directory, and never alters --name', async () => {
    await register(harness, await joinTokenFor(harness, place), own);
    const token = await joinTokenFor(harness, place);
    const args = ['--server', harness.url, '--token', token];
    const { code, stderr } = await init([...args, '--name', own]);
    expect([code, stderr]).toEqual([
      5,
      `Conflict: A device ${own} is registered already: choose another name, such as ${own}-2. Without --name it takes the next free one.\n`,
    ]);
    const { stdout } = await init(args);
    expect(stdout).toContain(
      `Another device is named ${own}: this one is ${own}-2.\nRegistered ${own}-2 as 10.96.0.2.\n`,
    );
    const again = await init([...args, '--json']);
    expect([again.code, JSON.parse(again.stdout)]).toEqual([
      0,
      {
        id: expect.stringMatching(/^p_/),
        name: `${own}-2`,
        phase: 'ready',
        address: '10.96.0.2',
        block: '10.96.0.0/24',
        server: harness.url,
        configuration: configFile(),
      },
    ]);
  });

  test('goes to the address that its token carries, which is printed first', async () => {
    // No host answers at it, and nothing is sent.
    const address = 'http://255.255.255.255:18090';
    const token = withAddress(await joinTokenFor(harness, place), { publicUrls: [address] });
    const { code, stderr } = await init(['--token', token]);
    const [first, ...rest] = stderr.split('\n');
    expect([code, first]).toEqual([7, `Control plane: ${address}, as the token says. --server names another.`]);
    expect(rest.join('\n')).toContain(`${address} does not answer`);
    expect((await init(['--server', harness.url, '--token', token])).code).toBe(0);
    // The host belongs to the control plane of the token: that is asked where its node found it.
    expect(await init(['--token', token])).toMatchObject({ code: 0, stderr: '' });
  });

  test('takes a join link in place of server and token', async () => {
    verifies('join-link');
    const link = formatJoinLink({ server: harness.url, token: await joinTokenFor(harness, place) });
    expect((await init([link, '--name', 'from link'])).stdout).toContain('Registered from-link as 10.96.0.1.');
    const broken = await init([link.slice(0, 12)]);
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('This is no join link')]);
    const cut = await init([link.slice(0, link.indexOf('&'))]);
    const bare = await init([await joinTokenFor(harness, place)]);
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('give the token with --token')]);
    expect([cut.code, cut.stderr]).toEqual([2, expect.stringContaining('Put the link in single quotes')]);
  });

  test('refuses a join link beside another server or token, and sends nothing', async () => {
    const token = await joinTokenFor(harness, place);
    const link = formatJoinLink({ server: harness.url, token });
    const others = [
      ['--server', 'https://mesh.example.com'],
      ['--token', await joinTokenFor(harness, place)],
    ];
    for (const other of others) {
      const { code, stderr } = await init([link, ...other]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`The join link and ${other[0]} differ`)]);
    }
    expect(await peerNames(harness, place)).toEqual([]);
    expect((await init([link, '--server', `${harness.url}/`, '--token', token])).code).toBe(0);
  });

  test('warns of a name that peers never resolve', async () => {
    expect((await withToken(['--name', 'WPAD'])).stdout).toContain('peers find nobody by the name WPAD');
  });

  test('says which name it made of a host name that is none', async () => {
    const preload = path.join(home, 'host.cjs');
    writeFileSync(preload, "require('node:os').hostname = () => 'büro_1 süd';");
    const env = { NODE_OPTIONS: `--require ${preload}` };
    const { stdout } = await init(['--server', harness.url, '--token', await joinTokenFor(harness, place)], env);
    expect(stdout).toContain('The name of this host is büro_1 süd: the node is buro_1-sud.');
  });

  test('reads the token from MESH_TOKEN or a file, so that it need not stand in the command', async () => {
    const token = await joinTokenFor(harness, place);
    expect((await init(['--server', harness.url], { MESH_TOKEN: token })).code).toBe(0);
    writeFileSync(path.join(home, 'token'), `${token}\n`);
    expect((await init(['--server', harness.url, '--token', `@${path.join(home, 'token')}`])).code).toBe(0);
  });

  test('again in the same directory keeps the key and the name, and spends nothing', async () => {
    const token = await joinTokenFor(harness, place, { usageLimit: 2 });
    const args = ['--server', harness.url, '--token', token];
    expect((await init([...args, '--name', 'web'])).code).toBe(0);
    const { deviceToken: _, ...before } = readConfig();
    expect((await init(args)).stdout).toContain('Registered web as 10.96.0.1.');
    expect(readConfig()).toMatchObject(before);
    const listed = await harness.api('GET', '/api/v1/tokens', place);
    expect(listed.body.items.map(({ usedCount }: { usedCount: number }) => usedCount)).toEqual([1]);
    const other = await joinTokenFor(harness, place);
    const { code, stderr } = await init(['--server', harness.url, '--token', other]);
    expect([code, stderr]).toEqual([5, expect.stringContaining('start it, or join anew with --force to replace it')]);
  });

  test('says what to do when the name is taken', async () => {
    await register(harness, await joinTokenFor(harness, place), 'web');
    const { code, stderr } = await withToken(['--name', 'web']);
    expect([code, stderr]).toEqual([5, expect.stringContaining('choose another name, such as web-2.')]);
    expect((await withToken(['--name', 'web2'])).code).toBe(0);
  });

  test('refuses a directory that belongs to another control plane, and takes it with --force', async () => {
    expect((await withToken(['--name', 'web'])).code).toBe(0);
    writeFileSync(configFile(), JSON.stringify({ ...readConfig(), server: 'https://elsewhere.example.net' }));
    const refused = await withToken(['--name', 'web2']);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('Give --force to forget that node')]);
    expect((await withToken(['--name', 'web2', '--force'])).code).toBe(0);
  });

  test('says that a device that needs approval is pending', async () => {
    const settings = { requirePeerApproval: true };
    await harness.api('PATCH', `/api/v1/workspaces/${place.workspace}`, { ...place, body: { settings } });
    const { code, stdout } = await withToken();
    expect([code, stdout]).toEqual([0, expect.stringContaining('It is pending: an administrator has to approve it')]);
  });

  test('sends nothing to a control plane that did not issue the token', async () => {
    await using other = await startHarness();
    const token = await joinTokenFor(harness, place);
    const { code, stderr } = await init(['--server', other.url, '--token', token]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('Nothing was sent. Check --server.')]);
    expect(stderr).not.toContain(token);
  });

  test.each([
    [['--token', 'mesh-join-x'], 2, 'This token is incomplete'],
    [['--token', `mesh-join-${'a'.repeat(43)}`], 2, 'Give --server'],
    [['--server', 'http://127.0.0.1:1'], 2, 'Give --token'],
    [['--server', 'http://127.0.0.1:1', '--token', 'secret-text'], 2, 'This is no join token'],
    [['--server', 'http://127.0.0.1:1', '--token', 'mesh-dlg-AAAA'], 2, 'This token is incomplete'],
    [['--server', 'ftp://a', '--token', 'secret-text'], 2, 'is no server address'],
    [['--server', 'http://127.0.0.1:1024', '--token', `mesh-join-${'a'.repeat(43)}`], 7, 'does not answer ('],
  ])('explains what is wrong with %j', async (args, code, text) => {
    const outcome = await init(args);
    expect([outcome.code, outcome.stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(outcome.stderr).not.toContain('secret-text');
  });
});
