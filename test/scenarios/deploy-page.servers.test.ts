import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bootMachine, type Machine } from '../kits/lab/machine.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { commandBlock } from '../kits/process/page-blocks.ts';
import { hasLabCluster } from '../kits/servers/lab-cluster.ts';
import { MONGOD } from '../kits/servers/replica-set.ts';

const PLANES = ['a', 'b', 'c'] as const;
const MACHINES = [...PLANES, 'mesh'] as const;
type Name = (typeof MACHINES)[number];
const ROOT = path.resolve(import.meta.dirname, '../..');
const WHOLE_MS = 600_000;
const CURL_TIMED_OUT = 28;
const UNTIL_ANSWERED = '--retry 30 --retry-all-errors --retry-delay 1';
const PATIENCE = { timeout: 120_000, interval: 1_000 };
const CERTIFICATES = 'docs/deploy.md: Secrets 2';

const NAMES = `198.51.100.10 a.example.com a bus.example.com
198.51.100.11 b.example.com b
198.51.100.12 c.example.com c
198.51.100.13 mesh.example.com mesh
`;

/** In place of what the page installs: its packages cannot be fetched in a lab. */
const packages = (name: Name) => `
hostname ${name}.example.com
printf '${NAMES.replaceAll('\n', '\\n')}' >> /etc/hosts
mkdir -p /opt/mesh && mount --bind ${ROOT} /opt/mesh
ln -sfn /opt/mesh/node_modules/.bin/node /usr/local/bin/node
echo prefix=/usr/local >/root/.npmrc
mkdir -p /usr/local/lib/node_modules
mkdir -p /usr/local/lib/node_modules/@scope
ln -sfn /opt/mesh /usr/local/lib/node_modules/@scope/mesh
ln -sfn /opt/mesh/bin/meshd /opt/mesh/bin/mesh /usr/local/bin/
ln -sfn ${path.dirname(MONGOD)}/mongosh /usr/local/bin/mongosh
touch /usr/bin/mongod && mount --bind "$(readlink -f ${MONGOD})" /usr/bin/mongod
useradd --system --no-create-home mongodb
install -d -o mongodb /var/lib/mongodb /var/log/mongodb
cat > /lib/systemd/system/mongod.service <<X
[Service]
User=mongodb
Group=mongodb
LimitNOFILE=64000
LimitMEMLOCK=infinity
ExecStart=/usr/bin/mongod --config /etc/mongod.conf --wiredTigerEngineConfigString log=(prealloc=false,file_max=8MB)
[Install]
WantedBy=multi-user.target
X
systemctl daemon-reload
# A lab may have fewer files than the connections of the page.
echo 'EXTRAOPTS="-S /run/haproxy-master.sock -n 100"' >/etc/default/haproxy
`;

test.skipIf(!hasLabCluster || !isInstalled('systemd-nspawn') || !isInstalled('haproxy'))(
  'the commands of docs/deploy.md make a cluster of three on machines that have its packages, and give it new certificates',
  async () => {
    const lab = await natlab({ hosts: Object.fromEntries(MACHINES.map((name) => [name, {}])) });
    onTestFinished(() => lab[Symbol.asyncDispose]());
    const machines = new Map<Name, Machine>();
    await Promise.all(
      MACHINES.map(async (name) => {
        const machine = await bootMachine(lab.host(name));
        onTestFinished(() => machine[Symbol.asyncDispose]());
        await machine.must(packages(name));
        machines.set(name, machine);
      }),
    );
    const on = (name: Name) => machines.get(name) as Machine;
    const run = (block: string, names: readonly Name[] = PLANES) =>
      Promise.all(names.map((name) => on(name).must(commandBlock(block).text)));
    const copyFolder = async () => {
      const folder = await on('a').must('tar -cC /root cluster | base64');
      for (const name of ['b', 'c', 'mesh'] as const)
        await on(name).must(`base64 -d <<X | tar -xC /root\n${folder}X\n`);
    };
    // A server that has other work may answer it late.
    const diagnose = (name: Name) => vi.waitFor(() => run('docs/deploy.md: Control planes 2', [name]), PATIENCE);
    const isServed = () => on('c').must(`curl -fsk ${UNTIL_ANSWERED} https://mesh.example.com/readyz`);

    await run('docs/deploy.md: Secrets 1', ['a']);
    await run(CERTIFICATES, ['a']);
    await copyFolder();
    await run('docs/deploy.md: MongoDB 1');
    const env = 'env $(xargs < meshd.env) MESH_KEYS_FILE=mesh-keys.json MESH_BUS_KEYS_FILE=bus/mesh-bus.json';
    const { code, stdout: found } = await on('a').run(`cd /root/cluster; ${env} meshd doctor --config-dir .`);
    expect([code, found.match(/^.*rs\.initiate.*$/gm)]).toEqual([
      1,
      [expect.stringMatching(/^failed +database +No meshd starts here as it is: MongoDB answers at /)],
    ]);
    await run('docs/deploy.md: MongoDB 2', ['a']);
    await run('docs/deploy.md: NATS 1');
    await run('docs/deploy.md: Control planes 1');
    const said = await diagnose('b');
    expect(said.join()).toMatch(/^ok +settings +Those given here are those of all 3 control planes at work/m);
    expect(said.join()).not.toMatch(/^failed/m);
    await on('mesh').must('cd /root/cluster && cat b.example.com.pem b.example.com.key > mesh.pem');
    await run('docs/deploy.md: Relay, STUN and balancer 1', ['mesh']);
    await isServed();
    await run('docs/deploy.md: Firewall 1');
    expect((await on('mesh').run('curl -s -m 3 http://a.example.com:27017')).code).toBe(CURL_TIMED_OUT);
    await run(CERTIFICATES, ['a']);
    await copyFolder();
    await run('docs/deploy.md: New certificates 1');
    for (const name of PLANES) {
      const [served, kept] = await Promise.all([
        on(name).must('openssl s_client -connect localhost:27017 </dev/null 2>/dev/null | openssl x509 -noout -serial'),
        on(name).must(`openssl x509 -noout -serial -in /root/cluster/${name}.example.com.pem`),
      ]);
      expect(served).toBe(kept);
      await on(name).must(`journalctl -u nats-server | grep -q 'Reloaded: tls'`);
    }
    await diagnose('a');
    await isServed();
  },
  WHOLE_MS,
);
