import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { launcher, run as runCommand } from '../kits/process/run-command.ts';

/** Between marks, what each command of a script said and its exit code. */
const step = (mark: string, command: string) => `echo "<${mark}>"; ${command}; echo "exit=$?"`;
const saidIn = (text: string, mark: string) => text.split(`<${mark}>\n`)[1]?.split(/\n<\w+>\n/)[0] ?? '';

/** What the scripts of a trial call a node by, which runs where its directory is /root/trial. */
function trialOf(node: LabNode) {
  const mesh = launcher('mesh');
  const directory = `/root/trial/${path.basename(node.directory)}`;
  const own = `--config-dir ${directory}`;
  return {
    shared: path.dirname(node.directory),
    mesh,
    directory,
    own,
    name: `--interface ${node.interfaceName}`,
    unit: `mesh-${node.interfaceName}.service`,
    until: (shown: string) => `until ${mesh} status ${own} --json 2>/dev/null | grep -q '${shown}'; do :; done`,
  };
}

describePrivileged('mesh service, under a real systemd', () => {
  it.skipIf(!isInstalled('systemd-nspawn'))(
    'starts the node with no more rights than it needs, again when it is killed, and takes it away',
    async () => {
      await using lab = await natlab({ hosts: { a: {}, b: {} } });
      await using plane = await startLabPlane(lab);
      const { b } = await labNodes(lab, plane, ['b'], (node) => node.up());
      const a = new LabNode(lab.host('a'));
      await a.join(await plane.joinToken());
      const { shared, mesh, own, name, unit, until } = trialOf(a);
      const untilUp = until('"isUp": true');
      const tunnel = `pgrep -f -- '^wireguard-go -f ${a.interfaceName}'`;
      const script = [
        step('install', `${mesh} service install ${own} ${name} -- --level debug`),
        untilUp,
        step('status', `${mesh} service status ${name}`),
        step('node', `${mesh} status ${own} --json`),
        step('ping', `${mesh} ping b --count 1 ${own}`),
        step(
          'rights',
          `grep -E '^(Cap(Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/$(systemctl show -P MainPID ${unit})/status`,
        ),
        step('home', `nsenter -t $(systemctl show -P MainPID ${unit}) -m sh -c 'ls -A /root /home'`),
        step('verify', `systemd-analyze verify /etc/systemd/system/${unit}`),
        step('security', `systemd-analyze security --no-pager ${unit} | tail -n 1`),
        step('tunnel', tunnel),
        `old=$(systemctl show -P MainPID ${unit}); kill -KILL $old`,
        `until [ "$(systemctl show -P MainPID ${unit})" != "$old" ] && [ "$(systemctl show -P MainPID ${unit})" != 0 ]; do :; done`,
        untilUp,
        step('kept', tunnel),
        step('again', `until ${mesh} ping b --count 1 ${own}; do :; done`),
        step('journal', `journalctl -u ${unit} --no-pager -o cat`),
        step('uninstall', `${mesh} service uninstall ${name}`),
        step('gone', `${mesh} service status ${name}; ip link show dev ${a.interfaceName}; nft list tables`),
      ].join('\n');
      writeFileSync(path.join(shared, 'trial.sh'), `${script}\n`);
      const kit = path.resolve('test/kits/lab/in-systemd.sh');
      const command = [kit, a.host.namespace, shared];
      const { stdout } = await runCommand('sh', command, { timeoutMs: 110_000 });
      const of = (mark: string) => saidIn(stdout, mark);
      expect(of('install'), readFileSync(path.join(shared, 'console'), 'utf8')).toContain('is installed');
      expect(of('status')).toMatch(new RegExp(`^${unit} is running \\(pid \\d+\\), starts with the machine\n`));
      expect(of('node')).toContain('"server": "10.96.0.2:53"');
      expect(of('ping')).toContain('b (10.96.0.1)');
      // CAP_NET_BIND_SERVICE and CAP_NET_ADMIN.
      expect(of('rights')).toMatch(/CapEff:\t0+1400\nCapBnd:\t0+1400\nNoNewPrivs:\t1\nSeccomp:\t2\n/);
      expect(of('home')).toBe('/home:\n\n/root:\ntrial\nexit=0');
      expect(of('verify')).toBe('exit=0');
      expect(of('security')).toMatch(/: [0-3]\.\d OK/);
      expect(of('tunnel')).toMatch(/^\d+\nexit=0$/);
      expect(of('kept')).toBe(of('tunnel'));
      expect(of('again')).toContain('b (10.96.0.1)');
      expect(of('journal')).toContain(`${a.interfaceName} is up on UDP port`);
      expect(of('journal')).toContain(`${a.interfaceName} is taken over from an earlier agent, with its sessions`);
      expect(of('uninstall')).toContain(`${unit} is gone.`);
      expect(of('gone')).toContain(`There is no service ${unit}`);
      expect(of('gone')).not.toContain(`mesh_${a.interfaceName}`);
      await b.down();
    },
  );

  it.skipIf(!isInstalled('systemd-nspawn'))(
    'starts a node in userspace mode for an ordinary user by the systemd of that user, again when it is killed, and takes it away',
    async () => {
      await using lab = await natlab({ hosts: { a: {}, b: {} } });
      await using plane = await startLabPlane(lab);
      const { b } = await labNodes(lab, plane, ['b'], (node) => node.up());
      const a = new LabNode(lab.host('a'));
      await a.join(await plane.joinToken());
      const { shared, mesh, directory } = trialOf(a);
      // In a script of its own, as the user would have it: su would ask for more than the container has.
      const ada = (command: string) =>
        `setpriv --reuid=ada --regid=ada --init-groups env -u XDG_RUNTIME_DIR HOME=/home/ada sh -c '${command}'`;
      const pid = `$(${ada('XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user show -P MainPID mesh')})`;
      const untilUp = `until ${ada(`cd; ${mesh} ping b --count 1`)} >/dev/null 2>&1; do :; done`;
      const script = [
        `useradd --create-home ada; cp -r ${directory} /home/ada/.mesh; chown -R ada: /home/ada`,
        step('early', ada(`cd; ${mesh} service install --user`)),
        'systemctl start user@$(id -u ada)',
        step('install', ada(`cd; ${mesh} service install --user -- --proxy 127.0.0.1:0`)),
        untilUp,
        step('status', ada(`cd; ${mesh} service status --user`)),
        step('rights', `grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' /proc/${pid}/status`),
        step('daemon', ada(`cd; ${mesh} up --daemon`)),
        `old=${pid}; kill -KILL $old; until [ ${pid} != $old ] && [ ${pid} != 0 ]; do :; done`,
        untilUp,
        step('down', ada(`cd; ${mesh} down; ${mesh} status`)),
        step('started', ada(`cd; ${mesh} service start --user`)),
        untilUp,
        step('uninstall', ada(`cd; ${mesh} service uninstall --user`)),
        step('gone', ada(`cd; ${mesh} service status --user; ls -A .config/systemd/user/*.wants`)),
      ].join('\n');
      writeFileSync(path.join(shared, 'trial.sh'), `${script}\n`);
      const command = [path.resolve('test/kits/lab/in-systemd.sh'), a.host.namespace, shared, '100'];
      const { stdout } = await runCommand('sh', command, { timeoutMs: 110_000 });
      const of = (mark: string) => saidIn(stdout, mark);
      expect(of('early'), readFileSync(path.join(shared, 'console'), 'utf8')).toMatch(
        /^No systemd of this user runs here\. Log in as this user, or .*: sudo loginctl enable-linger ada\nOr run it .*: .*mesh up --userspace --daemon .*\nexit=7$/,
      );
      expect(of('install')).toContain('mesh.service is installed (/home/ada/.config/systemd/user/mesh.service)');
      expect(of('install')).toContain('To have it start with the machine: sudo loginctl enable-linger ada');
      expect(of('status')).toMatch(/^mesh\.service is running \(pid \d+\)/);
      expect(of('rights')).toMatch(/Uid:\t1\d{3}\t.*\nCapEff:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n/);
      expect(of('daemon')).toBe(
        `The node of /home/ada/.mesh is a service. Start it: ${mesh} service start --user\nexit=5`,
      );
      expect(of('down')).toContain(`not up. Start it: ${mesh} service start --user`);
      expect(of('started')).toContain('mesh.service is running');
      expect(of('uninstall')).toContain('mesh.service is gone.');
      expect(of('gone')).toContain('There is no service mesh.service');
      await b.down();
    },
  );

  it.skipIf(!isInstalled('systemd-nspawn'))(
    'keeps the unit that works, is started again as a service, and leaves nothing when the machine leaves',
    async () => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const a = new LabNode(lab.host('a'));
      await a.join(await plane.joinToken());
      const { shared, mesh, directory, own, name, unit, until } = trialOf(a);
      const file = `/etc/systemd/system/${unit}`;
      const untilUp = until('"isUp": true');
      const pid = `systemctl show -P MainPID ${unit}`;
      const script = [
        `cd /; ${mesh} service install ${own} ${name}`,
        `${untilUp}; cp ${file} /run/before; before=$(${pid})`,
        step('bogus', `${mesh} service install ${own} ${name} -- --bogus`),
        step('dashes', `${mesh} service install ${own} ${name} --open-firewall`),
        step('same', `cmp ${file} /run/before && [ "$(${pid})" = "$before" ]`),
        step('missing', `${mesh} service install ${own} ${name} -- --name '${'x'.repeat(300)}'`),
        step('back', `cmp ${file} /run/before; ${untilUp}`),
        step('ended', `${mesh} down ${own}`),
        step('down', `${mesh} status ${own}`),
        step('checked', `${mesh} netcheck ${own}`),
        step('daemon', `${mesh} up --daemon ${own} ${name}`),
        step('start', `${mesh} service start ${name}`),
        step('up', untilUp),
        step('leave', `${mesh} leave ${own}`),
        step(
          'failed',
          `systemctl list-units --all --no-legend '${unit}'; ls -A /run/mesh; find ${file} 2>/dev/null; true`,
        ),
      ].join('\n');
      writeFileSync(path.join(shared, 'trial.sh'), `${script}\n`);
      const command = [path.resolve('test/kits/lab/in-systemd.sh'), a.host.namespace, shared];
      const { stdout } = await runCommand('sh', command, { timeoutMs: 110_000 });
      const of = (mark: string) => saidIn(stdout, mark);
      expect(of('bogus'), readFileSync(path.join(shared, 'console'), 'utf8')).toMatch(
        /unknown option '--bogus'.*\nexit=2$/,
      );
      expect(of('bogus')).toContain(`${mesh} up --help`);
      expect(of('dashes')).toMatch(/service install -- --open-firewall\nexit=2$/);
      expect(of('same')).toBe('exit=0');
      expect(of('missing')).toMatch(/is as it was before, since its node does not come up.*\nexit=7$/);
      expect(of('back')).toBe('exit=0');
      const start = `Start it: ${mesh} service start ${name}`;
      expect(of('down')).toBe(`This node is not up. ${start}\nexit=7`);
      expect(of('checked')).toContain(`not up. ${start}`);
      expect(of('daemon')).toBe(`The node of ${directory} is a service. ${start}\nexit=5`);
      expect(of('start')).toContain(`${unit} is running`);
      expect(of('leave')).toContain('has left the network');
      expect(of('failed')).toBe('exit=0\n');
    },
  );

  it.skipIf(!isInstalled('systemd-nspawn') || !isInstalled('ufw'))(
    'opens ufw from its sandbox where it was installed for that, and else says what to run',
    async () => {
      await using lab = await natlab({ hosts: { a: {}, b: {} } });
      await using plane = await startLabPlane(lab);
      const { b } = await labNodes(lab, plane, ['b'], (node) => node.up());
      const a = new LabNode(lab.host('a'));
      await a.join(await plane.joinToken());
      const { shared, mesh, own, name, until } = trialOf(a);
      const untilBlocked = until('"table": "ip filter"');
      const script = [
        'ufw allow 51820/udp; ufw --force enable',
        step('without', `${mesh} service install ${own} ${name}`),
        untilBlocked,
        step('refused', `${mesh} up --open-firewall ${own} 2>&1`),
        step('install', `${mesh} service install ${own} ${name} -- --open-firewall`),
        step('added', 'ufw show added'),
        step('uninstall', `${mesh} service uninstall ${name}`),
        step('left', 'ufw show added'),
      ].join('\n');
      writeFileSync(path.join(shared, 'trial.sh'), `${script}\n`);
      const command = [path.resolve('test/kits/lab/in-systemd.sh'), a.host.namespace, shared];
      const { stdout } = await runCommand('sh', command, { timeoutMs: 110_000 });
      const of = (mark: string) => saidIn(stdout, mark);
      expect(of('without'), readFileSync(path.join(shared, 'console'), 'utf8')).toContain('is installed');
      expect(of('refused')).toMatch(
        /: not opened: ufw allow in on \w+ .* failed: ERROR: '\/etc\/ufw\/user.rules' is not writable/,
      );
      expect(of('refused')).toMatch(/mesh service install .*-- --open-firewall\nexit=1/);
      expect(of('install')).toMatch(/is installed.*\nFirewall of this host: accepts the overlay by ufw/);
      expect(of('added')).toContain(`ufw allow in on ${a.interfaceName} comment 'mesh ${a.interfaceName}'`);
      expect(of('uninstall')).toContain('is gone');
      expect(of('left')).toMatch(/ufw allow 51820\/udp/);
      expect(of('left')).not.toContain(a.interfaceName);
      await b.down();
    },
  );
});
