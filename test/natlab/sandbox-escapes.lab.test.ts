import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { delegations, inSandbox, lineOf, startLine } from '../kits/lab/sandboxes.ts';
import { launcher } from '../kits/process/run-command.ts';

/** Listens on the host where a sandbox must not come: its loopback, a file, a name without a file. */
const HOST = `
const { createServer } = require('node:net');
const [file] = process.argv.slice(1);
process.umask(0);
createServer().listen(file).once('error', () => {});
createServer().listen('\\0mesh-escape');
const tcp = createServer().listen(0, '127.0.0.1', () => console.log(tcp.address().port));`;

/** Control groups as the machine has them: `ip netns exec` hides them. */
const GROUPS = `
mount -t tmpfs none /sys/fs/cgroup
if grep -q :pids: /proc/self/cgroup; then
  for one in pids memory; do mkdir /sys/fs/cgroup/$one; mount -t cgroup -o $one none /sys/fs/cgroup/$one; done
else
  mount -t cgroup2 none /sys/fs/cgroup
fi
exec "$@"`;

/** Numbers of system calls on x64; other processors: client/sandbox/system-call-filter.test.ts. */
const CALLS = {
  keyctl: 250,
  userfaultfd: 323,
  bpf: 321,
  perf_event_open: 298,
  io_uring_setup: 425,
  open_by_handle_at: 304,
};
const MORE = {
  init_module: 175,
  setns: 308,
  chroot: 161,
  move_mount: 429,
  kexec_load: 246,
  fanotify_init: 300,
  ptrace: 101,
};

/** Says of each attempt whether it succeeded. */
const ATTEMPTS = String.raw`
use Socket;
sub tried { my ($name, $done) = @_; print "$name ", ($done ? "ESCAPED" : "kept in"), "\n" }
sub reaches { my ($address, $port) = @_; socket(my $s, PF_INET, SOCK_STREAM, 0); local $SIG{ALRM} = sub { die }; return eval { alarm 3; my $ok = connect($s, sockaddr_in($port, inet_aton($address))); alarm 0; $ok } }
sub reads { open(my $f, "<", $_[0]) or return 0; my $b; return defined(sysread($f, $b, 1)) }
sub writes { open(my $f, ">", $_[0]) or return 0; return defined(syswrite($f, "x")) }
sub runs { system("@_ >/dev/null 2>&1 </dev/null") == 0 }
my ($pid, $port, $file, $secret) = @ARGV;
tried("signal to a process of the host", kill(0, $pid));
tried("environment of a process of the host", reads("/proc/$pid/environ"));
tried("memory of the first process, by ptrace rights of root", reads("/proc/1/root/etc/shadow"));
tried("file of another directory", reads($secret));
tried("file of the host's /tmp", -e $file);
tried("socket of the host in a file", do { socket(my $s, PF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un($file)) });
tried("socket of the host without a file", do { socket(my $s, PF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un("\0mesh-escape")) });
tried("container runtime", -e "/var/run/docker.sock" || -e "/run/docker.sock");
tried("loopback of the host", reaches("127.0.0.1", $port));
tried("metadata address", reaches("169.254.169.254", 80));
tried("address of the host's network", reaches("198.51.100.1", 18090));
tried("IPv6 of the host", runs("ping -6 -c1 -W1 2001:db8:1::1"));
tried("name that only the internet knows", defined gethostbyname("secret.attacker.test"));
tried("setuid program", runs("su -c true") || runs("mount -t tmpfs none /tmp"));
tried("root made writable", runs("mount -o remount,rw /"));
tried("new user namespace", runs("unshare -Ur true"));
tried("new network namespace", runs("unshare -n true"));
tried("address of another peer", runs("ip address add 10.96.0.77/32 dev mesh0"));
tried("another interface", -e "/dev/net/tun" || runs("ip link add x0 type dummy"));
tried("core_pattern", writes("/proc/sys/kernel/core_pattern"));
tried("sysrq", writes("/proc/sysrq-trigger"));
tried("control groups of the host", -d "/sys/fs/cgroup" || runs("mount -t cgroup2 none /tmp"));
tried("devices", reads("/dev/mem") || reads("/dev/kmsg") || -e "/dev/vda" || -e "/dev/fuse");
tried("file of the system", writes("/usr/bin/x") || writes("/etc/passwd") || writes("/x"));
tried("vsock", socket(my $v, 40, SOCK_STREAM, 0));
tried("packet socket", socket(my $p, 17, SOCK_RAW, 0));
tried("raw socket", socket(my $r, PF_INET, SOCK_RAW, 1));
tried("kernel crypto socket", socket(my $a, 38, 5, 0));
tried("netfilter by netlink", socket(my $n, 16, SOCK_RAW, 12));
tried("SCTP", socket(my $c, PF_INET, SOCK_STREAM, 132));
tried("proxy or token in the environment", grep { /proxy|TOKEN|SECRET/i } keys %ENV);
`;

for (const caller of ['root', 'an ordinary user'] as const)
  describePrivileged(`a sandbox of ${caller}`, () => {
    it('keeps in every attempt of a list to get at the host', async () => {
      await using lab = await natlab({ hosts: { a: {} } });
      await using plane = await startLabPlane(lab);
      const place = mkdtempSync('/tmp/escapes-');
      const directory = mkdtempSync('/tmp/given-');
      const calls = Object.entries({ ...CALLS, ...MORE }).map(
        ([name, number]) =>
          `tried("system call ${name}", syscall(${number}, 0, 0, 0, 0, 0) >= 0 || $!{ENOENT} || $!{EBADF} || $!{EINVAL} || $!{EFAULT});`,
      );
      const script = path.join(directory, 'attempts.pl');
      writeFileSync(script, `use Errno;\n${ATTEMPTS}${process.arch === 'x64' ? calls.join('\n') : ''}`);
      writeFileSync(path.join(place, 'secret'), 'secret');
      chmodSync(path.join(place, 'secret'), 0o644);
      for (const each of [place, directory]) chmodSync(each, 0o755);
      const file = path.join(place, 'socket');
      const host = lab.host('a');
      const listening = host.spawn(process.execPath, ['-e', HOST, file]);
      const [port] = await once(listening.stdout as Readable, 'data');
      const args = [process.pid, String(port).trim(), file, path.join(place, 'secret')].join(' ');
      // The same attempts of an ordinary user beside the sandbox: what succeeds there is what it stops.
      const [perl = '', ...rest] = lineOf('an ordinary user', ['perl', script, ...args.split(' ')]);
      const beside = (await host.run(perl, rest)).stdout;
      const stopped = [
        'file of another directory',
        'socket of the host in a file',
        'socket of the host without a file',
      ];
      for (const name of [...stopped, 'loopback of the host', "address of the host's network", 'new user namespace'])
        expect(beside).toContain(`${name} ESCAPED`);
      const env = { HTTP_PROXY: 'http://198.51.100.1:1', NO_PROXY: '*', AWS_SECRET_ACCESS_KEY: 'x' };
      const token = await (await delegations(plane))();
      // The socket and the secret are named on the command line of a shell, where they are no files that are bound.
      const { stdout, stderr } = await inSandbox(host, token, `exec perl ${script} ${args}`, {
        ...{ caller, env, options: ['--bind', directory] },
      });
      listening.kill();
      for (const each of [place, directory]) rmSync(each, { recursive: true });
      const results = stdout.trim().split('\n');
      expect(results.length, stderr).toBe(31 + (process.arch === 'x64' ? calls.length : 0));
      expect(results.filter((line) => !line.endsWith(' kept in'))).toEqual([]);
    });
  });

describePrivileged('a sandbox of root with limits', () => {
  it('has no more processes and memory than it was given, and leaves no control group', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const delegate = await delegations(plane);
    const limited = async (options: readonly string[], script: string) => {
      const line = [launcher('mesh'), ...startLine(['sh', '-c', script], options)];
      const env = { HOME: '/nonexistent', MESH_TOKEN: await delegate() };
      return lab.host('a').run('sh', ['-c', GROUPS, 'sh', ...line], { env });
    };
    const forks = await limited(['--pids', '20'], 'for i in $(seq 40); do sleep 5 & done; echo forked');
    expect([forks.stdout, forks.stderr]).toEqual(['', expect.stringMatching(/fork/i)]);
    const memory = await limited(
      ['--memory', '64m'],
      `perl -e 'my $x = "a" x 200_000_000; print "took it"'; echo "code $?"`,
    );
    expect(memory.stdout).toBe('code 137\n');
    const left = await lab
      .host('a')
      .run('sh', [
        '-c',
        GROUPS,
        'sh',
        'sh',
        '-c',
        'ls -d /sys/fs/cgroup/*/mesh-sandbox-* /sys/fs/cgroup/mesh-sandbox-* 2>/dev/null',
      ]);
    expect(left.stdout).toBe('');
  });
});
