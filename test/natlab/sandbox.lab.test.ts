import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { type LabHost, natlab } from '../kits/lab/natlab.ts';
import { LabNode } from '../kits/lab/natlab-node.ts';
import { LAB_SERVER, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import {
  type Caller,
  delegations,
  inSandbox,
  lineOf,
  sandboxRemains,
  startLine,
  uidOf,
} from '../kits/lab/sandboxes.ts';
import { onTerminal } from '../kits/process/pseudo-terminal.ts';
import { launcher } from '../kits/process/run-command.ts';

const MESH = launcher('mesh');
const CALLERS = ['root', 'an ordinary user'] as const;

/** Starts a script in a sandbox, and resolves once it has said something. */
async function begun(host: LabHost, token: string, script: string, caller: Caller) {
  const [file = '', ...args] = lineOf(caller, [MESH, ...startLine(['sh', '-c', script])]);
  const child = host.spawn(file, args, { HOME: '/', MESH_TOKEN: token });
  child.stderr?.resume();
  const ended = new Promise((done) => child.once('close', done));
  await Promise.race([once(child.stdout as Readable, 'data'), ended]);
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { end };
}

for (const caller of CALLERS)
  describePrivileged(`mesh sandbox start by ${caller}`, () => {
    it('runs its command without rights, who writes no file of the host, ends no node of it, and sees none of its processes', async () => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const delegate = await delegations(plane);
      const a = new LabNode(lab.host('a'));
      await a.join(await plane.joinToken());
      await a.up();
      const script = [
        'echo "ids $(id -u) $(id -g) $(id -G)"',
        String.raw`grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):" /proc/self/status | tr "\t\n" "  "; echo`,
        '(echo x > /etc/cron.d/from-a-sandbox) 2>/dev/null && echo wrote',
        `ls ${a.directory} ${path.dirname(a.directory)} 2>/dev/null && echo read`,
        'ls /run /root /sys /home',
        'echo "processes $(ls -d /proc/[0-9]* | wc -l)"',
      ].join('\n');
      const { code, stdout, stderr } = await inSandbox(a.host, await delegate(), script, { caller });
      const [none, uid] = ['0000000000000000', uidOf(caller)];
      expect([code, ...stdout.trim().split('\n').slice(0, -1)]).toEqual([
        0,
        `ids ${uid} ${uid} ${uid}`,
        `CapInh: ${none} CapPrm: ${none} CapEff: ${none} CapBnd: ${none} CapAmb: ${none} NoNewPrivs: 1 Seccomp: 2 `,
        ...['/home:', 'sandbox', '', '/root:', '', '/run:', '', '/sys:'],
      ]);
      expect(Number(/processes (\d+)/.exec(stdout)?.[1])).toBeLessThan(8);
      expect(stderr).toContain(`namespaces, and seccomp; runs as user ${uid}`);
      expect((await a.status()).node.name).toBe('a');
      await a.down();
    });

    it('reaches a peer by name over TCP and UDP, and one that no policy permits refuses at once', async () => {
      await using lab = await natlab({ hosts: { a: {}, b: {} } });
      await using plane = await startLabPlane(lab);
      const ports = [
        { protocol: 'TCP', port: 8080 },
        { protocol: 'UDP', port: 8081 },
      ];
      const delegate = await delegations(plane, { reach: [{ to: [{ peerSelector: {} }], ports }] });
      const b = new LabNode(lab.host('b'));
      await b.join(await plane.joinToken());
      await b.up();
      const server = `
      require('node:http').createServer((_, response) => response.end('over TCP')).listen(8080);
      const udp = require('node:dgram').createSocket('udp4');
      udp.on('message', (_, from) => udp.send('over UDP', from.port, from.address)).bind(8081);`;
      b.host.spawn('node', ['-e', server]).stderr?.resume();
      const client = `
      const { get } = require('node:http');
      const { lookup } = require('node:dns').promises;
      const tcp = () => new Promise((resolve, reject) => get('http://b:8080/', (one) => one.on('data', (text) => resolve(String(text)))).on('error', reject));
      const again = async (times) => { try { return await tcp() } catch (error) { if (times === 0) throw error; await new Promise((next) => setTimeout(next, 100)); return again(times - 1) } };
      (async () => {
        console.log(await again(100));
        const udp = require('node:dgram').createSocket('udp4');
        udp.send('?', 8081, (await lookup('b')).address);
        udp.once('message', (text) => {
          console.log(String(text));
          udp.close();
          // Neither side listens there: a packet that came through would be refused by the peer.
          get('http://b:8082/').on('error', ({ code }) => console.log(code));
        });
      })();`;
      const token = await delegate();
      const script = `node -e '${client.replaceAll("'", String.raw`'\''`)}'`;
      const { code, stdout, stderr } = await inSandbox(lab.host('a'), token, script, { caller });
      expect([code, stdout], stderr).toEqual([0, 'over TCP\nover UDP\nEHOSTUNREACH\n']);
    });

    it('passes the variables of its allow list and those that --env names, and directories read-only but for its own', async () => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const delegate = await delegations(plane);
      const env = { AWS_SECRET_ACCESS_KEY: 'secret', BUILD_ID: '7', LC_ALL: 'C', MESH_LRP_AUTH_TOKEN: 'secret' };
      const place = mkdtempSync('/tmp/place-');
      for (const name of ['given', 'read']) mkdirSync(path.join(place, name), { mode: 0o777 });
      for (const name of ['given', 'read']) chmodSync(path.join(place, name), 0o777);
      chmodSync(place, 0o755);
      const script = `env | cut -d= -f1 | sort | tr "\\n" " "; echo; echo "$BUILD_ID"; pwd; touch ../read/x 2>/dev/null || echo refused; touch made ~/kept /tmp/kept && ls ${place}`;
      const options = ['--env', 'BUILD_ID', '--bind', path.join(place, 'read'), '--workdir', path.join(place, 'given')];
      const { stdout } = await inSandbox(lab.host('a'), await delegate(), script, { env, options, caller });
      const made = readFileSync(path.join(place, 'given/made'), 'utf8');
      rmSync(place, { recursive: true });
      expect([...stdout.trim().split('\n'), made]).toEqual([
        'BUILD_ID HOME LC_ALL MESH_SANDBOX MESH_SERVER PATH PWD ',
        ...['7', path.join(place, 'given'), 'refused', 'given', 'read'],
        '',
      ]);
      expect(sandboxRemains()).toEqual([]);
    });

    it('gives its command standard input, output and error, and nothing else that the caller has open', async () => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const delegate = await delegations(plane);
      const start = startLine(['bash', '-c', '"ls /proc/\\$\\$/fd; head -c 4 <&200; echo out >&251"']);
      const caller9 = `exec 9</etc/hostname 200</etc/hostname 251> >(cat); exec ${[MESH, ...start].join(' ')}`;
      const [file = '', ...args] = lineOf(caller, ['bash', '-c', caller9]);
      const { stdout } = await lab.host('a').run(file, args, { env: { HOME: '/', MESH_TOKEN: await delegate() } });
      expect(stdout.trim().split('\n')).toEqual(['0', '1', '2']);
    });

    it('passes standard input, signals and exit codes', async () => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const delegate = await delegations(plane);
      const host = lab.host('a');
      const endOf = async (script: string, signal: NodeJS.Signals) =>
        (await begun(host, await delegate(), script, caller)).end(signal);
      expect(await endOf('trap "exit 7" TERM; echo begun; while :; do sleep 0.05; done', 'SIGTERM')).toBe(7);
      expect(await endOf('echo begun; exec sleep 100', 'SIGQUIT')).toBe(131);
      expect(await endOf('trap "exit 8" INT; echo begun; while :; do sleep 0.05; done', 'SIGINT')).toBe(8);
      const cat = await inSandbox(host, await delegate(), 'cat; kill -KILL $$', { caller, stdin: 'given' });
      expect([cat.stdout, cat.code]).toEqual(['given', 137]);
    });

    it('ends every process that its command left, and all of them with the process outside', async () => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const delegate = await delegations(plane);
      const host = lab.host('a');
      const mark = caller === 'root' ? '98765.4' : '98765.5';
      // Its own group and session, and deaf to everything.
      const deaf = `setsid sh -c 'trap "" TERM INT HUP QUIT; sleep ${mark}' & echo begun`;
      const left = async () => (await host.run('pgrep', ['-f', `^sleep ${mark}`])).stdout;
      expect((await inSandbox(host, await delegate(), `${deaf}; exit 3`, { caller })).code).toBe(3);
      expect(await left()).toBe('');
      const killed = await begun(host, await delegate(), `${deaf}; wait`, caller);
      await expect.poll(left).not.toBe('');
      await killed.end('SIGKILL');
      await expect.poll(left).toBe('');
      expect(sandboxRemains()).toEqual([]);
    });

    it('gives its command a terminal of its own, which cannot push input into that of the caller', async () => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const delegate = await delegations(plane);
      // TIOCSTI and TIOCLINUX, ioctl_tty(2).
      const push =
        'for $f (*STDIN, *STDOUT) { for $r (0x5412, 0x541c) { ioctl($f, $r, my $c = "#") and print "pushed\\n" } }';
      const file = path.join(mkdtempSync('/tmp/script-'), 'push.sh');
      writeFileSync(
        file,
        `tty; test -t 0 && test -t 1 && test -t 2 && echo all; perl -e '${push}'; read line; echo "got $line"; exit 5`,
      );
      chmodSync(path.dirname(file), 0o755);
      const start = lineOf(caller, [MESH, ...startLine(['sh', file])]);
      const quoted = ['ip', 'netns', 'exec', lab.host('a').namespace, ...start].map(
        (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
      );
      const typed = [{ after: 'all', keys: 'hello\r' }];
      const env = { HOME: '/', MESH_TOKEN: await delegate() };
      const { code, shown } = await onTerminal(quoted.join(' '), typed, env);
      rmSync(path.dirname(file), { recursive: true });
      const said = shown.split('\n').filter((one) => !/^(?:warning|Isolation|Control plane):/.test(one));
      expect([code, said]).toEqual([5, ['/dev/pts/0', 'all', 'hello', 'got hello', '']]);
    });
  });

/** Runs a command line that is refused. @returns its exit code, and what it said */
async function refusalOf(host: LabHost, token: string, [file = '', ...args]: readonly string[]) {
  const { code, stderr } = await host.run(file, args, { env: { HOME: '/nonexistent', MESH_TOKEN: token } });
  return [code, stderr];
}

describePrivileged('mesh sandbox start', () => {
  it('runs as the user behind sudo, never as root', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    const sudo = { SUDO_UID: '1234', SUDO_GID: '0' };
    expect((await inSandbox(lab.host('a'), await delegate(), 'id -u; id -G', { env: sudo })).stdout).toBe(
      '1234\n65534\n',
    );
    const root = { env: { SUDO_UID: '0' } };
    expect((await inSandbox(lab.host('a'), await delegate(), 'id -u', root)).stdout).toBe('65534\n');
  });

  it('ends by the signal that it got while it enrolled', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const token = await (await delegations(plane))();
    // Takes the connection, ends who started it, and never answers.
    const server = `require("net").createServer((socket) => socket.on("error", () => {}).on("close", () => process.exit()) && process.kill(process.ppid)).listen(0, "127.0.0.1", function () { console.log(this.address().port) })`;
    const start = 'sandbox start --server http://127.0.0.1:$port -- true';
    const script = `exec 5< <(exec node -e '${server}'); read port <&5; exec ${MESH} ${start}`;
    const { code } = await lab.host('a').run('bash', ['-c', script], { env: { MESH_TOKEN: token } });
    expect(code).toBe(143);
  });

  it('needs the token alone where the host never joined, and names the control plane of the token first', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab, {}, undefined, { publicUrls: [LAB_SERVER] });
    const env = { HOME: mkdtempSync('/tmp/home-'), MESH_TOKEN: await (await delegations(plane))() };
    const { code, stderr } = await lab.host('a').run(MESH, ['sandbox', 'start', '--', 'sh', '-c', 'exit 3'], { env });
    rmSync(env.HOME, { recursive: true });
    expect([code, stderr.split('\n')[0]]).toEqual([3, expect.stringContaining(`Control plane: ${LAB_SERVER}`)]);
  });

  it('ends with 5 at the end of its time, with all that its command left', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const agent = await plane.api('POST', '/api/v1/agents', { name: 'planner' });
    const { body } = await plane.call('POST', `/api/v1/agents/${agent.id}/delegate`, {
      token: agent.token,
      body: { subAgentName: 'brief', ttl: '15s', policyPreset: 'inherit' },
    });
    const { code } = await inSandbox(lab.host('a'), body.enrollmentToken, 'exec sleep 1000');
    expect(code).toBe(5);
  });

  it('spends no token on a host that cannot run a sandbox, and says what it lacks', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const token = await (await delegations(plane))();
    const refused = (line: readonly string[]) => refusalOf(lab.host('a'), token, line);
    const start = [MESH, ...startLine(['true'])];
    const notUsed = expect.stringContaining('The token was not used');
    const noAdmin = ['setpriv', '--bounding-set=-sys_admin', ...start];
    expect(await refused(noAdmin)).toEqual([7, expect.stringContaining('CAP_SYS_ADMIN')]);
    expect(await refused(['setpriv', '--bounding-set=-setuid', ...start])).toEqual([7, notUsed]);
    const ofRoot = lineOf('an ordinary user', start, '600');
    expect(await refused(ofRoot)).toEqual([8, expect.stringContaining('/dev/net/tun: open: EACCES')]);
    const poor = mkdtempSync('/tmp/poor-');
    for (const program of ['readlink', 'dirname', 'sh', 'id', 'true'])
      symlinkSync(`/usr/bin/${program}`, path.join(poor, program));
    symlinkSync(process.execPath, path.join(poor, 'node'));
    const noPrograms = await refused(['env', `PATH=${poor}`, ...start]);
    rmSync(poor, { recursive: true });
    expect(noPrograms).toEqual([7, expect.stringContaining('unshare or setpriv is missing')]);
    expect((await inSandbox(lab.host('a'), token, 'exit 3')).code).toBe(3);
  });

  it('spends no token on what its user cannot start, enter or write, and on places that stay hidden', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const token = await (await delegations(plane))();
    const refused = (command: readonly string[], options: readonly string[] = []) =>
      refusalOf(lab.host('a'), token, [MESH, ...startLine(command, options)]);
    const cannotStart = (name: string) => [2, expect.stringContaining(`Cannot start ${name}`)];
    expect(await refused(['/root/agent.py'])).toEqual(cannotStart('/root/agent.py'));
    expect(await refused(['cd', '/tmp'])).toEqual(cannotStart('cd'));
    expect(await refused(['true'], ['--workdir', '/root'])).toEqual([2, expect.stringContaining('it is a home')]);
    const closed = mkdtempSync('/tmp/closed-');
    const cannotEnter = await refused(['true'], ['--workdir', closed]);
    rmSync(closed, { recursive: true });
    expect(cannotEnter).toEqual([2, expect.stringContaining(`cannot enter ${closed}`)]);
    expect((await inSandbox(lab.host('a'), token, 'exit 3')).code).toBe(3);
  });

  it('names what forbids user namespaces, and runs with proxy variables alone where that is asked for', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const env = { HOME: '/', MESH_TOKEN: await (await delegations(plane))() };
    // The setting is that of a user namespace of this test alone.
    const forbid =
      'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all -- "$@"';
    const within = ['unshare', '--user', '--map-current-user', '--keep-caps', 'sh', '-c', forbid, 'sh'];
    const run = (options: readonly string[]) => {
      const line = [
        ...within,
        MESH,
        ...startLine(['sh', '-c', 'echo "$MESH_SERVER $ALL_PROXY,$NO_PROXY"; exit 3'], options),
      ];
      const [file = '', ...args] = lineOf('an ordinary user', line);
      return lab.host('a').run(file, args, { env: { ...env, NO_PROXY: '*' } });
    };
    const refused = await run([]);
    expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('user.max_user_namespaces is 0')]);
    const limited = await run(['--allow-no-isolation', '--bind', '/usr/share']);
    expect([limited.code, limited.stderr]).toEqual([2, expect.stringContaining('--bind cannot be kept')]);
    const open = await run(['--allow-no-isolation']);
    expect([open.code, open.stdout]).toEqual([
      3,
      expect.stringMatching(/^http:\/\/plane\.test:\d+ socks5h:\/\/mesh:[\w-]{32}@127\.0\.0\.1:\d+,\n$/),
    ]);
    expect(open.stderr).toContain('Isolation: none');
  });
});
