import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { type LabHost, natlab } from '../kits/lab/natlab.ts';
import { LabNode } from '../kits/lab/natlab-node.ts';
import { LAB_SERVER, type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { type Caller, lineOf } from '../kits/lab/sandboxes.ts';
import { launcher, run } from '../kits/process/run-command.ts';

const MESH = launcher('mesh');
/** A global address, which the lab gives to its control plane. */
const OUTSIDE = '8.8.8.8';

/** Delegates and starts a sandbox with a shell script, as an agent. */
async function sandboxed(
  host: LabHost,
  parent: string,
  name: string,
  script: string,
  options: readonly string[] = [],
  caller: Caller = 'an ordinary user',
) {
  const line = ['sandbox', 'start', '--server', LAB_SERVER, '--delegate', name, '--ttl', '5m', ...options];
  const [file = '', ...args] = lineOf(caller, [MESH, ...line, '--', 'sh', '-c', script]);
  return host.run(file, args, { env: { MESH_TOKEN: parent, HOME: '/nonexistent' } });
}

async function parentOf(plane: LabPlane, fields: object = {}): Promise<string> {
  const { token } = await plane.api('POST', '/api/v1/agents', { name: 'planner', ...fields });
  return token;
}

describePrivileged('the openings of a sandbox', () => {
  it.each(['root', 'an ordinary user'] as const)(
    'of %s answer for the control plane, by REST and by MCP, without a credential inside',
    async (caller) => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const initialize = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      };
      const messages = [
        { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'list_peers', arguments: {} } },
      ].map((message) => JSON.stringify(message));
      const script = [
        'echo "environment $(env | grep -c mesh-agt-) $MESH_SANDBOX $MESH_SERVER"',
        `echo "peers $(${MESH} peers --json | grep -c '"name": "worker"')"`,
        'mkfifo "$HOME/in" "$HOME/out"',
        `${MESH} mcp <"$HOME/in" >"$HOME/out" &`,
        'exec 3>"$HOME/in"; cat >&3 <<EOF',
        ...messages,
        'EOF',
        `echo "mcp $(grep -m 1 '"id":2' "$HOME/out" | grep -c worker)"; exec 3>&-`,
        `me=$(${MESH} admin get-me 2>&1); echo "me $? $me"`,
      ].join('\n');
      const { stdout, stderr } = await sandboxed(lab.host('a'), await parentOf(plane), 'worker', script, [], caller);
      expect(stdout.trim().split('\n'), stderr).toEqual([
        expect.stringMatching(/^environment 0 worker http:\/\/127\.0\.0\.1:\d+$/),
        'peers 1',
        'mcp 1',
        expect.stringMatching(/^me 3 .*passes only what its agent may call/),
      ]);
      const { items } = await plane.api('GET', '/api/v1/agents/worker/calls');
      const byMcp = items.filter(({ face }: { face: string }) => face === 'mcp');
      expect(byMcp).toMatchObject([{ operation: 'list_peers', requestId: expect.stringMatching(/^sandbox-/) }]);
    },
  );

  it('resolve the names of peers, and nothing else', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const b = new LabNode(lab.host('b'));
    await b.join(await plane.joinToken());
    await b.up();
    const reach = ['--preset', 'sandboxed', '--reach', 'b:22'];
    const script = 'getent hosts b; getent hosts b.lab.mesh.internal; getent hosts plane.test.; echo "code $?"';
    const parent = await parentOf(plane, { reach: [{ to: [{ peerSelector: { peers: ['b'] } }] }] });
    const { stdout, stderr } = await sandboxed(lab.host('a'), parent, 'worker', script, reach);
    const { address } = (await b.status()).node;
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/)[0]),
      stderr,
    ).toEqual([address, address, 'code']);
    await b.down();
  });

  it('lead to named destinations alone, each shown with the agent, and without --egress nowhere', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const parent = await parentOf(plane);
    const host = lab.host('a');
    await lab.host('plane').must('ip', ['address', 'add', `${OUTSIDE}/32`, 'dev', 'lo']);
    await host.must('sh', ['-c', `ip route add ${OUTSIDE} via 198.51.100.1`]);
    appendFileSync(`/etc/netns/${host.namespace}/hosts`, `${OUTSIDE} api.example.com\n`);
    const server = `require('node:http').createServer((q, r) => r.end('reached ' + q.headers.host + '\\n')).listen(80, '${OUTSIDE}')`;
    const web = lab.host('plane').spawn(process.execPath, ['-e', server]);
    const fetched = (url: string) =>
      `${process.execPath} -e "require('node:http').get({host:'127.0.0.1',port:new URL(process.env.HTTP_PROXY ?? 'http://x:1').port,path:'${url}'},r=>r.pipe(process.stdout)).on('error',e=>console.log(e.code))"; echo`;
    const script = [
      fetched('http://api.example.com/'),
      fetched('http://other.example.com/'),
      `ping -c 1 -W 1 ${OUTSIDE} >/dev/null 2>&1; echo "ping $?"`,
    ];
    const opened = await sandboxed(host, parent, 'worker', script.join('\n'), [
      '--egress',
      'http://api.example.com:80',
    ]);
    expect(
      opened.stdout.split('\n').filter((line) => line !== ''),
      opened.stderr,
    ).toEqual([
      'reached api.example.com',
      expect.stringContaining('The sandbox does not reach http://other.example.com:80: it is not named'),
      'ping 2',
    ]);
    const { items } = await plane.api('GET', '/api/v1/agents/worker/calls');
    const uses = items.filter(({ operation }: { operation: string }) => operation === 'egress');
    expect(uses.map(({ input, outcome }: Record<string, string>) => `${outcome} ${input}`).toSorted()).toEqual([
      'forbidden {"destination":"http://other.example.com:80"}',
      'ok {"destination":"http://api.example.com:80"}',
    ]);
    const closed = await sandboxed(host, parent, 'closed', 'env | grep -ic proxy; ip route');
    expect(closed.stdout).toMatch(/^0\n10\.96\.0\.0\/\d+ dev \w+ .*\n$/);
    web.kill();
  });

  it('are there for a person in one command, whose tokens are in no file and no argument', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const words = ['sandbox', 'start', '--server', LAB_SERVER, '--delegate', 'worker', '--ttl', '5m'];
    const env = { MESH_TOKEN: plane.session };
    const running = lab
      .host('a')
      .spawn(MESH, [...words, '--', 'sh', '-c', 'echo "$MESH_SANDBOX"; exec sleep 100'], env);
    const ended = once(running, 'close');
    running.stderr?.resume();
    expect(String((await Promise.race([once(running.stdout as Readable, 'data'), ended]))[0])).toBe('worker\n');
    const secret = 'mesh-\\(dlg\\|agt\\)-[A-Za-z0-9_-]\\{43\\}';
    const found = async (flag: string, files: string) =>
      (await run('sh', ['-c', `grep -a${flag} '${secret}' ${files}`])).stdout;
    expect(await found('l', '/proc/[0-9]*/cmdline')).toBe('');
    expect(await found('rl', '/tmp/mesh-sandbox-*')).toBe('');
    running.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
    const { items } = await plane.api('GET', '/api/v1/agents');
    const phases = items.map(({ name, phase }: Record<string, string>) => `${name} ${phase}`);
    expect(phases).toContain('worker-parent Revoked');
  });
});
