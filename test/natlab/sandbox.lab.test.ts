import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { type LabHost, natlab } from '../kits/lab/natlab.ts';
import { LabNode } from '../kits/lab/natlab-node.ts';
import { LAB_SERVER, type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { SandboxTraces } from '../kits/lab/sandbox-traces.ts';
import { onTerminal } from '../kits/process/pseudo-terminal.ts';
import { launcher, type RunOptions } from '../kits/process/run-command.ts';

const MESH = launcher('mesh');

/** Gives delegate tokens, each for one sub-agent. */
async function delegations(plane: LabPlane): Promise<() => Promise<string>> {
  const agent = await plane.api('POST', '/api/v1/agents', { name: 'planner' });
  let count = 0;
  return async () => {
    count += 1;
    const { body } = await plane.call('POST', `/api/v1/agents/${agent.id}/delegate`, {
      token: agent.token,
      body: { subAgentName: `worker-${count}`, ttl: '10m', policyPreset: 'inherit' },
    });
    return body.enrollmentToken;
  };
}

const startLine = (command: readonly string[], options: readonly string[] = []) => [
  ...['sandbox', 'start', '--server', LAB_SERVER, ...options, '--'],
  ...command,
];

/** Runs a shell script in a sandbox on a host, started in a directory. */
async function inSandbox(
  host: LabHost,
  token: string,
  script: string,
  { options = [], cwd = '/', env }: RunOptions & { readonly options?: readonly string[]; readonly cwd?: string } = {},
) {
  const line = [MESH, ...startLine(['sh', '-c', script], options)];
  return host.run('env', [`--chdir=${cwd}`, ...line], { env: { ...env, MESH_TOKEN: token } });
}

describePrivileged('mesh sandbox start by root', () => {
  it('runs its command as nobody, who writes no file of the host, ends no node of it, and sees none of its processes', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    const a = new LabNode(lab.host('a'));
    await a.join(await plane.joinToken());
    await a.up();
    const script = [
      'echo "ids $(id -u) $(id -g) $(id -G)"',
      String.raw`grep -E "^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs):" /proc/self/status | tr "\t\n" "  "; echo`,
      '(echo x > /etc/cron.d/from-a-sandbox) 2>/dev/null && echo wrote',
      `cat ${a.directory}/node.json 2>/dev/null && echo read`,
      `${MESH} down --config-dir ${a.directory} 2>/dev/null; echo "down $?"`,
      'echo "processes $(ls -d /proc/[0-9]* | wc -l)"',
    ].join('\n');
    const { code, stdout } = await inSandbox(a.host, await delegate(), script);
    const none = '0000000000000000';
    expect([code, ...stdout.trim().split('\n').slice(0, 3)]).toEqual([
      0,
      'ids 65534 65534 65534',
      `CapInh: ${none} CapPrm: ${none} CapEff: ${none} CapAmb: ${none} NoNewPrivs: 1 `,
      expect.stringMatching(/^down [1-9]/),
    ]);
    expect(Number(/processes (\d+)/.exec(stdout)?.[1])).toBeLessThan(8);
    expect((await a.status()).node.name).toBe('a');

    const sudo = { SUDO_UID: '1234', SUDO_GID: '0' };
    expect((await inSandbox(a.host, await delegate(), 'id -u; id -G', { env: sudo })).stdout).toBe('1234\n65534\n');
    expect((await inSandbox(a.host, await delegate(), 'id -u', { env: { SUDO_UID: '0' } })).stdout).toBe('65534\n');
    await a.down();
  });

  it('passes the variables of its allow list and those that --env names, a home and a directory that its user can use', async () => {
    using traces = new SandboxTraces();
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    const env = { AWS_SECRET_ACCESS_KEY: 'secret', BUILD_ID: '7', LC_ALL: 'C', MESH_LRP_AUTH_TOKEN: 'secret' };
    const cwd = mkdtempSync('/tmp/closed-');
    chmodSync(cwd, 0o700);
    const script = 'env | cut -d= -f1 | sort | tr "\\n" " "; echo; echo "$BUILD_ID"; pwd; touch "$HOME/kept" && pwd -P';
    const options = ['--env', 'BUILD_ID'];
    const { stdout } = await inSandbox(lab.host('a'), await delegate(), traces.noting(script), { env, options, cwd });
    const [names, build, directory, home] = stdout.split('\n');
    expect(names).toBe('BUILD_ID HOME LC_ALL MESH_SERVER MESH_TOKEN PATH PWD ');
    expect([build, directory, home]).toEqual(['7', expect.stringMatching(/^\/tmp\/mesh-sandbox-/), directory]);
    rmSync(cwd, { recursive: true });
    expect(existsSync(home ?? '')).toBe(false);
    for (const wrong of ['BUILD_ID=7', 'NOT_THERE'])
      expect((await inSandbox(lab.host('a'), 'none', 'true', { options: ['--env', wrong] })).code).toBe(2);
    expect(traces.left()).toEqual([]);
  });

  it('gives its command standard input, output and error, and nothing else that the caller has open', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    const line = [MESH, ...startLine(['bash', '-c', '"ls /proc/\\$\\$/fd; head -c 4 <&200; echo out >&251"'])].join(
      ' ',
    );
    const caller = `exec 9</etc/shadow 200</etc/shadow 251> >(cat); exec ${line}`;
    const { stdout } = await lab.host('a').run('bash', ['-c', caller], { env: { MESH_TOKEN: await delegate() } });
    expect(stdout.trim().split('\n')).toEqual(['0', '1', '2']);
  });

  it('keeps homes, memory and queues of sandboxes apart, and the terminals and keys of the caller out', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    const script = (what: string) => `echo 1 >/dev/shm/mesh-test; ipcmk -Q >/dev/null; echo "$HOME"; ${what}`;
    const beside = lab.host('a').spawn(MESH, startLine(['sh', '-c', script('sleep 100')]), {
      MESH_TOKEN: await delegate(),
    });
    const ended = new Promise((done) => beside.once('close', done));
    beside.stderr?.resume();
    const [home] = String(await Promise.race([once(beside.stdout as Readable, 'data'), ended])).split('\n');
    const look = [
      `ls ${home} 2>/dev/null && echo saw a home`,
      'ls /dev/shm',
      'ls /dev/pts',
      'ipcs -q | grep -c "^0x"',
      'echo "$(touch "$HOME/x" && ls "$HOME")"',
      String.raw`perl -e 'print syscall(250, 11, $_ + 0, my $b = " " x 9, 9) < 0 ? "" : "key $b\n" for @ARGV' -- $KEY`,
    ].join('; ');
    // add_key(2) to the session keyring, joined anew.
    const caller = `perl -e 'syscall(250, 1, 0); my @key = ("user", "mesh-test", "secret"); $ENV{KEY} = syscall(248, @key, 6, -3); exec @ARGV' -- `;
    const line = [...startLine(['sh', '-c', `'${look.replaceAll("'", String.raw`'\''`)}'`], ['--env', 'KEY'])];
    const env = { MESH_TOKEN: await delegate() };
    const { stdout } = await lab.host('a').run('sh', ['-c', `${caller} ${MESH} ${line.join(' ')}`], { env });
    beside.kill('SIGTERM');
    await ended;
    expect(existsSync('/dev/shm/mesh-test')).toBe(false);
    const hasKeyctl = (await lab.host('a').run('sh', ['-c', 'command -v keyctl'])).code === 0;
    expect(stdout.trim().split('\n')).toEqual([
      'ptmx',
      '0',
      'x',
      ...(hasKeyctl ? [] : [expect.stringMatching('^key')]),
    ]);
  });

  it('passes SIGTERM, SIGINT and exit codes on, and ends every process that its command left, in whatever namespace', async () => {
    using traces = new SandboxTraces();
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    const begin = async (script: string, signal: NodeJS.Signals = 'SIGTERM') => {
      const child = lab.host('a').spawn(MESH, startLine(['sh', '-c', traces.noting(script)]), {
        MESH_TOKEN: await delegate(),
      });
      const { promise: begun, resolve } = Promise.withResolvers<void>();
      child.stdout?.once('data', () => resolve());
      child.stderr?.resume();
      const ended = new Promise((done) => child.once('close', done));
      await Promise.race([begun, ended]);
      child.kill(signal);
      return ended;
    };
    expect(await begin('trap "exit 7" TERM; echo begun; while :; do sleep 0.05; done')).toBe(7);
    expect(await begin('echo begun; exec sleep 100')).toBe(143);
    expect(await begin('trap "exit 8" INT; echo begun; while :; do sleep 0.05; done', 'SIGINT')).toBe(8);
    expect(await begin('echo begun; exec sleep 100', 'SIGQUIT')).toBe(143);
    expect((await inSandbox(lab.host('a'), await delegate(), traces.noting('kill -KILL $$'))).code).toBe(137);
    const mark = '98765.4';
    const leaving = traces.noting(`setsid unshare -Urn sleep ${mark} & sleep 0.2`);
    await inSandbox(lab.host('a'), await delegate(), leaving);
    expect((await lab.host('a').run('pgrep', ['-f', `^sleep ${mark}`])).stdout).toBe('');
    expect(traces.left()).toEqual([]);
  });

  it('removes what a sandbox left that was killed, and nothing of one that runs', async () => {
    using killed = new SandboxTraces();
    using running = new SandboxTraces();
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    const begin = async (traces: SandboxTraces) => {
      const line = startLine([
        'sh',
        '-c',
        traces.noting('trap "exit 7" TERM; echo begun; while :; do sleep 0.05; done'),
      ]);
      const child = lab.host('a').spawn(MESH, line, { MESH_TOKEN: await delegate() });
      const ended = once(child, 'exit');
      child.stderr?.resume();
      await Promise.race([once(child.stdout as Readable, 'data'), ended]);
      return { child, ended };
    };
    const beside = await begin(running);
    const before = running.left();
    const victim = await begin(killed);
    victim.child.kill('SIGKILL');
    await victim.ended;
    expect(killed.left()).not.toEqual([]);
    expect((await inSandbox(lab.host('a'), await delegate(), 'exit 3')).code).toBe(3);
    expect(killed.left()).toEqual([]);
    expect(running.left()).toEqual(before);
    beside.child.kill('SIGTERM');
    expect(await beside.ended).toEqual([7, null]);
    expect(running.left()).toEqual([]);
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

  it('shares no terminal with its command, which cannot push input into it', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    // TIOCSTI, ioctl_tty(2), on all that may be the terminal.
    const push = 'for $f (*STDIN, *STDOUT, *STDERR) { ioctl($f, 0x5412, my $c = "#") and print "pushed\\n" }';
    const script = `test -t 0 || test -t 1 || test -t 2 || echo none; (: </dev/tty) 2>/dev/null || echo no tty; perl -e '${push}'; read line; echo "got $line"`;
    const file = path.join(mkdtempSync('/tmp/script-'), 'push.sh');
    writeFileSync(file, script);
    chmodSync(path.dirname(file), 0o755);
    const line = ['ip', 'netns', 'exec', lab.host('a').namespace, MESH, ...startLine(['sh', file])].join(' ');
    const typed = [{ after: 'no tty', keys: 'hello\n' }];
    const { code, shown } = await onTerminal(line, typed, { MESH_TOKEN: await delegate() });
    rmSync(path.dirname(file), { recursive: true });
    const said = shown.split('\n').filter((one) => !one.startsWith('warning:') && one !== 'hello');
    expect([code, said]).toEqual([0, ['none', 'no tty', 'got hello', '']]);
  });

  it('needs the token alone where the host never joined, and names the control plane of the token first', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab, {}, undefined, { publicUrls: [LAB_SERVER] });
    const env = { HOME: mkdtempSync('/tmp/home-'), MESH_TOKEN: await (await delegations(plane))() };
    const { code, stderr } = await lab.host('a').run(MESH, ['sandbox', 'start', '--', 'sh', '-c', 'exit 3'], { env });
    rmSync(env.HOME, { recursive: true });
    expect([code, stderr.split('\n')[0]]).toEqual([3, expect.stringContaining(`Control plane: ${LAB_SERVER}`)]);
  });

  it('spends no token on a host that cannot run a sandbox, or a command that its user cannot start', async () => {
    using traces = new SandboxTraces();
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const token = await (await delegations(plane))();
    const env = { MESH_TOKEN: token };
    const host = lab.host('a');
    const without = (capability: string) =>
      host.run('setpriv', [`--bounding-set=-${capability}`, MESH, ...startLine(['true'])], { env });
    const noAdmin = await without('sys_admin');
    expect([noAdmin.code, noAdmin.stderr]).toEqual([8, expect.stringContaining('the capability CAP_SYS_ADMIN')]);
    const noIds = await without('setuid');
    expect([noIds.code, noIds.stderr]).toEqual([7, expect.stringContaining('The token was not used')]);
    const poor = mkdtempSync('/tmp/poor-');
    for (const program of ['readlink', 'dirname', 'sh']) symlinkSync(`/usr/bin/${program}`, path.join(poor, program));
    symlinkSync(process.execPath, path.join(poor, 'node'));
    const noPrograms = await host.run('env', [`PATH=${poor}`, MESH, ...startLine(['true'])], { env });
    rmSync(poor, { recursive: true });
    expect([noPrograms.code, noPrograms.stderr]).toEqual([8, expect.stringContaining('the program setpriv')]);
    const noCommand = await host.run(MESH, startLine(['/root/agent.py']), { env });
    expect([noCommand.code, noCommand.stderr]).toEqual([2, expect.stringContaining('Cannot start /root/agent.py')]);
    for (const builtin of ['cd', 'sh/sh'])
      expect((await host.run(MESH, startLine([builtin, '/tmp']), { env })).stderr).toContain(`Cannot start ${builtin}`);
    const closed = mkdtempSync('/tmp/closed-');
    mkdirSync(path.join(closed, 'open'));
    const where = traces.noting('pwd; exit 3');
    const homeless = { env: { SUDO_UID: '42' }, cwd: path.join(closed, 'open') };
    const { code, stdout } = await inSandbox(host, token, where, homeless);
    rmSync(closed, { recursive: true });
    expect([code, stdout]).toEqual([3, expect.stringMatching(/^\/tmp\/mesh-sandbox-/)]);
    expect(traces.left()).toEqual([]);
  });

  it.each([{ failing: ['nft'] }, { failing: ['wg', 'wireguard-go'] }])(
    'spends no token where $failing is installed and fails, and leaves nothing',
    async ({ failing }) => {
      using traces = new SandboxTraces();
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const token = await (await delegations(plane))();
      const programs = mkdtempSync('/tmp/failing-');
      const script = `#!/bin/sh\n${traces.noting('echo broken >&2; exit 1')}\n`;
      for (const program of failing) writeFileSync(path.join(programs, program), script, { mode: 0o755 });
      const env = { MESH_TOKEN: token, PATH: `${programs}:${process.env['PATH']}` };
      const { code, stderr } = await lab.host('a').run(MESH, startLine(['true']), { env });
      rmSync(programs, { recursive: true });
      expect([code, stderr]).toEqual([8, expect.stringContaining('The token was not used')]);
      expect((await inSandbox(lab.host('a'), token, 'exit 3')).code).toBe(3);
      expect(traces.left()).toEqual([]);
    },
  );
});
